"""The SQL of PostgreSQL for reading, clipping and coding one value.

Where PostgreSQL differs from the rules of `holdfast.data._batch`, and what is done about it:

* NaN equals itself and is larger than everything: it is made NULL before anything is compared;
* texts compare as their column's collation says: every text is read under `COLLATE "C"`, byte by byte;
* decimals have no largest size: those beyond a double become infinite (and are clipped), and none can fail;
* the planner merges subqueries and would compute a column again wherever it is used: `OFFSET 0` stops it.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.data._sql.dialect import Dialect
from holdfast.data._storage_kinds import Kind

#: How values of PostgreSQL's base types are read; enumerations are texts, and other types are read as missing.
KINDS = {
    **dict.fromkeys(("int2", "int4", "int8"), Kind.integer),
    **dict.fromkeys(("float4", "float8"), Kind.floating),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "citext", "uuid"), Kind.text),
    "numeric": Kind.decimal,
    "bool": Kind.boolean,
    "date": Kind.date,
    "timestamp": Kind.timestamp,
    "timestamptz": Kind.zoned,
}


@dataclass(frozen=True)
class PostgresDialect(Dialect):
    """PostgreSQL 12 and later, in a session whose settings `postgres_session` has fixed.

    >>> PostgresDialect().read_number("c0", Kind.floating)
    "CASE WHEN (c0 = 'NaN') THEN NULL ELSE CAST(c0 AS double precision) END"
    """

    double: str = "double precision"
    text: str = "text"
    timestamp: str = "timestamp"
    is_nan: str = "({0} = 'NaN')"
    matches: str = "({0} ~ ('^(?:' || {1} || ')$'))"
    trim: str = "btrim({0}, {1})"
    group: str = "(regexp_match({0}, '^(?:' || {1} || ')$'))[{2}]"
    digits: str = "CAST({0} AS double precision)"
    sha256: str = "encode(sha256(convert_to({0}, 'UTF8')), 'hex')"
    byte_length: str = "octet_length({0})"
    hex_to_integer: str = "CAST(CAST(('x' || lpad({0}, 16, '0')) AS bit(64)) AS bigint)"
    whole: str = "CAST(CAST({0} AS bigint) AS text)"
    bits: str = "CAST(CAST('x' || encode(float8send({0}), 'hex') AS bit(64)) AS text)"
    in_part: str = "mod(abs(hashtext({0})::bigint), {1}) = {2}"
    one_to: str = "(SELECT slot FROM generate_series(1, {0}) AS slot)"
    entry: str = "(CAST('{{{1}}}' AS double precision[]))[{0} + 1]"
    wide: str = "CAST({0} AS numeric)"
    whole_quotient: str = "div(CAST({0} AS numeric), {1})"
    near_root: str = "ceil(sqrt(CAST({0} AS numeric)))"
    fence: str = " OFFSET 0"
    bytewise: str = "{0}"  # said of every text by `read_text`

    def read_number(self, raw: str, kind: Kind) -> str:
        """A value as a double, NULL where it is missing; a decimal of any size has one."""
        if kind is not Kind.decimal:
            return super().read_number(raw, kind)
        # A cast of a number that is too large or too small for a double would be an error that depends on the data.
        return (
            f"CASE WHEN {raw} = 'NaN' THEN NULL WHEN {raw} >= '1e308' THEN {self.number(float('inf'))} "
            f"WHEN {raw} <= '-1e308' THEN {self.number(float('-inf'))} "
            f"WHEN abs({raw}) < '1e-323' THEN {self.number(0.0)} ELSE CAST({raw} AS double precision) END"
        )

    def read_text(self, raw: str, kind: Kind) -> str:
        """A value as text, NULL where it is missing, compared byte by byte."""
        if kind is Kind.decimal:
            digits = self.without_zeros(f"CAST({raw} AS text)")
            return f"(CASE WHEN {raw} = 'NaN' THEN NULL ELSE {digits} END) COLLATE \"C\""
        return f'({super().read_text(raw, kind)}) COLLATE "C"'
