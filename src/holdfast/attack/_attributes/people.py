"""People: rows as a model takes them, and as a schema codes them; Secret: the columns to be guessed.

Attacks are run by the owner of the data, who alone sees the result: so the schema of a table that has none is made from
its own values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes, Floats
from holdfast._extras import import_optional
from holdfast.attack._records import arrow_of, joined_batches
from holdfast.data._arrow_columns import arrow_columns, check_columns, column_names
from holdfast.data._batch import Batch, encode_batch
from holdfast.data._encode import Encoder
from holdfast.data._readings import texts
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._table import Table
from holdfast.errors import ParameterError, require

MOST_GUESSED_CELLS = 10
"""A column of numbers with more cells than this is guessed up to deciles of the attacker's own people."""


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """Rows twice: `raw` columns in the container that the model takes, and `batch`, clipped and coded."""

    raw: Mapping[str, Any]
    container: Literal["frame", "arrow", "array"]
    batch: Batch

    @classmethod
    def of(cls, table: Any, schema: Schema | None = None) -> People:
        """The people of a holdfast `Table`, data frame, Arrow table, mapping, or array with its columns in order."""
        if isinstance(table, People):
            return table
        if isinstance(table, Table):
            plain, batch = arrow_of(table)
            raw = {name: plain.column(name) for name in plain.column_names}
            return cls(raw=raw, container="arrow", batch=batch)
        if isinstance(table, np.ndarray):
            require(schema is not None, "schema", None, "given with an array: it names the columns, in order")
            assert schema is not None
            require(
                table.ndim == 2 and table.shape[1] == len(schema.names),
                "table",
                table.shape,
                f"a matrix with the {len(schema.names)} columns of the schema",
            )
            raw = {name: table[:, place] for place, name in enumerate(schema.names)}
            return cls(raw=raw, container="array", batch=_encoded_batch(raw, schema))
        if schema is not None:
            check_columns(list(schema.names), column_names(table))
        chosen = schema_from_values(table) if schema is None else schema
        frame = hasattr(table, "iloc")
        if frame:
            raw = {name: table[name].reset_index(drop=True) for name in chosen.names}
        else:
            import pyarrow as pa

            raw = {name: pa.chunked_array([array]) for name, array in _arrow(table, chosen.names).items()}
        return cls(raw=raw, container="frame" if frame else "arrow", batch=_encoded_batch(table, chosen))

    @property
    def count(self) -> int:
        """The number of people."""
        return self.batch.rows

    @property
    def schema(self) -> Schema:
        """How they are read."""
        return self.batch.schema

    def lacks(self, name: str) -> bool:
        """Whether a value of this column is missing."""
        return any(value is None or value != value for value in self._value_list(name))

    def with_value_of(self, name: str) -> People:
        """Those who have a value of this column as a target: a fit leaves the others out."""
        absent = self.batch.without_value(name)
        absent = np.zeros(self.count, dtype=np.bool_) if absent is None else absent
        if self.schema[name].taken_from_data:  # read from values: nobody declared one for those who have none
            absent = absent | np.array([value is None or value != value for value in self._value_list(name)])
        return self.take(np.flatnonzero(~absent)) if absent.any() else self

    def _value_list(self, name: str) -> list[Any]:
        """The values of a column as they are."""
        column = self.raw[name]
        listed: list[Any] = column.to_pylist() if self.container == "arrow" else np.asarray(column).tolist()
        return listed

    def take(self, rows: NDArray[Any]) -> People:
        """Some of them, by row numbers."""
        raw = {name: self.pick(values, rows) for name, values in self.raw.items()}
        return People(raw=raw, container=self.container, batch=self.batch.take(rows))

    def pick(self, column: Any, rows: NDArray[Any]) -> Any:
        """Some values of a column in the container of these people."""
        if self.container == "frame":
            return column.iloc[rows].reset_index(drop=True)
        return column.take(rows) if self.container == "arrow" else column[rows]

    def join(self, other: People) -> People:
        """These people, then the others."""
        require(
            other.container == self.container,
            "fresh",
            other.container,
            f"given as table is: {self.container}",
        )
        raw = {
            name: _concatenation(self.container, values, other.raw[name]) for name, values in self.raw.items()
        }
        return People(raw=raw, container=self.container, batch=joined_batches([self.batch, other.batch]))

    def features(self, names: Sequence[str]) -> Floats:
        """Numbers to [0, 1] and one indicator per category, for a learner."""
        if not names:
            return np.empty((self.count, 0))
        encoder = Encoder(self.schema.select(*names), scale="unit", intercept=False, row_norm=None)
        return encoder.encode(self.batch)

    def model_input(self, columns: Sequence[str], changed: Mapping[str, Any]) -> Any:
        """These columns as the model takes them, some of them replaced: by one value for all, or by a column."""
        values = {
            name: self._constant(name, changed[name]) if name in changed else self.raw[name]
            for name in columns
        }
        if self.container == "frame":
            return import_optional("pandas").DataFrame(values)
        if self.container == "arrow":
            import pyarrow as pa

            return pa.table(values)
        return np.column_stack([np.asarray(column) for column in values.values()])

    def _constant(self, name: str, value: Any) -> Any:
        if hasattr(value, "__len__") and not isinstance(value, str):
            return value
        if self.container == "array":
            return np.full(self.count, value)
        if self.container == "frame":
            return import_optional("pandas").Series([value] * self.count, dtype=self.raw[name].dtype)
        import pyarrow as pa

        scalar = value if isinstance(value, pa.Scalar) else pa.scalar(value, self.raw[name].type)
        return pa.chunked_array([pa.repeat(scalar, self.count)])

    def labels(self, name: str) -> NDArray[Any]:
        """A column as it is, for the labels that a model knows."""
        values = self.raw[name]
        return np.asarray(values.to_pylist() if self.container == "arrow" else values)


def _arrow(table: Any, names: Sequence[str]) -> dict[str, Any]:
    import pyarrow as pa

    read = arrow_columns(table, list(names))
    return {
        name: values if isinstance(values, pa.Array) else pa.array(table[name], from_pandas=True)
        for name, values in read.items()
    }


def _encoded_batch(table: Any, schema: Schema) -> Batch:
    names = list(schema.names)
    columns = arrow_columns(table, names)
    rows = len(next(iter(columns.values())))
    require(rows >= 1, "table", rows, "one row or more")
    return encode_batch(schema.select(*names), columns, rows)


def _concatenation(container: str, first: Any, second: Any) -> Any:
    if container == "frame":
        return import_optional("pandas").concat([first, second], ignore_index=True)
    if container == "arrow":
        import pyarrow as pa

        if second.type != first.type:
            second = second.cast(first.type)
        return pa.chunked_array([*first.chunks, *second.chunks])
    return np.concatenate([first, second])


def schema_from_values(table: Any) -> Schema:
    """How to read a frame or an Arrow table that comes without a schema: for the owner's own eyes only.

    >>> schema_from_values({"age": list(range(20)), "sex": ["f", "m"] * 10}).domain
    {'age': 20, 'sex': 2}
    >>> schema_from_values({"ill": [True, False]})["ill"].labels
    ('false', 'true')
    """
    names = (
        list(table.keys())
        if isinstance(table, Mapping)
        else list(getattr(table, "column_names", ()) or table.columns)
    )
    columns: list[Numeric | Categorical] = []
    for name, values in _arrow(table, names).items():
        import pyarrow as pa
        import pyarrow.compute as pc

        kinds = pc.unique(values).drop_null()
        if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
            known = np.asarray(kinds.cast(pa.float64(), safe=False))
            known = known[np.isfinite(known)]
            if known.size > MOST_GUESSED_CELLS:
                whole = bool(np.all(known == np.floor(known))) and float(np.abs(known).max()) < 2.0**50
                lacking = values.null_count or (
                    pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py()
                )
                columns.append(
                    Numeric(
                        name,
                        float(known.min()),
                        float(known.max()),
                        integer=whole,
                        taken_from_data=True,
                        null="category" if lacking else "midpoint",
                    )
                )
                continue
        # As a schema reads them: truth values and moments have texts of their own.
        categories = sorted(word for word in set(texts(kinds).to_pylist()) if word is not None)
        missing = "(missing)" if values.null_count else None
        columns.append(Categorical(name, categories or ["(missing)"], null=missing, taken_from_data=True))
    return Schema(columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class Secret:
    """One column, or several at once, and the values that come into question: those of the attacker's own people."""

    columns: tuple[str, ...]
    edges: Mapping[str, Floats]
    """Borders of the cells of columns that are guessed up to tenths."""
    cells: Codes
    """The cells of each candidate: one line per candidate, one column per column."""
    values: tuple[Mapping[str, Any], ...]
    """What a model is asked with for each candidate."""

    @classmethod
    def of(cls, columns: Sequence[str], own: People) -> Secret:
        """The candidates that occur among the attacker's own people."""
        chosen = tuple(columns)
        require(len(chosen) >= 1, "sensitive", chosen, "one column or more")
        for name in chosen:
            if name not in own.schema.names:
                raise ParameterError(
                    f"sensitive must name columns of the table, got sensitive={name!r}; it has "
                    f"{', '.join(own.schema.names)}"
                )
        edges = {name: tenths for name in chosen if (tenths := _tenths(own, name)) is not None}
        cells, first = np.unique(_cells(own, chosen, edges), axis=0, return_index=True)
        values = tuple(
            {
                name: _representative(own, name, edges, cells[place, column], int(first[place]))
                for column, name in enumerate(chosen)
            }
            for place in range(len(cells))
        )
        return cls(columns=chosen, edges=edges, cells=cells, values=values)

    @property
    def name(self) -> str:
        """The column, or the columns."""
        return " and ".join(self.columns)

    @property
    def count(self) -> int:
        """The number of candidates."""
        return len(self.cells)

    @cached_property
    def _places(self) -> dict[tuple[int, ...], int]:
        return {tuple(line): place for place, line in enumerate(self.cells.tolist())}

    def codes(self, people: People) -> Codes:
        """The candidate that is true of each; -1 where it is none of them."""
        cells = _cells(people, self.columns, self.edges)
        kinds, where = np.unique(cells, axis=0, return_inverse=True)
        places = np.array([self._places.get(tuple(line), -1) for line in kinds.tolist()], dtype=np.int64)
        return places[where.reshape(-1)]


def _tenths(own: People, name: str) -> Floats | None:
    column = own.schema[name]
    # Cells that somebody declared are kept; those of a table without a schema mean nothing.
    if not isinstance(column, Numeric) or (column.cells <= MOST_GUESSED_CELLS and not column.taken_from_data):
        return None
    values = np.asarray(own.batch.values[name], dtype=np.float64)
    lacking = own.batch.missing.get(name)
    if lacking is not None and not lacking.all():
        values = values[~lacking]
    edges = np.unique(np.quantile(values, np.arange(1, MOST_GUESSED_CELLS) / MOST_GUESSED_CELLS))
    edges = edges[edges > values.min()]
    # Where nine of ten have the least value, the question is who has more.
    above = values[values > values.min()]
    return np.asarray(edges if edges.size or not above.size else above.min()[None])


def _cells(people: People, columns: Sequence[str], edges: Mapping[str, Floats]) -> Codes:
    return np.column_stack([_column_cells(people, name, edges.get(name)) for name in columns]).astype(
        np.int64
    )


def _column_cells(people: People, name: str, edges: Floats | None) -> Codes:
    """The cell of each; people whose number is missing have one of their own."""
    if edges is None:
        return people.batch.codes(name)
    cells = np.searchsorted(edges, people.batch.values[name], side="right")
    lacking = people.batch.missing.get(name)
    return np.asarray(cells if lacking is None else np.where(lacking, edges.size + 1, cells), dtype=np.int64)


def _representative(own: People, name: str, edges: Mapping[str, Floats], cell: int, first: int) -> Any:
    """A category as the first of its people has it; of numbers in a cell the middle one."""
    if isinstance(own.schema[name], Numeric):
        inside = np.flatnonzero(_cells(own, (name,), edges)[:, 0] == cell)
        values = own.batch.values[name][inside]
        first = int(inside[np.argsort(values, kind="stable")[values.size // 2]])
    raw_values = own.raw[name]
    return raw_values.iloc[first] if own.container == "frame" else raw_values[first]
