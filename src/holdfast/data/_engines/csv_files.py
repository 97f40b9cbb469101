r"""CSV files as Arrow batches of texts, where no line has an influence on how another is read.

A record ends at a line end: `\n`, `\r\n`, or `\n` behind several `\r`, as programs write that end their lines twice. A
line that cannot be read as declared (a field too many or too few, a byte that is not of the encoding, a quote in the
middle of a field, more than `MOST_RECORD_BYTES`) is a row without a value in any column, so that the schema's policy
for missing values decides what it counts as. No line makes the reading fail, and none is ever shown. An empty line is
no record, except in a file of one column.

Lines are checked first, a block of the file at a time, so that Arrow's parser gets only lines that it can read.
With `quoted_newlines` a line with an open quote is joined with those that follow, up to the line that closes it; where
that gives no readable record, the line is broken and reading goes on with the next line.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Bools, Codes
from holdfast._regular_file import open_regular
from holdfast.data._schema.csv_format import CsvFormat
from holdfast.errors import DataError

#: A longer record, of one line or several, is broken.
MOST_RECORD_BYTES = 2**20
#: How much of the file is read at a time, at most; Arrow's threads parse quarters of it.
BLOCK_BYTES = 2**24
_SMALL_BLOCK_BYTES = 2**18
"""Of a small file, which may be packed. Checking a block takes up to sixty times its bytes where all are delimiters."""
_BYTE_ORDER_MARK = codecs.BOM_UTF8
_NEWLINE, _RETURN = 10, 13
Bytes = NDArray[np.uint8]

# Bytes that cannot be decoded become half of a surrogate pair, which is not valid UTF-8: their line is broken.
codecs.register_error("holdfast-broken", lambda error: ("\ud800", error.end))  # type: ignore[attr-defined]


@contextmanager
def csv_bytes(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a CSV file, which may be packed."""
    with open_regular(path) as (stored, _):
        yield gzip.GzipFile(fileobj=stored) if path.lower().endswith(".gz") else stored  # type: ignore[misc]


@dataclass(frozen=True, kw_only=True)
class CsvFile:
    """One file, and how it is written."""

    path: str
    format: CsvFormat

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The column names, from the first line. Errors do not show it, since it may be a row of data."""
        line = (
            self._without_heading(next(self._blocks(), b"")).partition(b"\n")[0].removesuffix(b"\r") + b"\n"
        )
        raw = np.frombuffer(line, dtype=np.uint8)
        starts, stops = _lines(raw)
        fields = self._rules(1).fields_of(raw, starts) if len(starts) == 1 else 0
        if (
            not fields
            or not self._rules(fields).sound(raw, starts, stops).all()
            or len(line) == 1
            or b"\0" in line
        ):
            raise DataError(
                f"a CSV file must start with a line of column names, written in {self.format.encoding} and with the "
                "declared delimiter and quote; declare them as csv in the schema"
            )
        (row,) = self._rules(fields).table_of(line, range(fields)).to_pylist()
        names = tuple("" if name is None else str(name) for name in row.values())
        if len(set(names)) != len(names):
            raise DataError("a CSV file must start with a line of column names that differ")
        return names

    def batches(self, columns: Sequence[int]) -> Iterator[Any]:
        """These columns (places among `names`) of all rows, as texts; null where a field is empty."""
        rules = self._rules(len(self.names))
        rest, header = b"", True
        for block, last in _with_last(self._blocks()):
            block = rest + block
            if header:
                block = self._without_heading(block)
                block, header = block[block.find(b"\n") + 1 :], False
            raw = np.frombuffer(block, dtype=np.uint8)
            starts, stops = _lines(raw)
            done = len(block)
            if self.format.quoted_newlines:
                starts, stops, done = rules.whole_records(raw, starts, stops, last=last)
            rest = block[done:]
            lines = rules.readable_lines(block[:done], raw[:done], starts, stops)
            if lines:
                yield from rules.table_of(lines, columns).to_batches()

    def _without_heading(self, block: bytes) -> bytes:
        """The first block without the lines that the format skips, so that it starts with the line of names."""
        for _ in range(self.format.skip):
            block = block[block.find(b"\n") + 1 :] if b"\n" in block else b""
        return block

    def _rules(self, fields: int) -> LineRules:
        return LineRules(fields=fields, delimiter=self.format.delimiter_of(self.path), format=self.format)

    def _blocks(self) -> Iterator[bytes]:
        """The file as UTF-8 without a byte order mark, in blocks of whole lines; also the last line has a line end."""
        decode: Callable[[bytes], bytes] = bytes
        if self.format.encoding != "utf-8":
            decoder = codecs.getincrementaldecoder(self.format.encoding)("holdfast-broken")
            decode = lambda piece: decoder.decode(piece, not piece).encode("utf-8", "surrogatepass")  # noqa: E731
        block_bytes = min(BLOCK_BYTES, _SMALL_BLOCK_BYTES + os.stat(self.path).st_size // 4)
        with csv_bytes(self.path) as file:
            rest, mark_removed, last = b"", False, False
            while not last:
                piece = file.read(block_bytes)
                last = not piece
                block = rest + decode(piece)
                if not mark_removed and (last or len(block) >= len(_BYTE_ORDER_MARK)):
                    block, mark_removed = block.removeprefix(_BYTE_ORDER_MARK), True
                if last and not block.endswith(b"\n") and block:
                    block += b"\n"
                cut = block.rfind(b"\n") + 1
                # Of a line that is too long only the beginning is kept: it stays too long.
                rest = block[cut : cut + MOST_RECORD_BYTES + 2]
                if cut and mark_removed:
                    yield _with_single_returns(block[:cut])


@dataclass(frozen=True, kw_only=True)
class LineRules:
    """Which lines are records of this number of fields, and how their fields are read."""

    fields: int
    delimiter: str
    format: CsvFormat

    def fields_of(self, raw: Bytes, starts: Codes) -> int:
        """How many fields one record has; delimiters inside quotes part none."""
        delimiters = np.flatnonzero(raw == ord(self.delimiter))
        quotes = np.flatnonzero(raw == ord(self.format.quote)) if self.format.quote else delimiters[:0]
        return 1 + len(_outside(delimiters, quotes, raw, starts) if len(quotes) else delimiters)

    def sound(self, raw: Bytes, starts: Codes, stops: Codes) -> Bools:
        """Which of the records, each from its start up to its stop, can be read."""
        if not len(starts):
            return np.zeros(0, dtype=np.bool_)
        delimiters = np.flatnonzero(raw == ord(self.delimiter))
        returns = np.flatnonzero(raw == _RETURN)
        returns = returns[raw[returns + 1] != _NEWLINE]
        good = (stops - starts) <= MOST_RECORD_BYTES
        quotes = np.flatnonzero(raw == ord(self.format.quote)) if self.format.quote else delimiters[:0]
        if len(quotes):
            before = np.searchsorted(quotes, starts)
            among = np.searchsorted(quotes, stops) - before
            good &= among % 2 == 0
            good[self._records_with_stray_quotes(raw, quotes, before, among, starts, stops)] = False
            delimiters = _outside(delimiters, quotes, raw, starts)
            if self.format.quoted_newlines:
                returns = _outside(returns, quotes, raw, starts)
        good &= np.searchsorted(delimiters, stops) - np.searchsorted(delimiters, starts) == self.fields - 1
        if len(returns):
            good &= np.searchsorted(returns, stops) == np.searchsorted(returns, starts)
        return good & _is_unicode(raw, starts, stops)

    def _records_with_stray_quotes(
        self, raw: Bytes, quotes: Codes, before: Codes, among: Codes, starts: Codes, stops: Codes
    ) -> Codes:
        """The records with a quote that neither opens nor closes a field and is not a doubled quote inside of one."""
        record = np.repeat(np.arange(len(starts)), among)
        first_quote = np.concatenate([[0], np.cumsum(among)[:-1]]) if len(among) else among
        rank = np.arange(len(record)) - first_quote[record]
        quotes = quotes[before[record] + rank]
        opens = rank % 2 == 0
        neighbour = np.where(opens, np.maximum(quotes, 1) - 1, quotes + 1)
        beside = raw[neighbour]
        at_edge = np.where(opens, quotes == starts[record], quotes + 1 == stops[record])
        doubled = (beside == ord(self.format.quote)) & (~opens | (rank > 0))
        broken: Codes = record[~(at_edge | (beside == ord(self.delimiter)) | doubled)]
        return broken

    def whole_records(
        self, raw: Bytes, starts: Codes, stops: Codes, *, last: bool
    ) -> tuple[Codes, Codes, int]:
        """Starts and stops of the records, of one line or several, and where the first record starts that may go on.

        That one, at the end of a block, has an open quote and is read again with the next block.
        """
        quotes = np.flatnonzero(raw == ord(self.format.quote))
        among = np.searchsorted(quotes, stops) - np.searchsorted(quotes, starts)
        open_lines = np.flatnonzero((among % 2 == 1) & (stops - starts <= MOST_RECORD_BYTES))
        pairs, done, place = [], len(raw), 0
        openers, closers = open_lines[: len(open_lines) // 2 * 2 : 2], open_lines[1::2]
        if len(open_lines) % 2 == 0 and bool(self.sound(raw, starts[openers], stops[closers]).all()):
            pairs, place = [openers, closers], len(open_lines)  # what the loop below would find, but faster
        first, final = (list(places) for places in pairs) if pairs else ([], [])
        while place < len(open_lines):
            here = int(open_lines[place])
            after = int(open_lines[place + 1]) if place + 1 < len(open_lines) else None
            if after is None and not last and len(raw) - starts[here] <= MOST_RECORD_BYTES:
                done = int(starts[here])
                break
            whole = after is not None and self._sound_alone(raw, int(starts[here]), int(stops[after]))
            if whole:
                first.append(here)
                final.append(after)
            place += 2 if whole else 1
        return _merge_lines(starts, stops, np.array(first, np.int64), np.array(final, np.int64), done)

    def _sound_alone(self, raw: Bytes, start: int, stop: int) -> bool:
        if stop - start > MOST_RECORD_BYTES:
            return False
        record = np.append(raw[start:stop], np.uint8(_NEWLINE))
        return bool(self.sound(record, np.array([0]), np.array([stop - start]))[0])

    def readable_lines(self, block: bytes, raw: Bytes, starts: Codes, stops: Codes) -> bytes:
        """The block with a record without values in place of each broken one, and without empty lines."""
        good = self.sound(raw, starts, stops)
        empty = (stops == starts) & (self.fields > 1)
        replaced = np.flatnonzero(~good | empty)
        if not len(replaced):
            return block
        ends = np.append(starts[1:], len(block))
        pieces, at = [], 0
        empty_record = self.delimiter.encode() * (self.fields - 1) + b"\n"
        for place in replaced.tolist():
            pieces += [block[at : int(starts[place])], b"" if empty[place] else empty_record]
            at = int(ends[place])
        return b"".join([*pieces, block[at:]])

    def table_of(self, lines: bytes, columns: Sequence[int]) -> Any:
        """These columns (by their places) of readable lines, as an Arrow table of texts."""
        import pyarrow as pa
        from pyarrow import csv

        chosen = [f"n{place}" for place in columns]
        parsed = chosen or ["n0"]  # where no column is wanted, one still shows how many rows there are
        guard = lines.startswith(
            _BYTE_ORDER_MARK
        )  # it belongs to a row; Arrow would take it for the file's own
        table = csv.read_csv(
            pa.BufferReader(b"\n" + lines if guard else lines),
            read_options=csv.ReadOptions(
                column_names=[f"n{place}" for place in range(self.fields)],
                block_size=max(BLOCK_BYTES // 4, 4 * MOST_RECORD_BYTES),
                skip_rows=int(guard),
            ),
            parse_options=csv.ParseOptions(
                delimiter=self.delimiter,
                quote_char=self.format.quote or False,
                double_quote=True,
                newlines_in_values=self.format.quoted_newlines,
                ignore_empty_lines=False,
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(parsed, pa.string()),
                include_columns=parsed,
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        return table


def _with_single_returns(block: bytes) -> bytes:
    """The block with one carriage return where a line ends in several, unless these make the line too long."""
    if b"\r\r\n" not in block:
        return block
    return re.sub(rb"(?<!\r)\r{2,%d}\n" % MOST_RECORD_BYTES, b"\r\n", block)


def _lines(raw: Bytes) -> tuple[Codes, Codes]:
    """Where each line starts, and where it stops before its line end."""
    ends = np.flatnonzero(raw == _NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    has_return = (ends > starts) & (raw[ends - 1] == _RETURN)
    return starts.astype(np.int64), ends - has_return


def _outside(places: Codes, quotes: Codes, raw: Bytes, starts: Codes) -> Codes:
    """Those of the places that are not inside quotes, counted from the start of their record."""
    # `flips` is 1 where the number of quotes so far is odd; a record that starts where it is 1 counts from there.
    flips = np.zeros(len(raw) + 1, dtype=np.uint8)
    flips[quotes] = 1
    np.bitwise_xor.accumulate(flips, out=flips)
    left_open = np.where(starts > 0, flips[np.maximum(starts, 1) - 1], 0)
    record: Any = 0
    if left_open.any():
        record = np.maximum(np.searchsorted(starts, places, side="right") - 1, 0)
    outside: Codes = places[flips[places] == left_open[record]]
    return outside


def _merge_lines(
    starts: Codes, stops: Codes, first: Codes, final: Codes, done: int
) -> tuple[Codes, Codes, int]:
    """The records up to `done`, when each run of lines from one of `first` to one of `final` is one record."""
    before_end = starts < done
    continues = np.zeros(len(starts) + 1, dtype=np.int64)
    np.add.at(continues, first + 1, 1)
    np.add.at(continues, final + 1, -1)
    stops = stops.copy()
    stops[first] = stops[final]
    before_end &= np.cumsum(continues)[:-1] == 0
    return starts[before_end], stops[before_end], done


def _is_unicode(raw: Bytes, starts: Codes, stops: Codes) -> Bools:
    """Which records are valid UTF-8; they are decoded one by one only where the bytes as a whole are not."""
    good = np.ones(len(starts), dtype=np.bool_)
    try:
        raw.tobytes().decode()
    except UnicodeDecodeError:
        not_ascii = np.flatnonzero(raw >= 0x80)
        suspects = np.searchsorted(not_ascii, stops) > np.searchsorted(not_ascii, starts)
        for place in np.flatnonzero(suspects).tolist():
            try:
                raw[starts[place] : stops[place]].tobytes().decode()
            except UnicodeDecodeError:
                good[place] = False
    return good


def _with_last(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each block, and whether it is the last."""
    block = next(blocks, None)
    while block is not None:
        following = next(blocks, None)
        yield block, following is None
        block = following
