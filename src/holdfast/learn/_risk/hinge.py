"""The minimiser of the plain hinge risk, certified by its duality gap: no smoothness is needed.

P(w) = c sum of max(0, 1 - <a_i, w>) + (penalty / 2)|w|^2 with a_i = y_i x_i and c = 1 / divisor. For any w and any
alpha in [0, 1]^n, with w(alpha) = (c / penalty) sum of alpha_i a_i and margins m_i = 1 - <a_i, w>,

    P(w) - P* <= gap = c sum of ((1 - alpha_i) max(m_i, 0) + alpha_i max(-m_i, 0)) + (penalty / 2)|w - w(alpha)|^2

by weak duality: P(w) minus the dual at alpha, with the product <w, w(alpha)> expanded. No term is negative, so nothing
cancels. P is strongly convex: |w - w*|^2 <= 2 gap / penalty. The solver (a primal-dual interior-point method whose
linear systems have one row for each column of the table: Ferris and Munson 2002) is not trusted, its answer is checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import as_codes
from holdfast.learn._risk.minimise import NotCertified
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.summation import one_thread

MOST_STEPS = 200
BLOCK = 8_192


@dataclass(frozen=True, kw_only=True, eq=False)
class HingeRisk:
    """Rows times their labels, in memory; `share` is c, one record's part of the mean."""

    rows: Floats
    share: float
    penalty: float
    norm: float
    ahead: Floats | float = 1.0
    """The margins at weights 0: 1, less the prediction of a public origin for the row's own class."""

    @classmethod
    def of(
        cls,
        examples: Examples,
        problem: Problem,
        *,
        divisor: float,
        code: int = 0,
        origin: Floats | None = None,
    ) -> HingeRisk:
        """Rows within the declared norm, null records as zeros; of several classes, that code's against the rest.

        Weights are those beyond `origin`, which the penalty is counted from.
        """
        parts = [np.zeros((0, examples.dimension))]
        for chunk in examples.chunks():
            rows, labels = clip_chunk(chunk, problem)
            if problem.outputs == "several":
                labels = np.where(as_codes(labels, problem.predictions) == code, 1.0, -1.0)
            parts.append(rows * labels[:, None])
        rows = np.concatenate(parts)
        return cls(
            rows=rows,
            share=1.0 / divisor,
            penalty=problem.penalty,
            norm=problem.norm_bound,
            ahead=1.0 if origin is None or not origin.any() else 1.0 - rows @ origin,
        )

    def weights(self, alpha: Floats) -> Floats:
        """w(alpha)."""
        return np.asarray((alpha @ self.rows) * (self.share / self.penalty))

    def gap(self, w: Floats, alpha: Floats, *, kind: Any = np.float64) -> float:
        """An upper bound on the duality gap, rounding errors included."""
        count, columns = self.rows.shape
        total, combined = np.zeros((), dtype=kind), np.zeros(columns, dtype=kind)
        wide: Any = w.astype(kind)
        for start in range(0, count, BLOCK):
            rows: Any = self.rows[start : start + BLOCK].astype(kind)
            own: Any = alpha[start : start + BLOCK].astype(kind)
            margins = np.broadcast_to(self.ahead, count)[start : start + BLOCK] - rows @ wide
            total = total + np.sum((1.0 - own) * np.maximum(margins, 0.0) + own * np.maximum(-margins, 0.0))
            combined = combined + own @ rows
        apart = float(np.linalg.norm((wide - combined * (self.share / self.penalty)).astype(np.float64)))
        unit, length = float(np.finfo(kind).eps), float(np.linalg.norm(w))
        # An inner product of d terms errs by d units of |x| |w|; a sum of n rows, in blocks, by n units of their norms.
        largest = max(1.0, float(np.max(np.abs(self.ahead), initial=0.0)))
        hidden = count * self.share * (columns + 4) * (largest + self.norm * length) * unit
        apart += (count + 8) * count * self.share * self.norm / self.penalty * unit
        difference = self.share * float(total) + hidden + 0.5 * self.penalty * float(apart) ** 2
        return float(difference * (1.0 + (count + 8) * 2.0**-53))

    def distance_bound(self, w: Floats, alpha: Floats) -> float:
        """A bound on the distance to the minimiser: the smaller one of double precision and the machine's widest."""
        gap = min(self.gap(w, alpha), self.gap(w, alpha, kind=np.longdouble))
        return math.sqrt(2.0 * gap / self.penalty) * (1.0 + 1e-12)


def minimise_hinge(risk: HingeRisk, *, distance: float) -> Floats:
    """A point within `distance` of the minimiser over the whole space; never one without its certificate.

    >>> rows = np.array([[1.0, 0.0], [0.5, 0.5], [-0.2, 0.1]])
    >>> risk = HingeRisk(rows=rows, share=1 / 3, penalty=0.5, norm=1.0)
    >>> w = minimise_hinge(risk, distance=1e-6)
    >>> w.round(4)
    array([0.8667, 0.4   ])
    """
    if not len(risk.rows):
        return np.zeros(risk.rows.shape[1])
    with one_thread():
        best, least = np.zeros(risk.rows.shape[1]), math.inf
        for at in _interior_point(risk):
            # Products of multipliers and distances are about the gap: far from the end nothing needs certifying.
            if at.products() * risk.share * len(risk.rows) > 4.0 * risk.penalty * distance**2:
                continue
            for alpha in (np.clip(at.alpha, 0.0, 1.0), at.snapped_alpha()):
                w = risk.weights(alpha)
                bound = risk.distance_bound(w, alpha)
                if bound < least:
                    best, least = w, bound
                if least <= distance:
                    return best
    raise NotCertified(
        f"distance={distance!r} is below what this machine's arithmetic can certify; give a larger penalty"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _InteriorPoint:
    """A point of the interior-point method, and its factored linear system."""

    risk: HingeRisk
    alpha: Floats
    slack: Floats
    """1 - alpha, stored separately: near 1 the difference would lose all digits."""
    below: Floats
    above: Floats

    @cached_property
    def diagonal(self) -> Floats:
        """The diagonal that the bounds add to Q."""
        return np.asarray(self.below / self.alpha + self.above / self.slack)

    @cached_property
    def residual(self) -> Floats:
        """Of Q alpha - e = below - above, e being 1 less what the origin predicts."""
        predicted = self.risk.rows @ self.risk.weights(self.alpha)
        return np.asarray(predicted - self.risk.ahead - self.below + self.above)

    @cached_property
    def factor(self) -> Floats:
        """Of the d x d system that Woodbury's identity leaves."""
        rows = self.risk.rows
        inner = (rows / self.diagonal[:, None]).T @ rows
        inner[np.diag_indices_from(inner)] += self.risk.penalty / self.risk.share
        return np.asarray(np.linalg.cholesky(inner), dtype=np.float64)

    def products(self, share: float = 0.0, step: Any = (0.0, 0.0, 0.0)) -> float:
        """The mean of multiplier times distance, after this share of a step."""
        moved, lower, upper = (share * part for part in step)
        low = (self.below + lower) @ (self.alpha + moved)
        return float(low + (self.above + upper) @ (self.slack - moved)) / (2 * len(self.alpha))

    def step(self, aim: float, first: Any = 0.0, second: Any = 0.0) -> tuple[Floats, Floats, Floats]:
        """The Newton step towards products of `aim` less the second-order terms."""
        down, up = aim - self.below * self.alpha - first, aim - self.above * self.slack - second
        goal = (down / self.alpha - up / self.slack - self.residual) / self.diagonal
        part = np.linalg.solve(self.factor.T, np.linalg.solve(self.factor, self.risk.rows.T @ goal))
        moved = goal - (self.risk.rows @ part) / self.diagonal
        return moved, (down - self.below * moved) / self.alpha, (up + self.above * moved) / self.slack

    def longest(self, step: tuple[Floats, Floats, Floats]) -> float:
        """The largest share of a step, at most 1, that keeps all variables positive."""
        moved, lower, upper = step
        pairs = (
            (self.alpha, moved),
            (self.slack, -moved),
            (self.below, lower),
            (self.above, upper),
        )
        shares = (float(np.min(-at[by < 0] / by[by < 0])) for at, by in pairs if bool((by < 0).any()))
        return min((1.0, *shares))

    def snapped_alpha(self) -> Floats:
        """Every alpha at the bound that it tends to; the few others are set so that their margins are zero."""
        alpha = np.where(self.below > self.alpha, 0.0, np.where(self.above > self.slack, 1.0, self.alpha))
        rows = self.risk.rows[free := (alpha > 0) & (alpha < 1)]
        if 0 < len(rows) <= 2 * rows.shape[1] + 50:
            system = rows @ rows.T * (self.risk.share / self.risk.penalty)
            for _ in range(3):
                ahead = np.broadcast_to(self.risk.ahead, len(free))[free]
                missed = ahead - rows @ self.risk.weights(alpha)
                alpha[free] += np.linalg.lstsq(system, missed, rcond=None)[0]
        return np.clip(alpha, 0.0, 1.0)


def _interior_point(risk: HingeRisk) -> Iterator[_InteriorPoint]:
    """Dual points, each better than the one before: min 1/2 a^T Q a - sum of a over [0, 1]^n, Q = (c / penalty) A A^T.

    `below` and `above` are the multipliers of the two bounds: at the end above - below = 1 - <a_i, w>. Mehrotra's
    predictor and corrector (Nocedal and Wright 2006, chapter 16).
    """
    half, ones = np.full(len(risk.rows), 0.5), np.ones(len(risk.rows))
    at = _InteriorPoint(risk=risk, alpha=half, slack=half, below=ones, above=ones)
    for _ in range(MOST_STEPS):
        try:
            guess = at.step(0.0)
            centre = at.products()
            aim = centre * (at.products(at.longest(guess), guess) / centre) ** 3
            moved, lower, upper = taken = at.step(aim, guess[0] * guess[1], -guess[0] * guess[2])
        except np.linalg.LinAlgError:
            return
        share = 0.995 * at.longest(taken)
        if not (np.isfinite(moved).all() and share > 1e-12):
            return
        at = _InteriorPoint(
            risk=risk,
            alpha=at.alpha + share * moved,
            slack=at.slack - share * moved,
            below=at.below + share * lower,
            above=at.above + share * upper,
        )
        if min(float(part.min()) for part in (at.alpha, at.slack, at.below, at.above)) <= 0.0:
            return
        yield at
