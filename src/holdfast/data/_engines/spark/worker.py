"""Functions that run on Spark's executors: they take the rows of a partition as Arrow and return one small row.

They are sent by name, so holdfast must be installed where the executors run. Their results must not depend on the
attempt: Spark tries a task that failed again, and uses one of its results.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data._batch import Batch, encode_batch
from holdfast.data._schema import Schema
from holdfast.data._table import Statistic

PACKED_ROWS_SCHEMA = "packed binary"
SUM_SCHEMA = "rows bigint, total binary"
PART_RESULT_SCHEMA = "part int, rows bigint, intact boolean, value binary"
KEY_WORD_DTYPE = ">u8"


def encode_arrow(schema: Schema, arrow: Any, *, padded: bool) -> Batch:
    """A batch from raw columns in the schema's order, and `present` after them where users are padded."""
    columns = {name: arrow.column(place) for place, name in enumerate(schema.names)}
    batch = encode_batch(schema, columns, arrow.num_rows)
    if not padded:
        return batch
    present = arrow.column(len(schema.names)).to_numpy(zero_copy_only=False)
    return replace(batch, present=np.asarray(present, dtype=np.bool_))


def even_batches(stream: Iterable[Any], rows: int, *, first: int | None = None) -> Iterator[Any]:
    """The same rows in record batches of `rows` rows; the first has `first` rows, the last what is left."""
    import pyarrow as pa

    parts: list[Any] = []
    part_rows, size = 0, rows if first is None else first
    for arrow in stream:
        parts.append(arrow)
        part_rows += arrow.num_rows
        while part_rows >= size:
            whole = pa.Table.from_batches(parts).combine_chunks()
            yield from whole.slice(0, size).to_batches()
            parts, part_rows, size = whole.slice(size).to_batches(), part_rows - size, rows
    if part_rows:
        yield from pa.Table.from_batches(parts).combine_chunks().to_batches()


@dataclass
class Ascent:
    """Checks that keys come in strictly rising order, so that no row comes twice."""

    rows: int = 0
    intact: bool = True
    _last: NDArray[np.uint64] | None = field(default=None, repr=False)

    def see(self, keys: Any) -> None:
        """Check the next keys: Arrow binaries of one width, a multiple of 8 bytes."""
        if not len(keys):
            return
        digits = key_words(keys)
        with_last = digits if self._last is None else np.concatenate([self._last[None, :], digits])
        self.intact &= bool(_rises(with_last).all())
        self.rows += len(digits)
        self._last = digits[-1]


def key_words(keys: Any) -> NDArray[np.uint64]:
    """Keys as rows of 64-bit words, most significant first."""
    joined = b"".join(keys.to_pylist())
    return np.frombuffer(joined, dtype=KEY_WORD_DTYPE).astype(np.uint64).reshape(len(keys), -1)


def _rises(rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """For each key but the first, whether it is larger than the one before."""
    before, after = rows[:-1], rows[1:]
    above = np.zeros(len(before), dtype=np.bool_)
    equal = np.ones(len(before), dtype=np.bool_)
    for word in range(rows.shape[1]):
        above |= equal & (after[:, word] > before[:, word])
        equal &= after[:, word] == before[:, word]
    return above


def pack_rows(batches: Iterator[Any]) -> Iterator[Any]:
    """Each record batch as one row of bytes, so that rows are streamed to the driver as Arrow."""
    import pyarrow as pa

    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.record_batch({"packed": pa.array([sink.getvalue().to_pybytes()], pa.binary())})


def unpack_rows(packed: bytes) -> Iterator[Any]:
    """The record batches that `pack_rows` packed."""
    import pyarrow as pa

    with pa.ipc.open_stream(pa.BufferReader(bytes(packed))) as reader:
        yield from reader


@dataclass(frozen=True, kw_only=True)
class PartialSum:
    """The sum of a statistic over the rows of one partition, and how many rows these are."""

    schema: Schema
    statistic: Statistic
    rows: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """One row with the sum."""
        import pyarrow as pa

        total, seen = np.zeros(self.statistic.shape), 0
        for arrow in chain.from_iterable(_slices(batch, self.rows) for batch in batches):
            total += self.statistic(encode_arrow(self.schema, arrow, padded=False))
            seen += arrow.num_rows
        answer = {"rows": pa.array([seen], pa.int64()), "total": pa.array([total.tobytes()], pa.binary())}
        yield pa.record_batch(answer)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Runs a kernel over each part of the ordered rows that a Spark partition holds, sorted by `part` and `h`.

    Part p starts at place `starts[p]` of the whole order, so that batches end where those of one stream would end.
    """

    schema: Schema
    kernel: Callable[[Iterator[Batch]], Any]
    starts: Sequence[int]
    rows: int
    padded: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """One row for each part that has rows."""
        import pyarrow as pa

        for part, part_pieces in groupby(pieces(batches, "part"), key=lambda piece: piece[0]):
            ascent = Ascent()
            stream = self._stream(part, (arrow for _, arrow in part_pieces), ascent)
            value = self.kernel(stream)
            for _ in stream:  # a kernel may stop early, but every row must be counted
                pass
            yield pa.record_batch(
                {
                    "part": pa.array([part], pa.int32()),
                    "rows": pa.array([ascent.rows], pa.int64()),
                    "intact": pa.array([ascent.intact], pa.bool_()),
                    "value": pa.array([pickle.dumps(value)], pa.binary()),
                }
            )

    def _stream(self, part: int, arrows: Iterator[Any], ascent: Ascent) -> Iterator[Batch]:
        first = self.rows - self.starts[part] % self.rows
        for arrow in even_batches(arrows, self.rows, first=first):
            ascent.see(arrow.column("h"))
            yield encode_arrow(self.schema, arrow, padded=self.padded)


def _slices(arrow: Any, rows: int) -> Iterator[Any]:
    return (arrow.slice(start, rows) for start in range(0, arrow.num_rows, rows))


def pieces(batches: Iterable[Any], column: str) -> Iterator[tuple[int, Any]]:
    """Each record batch, cut where the number in this column changes."""
    for arrow in batches:
        number = arrow.column(column).to_numpy()
        borders = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
        for first, last in pairwise(borders):
            if first < last:
                yield int(number[first]), arrow.slice(first, last - first)


def combine(schema: Schema, parts: Sequence[Any]) -> Batch:
    """Record batches as one batch, which is empty where there are none."""
    import pyarrow as pa

    if parts:
        return encode_arrow(schema, pa.Table.from_batches(list(parts)), padded=False)
    return encode_batch(schema, {name: pa.nulls(0) for name in schema.names}, 0)
