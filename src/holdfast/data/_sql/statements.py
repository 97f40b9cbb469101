"""The statements that every SQL engine runs: rows in an order, the rows that are kept of each user, and counts.

Statements are built in layers, each a SELECT over the one below. Data columns enter the lowest layer under
generated names, so that a hostile column name has to be quoted in one place only. For column number I these names are
`cI` for the raw value, `dI` for the digits of a moment, `rI` for the number or text that is read, `vI` for the clipped
value or code, and `kI` for the cell; `p` is a position by which rows differ.

Counts come back as the rows of a GROUPING SETS query and become tables with zeros in empty cells here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Codes
from holdfast.data._order import DIGITS, KeyedHash, Order, PerRecordBatches, Shuffled
from holdfast.data._schema import Categorical, DateTime, Identifier, Numeric, Schema
from holdfast.data._schema.kinds import Column
from holdfast.data._sql.dialect import Dialect
from holdfast.data._storage_kinds import Kind

BATCH_DIGITS = 15


@dataclass(frozen=True, kw_only=True)
class Statements:
    """Statements over one stored table.

    `source` is what follows FROM, `position` an expression that differs between any two rows,
    `kinds` how each column is stored, and `key` the random key that chooses among a user's rows. `kept` is the
    table of the rows that are kept of each user, where an engine has made one (`kept_part`).
    """

    schema: Schema
    dialect: Dialect
    source: str
    position: str
    kinds: Mapping[str, Kind]
    key: bytes
    kept_rows_table: str | None = None

    def _column(self, name: str) -> tuple[int, Column]:
        return next((i, column) for i, column in enumerate(self.schema.columns) if column.name == name)

    def _over(self, query: str) -> str:
        """What follows FROM in a layer over this query. Some planners must be kept from merging the two."""
        return f"({query}{self.dialect.fence}) AS q"

    def _raw(self, names: Iterable[str]) -> str:
        fields = [f"{self.dialect.identifier(name)} AS c{self._column(name)[0]}" for name in names]
        return f"SELECT {', '.join([*fields, f'{self.position} AS p'])} FROM {self.source}"

    def _read(self, name: str) -> str:
        """`rI`: a double for numeric columns and for categories stored as numbers, a text otherwise."""
        i, column = self._column(name)
        kind = self.kinds[name]
        if isinstance(column, DateTime):
            return f"{self.dialect.without_markers(column, self.dialect.moment(column, f'd{i}'))} AS r{i}"
        if self.reads_number(name):
            number = self._number(name)
            return f"{self.dialect.without_markers(column, number) if isinstance(column, Numeric) else number} AS r{i}"
        text = self.dialect.read_text(f"c{i}", kind)
        if isinstance(column, Categorical):
            text = self.dialect.canonical_text(column, text)
        if isinstance(column, Identifier):
            text = f"coalesce('v' || {text}, 'n')"
        return f"{text} AS r{i}"

    def _number(self, name: str) -> str:
        """A stored value as a double, as its column declares that it is written."""
        i, column = self._column(name)
        if isinstance(column, Numeric):
            return self.dialect.read_amount(column, f"c{i}", self.kinds[name])
        return self.dialect.read_number(f"c{i}", self.kinds[name])

    def reads_number(self, name: str) -> bool:
        """Whether a stored value is read as a double; a moment is read as a text first."""
        column = self._column(name)[1]
        stored_number = self.kinds[name] in (Kind.floating, Kind.decimal)
        number = isinstance(column, Numeric) and not isinstance(column, DateTime)
        return number or (isinstance(column, Categorical) and stored_number)

    def _value(self, name: str) -> str:
        """`vI`: the clipped number or the code."""
        i, column = self._column(name)
        if isinstance(column, Numeric):
            return f"{self.dialect.clip(column, f'r{i}')} AS v{i}"
        if isinstance(column, Categorical):
            return f"{self.dialect.category_cell(column, f'r{i}', self.kinds[name])} AS v{i}"
        return f"r{i} AS v{i}"

    def _cell(self, name: str) -> str:
        """`kI`: the cell in a count."""
        i, column = self._column(name)
        if isinstance(column, Numeric):
            return f"{self.dialect.numeric_cell(column, f'v{i}', f'r{i}')} AS k{i}"
        return f"v{i} AS k{i}"

    def _values(self, names: Sequence[str], source: str) -> str:
        dated = [
            (place, column) for place, column in map(self._column, names) if isinstance(column, DateTime)
        ]
        if dated:
            digits = [
                f"{self.dialect.moment_digits(column, f'c{i}', self.kinds[column.name])} AS d{i}"
                for i, column in dated
            ]
            source = f"SELECT {', '.join(['*', *digits])} FROM {self._over(source)}"
        read = ", ".join(["*", *map(self._read, names)])
        value = ", ".join(["*", *map(self._value, names)])
        return f"SELECT {value} FROM {self._over(f'SELECT {read} FROM {self._over(source)}')}"

    @property
    def bounds_users(self) -> bool:
        """Whether the privacy unit is a user, of whom only so many rows are kept."""
        return self.schema.confirmed_unit.column is not None

    def kept_part(self, part: int, parts: int) -> str:
        """The rows that are kept of one part of the users; ranking all rows at once would not fit into memory."""
        return self._kept_rows([*self.schema.names, *self.schema.identifiers], part, parts)

    def _kept_rows(self, names: Sequence[str], part: int = 0, parts: int = 1) -> str:
        """These columns of the rows that are kept of each user (`keep_rows`), with the user `u` and the slot."""
        if self.kept_rows_table is not None:
            listed = ", ".join([*(f"c{self._column(name)[0]}" for name in names), "u", "slot", "p"])
            return f"SELECT {listed} FROM {self.kept_rows_table}"
        unit = self.schema.confirmed_unit
        every = [*self.schema.names, *self.schema.identifiers]
        owner = f"r{self._column(str(unit.column))[0]}"
        fields = [f"c{self._column(name)[0]}" for name in names]
        ties = []
        for name in every:
            i, column = self._column(name)
            ties.append(f"v{i}")
            if isinstance(column, Numeric) and column.has_null_cell:
                ties.append(f"(r{i} IS NULL)")
        # Last: whether values are undeclared, so that this decides only between rows that are otherwise equal.
        ties += filter(None, map(self._undeclared_test, self.schema.names))
        placed = (
            f"SELECT {', '.join([*fields, f'{owner} AS u'])}, "
            f"row_number() OVER (PARTITION BY {owner} ORDER BY {', '.join(ties)}) AS place "
            f"FROM {self._over(self._values(every, self._raw(every)))}"
            f"{f' WHERE {self.dialect.in_part.format(owner, parts, part)}' if parts > 1 else ''}"
        )
        hashed = f"left({self.dialect.keyed_hash(self.key, self._concatenate('place', 'u'))}, {DIGITS})"
        slotted = f"SELECT *, row_number() OVER (PARTITION BY u ORDER BY {hashed}) AS slot FROM {self._over(placed)}"
        listed = ", ".join([*fields, "u", "slot", f"{self._concatenate('slot', 'u')} AS p"])
        return f"SELECT {listed} FROM {self._over(slotted)} WHERE slot <= {unit.max_rows}"

    def _concatenate(self, number: str, text: str) -> str:
        return f"CAST({number} AS {self.dialect.text}) || ':' || {text}"

    def _rows(self, names: Sequence[str]) -> str:
        return self._kept_rows(names) if self.bounds_users else self._raw(names)

    def _padded_rows(self, names: Sequence[str]) -> str:
        """Every user with exactly max_rows rows, of which those that are not `present` are null rows."""
        raw = ", ".join([f"kept.c{self._column(name)[0]}" for name in names] or ["kept.slot AS filled"])
        return (
            f"WITH kept AS ({self._kept_rows(names)}) SELECT {raw}, users.u AS u, "
            f"{self._concatenate('slots.slot', 'users.u')} AS p, kept.slot IS NOT NULL AS present "
            f"FROM (SELECT DISTINCT u FROM kept) AS users "
            f"CROSS JOIN {self.dialect.one_to.format(self.schema.confirmed_unit.max_rows)} AS slots "
            f"LEFT JOIN kept ON kept.u = users.u AND kept.slot = slots.slot"
        )

    def count(self) -> str:
        """How many rows take part."""
        return f"SELECT count(*) FROM {self._over(self._rows(()))}"

    def users(self) -> str:
        """How many users take part."""
        name = str(self.schema.confirmed_unit.column)
        read = f"SELECT {self._read(name)} FROM {self._over(self._raw([name]))}"
        return f"SELECT count(DISTINCT r{self._column(name)[0]}) FROM {self._over(read)}"

    def beyond(self, most: int) -> str:
        """How many rows users own beyond the bound, each user's rows counted up to `most`."""
        name, bound = str(self.schema.confirmed_unit.column), self.schema.confirmed_unit.max_rows
        read = f"SELECT {self._read(name)} FROM {self._over(self._raw([name]))}"
        owned = f"SELECT count(*) AS n FROM {self._over(read)} GROUP BY r{self._column(name)[0]}"
        return (
            f"SELECT CAST(coalesce(sum(least(n, {most}) - {bound}), 0) AS BIGINT) FROM {self._over(owned)} "
            f"WHERE n > {bound}"
        )

    def pads(self, order: Order) -> bool:
        """Whether users are padded to max_rows rows in this order."""
        return order.ranks and self.schema.confirmed_unit.max_rows > 1

    def rows_in_order(self, names: Sequence[str], order: Order) -> str:
        """The raw values of these columns in this order, as `c...` (then `present` or `batch`)."""
        fields = [f"c{self._column(name)[0]}" for name in names]
        if isinstance(order, PerRecordBatches):
            return self._rows_with_batches(names, fields, order)
        extra = [order.column] if isinstance(order, KeyedHash) and order.column not in names else []
        rows = self._padded_rows(names) if self.pads(order) else self._rows([*names, *extra])
        listed = ", ".join([*fields, "present"] if self.pads(order) else fields) or "p"
        by = self._order_by(order)
        return f"SELECT {listed} FROM {self._over(rows)}{f' ORDER BY {by}' if by else ''}"

    def _order_by(self, order: Order) -> str:
        text = f"CAST(p AS {self.dialect.text})"
        if isinstance(order, Shuffled):
            return f"left({self.dialect.keyed_hash(order.key, text)}, {DIGITS})"
        if isinstance(order, KeyedHash):
            i, _ = self._column(order.column)
            owner = self.schema.confirmed_unit.column == order.column
            read = f"coalesce('v' || {self.dialect.read_text(f'c{i}', self.kinds[order.column])}, 'n')"
            name = "u" if owner and self.bounds_users else read
            ties = f"left({self.dialect.keyed_hash(order.tie_key, text)}, {DIGITS})"
            return f"left({self.dialect.keyed_hash(order.key, name)}, {DIGITS}), {ties}"
        return ""

    def _rows_with_batches(self, names: Sequence[str], fields: list[str], order: PerRecordBatches) -> str:
        """Each row with the batch that it drew; a full batch keeps the rows with the smallest secret priorities."""
        hashed = self.dialect.keyed_hash(order.key, f"CAST(p AS {self.dialect.text})")
        drawn = f"SELECT *, {hashed} AS h FROM {self._over(self._rows(names))}"
        number = self.dialect.hex_to_integer.format(f"left(h, {BATCH_DIGITS})")
        priority = f"substring(h, {BATCH_DIGITS + 2}, {DIGITS})"
        placed = (
            f"SELECT *, {number} % {order.batches} AS batch, {priority} AS priority FROM {self._over(drawn)}"
        )
        place = "row_number() OVER (PARTITION BY batch ORDER BY priority) AS place"
        ranked = f"SELECT *, {place} FROM {self._over(placed)}"
        listed = ", ".join([*fields, "batch"])
        return f"SELECT {listed} FROM {self._over(ranked)} WHERE place <= {order.cap} ORDER BY batch, place"

    def counts(self, sets: Sequence[Sequence[str]]) -> str:
        """All joint counts in one pass. A cell is never NULL: NULL in the result is a column outside of a row's set."""
        names = list(dict.fromkeys(name for group in sets for name in group))
        cells = ", ".join([*(self._cell(name) for name in names), "1 AS one"])
        grouped = ", ".join(f"({', '.join(f'k{self._column(name)[0]}' for name in group)})" for group in sets)
        listed = ", ".join([*(f"k{self._column(name)[0]}" for name in names), "count(*) AS n"])
        values = self._values(names, self._rows(names)) if names else self._rows(())
        binned = f"SELECT {cells} FROM {self._over(values)}"
        return f"SELECT {listed} FROM {self._over(binned)} GROUP BY GROUPING SETS ({grouped})"

    def cells(self, names: Sequence[str]) -> str:
        """The cells of every row that takes part, column by column: what `count_cells` counts."""
        listed = ", ".join(map(self._cell, names))
        return f"SELECT {listed} FROM {self._over(self._values(names, self._rows(names)))}"

    def readings(self) -> str:
        """Every declared column of every stored row, read as a number or a text: the contents of a copy."""
        fields = []
        for i, column in enumerate(self.schema.columns):
            text = self.dialect.read_text(f"c{i}", self.kinds[column.name])
            number = self.reads_number(column.name)
            fields.append(f"{self._number(column.name) if number else text} AS r{i}")
        raw = self._raw([column.name for column in self.schema.columns])
        return f"SELECT {', '.join(fields) or '0 AS nothing'} FROM {self._over(raw)}"

    def coded_rows(self, names: Sequence[str]) -> str:
        """The rows that take part: each column as read (`rI`), clipped or coded (`vI`), and as a cell (`kI`)."""
        cells = ", ".join(["*", *map(self._cell, names)])
        return f"SELECT {cells} FROM {self._over(self._values(names, self._rows(names)))}"

    def all_rows(self, names: Sequence[str]) -> str:
        """As `coded_rows`, but every row of every unit; the unit's column is among those that are read."""
        unit = self.schema.confirmed_unit.column
        read = [*names] if unit is None else [*names, unit]
        cells = ", ".join(["*", *map(self._cell, names)])
        return f"SELECT {cells} FROM {self._over(self._values(read, self._raw(read)))}"

    @property
    def unit_text(self) -> str:
        """The text that names the unit of a row of `all_rows`; rows without one are those of a single unit."""
        return f"r{self._column(str(self.schema.confirmed_unit.column))[0]}"

    def without_value(self, name: str) -> str | None:
        """SQL for whether a row has no value of this column as a target; None if all have one."""
        i, column = self._column(name)
        if isinstance(column, Numeric):
            return None if column.declares_null else f"(r{i} IS NULL)"
        return self._undeclared_test(name)

    def _undeclared_test(self, name: str) -> str | None:
        """SQL for whether a value is missing or in no category, and the column declares nothing for that."""
        i, column = self._column(name)
        if isinstance(column, Numeric):
            return None if column.declares_null or column.has_null_cell else f"(r{i} IS NULL)"
        if not isinstance(column, Categorical) or (column.other is not None and column.null is not None):
            return None
        wide, _, nowhere = column.exhaustive_form
        cell = self.dialect.category_cell(wide, f"r{i}", self.kinds[name])
        return f"({cell} IN ({', '.join(map(str, nowhere))}))"

    def place(self, name: str) -> int:
        """The number I of a column."""
        return self._column(name)[0]


def distinct_sets(sets: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """The different sets of columns, each once whatever the order of its columns.

    >>> distinct_sets([["b", "a"], ["a", "b"], []])
    [('a', 'b'), ()]
    """
    return list(dict.fromkeys(tuple(sorted(names)) for names in sets))


def zero_filled(schema: Schema, sets: Sequence[tuple[str, ...]], batches: Iterable[Any]) -> list[Codes]:
    """The counts of `Statements.counts(distinct_sets(sets))`, read from its Arrow batches.

    A column is NULL where it is outside a row's set, and the last column is the count. Cells that no row of
    the query names hold 0: which cells are empty must not be visible before noise is added.
    """
    grouping_sets = distinct_sets(sets)
    tables = {names: np.zeros(schema.shape(*names), dtype=np.int64) for names in grouping_sets}
    names = list(dict.fromkeys(name for group in grouping_sets for name in group))
    by_pattern = {
        np.packbits(np.array([name in group for name in names], dtype=np.bool_)).tobytes(): group
        for group in grouping_sets
    }
    for arrow in batches:
        cells = [column.to_numpy(zero_copy_only=False) for column in arrow.columns[:-1]]
        row_counts = arrow.column(arrow.num_columns - 1).to_numpy().astype(np.int64)
        for pattern, rows in _by_pattern(arrow.columns[:-1], len(row_counts)):
            group = by_pattern[pattern]
            place = tuple(cells[names.index(name)][rows].astype(np.int64) for name in group)
            np.add.at(tables[group], place, row_counts[rows] if group else row_counts[rows].sum())
    return [_in_order(tables[tuple(sorted(group))], group) for group in sets]


def count_cells(
    schema: Schema, sets: Sequence[tuple[str, ...]], names: Sequence[str], batches: Iterable[Any]
) -> list[Codes]:
    """The counts of many sets of columns from one reading of `Statements.cells(names)`.

    A database would group all rows again for every set; here each batch is read once for all of them.
    """
    tables = [np.zeros(schema.cells(*group), dtype=np.int64) for group in sets]
    for arrow in batches:
        codes = {
            name: column.to_numpy(zero_copy_only=False).astype(np.int64)
            for name, column in zip(names, arrow.columns, strict=True)
        }
        for table, group in zip(tables, sets, strict=True):
            place = np.zeros(arrow.num_rows, dtype=np.int64)
            for name in group:
                place *= schema[name].cells
                place += codes[name]
            table += np.bincount(place, minlength=table.size)
    return [table.reshape(schema.shape(*group)) for table, group in zip(tables, sets, strict=True)]


def _by_pattern(columns: Sequence[Any], rows: int) -> Iterator[tuple[bytes, Codes]]:
    """The rows of each grouping set: those with values in the same columns."""
    if not columns or not rows:
        if rows:
            yield b"", np.arange(rows)
        return
    inside = np.stack([column.is_valid().to_numpy(zero_copy_only=False) for column in columns], axis=1)
    packed = np.packbits(inside, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    order = np.argsort(keys, kind="stable")
    borders = np.flatnonzero(keys[order][1:] != keys[order][:-1]) + 1
    for part in np.split(order, borders):
        yield keys[part[0]].tobytes(), part


def _in_order(table: Codes, names: tuple[str, ...]) -> Codes:
    """A count whose axes are in alphabetical order, with its axes in the order asked for."""
    alphabetical = sorted(names)
    return table.transpose([alphabetical.index(name) for name in names]).copy()


#: Hexadecimal digits of a hash that choose a record's batch: each of M has probability 1/M up to 2**-60.
