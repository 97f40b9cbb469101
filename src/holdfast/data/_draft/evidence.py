"""The values of one column, for guesses: each distinct value with its number of rows.

Whole columns are processed at once; Python objects are made only of few distinct values.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._engines.file_rows import as_decimal_points
from holdfast.data._mixed import MixedColumn
from holdfast.data._moments import moment_numbers
from holdfast.data._readings import numbers, plain_array, texts
from holdfast.data._schema import DateTime
from holdfast.data._schema.spelling import BLANKS
from holdfast.data._storage_kinds import Kind, kind_of

#: How many distinct texts, evenly spaced, are looked at one by one to find what a column may be; this is then counted
#: over all of them.
MOST_PROBED_VALUES = 300
NUMBERS = (Kind.integer, Kind.floating, Kind.decimal)
MOMENTS = (Kind.date, Kind.timestamp, Kind.zoned)


@dataclass(kw_only=True)
class Evidence:
    """What is known about a column before its kind is guessed."""

    name: str
    values: Any
    dtype: Any = None
    decimal: str = "."
    target: bool = False
    written_as: str | None = None
    order: Sequence[str] = ()
    """The texts in the order that the storage declares, as for enumerations."""
    blanks: bool = False
    """Whether there are blanks around a mark of a missing value."""
    reasons: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mixed = isinstance(self.values, MixedColumn)
        self.kind = Kind.text if self.mixed else kind_of(self.values.type)
        self.rows = len(self.values)
        if self.kind in NUMBERS:
            self._count_numbers()
        elif self.kind in MOMENTS:
            self._count_seconds()
        else:
            self._count_texts()
        self.missing = self.rows - int(self.times.sum())

    def _count_numbers(self) -> None:
        if self.kind is Kind.integer:
            import pyarrow.compute as pc

            whole = pc.drop_null(plain_array(self.values)).to_numpy(zero_copy_only=False)
            distinct, times = np.unique(whole, return_counts=True)
            self._whole: Any = distinct
        else:
            read = numbers(self.values)
            distinct, times = np.unique(read[~np.isnan(read)], return_counts=True)
            self._whole = None
        self.numbers: Floats = distinct.astype(np.float64)
        self.times: NDArray[np.int64] = times.astype(np.int64)

    def _count_seconds(self) -> None:
        """Count stored moments as numbers of seconds."""
        read = moment_numbers(DateTime(self.name, 0, 1, unit="second"), self.values)
        self.numbers, times = np.unique(read[~np.isnan(read)], return_counts=True)
        self.times, self._whole = times.astype(np.int64), None

    def _count_texts(self) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        # A column that is stored as codes of texts is counted by its codes.
        coded = texts(self.values) if self.mixed else self.values
        if not pa.types.is_string(coded.type) and not pa.types.is_large_string(coded.type):
            coded = texts(self.values)
        counted = pc.value_counts(coded)
        labels, times = counted.field("values").cast(pa.large_string()), counted.field("counts")
        good = pc.fill_null(pc.invert(pc.match_substring(labels, pattern="\0")), False)
        self._texts: Any = labels.filter(good)
        self.times = times.filter(good).to_numpy(zero_copy_only=False).astype(np.int64)
        if self.mixed:
            place = pc.index_in(self._texts, value_set=self.values.texts)
            self.numbers = self.values.numbers[place.to_numpy(zero_copy_only=False)]
        else:
            self.numbers = self._numbers_of_texts()

    def _numbers_of_texts(self) -> Floats:
        if self.kind is not Kind.text:
            return np.full(self.distinct, np.nan)
        return numbers(as_decimal_points(self._texts) if self.decimal == "," else self._texts)

    @property
    def words(self) -> Any:
        """The distinct texts as an Arrow array; whole numbers as they are written."""
        return self.texts_at(slice(None))

    def texts_at(self, places: slice) -> Any:
        """Some of the distinct texts; writing millions of numbers as texts would take memory."""
        if self.kind not in (*NUMBERS, *MOMENTS):
            return self._texts[places]
        import pyarrow as pa

        if self._whole is not None:
            return pa.array(self._whole[places]).cast(pa.large_string())
        return texts(pa.array(self.numbers[places]))

    @cached_property
    def text_counts(self) -> dict[str, int]:
        """The distinct texts, and how many rows each has."""
        return dict(zip(self.words.to_pylist(), self.times.tolist(), strict=True))

    @cached_property
    def probe(self) -> list[str]:
        """At most `MOST_PROBED_VALUES` of the distinct texts, without the blanks around them."""
        step = max(1, -(-self.distinct // MOST_PROBED_VALUES))
        return [str(word).strip(BLANKS) for word in self.texts_at(slice(None, None, step)).to_pylist()]

    @property
    def distinct(self) -> int:
        """How many distinct values there are."""
        return len(self.times)

    @property
    def present(self) -> int:
        """How many values are not missing."""
        return int(self.times.sum())

    @property
    def share(self) -> float:
        """The number of distinct values divided by the number of present ones."""
        return self.distinct / max(1, self.present)

    @cached_property
    def finite(self) -> NDArray[np.bool_]:
        """Which of the distinct values are numbers."""
        return np.isfinite(self.numbers)

    @property
    def read(self) -> int:
        """How many values are numbers."""
        return int(self.times[self.finite].sum())

    @cached_property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return bool(self.finite.all()) and bool(np.all(self.numbers == np.floor(self.numbers)))

    def count_as_missing(self, marked: NDArray[np.bool_]) -> int:
        """Count these distinct values as missing; returns how many rows they have."""
        gone = int(self.times[marked].sum())
        self._keep(~marked)
        self.missing += gone
        return gone

    def copy_without(self, marked: NDArray[np.bool_]) -> Evidence:
        """A copy of the column in which these distinct values count as missing."""
        rest = copy(self)
        rest.reasons = list(self.reasons)
        rest.count_as_missing(marked)
        return rest

    def _keep(self, good: NDArray[np.bool_]) -> None:
        self.times, self.numbers = self.times[good], self.numbers[good]
        if self.kind in (*NUMBERS, *MOMENTS):
            self._whole = None if self._whole is None else self._whole[good]
        else:
            self._texts = self._texts.filter(good)
        for name in ("text_counts", "probe", "finite", "whole"):
            self.__dict__.pop(name, None)

    def add_reason(self, reason: str) -> None:
        """Add a reason of the guess."""
        self.reasons.append(reason)
