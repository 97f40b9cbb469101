"""Objective perturbation: a random linear term inside what is minimised, then a little noise on the minimiser."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.noise._gaussian import rounded_gaussian
from holdfast.noise._idealised import gamma_ball, laplace, normal
from holdfast.noise._laplace import truncated_laplace
from holdfast.noise._source import Source
from holdfast.noise._symmetric import checked_width
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve, PureDP
from holdfast.privacy._curves.objective import ObjectiveCurve
from holdfast.privacy._grid import Grid
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import laplace_cdf
from holdfast.privacy._mechanisms.mechanism import Mechanism, Output, Value, euclidean, vector
from holdfast.privacy._mechanisms.vector_laplace import VectorLaplace, gamma_norm_cdf
from holdfast.privacy._rounding import Number, as_written, root_above, round_up


class PerturbedObjective(Protocol):
    """A sum of convex, twice differentiable losses of linear predictions, within the declared constants."""

    @property
    def dimension(self) -> int:
        """The number of weights."""

    def minimise(self, linear: Floats, *, penalty: float, tolerance: float) -> Floats:
        """A point where the gradient of sum + (penalty/2)|w|^2 + <linear, w> has norm at most `tolerance`.

        For every linear term; a point without the certificate is never returned.
        """

    def gradient(self, at: Floats) -> Floats:
        """Of the sum of losses alone. Private: asked by whoever replays a run, never by a release."""

    def log_determinant(self, at: Floats, *, penalty: float) -> float:
        """ln det of the sum's second derivative + penalty I. Private, as the gradient is."""


@checked
@dataclass(frozen=True, kw_only=True)
class _ObjectiveMechanism(Mechanism):
    """The part that both laws of the linear term share.

    A value is an `Objective`. An array v stands for the losses -<v, w>, whose gradients are constant and
    whose minimiser is (v - b) / penalty: on them the proof's gradient part is tight.
    """

    lipschitz: Number
    smoothness: Number
    penalty: Number
    tolerance: Number

    public: ClassVar[tuple[str, ...]] = ("the number of weights", "the loss and its constants")

    def validate(self) -> None:
        """Refuse constants that are not positive and finite."""
        for name in ("lipschitz", "smoothness", "penalty", "tolerance", *self.noise_fields):
            value = getattr(self, name)
            require(0 < value < math.inf, name, value, "> 0 and finite")

    noise_fields: ClassVar[tuple[str, ...]]

    @property
    def gradient_change(self) -> Fraction:
        """G: L if a record comes or goes, 2L if it is replaced, which also covers an undeclared adjacency."""
        return self._records_changed * as_written(self.lipschitz)

    @property
    def log_determinants(self) -> float:
        """ln(1 + beta/penalty), rounded up: the determinants' ratio for a rank-one Hessian, in every adjacency."""
        ratio = round_up(as_written(self.smoothness) / as_written(self.penalty))
        return math.log1p(ratio) * (1.0 + 4e-16)

    @property
    def output_sensitivity(self) -> Fraction:
        """Two points, each within tolerance/penalty of its exact minimiser (approximate minima perturbation)."""
        return 2 * as_written(self.tolerance) / as_written(self.penalty)

    @property
    def _records_changed(self) -> int:
        return 2 if self.adjacency in (None, Adjacency.replace) else 1

    @property
    @abstractmethod
    def output_noise(self) -> Mechanism:
        """What is added to the minimiser."""

    @abstractmethod
    def linear_grid(self, dimension: int) -> tuple[Grid, Fraction]:
        """Where strict arithmetic rounds b of this `dimension` to, and the width of b in its steps.

        Refused where it cannot be drawn.
        """

    @abstractmethod
    def linear_term(self, dimension: int, source: Source) -> Floats:
        """The random b of this `dimension` from the `source`, within tolerance/2 of an exact draw."""

    def check(self, value: Any) -> Any:
        """An objective as it is, an array as numbers; as many weights as the noise can be drawn for."""
        checked = value if hasattr(value, "minimise") else vector(value).astype(np.float64)
        if self.arithmetic == "strict":
            dimension = value.dimension if hasattr(value, "minimise") else checked.size
            self.linear_grid(dimension)
            self.output_noise.check(np.zeros(dimension))
        return checked

    def sample(self, value: Value, source: Source) -> Floats:
        """Draw b, minimise with it, add noise to what the solver found."""
        objective = _objective(value)
        linear = self.linear_term(objective.dimension, source)
        # Soundness, section 4: tolerance covers the solver's residual and the rounding of b, half each.
        minimiser = objective.minimise(
            linear, penalty=float(self.penalty), tolerance=float(self.tolerance) / 2
        )
        return np.asarray(self.output_noise.sample(minimiser, source))

    def worst_pair(self) -> tuple[Floats, Floats]:
        """One record's gradient there and not there, or turned around."""
        size = float(self.lipschitz)
        return np.array([-size if self._records_changed == 2 else 0.0]), np.array([size])

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """Between sums of gradients, in units of what one record changes; or between determinants, if that is more.

        Objectives are compared at a released point, which `at` gives; arrays are as far apart everywhere.
        """
        objective, other = _objective(first), _objective(second)
        place = np.zeros(objective.dimension) if at is None else np.asarray(at, dtype=np.float64)
        require(
            at is not None or not hasattr(first, "minimise"), "at", at, "a released point, for objectives"
        )
        gradients = euclidean(objective.gradient(place), other.gradient(place)) / float(self.gradient_change)
        penalty = float(self.penalty)
        determinant_change = objective.log_determinant(place, penalty=penalty) - other.log_determinant(
            place, penalty=penalty
        )
        return max(gradients, abs(determinant_change) / self.log_determinants)

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """b = -(gradient + penalty w) <-> w is a bijection: the law of b at both, and the determinants (section 4).

        As if the noise on the minimiser were part of b, of which it is about a thousandth.
        """
        place, penalty = np.asarray(output, dtype=np.float64), float(self.penalty)
        loss, other = _objective(first), _objective(second)
        near, far = (-(objective.gradient(place) + penalty * place) for objective in (loss, other))
        determinant_change = loss.log_determinant(place, penalty=penalty) - other.log_determinant(
            place, penalty=penalty
        )
        return self.linear_log_ratio(near, far) + determinant_change

    def centre(self, value: Value, output: Output) -> Floats:
        """-gradient at the release: for losses with this gradient everywhere, b is what it is for these."""
        return -_objective(value).gradient(np.asarray(output, dtype=np.float64))

    @abstractmethod
    def linear_log_ratio(self, first: Value, second: Value) -> float:
        """ln of the density of the linear term at the `first` b over that at the `second`."""

    def probes(self) -> tuple[Floats, ...]:
        """The worst pair, and vectors."""
        return (*self.worst_pair(), np.zeros(2), np.zeros(4))


@dataclass(frozen=True)
class _LinearLoss:
    """Losses -<v, w>, minimised in closed form."""

    total: Floats

    @property
    def dimension(self) -> int:
        return self.total.size

    def minimise(self, linear: Floats, *, penalty: float, tolerance: float) -> Floats:
        with np.errstate(over="ignore"):
            exact = (self.total.ravel() - linear) / penalty
        return np.nan_to_num(exact)  # the largest double where it is beyond: that moves no two apart

    def gradient(self, at: Floats) -> Floats:
        return -self.total.ravel()

    def log_determinant(self, at: Floats, *, penalty: float) -> float:
        return self.dimension * math.log(penalty)


def _objective(value: Value) -> PerturbedObjective:
    objective: PerturbedObjective = (
        value if hasattr(value, "minimise") else _LinearLoss(np.asarray(value, dtype=np.float64))
    )
    return objective


@checked
@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbation(_ObjectiveMechanism):
    """argmin of losses + (penalty/2)|w|^2 + <b, w>, b ~ N(0, sigma^2), + N(0, output_sigma^2) in every weight.

    Parameters
    ----------
    lipschitz : int, float or Fraction
        The largest norm of a gradient of one record's loss.
    smoothness : int, float or Fraction
        The largest eigenvalue of the Hessian of one record's loss, which must have rank one.
    penalty : int, float or Fraction
        The factor of |w|^2 / 2, on the scale of the *sum* of losses; it acts on every weight.
    tolerance : int, float or Fraction
        How long the gradient may be where the minimiser stops; the output noise covers it.
    sigma : int, float or Fraction
        The standard deviation of the linear term b.
    output_sigma : int, float or Fraction
        The standard deviation of the noise on the weights, which covers the tolerance.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: the adjacency given; one record's loss is added, removed or replaced.
    * Privacy: Gaussian objective perturbation (Kifer, Smith and Thakurta 2012; Redberg, Koskela and Wang 2023),
      by a pointwise bound on the loss; the output noise pays for an approximate minimum (Iyengar et al. 2019).
    * Assumed: every record's loss is convex with the declared `lipschitz` and `smoothness`, and its Hessian has
      rank one.

    Examples
    --------
    >>> mechanism = ObjectivePerturbation(sigma=2.0, lipschitz=1.0, smoothness=0.5, penalty=1.0, tolerance=1e-9,
    ...                                   output_sigma=1e-6, adjacency="add_remove")
    >>> f"{mechanism.curve.delta(1.0):.4f}"
    '0.0756'
    """

    sigma: Number
    output_sigma: Number

    theorem: ClassVar[str] = (
        "Gaussian objective perturbation (Kifer, Smith and Thakurta 2012; Redberg, Koskela and Wang 2023), by a "
        "pointwise bound on the loss; approximate minima (Iyengar et al. 2019)"
    )
    noise_fields: ClassVar[tuple[str, ...]] = ("sigma", "output_sigma")

    @property
    def curve(self) -> ObjectiveCurve:
        """Soundness, section 4, with the output noise composed."""
        return ObjectiveCurve(
            mu=self.gradient_change / as_written(self.sigma),
            log_ratio=self.log_determinants,
            freedom=self._records_changed,
            output_mu=self.output_sensitivity / as_written(self.output_sigma),
        )

    @property
    def output_noise(self) -> Gaussian:
        """Normal noise."""
        return Gaussian(
            sigma=self.output_sigma, l2_sensitivity=self.output_sensitivity, arithmetic=self.arithmetic
        )

    def linear_term(self, dimension: int, source: Source) -> Floats:
        """Strict: normal numbers rounded exactly to a grid so fine that they move by tolerance/2 at most."""
        if self.arithmetic == "idealised":
            return float(self.sigma) * normal(source, size=dimension)
        grid, sigma = self.linear_grid(dimension)
        return grid.values(rounded_gaussian(source, sigma=sigma, size=dimension))

    def linear_grid(self, dimension: int) -> tuple[Grid, Fraction]:
        """Each coordinate moves by half a step: sqrt(d) step / 2 <= tolerance / 2."""
        grid = Grid.finer_than(as_written(self.tolerance) / root_above(dimension))
        return grid, checked_width("sigma", as_written(self.sigma) / grid.step)

    def cdf(self, value: Value, at: Floats) -> Floats:
        """(v - b) / penalty and the output noise are normal; the grid is far below either."""
        from scipy.special import ndtr

        centre = float(value.flat[0])
        return np.asarray(ndtr((float(self.penalty) * at - centre) / self._spread))

    @property
    def independent_coordinates(self) -> bool:
        """Of b they are."""
        return True

    def linear_log_ratio(self, first: Value, second: Value) -> float:
        """(|b'|^2 - |b|^2) / (2 sigma^2)."""
        return float(np.sum(second**2 - first**2)) / (2.0 * self._spread**2)

    @property
    def _spread(self) -> float:
        """Of b, and of penalty times the output noise, together."""
        return math.hypot(float(self.sigma), float(self.penalty) * float(self.output_sigma))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics; replace, and a record that comes or goes."""
        constants: dict[str, Any] = {"lipschitz": 1.0, "smoothness": 0.02, "penalty": 2.0, "tolerance": 1e-6}
        return (
            cls(sigma=2.0, output_sigma=1e-4, **constants),
            cls(
                sigma=1.0,
                output_sigma=1e-4,
                adjacency=Adjacency.add_remove,
                arithmetic="idealised",
                **constants,
            ),
        )


@checked
@dataclass(frozen=True, kw_only=True)
class PureObjectivePerturbation(_ObjectiveMechanism):
    """argmin of losses + (penalty/2)|w|^2 + <b, w>, b of density exp(-|b|/scale), then pure noise on the weights.

    Parameters
    ----------
    lipschitz : int, float or Fraction
        The largest norm of a gradient of one record's loss.
    smoothness : int, float or Fraction
        The largest eigenvalue of the Hessian of one record's loss, which must have rank one.
    penalty : int, float or Fraction
        The factor of |w|^2 / 2, on the scale of the *sum* of losses; it acts on every weight.
    tolerance : int, float or Fraction
        How long the gradient may be where the minimiser stops; the output noise covers it.
    scale : int, float or Fraction
        The scale of the linear term b.
    output_epsilon : int, float or Fraction
        The pure epsilon of the noise on the weights, which covers the tolerance.
    l1_factor : int, float or Fraction, optional
        Where gradients are known to be short in that norm, |g|_1 <= l1_factor * lipschitz for every record:
        independent coordinates of scale l1_factor * scale then do, in both arithmetics.
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: the adjacency given; one record's loss is added, removed or replaced.
    * Privacy: pure epsilon = G/scale + ln(1 + smoothness/penalty) + output_epsilon (Chaudhuri, Monteleoni and
      Sarwate 2011, theorem 9, with the constants of soundness, section 4).
    * Exactness: the Gamma-norm law has no exact twin on a grid, so strict arithmetic draws independent Laplace
      coordinates of scale sqrt(d) scale, whose density moves by as little: |b - b'|_1 <= sqrt(d) G.

    Examples
    --------
    >>> PureObjectivePerturbation(scale=4.0, lipschitz=1.0, smoothness=0.25, penalty=10.0, tolerance=1e-9,
    ...                           output_epsilon=0.01, adjacency="replace").curve
    PureDP(epsilon=0.534693)
    """

    scale: Number
    output_epsilon: Number
    l1_factor: Number | None = None

    theorem: ClassVar[str] = (
        "Objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011, theorem 9), constants of soundness, section 4"
    )
    noise_fields: ClassVar[tuple[str, ...]] = ("scale", "output_epsilon")

    def validate(self) -> None:
        """No vector is shorter in the L1 norm than in the Euclidean one."""
        super().validate()
        factor = self.l1_factor
        require(factor is None or 1 <= factor < math.inf, "l1_factor", factor, ">= 1 and finite, or None")

    @property
    def _has_laplace_coordinates(self) -> bool:
        """Whether coordinates are drawn one by one."""
        return self.arithmetic == "strict" or self.l1_factor is not None

    def _l1_factor(self, dimension: int) -> Fraction:
        """Of the L1 norm of a gradient over its bound."""
        return root_above(dimension) if self.l1_factor is None else as_written(self.l1_factor)

    @property
    def curve(self) -> PrivacyCurve:
        """Gradients, determinants, output noise."""
        gradients = self.gradient_change / as_written(self.scale)
        return PureDP(gradients + Fraction(self.log_determinants) + as_written(self.output_epsilon))

    @property
    def output_noise(self) -> VectorLaplace:
        """Noise of a pure mechanism."""
        return VectorLaplace(
            epsilon=self.output_epsilon, l2_sensitivity=self.output_sensitivity, arithmetic=self.arithmetic
        )

    def linear_term(self, dimension: int, source: Source) -> Floats:
        """A random direction with a Gamma length; strict: Laplace numbers cut to a grid finer than the tolerance."""
        if self.arithmetic == "idealised":
            if self.l1_factor is None:
                return gamma_ball(source, dimension=dimension, scale=float(self.scale))
            return float(self.l1_factor) * float(self.scale) * laplace(source, size=dimension)
        # The proof needs a density of b that one record moves by e^(G/scale), and the Hessian's part apart from
        # it: Laplace coordinates of scale sqrt(d) scale have one.
        grid, spread = self.linear_grid(dimension)
        return grid.values(truncated_laplace(source, scale=spread, size=dimension))

    def linear_grid(self, dimension: int) -> tuple[Grid, Fraction]:
        """Each coordinate moves by less than one step: sqrt(d) step <= tolerance / 2."""
        root = root_above(dimension)
        grid = Grid.finer_than(as_written(self.tolerance) / (2 * root))
        return grid, checked_width("scale", self._l1_factor(dimension) * as_written(self.scale) / grid.step)

    def cdf(self, value: Value, at: Floats) -> Floats:
        """(v - b) / penalty; the output noise is too small to count."""
        spread = float(self.scale) / float(self.penalty)
        centre = float(value.flat[0]) / float(self.penalty)
        if self._has_laplace_coordinates:
            return laplace_cdf((at - centre) / (spread * float(self._l1_factor(value.size))))
        return gamma_norm_cdf((at - centre) / spread, dimension=value.size)

    @property
    def independent_coordinates(self) -> bool:
        """Of Laplace numbers they are."""
        return self._has_laplace_coordinates

    def linear_log_ratio(self, first: Value, second: Value) -> float:
        """(|b'| - |b|) / scale, in the norm of the law that was drawn."""
        if not self._has_laplace_coordinates:
            return (float(np.linalg.norm(second)) - float(np.linalg.norm(first))) / float(self.scale)
        spread = float(self.scale) * float(self._l1_factor(first.size))
        return float(np.sum(np.abs(second) - np.abs(first))) / spread

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """In the L1 norm too, where that is what is bounded."""
        distance = super().distance(first, second, at=at)
        if self.l1_factor is None:
            return distance
        objective, other = _objective(first), _objective(second)
        place = np.zeros(objective.dimension) if at is None else np.asarray(at, dtype=np.float64)
        sizes = float(np.sum(np.abs(objective.gradient(place) - other.gradient(place))))
        return max(distance, sizes / (float(self.l1_factor) * float(self.gradient_change)))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics, for a record that comes or goes; and gradients of one number, which both norms measure."""
        constants: dict[str, Any] = {"lipschitz": 1.0, "smoothness": 0.02, "penalty": 2.0, "tolerance": 1e-9}
        return (
            cls(scale=1.0, output_epsilon=0.01, adjacency=Adjacency.add_remove, **constants),
            cls(
                scale=1.0,
                output_epsilon=0.01,
                adjacency=Adjacency.add_remove,
                arithmetic="idealised",
                **constants,
            ),
            cls(scale=1.0, output_epsilon=0.01, l1_factor=1.0, adjacency=Adjacency.add_remove, **constants),
        )
