"""The SQL of an engine for reading, clipping and coding one value.

Each expression computes exactly what `holdfast.data._batch` computes for the same value, on doubles written
so that the engine reads them back bit for bit; the engine contract compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.data._cells import category_numbers, category_texts
from holdfast.data._readings import NUMERAL
from holdfast.data._schema import Categorical, DateTime, Numeric
from holdfast.data._schema.amounts import form_of
from holdfast.data._schema.calendar import ISO, MONTHS, SECONDS, pattern_of
from holdfast.data._schema.spelling import BLANKS, letters_of
from holdfast.data._storage_kinds import Kind


@dataclass(frozen=True)
class Dialect:
    """The names of types and functions in one dialect of SQL; the defaults are DuckDB's."""

    double: str = "DOUBLE"
    text: str = "VARCHAR"
    timestamp: str = "TIMESTAMP"
    #: DuckDB answers `isnan` and comparisons from a file's statistics, which leave NaN out: whether a NaN is seen would
    #: depend on other rows. `isfinite` and the text of a value are computed row by row.
    is_nan: str = "(CASE WHEN isfinite({0}) THEN FALSE ELSE CAST({0} AS VARCHAR) LIKE '%nan' END)"
    matches: str = "regexp_full_match({0}, {1})"
    trim: str = "trim({0}, {1})"
    trim_end: str = "rtrim({0}, {1})"
    translate: str = "translate({0}, {1}, {2})"
    #: What group {2} of a regular expression took of a text that the whole of it matches.
    group: str = "regexp_extract({0}, '^(?:' || {1} || ')$', {2})"
    #: The place of {1} in {0}, counted from 1; 0 where it is not there.
    find: str = "strpos({0}, {1})"
    digits: str = "CAST({0} AS DOUBLE)"
    utc: str = "({0} AT TIME ZONE 'UTC')"
    #: A text that compares byte by byte, whatever collation its column was stored with.
    bytewise: str = '({0} COLLATE "C")'
    sha256: str = "sha256({0})"
    byte_length: str = "strlen({0})"
    hex_to_integer: str = "CAST('0x' || {0} AS BIGINT)"
    whole: str = "CAST(CAST({0} AS BIGINT) AS VARCHAR)"
    #: The 64 bits of a double, as a text.
    bits: str = "CAST(CAST({0} AS BIT) AS VARCHAR)"
    in_part: str = "hash({0}) % {1} = {2}"
    one_to: str = "(SELECT unnest(range(1, {0} + 1)) AS slot)"
    #: The entry of a list of numbers, {1}, at a place {0} that counts from 0.
    entry: str = "([{1}])[{0} + 1]"
    #: A sum of 64-bit whole numbers that has room, and a whole number with room for sums of squares; the floor of a
    #: quotient of whole numbers that are not negative; the least whole number whose square is not below {0}, from one
    #: that is at most one off.
    total: str = "sum({0})"
    wide: str = "CAST({0} AS HUGEINT)"
    whole_quotient: str = "({0} // {1})"
    root_above: str = (
        "({1} + CASE WHEN ({1} - 1) * ({1} - 1) >= {0} THEN -1 WHEN {1} * {1} >= {0} THEN 0 ELSE 1 END)"
    )
    near_root: str = "CAST(ceil(sqrt(CAST({0} AS DOUBLE))) AS HUGEINT)"
    #: Before a named subquery that is read twice: it is computed once, since a stream of rows can be read once only.
    computed_once: str = "AS MATERIALIZED"
    #: Put at the end of a subquery, so that the planner computes its columns once.
    fence: str = ""

    #: Generated names of columns, where statements use them in place of the schema's names; they need no quotes.
    names: Mapping[str, str] = field(default_factory=dict)

    def identifier(self, name: str) -> str:
        """A quoted name, or the generated one.

        >>> print(Dialect().identifier('a"; DROP TABLE t; --'))
        "a""; DROP TABLE t; --"
        """
        return self.names.get(name) or '"' + name.replace('"', '""') + '"'

    def literal(self, text: str) -> str:
        """A quoted text.

        >>> print(Dialect().literal("it's"))
        'it''s'
        """
        return "'" + text.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """A float64, bit for bit."""
        return f"CAST('{value!r}' AS {self.double})"

    def least_root(self, square: str) -> str:
        """The least whole number whose square is not below a whole number."""
        return self.root_above.format(square, self.near_root.format(square))

    def keyed_hash(self, key: bytes, expression: str) -> str:
        """The keyed hash that ranks records (`order.keyed_hash`), all 64 hexadecimal digits."""
        return self.sha256.format(f"'{key.hex()}' || {expression}")

    def read_number(self, raw: str, kind: Kind) -> str:
        """A value as a double, NULL where it is missing (`holdfast.data._readings.numbers`)."""
        if kind is Kind.boolean:
            return f"CAST(CAST({raw} AS INTEGER) AS {self.double})"
        if kind is Kind.integer:
            return f"CAST({raw} AS {self.double})"
        if kind is Kind.floating:
            return f"CASE WHEN {self.is_nan.format(raw)} THEN NULL ELSE CAST({raw} AS {self.double}) END"
        if kind in (Kind.decimal, Kind.text):
            word = self.trim.format(f"CAST({raw} AS {self.text})", self.literal(BLANKS))
            good = self.matches.format(word, self.literal(NUMERAL))
            return f"CASE WHEN {good} THEN CAST({word} AS {self.double}) END"
        return f"CAST(NULL AS {self.double})"

    def read_amount(self, column: Numeric, raw: str, kind: Kind) -> str:
        """A value as a double, where the column declares how texts write it (`moments.column_numbers`)."""
        if kind is not Kind.text or column.written_as is None:
            return self.read_number(raw, kind)
        form = form_of(column.written_as)
        word = self.trim.format(f"CAST({raw} AS {self.text})", self.literal(BLANKS))
        good, plain = self.matches.format(word, self.literal(form.pattern)), word
        for old, new in form.replacements:
            plain = f"replace({plain}, {self.literal(old)}, {self.literal(new)})"
        return f"CASE WHEN {good} THEN CAST({plain} AS {self.double}) END"

    def read_text(self, raw: str, kind: Kind) -> str:
        """A value as text, NULL where it is missing (`holdfast.data._readings.texts`)."""
        if kind is Kind.floating:
            number = f"({self.read_number(raw, kind)})"
            whole = f"abs({number}) < 9007199254740992 AND {number} = floor({number})"
            return f"CASE WHEN {whole} THEN {self.whole.format(number)} ELSE {self.bits.format(number)} END"
        if kind is Kind.decimal:
            return self.without_zeros(f"CAST({raw} AS {self.text})")
        if kind is Kind.unknown:
            return f"CAST(NULL AS {self.text})"
        zoned = self.utc.format(raw) if kind is Kind.zoned else raw
        stamp = f"CAST({zoned} AS {self.timestamp})" if kind in (Kind.zoned, Kind.timestamp) else zoned
        word = f"CAST({stamp} AS {self.text})"
        return self.bytewise.format(word) if kind is Kind.text else word

    def without_zeros(self, digits: str) -> str:
        """Digits without zeros at the end of their fraction."""
        short = self.trim_end.format(self.trim_end.format(digits, "'0'"), "'.'")
        return f"CASE WHEN {digits} LIKE '%.%' THEN {short} ELSE {digits} END"

    def clip(self, column: Numeric, number: str) -> str:
        """A number filled, clipped and rounded (`holdfast.data._cells.numeric_values`)."""
        low, high, fill = self.number(column.low), self.number(column.high), self.number(column.fill)
        inside = (
            f"CASE WHEN {number} IS NULL THEN {fill} WHEN {number} <= {low} THEN {low} "
            f"WHEN {number} >= {high} THEN {high} ELSE {number} + {self.number(0.0)} END"
        )
        return f"floor(({inside}) + {self.number(0.5)})" if column.integer else inside

    def without_markers(self, column: Numeric, number: str) -> str:
        """A number, NULL where it is a marker of missing values."""
        for marker in column.nulls:
            number = number if isinstance(marker, str) else f"nullif({number}, {self.number(float(marker))})"
        return number

    def canonical_text(self, column: Categorical, text: str) -> str:
        """A text as it is compared (`Categorical.normal_text`): letters that no declared text has need no folding."""
        if column.trim:
            text = self.trim.format(text, self.literal(BLANKS))
        capitals, small = letters_of(column.spellings) if column.fold else ("", "")
        return self.translate.format(text, self.literal(capitals), self.literal(small)) if capitals else text

    def moment_digits(self, column: DateTime, raw: str, kind: Kind) -> str:
        """YYYYMMDDhhmmss of a stored moment, as a double; NULL where it is not written as one."""
        if kind in (Kind.floating, Kind.decimal, Kind.boolean, Kind.unknown):
            return f"CAST(NULL AS {self.double})"
        word = self.trim.format(self.read_text(raw, kind), self.literal(BLANKS))
        branches = []
        for form in dict.fromkeys((column.format, ISO)):
            pattern, groups = pattern_of(form)
            part = {
                name: self.group.format(word, self.literal(pattern), group) for name, group in groups.items()
            }
            if "y" in part:
                part["Y"] = f"(CASE WHEN {part['y']} >= '69' THEN '19' ELSE '20' END || {part['y']})"
            if "b" in part:
                part["m"] = self._month(part["b"])
            if "I" in part:
                part["H"] = self._hour(part["I"], part["p"])
            absent = {name: "'01'" if name == "d" else "'00'" for name in "mdHMS"}
            parts = [
                f"lpad(coalesce({part[name]}, ''), 2, '0')" if name in part else absent[name]
                for name in "mdHMS"
            ]
            digits = self.digits.format(f"({' || '.join([part['Y'], *parts])})")
            branches.append(f"WHEN {self.matches.format(word, self.literal(pattern))} THEN {digits}")
        return f"CASE {' '.join(branches)} END"

    def _looked_up(self, key: str, meanings: Mapping[str, str], *, none: str) -> str:
        """The two digits that a short text stands for; searched in one text, as a CASE of many branches is slow."""
        listed = self.literal(none * 8 + "".join(f"|{name}={digits}" for name, digits in meanings.items()))
        place = self.find.format(listed, f"('|' || {key} || '=')")
        return f"substr({listed}, {place} + length({key}) + 2, 2)"

    def _month(self, word: str) -> str:
        """The two digits of a month's name."""
        return self._looked_up(word, {name: f"{month:02d}" for name, month in MONTHS.items()}, none="00")

    def _hour(self, hour: str, half: str) -> str:
        """The two digits of an hour before or after noon; 99 is none."""
        hours = {
            f"{letter}{hour:02d}": f"{hour % 12 + later:02d}"
            for letter, later in (("a", 0), ("A", 0), ("p", 12), ("P", 12))
            for hour in range(1, 13)
        }
        return self._looked_up(f"(substr({half}, 1, 1) || lpad({hour}, 2, '0'))", hours, none="99")

    def moment(self, column: DateTime, packed: str) -> str:
        """The unit of a packed moment (`calendar.unit_numbers`), NULL where there is no such day or time."""

        def above(digits: int) -> str:
            return f"floor({packed} / {10**digits})" if digits else packed

        second, minute, hour, day, month = (f"({above(i)} - 100 * {above(i + 2)})" for i in range(0, 10, 2))
        year = above(10)
        odd = f"({month} + floor({month} / 8))"
        leap = " ".join(
            f"WHEN {n} * floor({year} / {n}) = {year} THEN {days}"
            for n, days in ((400, 29), (100, 28), (4, 29))
        )
        length = (
            f"CASE WHEN {month} = 2 THEN (CASE {leap} ELSE 28 END) ELSE 30 + {odd} - 2 * floor({odd} / 2) END"
        )
        good = (
            f"{year} >= 1 AND {month} >= 1 AND {month} <= 12 AND {day} >= 1 AND {day} <= ({length}) "
            f"AND {hour} <= 23 AND {minute} <= 59 AND {second} <= 59"
        )
        months = {"year": 12, "quarter": 3, "month": 1}.get(column.unit)
        if months is not None:
            count = f"floor((({year} - 1970) * 12 + {month} - 1) / {self.number(float(months))})"
        else:
            # Years that begin in March, so that the leap day is the last of its year.
            shifted = f"({year} - CASE WHEN {month} <= 2 THEN 1 ELSE 0 END)"
            place = f"({month} + CASE WHEN {month} <= 2 THEN 9 ELSE -3 END)"
            days = (
                f"(365 * {shifted} + floor({shifted} / 4) - floor({shifted} / 100) + floor({shifted} / 400) "
                f"+ floor((153 * {place} + 2) / 5) + {day} - 719469)"
            )
            count = {"day": days, "week": f"floor(({days} + 3) / {self.number(7.0)})"}.get(column.unit) or (
                f"floor(({days} * 86400 + {hour} * 3600 + {minute} * 60 + {second}) "
                f"/ {self.number(float(SECONDS[column.unit]))})"
            )
        return f"CASE WHEN {good} THEN CAST({count} AS {self.double}) END"

    def numeric_cell(self, column: Numeric, value: str, number: str) -> str:
        """The cell of a clipped value (`holdfast.data._cells.numeric_cells`): a binary search over the inner edges."""
        inner = column.edges[1:-1]

        def search(first: int, last: int) -> str:
            if first == last:
                return str(first)
            middle = (first + last) // 2
            below, above = search(first, middle), search(middle + 1, last)
            return f"CASE WHEN {value} < {self.number(inner[middle])} THEN {below} ELSE {above} END"

        cell = search(0, len(inner))
        return (
            f"CASE WHEN {number} IS NULL THEN {column.cells - 1} ELSE {cell} END"
            if column.has_null_cell
            else cell
        )

    def category_cell(self, column: Categorical, read: str, kind: Kind) -> str:
        """The cell of a text, or of a number where that is how it is stored (`_cells.categorical_cells`)."""
        if kind in (Kind.floating, Kind.decimal):
            pairs = [(self.number(number), code) for code, number in category_numbers(column)]
        else:
            known = category_texts(column, whole=kind is Kind.integer)
            pairs = [(self.literal(text), code) for text, code in known.items()]
        tests = " ".join(f"WHEN {read} = {value} THEN {code}" for value, code in pairs)
        return f"CASE WHEN {read} IS NULL THEN {column.null_code} {tests} ELSE {column.other_code} END"
