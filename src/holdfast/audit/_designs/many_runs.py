"""ManyRuns and Sequential: many trainings with one planted record, a coin for each training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from holdfast._arguments import checked
from holdfast._docstrings import describing
from holdfast.audit._bounds import multi_run
from holdfast.audit._bounds.sequential import SequentialTest
from holdfast.audit._canaries import Canaries, LabelledCanaries, inclusion_coins
from holdfast.audit._canaries.planting import Planting
from holdfast.audit._designs.planted import PARAMETERS, PlantedDesign, PlantedSlots, score_of_one
from holdfast.audit._designs.question import Question
from holdfast.audit._findings import AnytimeGuesses, Trainings, bits_as_text
from holdfast.audit._result import AuditResult, describe_scores
from holdfast.errors import require

Bound = Literal["clopper-pearson", "gaussian", "bayesian"]
DEFAULT_RUNS = 400
"""The number of trainings, unless another is given."""
FEWEST_RUNS = 16
"""A quarter of the trainings chooses the threshold, so fewer would count next to nothing."""
CANARY_PARAMETER = """Canaries or LabelledCanaries, optional
    The planted record, as a design of one; by default a direction that holdfast makes."""
OWN_PARAMETERS = PARAMETERS | {"canary": CANARY_PARAMETER}


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class SingleCanary(PlantedDesign):
    """A design that plants one record, or not, in each of many trainings."""

    canary: Canaries | LabelledCanaries | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.canary is not None:
            require(self.canary.count == 1, "canary", self.canary.count, "one record")
            self._require_own_norm("canaries")

    def _only_planting(self, slots: PlantedSlots, question: Question) -> Planting:
        canary = self._directions(1, slots.dimension) if self.canary is None else self.canary
        return self._planting(slots, canary, question.adjacency)


@checked
@describing(OWN_PARAMETERS)
@dataclass(frozen=True, kw_only=True, eq=False)
class ManyRuns(SingleCanary):
    """Train many times, with a planted record or without it by the toss of a coin, and count the wrong guesses.

    The threshold of the guess is chosen on the first quarter of the trainings, and the others are counted at it.

    Parameters
    ----------
    runs : int
        How many trainings, 16 at least.
    bound : {"clopper-pearson", "gaussian", "bayesian"}
        What epsilon follows from the counts: "clopper-pearson" is a bound, the others are estimates.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.audit import audit
    >>> from holdfast.privacy import PureDP
    >>> leaky = lambda rows: rows.sum(axis=0)                     # no noise at all
    >>> result = audit(
    ...     leaky, np.zeros((5, 4)), claim=PureDP(0.5), adjacency="add_remove", design=ManyRuns(runs=100), seed=1
    ... )
    >>> result.verdict(PureDP(0.5))
    'refuted'
    """

    runs: int = DEFAULT_RUNS
    bound: Bound = "clopper-pearson"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.runs >= FEWEST_RUNS, "runs", self.runs, f">= {FEWEST_RUNS}")

    def answer(self, train: Callable[..., Any], data: Any, question: Question) -> AuditResult:
        """Call `train` on `data` many times, with the record and without; hold the errors against the `question`."""
        slots = PlantedSlots.of(data)
        planting = self._only_planting(slots, question)
        basis = self._power_basis(planting, question, runs=self.runs, single=True)
        coins = inclusion_coins(question.source, self.runs)
        scores = np.empty(self.runs)
        for place in range(self.runs):
            scores[place] = score_of_one(train, planting, bool(coins[place]))
            question.progress(place + 1, self.runs)
        require(
            4 <= int(coins.sum()) <= self.runs - 4,
            "runs",
            self.runs,
            "large enough that the canary is both in and out",
            "use more runs",
        )
        return self._result(
            Trainings(
                errors=multi_run.held_out_errors(scores[coins], scores[~coins], delta=question.delta),
                bound=self.bound,
            ),
            describe_scores(scores, coins),
            question,
            planting,
            basis,
            generated=slots.empty and self.canary is None,
        )


@checked
@describing(OWN_PARAMETERS)
@dataclass(frozen=True, kw_only=True, eq=False)
class Sequential(SingleCanary):
    """Train with a planted record or without it, guess, bet on the guess, and stop as soon as the claim is refuted.

    Parameters
    ----------
    runs : int
        How many trainings at most.
    confidence : float
        With which a claim must be refuted before it stops; above 0.64.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.audit import audit
    >>> from holdfast.privacy import PureDP
    >>> leaky = lambda rows: rows.sum(axis=0)                     # no noise at all
    >>> result = audit(
    ...     leaky, np.zeros((5, 4)), claim=PureDP(0.5), adjacency="add_remove", design=Sequential(), seed=1
    ... )
    >>> result.verdict(PureDP(0.5)), result.m < 40
    ('refuted', True)
    """

    runs: int = DEFAULT_RUNS
    confidence: float = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.runs >= 1, "runs", self.runs, ">= 1")
        require(0.64 < self.confidence < 1, "confidence", self.confidence, "in (0.64, 1)")

    def answer(self, train: Callable[..., Any], data: Any, question: Question) -> AuditResult:
        """Call `train` on `data` until the guesses refute the claim of the `question`, or `runs` are made."""
        slots = PlantedSlots.of(data)
        planting = self._only_planting(slots, question)
        basis = self._power_basis(planting, question, runs=self.runs, single=True)
        claimed = question.claim.epsilon(question.delta)
        game = SequentialTest(delta=question.delta, confidence=self.confidence)
        scores: dict[bool, list[float]] = {True: [], False: []}
        right: list[bool] = []
        for place in range(self.runs):
            coin = bool(inclusion_coins(question.source, 1)[0])
            score = score_of_one(train, planting, coin)
            # The threshold knows earlier trainings only, so each guess is made before its coin is looked at.
            middle = 0.5 * sum(float(np.median(scores[planted] or [0.0])) for planted in (True, False))
            right.append((score >= middle) == coin)
            scores[coin].append(score)
            game = game.observe(right[-1])
            question.progress(place + 1, self.runs)
            if game.refutes(claimed):
                break
        return self._result(
            AnytimeGuesses(right=bits_as_text(right)),
            {},
            question,
            planting,
            basis,
            generated=slots.empty and self.canary is None,
        )
