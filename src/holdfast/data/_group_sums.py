"""Whole-number sums by groups, over all rows of every unit: what engines compute for private statistics.

A row has an *amount* j, the place of a clipped number on a public grid of whole steps, and lies in one cell of each
*key*. A `GroupSums` asks for some *forms* in each group: sums over its rows of a + b j + c j^2 with whole a, b and c
(and of another whole number where the row has no amount). Everything is a whole number, so every engine gives the same
sums, whatever the order of its additions.

Where a unit owns several rows, its whole contribution, a vector of forms by groups, is scaled to at most
`Weighing.limit` in a norm: a unit's vector is multiplied by a whole number of 2^-shift and each entry is rounded
towards zero, so the norm is within the limit exactly, and nothing about one unit changes what another contributes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes
from holdfast.data._batch import Batch
from holdfast.data._conditions import Condition
from holdfast.data._schema import Numeric, Schema
from holdfast.data._sql.statements import Statements
from holdfast.data._sql.sums import CodedRow, StatementRow
from holdfast.data._table import UnitRows
from holdfast.errors import require

LARGEST_ENTRIES = {1: 2**62, 2: 2**46}
"""By the norm: a larger entry of a unit's contribution is cut before it is weighed, so that every engine has room for
it, and for squares finds their exact root up to 2^104 (4,096 cut entries: 16 billion rows of one unit)."""
WEIGHT_BITS = 30
"""With how many binary digits a unit's weight is computed, where there is room for them."""
Form = tuple[int, int, int, int]
"""What a row adds: the first number where it has no amount, else a + b j + c j^2 with the others."""


class Key(Protocol):
    """By what rows are grouped: each row is in one of `cells` cells."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The declared columns that it reads."""

    def cells(self, schema: Schema) -> int:
        """How many cells there are; a public number."""

    def codes(self, batch: Batch) -> Codes:
        """The cell of each row."""

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """The cell of a row, a whole number."""


@dataclass(frozen=True)
class CellKey:
    """The declared cells of a column."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def cells(self, schema: Schema) -> int:
        """As the schema declares them."""
        return schema[self.column].cells

    def codes(self, batch: Batch) -> Codes:
        """As counts have them."""
        return batch.codes(self.column)

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """As counts have them."""
        return row.cell(self.column)


@dataclass(frozen=True)
class Amount:
    """The nearest of `steps` + 1 places between the bounds of a number, counted from the lower one."""

    column: str
    steps: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def cells(self, schema: Schema) -> int:
        """One for each place."""
        return self.steps + 1

    def codes(self, batch: Batch) -> Codes:
        """floor((x - low) factor + 1/2), in doubles: the same operations in every engine."""
        column = _numeric(batch.schema, self.column)
        places = np.floor((batch.column(self.column) - column.low) * self._factor(column) + 0.5)
        return np.clip(places, 0, self.steps).astype(np.int64)

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """The same operations on doubles."""
        column, number = _numeric(schema, self.column), row.dialect.number
        distance = f"({row.value(self.column)} - {number(column.low)})"
        place = f"floor({distance} * {number(self._factor(column))} + {number(0.5)})"
        return f"least(greatest(CAST({place} AS BIGINT), 0), {self.steps})"

    def _factor(self, column: Numeric) -> float:
        return self.steps / (column.high - column.low)


@dataclass(frozen=True)
class TruthKey:
    """Whether a condition is false (0), true (1) or unknown (2)."""

    condition: Condition

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the condition."""
        return self.condition.columns

    def cells(self, schema: Schema) -> int:
        """Three."""
        return 3

    def codes(self, batch: Batch) -> Codes:
        """From the truth of each row."""
        truth = self.condition.truth(batch)
        return np.where(truth.unknown, 2, truth.true.astype(np.int64))

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """From SQL's three values."""
        test = self.condition.sql(row, schema)
        return f"(CASE WHEN {test} THEN 1 WHEN NOT {test} THEN 0 ELSE 2 END)"


def _numeric(schema: Schema, name: str) -> Numeric:
    column = schema[name]
    assert isinstance(column, Numeric)  # whoever asks has checked it
    return column


@dataclass(frozen=True, kw_only=True)
class Weighing:
    """Each unit's contribution is scaled to at most `limit` in a norm, in multiples of 2^-`bits` of a form's unit."""

    norm: Literal[1, 2]
    limit: int
    bits: int

    def __post_init__(self) -> None:
        require(self.limit >= 1, "limit", self.limit, ">= 1")
        require(self.limit.bit_length() + self.bits <= 62, "limit", self.limit, f"< 2**{62 - self.bits}")

    @property
    def largest_entry(self) -> int:
        """At which entries are cut."""
        return LARGEST_ENTRIES[self.norm]

    @property
    def shift(self) -> int:
        """Weights are whole numbers of 2^-shift."""
        return max(self.bits, min(WEIGHT_BITS, 62 - self.limit.bit_length()))

    def weights(self, norms: Sequence[int]) -> list[int]:
        """The weight of a unit of each norm, 2^shift where the norm is within the limit."""
        full = 1 << self.shift
        return [full if norm <= self.limit else (full * self.limit) // norm for norm in norms]


@dataclass(frozen=True, kw_only=True)
class GroupSums:
    """Sums of whole-number forms by groups. What it gives is exact, hence private.

    `forms` are not negative for any row that could exist. `weighing` is needed where units own several rows.
    """

    keys: tuple[Key, ...] = ()
    forms: tuple[Form, ...]
    amount: Amount | None = None
    where: Condition | None = None
    weighing: Weighing | None = None
    once: bool = False
    """Whether a unit counts once in each group where it has rows, however many."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The declared columns that it reads."""
        names = [name for key in self.keys for name in key.columns]
        names += [] if self.amount is None else self.amount.columns
        names += [] if self.where is None else self.where.columns
        return tuple(dict.fromkeys(names))

    def shape(self, schema: Schema) -> tuple[int, ...]:
        """The cells of each key, then the forms; known before any row is read."""
        return (*(key.cells(schema) for key in self.keys), len(self.forms))

    # In memory.

    def of_rows(self, rows: UnitRows) -> NDArray[Any]:
        """The sums over these rows."""
        batch, schema = rows.batch, rows.batch.schema
        shape = self.shape(schema)
        groups = math.prod(shape[:-1])
        part, cell, moments = self._read(batch)
        if self.weighing is None:
            sums = [_exact_bincount(cell, values, groups) for values in moments]
            return whole_array(self._forms(sums), shape)
        assert rows.owner is not None  # an engine gives it where units own several rows
        return whole_array(self._weighed(rows.owner[part], cell, moments, groups), shape)

    def norms_of_units(self, rows: UnitRows) -> list[int]:
        """The norm of the contribution of each unit that has one."""
        assert self.weighing is not None
        assert rows.owner is not None
        part, cell, moments = self._read(rows.batch)
        groups = math.prod(self.shape(rows.batch.schema)[:-1])
        entries, unit, _ = self.entries(rows.owner[part], cell, moments, groups)
        return unit_norms(entries, unit, norm=self.weighing.norm)

    def _read(self, batch: Batch) -> tuple[NDArray[np.bool_], Codes, list[Codes]]:
        """Which rows take part, and the group and the four moments of each of them."""
        cell = np.zeros(len(batch), dtype=np.int64)
        for key in self.keys:
            cell = cell * key.cells(batch.schema) + key.codes(batch)
        part = np.ones(len(batch), dtype=np.bool_) if self.where is None else self.where.truth(batch).true
        if batch.present is not None:
            part = part & batch.present
        return part, cell[part], self._moments(batch, part)

    def _moments(self, batch: Batch, part: NDArray[np.bool_]) -> list[Codes]:
        """Of each row: whether it has no amount, whether it has one, j and j^2."""
        rows = int(part.sum())
        if self.amount is None:
            nothing = np.zeros(rows, dtype=np.int64)
            return [nothing, np.ones(rows, dtype=np.int64), nothing, nothing]
        place = self.amount.codes(batch)[part]
        missing = batch.without_value(self.amount.column)
        absent = np.zeros(rows, dtype=np.int64) if missing is None else missing[part].astype(np.int64)
        place = place * (1 - absent)
        return [absent, 1 - absent, place, place * place]

    def _forms(self, moments: Sequence[Any]) -> list[Any]:
        """From the sums of the four moments, as Python's whole numbers, to those of the forms."""
        return [
            sum(number * moment for number, moment in zip(form, moments, strict=True) if number)
            for form in self.forms
        ]

    def _weighed(
        self, owner: Codes, cell: Codes, moments: Sequence[Codes], groups: int
    ) -> list[NDArray[Any]]:
        """The sums of what each unit contributes after it is weighed."""
        assert self.weighing is not None
        entries, unit, place = self.entries(owner, cell, moments, groups)
        norms = unit_norms(entries, unit, norm=self.weighing.norm)
        weight = np.array(self.weighing.weights(norms), dtype=np.int64)[unit]
        down = self.weighing.shift - self.weighing.bits
        return [_exact_bincount(place, (entry * weight) >> down, groups) for entry in entries]

    def entries(
        self, owner: Codes, cell: Codes, moments: Sequence[Codes], groups: int
    ) -> tuple[list[Codes], Codes, Codes]:
        """Of each unit in each group where it has rows: the sum of each form, the unit's number, and the group's."""
        pair, index = np.unique(owner * groups + cell, return_inverse=True)
        sums = self._forms([_exact_bincount(index, values, len(pair)) for values in moments])
        assert self.weighing is not None
        most = 1 if self.once else self.weighing.largest_entry
        entries = [np.minimum(entry, most).astype(np.int64) for entry in sums]
        _, unit = np.unique(pair // groups, return_inverse=True)
        return entries, unit.astype(np.int64), pair % groups

    # In SQL.

    def statement(self, statements: Statements) -> str:
        """One query: at most three GROUP BY and one join, no window, and a row for each group that has rows."""
        keys = [f"g{place}" for place in range(len(self.keys))]
        if self.weighing is None:
            totals = [
                f"{statements.dialect.total.format(value)} AS m{place}"
                for place, value in enumerate(_MOMENTS)
            ]
            grouped = _select([*keys, *totals], statements, self._rows(statements), by=keys)
            fields = [
                *keys,
                *(f"{_text(sql, statements)} AS f{i}" for i, sql in enumerate(self._form_sums())),
            ]
            return _select(fields, statements, grouped)
        weighing, contributions = self.weighing, self.contributions(statements)
        full, down = 1 << weighing.shift, 1 << (weighing.shift - weighing.bits)
        limited = statements.dialect.whole_quotient.format(f"{full * weighing.limit}", "n")
        weights = (
            f"SELECT u, CASE WHEN n <= {weighing.limit} THEN {full} ELSE {limited} END AS w "
            f"FROM ({self.norms(statements, 'SELECT * FROM parts')}) AS q"
        )
        parts = [
            statements.dialect.total.format(statements.dialect.whole_quotient.format(f"f{i} * w", str(down)))
            for i in range(len(self.forms))
        ]
        fields = [*keys, *(f"{_text(part, statements)} AS f{i}" for i, part in enumerate(parts))]
        shared = f"WITH parts {statements.dialect.computed_once} ({contributions})"
        return f"{shared} SELECT {', '.join(fields)} FROM parts JOIN ({weights}) AS w USING (u){_by(keys)}"

    def contributions(self, statements: Statements) -> str:
        """A row for each unit and group: the sums of the forms as 64-bit whole numbers."""
        keys = ["u", *(f"g{place}" for place in range(len(self.keys)))]
        totals = [
            f"{statements.dialect.total.format(value)} AS m{place}" for place, value in enumerate(_MOMENTS)
        ]
        grouped = _select([*keys, *totals], statements, self._rows(statements), by=keys)
        assert self.weighing is not None
        most = 1 if self.once else self.weighing.largest_entry
        cut = [f"CAST(least({sql}, {most}) AS BIGINT) AS f{i}" for i, sql in enumerate(self._form_sums())]
        return _select([*keys, *cut], statements, grouped)

    def norms(self, statements: Statements, contributions: str) -> str:
        """A row for each unit: the norm of its contribution as a whole number, rounded up."""
        assert self.weighing is not None
        wide = statements.dialect.wide
        forms = [wide.format(f"f{i}") for i in range(len(self.forms))]
        if self.weighing.norm == 1:
            total = f"sum({' + '.join(forms)}) AS n"
            return f"SELECT u, {total} FROM ({contributions}) AS q GROUP BY u"
        square = f"sum({' + '.join(f'{form} * {form}' for form in forms)}) AS s"
        squares = f"SELECT u, {square} FROM ({contributions}) AS q GROUP BY u"
        return f"SELECT u, {statements.dialect.least_root('s')} AS n FROM ({squares}) AS q"

    def _rows(self, statements: Statements) -> str:
        """A row for each row that takes part: its unit, its cells, and the four moments."""
        row, schema = StatementRow(statements), statements.schema
        fields = [f"{key.sql(row, schema)} AS g{place}" for place, key in enumerate(self.keys)]
        if self.weighing is not None:
            fields.append(f"{statements.unit_text} AS u")
        absent, place = "0", "0"
        if self.amount is not None:
            missing = row.without_value(self.amount.column)
            place = self.amount.sql(row, schema)
            if missing is not None:
                absent, place = (
                    f"CASE WHEN {missing} THEN {value} END" for value in ("1 ELSE 0", f"0 ELSE {place}")
                )
        fields += [f"{absent} AS absent", f"{place} AS j"]
        test = "" if self.where is None else f" WHERE {self.where.sql(row, schema)}"
        read = statements.all_rows(self.columns)
        return f"SELECT {', '.join(fields)} FROM ({read}{statements.dialect.fence}) AS q{test}"

    def _form_sums(self) -> list[str]:
        return [
            " + ".join(f"{number} * m{place}" for place, number in enumerate(form) if number) or "0"
            for form in self.forms
        ]

    def of_answer(self, schema: Schema, batches: Iterable[Any]) -> NDArray[Any]:
        """The sums from the rows of the answer; groups that are not among them hold 0."""
        shape = self.shape(schema)
        total = np.zeros((math.prod(shape[:-1]), shape[-1]), dtype=np.int64)
        for batch in batches:
            columns = batch.columns
            cell = np.zeros(batch.num_rows, dtype=np.int64)
            for place, cells in enumerate(shape[:-1]):
                cell = cell * cells + columns[place].to_numpy(zero_copy_only=False).astype(np.int64)
            for form in range(shape[-1]):
                values = _whole_texts(columns[len(shape) - 1 + form])
                if values.dtype == object and total.dtype != object:
                    total = total.astype(object)
                total[cell, form] = values
        return total.reshape(shape)


@dataclass(frozen=True, kw_only=True)
class UnitsAbove:
    """How many units have a contribution to `sums` whose norm is above each threshold. Exact, hence private."""

    sums: GroupSums
    thresholds: tuple[int, ...]

    def of_rows(self, rows: UnitRows) -> NDArray[np.int64]:
        """From rows in memory."""
        norms = np.array(self.sums.norms_of_units(rows), dtype=object)
        return np.array([int(np.sum(norms > limit)) if len(norms) else 0 for limit in self.thresholds])

    def statement(self, statements: Statements) -> str:
        """Two GROUP BY; one row."""
        norms = self.sums.norms(statements, self.sums.contributions(statements))
        counted = [
            f"{_text(f'sum(CASE WHEN n > {limit} THEN 1 ELSE 0 END)', statements)} AS a{place}"
            for place, limit in enumerate(self.thresholds)
        ]
        return f"SELECT {', '.join(counted)} FROM ({norms}) AS q"

    def of_answer(self, schema: Schema, batches: Iterable[Any]) -> NDArray[np.int64]:
        """From the one row."""
        (batch,) = (batch for batch in batches if batch.num_rows)
        return np.array([int(column[0].as_py()) for column in batch.columns], dtype=np.int64)


_MOMENTS = ("absent", "1 - absent", "j", "j * j")


def unit_norms(entries: Sequence[Codes], unit: Codes, *, norm: int) -> list[int]:
    """The norm of each unit's vector as a whole number, rounded up.

    >>> unit_norms([np.array([3, 1]), np.array([4, 1])], np.array([0, 1]), norm=2)
    [5, 2]
    """
    units = int(unit.max(initial=-1)) + 1
    if norm == 1:
        sums = [_exact_bincount(unit, entry, units) for entry in entries]
        return [sum(int(part[place]) for part in sums) for place in range(units)]
    squares = [0] * units
    for entry in entries:
        for place, value in zip(unit.tolist(), entry.tolist(), strict=True):
            squares[place] += value * value
    return [math.isqrt(square - 1) + 1 if square else 0 for square in squares]


def whole_array(sums: Sequence[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Sums for each form, side by side, in 64 bits where all of them fit."""
    listed = [np.broadcast_to(np.asarray(part), (math.prod(shape[:-1]),)) for part in sums]
    return np.stack(listed, axis=-1).reshape(shape)


def _exact_bincount(place: Codes, values: Codes, size: int) -> NDArray[Any]:
    """Sums of whole numbers below 2^63 by place, without rounding and without wrapping."""
    if not values.size or int(values.max()) * values.size < 2**53:  # then doubles hold every partial sum
        return np.bincount(place, weights=values, minlength=size).astype(np.int64)
    low = np.bincount(place, weights=values & 0x1FFFFF, minlength=size).astype(np.int64)
    middle = np.bincount(place, weights=(values >> 21) & 0x1FFFFF, minlength=size).astype(np.int64)
    high = np.bincount(place, weights=values >> 42, minlength=size).astype(np.int64)
    if int(high.max(initial=0)) >= 2**20:
        low, middle, high = (part.astype(object) for part in (low, middle, high))
    return np.asarray((high << 42) + (middle << 21) + low)


def _whole_texts(column: Any) -> NDArray[Any]:
    """Whole numbers written out, in 64 bits where all of them fit."""
    import pyarrow as pa

    try:
        return np.asarray(column.cast(pa.int64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return np.array([int(text) for text in column.to_pylist()], dtype=object)


def _text(value: str, statements: Statements) -> str:
    return f"CAST(coalesce({value}, 0) AS {statements.dialect.text})"


def _by(keys: Sequence[str]) -> str:
    return f" GROUP BY {', '.join(keys)}" if keys else ""


def _select(fields: Sequence[str], statements: Statements, source: str, *, by: Sequence[str] = ()) -> str:
    return f"SELECT {', '.join(fields)} FROM ({source}{statements.dialect.fence}) AS q{_by(by)}"
