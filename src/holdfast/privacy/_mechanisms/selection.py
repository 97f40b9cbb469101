"""Choosing by score, among candidates whose scores have bounded sensitivity.

The exponential mechanism, which is report-noisy-max with Gumbel noise, and permute-and-flip, which is never
worse in pure DP. Strict arithmetic rounds scores to a public grid and chooses exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._ranges import require_whole
from holdfast.errors import AdjacencyError, require
from holdfast.noise._choose import choose_by_score, permute_and_flip, score_factor
from holdfast.noise._idealised import exponential, gumbel
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PureDP
from holdfast.privacy._curves.finite_curve import BoundedRange
from holdfast.privacy._grid import Grid, difference
from holdfast.privacy._mechanisms.mechanism import Mechanism, Output, Value, index_cdf
from holdfast.privacy._quadrature import legendre
from holdfast.privacy._rounding import Number, as_written


@checked
@dataclass(frozen=True, kw_only=True)
class Selection(Mechanism):
    """One index out of a list of candidates, by their scores.

    `sensitivity` bounds how far one unit moves each score, up or down. With `monotone` scores (one
    unit moves all of them the same way, as counts under add_remove) half the noise suffices; under
    replace no scores are taken to be so.
    """

    epsilon: Number
    sensitivity: Number
    monotone: bool = False

    public: ClassVar[tuple[str, ...]] = ("the list of candidates",)

    def validate(self) -> None:
        """Refuse parameters that are not positive and finite."""
        require(0 < self.epsilon < float("inf"), "epsilon", self.epsilon, "> 0 and finite")
        require(0 < self.sensitivity < float("inf"), "sensitivity", self.sensitivity, "> 0 and finite")

    def require_adjacency(self, adjacency: Adjacency) -> None:
        """Refuse monotone scores where a unit is replaced: it leaves and another comes, so scores move both ways."""
        super().require_adjacency(adjacency)
        if self.monotone and adjacency is Adjacency.replace:
            raise AdjacencyError(
                f"{self.name} with monotone=True is for adjacency add_remove and zero_out, not for 'replace': one unit "
                "that takes another's place moves some scores up and others down; use monotone=False"
            )

    def check(self, value: Any) -> NDArray[Any]:
        """Scores are a vector."""
        scores: NDArray[Any] = super().check(value)
        require(scores.ndim == 1, "scores.ndim", scores.ndim, "1")
        if self.arithmetic == "strict":
            score_factor(self._step_weight)
        return scores

    @property
    def noise_scale(self) -> float:
        """Of the noise that report-noisy-max adds to each score, in idealised arithmetic."""
        return (1 if self.monotone else 2) * float(self.sensitivity) / float(self.epsilon)

    def on_grid(self, scores: Value) -> tuple[NDArray[Any], Fraction]:
        """The `scores` as whole numbers, and the exact log-weight of one step."""
        return self._grid.nearest(scores), self._step_weight

    @property
    def _grid(self) -> Grid:
        exact = as_written(self.sensitivity)
        return Grid.for_noise(exact, exact)

    @property
    def _step_weight(self) -> Fraction:
        """The log-weight of a step of the grid; rounding adds a step to the sensitivity."""
        step, halves = self._grid.step, 1 if self.monotone else 2
        return as_written(self.epsilon) * step / (halves * (as_written(self.sensitivity) + step))

    def log_odds(self, scores: Value) -> NDArray[np.float64]:
        """epsilon score / (2 sensitivity), or twice that for monotone scores; the largest is 0.

        Written apart from `on_grid`, for the law test: strict arithmetic rounds scores to a grid and enlarges
        the sensitivity by its step.
        """
        values, reach = scores.astype(np.float64), float(self.sensitivity)
        if self.arithmetic == "strict":
            exact = as_written(self.sensitivity)
            step = float(Grid.for_noise(exact, exact).step)
            values, reach = np.rint(values / step) * step, reach + step
        odds = values * float(self.epsilon) / (reach if self.monotone else 2.0 * reach)
        return np.asarray(odds - odds.max())

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """The largest change of a score over the sensitivity.

        Of monotone scores that move both ways, the changes up and down together: the law sees differences of
        scores only, and a change from -a to b is one from 0 to a + b.
        """
        change = difference(first, second)
        up, down = max(0.0, float(np.max(change))), max(0.0, -float(np.min(change)))
        return (up + down if self.monotone else max(up, down)) / float(self.sensitivity)

    def log_ratio(self, first: Value, second: Value, output: int) -> float:
        """Between the chances of the chosen index."""
        first_chances, second_chances = (self.log_chances(self.check(scores)) for scores in (first, second))
        require_whole("output", output, most=min(first_chances.size, second_chances.size) - 1)
        return float(first_chances[int(output)] - second_chances[int(output)])

    @abstractmethod
    def log_chances(self, scores: Value) -> NDArray[np.float64]:
        """The logarithm of each candidate's chance at these `scores`, by the declared law."""

    def probes(self) -> tuple[NDArray[Any], ...]:
        """The pair, and three candidates with integer scores."""
        return (*self.worst_pair(), np.array([0, 2, 1]))


@checked
@dataclass(frozen=True, kw_only=True)
class Exponential(Selection):
    """The index i of a score with probability proportional to exp(epsilon score_i / (2 sensitivity)).

    Parameters
    ----------
    epsilon : int, float or Fraction
        The pure epsilon of one choice.
    sensitivity : int, float or Fraction
        How far one unit moves each score, up or down.
    monotone : bool
        Whether one unit moves all scores the same way, as counts under add_remove; then half the noise will do.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: any relation for which `sensitivity` was derived.
    * Privacy: pure epsilon, and a bounded range of epsilon: zCDP with rho = epsilon^2 / 8 (McSherry and Talwar
      2007; Dong, Durfee and Rogers 2020; Cesar and Rogers 2021). With `monotone` scores the 2 in the law falls
      away.
    * Public: the number of candidates.

    Examples
    --------
    >>> Exponential(epsilon=1.0, sensitivity=1.0).curve.as_zcdp()
    Fraction(1, 8)
    """

    theorem: ClassVar[str] = (
        "exponential mechanism (McSherry and Talwar 2007); bounded range: Cesar and Rogers 2021"
    )

    @property
    def curve(self) -> PureDP:
        """Bounded range epsilon: pure epsilon, and epsilon^2 / 8 in zCDP."""
        return BoundedRange(as_written(self.epsilon))

    def sample(self, value: Value, source: Source) -> int:
        """The index of the chosen candidate."""
        if self.arithmetic == "idealised":
            return int(
                np.argmax(value.astype(np.float64) + self.noise_scale * gumbel(source, size=value.size))
            )
        steps, factor = self.on_grid(value)
        return choose_by_score(source, scores=steps, factor=factor)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One candidate overtakes the other: odds go from e^(-epsilon/2) to e^(epsilon/2)."""
        step = float(self.sensitivity)
        if self.monotone:
            return np.array([step / 2, 0.0]), np.array([step / 2, step])
        return np.array([step, 0.0]), np.array([0.0, step])

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of the chosen index."""
        return index_cdf(np.exp(self.log_odds(value)), at)

    def log_chances(self, scores: Value) -> NDArray[np.float64]:
        """Odds over their sum."""
        odds = self.log_odds(scores)
        return np.asarray(odds - np.log(np.sum(np.exp(odds))))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics, and monotone scores."""
        return (
            cls(epsilon=1.0, sensitivity=1.0),
            cls(epsilon=2.0, sensitivity=0.5, arithmetic="idealised"),
            cls(epsilon=1.0, sensitivity=1.0, monotone=True),
        )


@checked
@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Selection):
    """In random order, take candidate i with probability exp(epsilon (score_i - max) / (2 sensitivity)).

    The same law as report-noisy-max with exponential noise of scale 2 sensitivity / epsilon.

    Parameters
    ----------
    epsilon : int, float or Fraction
        The pure epsilon of one choice.
    sensitivity : int, float or Fraction
        How far one unit moves each score, up or down.
    monotone : bool
        Whether one unit moves all scores the same way, as counts under add_remove; then half the noise will do.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: any relation for which `sensitivity` was derived.
    * Privacy: pure epsilon (McKenna and Sheldon 2020). In zCDP it is charged epsilon^2 / 2: the bounded-range
      bound is not proved for it (soundness, section 0).
    * Public: the number of candidates.

    Examples
    --------
    >>> PermuteAndFlip(epsilon=1.0, sensitivity=1.0).curve.as_zcdp()
    Fraction(1, 2)
    """

    theorem: ClassVar[str] = "permute-and-flip (McKenna and Sheldon 2020; Ding et al. 2021)"

    @property
    def curve(self) -> PureDP:
        """Pure epsilon."""
        return PureDP(as_written(self.epsilon))

    def sample(self, value: Value, source: Source) -> int:
        """The index of the chosen candidate."""
        if self.arithmetic == "idealised":
            return int(
                np.argmax(value.astype(np.float64) + self.noise_scale * exponential(source, size=value.size))
            )
        steps, factor = self.on_grid(value)
        return permute_and_flip(source, scores=steps, factor=factor)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The second candidate catches up: its chance goes from e^(-epsilon) / 2 to 1/2."""
        step = float(self.sensitivity)
        if self.monotone:
            return np.array([step, 0.0]), np.array([step, step])
        return np.array([2 * step, 0.0]), np.array([step, step])

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of the chosen index."""
        return index_cdf(np.exp(self.log_chances(value)), at)

    def log_chances(self, scores: Value) -> NDArray[np.float64]:
        """Taken when visited, and nobody before."""
        odds = self.log_odds(scores)
        return np.asarray(odds + np.log(_left_over(np.exp(odds))))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """One example for each arithmetic."""
        return cls(epsilon=1.0, sensitivity=1.0), cls(epsilon=1.0, sensitivity=1.0, arithmetic="idealised")


def _left_over(flips: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance that nobody was taken before each candidate, from the probabilities of being taken when visited.

    Visit candidate i at a uniform time t: it is chosen if taken, and if nobody before t was:
    the integral of prod_{j != i} (1 - t p_j), a polynomial, exact by Gauss-Legendre.
    """
    nodes, weights = legendre(flips.size // 2 + 1)
    untaken = 1.0 - 0.5 * (nodes + 1.0)[:, None] * flips
    others = [np.prod(np.delete(untaken, i, axis=1), axis=1) for i in range(flips.size)]
    return np.asarray(0.5 * weights @ np.stack(others, axis=1))
