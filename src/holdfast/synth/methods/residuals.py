"""The residuals of a workload, bought of an account at once: what `gaussian`, `measure_first` and `query_gan` look at.

A residual is what a set of columns says beyond its subsets (`workload.residual_basis`). Noise on residuals is
independent from one coordinate to the next, so two looks at the same table add up: their precisions do.
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
"""No table whose number of rows is private may have more."""
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
    """In counts, each in its shape."""
    rows: int | None
    """The number of rows, where it is public and so not among the residuals."""

    def tables(self, wanted: Sequence[Columns]) -> tuple[Measurement, ...]:
        """Marginals, which agree with each other; the noise is correlated between cells."""
        return tuple(
            Measurement(
                columns=columns,
                values=reconstruct_marginal(self.strategy, self.values, columns, self.rows),
                noise_std=self._noise_std(columns),
            )
            for columns in wanted
        )

    def parts(self) -> tuple[Measurement, ...]:
        """The residuals themselves, but for the total."""
        deviations = self.strategy.deviations.tolist()
        return tuple(
            Measurement(columns=columns, values=self.values[columns], noise_std=self.factor * deviation)
            for columns, deviation in zip(self.strategy.sets, deviations, strict=True)
            if columns
        )

    def with_residuals(self, other: NoisyResiduals) -> NoisyResiduals:
        """Both looks at one table as one: means weighted by precision, and precisions add up.

        `other` holds some of the same residuals. Where it holds all of them, with the same noise for each, nothing is
        lost against one look with the budget of both.
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
        """What a reader is told of the noise."""
        spread = [self._noise_std(columns) for columns in wanted]
        return {
            "residuals": len(self.strategy.sets),
            "noise_std": max(spread),
            "least_noise_std": min(spread),
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
    """Every residual that these tables need, once, for all that is left in the account."""
    rows = data.public_rows
    strategy = Strategy.of(data.domain, tables, weights=weights, objective=objective, total=rows is None)
    values = scaled_residuals(strategy, data)
    if values.size:
        mechanism = residual_noise(strategy, data, account)
        noisy, factor = account.release(mechanism, values, label=label), float(mechanism.sigma)
    else:  # one cell in every table: nothing but the public total is asked
        noisy, factor = values, 0.0
    return NoisyResiduals(strategy=strategy, factor=factor, values=_parts(strategy, noisy), rows=rows)


def residual_noise(strategy: Strategy, data: ExactCounts, account: Account) -> Gaussian:
    """What the account can pay for: its sigma is the noise of a coordinate, in units of the strategy's deviation."""
    dimension = sum(strategy.size(columns) for columns in strategy.sets)
    l2 = l2_sensitivity(strategy, data, dimension)
    return Gaussian.within(account.remaining(), l2_sensitivity=l2, adjacency=account.adjacency)


def wanted_tables(workload: Workload) -> tuple[list[Columns], list[float]]:
    """The joint tables that a workload reads, each once, and the largest weight of its groups."""
    weights: dict[Columns, float] = {}
    for group in workload.groups:
        columns = tuple(group.columns)
        weights[columns] = max(group.weight, weights.get(columns, 0.0))
    return list(weights), list(weights.values())


def scaled_residuals(strategy: Strategy, data: ExactCounts) -> Floats:
    """All residuals of a private table, each in units of its own noise: what is released. Private until then."""
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
    """The strategy's, and what rounding in the transform can add: 16 units in the last place of n, per coordinate.

    A private n is not looked at: `MOST_ROWS` stands for it, which at a million coordinates costs 2 % of noise.
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
    """A marginal: the sum over the subsets of its columns of their residuals, spread evenly over the others."""
    order = tuple(name for name in strategy.domain if name in columns)
    shape = [strategy.domain[name] for name in order]
    table = np.full(shape, 0.0 if rows is None else rows / math.prod(shape))
    held = [c for size in range(len(order) + 1) for c in combinations(order, size) if c in parts]
    # In the order in which they were released: sums keep their last digits, and rows their coins.
    for subset in sorted(held, key=strategy.places.__getitem__):
        spread = math.prod(strategy.domain[name] for name in order if name not in subset)
        table += (
            restored_table(parts[subset]).reshape([strategy.domain[n] if n in subset else 1 for n in order])
            / spread
        )
    return np.ascontiguousarray(np.transpose(table, [order.index(name) for name in columns]))
