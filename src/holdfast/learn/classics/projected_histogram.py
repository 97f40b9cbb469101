"""Projected histograms: choose a few columns privately, release their table of counts, and fit to the counts.

Vinterbo 2012, "Differentially private projected histograms: construction and use for prediction" (ECML PKDD), which
Fredrikson et al. 2014 compare with the functional mechanism. Rows are projected onto k columns that exponential
mechanisms choose, each column has equal cells between public edges, the label too, and every row adds 1 to one count.
Noise, a threshold and the fit to weighted cell centres follow; the last two see noisy counts only. A record without
any feature is null and counts nowhere, so blanking a row moves one count by 1 and replacing it moves two.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast.data._sensitivity import counts_l1, counts_l2, sum_l2
from holdfast.errors import ParameterError, require
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import as_codes
from holdfast.learn._rows.clipped_blocks import SIGNED_LOSSES, clip_chunk
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.summation import summation_error
from holdfast.learn.methods.method import Fit, Learner
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import fractions_of_rest, largest_epsilon, selection_epsilon
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.privacy._mechanisms.selection import Exponential

MOST_CELLS = 2**20
ROWS_PER_CELL = 8
"""The least public number of rows for each cell, from which the default number of columns follows."""
THEOREM = (
    "projected histogram (Vinterbo 2012): columns by exponential mechanisms, then one noisy table of counts"
)


@dataclass(frozen=True, kw_only=True)
class HistogramCells:
    """Public cells: `bins` equal ones of [-reach, reach] for each column; values beyond are in the outer ones."""

    problem: Problem
    bins: int
    label_bins: int
    reach: float

    def __post_init__(self) -> None:
        require(self.bins >= 2, "bins", self.bins, ">= 2")
        require(self.label_bins >= 2, "label_bins", self.label_bins, ">= 2")
        require(0 < self.reach < math.inf, "reach", self.reach, "> 0 and finite")

    @property
    def target_bound(self) -> float:
        """The bound to which labels that are numbers are clipped."""
        return self.problem.loss.largest_target

    @property
    def label_cells(self) -> int:
        """The number of cells of the label: its classes, or bins of a number."""
        if self.problem.outputs == "several":
            return self.problem.predictions
        return 2 if self.problem.loss.name in SIGNED_LOSSES else self.label_bins

    @property
    def label_values(self) -> Floats:
        """The label that stands for each cell, as the loss takes it."""
        if self.problem.outputs == "several":
            return np.arange(self.label_cells, dtype=np.float64)
        if self.problem.loss.name in SIGNED_LOSSES:
            return np.array([-1.0, 1.0])
        return self._centres(self.target_bound, self.label_bins)

    def default_columns(self, count: int) -> int:
        """The most columns, at least one, with `ROWS_PER_CELL` public rows for each cell."""
        most = math.log(max(1.0, count / (ROWS_PER_CELL * self.label_cells)), self.bins)
        return max(1, min(self.problem.dimension, int(most + 1e-9)))

    def table(self, examples: Examples, chosen: list[int]) -> NDArray[np.int64]:
        """How many rows lie in each cell of the chosen columns and the label; private."""
        size = self.bins ** len(chosen) * self.label_cells
        total = np.zeros(size, dtype=np.int64)
        for rows, labels in (clip_chunk(chunk, self.problem) for chunk in examples.chunks()):
            present = rows.any(axis=1)
            place = np.zeros(int(present.sum()), dtype=np.int64)
            for column in chosen:
                place = place * self.bins + self._cell(rows[present, column], self.reach, self.bins)
            place = place * self.label_cells + self._label_cell(labels[present])
            total += np.bincount(place, minlength=size)
        return total.reshape(-1, self.label_cells)

    def centres(self, columns: int) -> Floats:
        """The middle of every cell of so many columns, a row each, in the order of `table`."""
        axis = self._centres(self.reach, self.bins)
        grids = np.meshgrid(*[axis] * columns, indexing="ij")
        return np.stack([grid.ravel() for grid in grids], axis=1)

    def signals(self, labels: Floats) -> Floats:
        """The label of each record as a vector of norm at most 1, with which columns are correlated."""
        if self.problem.outputs == "several":
            classes = self.label_cells
            codes = as_codes(labels, classes)
            return np.asarray((codes[:, None] == np.arange(classes)) - 1.0 / classes)
        return np.clip(labels / self.target_bound, -1.0, 1.0)[:, None]

    def _label_cell(self, labels: Floats) -> NDArray[np.int64]:
        if self.problem.outputs == "several":
            return as_codes(labels, self.label_cells)
        return self._cell(labels, self.target_bound, self.label_cells)

    @staticmethod
    def _cell(values: Floats, reach: float, bins: int) -> NDArray[np.int64]:
        scaled = np.floor((np.clip(values, -reach, reach) / reach + 1.0) / 2.0 * bins)
        return np.clip(scaled, 0, bins - 1).astype(np.int64)

    @staticmethod
    def _centres(reach: float, bins: int) -> Floats:
        return np.asarray((np.arange(bins) + 0.5) / bins * 2.0 * reach - reach)


def projected_histogram(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    columns: int | None = None,
    places: tuple[int, ...] | None = None,
    bins: int = 5,
    label_bins: int = 5,
    reach: float | None = None,
    share: float = 0.2,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Count rows in cells of a few columns, and minimise the loss over the noisy counts.

    Private for any loss: nothing but counts is released. `columns` are chosen with `share` of the budget, by how much
    they go with the label; `places` names them instead, where that is public, and costs nothing. `reach` is where cells
    end: twice what a coordinate of a row of full length has on average. All other columns have weight 0.
    """
    norm = problem.norm_bound
    cells = HistogramCells(
        problem=problem,
        bins=bins,
        label_bins=label_bins,
        reach=norm * min(1.0, 2.0 / math.sqrt(problem.dimension)) if reach is None else reach,
    )
    require(columns is None or columns >= 1, "columns", columns, "a whole number >= 1")
    require(0 < share < 1, "share", share, "in (0, 1)")
    many = min(problem.dimension, columns or cells.default_columns(examples.public_count))
    named = _named_columns(places, problem.dimension)
    width = many if named is None else len(named)
    size = bins**width * cells.label_cells
    require(
        size <= MOST_CELLS,
        "columns",
        width,
        f"few enough for at most {MOST_CELLS} cells, not {size}",
        "give fewer columns or bins",
    )
    assumptions: tuple[Assumption, ...] = ()
    if named is None:
        first, account = account.split(*fractions_of_rest(account, share, 1.0 - share))
        named, assumptions = _columns_of_label(examples, cells, first, many=many, arithmetic=arithmetic)
    mechanism, deviation = _count_noise(account, examples, arithmetic=arithmetic)
    noisy = np.asarray(
        account.release(mechanism, cells.table(examples, named), label="histogram"), dtype=float
    )
    # Everything below reads noisy counts and public numbers only.
    counts = np.where(noisy > deviation * math.sqrt(2.0 * math.log(size)), noisy, 0.0)
    curvature = problem.loss.curvature if math.isfinite(problem.smoothness) else 1.0
    ridge = curvature * cells.reach**2 * deviation * math.sqrt(size) / examples.public_count
    penalty = max(problem.penalty, ridge)
    penalties = penalty * problem.penalised[named]
    minimiser = _weights_of_cells(
        cells, counts, width, penalties=penalties, count=float(examples.public_count)
    )
    weights = np.zeros((problem.predictions, problem.dimension))
    weights[:, named] = minimiser * min(1.0, problem.radius / max(float(np.linalg.norm(minimiser)), 1e-300))
    return Fit(
        weights=problem.of_weights(weights),
        theorem=THEOREM,
        parameters={
            "columns": [int(place) for place in named],
            "cells": size,
            "reach": cells.reach,
            "bins": bins,
            "count_noise_std": deviation,
            "sum_penalty": penalty,
            "arithmetic": arithmetic,
        },
        assumptions=assumptions,
    )


def _named_columns(places: tuple[int, ...] | None, dimension: int) -> list[int] | None:
    if places is None:
        return None
    known = all(0 <= place < dimension for place in places)
    if not places or not known or len(set(places)) < len(places):
        raise ParameterError(
            f"places must be different columns from 0 to {dimension - 1}, got places={tuple(places)!r}"
        )
    return list(places)


def score_sensitivity(examples: Examples, problem: Problem, account: Account, *, most: int) -> float:
    """The sensitivity of |sum of signal times column|: the row norm for each row, twice that under replace."""
    rounded = 2.0 * summation_error(most) * most * problem.norm_bound
    return sum_l2(problem.norm_bound, account.adjacency, examples.unit) + rounded


def _columns_of_label(
    examples: Examples, cells: HistogramCells, account: Account, *, many: int, arithmetic: Arithmetic
) -> tuple[list[int], tuple[Assumption, ...]]:
    """The columns most correlated with the label, each by an exponential mechanism (Vinterbo 2012, section 3.2)."""
    problem = cells.problem
    most, assumptions = examples.largest_count()
    total = np.zeros((cells.signals(np.zeros(1)).shape[1], problem.dimension))
    for rows, labels in (clip_chunk(chunk, problem) for chunk in examples.chunks()):
        total += cells.signals(labels).T @ rows
    scores = np.linalg.norm(total, axis=0)
    permit = account.permit(
        Exponential(
            epsilon=selection_epsilon(account, many),
            adjacency=account.adjacency,
            arithmetic=arithmetic,
            sensitivity=score_sensitivity(examples, problem, account, most=most),
        ),
        times=many,
        label="columns",
    )
    left, chosen = list(range(problem.dimension)), []
    for _ in range(many):
        chosen.append(left.pop(int(permit.release(scores[left]))))
    return chosen, assumptions


def _count_noise(
    account: Account, examples: Examples, *, arithmetic: Arithmetic
) -> tuple[Laplace | Gaussian, float]:
    """The noise of one table of counts for all that is left (Laplace without delta, else Gaussian), and its size."""
    left, near = account.remaining(), account.adjacency
    if left.as_pure() is None:
        gaussian = Gaussian.within(
            left, l2_sensitivity=counts_l2(near, examples.unit), adjacency=near, arithmetic=arithmetic
        )
        return gaussian, float(gaussian.sigma)
    l1 = counts_l1(near, examples.unit)

    def mechanism(epsilon: float) -> Laplace:
        return Laplace(scale=l1 / epsilon, l1_sensitivity=l1, adjacency=near, arithmetic=arithmetic)

    laplace = mechanism(largest_epsilon(account, lambda epsilon: mechanism(epsilon).curve))
    return laplace, math.sqrt(2.0) * float(laplace.scale)


def _weights_of_cells(
    cells: HistogramCells, counts: Floats, columns: int, *, penalties: Floats, count: float
) -> Floats:
    """The weights of the chosen columns: the loss over cell centres, weighted by counts, and a penalty."""
    from scipy.optimize import minimize

    used = np.flatnonzero(counts.ravel())
    rows, weight = cells.centres(columns)[used // cells.label_cells], counts.ravel()[used] / count
    labels = cells.label_values[used % cells.label_cells]
    small = dataclasses.replace(cells.problem, dimension=columns)
    shape = (small.predictions, columns)

    def value(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(shape)
        z = rows @ w.T
        losses = small.loss.values(z if small.outputs == "several" else z[:, 0], labels)
        gradient = (small.slopes(z, labels) * weight[:, None]).T @ rows + penalties * w
        return float(weight @ losses) + 0.5 * float(np.sum(penalties * w**2)), gradient.ravel()

    done = minimize(value, np.zeros(math.prod(shape)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return np.asarray(done.x, dtype=np.float64).reshape(shape)


METHOD = Learner(
    name="projected_histogram",
    run=projected_histogram,
    paper="Vinterbo 2012",
    pure=True,
    currency="zcdp",
    outputs=("one", "several"),
    behind="sees a few columns in coarse cells: a baseline for few columns that matter",
)
