"""Private choice among candidates, and its cost: on disjoint parts of the rows, or by random stopping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from holdfast._arrays import Floats
from holdfast._silence import silence
from holdfast.errors import ParameterError, require
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Loss
from holdfast.learn._rows.batches import partition
from holdfast.learn._rows.examples import Examples
from holdfast.learn._tuning.random_stopping import RandomStopping
from holdfast.learn.methods.method import Fit, Learner
from holdfast.noise._uniform import integers
from holdfast.privacy._account import Account
from holdfast.privacy._account.parallel import accounts_for_parts
from holdfast.privacy._account.remaining import largest_epsilon, noise_within
from holdfast.privacy._account.request import refuse_users
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve, PureDP
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.privacy._mechanisms.selection import Exponential

SCORE_SHARE = 0.2
"""The share of a run's budget for its noisy score, under random stopping."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A name, and a function that trains on some rows within an account."""

    name: str
    train: Callable[[Examples, Account], Fit]

    @classmethod
    def of(cls, method: Learner, problem: Problem, **options: Any) -> Candidate:
        """A method with its problem and options."""
        return cls(
            name=f"{method.name}(penalty={problem.penalty:g}, radius={problem.radius:g})",
            train=lambda examples, account: method.fit(examples, problem, account=account, **options),
        )


class Score(Protocol):
    """The error of weights on each row: a number between 0 and `bound`, whatever the row and the weights."""

    @property
    def bound(self) -> float:
        """The largest value."""

    def rows(self, weights: Floats, features: Floats, labels: Floats) -> Floats:
        """One value per row."""


@dataclass(frozen=True)
class ErrorRate:
    """0 or 1 per row: the wrong side of the plane."""

    bound: float = 1.0

    def rows(self, weights: Floats, features: Floats, labels: Floats) -> Floats:
        """Whether the sign is wrong; a prediction of 0 is."""
        return np.where(labels * (features @ weights) > 0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class ClippedLoss:
    """A loss cut off at `bound`: released weights lie outside the ball of radius R, where no bound holds by itself."""

    loss: Loss
    bound: float

    def __post_init__(self) -> None:
        require(0 < self.bound < float("inf"), "bound", self.bound, "> 0 and finite")

    def rows(self, weights: Floats, features: Floats, labels: Floats) -> Floats:
        """min(loss, bound)."""
        return np.clip(self.loss.values(features @ weights, labels), 0.0, self.bound)


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenCandidate:
    """The candidate that was chosen, and its fit."""

    index: int
    name: str
    fit: Fit
    theorem: str
    private: bool = True

    def summary(self) -> str:
        """One line."""
        return f"{self.name}: {self.theorem}" + ("" if self.private else " (NOT PRIVATE)")


def score_change(score: Score, *, count: int) -> float:
    """The sensitivity of the mean score: bound / count, the same in all adjacencies, with a public divisor.

    Wu et al. 2017 print R^2 for the squared loss: without the division, and less than its range (1 + R)^2 / 2.
    """
    return score.bound / count


def choose_on_parts(
    candidates: Sequence[Candidate],
    examples: Examples,
    *,
    account: Account,
    score: Score | None = None,
    holdout: float = 0.2,
    arithmetic: Arithmetic = "strict",
) -> ChosenCandidate:
    """Train each candidate on a part of its own, choose one on a further part by the exponential mechanism.

    All parts are disjoint, so the whole costs as much as its most expensive part: every training and the choice
    spend all that remains of the account (Wu et al. 2017, Algorithm 7, with the score's true sensitivity).
    """
    require(len(candidates) >= 1, "candidates", len(candidates), ">= 1")
    require(0 < holdout < 1, "holdout", holdout, "in (0, 1)")
    refuse_users(examples, what="tuning", instead="average each user's rows into one")
    measure = ErrorRate() if score is None else score
    held = max(1, int(holdout * examples.public_count))
    each = (examples.public_count - held) // len(candidates)
    require(each >= 1, "candidates", len(candidates), "few enough that each has a row to train on")
    accounts = accounts_for_parts(account, parts=len(candidates) + 1, label="tuning")
    parts = partition(examples, account.source, sizes=[each] * len(candidates) + [held])
    fits = [
        candidate.train(part, own)
        for candidate, part, own in zip(candidates, parts[:-1], accounts[:-1], strict=True)
    ]
    scores = -np.array([_total(measure, fit.weights, parts[-1]) / held for fit in fits])
    # One row more lowers every score or leaves it: monotone but for replace, where two rows differ.
    monotone = account.adjacency is not Adjacency.replace
    change = score_change(measure, count=held)

    def mechanism(epsilon: float) -> Exponential:
        return Exponential(
            epsilon=epsilon,
            sensitivity=change,
            monotone=monotone,
            adjacency=account.adjacency,
            arithmetic=arithmetic,
        )

    chooser = accounts[-1]
    index = int(
        chooser.release(mechanism(largest_epsilon(chooser, lambda each: mechanism(each).curve)), scores)
    )
    return ChosenCandidate(
        index=index,
        name=candidates[index].name,
        fit=fits[index],
        theorem="exponential mechanism on a held-out part, parallel composition over disjoint parts",
    )


def choose_by_random_stopping(
    candidates: Sequence[Candidate],
    examples: Examples,
    *,
    account: Account,
    score: Score | None = None,
    stopping: RandomStopping | None = None,
    score_share: float = SCORE_SHARE,
    arithmetic: Arithmetic = "strict",
) -> ChosenCandidate:
    """Train random candidates on all rows a secret random number of times; release the one with the best score.

    Every run draws its candidate inside, trains, and releases a noisy score of its own fit on the same rows with
    `score_share` of the run's budget. In a pure account each run gets epsilon / (2 + eta); in a Renyi account the
    largest rho for which the theorem's bound fits. The number of runs, and so the running time, is not released,
    and nothing is shown while they last.
    """
    require(0 < score_share < 1, "score_share", score_share, "in (0, 1)")
    law = RandomStopping() if stopping is None else stopping
    runs = _Runs.of(candidates, examples, account, law, score, score_share, arithmetic)
    best: tuple[float, int] | None = None
    chosen: tuple[int, Fit] | None = None
    for _ in range(law.draw(account.source)):
        index = int(integers(account.source, bound=len(candidates), size=1)[0])
        with silence():
            noisy, fit = runs.scored_run(index)
        # A total order: equal scores are ordered by coins that know nothing of the data.
        rank = (noisy, int(integers(account.source, bound=2**62, size=1)[0]))
        if best is None or rank < best:
            best, chosen = rank, (index, fit)
    assert chosen is not None  # K >= 1
    return ChosenCandidate(
        index=chosen[0],
        name=candidates[chosen[0]].name,
        fit=chosen[1],
        theorem="best of a truncated negative binomial number of runs (Papernot and Steinke 2022)",
    )


def try_each(
    candidates: Sequence[Candidate],
    examples: Examples,
    *,
    account: Account,
    score: Score | None = None,
    stopping: RandomStopping | None = None,
) -> None:
    """One run of random stopping for every candidate: for a rehearsal, which must try all of them."""
    law = RandomStopping() if stopping is None else stopping
    runs = _Runs.of(candidates, examples, account, law, score)
    for index in range(len(candidates)):
        runs.scored_run(index)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Runs:
    """The runs of random stopping, which share their rows and one charge for all of them."""

    candidates: Sequence[Candidate]
    examples: Examples
    account: Account
    base: PrivacyCurve
    score: Score
    score_share: float
    arithmetic: Arithmetic

    @classmethod
    def of(
        cls,
        candidates: Sequence[Candidate],
        examples: Examples,
        account: Account,
        law: RandomStopping,
        score: Score | None,
        score_share: float = SCORE_SHARE,
        arithmetic: Arithmetic = "strict",
    ) -> _Runs:
        """Check, then charge all that remains."""
        require(len(candidates) >= 1, "candidates", len(candidates), ">= 1")
        refuse_users(examples, what="tuning", instead="average each user's rows into one")
        base_budget(account, law)  # refused here, before anything is spent
        (whole,) = accounts_for_parts(account, parts=1, label="tuning by random stopping")
        return cls(
            candidates=candidates,
            examples=examples,
            account=account,
            base=base_budget(whole, law),
            score=ErrorRate() if score is None else score,
            score_share=score_share,
            arithmetic=arithmetic,
        )

    def scored_run(self, index: int) -> tuple[float, Fit]:
        """Train a candidate, and score it with noise on the same rows."""
        account, count = self.account, self.examples.public_count
        run = Account(self.base, adjacency=account.adjacency, unit=account.unit)
        run.source = account.source
        training, scoring = run.split(1.0 - self.score_share - 1e-12, self.score_share)
        fit = self.candidates[index].train(self.examples, training)
        noise = noise_within(
            scoring,
            l2_sensitivity=score_change(self.score, count=count),
            dimension=1,
            arithmetic=self.arithmetic,
        )
        error = _total(self.score, fit.weights, self.examples) / count
        return float(scoring.release(noise.mechanism, np.array([error]))[0]), fit


def base_budget(account: Account, law: RandomStopping) -> PrivacyCurve:
    """The budget of one run with which the best of all runs costs no more than what remains."""
    left = account.remaining()
    pure = left.as_pure()
    if pure is not None:
        return PureDP(law.base_pure(pure))
    if account.currency.name != "renyi":
        raise ParameterError(
            f"random stopping is proved in pure and Renyi DP, got an account of currency {account.currency.name!r}; "
            "open it with currency='renyi', or choose on disjoint parts"
        )
    order = float(getattr(account.currency, "order"))  # noqa: B009 - only this currency has one
    allowed = left.renyi(order)
    low, high = 0.0, allowed / order
    if law.renyi(order, ZCDP(0.0)) >= allowed:
        raise ParameterError(
            f"gamma={law.gamma!r} and eta={law.eta!r} cost more than remains before anything is trained; "
            "use a larger gamma (fewer runs) or a larger epsilon"
        )
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if law.renyi(order, ZCDP(middle)) <= allowed else (low, middle)
    return ZCDP(low)


def _total(score: Score, weights: Floats, examples: Examples) -> float:
    return float(sum(np.sum(score.rows(weights, features, labels)) for features, labels in examples.chunks()))
