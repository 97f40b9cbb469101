"""GatheredSums: sums over rows in memory that are mostly 0, by the compiled look-up kernel.

A one-hot row of a hundred numbers has a dozen that differ from 0: sums over those alone take a third of the time, or
less. They are `RowSums`, as an engine's are. Whether rows are gathered depends on them, and what it changes is
rounding: both ways are within the bound that sensitivities have for it (`rounding_of_sum`), whichever each of two
neighbours takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel.lookup import GatheredRows
from holdfast.learn._problem import Problem


def gathered_sums(
    blocks: list[tuple[Floats, Floats]], problem: Problem, *, block: int
) -> GatheredSums | None:
    """Of clipped rows and labels, for losses of one prediction; None where matrix products are faster.

    So many rows are summed at once, whatever blocks they come in.
    """
    if problem.outputs != "one":
        return None
    gathered = GatheredRows.of([x for x, _ in blocks], problem.dimension)
    if gathered is None:
        return None
    return GatheredSums(
        rows=gathered, labels=np.concatenate([y for _, y in blocks]), problem=problem, block=block
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class GatheredSums:
    """What methods that live on sums ask for. Private before noise."""

    rows: GatheredRows
    labels: Floats
    problem: Problem
    block: int
    _lengths: list[tuple[Floats, Floats]] = field(default_factory=list)
    """The last form, and the lengths that rows have in it: every step of a descent asks for the same."""

    def gradient(self, weights: Floats, *, form: Floats, clip: float, largest: float) -> Floats:
        """The sum of t phi'(<w, x>, y) x, with t = min(1, clip / |phi'| |P x|) and P^T P = form."""
        slopes = self.problem.loss.slopes(self.rows.products(weights), self.labels)
        slopes *= clip / np.maximum(np.abs(slopes) * self.lengths(form), clip)
        return self.rows.total(slopes, block=self.block)

    def gram(
        self,
        kind: Literal["full", "diagonal", "arrow"] = "full",
        *,
        form: Floats | None = None,
        norm: float = math.inf,
    ) -> Floats:
        """The sum of t^2 x x^T, or its diagonal, with t = min(1, norm / |S x|) and S^T S = form."""
        if kind == "diagonal" and form is None:
            return self.rows.squared().total(np.ones(len(self.labels)), block=self.block)
        scales = np.ones(len(self.labels)) if form is None else norm / np.maximum(self.lengths(form), norm)
        matrix = self.rows.gram(scales, block=self.block)
        return np.diag(matrix).copy() if kind == "diagonal" else matrix

    def cross(self, target_bound: float) -> Floats:
        """The sum of y x."""
        return self.rows.total(np.clip(self.labels, -target_bound, target_bound), block=self.block)

    def lengths(self, form: Floats) -> Floats:
        """|P x| for each row, never less than it is."""
        if not self._lengths or not np.array_equal(self._lengths[0][0], form):
            squares = self.rows.forms(form) + form_margin(form, self.problem.norm_bound)
            self._lengths[:] = [(form.copy(), np.sqrt(np.maximum(squares, 0.0)))]
        return self._lengths[0][1]


def form_margin(form: Floats, norm_bound: float) -> float:
    """What rounding may take from x^T F x where F was computed as P^T P.

    Each entry of F is off by d units of |P|^T |P|, which adds up to d units of |P|_F^2 |x|^2, and |P|_F^2 is the trace
    of F; the sum itself by 2 d units of | |F| | |x|^2, which is no larger. A diagonal F has no term below 0: its sum is
    off by a share of itself, which the slack of clipping covers.
    """
    if form.ndim == 1:
        return 0.0
    return 4.0 * (len(form) + 16) * 2.0**-53 * float(np.trace(form)) * norm_bound**2
