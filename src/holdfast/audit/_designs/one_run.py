"""OneRun: one training with many planted records, a coin for each (Steinke, Nasr and Jagielski 2023)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._docstrings import describing
from holdfast._ranges import require_whole
from holdfast.audit._canaries import Canaries, LabelledCanaries, inclusion_coins
from holdfast.audit._canaries.decoder import guess
from holdfast.audit._canaries.planting import Planting
from holdfast.audit._designs.planted import PARAMETERS, PlantedDesign, PlantedSlots
from holdfast.audit._designs.question import Question
from holdfast.audit._findings import Finding, FixedGuesses, GaussianGuesses, GuessPath, bits_as_text
from holdfast.audit._power import PowerBasis, power
from holdfast.audit._result import AuditResult, describe_scores
from holdfast.errors import require

Bound = Literal["path", "geometric", "fixed", "gaussian"]

DEFAULT_CANARIES = 1000
"""The most canaries that a design without a number of its own chooses."""
MOST_CANARIES = 10_000_000
"""More would not fit into memory."""


@checked
@describing(PARAMETERS)
@dataclass(frozen=True, kw_only=True, eq=False)
class OneRun(PlantedDesign):
    """Train once with many planted records, each in or out by a coin of its own, and guess the coins from the model.

    Parameters
    ----------
    canaries : int, Canaries or LabelledCanaries, optional
        How many directions holdfast plants, or records of your own. Left open, as many as notice faults best.
    guesses : int, optional
        How many coins are guessed, the surest first: exactly so many where `bound` is "fixed" or "gaussian", at most so
        many along a path. By default half of the coins, or all along a path.
    bound : {"path", "geometric", "fixed", "gaussian"}
        "path" takes the best number of guesses and pays for it exactly, "geometric" looks at a few numbers, "fixed"
        uses `guesses` as given, "gaussian" tests whole trade-off curves: best where the noise is Gaussian, but its
        epsilon is an estimate.
    confidence : float
        With which faults are to be noticed, where the number of canaries follows from that.

    Examples
    --------
    >>> from holdfast.audit import audit
    >>> from holdfast.privacy import PureDP
    >>> leaky = lambda rows: rows.sum(axis=0)                     # no noise at all
    >>> result = audit(
    ...     leaky, np.zeros((5, 40)), claim=PureDP(1.0), adjacency="add_remove", design=OneRun(canaries=30), seed=1
    ... )
    >>> result.verdict(PureDP(1.0)), result.m
    ('refuted', 30)
    """

    runs: ClassVar[int] = 1
    canaries: Canaries | LabelledCanaries | int | None = None
    guesses: int | None = None
    bound: Bound = "path"
    confidence: float = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.confidence < 1, "confidence", self.confidence, "in (0, 1)")
        if isinstance(self.canaries, int):
            require_whole("canaries", self.canaries, least=1, most=MOST_CANARIES)
        elif self.canaries is not None:
            self._require_own_norm("canaries")
        count = self.canaries if isinstance(self.canaries, int | None) else self.canaries.count
        if self.guesses is not None:
            most = math.inf if count is None else count
            require(
                1 <= self.guesses <= most,
                "guesses",
                self.guesses,
                f"in [1, {most:g}], the number of canaries",
            )

    def answer(self, train: Callable[..., Any], data: Any, question: Question) -> AuditResult:
        """Plant, call `train` on `data` once, guess, and hold the guesses against the `question`."""
        slots = PlantedSlots.of(data)
        own = not isinstance(self.canaries, int | None)
        plantings = [
            self._planting(slots, canaries, question.adjacency)
            for canaries in self._candidates(slots.dimension)
        ]
        bases = [self._power_basis(planting, question, runs=1, single=False) for planting in plantings]
        place = 0 if len(plantings) == 1 else self._best(plantings, bases, question.delta)
        planting = plantings[place]
        most = self._guesses(planting.count)
        coins = inclusion_coins(question.source, planting.count)
        scores = planting.scores(train(planting.data(coins)))
        right = guess(scores, include=most - most // 2, exclude=most // 2).correct(coins)
        question.progress(1, 1)
        return self._result(
            self._finding(planting.count, right),
            describe_scores(scores, coins),
            question,
            planting,
            bases[place],
            generated=slots.empty and not own,
        )

    def _candidates(self, dimension: int) -> Sequence[Canaries | LabelledCanaries]:
        """The canaries that the user chose; else two choices: as many as can be orthogonal, or 1000."""
        if self.canaries is None:
            counts = sorted({min(DEFAULT_CANARIES, max(dimension, 2)), DEFAULT_CANARIES})
            return [self._directions(count, dimension) for count in counts]
        if isinstance(self.canaries, int):
            return [self._directions(self.canaries, dimension)]
        return [self.canaries]

    def _best(self, plantings: Sequence[Planting], bases: Sequence[PowerBasis | None], delta: float) -> int:
        """The place of the planting that would notice faults best, by its design alone: before any training."""

        def power_at(place: int) -> tuple[float, float]:
            basis, count = bases[place], plantings[place].count
            if basis is None:
                return (0.0, 0.0)
            blank = self._finding(count, np.zeros(self._guesses(count), dtype=bool))
            known = power(blank, basis, basis.claim, delta=delta, confidence=self.confidence)
            return (known.no_noise, -(known.kappa or math.inf))

        return max(range(len(plantings)), key=power_at)

    def _guesses(self, count: int) -> int:
        """How many coins are guessed: `guesses` if given, else all for a path, or half where the number is fixed."""
        half = max(2, count // 2 // 2 * 2) if self.bound in ("fixed", "gaussian") else count // 2 * 2
        most = half if self.guesses is None else self.guesses
        require(1 <= most <= count, "guesses", most, f"in [1, {count}], the number of canaries")
        return most

    def _finding(self, count: int, right: NDArray[np.bool_]) -> Finding:
        """The finding of one training, for this bound."""
        if self.bound in ("path", "geometric"):
            rule: Literal["exact", "geometric"] = "exact" if self.bound == "path" else "geometric"
            return GuessPath(canaries=count, right=bits_as_text(right), rule=rule)
        kind = FixedGuesses if self.bound == "fixed" else GaussianGuesses
        return kind(canaries=count, guesses=right.size, correct=int(right.sum()))
