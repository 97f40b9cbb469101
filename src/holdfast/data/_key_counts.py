"""How many units have each key, where keys are not declared: what engines compute before any key is known.

A key is the texts of one or several identifiers in a row, each compared byte by byte. Rows without a text, or with one
of more than `LONGEST_KEY` bytes, have no key. Where a unit owns several rows, either each gives one of its keys, drawn
uniformly by a keyed hash of unit and key, or all keys of a unit with t of them count floor(steps / sqrt(t)), where t is
at most `most`; a unit with more gives none. Nothing about one unit changes what another gives.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes
from holdfast.data._batch import Batch
from holdfast.data._conditions import Condition, Truth
from holdfast.data._order import DIGITS, keyed_hash
from holdfast.data._schema import Schema
from holdfast.data._sql.statements import Statements
from holdfast.data._sql.sums import CodedRow, StatementRow
from holdfast.data._table import UnitRows
from holdfast.errors import ParameterError

LONGEST_KEY = 1_000
"""A text of more bytes is no key."""
KeyTexts = tuple[str, ...]
"""A key: the text of each of its columns."""
PUBLIC_KEY = bytes(32)
"""The key of hashes that only compare texts: nothing secret follows from them."""


@dataclass(frozen=True)
class IsListed(Condition):
    """Whether the key of a row is among some, or, as the condition `~IsListed`, is not; rows without a key are not."""

    columns_of_key: tuple[str, ...]
    keys: tuple[KeyTexts, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the key."""
        return self.columns_of_key

    def check(self, schema: Schema) -> None:
        """Identifiers."""
        require_key_columns(self.columns_of_key, schema)

    def truth(self, batch: Batch) -> Truth:
        """By the texts."""
        codes = FoundKey(self.columns_of_key, self.keys).codes(batch)
        return Truth(codes < len(self.keys), np.zeros(len(batch), dtype=np.bool_))

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """By the hash of the texts."""
        if not self.keys:
            return "(1 = 0)"
        return f"({FoundKey(self.columns_of_key, self.keys).sql(row, schema)} < {len(self.keys)})"

    def describe(self) -> str:
        """In words."""
        return f"{', '.join(self.columns_of_key)} among {len(self.keys)} released keys"


@dataclass(frozen=True)
class FoundKey:
    """A key of which some values were released: these are its cells, and a last one holds all other rows."""

    columns: tuple[str, ...]
    keys: tuple[KeyTexts, ...]
    other: str | None = ""
    """What the last cell is called; None where it is no group: then `IsListed` has to leave its rows out."""

    def cells(self, schema: Schema) -> int:
        """One for each released key, and one for the rest where that is a group."""
        return len(self.keys) + (self.other is not None)

    @property
    def labels(self) -> tuple[KeyTexts, ...]:
        """The texts of each cell."""
        rest = () if self.other is None else ((self.other,) * len(self.columns),)
        return (*self.keys, *rest)

    @cached_property
    def _places(self) -> Mapping[KeyTexts, int]:
        return {key: place for place, key in enumerate(self.keys)}

    def codes(self, batch: Batch) -> Codes:
        """By the texts."""
        listed = [batch.identifiers[name].tolist() for name in self.columns]
        places, rest = self._places, len(self.keys)
        found = [places.get(tuple(text[1:] for text in texts), rest) for texts in zip(*listed, strict=True)]
        codes = np.array(found, dtype=np.int64)
        for texts in listed:
            codes[[text == "n" for text in texts]] = rest
        return codes

    def sql(self, row: CodedRow, schema: Schema) -> str:
        """By a hash of the texts, which no collation reads and no quote can end."""
        rest = str(len(self.keys))
        if not self.keys:
            return rest
        read = key_hash(PUBLIC_KEY, [row.value(name) for name in self.columns], row)
        tests = " ".join(
            f"WHEN '{hash_of(PUBLIC_KEY, [f'v{text}' for text in key])}' THEN {place}"
            for place, key in enumerate(self.keys)
        )
        return f"(CASE {read} {tests} ELSE {rest} END)"


@dataclass(frozen=True, kw_only=True)
class KeyCounts:
    """The number of units of each key, or the sum of their weights. Exact, and so are the keys: all private."""

    columns: tuple[str, ...]
    where: Condition | None = None
    without: tuple[KeyTexts, ...] = ()
    """Keys that do not count, as they were released before."""
    steps: int = 1
    most: int = 1
    secret: bytes = field(default=b"", repr=False)
    """The key of the hash by which a unit with several rows draws one of its keys; a fresh one for each release."""

    def _condition(self) -> Condition | None:
        left_out = ~IsListed(self.columns, self.without) if self.without else None
        parts = [part for part in (self.where, left_out) if part is not None]
        return None if not parts else parts[0] if len(parts) == 1 else parts[0] & parts[1]

    def of_rows(self, rows: UnitRows) -> dict[KeyTexts, int]:
        """From rows in memory."""
        counts: dict[KeyTexts, int] = {}
        if rows.owner is None:
            for _, key in self._keys_of_rows(rows):
                counts[key] = counts.get(key, 0) + self.steps
            return self._texts(counts)
        names = self._names_of_units(rows)
        for owner, own in self.keys_of_units(rows).items():
            if self.most == 1:
                drawn = min(own, key=lambda key: hash_of(self.secret, [names[owner], *key]))
                counts[drawn] = counts.get(drawn, 0) + self.steps
            elif len(own) <= self.most:
                weight = math.isqrt(self.steps * self.steps // len(own))
                for key in own:
                    counts[key] = counts.get(key, 0) + weight
        return self._texts(counts)

    def keys_of_units(self, rows: UnitRows) -> dict[int, set[KeyTexts]]:
        """The keys of each unit that has some."""
        of_unit: dict[int, set[KeyTexts]] = {}
        for owner, key in self._keys_of_rows(rows):
            of_unit.setdefault(owner, set()).add(key)
        return of_unit

    def _keys_of_rows(self, rows: UnitRows) -> list[tuple[int, KeyTexts]]:
        """The unit and the key, with the marks of its texts, of each row that takes part and has one."""
        batch, condition = rows.batch, self._condition()
        part = np.ones(len(batch), dtype=np.bool_) if condition is None else condition.truth(batch).true
        listed = [batch.identifiers[name][part].tolist() for name in self.columns]
        owners = (np.arange(len(batch)) if rows.owner is None else rows.owner)[part].tolist()
        return [
            (owner, texts)
            for owner, texts in zip(owners, zip(*listed, strict=True), strict=True)
            if all(map(is_key, texts))
        ]

    def _names_of_units(self, rows: UnitRows) -> Mapping[int, str]:
        assert rows.owner is not None
        column = rows.batch.identifiers[str(rows.batch.schema.confirmed_unit.column)]
        return dict(zip(rows.owner.tolist(), column.tolist(), strict=True))

    def _texts(self, counts: Mapping[KeyTexts, int]) -> dict[KeyTexts, int]:
        """Keys without their marks; those that nobody adds to are not there."""
        return {tuple(text[1:] for text in key): count for key, count in counts.items() if count > 0}

    # In SQL: no window; one GROUP BY where a unit is a row, else three and one join (four to draw a key).

    def statement(self, statements: Statements) -> str:
        """A row for each key that exists: its texts, and its count as a text."""
        row, text, keys = StatementRow(statements), statements.dialect.text, ", ".join(self._names)
        if statements.schema.confirmed_unit.column is None:
            total = f"CAST(count(*) * {self.steps} AS {text}) AS n"
            return f"SELECT {keys}, {total} FROM ({self._rows(statements)}) AS q GROUP BY {keys}"
        pairs = self.pairs(statements)
        if self.most == 1:
            drawn = key_hash(self.secret, ["u", *self._names], row)
            pairs = f"SELECT u, {keys}, {drawn} AS h FROM ({pairs}) AS q"
            least = f"SELECT u, min(h) AS h FROM ({pairs}) AS q GROUP BY u"
            chosen = f"({pairs}) AS p JOIN ({least}) AS l USING (u, h)"
            return (
                f"SELECT {keys}, CAST(count(*) * {self.steps} AS {text}) AS n FROM {chosen} GROUP BY {keys}"
            )
        owned = f"SELECT u, count(*) AS t FROM ({pairs}) AS q GROUP BY u"
        # In doubles: the square of the quotient is t-th part of a whole number, so it is never so near a whole number
        # that rounding could reach it.
        root = f"floor({self.steps} / sqrt(CAST(t AS {statements.dialect.double})))"
        weights = f"SELECT u, CAST({root} AS BIGINT) AS w FROM ({owned}) AS q WHERE t <= {self.most}"
        joined = f"({pairs}) AS p JOIN ({weights}) AS w USING (u)"
        return f"SELECT {keys}, CAST(sum(w) AS {text}) AS n FROM {joined} GROUP BY {keys}"

    @property
    def _names(self) -> list[str]:
        return [f"g{place}" for place in range(len(self.columns))]

    def pairs(self, statements: Statements) -> str:
        """A row for each unit and each of its keys."""
        keys = ", ".join(self._names)
        return f"SELECT u, {keys} FROM ({self._rows(statements)}) AS q GROUP BY u, {keys}"

    def _rows(self, statements: Statements) -> str:
        """The unit and the key of each row that takes part and has one."""
        row, condition = StatementRow(statements), self._condition()
        fields = [f"{row.value(name)} AS {key}" for name, key in zip(self.columns, self._names, strict=True)]
        if statements.schema.confirmed_unit.column is not None:
            fields.append(f"{statements.unit_text} AS u")
        tests = [_is_key(row, name) for name in self.columns]
        tests += [] if condition is None else [condition.sql(row, statements.schema)]
        read = tuple(dict.fromkeys([*self.columns, *(() if condition is None else condition.columns)]))
        source = f"({statements.all_rows(read)}{statements.dialect.fence}) AS q"
        return f"SELECT {', '.join(fields)} FROM {source} WHERE {' AND '.join(tests)}"

    def of_answer(self, schema: Schema, batches: Iterable[Any]) -> dict[KeyTexts, int]:
        """From the rows of the answer."""
        counts: dict[KeyTexts, int] = {}
        for batch in batches:
            columns = [column.to_pylist() for column in batch.columns]
            for *key, count in zip(*columns, strict=True):
                counts[tuple(key)] = int(count)
        return self._texts(counts)


@dataclass(frozen=True, kw_only=True)
class UnitsByKeys:
    """How many units have fewer than `border` keys, and how many have at least as many. Exact, hence private."""

    counts: KeyCounts
    border: int

    def of_rows(self, rows: UnitRows) -> NDArray[np.int64]:
        """From rows in memory."""
        owned = [len(own) for own in self.counts.keys_of_units(rows).values()]
        return np.array([sum(n < self.border for n in owned), sum(n >= self.border for n in owned)])

    def statement(self, statements: Statements) -> str:
        """Two GROUP BY; one row."""
        owned = f"SELECT u, count(*) AS t FROM ({self.counts.pairs(statements)}) AS q GROUP BY u"
        few, many = (
            f"CAST(coalesce(sum(CASE WHEN t {test} {self.border} THEN 1 ELSE 0 END), 0) AS BIGINT)"
            for test in ("<", ">=")
        )
        return f"SELECT {few} AS a, {many} AS b FROM ({owned}) AS q"

    def of_answer(self, schema: Schema, batches: Iterable[Any]) -> NDArray[np.int64]:
        """From the one row."""
        (batch,) = (batch for batch in batches if batch.num_rows)
        return np.array([int(column[0].as_py()) for column in batch.columns], dtype=np.int64)


def require_key_columns(columns: tuple[str, ...], schema: Schema) -> None:
    """Keys that are not declared are the texts of identifiers."""
    for name in columns:
        if name not in schema.identifiers:
            raise ParameterError(
                f"columns of unknown keys must be declared as identifiers, whose values are not public; got {name!r}, "
                f"of {list(schema.identifiers)}; declare Identifier({name!r}), or ask by({name!r}) for declared cells"
            )


def is_key(text: str) -> bool:
    """Whether an identifier's text, with its mark, is a key.

    >>> is_key("v"), is_key("n"), is_key("v" + "x" * 1001)
    (True, False, False)
    """
    return text != "n" and len(text.encode("utf-8", "surrogatepass")) <= LONGEST_KEY + 1


def _is_key(row: CodedRow, name: str) -> str:
    value = row.value(name)
    return f"({value} <> 'n' AND {row.dialect.byte_length.format(value)} <= {LONGEST_KEY + 1})"


def hash_of(secret: bytes, texts: Iterable[str]) -> str:
    """A keyed hash of several texts: of their hashes side by side, so that no two lists have one text.

    >>> hash_of(b"", ["a|b", "c"]) == hash_of(b"", ["a", "b|c"])
    False
    """
    return keyed_hash(secret, "".join(keyed_hash(secret, text) for text in texts))


def key_hash(secret: bytes, texts: Iterable[str], row: CodedRow) -> str:
    """The same in SQL."""
    hashed = [f"left({row.dialect.keyed_hash(secret, text)}, {DIGITS})" for text in texts]
    return f"left({row.dialect.keyed_hash(secret, ' || '.join(hashed))}, {DIGITS})"


def sorted_counts(counts: Mapping[KeyTexts, int]) -> tuple[tuple[KeyTexts, ...], NDArray[Any]]:
    """Keys in the order of their bytes, and their counts; no order of an engine is left."""
    keys = tuple(sorted(counts, key=lambda key: [text.encode("utf-8", "surrogatepass") for text in key]))
    return keys, np.array([counts[key] for key in keys], dtype=object)
