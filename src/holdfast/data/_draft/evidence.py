"""What the values of one column are, before something is guessed: each that differs once, and how often it is there.

Everything here is done for whole columns at once; a Python object is made of a value only where few of them differ.
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

#: So many texts, evenly spaced among those that differ, are looked at one by one to see what a column may be; what it
#: is, is then counted over all of them.
MOST_PROBED_VALUES = 300
NUMBERS = (Kind.integer, Kind.floating, Kind.decimal)
MOMENTS = (Kind.date, Kind.timestamp, Kind.zoned)


@dataclass(kw_only=True)
class Evidence:
    """What is known of a column before something is guessed."""

    name: str
    values: Any
    dtype: Any = None
    decimal: str = "."
    target: bool = False
    written_as: str | None = None
    order: Sequence[str] = ()
    """The texts in the order that the storage declares, where it does."""
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
            differing, times = np.unique(whole, return_counts=True)
            self._whole: Any = differing
        else:
            read = numbers(self.values)
            differing, times = np.unique(read[~np.isnan(read)], return_counts=True)
            self._whole = None
        self.numbers: Floats = differing.astype(np.float64)
        self.times: NDArray[np.int64] = times.astype(np.int64)

    def _count_seconds(self) -> None:
        """Moments that are stored as such are numbers of seconds here."""
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
        """The texts that differ, as an Arrow array; whole numbers as they are written."""
        return self.texts_at(slice(None))

    def texts_at(self, places: slice) -> Any:
        """Some of the texts that differ: to write millions of numbers takes memory."""
        if self.kind not in (*NUMBERS, *MOMENTS):
            return self._texts[places]
        import pyarrow as pa

        if self._whole is not None:
            return pa.array(self._whole[places]).cast(pa.large_string())
        return texts(pa.array(self.numbers[places]))

    @cached_property
    def counted(self) -> dict[str, int]:
        """The texts that differ, and how often each is there."""
        return dict(zip(self.words.to_pylist(), self.times.tolist(), strict=True))

    @cached_property
    def probe(self) -> list[str]:
        """Some of the texts, without the blanks around them."""
        step = max(1, -(-self.distinct // MOST_PROBED_VALUES))
        return [str(word).strip(BLANKS) for word in self.texts_at(slice(None, None, step)).to_pylist()]

    @property
    def distinct(self) -> int:
        """How many values differ."""
        return len(self.times)

    @property
    def found(self) -> int:
        """How many values are not missing."""
        return int(self.times.sum())

    @property
    def share(self) -> float:
        """How many values differ, for each that is there."""
        return self.distinct / max(1, self.found)

    @cached_property
    def finite(self) -> NDArray[np.bool_]:
        """Which of the values that differ are numbers."""
        return np.isfinite(self.numbers)

    @property
    def read(self) -> int:
        """How many values are numbers."""
        return int(self.times[self.finite].sum())

    @cached_property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return bool(self.finite.all()) and bool(np.all(self.numbers == np.floor(self.numbers)))

    def without(self, marked: NDArray[np.bool_]) -> int:
        """Take these of the differing values for missing; how many they are."""
        gone = int(self.times[marked].sum())
        self._keep(~marked)
        self.missing += gone
        return gone

    def less(self, marked: NDArray[np.bool_]) -> Evidence:
        """The same column with these of the differing values missing."""
        rest = copy(self)
        rest.reasons = list(self.reasons)
        rest.without(marked)
        return rest

    def _keep(self, good: NDArray[np.bool_]) -> None:
        self.times, self.numbers = self.times[good], self.numbers[good]
        if self.kind in (*NUMBERS, *MOMENTS):
            self._whole = None if self._whole is None else self._whole[good]
        else:
            self._texts = self._texts.filter(good)
        for name in ("counted", "probe", "finite", "whole"):
            self.__dict__.pop(name, None)

    def say(self, reason: str) -> None:
        """Add what a guess rests on."""
        self.reasons.append(reason)
