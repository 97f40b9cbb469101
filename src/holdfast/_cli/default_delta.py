"""The delta of commands that name none: the same for all, and what fits a ledger, said once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from holdfast.data._table import Table
    from holdfast.privacy._curves.curve import PrivacyCurve

DELTA_OPTION = click.option(
    "--delta",
    type=float,
    help="The promise's delta; default: 1e-6, or less where more than 100,000 rows are public, and what fits the "
    "ledger; 0 for pure privacy.",
)

FORECAST_DELTA_OPTION = click.option(
    "--delta",
    type=float,
    help="The promise's delta; default: 1e-6, or less where more than 100,000 rows are public; 0 for pure privacy.",
)


def delta_or_default(delta: float | None, rows: int | None, *, announce: bool = True) -> float:
    """The delta that was given, else the usual one for that public number of rows, which is said."""
    if delta is not None:
        return delta
    from holdfast.privacy._account.request import default_delta, limit_of

    if announce:
        click.echo(default_delta_notice(limit_of(1.0, None, count=rows)), err=True)
    return default_delta(rows)


def delta_within_ledger(delta: float | None, ledger: Path | None, dataset: str | None) -> float | None:
    """The delta that was given, else one that fits the dataset's limit; None for the usual one, where that fits."""
    if delta is not None or ledger is None or dataset is None:
        return delta
    from holdfast.ledger import Ledger
    from holdfast.privacy._account.request import default_delta

    with Ledger.open(ledger, check="nothing", read_only=True) as opened:
        limit = opened.dataset(dataset).limit
    if limit.as_pure() is not None:
        return 0.0
    point = limit.as_approximate()
    return None if point is None or float(point[1]) >= default_delta() else float(point[1])


def limit_for_table(
    epsilon: float | None, delta: float | None, table: Table, *, delta_is_given: bool
) -> PrivacyCurve | None:
    """The promise that is asked for a table, None for all that is left; a delta that nobody named is said, once."""
    from holdfast.privacy._account.request import limit_of

    if epsilon is None:
        return None
    count = table.public_count()[0] if delta is None and table.adjacency.count_is_public else table.n_public
    limit = limit_of(epsilon, delta, count=count)
    if not delta_is_given:
        click.echo(default_delta_notice(limit), err=True)
    return limit


def default_delta_notice(limit: PrivacyCurve) -> str:
    """One line for a promise whose delta nobody named.

    >>> from holdfast.privacy import ApproxDP
    >>> default_delta_notice(ApproxDP(1.0, 1e-6))
    'delta is 1e-06, which --delta changes: it was not given'
    """
    point = limit.as_approximate()
    delta = 0.0 if point is None else float(point[1])
    return f"delta is {delta:g}, which --delta changes: it was not given"
