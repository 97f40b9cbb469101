"""The residual basis of marginals: for each set of columns, what its joint count says beyond those of its subsets.

With Q_d the (d-1) x d matrix of orthonormal rows that sum to zero, the residual of a set A is the joint count of A
times Q along every axis. Residuals of different sets are orthogonal, and the marginal of C is a sum over the subsets
of C, so noise on residuals gives marginals that agree with each other. Independent noise of variance sigma_A^2 on each
residual is optimal for marginal workloads once the sigma_A are (ResidualPlanner: Xiao, He, Zhang and Kifer 2023; in
the Fourier basis arXiv 2512.21499). The strategy is made of domain and workload only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._sensitivity import row_steps
from holdfast.errors import require
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

Columns = tuple[str, ...]
#: Up to this many columns, all patterns in which two records can agree are enumerated; beyond, a bound is used.
MOST_ENUMERATED_COLUMNS = 14
VARIANCE_UPDATES = 500
"""Multiplicative updates of the weights of marginals, towards equal variances."""


@lru_cache(maxsize=256)
def helmert(cells: int) -> Floats:
    """The matrix Q of orthonormal rows that sum to zero; cached and read-only.

    >>> np.round(helmert(3), 4).tolist()
    [[0.7071, -0.7071, 0.0], [0.4082, 0.4082, -0.8165]]
    """
    matrix = np.tril(np.ones((cells - 1, cells)))
    for row in range(cells - 1):
        matrix[row, row + 1] = -(row + 1.0)
        matrix[row] /= math.sqrt((row + 1.0) * (row + 2.0))
    matrix.flags.writeable = False
    return matrix


def residual_table(table: Floats) -> Floats:
    """The residual of a joint count: Q applied along every axis."""
    residual = np.asarray(table, dtype=np.float64)
    for axis, cells in enumerate(table.shape):
        residual = np.moveaxis(np.tensordot(helmert(cells), residual, axes=(1, axis)), 0, axis)
    return residual


def restored_table(values: Floats) -> Floats:
    """The part of a joint count that a residual describes: Q transposed along every axis."""
    restored = np.asarray(values, dtype=np.float64)
    for axis, cells in enumerate(values.shape):
        restored = np.moveaxis(np.tensordot(helmert(cells + 1), restored, axes=(0, axis)), 0, axis)
    return restored


@dataclass(frozen=True, kw_only=True, eq=False)
class Strategy:
    """Which residuals are measured, and the noise of each, up to one common factor."""

    domain: Mapping[str, int]
    marginals: tuple[Columns, ...]
    sets: tuple[Columns, ...]
    """Every set of columns whose residual is measured; the empty one is the total."""
    deviations: Floats
    """The standard deviation of the noise in a coordinate of each residual."""

    @classmethod
    def of(
        cls,
        domain: Mapping[str, int],
        marginals: Sequence[Columns],
        *,
        weights: Sequence[float] | None = None,
        objective: str = "max",
        total: bool = True,
    ) -> Strategy:
        """The strategy for which the largest variance of a cell ("max"), or the sum of all ("sum"), is least.

        `total=False` leaves out the total, where it is public. A weight multiplies the errors of a marginal.
        """
        require(objective in ("max", "sum"), "objective", objective, "'max' or 'sum'")
        order = {name: place for place, name in enumerate(domain)}
        wanted = tuple(dict.fromkeys(tuple(sorted(columns, key=order.__getitem__)) for columns in marginals))
        given = dict.fromkeys(wanted, 0.0)
        for columns, weight in zip(marginals, weights or [1.0] * len(marginals), strict=True):
            key = tuple(sorted(columns, key=order.__getitem__))
            given[key] = max(given[key], float(weight))
        sets = _closure(wanted, domain, total)
        if not sets:  # one cell in every table, and a public total: nothing is left to measure
            return cls(domain=dict(domain), marginals=wanted, sets=(), deviations=np.zeros(0))
        place = {columns: number for number, columns in enumerate(sets)}
        rows, entries, amounts = _shares(wanted, domain, place)
        squares = np.array([given[columns] ** 2 for columns in wanted])
        price = np.array([_column_share(columns, domain) for columns in sets])
        sizes = np.array(
            [math.prod(domain[name] for name in columns) for columns in wanted], dtype=np.float64
        )
        emphasis = squares * sizes if objective == "sum" else squares / squares.sum()
        for _ in range(VARIANCE_UPDATES if objective == "max" else 1):
            # Minimise sum v_A sigma_A^2 subject to sum p_A / sigma_A^2 <= 1: sigma_A^2 ~ sqrt(p_A / v_A).
            value = np.bincount(entries, weights=emphasis[rows] * amounts, minlength=len(sets))
            variances = np.sqrt(price / np.maximum(value, 1e-300))
            variances *= float(np.sum(price / variances))
            if objective == "max":
                # Mirror ascent in the dual: marginals with more than their share of variance get more emphasis.
                cell = squares * np.bincount(
                    rows, weights=amounts * variances[entries], minlength=len(wanted)
                )
                emphasis = emphasis * np.sqrt(cell / cell.max())
                emphasis = np.maximum(emphasis / emphasis.sum(), 1e-12)
        return cls(domain=dict(domain), marginals=wanted, sets=sets, deviations=np.sqrt(variances))

    def variance(self, columns: Sequence[str]) -> float:
        """The variance of the noise in each cell of a marginal that the strategy answers."""
        return math.fsum(
            _share(subset, tuple(columns), self.domain) * self._deviation.get(subset, 0.0) ** 2
            for subset in _subsets(self._in_domain_order(columns))
        )

    def size(self, columns: Columns) -> int:
        """How many coordinates the residual of these columns has."""
        return math.prod(self.domain[name] - 1 for name in columns)

    @cached_property
    def places(self) -> dict[Columns, int]:
        """The index of each set of columns in `sets`."""
        return {columns: place for place, columns in enumerate(self.sets)}

    @cached_property
    def _deviation(self) -> dict[Columns, float]:
        return dict(zip(self.sets, self.deviations.tolist(), strict=True))

    def sensitivity(self, adjacency: Adjacency | str, unit: PrivacyUnit) -> float:
        """The L2 sensitivity of all residuals, each divided by its deviation; rounded up.

        A record adds a column of squared norm sum_A p_A / sigma_A^2. Two records that agree on the columns S have the
        squared distance 2 sum_A [p_A - prod_{i in A}(1[i in S] - 1/d_i)] / sigma_A^2: the largest over S counts.
        """
        kind = Adjacency.of(adjacency)
        precision = self.deviations**-2.0
        price = np.array([_column_share(columns, self.domain) for columns in self.sets])
        alone = math.sqrt(float(np.dot(price, precision)))
        if kind is not Adjacency.replace or unit.max_rows > 1:
            return row_steps(kind, unit, row_adjacency=_row_adjacency(kind)) * alone * (1 + 1e-12)
        return math.sqrt(2.0 * self._largest_exchange(precision)) * (1 + 1e-12)

    def _largest_exchange(self, precision: Floats) -> float:
        """Half the largest squared distance that the exchange of one record by another can cause."""
        names = list(dict.fromkeys(name for columns in self.sets for name in columns))
        if len(names) > MOST_ENUMERATED_COLUMNS:
            worst = [
                _column_share(columns, self.domain) * (1.0 + 1.0 / (min(self.domain[n] for n in columns) - 1))
                for columns in self.sets
                if columns
            ]
            return float(
                np.dot(worst, [p for p, columns in zip(precision, self.sets, strict=True) if columns])
            )
        agree = (np.arange(2 ** len(names))[:, None] >> np.arange(len(names))) & 1
        factors = {name: agree[:, i] - 1.0 / self.domain[name] for i, name in enumerate(names)}
        distances = np.zeros(len(agree))
        for columns, each in zip(self.sets, precision.tolist(), strict=True):
            product = np.ones(len(agree))
            for name in columns:
                product = product * factors[name]
            distances += each * (_column_share(columns, self.domain) - product)
        return float(distances.max())

    def _in_domain_order(self, columns: Sequence[str]) -> Columns:
        return tuple(name for name in self.domain if name in columns)


def _row_adjacency(kind: Adjacency) -> Adjacency:
    return Adjacency.add_remove if kind is Adjacency.replace else kind


def _subsets(columns: Columns) -> list[Columns]:
    return [chosen for size in range(len(columns) + 1) for chosen in combinations(columns, size)]


def _closure(marginals: Sequence[Columns], domain: Mapping[str, int], total: bool) -> tuple[Columns, ...]:
    """All subsets of all marginals that have a residual, which a column of one cell has not."""
    subsets = dict.fromkeys(subset for columns in marginals for subset in _subsets(columns))
    return tuple(
        subset for subset in subsets if (subset or total) and all(domain[name] > 1 for name in subset)
    )


def _column_share(columns: Columns, domain: Mapping[str, int]) -> float:
    """p_A: the squared norm that one record has in the residual of A."""
    return math.prod(1.0 - 1.0 / domain[name] for name in columns)


def _share(subset: Columns, columns: Columns, domain: Mapping[str, int]) -> float:
    """The variance that unit variance in the residual of A adds to each cell of the marginal of C."""
    spread = math.prod(domain[name] for name in columns if name not in subset)
    return _column_share(subset, domain) / float(spread) ** 2


def _shares(
    marginals: Sequence[Columns], domain: Mapping[str, int], place: Mapping[Columns, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """The sparse matrix of `_share`, marginals by residuals: row indices, column indices and entries."""
    triples = [
        (row, place[subset], _share(subset, columns, domain))
        for row, columns in enumerate(marginals)
        for subset in _subsets(columns)
        if subset in place
    ]
    rows, entries, amounts = zip(*triples, strict=True)
    return np.array(rows), np.array(entries), np.array(amounts)
