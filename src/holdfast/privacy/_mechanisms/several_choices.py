"""Choosing one candidate in each of several groups at once.

The law is that of an exponential mechanism in every group, with coins of its own. What one unit moves is bounded over
all groups together: so a group that a unit is not in costs it nothing, and all choices cost what one does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.errors import AdjacencyError, require
from holdfast.noise._choose import choose_by_score, score_factor
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PureDP
from holdfast.privacy._curves.finite_curve import BoundedRange
from holdfast.privacy._grid import difference, nearest_whole
from holdfast.privacy._mechanisms.mechanism import Mechanism, Output, Value, index_cdf
from holdfast.privacy._rounding import Number, as_written


@checked
@dataclass(frozen=True, kw_only=True)
class SeveralChoices(Mechanism):
    """In each group of scores an index, with probability proportional to exp(epsilon score / (2 sensitivity)).

    Scores are whole numbers, others are rounded first: those of the first group, then those of the next.

    Parameters
    ----------
    epsilon : int, float or Fraction
        The pure epsilon of all choices together.
    sensitivity : int, float or Fraction
        How far one unit moves scores: the largest change in each group, added up over the groups.
    groups : int
        How many groups the scores are of, with as many candidates each.
    monotone : bool
        Whether one unit moves all scores of a group the same way; then the 2 in the law falls away.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the mechanism.
    arithmetic : {'strict'}
        Choices are drawn exactly.

    Formal guarantees
    -----------------
    * Neighbours: any relation for which `sensitivity` was derived; monotone scores are not for 'replace'.
    * Privacy: a group whose scores move by s has log-ratios in an interval of length epsilon s / sensitivity that holds
      0 (McSherry and Talwar 2007; Cesar and Rogers 2021). Groups have coins of their own, so the intervals add up to
      one of length at most epsilon: pure epsilon, and zCDP with rho = epsilon^2 / 8.
    * Public: the number of groups and of candidates.

    Examples
    --------
    >>> SeveralChoices(epsilon=1.0, sensitivity=1).curve.as_zcdp()
    Fraction(1, 8)
    """

    epsilon: Number
    sensitivity: Number
    groups: int = 1
    monotone: bool = False

    theorem: ClassVar[str] = (
        "exponential mechanisms on groups (McSherry and Talwar 2007); bounded range: Cesar and Rogers 2021"
    )
    public: ClassVar[tuple[str, ...]] = ("the number of groups", "the list of candidates")

    def validate(self) -> None:
        """Refuse parameters that are not positive and finite."""
        require(0 < self.epsilon < float("inf"), "epsilon", self.epsilon, "> 0 and finite")
        require(0 < self.sensitivity < float("inf"), "sensitivity", self.sensitivity, "> 0 and finite")
        require(self.arithmetic == "strict", "arithmetic", self.arithmetic, "'strict'")
        require(
            isinstance(self.groups, int) and self.groups >= 1, "groups", self.groups, "a whole number >= 1"
        )
        score_factor(self._factor)

    def require_adjacency(self, adjacency: Adjacency) -> None:
        """Refuse monotone scores where a unit is replaced."""
        super().require_adjacency(adjacency)
        if self.monotone and adjacency is Adjacency.replace:
            raise AdjacencyError(
                f"{self.name} with monotone=True is for adjacency add_remove and zero_out, not for 'replace': one unit "
                "that takes another's place moves some scores up and others down; use monotone=False"
            )

    def check(self, value: Any) -> NDArray[Any]:
        """As many for each group; others than whole numbers become the nearest, of which `sensitivity` speaks."""
        scores: NDArray[Any] = super().check(value)
        fits = scores.ndim == 1 and scores.size % self.groups == 0
        require(
            fits, "scores.shape", scores.shape, f"a vector of as many scores for each of {self.groups} groups"
        )
        return nearest_whole(scores)

    @property
    def _factor(self) -> Any:
        """The exact log-weight of one unit of score."""
        return as_written(self.epsilon) / ((1 if self.monotone else 2) * as_written(self.sensitivity))

    @property
    def curve(self) -> PureDP:
        """Bounded range epsilon."""
        return BoundedRange(as_written(self.epsilon))

    def sample(self, value: Value, source: Source) -> NDArray[np.int64]:
        """The index of the chosen candidate in each group."""
        factor = self._factor
        return np.array(
            [choose_by_score(source, scores=scores, factor=factor) for scores in self._rows(value)],
            dtype=np.int64,
        )

    def _rows(self, scores: NDArray[Any]) -> NDArray[Any]:
        """A row for each group."""
        return self.check(scores).reshape(self.groups, -1)

    def log_chances(self, scores: Value) -> NDArray[np.float64]:
        """The logarithm of each candidate's chance in each group, by the declared law at these `scores`."""
        odds = (
            self._rows(np.asarray(scores)).astype(np.float64) * float(self.epsilon) / float(self.sensitivity)
        )
        odds = odds if self.monotone else 0.5 * odds
        odds = odds - odds.max(axis=1, keepdims=True)
        return np.asarray(odds - np.log(np.exp(odds).sum(axis=1, keepdims=True)))

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of the first group's index."""
        return index_cdf(np.exp(self.log_chances(value)[0]), at)

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """The largest change of each group, added up, over the sensitivity; of monotone scores up and down together."""
        change = self._rows(difference(first, second))
        up = np.maximum(change.max(axis=1), 0.0)
        down = np.maximum(-change.min(axis=1), 0.0)
        return float(np.sum(up + down if self.monotone else np.maximum(up, down))) / float(self.sensitivity)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """Between the chances of all chosen indices together."""
        chances = [self.log_chances(self.check(scores)) for scores in (first, second)]
        chosen = np.atleast_1d(np.asarray(output)).astype(np.int64)
        groups = np.arange(len(chosen))
        return float(np.sum(chances[0][groups, chosen] - chances[1][groups, chosen]))

    def worst_pair(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """In one group one candidate overtakes the other."""
        step = int(self.sensitivity)
        if self.monotone:
            return self._first_group(step, 0), self._first_group(step, step)
        return self._first_group(step, 0), self._first_group(0, step)

    def _first_group(self, *scores: int) -> NDArray[np.int64]:
        return np.array([*scores, *[0] * (len(scores) * (self.groups - 1))])

    def probes(self) -> tuple[NDArray[np.int64], ...]:
        """The pair, and three candidates in each group."""
        return (*self.worst_pair(), np.array([0, 2, 1] * self.groups))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both kinds of scores."""
        return cls(epsilon=1.0, sensitivity=2, groups=2), cls(epsilon=1.0, sensitivity=1, monotone=True)
