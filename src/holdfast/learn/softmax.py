"""Losses of K linear predictions at once, for K classes: one softmax model, or K yes-or-no models.

Weights are a (K, d) matrix, predictions z = W x, labels class codes 0, ..., K - 1. The gradient of one row is
the outer product of `slopes` and x, so its Frobenius norm is |slopes| |x| and `slope` bounds |slopes| over all
predictions (soundness, section 2). A problem with such a loss has the same constants as any other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require

Floats = NDArray[np.float64]


def as_codes(labels: Any, classes: int) -> NDArray[np.int64]:
    """Class codes; a label outside the declared classes counts as the nearest one, so that no bound breaks.

    >>> as_codes(np.array([0.0, 2.0, 7.0]), 3).tolist()
    [0, 2, 2]
    """
    return np.asarray(np.clip(np.rint(labels), 0, classes - 1), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Softmax:
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

    def probabilities(self, z: Floats) -> Floats:
        """softmax(z) along each row."""
        p = np.exp(z - np.max(z, axis=1, keepdims=True))
        return np.asarray(p / np.sum(p, axis=1, keepdims=True))


@dataclass(frozen=True, kw_only=True)
class OneVsAll:
    """A logistic loss for each class against the rest, for comparison: every row is in all K problems.

    Their K gradients are released together, so slopes add up to sqrt(K): more noise than one softmax needs.

    >>> OneVsAll(classes=9).slope
    3.0
    """

    classes: int
    name: str = "one_vs_all"
    curvature: float = 0.25

    def __post_init__(self) -> None:
        require(self.classes >= 2, "classes", self.classes, ">= 2")

    @property
    def slope(self) -> float:
        """sqrt(K)."""
        return math.sqrt(self.classes)

    def values(self, z: Floats, y: Floats) -> Floats:
        """The sum of K logistic losses."""
        return np.asarray(np.sum(np.logaddexp(0.0, -self._signs(y) * z), axis=1))

    def slopes(self, z: Floats, y: Floats) -> Floats:
        """-s / (1 + e^(s z)) for each class."""
        signs = self._signs(y)
        return np.asarray(-0.5 * signs * (1.0 - np.tanh(0.5 * signs * z)))

    def curvatures(self, z: Floats, y: Floats) -> Floats:
        """Of each class's logistic loss."""
        return np.asarray(0.25 * (1.0 - np.tanh(0.5 * z) ** 2))

    def _signs(self, y: Floats) -> Floats:
        return np.where(as_codes(y, self.classes)[:, None] == np.arange(self.classes), 1.0, -1.0)


Multiclass = Softmax | OneVsAll
