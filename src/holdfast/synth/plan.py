"""What a synthetic table will be worth at each epsilon, from public quantities only; nothing is spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from holdfast.data.schema import Schema
from holdfast.errors import require
from holdfast.privacy.adjacency import resolve_adjacency
from holdfast.synth.auto import choose
from holdfast.synth.estimate import Estimate, estimate
from holdfast.synth.opening import limit_of
from holdfast.synth.workload import Workload

CERTIFICATE_SHARE = 0.1


@dataclass(frozen=True, kw_only=True)
class SynthesisForecast:
    """One epsilon: proportions that noise alone may hide, and what a certificate can say at best."""

    epsilon: float
    method: str
    column_error: float
    """Largest error of a cell of a 1-way marginal, if only these are measured."""
    workload_error: float
    """Largest error of Gaussian answers to the whole workload: what a synthesiser is compared with."""
    smallest_claim: float
    """What a certificate would say of rows without error."""
    seconds: float

    @property
    def verdict(self) -> str:
        """In words."""
        if self.column_error > 0.05:
            return "single columns are lost in noise"
        if self.workload_error > 0.05:
            return "columns are kept, combinations only where they are strong"
        return "the workload is kept"


def forecast_synthesis(
    schema: Schema,
    *,
    rows: int,
    epsilons: Sequence[float],
    delta: float,
    workload: Workload | None = None,
    adjacency: str | None = None,
) -> tuple[SynthesisForecast, ...]:
    """Noise against epsilon for a table of this schema.

    >>> from holdfast.data import Categorical
    >>> schema = Schema([Categorical(name, ["x", "y"]) for name in "abc"])
    >>> [round(one.workload_error, 3) for one in forecast_synthesis(schema, rows=1000, epsilons=[0.1, 1], delta=1e-6)]
    [0.101, 0.012]
    """
    require(rows >= 1, "rows", rows, ">= 1")
    asked = Workload.marginals(schema, 3) if workload is None else workload
    asked.check(schema)
    made = []
    for epsilon in epsilons:
        limit = limit_of(epsilon, delta)
        method = choose(schema.domain, asked, limit=limit).method
        told = estimate(
            schema.domain, asked, limit=limit, method=method, rows=rows, certificate_share=CERTIFICATE_SHARE,
            adjacency=resolve_adjacency(adjacency, schema.adjacency), unit=schema.unit,
        )  # fmt: skip
        made.append(
            SynthesisForecast(
                epsilon=epsilon,
                method=method,
                column_error=_largest(told.one_way_noise, sum(schema.domain.values()), rows),
                workload_error=_largest(told.workload_noise, told.queries, rows),
                smallest_claim=_claim(told),
                seconds=told.seconds,
            )
        )
    return tuple(made)


def _largest(noise_std: float, cells: int, rows: int) -> float:
    """The median of the largest of so many normal numbers, in size, as a proportion of the table."""
    quantile = NormalDist().inv_cdf(1 - math.log(2) / (2 * cells))
    return min(1.0, quantile * noise_std / rows)


def _claim(told: Estimate) -> float:
    return 1.0 if told.smallest_claim is None else told.smallest_claim


def lines(found: Sequence[SynthesisForecast]) -> list[str]:
    """A table for a terminal."""
    made = [
        "Synthetic rows from public quantities only: sizes of noise, not of a model's error.",
        f"{'epsilon':>8}  {'method':<12} {'columns':>9} {'workload':>9} {'claim':>9} {'time':>7}",
    ]
    for one in found:
        time = f"{one.seconds:.0f} s" if one.seconds < 100 else f"{math.ceil(one.seconds / 60)} min"
        made.append(
            f"{one.epsilon:>8g}  {one.method:<12} {one.column_error:>9.3g} {one.workload_error:>9.3g} "
            f"{one.smallest_claim:>9.3g} {time:>7}  {one.verdict}"
        )
    return made
