"""Learner: what a private learning method declares about itself, and `fit`, which checks a problem and runs it.

A method's file ends with its `METHOD`: name, function, paper, what its proof covers, and how it ranks for
`method="auto"`. The function itself relies on the checks of `fit`, so only callers who have made them may call it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._assumption import Assumption
from holdfast._options import Option, check_options, keywords_of, options_of
from holdfast.errors import ParameterError
from holdfast.learn._inference.score import NoisyScore
from holdfast.learn._problem import Problem
from holdfast.learn._risk.balance import balanced_penalty
from holdfast.learn._rows.examples import Examples
from holdfast.privacy._account import Account, request
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.release._usefulness import Prospect, influence

SINGLE_ROWS = (
    "average each user's rows into one, or use method='auto', which keeps to methods that cover such units"
)
"""The advice given for methods whose proof covers single rows only."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What a method releases: weights, and facts by which to judge them. Nothing exact.

    `noise_std` is the standard deviation of the noise in each coefficient, where the method knows it.
    """

    weights: NDArray[np.float64]
    theorem: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    noise_std: float | None = None
    centre_noise_std: float = 0.0
    """The standard deviation of the noise in the centre of the intercept, where the method paid for one; in
    predictions."""
    assumptions: tuple[Assumption, ...] = ()
    score: NoisyScore | None = None
    """The noisy score from which intervals are computed, where the release contains one."""


RunLearner = Callable[..., Fit]
"""(examples, problem, *, account, and its options by name) -> Fit; everything private passes through the account.

It spends the account's whole remaining limit unless its options say otherwise.
"""


@dataclass(frozen=True, kw_only=True)
class PublicFacts:
    """All that `method="auto"` reads: public facts, and no row."""

    problem: Problem
    count: int
    limit: PrivacyCurve
    adjacency: Adjacency
    max_rows: int = 1

    count_is_public: bool = True
    """Whether the count is public. Where it was read from the data, no message may depend on it."""
    noun: str = "rows"
    """The word for the privacy units that are counted."""

    @property
    def pure(self) -> bool:
        """Whether the limit is pure differential privacy."""
        return self.limit.as_pure() is not None


def any_release(facts: PublicFacts) -> tuple[Prospect, ...]:
    """The forecast for every method from public `facts`: how many units its limit hides, whatever it releases."""
    return (influence(facts.limit, facts.count if facts.count_is_public else None, noun=facts.noun),)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options that `method="auto"` gives to a method, and the reasons."""

    options: Mapping[str, Any] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rank:
    """A place in the order in which `method="auto"` prefers methods, the smallest first, and its conditions."""

    place: float
    pure: bool | None = None
    """True: only without delta. False: only with delta. None: both."""
    losses: tuple[str, ...] = ()
    """Only for these losses; empty for all."""
    columns: float = math.inf
    """Only up to so many columns."""
    unconstrained: bool = False
    """Only where there is neither a penalty nor a radius."""

    def applies(self, facts: PublicFacts) -> bool:
        """Whether the conditions of this rank hold."""
        return (
            self.pure in (None, facts.pure)
            and (not self.losses or facts.problem.loss.name in self.losses)
            and facts.problem.dimension <= self.columns
            and (not self.unconstrained or facts.problem.unconstrained)
        )


def default_settings(facts: PublicFacts) -> Settings:
    """No options, whatever the public `facts` are."""
    first = f"it is the first in the order for the {facts.problem.loss.name} loss whose proof holds"
    return Settings(reasons=(first,))


def minimiser_change(facts: PublicFacts) -> float:
    """G / (penalty n) from public `facts`: the sensitivity of exact minimisers of penalised risks (soundness, 3)."""
    return (
        facts.max_rows
        * facts.problem.gradient_change(facts.adjacency)
        / (facts.problem.penalty * facts.count)
    )


@checked
@dataclass(frozen=True, kw_only=True)
class Learner:
    """A method by which linear models are fitted: an entry of LEARNERS, or one of your own.

    Estimators take it as `method=`, as well as the name of an entry. `fit` checks what the proof needs, then runs it.

    Parameters
    ----------
    name : str
        As in `method="output"`.
    run : callable
        (examples, problem, *, account, and its options by name) -> Fit. Everything private passes through the account,
        of which it spends all that remains, unless its options say otherwise.
    paper : str
        Where the method is described.
    needs : tuple of str
        What the proof needs, of "convex", "lipschitz", "smooth", "strongly_convex" and "delta".
    pure : bool
        Whether it works without delta.
    adjacencies : tuple of str
        The neighbours that the proof covers.
    currency : str
        What an account opened for it counts in, where delta > 0.
    outputs : tuple of str
        Losses it takes: of "one" prediction, of "several" (a softmax), or of both kinds.
    losses : tuple of str
        Names of the losses that its proof covers; empty for all that have what it needs.
    smoothed : tuple of str
        Losses without a bounded gradient that it replaces by one with, where there is no delta, penalty or radius.
    only : str
        What is said of other losses, as in "solves least squares only".
    single_rows : str
        What to do where a unit owns several rows, which the proof does not cover; empty where it does.
    ranks : tuple of Rank
        How it ranks for `method="auto"`, by the first that applies; where none does, it is not chosen.
    behind : str
        Why it is not the first choice, where its proof holds.
    settings : callable
        The options that "auto" hands to it, from public facts.
    samples : bool
        Whether a step looks at a sample of the rows, whose secret coins its price counts on.
    centres : bool
        Whether it releases more where rows have a constant column: origins of columns, how many rows classes have, or
        the mean target; which of them depends on the loss and the penalty.
    no_intervals : str
        Why `conf_int` has nothing to work with, where a fit has no score.
    prospects : callable
        What public facts say beforehand of the worth of what it releases.
    weight_change : callable
        The sensitivity of the weights that it releases with noise, from public facts. Where it needs a penalty and none
        is given, the penalty follows from it.

    Examples
    --------
    >>> from holdfast.learn import LEARNERS
    >>> output = next(learner for learner in LEARNERS if learner.name == "output")
    >>> output.needs, output.pure
    (('convex', 'lipschitz', 'strongly_convex'), True)
    >>> [option.name for option in output.options]
    ['inexactness', 'arithmetic']
    """

    name: str
    run: RunLearner
    paper: str
    needs: tuple[str, ...] = ()
    pure: bool = False
    adjacencies: tuple[str, ...] = ("replace", "zero_out", "add_remove")
    currency: str = "gdp"
    outputs: tuple[str, ...] = ("one",)
    losses: tuple[str, ...] = ()
    smoothed: tuple[str, ...] = ()
    only: str = ""
    single_rows: str = ""
    ranks: tuple[Rank, ...] = ()
    behind: str = "gives no rank to method='auto'"
    settings: Callable[[PublicFacts], Settings] = default_settings
    samples: bool = False
    centres: bool = False
    no_intervals: str = "its release holds weights only, and nothing about the curvature of the risk"
    prospects: Callable[[PublicFacts], tuple[Prospect, ...]] = any_release
    weight_change: Callable[[PublicFacts], float] = minimiser_change

    @property
    def instead_of_pure(self) -> str:
        """The advice given where delta must be 0 and the method needs delta > 0."""
        return "use method='auto' for pure privacy"

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The options of its function: its keywords, and the fields of groups of options."""
        return options_of(self.run)

    def fit(self, examples: Examples, problem: Problem, *, account: Account, **options: Any) -> Fit:
        """Check options, rows, problem and account, all of it public; then spend.

        Parameters
        ----------
        examples : Examples
            Rows and labels as numbers, with what is public of them.
        problem : Problem
            What is minimised.
        account : Account
            Pays for the fit.
        **options
            Options of the method, by name.

        Returns
        -------
        Fit
            Weights, the theorem, and what a reader needs to judge them.
        """
        self.admit(examples, problem, account, options)
        return self.run(examples, problem, account=account, **keywords_of(options, self.options))

    def admit(
        self, examples: Examples, problem: Problem, account: Account, options: Mapping[str, Any]
    ) -> None:
        """Refuse, before anything is spent, what the method's proof or its function does not cover.

        Parameters
        ----------
        examples : Examples
            Rows and labels; only what is public of them is looked at.
        problem : Problem
            What is to be minimised.
        account : Account
            What would pay.
        options : mapping
            Options of the method, by name.
        """
        check_options(options, self.options, method=self.name)
        self._require_taken(problem)
        request.admit(examples, account, self)
        if examples.dimension != problem.dimension:
            raise ParameterError(
                f"dimension must be the number of columns, {examples.dimension}, got dimension={problem.dimension}"
            )
        pure = account.remaining().as_pure() is not None
        smooths = self._smooths(problem, pure=pure)
        needs = (need for need in self.needs if need != "lipschitz" or not smooths)
        problem.require(needs, method=self.name)
        if not self.pure and pure:
            raise ParameterError(
                f"{self.name} needs delta > 0, and the account has none left; use method='auto', which knows the "
                "methods without delta"
            )

    def takes(self, problem: Problem) -> bool:
        """Whether the method takes the kind of loss of this `problem`: of one prediction, or of several."""
        return problem.outputs in self.outputs

    def place(self, facts: PublicFacts) -> float | None:
        """Its place in the order of `method="auto"` under these public `facts`; None where it is not chosen."""
        return next((rank.place for rank in self.ranks if rank.applies(facts)), None)

    def needs_penalty(self, problem: Problem) -> bool:
        """Whether its proof needs a penalty in this `problem`, if it covers the loss at all."""
        return "strongly_convex" in self.needs and problem.loss.name in (self.losses or (problem.loss.name,))

    def default_penalty(self, facts: PublicFacts) -> float:
        """The default penalty: the one at which shrinking costs as much accuracy as the noise that it saves.

        It depends on public `facts` alone.
        """

        def weight_change(penalty: float) -> float:
            return self.weight_change(replace(facts, problem=replace(facts.problem, penalty=penalty)))

        return balanced_penalty(facts.problem, weight_change, limit=facts.limit)

    def objection(self, facts: PublicFacts) -> str:
        """Why its proof does not hold under these public `facts`, in a few words; empty where it holds."""
        problem, several = facts.problem, facts.problem.outputs == "several"
        bounded = math.isfinite(problem.lipschitz) or self._smooths(problem, pure=facts.pure)
        checks = (
            (not self.takes(problem), "takes one prediction" if several else "is for several classes"),
            (facts.pure and not self.pure, "needs delta > 0"),
            (
                facts.adjacency.value not in self.adjacencies,
                f"is not proved for adjacency {facts.adjacency.value}",
            ),
            (facts.max_rows > 1 and self.single_rows, "protects single rows, not units of several"),
            ("lipschitz" in self.needs and not bounded, "needs a bounded gradient"),
            ("smooth" in self.needs and not math.isfinite(problem.smoothness), "needs a smooth loss"),
            ("strongly_convex" in self.needs and problem.penalty <= 0, "needs penalty > 0"),
            (self.losses and problem.loss.name not in self.losses, self.only),
        )
        return next((text for objected, text in checks if objected), "")

    def _smooths(self, problem: Problem, *, pure: bool) -> bool:
        return pure and problem.loss.name in self.smoothed and problem.unconstrained

    def _require_taken(self, problem: Problem) -> None:
        loss = problem.loss.name
        if not self.takes(problem):
            kind = "several classes" if problem.outputs == "several" else "one prediction"
            raise ParameterError(
                f"{self.name} takes losses of {' or '.join(self.outputs)} prediction"
                f"{'s' * (self.outputs == ('several',))}, got the {loss} loss, of {kind}; use method='auto'"
            )
        if self.losses and loss not in self.losses:
            raise ParameterError(
                f"{self.name} {self.only} ({', '.join(self.losses)}), got the {loss} loss; use method='auto'"
            )
