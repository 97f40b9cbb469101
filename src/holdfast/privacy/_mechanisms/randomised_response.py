"""Each person answers truthfully with a known probability, else at random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.errors import require
from holdfast.noise._choose import choose_many
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve, PureDP
from holdfast.privacy._curves.finite_curve import FinitePair
from holdfast.privacy._grid import nearest_whole
from holdfast.privacy._mechanisms.mechanism import Mechanism, Output, Value, index_cdf
from holdfast.privacy._rounding import Number, as_written, round_up


@dataclass(frozen=True, kw_only=True)
class AnswerShares:
    """Estimated shares of the categories, unbiased and so perhaps below 0; each is within `reach` of the truth."""

    share: tuple[float, ...]
    reach: float
    confidence: float

    @property
    def interval(self) -> tuple[tuple[float, float], ...]:
        """From and to, within [0, 1]; they hold together with the confidence."""
        return tuple((max(0.0, s - self.reach), min(1.0, s + self.reach)) for s in self.share)


@checked
@dataclass(frozen=True, kw_only=True)
class RandomisedResponse(Mechanism):
    """Each code is kept with probability e^epsilon / (e^epsilon + categories - 1), else one of the others.

    Parameters
    ----------
    epsilon : int, float or Fraction
        The pure epsilon of one unit's answer.
    categories : int
        How many codes there are; codes are 0, 1, and so on.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: one unit's code is changed; the number of answers is visible, so both tables must have the
      same count.
    * Privacy: pure epsilon (Warner 1965; Kairouz, Oh and Viswanath 2014), without a trusted collector.
    * Public: the number of units and of categories.

    Examples
    --------
    >>> RandomisedResponse(epsilon=0.1).curve
    PureDP(epsilon=0.1)
    """

    epsilon: Number
    categories: int = 2

    theorem: ClassVar[str] = "randomised response (Warner 1965; Kairouz, Oh and Viswanath 2014)"
    public: ClassVar[tuple[str, ...]] = ("the number of answers", "the categories")
    admissible: ClassVar[frozenset[Adjacency]] = frozenset({Adjacency.replace})

    def validate(self) -> None:
        """Two categories or more."""
        require(
            0 < self.epsilon <= 700,
            "epsilon",
            self.epsilon,
            "> 0 and at most 700",
            "beyond it nothing is hidden",
        )
        known = isinstance(self.categories, int) and 2 <= self.categories <= 2**31
        require(known, "categories", self.categories, "a whole number >= 2 and at most 2^31")

    @property
    def curve(self) -> PrivacyCurve:
        """Exact: for two categories randomised response is the worst pure mechanism."""
        if self.categories == 2:
            return PureDP(as_written(self.epsilon))
        ratio = math.exp(round_up(self.epsilon))
        keep, other = ratio / (ratio + self.categories - 1), 1 / (ratio + self.categories - 1)
        rest = max(0.0, 1.0 - keep - other)
        return FinitePair((keep, other, rest), (other, keep, rest))

    def check(self, value: Any) -> NDArray[np.int64]:
        """Codes within the declared categories; any other number is the nearest of them, which an error would tell."""
        codes = nearest_whole(super().check(value))
        return np.asarray(np.clip(codes, 0, self.categories - 1), dtype=np.int64)

    def sample(self, value: Value, source: Source) -> NDArray[np.int64]:
        """Keep (offset 0) or move on by a uniform offset."""
        scores = np.zeros(self.categories, dtype=np.int64)
        scores[0] = 1
        offsets = choose_many(source, scores=scores, factor=as_written(self.epsilon), size=value.size)
        return np.asarray((value + offsets.reshape(value.shape)) % self.categories)

    def shares(self, answers: NDArray[np.int64], *, confidence: float = 0.95) -> AnswerShares:
        """How many people there are of each category, estimated from released answers, without bias.

        Y of the answers say so: E[Y] = keep X + other (n - X), so X = (Y - n other) / (keep - other). Answers
        are independent given the people, so Hoeffding's bound holds for these people, at any n, and for the
        population that they were drawn from as well; the confidence is for all categories together.

        >>> answers = RandomisedResponse(epsilon=math.log(3)).shares(np.repeat([0, 1], [70, 30]))
        >>> [round(share, 3) for share in answers.share], round(answers.reach, 3)
        ([0.9, 0.1], 0.272)
        """
        codes = self.check(answers)
        require(codes.size >= 1, "answers", f"{codes.size} of them", "one or more")
        require(0 < confidence < 1, "confidence", confidence, "in (0, 1)")
        ratio = math.exp(float(self.epsilon))
        keep, other = ratio / (ratio + self.categories - 1), 1.0 / (ratio + self.categories - 1)
        seen = np.bincount(codes.ravel(), minlength=self.categories) / codes.size
        # Two categories are one number; of more, each has its own two-sided bound.
        bounds = 1 if self.categories == 2 else self.categories
        reach = math.sqrt(math.log(2.0 * bounds / (1.0 - confidence)) / (2.0 * codes.size)) / (keep - other)
        share = tuple(float(value) for value in (seen - other) / (keep - other))
        return AnswerShares(share=share, reach=reach, confidence=confidence)

    def worst_pair(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """One answer, changed."""
        return np.array([0]), np.array([1])

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The true code with e^epsilon times the chance of any other."""
        odds = np.ones(self.categories)
        odds[int(value.flat[0])] = math.exp(self.epsilon)
        return index_cdf(odds, at)

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """The number of changed answers."""
        return float(np.count_nonzero(np.not_equal(first, second)))

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """epsilon for each answer that tells the first code, less epsilon for each that tells the second."""
        surplus = np.count_nonzero(np.equal(output, first)) - np.count_nonzero(np.equal(output, second))
        return float(self.epsilon) * float(surplus)

    @property
    def independent_coordinates(self) -> bool:
        """Each coordinate has noise of its own."""
        return True

    def probes(self) -> tuple[NDArray[np.int64], ...]:
        """The pair, and the last code twice."""
        return (*self.worst_pair(), np.full(2, self.categories - 1))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Two categories, and five."""
        return cls(epsilon=1.0), cls(epsilon=2.0, categories=5)
