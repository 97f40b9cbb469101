r"""CSV files as Arrow batches of texts, each row from its own line and from nothing else.

A record ends at a line end: `\n`, `\r\n`, or `\n` behind several `\r`, as programs write that end their lines twice. A
line that cannot be read as declared (a field too many or too few, a byte that is not of the encoding, a quote in the
middle of a field, more than `MOST_BYTES`) is a row without a value in any column, so that the schema's policy for
missing values decides what it counts as. No line changes how another is read, fails the reading or is ever shown. An
empty line is no record, except in a file of one column.

Lines are checked first, in vectors over a block of the file; what Arrow's parser then gets holds sound lines only.
With `quoted_newlines` a line with an open quote is joined with those that follow, up to the line that closes it; where
that gives no sound record, the line is broken and reading goes on at the next.
"""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Bools, Codes
from holdfast.data._schema.csv_format import CsvFormat
from holdfast.errors import DataError

#: A longer line, or record of several lines, is broken.
MOST_BYTES = 2**20
#: So much of the file is read at a time; Arrow's threads take it in quarters.
BLOCK_BYTES = 2**24
_BYTE_ORDER_MARK = codecs.BOM_UTF8
_NEWLINE, _RETURN = 10, 13
Bytes = NDArray[np.uint8]

# What an encoding cannot decode becomes half of a surrogate pair, which no UTF-8 holds: its line is then broken.
codecs.register_error("holdfast-broken", lambda error: ("\ud800", error.end))  # type: ignore[attr-defined]


@dataclass(frozen=True, kw_only=True)
class CsvFile:
    """One file, and how it is written."""

    path: str
    format: CsvFormat

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The column names, from the first line; no part of it is in an error, since it may be a row."""
        line = (
            self._without_heading(next(self._blocks(), b"")).partition(b"\n")[0].removesuffix(b"\r") + b"\n"
        )
        raw = np.frombuffer(line, dtype=np.uint8)
        starts, stops = _lines(raw)
        # Quoted names may hold delimiters: there are as many fields as make the line a sound one.
        most = 1 + line.count(self.format.delimiter_of(self.path).encode())
        fields = next((n for n in range(most, 0, -1) if self._rules(n).sound(raw, starts, stops).all()), 0)
        if not fields or len(line) == 1 or b"\0" in line:
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
        """The first block from the line of names on."""
        for _ in range(self.format.skip):
            block = block[block.find(b"\n") + 1 :] if b"\n" in block else b""
        return block

    def _rules(self, fields: int) -> LineRules:
        return LineRules(fields=fields, delimiter=self.format.delimiter_of(self.path), format=self.format)

    def _blocks(self) -> Iterator[bytes]:
        """The file as UTF-8 without a byte order mark, in blocks of whole lines; the last line ends, too."""
        decode: Callable[[bytes], bytes] = bytes
        if self.format.encoding != "utf-8":
            decoder = codecs.getincrementaldecoder(self.format.encoding)("holdfast-broken")
            decode = lambda piece: decoder.decode(piece, not piece).encode("utf-8", "surrogatepass")  # noqa: E731
        opener: Callable[..., Any] = gzip.open if self.path.lower().endswith(".gz") else open
        with opener(self.path, "rb") as file:
            rest, begun, last = b"", False, False
            while not last:
                piece = file.read(BLOCK_BYTES)
                last = not piece
                block = rest + decode(piece)
                if not begun and (last or len(block) >= len(_BYTE_ORDER_MARK)):
                    block, begun = block.removeprefix(_BYTE_ORDER_MARK), True
                if last and not block.endswith(b"\n") and block:
                    block += b"\n"
                cut = block.rfind(b"\n") + 1
                # A line that is too long stays so when its end is forgotten.
                rest = block[cut : cut + 2 * MOST_BYTES]
                if cut and begun:
                    yield _with_single_returns(block[:cut])


@dataclass(frozen=True, kw_only=True)
class LineRules:
    """Which lines are records of so many fields, and how those are taken apart."""

    fields: int
    delimiter: str
    format: CsvFormat

    def sound(self, raw: Bytes, starts: Codes, stops: Codes) -> Bools:
        """Which of the records (from a start up to a stop) can be read."""
        if not len(starts):
            return np.zeros(0, dtype=np.bool_)
        delimiters = np.flatnonzero(raw == ord(self.delimiter))
        returns = np.flatnonzero(raw == _RETURN)
        returns = returns[raw[returns + 1] != _NEWLINE]
        good = (stops - starts) <= MOST_BYTES
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
        """The records with a quote that neither opens a field, nor closes one, nor stands doubled in one."""
        owner = np.repeat(np.arange(len(starts)), among)
        place = np.concatenate([[0], np.cumsum(among)[:-1]]) if len(among) else among
        rank = np.arange(len(owner)) - place[owner]
        quotes = quotes[before[owner] + rank]
        opens = rank % 2 == 0
        neighbour = np.where(opens, np.maximum(quotes, 1) - 1, quotes + 1)
        beside = raw[neighbour]
        at_edge = np.where(opens, quotes == starts[owner], quotes + 1 == stops[owner])
        doubled = (beside == ord(self.format.quote)) & (~opens | (rank > 0))
        wrong: Codes = owner[~(at_edge | (beside == ord(self.delimiter)) | doubled)]
        return wrong

    def whole_records(
        self, raw: Bytes, starts: Codes, stops: Codes, *, last: bool
    ) -> tuple[Codes, Codes, int]:
        """Records of one line or several, and up to where they are known whatever follows the block."""
        quotes = np.flatnonzero(raw == ord(self.format.quote))
        among = np.searchsorted(quotes, stops) - np.searchsorted(quotes, starts)
        odd = np.flatnonzero((among % 2 == 1) & (stops - starts <= MOST_BYTES))
        pairs, done, place = [], len(raw), 0
        opened, closed = odd[: len(odd) // 2 * 2 : 2], odd[1::2]
        if len(odd) % 2 == 0 and bool(self.sound(raw, starts[opened], stops[closed]).all()):
            pairs, place = [opened, closed], len(odd)  # as the loop below would find them, one by one
        first, final = (list(places) for places in pairs) if pairs else ([], [])
        while place < len(odd):
            here = int(odd[place])
            after = int(odd[place + 1]) if place + 1 < len(odd) else None
            if after is None and not last and len(raw) - starts[here] <= MOST_BYTES:
                done = int(starts[here])
                break
            whole = after is not None and self._sound_alone(raw, int(starts[here]), int(stops[after]))
            if whole:
                first.append(here)
                final.append(after)
            place += 2 if whole else 1
        return _merge_lines(starts, stops, np.array(first, np.int64), np.array(final, np.int64), done)

    def _sound_alone(self, raw: Bytes, start: int, stop: int) -> bool:
        if stop - start > MOST_BYTES:
            return False
        record = np.append(raw[start:stop], np.uint8(_NEWLINE))
        return bool(self.sound(record, np.array([0]), np.array([stop - start]))[0])

    def readable_lines(self, block: bytes, raw: Bytes, starts: Codes, stops: Codes) -> bytes:
        """The block with an empty record for each broken one, and without lines that hold none."""
        good = self.sound(raw, starts, stops)
        empty = (stops == starts) & (self.fields > 1)
        wrong = np.flatnonzero(~good | empty)
        if not len(wrong):
            return block
        ends = np.append(starts[1:], len(block))
        pieces, at = [], 0
        nothing = self.delimiter.encode() * (self.fields - 1) + b"\n"
        for place in wrong.tolist():
            pieces += [block[at : int(starts[place])], b"" if empty[place] else nothing]
            at = int(ends[place])
        return b"".join([*pieces, block[at:]])

    def table_of(self, lines: bytes, columns: Sequence[int]) -> Any:
        """Sound lines as an Arrow table of texts, one column per asked place."""
        import pyarrow as pa
        from pyarrow import csv

        chosen = [f"n{place}" for place in columns]
        spare = chosen or ["n0"]  # how many rows there are must be known without a column, too
        guard = lines.startswith(_BYTE_ORDER_MARK)  # of a row; Arrow would take it for the file's
        table = csv.read_csv(
            pa.BufferReader(b"\n" + lines if guard else lines),
            read_options=csv.ReadOptions(
                column_names=[f"n{place}" for place in range(self.fields)],
                block_size=max(BLOCK_BYTES // 4, 4 * MOST_BYTES),
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
                column_types=dict.fromkeys(spare, pa.string()),
                include_columns=spare,
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        return table


def _with_single_returns(block: bytes) -> bytes:
    """The block with one carriage return where a line ends in several, if those alone are no line that is too long."""
    if b"\r\r\n" not in block:
        return block
    return re.sub(rb"(?<!\r)\r{2,%d}\n" % MOST_BYTES, b"\r\n", block)


def _lines(raw: Bytes) -> tuple[Codes, Codes]:
    """Where each line starts, and where it stops before its line end."""
    ends = np.flatnonzero(raw == _NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    returned = (ends > starts) & (raw[ends - 1] == _RETURN)
    return starts.astype(np.int64), ends - returned


def _outside(places: Codes, quotes: Codes, raw: Bytes, starts: Codes) -> Codes:
    """Those of the places that are not inside quotes, as counted from the start of their record."""
    # A flag changes at every quote, and changes back at a record's start if the quotes before it are odd in number.
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
    """The records once the lines `first` to `final` are one each, up to `done`."""
    before_end = starts < done
    within = np.zeros(len(starts) + 1, dtype=np.int64)
    np.add.at(within, first + 1, 1)
    np.add.at(within, final + 1, -1)
    stops = stops.copy()
    stops[first] = stops[final]
    before_end &= np.cumsum(within)[:-1] == 0
    return starts[before_end], stops[before_end], done


def _is_unicode(raw: Bytes, starts: Codes, stops: Codes) -> Bools:
    """Which records are UTF-8: none has to be looked at alone where all of the bytes are."""
    good = np.ones(len(starts), dtype=np.bool_)
    try:
        raw.tobytes().decode()
    except UnicodeDecodeError:
        odd = np.flatnonzero(raw >= 0x80)
        for place in np.flatnonzero(np.searchsorted(odd, stops) > np.searchsorted(odd, starts)).tolist():
            try:
                raw[starts[place] : stops[place]].tobytes().decode()
            except UnicodeDecodeError:
                good[place] = False
    return good


def _with_last(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each block, and whether it is the last."""
    waiting = next(blocks, None)
    while waiting is not None:
        following = next(blocks, None)
        yield waiting, following is None
        waiting = following
