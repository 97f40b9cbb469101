"""Losses of linear models, with the constants that proofs need.

Each loss is phi(z, y) at the prediction z = <w, x>: its gradient is phi'(z, y) x. For rows of norm at most X
the data loss is then L-Lipschitz with L = X sup |phi'| and beta-smooth with beta = X^2 sup phi''.

For K classes, one softmax model or K yes-or-no models, weights are a (K, d) matrix, predictions z = W x, labels class
codes 0, ..., K - 1. The gradient of one row is the outer product of `slopes` and x, so its Frobenius norm is
|slopes| |x|, and `slope` bounds |slopes| over all predictions (soundness, section 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.errors import require


class Loss(Protocol):
    """A convex loss of linear predictions; properties that most losses do not have are given a default here."""

    @property
    def name(self) -> str:
        """The name of the loss in the kernel and in reports."""

    @property
    def slope(self) -> float:
        """sup |phi'| over all admissible predictions and labels; infinite if there is none."""

    @property
    def curvature(self) -> float:
        """sup phi''; infinite if the loss is not smooth."""

    @property
    def predictions(self) -> int:
        """The number of predictions that it takes: one, or one for each class."""
        return 1

    @property
    def of_one(self) -> Loss:
        """The loss of each prediction by itself."""
        return self

    @property
    def corner_width(self) -> float:
        """Half the width of the band in which a corner is smoothed; without effect for losses without a corner."""
        return 0.1

    @property
    def largest_target(self) -> float:
        """The bound to which labels are clipped."""
        return 1.0

    @property
    def largest_prediction(self) -> float:
        """The largest prediction for which `slope` is a bound."""
        return math.inf

    def values(self, z: Floats, y: Floats) -> Floats:
        """phi at each prediction."""

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """phi' at each prediction."""

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """phi'' at each prediction."""


@dataclass(frozen=True)
class Logistic(Loss):
    """ln(1 + e^(-y z)), y in {-1, +1}.

    >>> Logistic().slope, Logistic().curvature
    (1.0, 0.25)
    """

    name: str = "logistic"
    slope: float = 1.0
    curvature: float = 0.25

    def values(self, z: Floats, y: Floats) -> Floats:
        """phi at each prediction."""
        return np.logaddexp(0.0, -y * z)

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """-y / (1 + e^(y z))."""
        return np.asarray(-0.5 * y * (1.0 - np.tanh(0.5 * y * z)))

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """s (1 - s) at the sigmoid s."""
        return np.asarray(0.25 * (1.0 - np.tanh(0.5 * z) ** 2))


@dataclass(frozen=True)
class HuberHinge(Loss):
    """The hinge max(0, 1 - y z), smoothed over a band of half-width `width` around its corner."""

    width: float = 0.1
    name: str = "huber"
    slope: float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.width < math.inf, "width", self.width, "> 0 and finite")

    @property
    def curvature(self) -> float:
        """1 / (2 width) (soundness, section 1)."""
        return 1.0 / (2.0 * self.width)

    @property
    def corner_width(self) -> float:
        """`width`."""
        return self.width

    def values(self, z: Floats, y: Floats) -> Floats:
        """0, a parabola, or 1 - y z."""
        gap = 1.0 - y * z
        inside = (gap + self.width) ** 2 / (4.0 * self.width)
        return np.where(gap >= self.width, gap, np.where(gap <= -self.width, 0.0, inside))

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """-y times a ramp from 0 to 1."""
        return np.asarray(-y * np.clip((1.0 - y * z + self.width) / (2.0 * self.width), 0.0, 1.0))

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """1 / (2 width) inside the band."""
        return np.where(np.abs(1.0 - y * z) < self.width, self.curvature, 0.0)


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - y z): convex and Lipschitz, not smooth."""

    name: str = "hinge"
    slope: float = 1.0
    curvature: float = math.inf

    def values(self, z: Floats, y: Floats) -> Floats:
        """phi at each prediction."""
        return np.maximum(0.0, 1.0 - y * z)

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """-y where the margin is below 1."""
        return np.where(y * z < 1.0, -y, 0.0)

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """Zero almost everywhere; proofs that need smoothness must refuse this loss."""
        return np.zeros_like(z)


@dataclass(frozen=True)
class HuberRegression(Loss):
    """(z - y)^2 / 2 up to |z - y| = `width`, then linear: a number's loss with a slope of at most `width`.

    >>> HuberRegression(width=0.5).values(np.array([0.25, 2.0]), np.array([0.0, 0.0])).tolist()
    [0.03125, 0.875]
    """

    width: float = 0.5
    name: str = "huber_regression"
    curvature: float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.width < math.inf, "width", self.width, "> 0 and finite")

    @property
    def slope(self) -> float:
        """`width`."""
        return self.width

    @property
    def corner_width(self) -> float:
        """`width`."""
        return self.width

    def values(self, z: Floats, y: Floats) -> Floats:
        """A parabola between two lines."""
        size = np.abs(z - y)
        return np.where(size <= self.width, 0.5 * size**2, self.width * (size - 0.5 * self.width))

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """z - y, cut at the width."""
        return np.clip(z - y, -self.width, self.width)

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """1 within the width."""
        return np.where(np.abs(z - y) < self.width, 1.0, 0.0)


@dataclass(frozen=True)
class SmoothHuber(HuberRegression):
    """`HuberRegression` without corners: width^2 (sqrt(1 + ((z - y) / width)^2) - 1), derivatives of every order.

    >>> loss = SmoothHuber(width=0.5)
    >>> loss.slope, loss.values(np.array([0.0, 100.0]), np.zeros(2)).round(3).tolist()
    (0.5, [0.0, 49.751])
    """

    name: str = "smooth_huber"

    def values(self, z: Floats, y: Floats) -> Floats:
        """About half a square, or the width times a size."""
        return np.asarray((z - y) ** 2 / (1.0 + np.sqrt(1.0 + ((z - y) / self.width) ** 2)))

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """z - y, bent towards the width."""
        return np.asarray((z - y) / np.sqrt(1.0 + ((z - y) / self.width) ** 2))

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """1 at z = y, and less elsewhere."""
        return np.asarray((1.0 + ((z - y) / self.width) ** 2) ** -1.5)


@dataclass(frozen=True, kw_only=True)
class Squared(Loss):
    """(z - y)^2 / 2 with |y| <= `target_bound` and |z| <= `prediction_bound` (row norm times radius).

    Its slope is bounded only on a ball: a method that needs a Lipschitz constant needs a radius, and must
    project (soundness, section 1). Labels beyond the bound are clipped.
    """

    target_bound: float
    prediction_bound: float = math.inf
    name: str = "squared"
    curvature: float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.target_bound < math.inf, "target_bound", self.target_bound, "> 0 and finite")
        require(self.prediction_bound > 0, "prediction_bound", self.prediction_bound, "> 0")

    @property
    def slope(self) -> float:
        """X R + Y."""
        return self.prediction_bound + self.target_bound

    @property
    def largest_target(self) -> float:
        """`target_bound`."""
        return self.target_bound

    @property
    def largest_prediction(self) -> float:
        """`prediction_bound`."""
        return self.prediction_bound

    def values(self, z: Floats, y: Floats) -> Floats:
        """phi at each prediction."""
        return np.asarray(0.5 * (z - self._clipped_targets(y)) ** 2)

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """z - y."""
        return z - self._clipped_targets(y)

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """1."""
        return np.ones_like(z)

    def _clipped_targets(self, y: Floats) -> Floats:
        return np.clip(y, -self.target_bound, self.target_bound)


def as_codes(labels: Any, classes: int) -> NDArray[np.int64]:
    """Class codes; a label outside the declared classes counts as the nearest one, so that no bound breaks.

    >>> as_codes(np.array([0.0, 2.0, 7.0]), 3).tolist()
    [0, 2, 2]
    """
    return np.asarray(np.clip(np.rint(labels), 0, classes - 1), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Softmax(Loss):
    """-ln p_y with p = softmax(z): one model for all classes.

    |p - e_y| <= sqrt(2), whatever the number of classes, and diag(p) - p p^T has no eigenvalue above 1/2.

    >>> Softmax(classes=10).slope == Softmax(classes=2).slope == math.sqrt(2)
    True
    """

    classes: int
    name: str = "softmax"
    slope: float = math.sqrt(2.0)
    curvature: float = 0.5

    def __post_init__(self) -> None:
        require(self.classes >= 2, "classes", self.classes, ">= 2")

    @property
    def predictions(self) -> int:
        """One for each class."""
        return self.classes

    def values(self, z: Floats, y: Floats) -> Floats:
        """ln(sum of e^z) - z_y."""
        top = np.max(z, axis=1)
        total = np.log(np.sum(np.exp(z - top[:, None]), axis=1)) + top
        return np.asarray(total - z[np.arange(z.shape[0]), as_codes(y, self.classes)])

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """p - e_y, a row for each example."""
        p = self.probabilities(z)
        p[np.arange(z.shape[0]), as_codes(y, self.classes)] -= 1.0
        return p

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """The diagonal of diag(p) - p p^T."""
        p = self.probabilities(z)
        return np.asarray(p * (1.0 - p))

    def second(self, z: Floats, y: Floats) -> tuple[Floats, Floats]:
        """(a, b) of the second derivative diag(a) - b b^T at each prediction: p and p, whatever the label."""
        p = self.probabilities(z)
        return p, p

    def probabilities(self, z: Floats) -> Floats:
        """softmax(z) along each row."""
        p = np.exp(z - np.max(z, axis=1, keepdims=True))
        return np.asarray(p / np.sum(p, axis=1, keepdims=True))


@dataclass(frozen=True, kw_only=True)
class OneVsAll(Loss):
    """A loss for each class against the rest: every row is in all K problems, so they share one budget.

    Their K gradients are released together, so slopes add up to sqrt(K): as much noise as K releases with an equal
    share of the budget each, and more than one softmax needs. Parallel composition never applies.

    >>> OneVsAll(classes=9).slope
    3.0
    """

    classes: int
    name: str = "one_vs_all"
    binary: Loss = Logistic()

    def __post_init__(self) -> None:
        require(self.classes >= 2, "classes", self.classes, ">= 2")

    @property
    def slope(self) -> float:
        """sqrt(K) times that of one."""
        return math.sqrt(self.classes) * self.binary.slope

    @property
    def curvature(self) -> float:
        """That of one: each prediction is in one of them."""
        return self.binary.curvature

    @property
    def predictions(self) -> int:
        """One for each class."""
        return self.classes

    @property
    def of_one(self) -> Loss:
        """`binary`."""
        return self.binary

    def values(self, z: Floats, y: Floats) -> Floats:
        """The sum of the K losses."""
        return np.asarray(np.sum(self.binary.values(z, self._signs(y)), axis=1))

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """Of each class's loss."""
        return self.binary.slopes(z, self._signs(y))

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """Of each class's loss."""
        return self.binary.curvatures(z, self._signs(y))

    def second(self, z: Floats, y: Floats) -> tuple[Floats, Floats]:
        """(a, b) of the second derivative diag(a) - b b^T at each prediction: nothing is shared by classes."""
        return self.curvatures(z, y), np.zeros_like(z)

    def _signs(self, y: Floats) -> Floats:
        return np.where(as_codes(y, self.classes)[:, None] == np.arange(self.classes), 1.0, -1.0)


Multiclass = Softmax | OneVsAll
