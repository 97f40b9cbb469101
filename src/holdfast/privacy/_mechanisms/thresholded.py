"""Noisy counts of keys that are not declared: only counts above a threshold are released."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.errors import AdjacencyError, ParameterError, require
from holdfast.noise._gaussian import rounded_gaussian
from holdfast.noise._laplace import discrete_laplace
from holdfast.noise._source import Source
from holdfast.noise._symmetric import checked_width
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._calibration import calibrate
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.threshold import ThresholdCurve
from holdfast.privacy._grid import difference, exact_sum, in_64_bits, nearest_whole
from holdfast.privacy._mechanisms.laplace import discrete_laplace_cdf
from holdfast.privacy._mechanisms.mechanism import Mechanism, Output, Value
from holdfast.privacy._rounding import Number, as_written, round_up
from holdfast.privacy._safe_side import safe_side

_FAMILIES = ("laplace", "gaussian")
_WIDER = (0.0, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
"""How much wider normal noise is tried, as a wider one may do with a lower threshold."""


@checked
@dataclass(frozen=True, kw_only=True)
class Thresholded(Mechanism):
    """Of each key its count with whole noise, where that is at least `threshold`; of all others, 0.

    The value has a count for every key that could exist. A count of 0 is released as 0: so no list of keys is needed,
    and what is released follows from the keys that exist.

    Parameters
    ----------
    family : {'laplace', 'gaussian'}
        Discrete Laplace noise, or normal noise rounded to whole numbers.
    scale : int, float or Fraction
        The scale of Laplace noise, the standard deviation of normal noise.
    threshold : int
        The least noisy count that is released.
    epsilon : int, float or Fraction
        At which epsilon an account of (epsilon, delta) charges it.
    steps : int
        What a unit with one key adds to it. One with t keys adds to each floor(steps / sqrt(t)), so that all it adds
        has a Euclidean norm of at most `steps`.
    most : int
        How many keys a unit has at most; 1 with Laplace noise.
    adjacency : Adjacency, optional
        Under which neighbours it is used; 'replace' has to be named.
    arithmetic : {'strict'}
        Noise is drawn exactly.

    Formal guarantees
    -----------------
    * Neighbours: one unit added or removed, with all of its keys; under 'replace' that is two steps.
    * Privacy: the larger of what known and what new keys tell, at the worst share of new ones (soundness, section 25).
      The delta belongs to the curve; it is no event of the mechanism's own.
    * Public: every parameter. Which keys exist is not, and neither is their number: both are seen through the release.
    * Assumed: a key has a count above 0 only where a unit has it, and units add what `steps` and `most` say.

    Examples
    --------
    >>> from holdfast.privacy import ApproxDP
    >>> Thresholded.within(ApproxDP(1.0, 1e-5)).threshold
    13
    """

    family: str = "laplace"
    scale: Number
    threshold: int
    epsilon: Number
    steps: int = 1
    most: int = 1

    theorem: ClassVar[str] = (
        "noisy counts above a threshold (Korolova et al. 2009; Wilson et al. 2020), with the exact delta of new keys"
    )
    public: ClassVar[tuple[str, ...]] = ("the threshold",)
    admissible: ClassVar[frozenset[Adjacency]] = frozenset({Adjacency.add_remove, Adjacency.replace})

    def validate(self) -> None:
        """Positive and finite, and whole where they count."""
        require(self.family in _FAMILIES, "family", self.family, "'laplace' or 'gaussian'")
        require(0 < self.scale < float("inf"), "scale", self.scale, "> 0 and finite")
        checked_width("scale", as_written(self.scale))
        require(0 < self.epsilon <= 700, "epsilon", self.epsilon, "> 0 and at most 700")
        for name, number, largest in (
            ("threshold", self.threshold, 2**50),
            ("steps", self.steps, 2**30),
            ("most", self.most, 2**20),
        ):
            whole = isinstance(number, int) and 1 <= number <= largest
            require(whole, name, number, f"a whole number from 1 to {largest}")
        require(self.family == "gaussian" or self.most == 1, "most", self.most, "1 with Laplace noise")
        require(self.most <= self.steps**2, "most", self.most, f"at most steps^2 = {self.steps**2}")
        require(self.arithmetic == "strict", "arithmetic", self.arithmetic, "'strict'")

    @classmethod
    def within(
        cls,
        limit: PrivacyCurve,
        *,
        family: str = "laplace",
        steps: int = 1,
        most: int = 1,
        adjacency: Adjacency | str | None = None,
    ) -> Self:
        """The lowest threshold, with the noise that goes with it, within a limit.

        Parameters
        ----------
        limit : PrivacyCurve
            An (epsilon, delta) to keep.
        family : {'laplace', 'gaussian'}
            The noise.
        steps : int
            What a unit with one key adds to it.
        most : int
            How many keys a unit has at most.
        adjacency : Adjacency, optional
            The neighbours; under 'replace' noise and threshold are those of half the way.

        Returns
        -------
        Thresholded
            The mechanism.

        Examples
        --------
        >>> from holdfast.privacy import ApproxDP
        >>> Thresholded.within(ApproxDP(1.0, 1e-5), family="gaussian").threshold
        18
        """
        point = limit.as_approximate()
        known = point is not None and point[0] > 0 and point[1] > 0
        require(
            known,
            "limit",
            limit,
            "an (epsilon, delta) with both above 0",
            "keys that are not declared need a delta",
        )
        assert point is not None
        epsilon, delta = one_way(*point, adjacency)
        scale, threshold = _least_threshold(family, epsilon, delta, steps, most)
        return cls(
            family=family,
            scale=scale,
            threshold=threshold,
            epsilon=epsilon,
            steps=steps,
            most=most,
            adjacency=None if adjacency is None else Adjacency.of(adjacency),
        )

    def require_adjacency(self, adjacency: Adjacency) -> None:
        """Refuse an account under 'replace' where the mechanism does not name it: it costs two steps there."""
        super().require_adjacency(adjacency)
        if adjacency is Adjacency.replace and self.adjacency is None:
            raise AdjacencyError(
                f"{self.name} is charged for one step; under adjacency='replace' name it, adjacency='replace'"
            )

    @property
    def curve(self) -> PrivacyCurve:
        """The larger of known and new keys; two steps of it under 'replace'."""
        step = _curve(
            self.family,
            as_written(self.scale),
            self.threshold,
            as_written(self.epsilon),
            self.steps,
            self.most,
        )
        return step.to_replace() if self.adjacency is Adjacency.replace else step

    def check(self, value: Any) -> NDArray[Any]:
        """Whole counts that are not negative."""
        counts = nearest_whole(super().check(value))
        return np.asarray(np.where(counts > 0, counts, 0 * counts))

    def sample(self, value: Value, source: Source) -> NDArray[np.int64]:
        """Noise for every key that exists; 0 below the threshold."""
        exists = value.ravel() > 0
        width, size = as_written(self.scale), int(np.count_nonzero(exists))
        if self.family == "laplace":
            noise = discrete_laplace(source, scale=width, size=size)
        else:
            noise = rounded_gaussian(source, sigma=width, size=size)
        released = np.zeros(value.size, dtype=np.int64)
        noisy = in_64_bits(exact_sum(value.ravel()[exists], noise))
        released[exists] = np.where(noisy >= self.threshold, noisy, 0)
        return released.reshape(value.shape)

    def below(self, count: Any, at: Any) -> Floats:
        """P[count + noise <= at] for whole `at`; counts may be any numbers, for intervals."""
        distance = np.asarray(at, dtype=np.float64) - np.asarray(count, dtype=np.float64)
        if self.family == "gaussian":
            from scipy.special import ndtr

            return np.asarray(ndtr((distance + 0.5) / float(self.scale)))
        return discrete_laplace_cdf(distance, float(self.scale))

    def log_above(self, count: Any, at: Any) -> Floats:
        """ln P[count + noise > at], far out as well; between whole numbers of Laplace noise, between their values."""
        distance = np.asarray(at, dtype=np.float64) - np.asarray(count, dtype=np.float64)
        scale = float(self.scale)
        if self.family == "gaussian":
            from scipy.special import log_ndtr

            return np.asarray(log_ndtr(-(distance + 0.5) / scale))
        decay = math.log1p(math.exp(-1.0 / scale))
        upper = -(np.maximum(distance, -1.0) + 1.0) / scale - decay
        lower = np.log1p(-np.exp(np.minimum(distance, 0.0) / scale - decay))
        return np.where(distance >= -0.5, upper, lower)

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """What does not pass the threshold lies at 0."""
        count, last = float(value.flat[0]), float(self.threshold - 1)
        if count <= 0:
            return np.where(at >= 0, 1.0, 0.0)
        return np.where(
            at < 0, 0.0, self.below(count, np.maximum(np.floor(at + np.abs(at) * 2.0**-50), last))
        )

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """The Euclidean (with Laplace noise: L1) distance over what one unit adds."""
        change = np.abs(difference(first, second))
        size = change.sum() if self.family == "laplace" else np.linalg.norm(change)
        return float(size) / self.steps

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """The sum over the keys; infinite where one of the values cannot give this release."""
        seen = np.asarray(output)
        logs = [self._log_law(np.asarray(value), seen) for value in (first, second)]
        same = np.equal(first, second)
        with np.errstate(invalid="ignore"):
            return float(np.sum(np.where(same, 0.0, logs[0] - logs[1])))

    def _log_law(self, value: Any, seen: Any) -> Floats:
        with np.errstate(divide="ignore"):
            kept = np.log(self.below(value, seen) - self.below(value, seen - 1))
            lost = np.log(self.below(value, np.full(seen.shape, self.threshold - 1)))
        present = np.where(seen > 0, kept, lost)
        return np.where(value > 0, present, np.where(seen > 0, -np.inf, 0.0))

    @property
    def independent_coordinates(self) -> bool:
        """Each key has noise of its own."""
        return True

    def worst_pair(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A key that others have as well: its count moves by one unit."""
        many = self.threshold + 2 * self.steps
        return np.array([many]), np.array([many + self.steps])

    def probes(self) -> tuple[NDArray[np.int64], ...]:
        """The pair, a new key, and several keys."""
        return (*self.worst_pair(), np.array([self.steps]), np.full(3, self.threshold))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both kinds of noise, and units with several keys."""
        return (
            cls(scale=1.0, threshold=7, epsilon=1.0),
            cls(family="gaussian", scale=2.0, threshold=9, epsilon=1.0, steps=2, most=4),
        )


def one_way(
    epsilon: Fraction, delta: Fraction, adjacency: Adjacency | str | None
) -> tuple[Fraction, Fraction]:
    """The (epsilon, delta) of one step, of which two make a replacement; rounded towards privacy.

    >>> one_way(Fraction(1), Fraction(1, 10**6), "add_remove")
    (Fraction(1, 1), Fraction(1, 1000000))
    """
    if adjacency is None or Adjacency.of(adjacency) is not Adjacency.replace:
        return epsilon, delta
    half = epsilon / 2
    return half, delta / (Fraction(1) + Fraction(math.exp(round_up(half)) * (1 + 1e-12))) * (
        1 - Fraction(1, 10**9)
    )


def entries(steps: int, most: int) -> list[int]:
    """What a unit with 1, 2, ..., `most` keys adds to each of them: floor(steps / sqrt(t)), exactly.

    >>> entries(1024, 4)
    [1024, 724, 591, 512]
    """
    return [math.isqrt(steps * steps // keys) for keys in range(1, most + 1)]


@lru_cache(maxsize=256)
def _curve(
    family: str, scale: Fraction, threshold: int, epsilon: Fraction, steps: int, most: int
) -> ThresholdCurve:
    """All of it public."""
    if family == "laplace":
        return ThresholdCurve(0, steps / scale, _laplace_passes(scale, threshold - steps), 1, epsilon)
    new = _gaussian_passes(float(scale), threshold, steps, most)
    return ThresholdCurve(steps / scale, 0, new, most, epsilon)


def _laplace_passes(scale: Fraction, needed: int) -> float:
    """P[noise >= needed], rounded up: exp(-needed / scale) / (1 + exp(-1 / scale)) where needed >= 1."""
    if needed < 1:
        return math.nextafter(1.0, 0.0)
    tail = math.exp(-float(Fraction(needed) / scale) * (1 - 1e-14)) / (1.0 + math.exp(-float(1 / scale)))
    return tail * (1 + 1e-13)


def _gaussian_passes(scale: float, threshold: int, steps: int, most: int) -> float:
    """The largest chance, over t, that one of t new keys passes, rounded up."""
    from scipy.special import log_ndtr

    adds = np.array(entries(steps, most), dtype=np.float64)
    keys = np.arange(1, most + 1)
    # A rounded normal passes where the normal itself is above threshold - 1/2.
    tail = np.exp(log_ndtr((adds - threshold + 0.5) / scale))
    chance = -np.expm1(keys * np.log1p(-np.minimum(tail, 1.0 - 1e-16)))
    return min(float(chance.max()) * (1 + 1e-11), math.nextafter(1.0, 0.0))


@lru_cache(maxsize=256)
def _least_threshold(
    family: str, epsilon: Fraction, delta: Fraction, steps: int, most: int
) -> tuple[Fraction, int]:
    """The scale, and the least threshold whose curve keeps (epsilon, delta)."""
    limit = ApproxDP(epsilon, delta)
    if family == "laplace":
        scales = [steps / epsilon]
    else:
        sigma = calibrate(lambda ratio: GaussianDP(1 / as_written(ratio)), limit)
        scales = [Fraction(sigma * (1 + wider)) * steps for wider in _WIDER]

    def least(scale: Fraction) -> int | None:
        def excess(threshold: int) -> float:
            curve = _curve(family, scale, threshold, epsilon, steps, most)
            return curve.delta(round_up(epsilon)) - float(delta)

        high = steps + 1 + math.ceil(float(scale) * (4.0 - math.log(float(delta)) + math.log(most)))
        if excess(high) > 0:
            return None
        return math.ceil(
            safe_side(lambda at: excess(math.ceil(at)), unsafe=float(steps), safe=float(high), tolerance=1e-9)
        )

    options = [(found_threshold, scale) for scale in scales if (found_threshold := least(scale)) is not None]
    if not options:
        raise ParameterError(f"no threshold keeps {limit!r}; use a larger budget")
    threshold, scale = min(options)
    return scale, threshold
