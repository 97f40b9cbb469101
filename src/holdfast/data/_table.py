"""Table: rows that stay where they are, and the few queries that a private method may make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Codes
from holdfast._assumption import READ_FROM_DATA, Assumption
from holdfast._caution import warn
from holdfast._extensions import Author
from holdfast.data._batch import Batch
from holdfast.data._order import Order
from holdfast.data._schema import Schema
from holdfast.data._schema.kinds import KINDS, REGISTRY
from holdfast.errors import AdjacencyError, AssumptionWarning, ParameterError, require
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

T = TypeVar("T")
A = TypeVar("A", covariant=True)
#: A joint count of more cells is refused; choose fewer columns or fewer bins.
MOST_COUNT_CELLS = 2**27
CHUNK_ROWS = 65_536

UNITS_READ = Assumption(
    kind=READ_FROM_DATA,
    subject="n_public",
    voids=True,
    text="the number of privacy units was read from the data and is treated as public",
)


class Statistic(Protocol):
    """A sum over rows: of a batch it gives the sum over the batch's rows."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns it reads."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the sum, known before any row is seen."""

    def __call__(self, batch: Batch) -> NDArray[np.float64]:
        """The sum over these rows."""


class Aggregate(Protocol[A]):
    """A query over all rows of every unit that an engine computes in SQL, or from its rows in memory."""

    def of_rows(self, rows: UnitRows) -> A:
        """The answer, from rows in memory."""

    def statement(self, statements: Any) -> str:
        """The query of an engine with SQL: `holdfast.data._sql.statements.Statements`."""

    def of_answer(self, schema: Schema, batches: Iterable[Any]) -> A:
        """The answer, from the Arrow batches that the query gives."""


@dataclass(frozen=True)
class UnitRows:
    """All rows of a table, and the number of the unit that owns each; None where every row is a unit of its own."""

    batch: Batch
    owner: Codes | None


@checked
@dataclass(frozen=True, kw_only=True)
class Partition(Generic[T]):
    """What a kernel made of one part of the rows, and how many rows it saw.

    Parameters
    ----------
    value : object
        What the kernel returned.
    rows : int
        The number of rows in the part.

    Examples
    --------
    >>> from holdfast.data import Numeric, Schema, open_table
    >>> table = open_table({"age": [20, 30, 40]}, Schema([Numeric("age", 17, 90)]))
    >>> [part] = table.map_partitions(lambda batches: [batch.rows for batch in batches])
    >>> part.value, part.rows
    ([3], 3)
    """

    value: T
    rows: int


@checked
class Table(ABC):
    """Rows behind a schema. An engine answers `_rows`, `_units`, `_beyond`, `_stream` and `_count_cells`.

    Everything a table returns is private until noise is added: counts, sums and batches are exact. Where the
    privacy unit is a user, rows beyond the bound are left out before anything is computed.
    """

    #: The optional queries that this engine answers.
    capabilities: frozenset[str] = frozenset({"sums", "map_partitions"})

    #: Whether a fit of many passes may keep encoded rows in a private file: None leaves that to the engine
    #: (`can("local_copy")`). `copy_folder` is the folder of that file; None is the usual one for temporary files.
    local_copy: bool | None = None
    copy_folder: Path | None = None

    #: Assumptions of the way in which these rows are read.
    notes: tuple[Assumption, ...] = ()

    #: The author of the engine, where it is not one of holdfast's.
    engine_author: Author | None = None

    #: Whether a fit to it was paid without an account that adds up all its fits.
    fitted_alone: bool = False

    #: Opens the same rows with another schema, where a level of a hierarchy is still to be chosen.
    reopen: Callable[[Schema], Table] | None = None

    def __init__(self, schema: Schema, *, adjacency: Adjacency, n_public: int | None) -> None:
        self.schema = schema.require_confirmed()
        self.adjacency = adjacency
        self.n_public = n_public

    @property
    def unit(self) -> PrivacyUnit:
        """What is protected."""
        return self.schema.confirmed_unit

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What a promise about this table rests on beyond its theorem."""
        return self.schema.assumptions + self.notes + tuple(author.assumption for author in self._authors())

    def _authors(self) -> Iterator[Author]:
        """The authors of engine and column kinds that are not holdfast's, whose reading of rows has to be trusted."""
        kind = type(self)
        if self.engine_author is not None:
            yield self.engine_author
        elif not kind.__module__.startswith("holdfast."):
            name = f"{kind.__module__}:{kind.__qualname__}"
            yield Author(noun="engine", name=name, promise="reads every row once")
        for column in self.schema.columns:
            author = None if type(column) in KINDS.values() else REGISTRY.author(type(column))
            if author is not None:
                yield author

    def can(self, capability: str) -> bool:
        """Whether the engine answers the optional question `capability`, such as `"sums"`."""
        return capability in self.capabilities

    @property
    def copies(self) -> bool:
        """Whether encoded rows may be kept in a private file of this machine while a fit of many passes runs."""
        return self.can("local_copy") if self.local_copy is None else self.local_copy

    def count(self) -> int:
        """How many rows take part. Exact, hence private under `add_remove` and for users."""
        return self._rows()

    def units(self) -> int:
        """How many privacy units take part: rows, or users."""
        return self._units()

    def beyond(self, most: int) -> int:
        """How many rows users own beyond the bound, each user's rows counted up to `most`. Exact, hence private.

        With `most` one above the bound it is the number of users who own more rows than are kept.
        """
        bound = self.unit.max_rows
        require(most >= bound, "most", most, f">= max_rows = {bound}")
        return 0 if self.unit.column is None or most == bound else self._beyond(most)

    def public_count(self) -> tuple[int, tuple[Assumption, ...]]:
        """The number of privacy units that methods may divide by, and what that rests on.

        Under `replace` and `zero_out` this number is the same in all neighbours. Under `add_remove` it is
        `n_public`; without one the true number is used, with a warning and an assumption.
        """
        if self.adjacency.count_is_public:
            actual = self.units()
            if self.n_public is not None and self.n_public != actual:
                raise ParameterError(
                    f"n_public must be the number of units, {actual}, under {self.adjacency.value!r}, "
                    f"got n_public={self.n_public}; leave it out"
                )
            return actual, ()
        if self.n_public is not None:
            return self.n_public, ()
        warn(f"{UNITS_READ.text}; declare n_public under add_remove", AssumptionWarning)
        return self.units(), (UNITS_READ,)

    def batches(
        self, columns: Sequence[str] | None = None, *, order: Order | None = None, rows: int = CHUNK_ROWS
    ) -> Iterator[Batch]:
        """The clipped and coded rows of `columns` in an admissible order, `rows` at a time.

        Without `order` the rows are shuffled secretly. A ranking order over users with several rows reads
        every user padded to the bound (`Batch.present`), because the number of rows is not public.
        """
        schema = self._select(columns)
        require(rows >= 1, "rows", rows, ">= 1")
        order = Order.permutation() if order is None else order
        order.admit(self.adjacency, self.schema)
        return self._stream(schema, order, rows)

    def counts(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Joint counts over the declared cells, zero where no row falls; one array for each set in `column_sets`."""
        sets = [tuple(names) for names in column_sets]
        for names in sets:
            require(len(set(names)) == len(names), "column_sets", names, "sets of different columns")
            cells = self.schema.cells(*names)
            require(
                cells <= MOST_COUNT_CELLS,
                "cells",
                cells,
                f"<= {MOST_COUNT_CELLS}",
                f"fewer bins or columns than {names}",
            )
        return self._count_cells(sets)

    def sums(self, statistic: Statistic, *, rows: int = CHUNK_ROWS) -> NDArray[np.float64]:
        """The sum of a statistic over all rows, a chunk at a time (see `holdfast.data._statistics`)."""
        require(callable(statistic), "statistic", type(statistic).__name__, "a Statistic, which sums a batch")
        total = np.zeros(statistic.shape)
        for batch in self.batches(statistic.columns, order=Order.irrelevant(), rows=rows):
            total += statistic(batch)
        return total

    def aggregate(self, aggregate: Aggregate[T]) -> T:
        """What an `aggregate` gives of all rows of every unit, none left out. Exact, hence private."""
        if not self.can("aggregates"):
            raise ParameterError(
                f"{type(self).__name__} does not add up all rows of every unit, which statistics need; open the rows "
                "in memory, as in open_table(pyarrow.parquet.read_table(...)), or with DuckDB"
            )
        return self._aggregate(aggregate)

    def map_partitions(
        self,
        kernel: Callable[[Iterator[Batch]], T],
        columns: Sequence[str] | None = None,
        *,
        order: Order | None = None,
        partitions: int = 1,
        rows: int = CHUNK_ROWS,
    ) -> list[Partition[T]]:
        """Run `kernel` over the `columns` of each of `partitions` parts of the rows in this `order`.

        Sizes differ by at most one and depend on the count only. Ranking orders only: which part a record
        is in must not depend on the other records' values.
        """
        require(partitions >= 1, "partitions", partitions, ">= 1")
        order = Order.permutation() if order is None else order
        if not order.ranks:
            raise AdjacencyError(
                "map_partitions needs an order that ranks the records, such as Order.permutation()"
            )
        stream = self.batches(columns, order=order, rows=rows)
        total = self.units() * self.unit.max_rows
        borders = [total * part // partitions for part in range(partitions + 1)]
        cutter = _Cutter(stream)
        answers = []
        for size in np.diff(borders).tolist():
            piece = cutter.take(size)
            value = kernel(piece)
            for _ in piece:  # a kernel may stop early; the next part must still start at its own first row
                pass
            answers.append(Partition(value=value, rows=size))
        return answers

    def close(self) -> None:
        """Close files and connections."""
        return None

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _select(self, columns: Sequence[str] | None) -> Schema:
        names = self.schema.names if columns is None else tuple(columns)
        require(not isinstance(columns, str), "columns", columns, "a list of names")
        return self.schema.select(*names)

    def _aggregate(self, aggregate: Aggregate[T]) -> T:
        """Of engines that can "aggregates"."""
        raise NotImplementedError

    @abstractmethod
    def _rows(self) -> int: ...

    @abstractmethod
    def _units(self) -> int: ...

    @abstractmethod
    def _beyond(self, most: int) -> int: ...

    @abstractmethod
    def _stream(self, schema: Schema, order: Order, rows: int) -> Iterator[Batch]: ...

    @abstractmethod
    def _count_cells(self, sets: list[tuple[str, ...]]) -> list[NDArray[np.int64]]: ...


class _Cutter:
    """Cuts a stream of batches at given numbers of rows."""

    def __init__(self, stream: Iterator[Batch]) -> None:
        self._stream = stream
        self._rest: Batch | None = None

    def take(self, rows: int) -> Iterator[Batch]:
        while rows > 0:
            batch = self._rest if self._rest is not None else next(self._stream, None)
            if batch is None:
                return
            head = batch.take(slice(0, rows))
            self._rest = batch.take(slice(rows, None)) if len(batch) > rows else None
            rows -= len(head)
            yield head
