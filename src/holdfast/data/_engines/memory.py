"""The memory engine: arrays and data frames. Tests compare every other engine with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.data._arrow_columns import arrow_columns
from holdfast.data._batch import Batch, encode_batch
from holdfast.data._bounded_users import KeptRows, identifier_texts, keep_rows
from holdfast.data._order import KEY_BYTES, Order, PerRecordBatches
from holdfast.data._schema import Schema
from holdfast.data._table import Aggregate, Table, UnitRows
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency

T = TypeVar("T")


def connect(
    source: Any,
    schema: Schema,
    *,
    table: str | None,
    adjacency: Adjacency,
    n_public: int | None,
    entropy: Source,
) -> MemoryTable:
    """Read every declared column of a data frame, Arrow table or mapping."""
    require(table is None, "table", table, "left out for data in memory")
    columns = arrow_columns(source, [column.name for column in schema.columns])
    return MemoryTable(schema, columns, adjacency=adjacency, n_public=n_public, key=entropy.bytes(KEY_BYTES))


class MemoryTable(Table):
    """A table whose encoded columns are held in memory."""

    capabilities = Table.capabilities | {"aggregates"}

    def __init__(
        self,
        schema: Schema,
        columns: Mapping[str, Any],
        *,
        adjacency: Adjacency,
        n_public: int | None,
        key: bytes,
    ) -> None:
        super().__init__(schema, adjacency=adjacency, n_public=n_public)
        rows = len(next(iter(columns.values()))) if columns else 0
        encoded = encode_batch(schema, columns, rows)
        identifiers = {name: identifier_texts(columns[name]) for name in schema.identifiers}
        self._kept: KeptRows | None = None
        every_row = replace(
            encoded,
            identifiers={name: np.asarray(texts, dtype=object) for name, texts in identifiers.items()},
        )
        self._every_row = UnitRows(every_row, None)
        if schema.confirmed_unit.column is not None:
            values = [array for name in schema.names for array in _distinguishing_arrays(encoded, name)]
            # Last, as in the SQL of `Statements`: whether a value is undeclared, so that the row has no target.
            undeclared = [encoded.undeclared[name] for name in schema.names if name in encoded.undeclared]
            ties = [
                np.unique(np.asarray(identifiers[n], dtype=object), return_inverse=True)[1]
                for n in identifiers
            ]
            unit = schema.confirmed_unit
            bounded = keep_rows(
                identifiers[str(unit.column)], [*values, *ties, *undeclared], max_rows=unit.max_rows, key=key
            )
            self._every_row = UnitRows(every_row, _unit_numbers(identifiers[str(unit.column)]))
            encoded = encoded.take(bounded.row)
            identifiers = {name: [texts[row] for row in bounded.row] for name, texts in identifiers.items()}
            self._kept = bounded
        self._encoded = encoded
        self._identifiers = identifiers

    def _rows(self) -> int:
        return len(self._encoded)

    def _units(self) -> int:
        return self._rows() if self._kept is None else self._kept.users

    def _beyond(self, most: int) -> int:
        if self._kept is None:
            return 0
        return int(np.maximum(np.minimum(self._kept.owned, most) - self.unit.max_rows, 0).sum())

    def _aggregate(self, aggregate: Aggregate[T]) -> T:
        return aggregate.of_rows(self._every_row)

    def _stream(self, schema: Schema, order: Order, rows: int) -> Iterator[Batch]:
        whole = replace(
            self._encoded,
            schema=schema,
            values={name: self._encoded.values[name] for name in schema.names},
            missing={name: mask for name, mask in self._encoded.missing.items() if name in schema.names},
            undeclared={
                name: mask for name, mask in self._encoded.undeclared.items() if name in schema.names
            },
        )
        if isinstance(order, PerRecordBatches):
            for members in order.members(len(whole)):
                yield whole.take(members)
            return
        slots, owners = self._slots(order)
        index = order.index(
            len(slots), lambda name: owners if owners is not None else self._identifiers[name]
        )
        for start in range(0, len(index), rows):
            places = slots[index[start : start + rows]]
            batch = whole.take(np.maximum(places, 0))
            yield batch if owners is None else replace(batch, present=places >= 0)

    def _slots(self, order: Order) -> tuple[NDArray[np.int64], list[str] | None]:
        """The row of each place in the order, -1 for a null row; and the user of each place, where users are padded."""
        size = self.unit.max_rows
        if self._kept is None or size == 1 or not order.ranks:
            return np.arange(len(self._encoded), dtype=np.int64), None
        slots = np.full(self._kept.users * size, -1, dtype=np.int64)
        slots[self._kept.user * size + self._kept.slot] = np.arange(len(self._encoded))
        names = [""] * self._kept.users
        for user, name in zip(self._kept.user, self._identifiers[str(self.unit.column)], strict=True):
            names[user] = name
        return slots, [name for name in names for _ in range(size)]

    def _count_cells(self, sets: list[tuple[str, ...]]) -> list[NDArray[np.int64]]:
        codes = {name: self._encoded.codes(name) for name in {name for names in sets for name in names}}
        return [self._joint_count(names, codes) for names in sets]

    def _joint_count(
        self, names: tuple[str, ...], codes: Mapping[str, NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        shape = self.schema.shape(*names)
        if not names:
            return np.array(len(self._encoded), dtype=np.int64)
        cell = np.ravel_multi_index([codes[name] for name in names], shape)
        return np.bincount(cell, minlength=self.schema.cells(*names)).astype(np.int64).reshape(shape)


def _unit_numbers(names: list[str]) -> NDArray[np.int64]:
    """A number for each unit, by its text."""
    return np.unique(np.asarray(names, dtype=object), return_inverse=True)[1].astype(np.int64)


def _distinguishing_arrays(batch: Batch, name: str) -> list[NDArray[Any]]:
    """By what two rows differ in one column: the value, and whether it was missing."""
    mask = batch.missing.get(name)
    return [batch.values[name]] if mask is None else [batch.values[name], mask]
