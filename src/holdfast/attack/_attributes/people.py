"""People: the rows of a table in two forms, as a model takes them and as a schema codes them.

Attacks are run by the owner of the data, who alone sees the result. So a table without a schema is given one that is
read from its own values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._extras import import_optional
from holdfast.attack._records import arrow_of, joined_batches
from holdfast.data._arrow_columns import arrow_columns, check_columns, column_names
from holdfast.data._batch import Batch, encode_batch
from holdfast.data._encode import Encoder
from holdfast.data._readings import texts
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._table import Table
from holdfast.errors import require

MOST_GUESSED_CELLS = 10
"""A column of numbers with more cells than this is guessed up to deciles of the attacker's own people."""


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """The same rows in two forms: `raw` columns in the container that a model takes, and a clipped, coded `batch`."""

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
        """The schema by which the rows are coded."""
        return self.batch.schema

    def lacks(self, name: str) -> bool:
        """Whether a value of this column is missing."""
        return any(value is None or value != value for value in self._value_list(name))

    def with_value_of(self, name: str) -> People:
        """The people with a value in the column `name`: a fit with this target leaves the others out."""
        absent = self.batch.without_value(name)
        absent = np.zeros(self.count, dtype=np.bool_) if absent is None else absent
        if self.schema[name].taken_from_data:  # such a schema declares no value for those who have none
            absent = absent | np.array([value is None or value != value for value in self._value_list(name)])
        return self.take(np.flatnonzero(~absent)) if absent.any() else self

    def _value_list(self, name: str) -> list[Any]:
        """The raw values of a column."""
        column = self.raw[name]
        listed: list[Any] = column.to_pylist() if self.container == "arrow" else np.asarray(column).tolist()
        return listed

    def take(self, rows: NDArray[Any]) -> People:
        """Some of the people, by their row numbers."""
        raw = {name: self.pick(values, rows) for name, values in self.raw.items()}
        return People(raw=raw, container=self.container, batch=self.batch.take(rows))

    def pick(self, column: Any, rows: NDArray[Any]) -> Any:
        """The values of a column in some rows, in the container of these people."""
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
        """Some columns as features of a learner: numbers scaled to [0, 1], and an indicator for each category."""
        if not names:
            return np.empty((self.count, 0))
        encoder = Encoder(self.schema.select(*names), scale="unit", intercept=False, row_norm=None)
        return encoder.encode(self.batch)

    def model_input(self, columns: Sequence[str], changed: Mapping[str, Any]) -> Any:
        """Some columns as the model takes them; those in `changed` have one value for all, or another column."""
        values = {
            name: self._as_column(name, changed[name]) if name in changed else self.raw[name]
            for name in columns
        }
        if self.container == "frame":
            return import_optional("pandas").DataFrame(values)
        if self.container == "arrow":
            import pyarrow as pa

            return pa.table(values)
        return np.column_stack([np.asarray(column) for column in values.values()])

    def _as_column(self, name: str, value: Any) -> Any:
        """A column with one value for all people; a column is returned as it is."""
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
        """A raw column as an array, to be compared with the classes of a model."""
        values = self.raw[name]
        return np.asarray(values.to_pylist() if self.container == "arrow" else values)


def _arrow(table: Any, names: Sequence[str]) -> dict[str, Any]:
    import pyarrow as pa

    columns = arrow_columns(table, list(names))
    return {
        name: values if isinstance(values, pa.Array) else pa.array(table[name], from_pandas=True)
        for name, values in columns.items()
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
    """A schema for a frame or an Arrow table without one, read from its values: for the owner's eyes only.

    >>> schema_from_values({"age": list(range(20)), "sex": ["f", "m"] * 10}).domain
    {'age': 20, 'sex': 2}
    >>> schema_from_values({"ill": [True, False]})["ill"].labels
    ('false', 'true')
    """
    names = list(table) if isinstance(table, Mapping) else column_names(table)
    columns: list[Numeric | Categorical] = []
    for name, values in _arrow(table, names).items():
        import pyarrow as pa
        import pyarrow.compute as pc

        kinds = pc.unique(values).drop_null()
        if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
            numbers = np.asarray(kinds.cast(pa.float64(), safe=False))
            numbers = numbers[np.isfinite(numbers)]
            if numbers.size > MOST_GUESSED_CELLS:
                whole = bool(np.all(numbers == np.floor(numbers))) and float(np.abs(numbers).max()) < 2.0**50
                has_missing = values.null_count or (
                    pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py()
                )
                columns.append(
                    Numeric(
                        name,
                        float(numbers.min()),
                        float(numbers.max()),
                        integer=whole,
                        taken_from_data=True,
                        null="category" if has_missing else "midpoint",
                    )
                )
                continue
        # The texts are those by which a schema reads truth values and moments.
        categories = sorted(text for text in set(texts(kinds).to_pylist()) if text is not None)
        missing = "(missing)" if values.null_count else None
        columns.append(Categorical(name, categories or ["(missing)"], null=missing, taken_from_data=True))
    return Schema(columns)
