"""Released statistics with their intervals as a section of the record, read off the release alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.dossier._section import Section

STATISTICS_FORMAT = "holdfast-statistics/1"
MOST_DRAWN_STATISTICS = 24


@dataclass(frozen=True, kw_only=True)
class StatisticValue(Section):
    """One number of one group, and the interval of the table's own value; None where nothing was learnt."""

    name: str
    value: float | None
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class StatisticsUtility(Section):
    """A table of statistics."""

    kind: Literal["statistics"] = "statistics"
    what: str
    level: float
    drawn: str
    """The column that is drawn, group by group."""
    rows: tuple[StatisticValue, ...]
    left_out: int


def statistics_utility(value: Any, *, most_rows: int) -> StatisticsUtility | None:
    """Statistics that `answer` released: the first numbers of the first grouping come first."""
    if not isinstance(value, Mapping) or value.get("format") != STATISTICS_FORMAT:
        return None
    from holdfast.statistics._contents import read_contents

    tables, level, _ = read_contents(value)
    grouped = sorted(tables, key=lambda table: not table.keys)
    rows = []
    for table in grouped:
        groups = [", ".join(group) for group in zip(*table.key_columns().values(), strict=True)] or [
            "all rows"
        ]
        for column in table.columns:
            for group, number, low, high in zip(groups, column.value, column.low, column.high, strict=True):
                known = None if math.isnan(number) else float(number)
                rows.append(
                    StatisticValue(
                        name=f"{column.name}: {group}", value=known, low=float(low), high=float(high)
                    )
                )
    numbers, groupings = len(rows), len(tables)
    return StatisticsUtility(
        what=f"{numbers} statistics in {groupings} table{'s' * (groupings > 1)}, each with an interval",
        level=level,
        drawn=next((table.columns[0].name for table in grouped if table.columns), ""),
        rows=tuple(rows[:most_rows]),
        left_out=max(0, numbers - most_rows),
    )
