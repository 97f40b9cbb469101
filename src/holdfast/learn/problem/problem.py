"""Problem: what is minimised, and the constants that a proof may use; all of it public."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.errors import ParameterError, require
from holdfast.learn.problem.losses import Loss
from holdfast.privacy.adjacency import Adjacency

NORM_SLACK = 1e-9
"""Rows are clipped in float64 and verified to this relative slack; constants use the larger norm (section 16)."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """(1/n) sum of losses + (penalty / 2) |w|^2, over |w| <= radius.

    The penalty acts on every coordinate, the intercept included (soundness, section 0). Rows, with their
    intercept column, have norm at most `row_norm`. `outputs` says how many predictions.

    >>> from holdfast.learn.problem.losses import Logistic
    >>> Problem(loss=Logistic(), dimension=3).gradient_change("replace") > 2
    True
    """

    loss: Loss
    dimension: int
    penalty: float = 0.0
    radius: float = math.inf
    row_norm: float = 1.0

    def __post_init__(self) -> None:
        require(self.dimension >= 1, "dimension", self.dimension, ">= 1")
        require(0 <= self.penalty < math.inf, "penalty", self.penalty, ">= 0 and finite")
        require(self.radius > 0, "radius", self.radius, "> 0", "use math.inf for no projection")
        require(0 < self.row_norm < math.inf, "row_norm", self.row_norm, "> 0 and finite")

    @property
    def outputs(self) -> str:
        """How many predictions the loss is of: "one", or "several", one for each class."""
        return "several" if hasattr(self.loss, "classes") else "one"

    @property
    def predictions(self) -> int:
        """How many rows the weights have: 1, or the number of classes."""
        return int(getattr(self.loss, "classes", 1))

    @property
    def norm_bound(self) -> float:
        """The row norm with the slack of clipping."""
        return self.row_norm * (1.0 + NORM_SLACK)

    @property
    def lipschitz(self) -> float:
        """L of the data loss: the penalty cancels when two records are compared at one point."""
        # The slack once more: a bound on predictions inside the slope is for the declared norm.
        return self.norm_bound * self.loss.slope * (1.0 + NORM_SLACK)

    @property
    def smoothness(self) -> float:
        """beta_0 of the data loss, without the penalty."""
        return self.norm_bound**2 * self.loss.curvature

    def gradient_change(self, adjacency: Adjacency | str) -> float:
        """G_delta: how far one record's gradient can move, in this adjacency (soundness, section 0)."""
        return Adjacency.of(adjacency).gradient_factor * self.lipschitz

    def require(self, needs: Iterable[str], *, method: str) -> None:
        """Refuse a problem without what a proof needs ("lipschitz", "smooth", "strongly_convex")."""
        asked = {
            "lipschitz": self.require_lipschitz,
            "smooth": self.require_smooth,
            "strongly_convex": self.require_strongly_convex,
        }
        for need in needs:
            if need in asked:
                asked[need](method)

    def require_lipschitz(self, method: str) -> None:
        """Refuse a loss whose gradient has no bound."""
        if not math.isfinite(self.lipschitz):
            free = math.isinf(self.radius)
            instead = "give radius=..." if free else "give the loss prediction_bound=row_norm * radius"
            raise ParameterError(
                f"{method} needs a loss with a bounded gradient; the {self.loss.name} loss has one only with a "
                f"finite radius, got radius={self.radius!r}; {instead}"
            )
        bound = getattr(self.loss, "prediction_bound", math.inf)
        if bound < self.row_norm * self.radius * (1.0 - 1e-12) and math.isfinite(bound):
            raise ParameterError(
                f"prediction_bound must be >= row_norm * radius = {self.row_norm * self.radius!r} for {method}, "
                f"got prediction_bound={bound!r}; its Lipschitz constant holds on the ball only"
            )

    def require_smooth(self, method: str) -> None:
        """Refuse a loss without a second derivative."""
        if not math.isfinite(self.smoothness):
            raise ParameterError(
                f"{method} needs a smooth loss, the {self.loss.name} loss is not; use the Huber-smoothed hinge"
            )

    def require_strongly_convex(self, method: str) -> None:
        """Refuse a problem without a penalty."""
        if self.penalty <= 0:
            raise ParameterError(
                f"penalty must be > 0 for {method}, got penalty={self.penalty!r}; "
                "give penalty=..., or use method='auto'"
            )
