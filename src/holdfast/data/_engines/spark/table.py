"""The Spark engine: DataFrames are counted in SQL, summed on the executors and streamed as Arrow.

Only the DataFrame API is used, which classic Spark and Spark Connect share. For counts, sums and kernels over
partitions rows stay on the executors. Every result that reads rows is checked: as many rows came as the table holds,
and in a ranked order none came twice. A lost or repeated row is an error.
"""

from __future__ import annotations

import pickle
import uuid
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.data._arrow_columns import check_columns
from holdfast.data._batch import Batch
from holdfast.data._engines.spark import worker
from holdfast.data._engines.spark.dialect import KINDS, SparkDialect, SparkStatements
from holdfast.data._order import KEY_BYTES, KeyedHash, Order, PerRecordBatches, Shuffled
from holdfast.data._schema import Schema
from holdfast.data._sql.statements import distinct_sets, zero_filled
from holdfast.data._storage_kinds import Kind
from holdfast.data._table import CHUNK_ROWS, Aggregate, Partition, Statistic, Table
from holdfast.errors import AdjacencyError, DataError, ParameterError, require, withholding
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency

T = TypeVar("T")
#: About how many keys the driver reads to find where a part starts.
BUCKET_ROWS = 4_096
#: About how many rows a part has in which a model is trained: a task holds them encoded, 8 bytes for each feature.
PART_ROWS = 250_000
LOST_ROWS_TEXT = "Spark lost or repeated rows, or the table changed while it was read; nothing was returned"


_withholding = partial(withholding, "Spark")


def connect(
    source: Any,
    schema: Schema,
    *,
    table: str | None,
    adjacency: Adjacency,
    n_public: int | None,
    entropy: Source,
    partitions: int | None = None,
) -> SparkTable:
    """Open a DataFrame with this schema; only column names and types are read.

    `partitions` is the number of parts of the rows, in each of which methods such as bolt_on train a model to be
    averaged; by default a part has about `PART_ROWS` rows.
    """
    require(partitions is None or partitions >= 1, "partitions", partitions, ">= 1")
    require(table is None, "table", table, "left out for a Spark DataFrame", "pass spark.table(name)")
    if not (hasattr(source, "mapInArrow") and hasattr(source, "createOrReplaceTempView")):
        raise ParameterError(
            "source must be a DataFrame of pyspark.sql, classic or Connect, "
            f"got {type(source).__name__}; pass spark.table(name), or to_spark() of a pandas-on-Spark frame"
        )
    with _withholding("read the columns"):
        fields = [(str(field.name), str(field.dataType.typeName())) for field in source.schema.fields]
    check_columns([column.name for column in schema.columns], [name for name, _ in fields])
    view = f"holdfast_{uuid.uuid4().hex}"
    generated = [f"n{place}" for place in range(len(fields))]
    with _withholding("open the table"):
        source.toDF(*generated).createOrReplaceTempView(view)
    statements = SparkStatements(
        schema=schema,
        dialect=SparkDialect(
            names={name: column for (name, _), column in zip(fields, generated, strict=True)}
        ),
        source=view,
        kinds={name: KINDS.get(kind, Kind.unknown) for name, kind in fields},
        key=entropy.bytes(KEY_BYTES),
    )
    return SparkTable(
        schema,
        source.sparkSession,
        statements,
        adjacency=adjacency,
        n_public=n_public,
        partitions=partitions,
    )


def _drop(session: Any, view: str) -> None:
    with suppress(Exception):  # the session may be gone, and the view with it
        session.catalog.dropTempView(view)


class SparkTable(Table):
    """A DataFrame that Spark reads; the driver holds at most one partition of it.

    It has the capabilities `engine_sums` and `engine_parts`: methods of learning send statistics and kernels to the
    executors.
    """

    capabilities = frozenset({"sums", "map_partitions", "engine_sums", "engine_parts", "aggregates"})

    def __init__(
        self,
        schema: Schema,
        session: Any,
        statements: SparkStatements,
        *,
        adjacency: Adjacency,
        n_public: int | None,
        partitions: int | None,
    ) -> None:
        super().__init__(schema, adjacency=adjacency, n_public=n_public)
        self._partitions = partitions
        self._session = session
        self._statements = statements
        self._placed_statements: SparkStatements | None = None
        self._numbers: dict[str, int] = {}
        self._finalizer = weakref.finalize(self, _drop, session, statements.source)
        self._finalizer.atexit = False

    def close(self) -> None:
        """Drop the view that was made here; the session is the caller's."""
        self._finalizer()

    def parts(self) -> int:
        """The number of parts to train models in: as declared, or by the number of rows (public under replace)."""
        return 1 + self._rows() // PART_ROWS if self._partitions is None else self._partitions

    def _collect(self, statement: str, doing: str) -> Any:
        with _withholding(doing):
            return self._session.sql(statement).toArrow()

    def _number(self, statement: str) -> int:
        """The number that a statement gives, which is run only once: all methods must see the same one."""
        if statement not in self._numbers:
            number = self._collect(statement, "count").column(0)[0].as_py()
            self._numbers[statement] = int(number)
        return self._numbers[statement]

    def _rows(self) -> int:
        return self._number(self._statements.count())

    def _units(self) -> int:
        return self._rows() if self.unit.column is None else self._number(self._statements.users())

    def _beyond(self, most: int) -> int:
        return self._number(self._statements.beyond(most))

    def _statements_with_positions(self) -> SparkStatements:
        """Statements whose rows have positions; where identifiers repeat these cost one shuffle more."""
        if self._placed_statements is None:
            placed = replace(self._statements, placed=True)
            if self.schema.identifiers and not placed.bounds_users:
                placed = replace(placed, distinct=self._number(placed.repeats()) == 0)
            self._placed_statements = placed
        return self._placed_statements

    def _record_batches(self, statement: str) -> Iterator[Any]:
        """The result as Arrow record batches, in order, one partition at a time."""
        with _withholding("read the rows"):
            stream = (
                self._session.sql(statement)
                .mapInArrow(worker.pack_rows, worker.PACKED_ROWS_SCHEMA)
                .toLocalIterator()
            )
        while True:
            row = None
            with _withholding("read the rows"):
                row = next(stream, None)
            if row is None:
                return
            yield from worker.unpack_rows(row[0])

    def _stream(self, schema: Schema, order: Order, rows: int) -> Iterator[Batch]:
        if isinstance(order, PerRecordBatches):
            return self._sampled_batches(schema, order, rows)
        if isinstance(order, Shuffled | KeyedHash):
            return self._ranked_batches(schema, order, rows)
        return self._unranked_batches(schema, order, rows)

    def _unranked_batches(self, schema: Schema, order: Order, rows: int) -> Iterator[Batch]:
        seen = 0
        for arrow in worker.even_batches(
            self._record_batches(self._statements.rows_in_order(schema.names, order)), rows
        ):
            seen += arrow.num_rows
            yield worker.encode_arrow(schema, arrow, padded=False)
        self._require_all_rows(seen, self._rows())

    def _ranked_batches(self, schema: Schema, order: Order, rows: int) -> Iterator[Batch]:
        statements, ascent = self._statements_with_positions(), worker.Ascent()
        sorted_rows = f"SELECT * FROM ({statements.rows_with_keys(schema.names, order)}) ORDER BY h"
        for arrow in worker.even_batches(self._record_batches(sorted_rows), rows):
            ascent.see(arrow.column("h"))
            if not ascent.intact:
                raise DataError(LOST_ROWS_TEXT)
            yield worker.encode_arrow(schema, arrow, padded=statements.pads(order))
        self._require_all_rows(ascent.rows, self._total(order))

    def _sampled_batches(self, schema: Schema, order: PerRecordBatches, rows: int) -> Iterator[Batch]:
        """Batches of a stream that is sorted by batch number; empty ones where no row was drawn."""
        statement = self._statements_with_positions().rows_in_order(schema.names, order)
        number = 0
        parts: list[Any] = []
        for batch_number, arrow in worker.pieces(self._record_batches(statement), "batch"):
            while number < batch_number:
                yield worker.combine(schema, parts)
                number, parts = number + 1, []
            parts.append(arrow)
        while number < order.batches:
            yield worker.combine(schema, parts)
            number, parts = number + 1, []

    def _total(self, order: Order) -> int:
        """How many rows a ranked pass reads, with those that pad users."""
        return self._units() * self.unit.max_rows if self._statements.pads(order) else self._rows()

    def _require_all_rows(self, seen: int, expected: int) -> None:
        if seen != expected:
            raise DataError(LOST_ROWS_TEXT)

    def _count_cells(self, sets: list[tuple[str, ...]]) -> list[NDArray[np.int64]]:
        if not sets:
            return []
        arrow = self._collect(self._statements.counts(distinct_sets(sets)), "count")
        return zero_filled(self.schema, sets, arrow.to_batches())

    def _aggregate(self, aggregate: Aggregate[T]) -> T:
        arrow = self._collect(aggregate.statement(self._statements), "add up the rows")
        return aggregate.of_answer(self.schema, arrow.to_batches())

    def sums(self, statistic: Statistic, *, rows: int = CHUNK_ROWS) -> NDArray[np.float64]:
        """The sum of a statistic over all rows. The executors send one partial sum for each partition, and no row."""
        require(rows >= 1, "rows", rows, ">= 1")
        schema = self._select(statistic.columns)
        partial = worker.PartialSum(schema=schema, statistic=statistic, rows=rows)
        statement = self._statements.rows_in_order(schema.names, Order.irrelevant())
        with _withholding("sum the rows"):
            parts = self._session.sql(statement).mapInArrow(partial, worker.SUM_SCHEMA).toArrow()
        self._require_all_rows(sum(parts.column("rows").to_pylist()), self._rows())
        total = np.zeros(statistic.shape)
        for part in parts.column("total").to_pylist():
            total += np.frombuffer(part).reshape(statistic.shape)
        return total

    def map_partitions(
        self,
        kernel: Callable[[Iterator[Batch]], T],
        columns: Sequence[str] | None = None,
        *,
        order: Order | None = None,
        partitions: int = 1,
        rows: int = CHUNK_ROWS,
    ) -> list[Partition[T]]:
        """Run a kernel on the executors over each of `partitions` parts of the ordered rows.

        The part of a row follows from its rank under the keyed hash alone: the sizes of parts differ by at most one
        and are those of every other engine, whatever the DataFrame's own partitions are. The kernel and its result
        are pickled. Empty parts are run on the driver.
        """
        require(partitions >= 1, "partitions", partitions, ">= 1")
        require(rows >= 1, "rows", rows, ">= 1")
        schema = self._select(columns)
        order = Order.permutation() if order is None else order
        if not isinstance(order, Shuffled | KeyedHash):
            raise AdjacencyError(
                "map_partitions needs an order that ranks the records and that a retried task repeats: "
                "Order.permutation() or Order.keyed_hash(column)"
            )
        order.admit(self.adjacency, self.schema)
        statements = self._statements_with_positions()
        total = self._total(order)
        starts = [total * part // partitions for part in range(partitions + 1)]
        keyed = statements.rows_with_keys(schema.names, order)
        first_keys = self._first_keys(statements.rows_with_keys((), order), starts[1:-1], total)
        rows_with_parts = statements.parts(keyed, first_keys)
        parts = worker.Parts(
            schema=schema, kernel=kernel, starts=starts, rows=rows, padded=statements.pads(order)
        )
        with _withholding("run a kernel over the partitions"):
            rows_of_parts = _repartition_by_part(self._session.sql(rows_with_parts), partitions)
            answers = (
                rows_of_parts.sortWithinPartitions("part", "h")
                .mapInArrow(parts, worker.PART_RESULT_SCHEMA)
                .toArrow()
            )
        return _results_in_order(answers.to_pylist(), kernel, np.diff(starts).tolist())

    def _first_keys(self, keyed: str, starts: Sequence[int], total: int) -> list[bytes]:
        """The keys at these places of the sorted order, found by counting prefixes and reading the keys of a few."""
        if not starts or total == 0:
            return []
        digits = 0
        while total > BUCKET_ROWS * 16**digits:
            digits += 1
        counts = self._collect(SparkStatements.prefix_counts(keyed, digits), "rank the rows")
        sizes = dict(
            sorted(zip(counts.column("prefix").to_pylist(), counts.column("n").to_pylist(), strict=True))
        )
        self._require_all_rows(sum(sizes.values()), total)
        prefixes, ends = list(sizes), np.cumsum(list(sizes.values()))
        prefix_places = np.searchsorted(ends, starts, side="right")
        read_prefixes = sorted({prefixes[place] for place in prefix_places.tolist()})
        keys = (
            self._collect(SparkStatements.keys(keyed, read_prefixes), "rank the rows").column("h").to_pylist()
        )
        offsets = dict(
            zip(
                read_prefixes,
                np.cumsum([0, *(sizes[prefix] for prefix in read_prefixes)]).tolist(),
                strict=False,
            )
        )
        self._require_all_rows(len(keys), sum(sizes[prefix] for prefix in read_prefixes))
        first_keys = []
        for start, place in zip(starts, prefix_places.tolist(), strict=True):
            before = int(ends[place]) - sizes[prefixes[place]]
            first_keys.append(bytes(keys[offsets[prefixes[place]] + start - before]))
        return first_keys


def _repartition_by_part(rows: Any, partitions: int) -> Any:
    """Each part in a Spark partition of its own where Spark can do that (4.1), else by the hash of its number."""
    by_number = getattr(rows, "repartitionById", None)
    return rows.repartition(partitions, "part") if by_number is None else by_number(partitions, "part")


def _results_in_order(
    answers: list[Any], kernel: Callable[[Iterator[Batch]], T], sizes: list[int]
) -> list[Partition[T]]:
    """The results in the order of the parts; refused unless every part read each of its rows once."""
    results = {row["part"]: row for row in answers}
    expected = {part: size for part, size in enumerate(sizes) if size}
    intact = len(answers) == len(results) and all(row["intact"] for row in answers)
    if not intact or {part: row["rows"] for part, row in results.items()} != expected:
        raise DataError(LOST_ROWS_TEXT)
    return [
        Partition(
            value=pickle.loads(results[part]["value"]) if size else kernel(iter(())),
            rows=size,
        )
        for part, size in enumerate(sizes)
    ]
