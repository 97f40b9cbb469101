"""The SQL of Spark, and positions by which its rows differ.

A Spark table has no row numbers: rows come in the order in which tasks finish, and a task that is tried again may
read them in another order. So the position of a row is made of its contents: its declared identifiers, or else its
coded values, and a number among the rows that share them. Numbers follow the coded values, so rows that could swap
numbers are equal, and every attempt of every task computes the same positions. Under a fresh secret key any positions
that differ give a uniform order (soundness, section 1, order (i)).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.data._order import KeyedHash, Order
from holdfast.data._schema import Numeric
from holdfast.data._sql.dialect import Dialect
from holdfast.data._sql.statements import Statements
from holdfast.data._storage_kinds import Kind

#: How values of Spark's types are read.
KINDS = {
    **dict.fromkeys(("byte", "short", "integer", "long"), Kind.integer),
    **dict.fromkeys(("float", "double"), Kind.floating),
    **dict.fromkeys(("string", "char", "varchar"), Kind.text),
    "decimal": Kind.decimal,
    "boolean": Kind.boolean,
    "date": Kind.date,
    "timestamp": Kind.zoned,
    "timestamp_ntz": Kind.timestamp,
}


def _hexadecimal(text: str) -> str:
    """The SQL of a text in hexadecimal, which no quote can end and no setting of the session can change."""
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


#: Spark shows the bits of a double only in Java's hexadecimal notation: 0x1.8p0, or 0x0.8p-1022 below 2^-1022.
_PLAIN = "format_string('%a', abs({0}))"
_EXPONENT = (
    f"CASE WHEN {_PLAIN} = 'Infinity' THEN 1024 + 1023 WHEN {_PLAIN} LIKE '0x0%' THEN 0 "
    f"ELSE 1023 + try_cast(substring_index({_PLAIN}, 'p', -1) AS INT) END"
)
_FRACTION = f"substring_index(substring_index({_PLAIN}, 'p', 1), '.', -1)"
_BITS = (
    f"concat(CASE WHEN {{0}} < 0 THEN '1' ELSE '0' END, lpad(conv({_EXPONENT}, 10, 2), 11, '0'), "
    f"CASE WHEN {_PLAIN} = 'Infinity' THEN repeat('0', 52) "
    f"ELSE lpad(conv(rpad({_FRACTION}, 13, '0'), 16, 2), 52, '0') END)"
)


@dataclass(frozen=True)
class SparkDialect(Dialect):
    r"""Spark SQL, with or without ANSI mode. Columns have generated names; texts are written in hexadecimal.

    >>> SparkDialect(names={"a`b": "n0"}).identifier("a`b"), SparkDialect().literal("\\'")
    ('n0', "CAST(X'5c27' AS STRING)")
    """

    text: str = "STRING"
    timestamp: str = "TIMESTAMP_NTZ"
    is_nan: str = "isnan({0})"
    matches: str = f"({{0}} RLIKE ('^(?:' || {{1}} || {_hexadecimal(')' + chr(92) + 'z')}))"
    trim: str = "btrim({0}, {1})"
    find: str = "instr({0}, {1})"
    digits: str = "try_cast({0} AS DOUBLE)"
    trim_end: str = "TRIM(TRAILING {1} FROM {0})"
    utc: str = "dateadd(MICROSECOND, unix_micros({0}), TIMESTAMP_NTZ '1970-01-01 00:00:00')"
    sha256: str = "sha2(CAST({0} AS BINARY), 256)"
    byte_length: str = "octet_length({0})"
    hex_to_integer: str = "CAST(conv({0}, 16, 10) AS BIGINT)"
    whole: str = "CAST(try_cast({0} AS BIGINT) AS STRING)"
    bits: str = _BITS
    in_part: str = "pmod(hash({0}), {1}) = {2}"
    bytewise: str = "{0}"
    computed_once: str = "AS"
    one_to: str = "(SELECT explode(sequence(1, {0})) AS slot)"
    total: str = "sum(CAST({0} AS DECIMAL(38, 0)))"
    wide: str = "CAST({0} AS DECIMAL(38, 0))"
    whole_quotient: str = "({0} div {1})"
    near_root: str = "CAST(ceil(sqrt(CAST({0} AS DOUBLE))) AS DECIMAL(38, 0))"

    def literal(self, text: str) -> str:
        """The SQL of a text."""
        return _hexadecimal(text)

    def read_text(self, raw: str, kind: Kind) -> str:
        """A value as text; outside ANSI mode Spark writes small decimals with an exponent, which is spelled out."""
        if kind is not Kind.decimal:
            return super().read_text(raw, kind)
        digits = f"CAST({raw} AS STRING)"
        mantissa, power = f"substring_index({digits}, 'E', 1)", f"substring_index({digits}, 'E-', -1)"
        spelled = (
            f"(CASE WHEN {digits} LIKE '%E-%' THEN concat(CASE WHEN {digits} LIKE '-%' THEN '-0.' ELSE '0.' END, "
            f"repeat('0', try_cast({power} AS INT) - 1), translate({mantissa}, '-.', '')) ELSE {digits} END)"
        )
        return self.without_zeros(spelled)


@dataclass(frozen=True, kw_only=True)
class SparkStatements(Statements):
    """The shared statements over a temporary view, and those that Spark needs besides.

    With `placed` every row has a position. That costs a shuffle, unless `distinct` says that no two rows share their
    identifiers (see `repeats`).
    """

    position: str = "0"
    placed: bool = False
    distinct: bool = False

    def _raw(self, names: Iterable[str]) -> str:
        fields = []
        for name in names:
            # Nested and binary values are missing, and Arrow cannot carry all of them.
            unknown = self.kinds[name] is Kind.unknown
            value = "CAST(NULL AS STRING)" if unknown else self.dialect.identifier(name)
            fields.append(f"{value} AS c{self._column(name)[0]}")
        return f"SELECT {', '.join([*fields, f'{self.position} AS p'])} FROM {self.source}"

    def _rows(self, names: Sequence[str]) -> str:
        return self._with_positions(names) if self.placed and not self.bounds_users else super()._rows(names)

    @property
    def _code_columns(self) -> list[str]:
        """Coded values, whether each was missing, and whether each is undeclared (and so cannot be a target).

        Rows that agree in all of them are equal to every method.
        """
        expressions = []
        for name in self.schema.names:
            i, column = self._column(name)
            expressions.append(f"v{i}")
            if isinstance(column, Numeric) and column.has_null_cell:
                expressions.append(f"(r{i} IS NULL)")
        return [*expressions, *filter(None, map(self._undeclared_test, self.schema.names))]

    @property
    def _contents(self) -> str:
        """By what rows differ: their identifiers, each with its length, or else a digest of their coded values."""
        if self.schema.identifiers:
            texts = [f"r{self._column(name)[0]}" for name in self.schema.identifiers]
            return " || ".join(f"length({text}) || ':' || {text}" for text in texts)
        texts = [f"CAST({value} AS STRING)" for value in self._code_columns]
        return self.dialect.sha256.format(" || '|' || ".join(texts) or "''")

    def _with_positions(self, names: Sequence[str]) -> str:
        fields = [f"c{self._column(name)[0]}" for name in names]
        if self.schema.identifiers and self.distinct:
            identifiers = self.schema.identifiers
            values = self._values(
                identifiers, self._raw([*identifiers, *(name for name in names if name not in identifiers)])
            )
            return f"SELECT {', '.join([*fields, f'{self._contents} AS p'])} FROM ({values})"
        every = [column.name for column in self.schema.columns]
        shared = f"SELECT *, {self._contents} AS shared FROM ({self._values(every, self._raw(every))})"
        by = ", ".join(self._code_columns if self.schema.identifiers and self._code_columns else ["shared"])
        number = f"row_number() OVER (PARTITION BY shared ORDER BY {by}) AS number"
        numbered = f"SELECT {', '.join([*fields, 'shared', number])} FROM ({shared})"
        return f"SELECT {', '.join([*fields, self._concatenate('number', 'shared') + ' AS p'])} FROM ({numbered})"

    def repeats(self) -> str:
        """How many rows share their identifiers with an earlier one."""
        identifiers = self.schema.identifiers
        values = self._values(identifiers, self._raw(identifiers))
        return f"SELECT count(*) - count(DISTINCT {self._contents}) FROM ({values})"

    def rows_with_keys(self, names: Sequence[str], order: Order) -> str:
        """The raw values of these columns as `c...`, then `present` where users are padded, then `h`.

        `h` sorts the rows: 16 bytes of the keyed hash of a position, or 32 with the hash of an identifier before.
        """
        extra = [order.column] if isinstance(order, KeyedHash) and order.column not in names else []
        rows = self._padded_rows(names) if self.pads(order) else self._rows([*names, *extra])
        fields = [f"c{self._column(name)[0]}" for name in names] + ["present"] * self.pads(order)
        return f"SELECT {', '.join([*fields, f'unhex(concat({self._order_by(order)})) AS h'])} FROM ({rows})"

    @staticmethod
    def prefix_counts(keyed: str, digits: int) -> str:
        """How many keys start with each prefix of that many hexadecimal digits."""
        return f"SELECT left(hex(h), {digits}) AS prefix, count(*) AS n FROM ({keyed}) GROUP BY 1"

    @staticmethod
    def keys(keyed: str, prefixes: Sequence[str]) -> str:
        """The keys that start with one of these prefixes, which are equally long."""
        listed = ", ".join(f"'{prefix}'" for prefix in prefixes)
        return f"SELECT h FROM ({keyed}) WHERE left(hex(h), {len(prefixes[0])}) IN ({listed}) ORDER BY h"

    @staticmethod
    def parts(keyed: str, first_keys: Sequence[bytes]) -> str:
        """The rows with keys and the number of their part, by the first key of each part but the first."""

        def search(first: int, last: int) -> str:
            if first == last:
                return str(first)
            middle = (first + last) // 2
            below, above = search(first, middle), search(middle + 1, last)
            return f"CASE WHEN h < X'{first_keys[middle].hex()}' THEN {below} ELSE {above} END"

        return f"SELECT *, {search(0, len(first_keys))} AS part FROM ({keyed})"
