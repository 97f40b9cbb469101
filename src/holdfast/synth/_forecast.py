"""Forecasts of a synthesis from public quantities only: size, noise, time, and what a certificate can claim at best.

For one privacy limit (`estimate_synthesis`) or along a list of epsilons (`forecast_synthesis`). Nothing is spent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

from holdfast._arguments import checked
from holdfast.data._schema import Schema
from holdfast.data._sensitivity import count_noise
from holdfast.data._table import Table
from holdfast.errors import require
from holdfast.privacy._account import Account
from holdfast.privacy._account.request import limit_of
from holdfast.privacy._adjacency import Adjacency, resolve_adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.release._usefulness import Prospect, influence
from holdfast.synth._certificate import GROUP_SHARE, certificate_noise, offset
from holdfast.synth._certificate_request import CERTIFICATE_SHARE
from holdfast.synth._choice import choose_synthesis_method
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._workload import Workload
from holdfast.synth.methods.method import SynthesisMethod, SynthesisTask

#: Seconds per million rows and group of queries, for exact counts.
COUNTING_SECONDS = 0.02


@checked
@dataclass(frozen=True, kw_only=True)
class SynthesisEstimate:
    """Sizes are exact, noise is what the noise will be, time and memory are rules of thumb.

    `Synthesizer.estimate` makes one.

    Parameters
    ----------
    method : str
        The name of the method that would run.
    groups : int
        The number of groups of queries in the workload.
    queries : int
        The number of queries, all groups together.
    largest_group : int
        The number of queries of the largest group.
    universe : float
        The number of possible records.
    rows : int, optional
        The public number of rows; None where it is private.
    one_way_noise : float
        The standard deviation in a cell of a 1-way marginal, in records, if only these were measured and with the
        whole budget.
    workload_noise : float
        The standard deviation in a cell, in records, if the whole workload is measured at once: what methods that
        choose their measurements try to beat.
    certificate_noise : float, optional
        The standard deviation of the certificate, in records; None without one.
    seconds : float
        CPU seconds, roughly.
    megabytes : float
        Memory, roughly.
    prospects : tuple of Prospect
        What public numbers say against the synthesis being of use. A fit warns of it, a command refuses.

    Examples
    --------
    >>> from holdfast.data import Categorical, Schema
    >>> from holdfast.synth import Synthesizer
    >>> schema = Schema([Categorical("sex", ["F", "M"]), Categorical("ill", ["no", "yes"])])
    >>> estimate = Synthesizer(epsilon=1.0, delta=1e-6).estimate(schema, rows=1000)
    >>> estimate.universe, estimate.groups, estimate.queries
    (4.0, 1, 4)
    """

    method: str
    groups: int
    queries: int
    largest_group: int
    universe: float
    rows: int | None
    one_way_noise: float
    workload_noise: float
    certificate_noise: float | None
    seconds: float
    megabytes: float
    prospects: tuple[Prospect, ...] = ()

    @property
    def smallest_claim(self) -> float | None:
        """The least error that the certificate can claim, even for rows without any error; as a proportion."""
        if self.certificate_noise is None or not self.rows:
            return None
        return min(1.0, 1.645 * self.certificate_noise / self.rows)

    def to_json(self) -> dict[str, Any]:
        """The fields, and the smallest claim."""
        return asdict(self) | {
            "smallest_claim": self.smallest_claim,
            "prospects": [prospect.to_json() for prospect in self.prospects],
        }

    def summary(self) -> str:
        """A few lines for whoever decides whether to run the synthesis."""
        size = f"{self.rows:,} rows" if self.rows else "a private number of rows"
        lines = [f"OF NO USE: {prospect.sentence()}" for prospect in self.prospects]
        lines += [
            f"estimate for method {self.method!r} on {size}: {_time(self.seconds)}, {self.megabytes:,.0f} MB; time is "
            "rough, guessed from sizes alone",
            f"  {self.groups:,} groups of {self.queries:,} queries, the largest {self.largest_group:,} cells; "
            f"{self.universe:.2g} possible records",
            f"  noise per cell, in records: {self.one_way_noise:.3g} if only 1-way marginals are measured, "
            f"{self.workload_noise:.3g} if the whole workload is",
        ]
        if self.certificate_noise is not None:
            least = (
                ""
                if self.smallest_claim is None
                else f"; it cannot claim less than {self.smallest_claim:.2g}"
            )
            lines.append(f"  certificate: noise of {self.certificate_noise:.3g} records{least}")
        return "\n".join([*lines, "nothing was spent"])


def estimate_synthesis(
    task: SynthesisTask,
    *,
    method: SynthesisMethod,
    rows: int | None,
    certificate_share: float,
    units: int | None = None,
    confidence: float = 0.95,
) -> SynthesisEstimate:
    """Sizes and noise of a synthesis, with rules of thumb for time and memory."""
    domain, workload, adjacency, unit = task.domain, task.workload, task.adjacency, task.unit
    sizes = [group.size(tuple(domain[name] for name in group.columns)) for group in workload.groups]
    cells = sum(math.prod(domain[name] for name in group.columns) for group in workload.groups)
    default_currency = task.limit.default_currency if task.is_pure() else method.currency
    account = Account(
        task.limit, adjacency=adjacency, unit=unit, currency=task.currency or default_currency, seed=0
    )
    work, check = (
        (account, None) if certificate_share == 0 else account.split(1 - certificate_share, certificate_share)
    )
    claim = None
    if check is not None:
        (part,) = check.split(1 - GROUP_SHARE) if len(sizes) > 1 else (check,)
        claim = certificate_noise(part, max_rows=unit.max_rows, adjacency=adjacency)[1]
    fixed, per_million = method.seconds
    one_way = count_noise(work.remaining(), adjacency, unit, tables=len(domain))
    modelled = _selectable_cells(task, one_way, rows) if method.selects else cells
    counting = COUNTING_SECONDS * (rows or 0) / 1e6 * len(sizes)
    return SynthesisEstimate(
        method=method.name,
        groups=len(sizes),
        queries=sum(sizes),
        largest_group=max(sizes),
        universe=math.prod(float(size) for size in domain.values()),
        rows=rows,
        one_way_noise=one_way,
        workload_noise=count_noise(work.remaining(), adjacency, unit, tables=len(sizes)),
        certificate_noise=claim,
        seconds=fixed + per_million * modelled / 1e6 + counting,
        # Exact counts are cached up to 256 MB; rows are 8 bytes a cell.
        prospects=tuple(
            prospect
            for prospect in synthesis_prospects(task, method, work, check, units=units, confidence=confidence)
            if prospect.useless
        ),
        megabytes=150 + 8e-6 * min(cells, 2**25) + 3 * 8e-6 * (rows or 0) * len(domain),
    )


def synthesis_prospects(
    task: SynthesisTask,
    method: SynthesisMethod,
    work: Account,
    check: Account | None,
    *,
    units: int | None,
    confidence: float,
) -> tuple[Prospect, ...]:
    """Whether noise hides everything, by public numbers: in any release, in counts of columns, and in the certificate.

    `work` and `check` are the accounts of the rows and of the certificate. Where the number of units is private, only
    the remaining budget is judged.
    """
    noun = task.unit.noun
    first = influence(work.remaining(), units, noun=noun)
    if units is None:
        return (first,)
    prospects = [
        first,
        replace(first, quantity="counts", hidden=_count_noise(task, method, work) / task.unit.max_rows),
    ]
    if check is not None:
        # A copy of the account: splitting the account itself would take the share's name before the real charge.
        copy = Account(
            check.remaining(), adjacency=check.adjacency, unit=check.unit, currency=check.currency.name
        )
        (part,) = copy.split(1 - GROUP_SHARE) if len(task.workload.groups) > 1 else (copy,)
        mechanism, std = certificate_noise(part, max_rows=task.unit.max_rows, adjacency=task.adjacency)
        margin = offset(mechanism, std, failure=1.0 - confidence)
        prospects.append(replace(first, quantity="certificate", hidden=margin / task.unit.max_rows))
    return tuple(prospects)


def _count_noise(task: SynthesisTask, method: SynthesisMethod, work: Account) -> float:
    return count_noise(work.remaining(), task.adjacency, task.unit, tables=method.tables(task))


def _selectable_cells(task: SynthesisTask, noise_std: float, rows: int | None) -> float:
    """The cells of all tables that a selecting method may measure; in larger ones the noise exceeds any error.

    No table of proportions has an L1 error above 2, and noise has an L1 norm of sqrt(2/pi) sigma per cell.
    """
    sizes = [math.prod(task.domain[name] for name in group.columns) for group in task.workload.groups]
    if rows is None:
        return float(sum(sizes))
    return float(sum(size for size in sizes if math.sqrt(2 / math.pi) * noise_std * size <= 2 * rows))


def chosen_levels(
    schema: Schema,
    rows: int | None,
    limit: PrivacyCurve,
    adjacency: Adjacency,
    *,
    columns: Sequence[str] | None,
) -> Schema:
    """The schema with each open hierarchy at its finest level whose cells are larger than the noise of a count.

    The noise is that of measuring every column once with the whole budget. Budget, number of rows and declarations are
    public, so the choice says nothing about the data; without a public number of rows it is the finest level.
    """
    names = schema.names if columns is None else columns
    noise = count_noise(limit, adjacency, schema.confirmed_unit, tables=max(1, len(names)))
    return schema.at_levels(schema.visible_levels(rows=rows, noise=noise))


def at_visible_levels(table: Table, limit: PrivacyCurve, columns: Sequence[str] | None) -> Table:
    """The table with hierarchies at the level that noise leaves visible."""
    if table.reopen is None:
        return table
    data = ExactCounts(table, columns)
    # Where the number of rows is private, the number of users may be public; each user has at least one row.
    rows = data.public_units if data.public_rows is None else data.public_rows
    return table.reopen(chosen_levels(table.schema, rows, limit, table.adjacency, columns=columns))


def _time(seconds: float) -> str:
    """Seconds, or minutes from one on.

    >>> _time(95.0), _time(7.3)
    ('1.6 minutes', '7 s')
    """
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.1f} minutes"


@dataclass(frozen=True, kw_only=True)
class SynthesisForecast:
    """The forecast for one epsilon: errors of proportions due to noise, and the least claim of a certificate."""

    epsilon: float
    method: str
    column_error: float
    """Largest error of a cell of a 1-way marginal, if only these are measured."""
    workload_error: float
    """Largest error of Gaussian answers to the whole workload: what a synthesiser is compared with."""
    smallest_claim: float
    """The least error that a certificate can claim, even for rows without any error."""
    seconds: float

    @property
    def verdict(self) -> str:
        """One line on which tables are still accurate with noise of this size."""
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
    """Forecasts of noise for a table of this schema, one for each epsilon.

    >>> from holdfast.data import Categorical
    >>> schema = Schema([Categorical(name, ["x", "y"]) for name in "abc"])
    >>> forecasts = forecast_synthesis(schema, rows=1000, epsilons=[0.1, 1], delta=1e-6)
    >>> [round(forecast.workload_error, 3) for forecast in forecasts]
    [0.101, 0.012]
    """
    require(rows >= 1, "rows", rows, ">= 1")
    unit = schema.confirmed_unit
    queries = Workload.marginals(schema, 3) if workload is None else workload
    queries.check(schema)
    forecasts = []
    for epsilon in epsilons:
        task = SynthesisTask(
            domain=schema.domain,
            workload=queries,
            limit=limit_of(epsilon, delta),
            unit=unit,
            adjacency=resolve_adjacency(adjacency, schema.adjacency),
            rows=rows,
        )
        method = choose_synthesis_method(task).entry
        estimate = estimate_synthesis(task, method=method, rows=rows, certificate_share=CERTIFICATE_SHARE)
        forecasts.append(
            SynthesisForecast(
                epsilon=epsilon,
                method=method.name,
                column_error=_largest_error(estimate.one_way_noise, sum(schema.domain.values()), rows),
                workload_error=_largest_error(estimate.workload_noise, estimate.queries, rows),
                smallest_claim=_claim(estimate),
                seconds=estimate.seconds,
            )
        )
    return tuple(forecasts)


def _largest_error(noise_std: float, cells: int, rows: int) -> float:
    """The median of the largest absolute noise of `cells` cells, as a proportion of the table."""
    quantile = NormalDist().inv_cdf(1 - math.log(2) / (2 * cells))
    return min(1.0, quantile * noise_std / rows)


def _claim(estimate: SynthesisEstimate) -> float:
    return 1.0 if estimate.smallest_claim is None else estimate.smallest_claim


def forecast_lines(forecasts: Sequence[SynthesisForecast]) -> list[str]:
    """The forecasts as lines of a table for a terminal."""
    lines = [
        "Synthetic rows from public quantities only: sizes of noise, not of a model's error.",
        f"{'epsilon':>8}  {'method':<12} {'columns':>9} {'workload':>9} {'claim':>9} {'time':>7}",
    ]
    for forecast in forecasts:
        time = (
            f"{forecast.seconds:.0f} s"
            if forecast.seconds < 100
            else f"{math.ceil(forecast.seconds / 60)} min"
        )
        lines.append(
            f"{forecast.epsilon:>8g}  {forecast.method:<12} {forecast.column_error:>9.3g} "
            f"{forecast.workload_error:>9.3g} {forecast.smallest_claim:>9.3g} {time:>7}  {forecast.verdict}"
        )
    return lines
