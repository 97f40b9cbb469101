"""ComparedRows: joint counts of all rows, and a sample of the rows, as a schema reads them. As private as the rows.

Joint counts of one and two columns are taken over all rows, batch by batch. Predictions and distances need single rows;
they use a random sample of at most `MOST_ROWS`, so that memory does not grow with the size of files.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._arrow_columns import arrow_columns
from holdfast.data._batch import Batch, encode_batch
from holdfast.data._cells import categorical_cells
from holdfast.data._engines import open_table
from holdfast.data._engines.file_rows import CSV_ENDINGS, PLACE, number_names, rows_of_files
from holdfast.data._engines.files import read_table
from holdfast.data._mixed import MixedColumn
from holdfast.data._moments import column_numbers
from holdfast.data._order import Order
from holdfast.data._readings import texts
from holdfast.data._schema import Categorical, CsvFormat, DateTime, Hierarchy, Identifier, Numeric, Schema
from holdfast.data._schema.kinds import Column
from holdfast.data._schema.spelling import BLANKS
from holdfast.data._storage_kinds import Kind, kind_of
from holdfast.data._table import Table
from holdfast.errors import AssumptionWarning, DataError, HoldfastError, ParameterError, require

Codes = NDArray[np.int32]
MOST_ROWS = 100_000
"""The most rows of the sample."""
MOST_PAIR_CELLS = 2**16
"""The most cells of two columns that are counted together."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparedRows:
    """Joint counts over all rows, and a sample of rows with one column of `codes` and of `values` per column."""

    schema: Schema
    rows: int
    counts: Mapping[tuple[str, ...], Floats]
    codes: Codes
    values: Floats
    """Clipped numbers of numeric columns (NaN where missing values have a cell of their own), codes of others."""
    absent: NDArray[np.bool_]
    """For each row of the sample and each column, whether it has no value as a target (`Batch.without_value`)."""
    undeclared: Mapping[str, int]
    """For each column, how many values are neither missing nor declared; they were read as the schema says."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return self.schema.names

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of columns that were counted together."""
        return [(columns[0], columns[1]) for columns in self.counts if len(columns) == 2]

    def pair(self, first: str, second: str) -> Floats | None:
        """The joint count with the first column along the first axis; None where it would have too many cells."""
        if (first, second) in self.counts:
            return self.counts[first, second]
        table = self.counts.get((second, first))
        return None if table is None else table.T

    def code(self, name: str) -> Codes:
        """The cells of a column in the sample."""
        return self.codes[:, self.names.index(name)]

    def with_target(self, name: str) -> ComparedRows:
        """The rows of the sample that have a value of this column as a target."""
        absent = self.absent[:, self.names.index(name)]
        return self.take(np.flatnonzero(~absent)) if absent.any() else self

    def take(self, index: NDArray[Any]) -> ComparedRows:
        """A part of the sample; the joint counts stay those of all rows."""
        return ComparedRows(
            schema=self.schema,
            rows=self.rows,
            counts=self.counts,
            codes=self.codes[index],
            values=self.values[index],
            absent=self.absent[index],
            undeclared=self.undeclared,
        )


def plain_schema(schema: Schema, columns: Sequence[str] | None = None) -> Schema:
    """A schema of the columns that can be counted, without privacy units: nothing is released here."""
    names = schema.require_confirmed().names if columns is None else tuple(columns)
    absent = [name for name in names if name not in schema.names]
    if absent:
        raise ParameterError(
            f"columns must be of the schema, got {absent}; it declares {', '.join(schema.names)}"
        )
    require(len(set(names)) == len(names), "columns", list(names), "different columns")
    declared = [schema[name] for name in names if not isinstance(schema[name], Identifier)]
    require(bool(declared), "columns", list(names), "at least one column that can be counted")
    return Schema(declared, csv=schema.csv)


def read_compared(source: Any, schema: Schema, *, name: str, most_rows: int = MOST_ROWS) -> ComparedRows:
    """ReadBatch rows of a file, frame, Arrow table or `Table`; `name` is the caller's parameter, for messages.

    It is an error if a column is missing, if no value of a column is as declared, and if there are no rows.
    """
    reader = _RowReader(schema, most_rows)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", AssumptionWarning
        )  # about drafts of schemas: nothing is released here
        for batch, undeclared, present in _batches(source, schema, name):
            reader.add(batch, undeclared, present)
    require(reader.rows > 0, name, "a table without rows", "a table of one row or more")
    for column, wrong in reader.undeclared.items():
        if wrong and wrong == reader.present[column]:
            declared = schema[column].describe()
            raise ParameterError(
                f"{name} must hold what the schema declares, and no value of column {column!r} is that "
                f"({declared}); is it another column of the same name, or a schema of another table?"
            )
    return reader.compared_rows()


class _RowReader:
    """Counts and a sample that grow batch by batch."""

    def __init__(self, schema: Schema, most_rows: int) -> None:
        self.schema, self.most_rows, self.rows = schema, most_rows, 0
        self.undeclared = dict.fromkeys(schema.names, 0)
        self.present = dict.fromkeys(schema.names, 0)
        self._counts: dict[tuple[str, ...], Floats] = {
            (name,): np.zeros(schema[name].cells) for name in schema.names
        }
        for pair in combinations(schema.names, 2):
            if schema.cells(*pair) <= MOST_PAIR_CELLS:
                self._counts[pair] = np.zeros(schema.shape(*pair))
        self._sampled: list[tuple[Floats, Codes, Floats, NDArray[np.bool_]]] = []
        # Which rows are in the sample depends on the number of rows alone.
        self._coins = np.random.default_rng(0)

    def add(self, batch: Batch, undeclared: Mapping[str, int], present: Mapping[str, int]) -> None:
        codes = {name: batch.codes(name) for name in self.schema.names}
        for columns, table in self._counts.items():
            cells = np.ravel_multi_index(tuple(codes[name] for name in columns), table.shape)
            table += np.bincount(cells, minlength=table.size).reshape(table.shape)
        values = batch.matrix()
        for place, name in enumerate(self.schema.names):
            if name in batch.missing:
                values[batch.missing[name], place] = np.nan
        stacked = np.stack(list(codes.values()), axis=1).astype(np.int32)
        absent = np.zeros(stacked.shape, dtype=np.bool_)
        for place, name in enumerate(self.schema.names):
            without_value = batch.without_value(name)
            if without_value is not None:
                absent[:, place] = without_value
        self._sampled.append((self._coins.random(len(batch)), stacked, values, absent))
        self.rows += len(batch)
        if sum(len(part[0]) for part in self._sampled) > 2 * self.most_rows:
            self._sampled = [self._sample_of_rows()]
        for name in self.schema.names:
            self.undeclared[name] += undeclared.get(name, 0)
            self.present[name] += present.get(name, 0)

    def _sample_of_rows(self) -> tuple[Floats, Codes, Floats, NDArray[np.bool_]]:
        """The rows with the smallest random numbers: a uniform sample, in the order of the rows."""
        coins, codes, values, absent = (np.concatenate(parts) for parts in zip(*self._sampled, strict=True))
        if len(coins) > self.most_rows:
            chosen = np.sort(np.argpartition(coins, self.most_rows)[: self.most_rows])
            coins, codes, values, absent = coins[chosen], codes[chosen], values[chosen], absent[chosen]
        return coins, codes, values, absent

    def compared_rows(self) -> ComparedRows:
        _, codes, values, absent = self._sample_of_rows()
        return ComparedRows(
            schema=self.schema,
            rows=self.rows,
            counts=self._counts,
            codes=codes,
            values=values,
            absent=absent,
            undeclared={name: wrong for name, wrong in self.undeclared.items() if wrong},
        )


ReadBatch = tuple[Batch, dict[str, int], dict[str, int]]
"""A batch, and for each column how many values are undeclared and how many are not missing."""


def _batches(source: Any, schema: Schema, name: str) -> Iterator[ReadBatch]:
    names = list(schema.names)
    if isinstance(source, str | PathLike) and "://" in fspath(source):
        source = open_table(source, schema)
    if isinstance(source, Table):
        _require_columns(names, source.schema.names, name)
        for batch in source.batches(names, order=Order.irrelevant()):
            yield replace(batch, schema=schema, present=None), {}, {}
        return
    for columns, rows in _stored_columns(source, schema, name):
        yield _read_columns(schema, columns, rows)


def as_synthetic(source: Any, schema: Schema) -> Schema:
    """The schema for reading a file of synthetic rows: holdfast writes plain CSV, whatever format the schema declares.

    A CSV file in UTF-8 with commas that has the columns is read as plain, any other file as declared. A numeric column
    is read as plain numbers if more of its values are plain numbers than numbers as declared.
    """
    if not isinstance(source, str | PathLike) or not fspath(source).lower().endswith(CSV_ENDINGS):
        return schema
    with suppress(DataError):
        names = rows_of_files(fspath(source), csv=CsvFormat()).names
        schema = replace(schema, csv=CsvFormat()) if set(schema.names) <= set(names) else schema
    columns: list[Column] = []
    for column in schema.columns:
        if isinstance(column, Numeric) and column.written_as is not None:
            plain = replace(column, written_as=None)
            first, _ = next(_stored_columns(source, Schema([column], csv=schema.csv), "synthetic"))
            as_declared, as_plain = (
                np.isfinite(column_numbers(kind, first[column.name])).sum() for kind in (column, plain)
            )
            column = plain if as_plain > as_declared else column
        columns.append(column)
    return replace(schema, columns=columns)


def read_synthetic(path: Path, schema: Schema) -> Any:
    """A file of synthetic rows as an Arrow table; numeric columns are numbers however the file writes them."""
    import pyarrow as pa

    declared = as_synthetic(path, schema)
    table = read_table(path, csv=declared.csv, numbers=number_names(declared))
    for place, name in enumerate(table.column_names):
        column = declared[name] if name in declared.names else None
        if isinstance(column, Numeric) and not isinstance(column, DateTime) and path.suffix == ".csv":
            table = table.set_column(place, name, pa.array(column_numbers(column, table.column(place))))
    return table


def at_levels_of(source: Any, schema: Schema, *, name: str) -> Schema:
    """The schema with each open hierarchy at the level whose labels the rows use, which may be a coarse one."""
    opened = [column for column in schema.columns if isinstance(column, Hierarchy) and column.level is None]
    if not opened or isinstance(source, Table) or "://" in str(source):
        return schema
    entries: dict[str, set[str]] = {column.name: set() for column in opened}
    for columns, _ in _stored_columns(source, Schema(opened, csv=schema.csv), name):
        for title, stored in columns.items():
            entries[title] |= {word for word in texts(stored).unique().to_pylist() if word is not None}
    chosen: dict[str, Column] = {}
    for column in opened:
        levels = [column.at(level) for level in range(len(column.steps))]
        unread = [
            len(entries[column.name] - set(each.spellings) - set(map(str, each.labels))) for each in levels
        ]
        chosen[column.name] = levels[unread.index(min(unread))]
    return replace(schema, columns=[chosen.get(column.name, column) for column in schema.columns])


def _stored_columns(source: Any, schema: Schema, name: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Batches of columns as they are stored, and their numbers of rows."""
    names = list(schema.names)
    if isinstance(source, str | PathLike):
        files = rows_of_files(fspath(source), csv=schema.csv, numbers=number_names(schema))
        _require_columns(names, files.names, name)
        places = [files.names.index(name) for name in names]
        for read in files.reader(places):
            assert read.schema.names[-1] == PLACE
            yield {name: read.column(place) for place, name in enumerate(names)}, read.num_rows
        return
    try:
        held = source.column_names if hasattr(source, "column_names") else list(source)
        _require_columns(names, held, name)
        columns = arrow_columns(source, names)
    except HoldfastError:
        raise
    except (TypeError, AttributeError, ValueError):
        raise ParameterError(
            f"{name} must be a file, a data frame, an Arrow table, a mapping of arrays or a Table, got "
            f"{type(source).__name__}"
        ) from None
    yield dict(columns), len(columns[names[0]])


def _require_columns(names: Sequence[str], held: Sequence[str], name: str) -> None:
    listed = list(held)
    missing = [name for name in names if name not in listed]
    if missing:
        raise ParameterError(
            f"{name} must hold the columns that are compared, {', '.join(map(repr, missing))} "
            f"{'is' if len(missing) == 1 else 'are'} not there; name those to compare (columns, --columns)"
        )
    twice = [name for name in names if listed.count(name) > 1]
    if twice:
        raise DataError(f"{name} must hold each column once, {', '.join(map(repr, twice))} stand there twice")


def _read_columns(schema: Schema, columns: Mapping[str, Any], rows: int) -> ReadBatch:
    undeclared, present = {}, {}
    for name in schema.names:
        column = schema[name]
        if not isinstance(column, Identifier) and column.read is None:
            undeclared[name], present[name] = _count_undeclared(column, columns[name], rows)
    return encode_batch(schema, columns, rows), undeclared, present


def _count_undeclared(column: Numeric | Categorical, stored: Any, rows: int) -> tuple[int, int]:
    """How many values are not as declared, and how many are not missing."""
    missing = texts(stored).null_count if isinstance(stored, MixedColumn) else stored.null_count
    if isinstance(column, Categorical):
        return (0 if column.other is not None else _outside(column, stored)), rows - missing
    read = column_numbers(column, stored)
    unread = int(np.count_nonzero(np.isnan(read)))
    if not isinstance(stored, MixedColumn) and kind_of(stored.type) is Kind.floating:
        missing = unread  # NaN is how a file of numbers says missing
    else:
        marks = {mark for mark in column.nulls if isinstance(mark, str)}
        named = (word is not None and word.strip(BLANKS) in marks for word in texts(stored).to_pylist())
        missing += sum(named) if marks else 0
    marked = int(np.count_nonzero(np.isin(read, [mark for mark in column.nulls if isinstance(mark, float)])))
    return unread - missing, rows - missing - marked


def _outside(column: Categorical, stored: Any) -> int:
    """How many values are none of the categories: they fall into a cell that is added for them."""
    extra = "(undeclared)"
    while extra in column.labels:
        extra += "_"
    null = extra + "null"
    wider = replace(column, other=extra, null=null)
    return int(np.count_nonzero(categorical_cells(wider, stored) == wider.labels.index(extra)))
