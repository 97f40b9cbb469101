"""Noisy residuals of a workload, measured together: what `gaussian`, `measure_first` and `query_gan` start from.

A residual is what the joint table of some columns says beyond the tables of its subsets (`workload.residual_basis`).
Noise on residuals is independent from one coordinate to the next. So two measurements of the same residual combine
into their mean weighted by precision, and no information is lost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import ParameterError
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.model import Measurement
from holdfast.synth._workload import Workload
from holdfast.synth._workload.residual_basis import Columns, Strategy, residual_table, restored_table

MOST_ROWS = 2**32
"""The most rows of a table whose number of rows is private."""
FACTORISED = (
    "Gaussian mechanism on a factorised workload: residual basis, largest column norm (soundness, section 20)"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyResiduals:
    """The residuals of a workload as they were released: independent noise in every coordinate. Public."""

    strategy: Strategy
    factor: float
    """The noise of a coordinate, in units of the strategy's deviation for it."""
    values: Mapping[Columns, Floats]
    """Each residual in units of counts, in its own shape."""
    rows: int | None
    """The number of rows where it is public; else None, and the total is one of the residuals."""

    def tables(self, wanted: Sequence[Columns]) -> tuple[Measurement, ...]:
        """Noisy joint tables of these columns. They agree with each other; their noise is correlated between cells."""
        return tuple(
            Measurement(
                columns=columns,
                values=reconstruct_marginal(self.strategy, self.values, columns, self.rows),
                noise_std=self._noise_std(columns),
            )
            for columns in wanted
        )

    def measurements(self) -> tuple[Measurement, ...]:
        """The noisy residuals themselves, without the total."""
        deviations = self.strategy.deviations.tolist()
        return tuple(
            Measurement(columns=columns, values=self.values[columns], noise_std=self.factor * deviation)
            for columns, deviation in zip(self.strategy.sets, deviations, strict=True)
            if columns
        )

    def combined_with(self, other: NoisyResiduals) -> NoisyResiduals:
        """Two measurements of one table as one: means weighted by precision, and the precisions add up.

        `other` holds some of the same residuals. Where it holds all of them, with the same noise for each, the result
        is as good as one measurement with the budget of both.
        """
        precision = (self.factor * self.strategy.deviations) ** -2.0
        values, own = dict(self.values), self.strategy.places
        for columns, deviation in zip(other.strategy.sets, other.strategy.deviations.tolist(), strict=True):
            before, more = precision[own[columns]], (other.factor * deviation) ** -2.0
            values[columns] = (before * values[columns] + more * other.values[columns]) / (before + more)
            precision[own[columns]] += more
        both = replace(self.strategy, deviations=precision**-0.5)
        return replace(self, strategy=both, factor=1.0, values=values)

    def parameters(self, wanted: Sequence[Columns]) -> dict[str, Any]:
        """What the release says about the noise."""
        deviations = [self._noise_std(columns) for columns in wanted]
        return {
            "residuals": len(self.strategy.sets),
            "noise_std": max(deviations),
            "least_noise_std": min(deviations),
        }

    def _noise_std(self, columns: Columns) -> float:
        return max(self.factor * math.sqrt(self.strategy.variance(columns)), 1e-9)


def measure_residuals(
    data: ExactCounts,
    tables: Sequence[Columns],
    *,
    weights: Sequence[float] | None = None,
    objective: str = "max",
    account: Account,
    label: str = "residuals",
) -> NoisyResiduals:
    """Every residual that these tables need, each measured once, for all that is left in the account."""
    rows = data.public_rows
    strategy = Strategy.of(data.domain, tables, weights=weights, objective=objective, total=rows is None)
    values = scaled_residuals(strategy, data)
    if values.size:
        mechanism = residual_noise(strategy, data, account)
        noisy, factor = account.release(mechanism, values, label=label), float(mechanism.sigma)
    else:  # every table has one cell, whose count is the public number of rows
        noisy, factor = values, 0.0
    return NoisyResiduals(strategy=strategy, factor=factor, values=_parts(strategy, noisy), rows=rows)


def residual_noise(strategy: Strategy, data: ExactCounts, account: Account) -> Gaussian:
    """The least noise that the account can pay for; its sigma is in units of the strategy's deviations."""
    dimension = sum(strategy.size(columns) for columns in strategy.sets)
    l2 = l2_sensitivity(strategy, data, dimension)
    return Gaussian.within(account.remaining(), l2_sensitivity=l2, adjacency=account.adjacency)


def wanted_tables(workload: Workload) -> tuple[list[Columns], list[float]]:
    """The joint tables that a workload reads, each once, and for each the largest weight of the groups that read it."""
    weights: dict[Columns, float] = {}
    for group in workload.groups:
        columns = tuple(group.columns)
        weights[columns] = max(group.weight, weights.get(columns, 0.0))
    return list(weights), list(weights.values())


def scaled_residuals(strategy: Strategy, data: ExactCounts) -> Floats:
    """All residuals of a private table, each divided by its own deviation. Private: noise is still to be added."""
    exact = data.counts(strategy.sets)
    if data.public_rows is None and any(table.sum() > MOST_ROWS for table in exact):
        raise ParameterError(
            "n_public must be declared for a table of more than 2**32 rows; nothing was spent"
        )
    parts = [
        residual_table(table).reshape(-1) / s
        for table, s in zip(exact, strategy.deviations.tolist(), strict=True)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def l2_sensitivity(strategy: Strategy, data: ExactCounts, dimension: int) -> float:
    """The strategy's sensitivity, plus what rounding in the transform can add: 16 ulp of n for each coordinate.

    A private n is not read: `MOST_ROWS` stands for it, which at a million coordinates costs 2 % of noise.
    """
    if not strategy.sets:
        return 1.0
    rows = MOST_ROWS if data.public_rows is None else max(1, data.public_rows)
    rounding = 16 * 2.0**-52 * rows * math.sqrt(dimension) / float(strategy.deviations.min())
    return strategy.sensitivity(data.adjacency, data.unit) + rounding


def _parts(strategy: Strategy, noisy: Floats) -> dict[Columns, Floats]:
    """The noisy residuals in counts again, each in its shape."""
    parts, first = {}, 0
    for columns, deviation in zip(strategy.sets, strategy.deviations.tolist(), strict=True):
        size = strategy.size(columns)
        shape = tuple(strategy.domain[name] - 1 for name in columns)
        parts[columns] = noisy[first : first + size].reshape(shape) * deviation
        first += size
    return parts


def reconstruct_marginal(
    strategy: Strategy, parts: Mapping[Columns, Floats], columns: Sequence[str], rows: int | None
) -> Floats:
    """A marginal: the residuals of all subsets of its columns, each spread evenly over the other columns, summed."""
    order = tuple(name for name in strategy.domain if name in columns)
    shape = [strategy.domain[name] for name in order]
    table = np.full(shape, 0.0 if rows is None else rows / math.prod(shape))
    subsets = [c for size in range(len(order) + 1) for c in combinations(order, size) if c in parts]
    # Added up in the order in which they were released, so that the same release gives the same digits and rows.
    for subset in sorted(subsets, key=strategy.places.__getitem__):
        spread = math.prod(strategy.domain[name] for name in order if name not in subset)
        table += (
            restored_table(parts[subset]).reshape([strategy.domain[n] if n in subset else 1 for n in order])
            / spread
        )
    return np.ascontiguousarray(np.transpose(table, [order.index(name) for name in columns]))
