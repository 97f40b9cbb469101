"""DateTime: a date or a time between two declared ones, counted in a declared unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from holdfast._arguments import checked
from holdfast.data._schema.bins import MOST_BINS
from holdfast.data._schema.calendar import (
    DAILY,
    ISO,
    UNITS,
    name_of,
    number_of,
    pattern_of,
    read_moment,
    starts,
    unit_of_seconds,
)
from holdfast.data._schema.columns import DEFAULT_BINS, Numeric, declared_options
from holdfast.errors import require

#: Without declared bins, cells are the finest calendar unit of which there are at most so many.
MOST_DEFAULT_CELLS = 60
_WORDS = ("low", "high", "midpoint", "category")


@checked
@dataclass(frozen=True)
class DateTime(Numeric):
    """A moment that matters only between two declared ones; earlier and later ones are clipped to them.

    Dates and timestamps are read as such (UTC), texts in the declared `format` or as ISO 8601; a text means the
    time that it shows, whatever offset it names. What cannot be read is missing. Inside, a moment is the number
    of units since 1970, a whole number like any other.

    Parameters
    ----------
    name : str
        The name of the column.
    low, high : str, date or datetime
        The earliest and the latest moment that is told apart; both are public and must not be read from the
        data.
    bins : int, str or sequence, optional
        The cells of counts: a coarser unit (`"month"`), a number, or edges. Without them, each unit is a cell
        if there are at most 100, else the finest calendar unit of which there are at most 60.
    null : str or moment
        What a missing moment becomes: `"low"`, `"high"`, `"midpoint"`, a moment within the bounds, or
        `"category"`.
    taken_from_data : bool
        Whether the bounds were read from the data, as in a draft: then they are carried as an assumption.
    nulls : sequence of str or number
        Values that mean a missing moment.
    spacing, smallest, decimals, written_as
        As in `Numeric`; moments have equal spacing.
    dtype : str, optional
        How synthetic values are stored: an Arrow type.
    unit : {'year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'}
        How finely a moment is told.
    format : str
        How texts are written.

    Examples
    --------
    >>> sold = DateTime("sold", "2024-01-01", "2024-06-30", bins="quarter")
    >>> sold.labels, sold.high - sold.low
    (('2024-Q1', '2024-Q2'), 181.0)
    >>> DateTime("shift", "2024-01-01 06:00", "2024-01-01 09:00", unit="hour", null="category").labels[-2:]
    ('2024-01-01 09:00', '(missing)')
    """

    kind: ClassVar[str] = "datetime"
    low: Any
    high: Any
    bins: Any = None
    null: Any = "midpoint"
    integer: bool = field(default=True, init=False)
    unit: str = "day"
    format: str = ISO

    def __post_init__(self) -> None:
        require(self.unit in UNITS, "unit", self.unit, f"one of {UNITS}")
        pattern_of(self.format)
        for parameter in ("low", "high"):
            object.__setattr__(self, parameter, number_of(getattr(self, parameter), self.unit))
        if self.null not in _WORDS:
            object.__setattr__(self, "null", number_of(self.null, self.unit))
        for name in ("spacing", "smallest", "decimals", "written_as"):
            given = getattr(self, name)
            plain = given in (None, "equal")
            require(plain, name, given, "left out in a column of dates, whose texts are declared by format")
        read = [
            marker if isinstance(marker, float) else read_moment(marker, self.unit, self.format)
            for marker in self.nulls
        ]
        object.__setattr__(self, "nulls", tuple(marker for marker in read if marker == marker))
        bins, calendar = self.bins, isinstance(self.bins, str)
        if calendar:
            coarser = bins in UNITS and UNITS.index(str(bins)) <= UNITS.index(self.unit)
            require(coarser, "bins", bins, f"a unit that is not finer than {self.unit!r}, a number, or edges")
            object.__setattr__(self, "bins", None)
        elif isinstance(bins, Sequence):
            object.__setattr__(self, "bins", tuple(number_of(edge, self.unit) for edge in bins))
        super().__post_init__()
        if calendar:
            object.__setattr__(self, "bins", bins)
            few = len(self._inner(str(bins))) < MOST_BINS
            require(few, "bins", bins, f"a unit of which there are at most {MOST_BINS} between low and high")

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The borders of the cells, in units; the last one lies behind `high`."""
        end = self.high + 1
        if isinstance(self.bins, tuple):
            return (*self.bins[:-1], end)
        if isinstance(self.bins, int):
            inner = {
                self.low + float(round((end - self.low) * step / self.bins)) for step in range(1, self.bins)
            }
            return (self.low, *sorted(inner - {self.low, end}), end)
        if self._period is not None:
            return (self.low, *self._inner(self._period), end)
        inner = {
            self.low + float(round((end - self.low) * step / DEFAULT_BINS)) for step in range(1, DEFAULT_BINS)
        }
        return (self.low, *sorted(inner - {self.low, end}), end)

    @cached_property
    def _period(self) -> str | None:
        """The calendar unit that cells are, if they are one."""
        if isinstance(self.bins, str):
            return self.bins
        if self.bins is not None:
            return None
        if self.high - self.low < 100:
            return self.unit
        finer_first = reversed(UNITS[: UNITS.index(self.unit)])
        return next((unit for unit in finer_first if len(self._inner(unit)) < MOST_DEFAULT_CELLS), None)

    def _inner(self, period: str) -> list[float]:
        """Where a new period begins, after `low`; as few numbers as there are periods, and no more."""
        first, last = self._periods([self.low, self.high], period)
        if last - first > MOST_BINS:
            return [0.0] * MOST_BINS
        begins = starts(np.arange(first + 1, last + 1), period)
        inner = unit_of_seconds(begins.astype(np.int64), self.unit)
        edges: list[float] = inner[(self.low < inner) & (inner <= self.high)].tolist()
        return edges

    def _periods(self, numbers: Sequence[float], period: str) -> list[float]:
        """The period in which each unit begins."""
        periods: list[float] = unit_of_seconds(starts(numbers, self.unit).astype(np.int64), period).tolist()
        return periods

    @property
    def _one_cell_per_value(self) -> bool:
        return bool(len(self.edges) - 1 == self.high - self.low + 1)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The cells in words, in order."""
        if self._period is not None:
            labels = [name_of(first, self._period) for first in self._periods(self.edges[:-1], self._period)]
        elif self._one_cell_per_value:
            labels = [self.word(edge) for edge in self.edges[:-1]]
        else:
            labels = [f"[{self.word(a)}, {self.word(b)})" for a, b in pairwise(self.edges)]
        return (*labels, "(missing)") if self.has_null_cell else tuple(labels)

    @cached_property
    def midpoints(self) -> tuple[float, ...]:
        """One unit for each cell, in its middle."""
        middles = [a + float((b - a - 1) // 2) for a, b in pairwise(self.edges)]
        return (*middles, self.fill) if self.has_null_cell else tuple(middles)

    def word(self, edge: float) -> str:
        """The border `edge` of a cell as people read it."""
        return name_of(edge, self.unit)

    def stored_value(self, number: float) -> Any:
        """The first moment of a unit: a date, or a datetime where the unit is finer than a day."""
        moment = starts([number], self.unit)[0].item()
        return moment.date() if self.unit in DAILY else moment

    def _moment_text(self, number: float) -> str:
        return str(starts([number], self.unit)[0]).replace("T", " ")[: 10 if self.unit in DAILY else 19]

    def to_dict(self) -> dict[str, Any]:
        """The declaration as plain values, for files."""
        record: dict[str, Any] = {"name": self.name, "kind": self.kind}
        record |= {
            "low": self._moment_text(self.low),
            "high": self._moment_text(self.high),
            "unit": self.unit,
        }
        if self.format != ISO:
            record["format"] = self.format
        if self.bins is not None:
            tupled = isinstance(self.bins, tuple)
            record["bins"] = [self._moment_text(edge) for edge in self.bins] if tupled else self.bins
        record["null"] = self._moment_text(self.null) if isinstance(self.null, float) else self.null
        if self.nulls:
            record["nulls"] = [self._moment_text(float(marker)) for marker in self.nulls]
        return record | declared_options(self, ("taken_from_data", "dtype"))

    def describe(self) -> str:
        """The declaration in words."""
        missing = {"category": "its own cell"}.get(str(self.null), self.word(self.fill))
        written = "" if self.format == ISO else f", written {self.format}"
        return (
            f"{self.name}: {self.unit} from {self.word(self.low)} to {self.word(self.high)}{written}, "
            f"{self.cells} cells; missing -> {missing}"
        )
