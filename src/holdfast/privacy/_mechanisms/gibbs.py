"""One draw of a tempered posterior: the regularised exponential mechanism, and its pure form on a box."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import ParameterError, require
from holdfast.noise._idealised import normal, uniform
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.finite_curve import BoundedRange
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.slack import WithSlack
from holdfast.privacy._mechanisms.mechanism import Arithmetic, Mechanism, Output, Value, euclidean, vector
from holdfast.privacy._mechanisms.tempered_risk import share_below
from holdfast.privacy._rounding import Number, as_written, root_above


@dataclass(frozen=True, kw_only=True)
class _Tempered(Mechanism):
    """The part that both sampled densities share.

    A value is a `TemperedRisk`. An array v stands for the losses -<v, x>, whose density is known in closed form: on
    them both theorems are tight.
    """

    inverse_temperature: Number
    gradient_change: Number
    """The Lipschitz constant of f - f' for neighbours f and f'."""
    arithmetic: Arithmetic = "idealised"

    public: ClassVar[tuple[str, ...]] = ("the number of weights", "the loss and its constants")

    def validate(self) -> None:
        """Positive constants; doubles analysed as real numbers."""
        for name in ("inverse_temperature", "gradient_change"):
            value = getattr(self, name)
            require(0 < value < math.inf, name, value, "> 0 and finite")
        require(
            self.arithmetic == "idealised",
            "arithmetic",
            self.arithmetic,
            "'idealised' for a sampled density",
            "method='objective' has strict arithmetic",
        )

    @property
    @abstractmethod
    def slack(self) -> float:
        """The total variation that is charged."""

    @property
    @abstractmethod
    def shape(self) -> dict[str, float]:
        """What a risk must be sampled at, besides k."""

    @abstractmethod
    def linear_draw(self, total: Floats, source: Source) -> Floats:
        """A sample for the losses -<v, x>."""

    @abstractmethod
    def linear_log_density(self, total: Floats, at: Floats) -> float:
        """ln of their density at a point."""

    @abstractmethod
    def tilt(self, below: float, at: float) -> float:
        """The v in one dimension of whose law so much lies below `at`."""

    def check(self, value: Any) -> Any:
        """A risk at these very constants, whose sampler's error is paid for; an array as numbers."""
        if not hasattr(value, "draw"):
            return vector(value).astype(np.float64)
        constants = {"inverse_temperature": float(self.inverse_temperature), **self.shape}
        for name, constant in constants.items():
            require(
                getattr(value, name) == constant, name, getattr(value, name), f"the mechanism's {constant!r}"
            )
        if value.total_variation > self.slack:
            raise ParameterError(
                f"total_variation must cover the sampler's {value.total_variation:.3g}, got "
                f"{self.slack:.3g}; charge what rounds and caps may miss, or sample exactly (sampler='direct')"
            )
        return value

    def sample(self, value: Value, source: Source) -> Floats:
        """By the risk's own sampler, or in closed form."""
        if hasattr(value, "draw"):
            return np.asarray(value.draw(source))
        return self.linear_draw(value, source)

    def worst_pair(self) -> tuple[Floats, Floats]:
        """Linear losses whose slopes differ by as much as a record changes."""
        half = float(self.gradient_change) / 2.0
        return np.array([-half]), np.array([half])

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """Between gradients of f, in units of what one record changes; risks are compared at a released point."""
        require(at is not None or not hasattr(first, "draw"), "at", at, "a released point, for risks")
        first_gradient, second_gradient = (self._gradient(value, at) for value in (first, second))
        return euclidean(first_gradient, second_gradient) / float(self.gradient_change)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """-k (f - f') at the release, less the normalisers', which a risk knows about and not exactly."""
        place = np.asarray(output, dtype=np.float64)
        return self._log_density(first, place) - self._log_density(second, place)

    def centre(self, value: Value, output: Output) -> Any:
        """For each coordinate the linear loss of whose law as much lies below the release as of the density's own.

        Given the other coordinates, that share is uniform whatever the risk is: by quadrature along the coordinate.
        """
        if not hasattr(value, "draw"):
            return value
        place = np.asarray(output, dtype=np.float64)
        return np.array(
            [
                self.tilt(share_below(value, place, coordinate), float(place[coordinate]))
                for coordinate in range(place.size)
            ]
        )

    def probes(self) -> tuple[Floats, ...]:
        """The worst pair, and vectors."""
        return (*self.worst_pair(), np.zeros(2), np.zeros(4))

    def _gradient(self, value: Value, at: Any) -> Floats:
        if hasattr(value, "draw"):
            return np.asarray(value.gradient(np.asarray(at, dtype=np.float64)))
        return -np.asarray(value)

    def _log_density(self, value: Value, at: Floats) -> float:
        if not hasattr(value, "draw"):
            return self.linear_log_density(np.asarray(value).ravel(), at.ravel())
        k, penalty = float(self.inverse_temperature), float(value.penalty)
        return float(
            -k * (float(value.values(at[None, :])[0]) + 0.5 * penalty * float(at @ at))
            - value.log_normaliser()
        )


@dataclass(frozen=True, kw_only=True)
class RegularisedExponential(_Tempered):
    """A sample of exp(-k [f(x) + (penalty/2)|x|^2]), f a mean of convex losses: GDP with mu = G sqrt(k / penalty).

    k f and k f' differ by a (k G)-Lipschitz function, G the `gradient_change`, and the exponent is (k penalty)-strongly
    convex. `total_variation` is how far the sampler may be from this law, for every table.

    >>> RegularisedExponential(inverse_temperature=100.0, penalty=0.01, gradient_change=0.004).curve
    GaussianDP(mu=0.4)
    """

    penalty: Number
    total_variation: Number | None = None
    """The sampler's total variation; None for an exact sampler."""

    theorem: ClassVar[str] = (
        "Regularised exponential mechanism (Gopi, Lee and Liu 2022, theorem 4.1): the trade-off of a Gaussian "
        "mechanism, for convex Lipschitz losses; the sampler's total variation is charged beside it"
    )

    def validate(self) -> None:
        """A penalty too, and a total variation below 1."""
        super().validate()
        require(0 < self.penalty < math.inf, "penalty", self.penalty, "> 0 and finite")
        tau = self.total_variation
        require(tau is None or 0 < tau < 1, "total_variation", tau, "in (0, 1), or None for an exact sampler")

    @property
    def curve(self) -> PrivacyCurve:
        """mu^2 = G^2 k / penalty, as an exact fraction, and the slack."""
        square = (
            as_written(self.gradient_change) ** 2
            * as_written(self.inverse_temperature)
            / as_written(self.penalty)
        )
        exact_curve = GaussianDP.from_square(square)
        return exact_curve if self.total_variation is None else WithSlack(exact_curve, self.total_variation)

    @property
    def slack(self) -> float:
        """The declared total variation; 0 for an exact sampler."""
        return 0.0 if self.total_variation is None else float(self.total_variation)

    @property
    def shape(self) -> dict[str, float]:
        """The penalty, over the whole space."""
        return {"penalty": float(self.penalty), "half_side": math.inf}

    @property
    def deviation(self) -> float:
        """1 / sqrt(k penalty): of the density for linear losses, and at most that for others."""
        return 1.0 / math.sqrt(float(self.inverse_temperature) * float(self.penalty))

    def linear_draw(self, total: Floats, source: Source) -> Floats:
        """N(v / penalty, 1 / (k penalty))."""
        noise = normal(source, size=total.size).reshape(total.shape)
        return np.asarray(total / float(self.penalty) + self.deviation * noise)

    def linear_log_density(self, total: Floats, at: Floats) -> float:
        """Of that normal law, but for a constant."""
        return -0.5 * float(np.sum(((at - total / float(self.penalty)) / self.deviation) ** 2))

    def cdf(self, value: Value, at: Floats) -> Floats:
        """Of that normal law."""
        from scipy.special import ndtr

        return np.asarray(ndtr((at - float(value.flat[0]) / float(self.penalty)) / self.deviation))

    def tilt(self, below: float, at: float) -> float:
        """By the normal law's inverse."""
        from scipy.special import ndtri

        return float(self.penalty) * (at - self.deviation * float(ndtri(min(max(below, 1e-15), 1 - 1e-15))))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Exact, and within a total variation; replace, and a record that comes or goes."""
        return (
            cls(inverse_temperature=4.0, penalty=0.25, gradient_change=0.25),
            cls(
                inverse_temperature=50.0,
                penalty=0.02,
                gradient_change=0.01,
                total_variation=1e-7,
                adjacency=Adjacency.add_remove,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class BoxExponential(_Tempered):
    """A sample of exp(-k f(x)) on the box of this half side: of bounded range epsilon = k G 2 half_side sqrt(d).

    f - f' moves by at most G times the diameter, G the `gradient_change`, and what is the same for every table (the
    box, a penalty) cancels. The sampler must be exact: no total variation fits into a pure promise.

    >>> BoxExponential(inverse_temperature=100.0, half_side=2.0, gradient_change=0.00125, dimension=4).curve
    BoundedRange(epsilon=1)
    """

    half_side: Number
    dimension: int

    theorem: ClassVar[str] = (
        "Exponential mechanism (McSherry and Talwar 2007) over a bounded set: a Lipschitz change times the diameter"
    )

    def validate(self) -> None:
        """A side and a dimension too."""
        super().validate()
        require(0 < self.half_side < math.inf, "half_side", self.half_side, "> 0 and finite")
        is_valid = isinstance(self.dimension, int) and self.dimension >= 1
        require(is_valid, "dimension", self.dimension, "a whole number >= 1")

    @property
    def curve(self) -> BoundedRange:
        """k G times the diameter: log-ratios are k (f' - f) and a constant, in an interval of this length."""
        root = Fraction(math.isqrt(self.dimension))
        root = root if root * root == self.dimension else root_above(self.dimension)
        change = as_written(self.inverse_temperature) * as_written(self.gradient_change)
        return BoundedRange(2 * change * as_written(self.half_side) * root)

    @property
    def slack(self) -> float:
        """No slack: the promise is pure."""
        return 0.0

    @property
    def shape(self) -> dict[str, float]:
        """The half side of the box."""
        return {"half_side": float(self.half_side)}

    def check(self, value: Any) -> Any:
        """At most as many weights as were paid for."""
        checked = super().check(value)
        size = value.dimension if hasattr(value, "draw") else checked.size
        require(size <= self.dimension, "dimension", size, f"<= the declared {self.dimension}")
        return checked

    def linear_draw(self, total: Floats, source: Source) -> Floats:
        """An exponential law cut to the box, in each coordinate."""
        shares = uniform(source, size=total.size).reshape(total.shape)
        return tilted_quantile(float(self.inverse_temperature) * total, shares, float(self.half_side))

    def linear_log_density(self, total: Floats, at: Floats) -> float:
        """k <v, x> less the integral's logarithm, ln(2 sinh(k v c) / (k v))."""
        c, rates = float(self.half_side), np.abs(float(self.inverse_temperature) * total)
        steep = np.maximum(rates * c, 1e-8)
        logs = steep + np.log1p(-np.exp(-2.0 * steep)) - np.log(steep / c)
        return float(float(self.inverse_temperature) * (total @ at) - np.sum(logs))

    def cdf(self, value: Value, at: Floats) -> Floats:
        """Of the cut exponential law."""
        rate = float(self.inverse_temperature) * float(value.flat[0])
        return tilted_share(rate, at, float(self.half_side))

    def tilt(self, below: float, at: float) -> float:
        """By bisection: the share below falls as the rate rises."""
        from scipy.optimize import brentq

        c, k = float(self.half_side), float(self.inverse_temperature)
        wanted = min(max(below, 1e-12), 1.0 - 1e-12)
        reach = 1e3 / max(c - abs(at), 1e-6 * c)

        def excess(rate: float) -> float:
            return float(tilted_share(rate, np.array([at]), c)[0]) - wanted

        if excess(-reach) <= 0 or excess(reach) >= 0:
            return math.copysign(reach, excess(0.0)) / k
        return float(brentq(excess, -reach, reach, xtol=1e-12)) / k

    def probes(self) -> tuple[Floats, ...]:
        """The pair, and as many weights as there may be."""
        return (*self.worst_pair(), np.zeros(self.dimension))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """One weight: of several, no single one shows the whole diameter."""
        return (cls(inverse_temperature=2.0, half_side=1.0, gradient_change=0.5, dimension=1),)


def tilted_share(rate: float, at: Floats, half_side: float) -> Floats:
    """P[X <= at] for a density proportional to e^(rate x) on [-half_side, half_side].

    >>> tilted_share(0.0, np.array([-1.0, 0.0, 3.0]), 2.0).tolist()
    [0.25, 0.5, 1.0]
    """
    inside = (np.clip(at, -half_side, half_side) + half_side) / (2.0 * half_side)
    steep = 2.0 * rate * half_side
    if abs(steep) < 1e-9:
        return np.asarray(inside)
    if steep > 0:  # turned round: the exponentials stay below 1
        return np.asarray(1.0 - tilted_share(-rate, -np.asarray(at), half_side))
    return np.asarray(np.expm1(steep * inside) / math.expm1(steep))


def tilted_quantile(rates: Floats, shares: Floats, half_side: float) -> Floats:
    """Where so much of each tilted law lies below: the inverse of `tilted_share`."""
    steep = -2.0 * np.abs(rates) * half_side
    flat = np.abs(steep) < 1e-9
    safe = np.where(flat, -1.0, steep)
    inside = np.where(flat, shares, np.log1p(shares * np.expm1(safe)) / safe)
    return np.asarray(half_side * np.where(rates > 0, 1.0, -1.0) * (1.0 - 2.0 * np.clip(inside, 0.0, 1.0)))
