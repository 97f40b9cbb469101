"""Checks of a table against its schema: for the owner, who sees everything, and for others, who see no row.

A value that does not fit its declaration is clipped or counted as missing without an error, because an error would be
an output. So a wrong declaration is not noticed: a column of dates in another format is missing everywhere. The owner
of the rows may look. Counts here are exact, so nothing is spent and nothing may be published.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from holdfast.data._draft.stored import StoredTable
from holdfast.data._engines import open_table
from holdfast.data._engines.file_rows import as_decimal_points
from holdfast.data._mixed import MixedColumn
from holdfast.data._moments import column_numbers
from holdfast.data._readings import texts
from holdfast.data._schema import Categorical, DateTime, Identifier, Numeric, Schema
from holdfast.data._schema.kinds import Column
from holdfast.data._schema.unit import ROW, UnconfirmedUnit
from holdfast.data._storage_kinds import Kind, kind_of

INTERNAL = "INTERNAL: exact counts and values of real rows; never publish them"
#: How many texts of a column are shown that could not be read or are in no category.
SHOWN_EXAMPLES = 8


def rows_text(count: int, singular: str = "", plural: str = "") -> str:
    """A number of values, with a verb in the right number.

    >>> rows_text(1, "is missing", "are missing"), rows_text(2, "is missing", "are missing"), rows_text(3)
    ('1 value is missing', '2 values are missing', '3 values')
    """
    return f"{count} value {singular}".rstrip() if count == 1 else f"{count} values {plural}".rstrip()


@dataclass(frozen=True, kw_only=True)
class ColumnCheck:
    """How many rows of one column do not fit its declaration, and in which way."""

    name: str
    kind: str
    missing: int = 0
    """Stored as missing, or as a declared marker of it."""
    unread: int = 0
    """Present, but no number or date as declared."""
    below: int = 0
    above: int = 0
    unknown: int = 0
    """In no category."""
    empty: int = 0
    """How many declared cells hold no row."""
    cells: int = 0
    examples: tuple[tuple[str, int], ...] = ()
    """What could not be read or is in no category, the most frequent first."""

    @property
    def findings(self) -> list[str]:
        """What does not fit the declaration."""
        counts = (
            (self.unread, "cannot be read and counts as missing", "cannot be read and count as missing"),
            (self.below, "lies below the lower bound", "lie below the lower bound"),
            (self.above, "lies above the upper bound", "lie above the upper bound"),
            (self.unknown, "is in no category", "are in no category"),
        )
        return [rows_text(count, singular, plural) for count, singular, plural in counts if count]

    def lines(self) -> list[str]:
        """The findings, what is missing, and examples."""
        statements = [
            *self.findings,
            *([rows_text(self.missing, "is missing", "are missing")] if self.missing else []),
        ]
        statements += [f"{self.empty} of {self.cells} cells are empty"] if self.empty else []
        lines = [f"{self.name} ({self.kind}): {'; '.join(statements) or 'as declared'}"]
        if self.examples:
            lines.append("    " + ", ".join(f"{text!r} ({count})" for text, count in self.examples))
        return lines


@dataclass(frozen=True, kw_only=True)
class SchemaCheck:
    """The check of a table against its schema; internal unless no row was read."""

    internal: bool
    rows: int | None
    columns: tuple[ColumnCheck, ...]
    table: tuple[str, ...] = ()
    """About the whole table: units, repeated identifiers, columns that nobody declared."""
    findings: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The check as JSON."""
        record = (
            asdict(self) | {"marked": INTERNAL}
            if self.internal
            else {"columns": [column.name for column in self.columns]}
        )
        return json.dumps(record, indent=2, ensure_ascii=False)

    def summary(self) -> str:
        """A few lines for each column."""
        if not self.internal:
            return (
                f"all {len(self.columns)} declared columns are there; nothing about rows is shown, whatever they hold: "
                "whoever owns them may add --internal"
            )
        lines = [INTERNAL, f"{self.rows} rows", *self.table]
        lines += [line for column in self.columns for line in column.lines()]
        count = len(self.findings)
        if not count:
            return "\n".join([*lines, "no findings: every value is as declared"])
        return "\n".join(
            [*lines, f"{count} finding{'s' * (count > 1)}:", *(f"  {finding}" for finding in self.findings)]
        )


def check_columns_of(source: Any, schema: Schema) -> SchemaCheck:
    """Refuse a table that lacks a declared column or cannot be opened, without reading a row.

    A draft whose unit is not confirmed yet can be checked too: that helps to confirm it.
    """
    opened = schema.with_unit(ROW) if isinstance(schema.unit, UnconfirmedUnit) else schema
    open_table(source, opened).close()
    checks = tuple(ColumnCheck(name=column.name, kind=column.kind) for column in schema.columns)
    return SchemaCheck(internal=False, rows=None, columns=checks)


def check_table(source: Any, schema: Schema) -> SchemaCheck:
    """Check every declared column against its values, and identifiers against the unit. For the owner only."""
    check_columns_of(source, schema)
    stored = StoredTable.of(source, csv=schema.csv)
    checks = tuple(_column_check(column, stored.columns[column.name], schema) for column in schema.columns)
    table, findings = _identifiers(schema, stored)
    if lost := _empty_rows(stored):
        findings.append(
            f"{lost} rows have no value in any column: lines that cannot be read with the declared encoding, delimiter "
            "and quote, or empty ones"
        )
        table.append(findings[-1])
    spare = [name for name in stored.columns if name not in schema]
    table += [f"not declared, and never read: {', '.join(spare)}"] if spare else []
    unit = schema.unit
    if isinstance(unit, UnconfirmedUnit):
        findings.append(f"the unit is {unit.summary()}")
        table.append(findings[-1])
    elif schema.n_public is not None and unit.column is None and schema.n_public != stored.rows:
        table.append(f"n_public is declared as {schema.n_public}; there are {stored.rows} rows")
    findings += [f"{check.name}: {finding}" for check in checks for finding in check.findings]
    return SchemaCheck(
        internal=True, rows=stored.rows, columns=checks, table=tuple(table), findings=tuple(findings)
    )


def _empty_rows(stored: StoredTable) -> int:
    gone = np.ones(stored.rows, dtype=np.bool_)
    for values in stored.columns.values():
        gone &= np.asarray(texts(values).is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
    return int(gone.sum()) if stored.columns else 0


def _column_check(column: Column, values: Any, schema: Schema) -> ColumnCheck:
    stored_texts = texts(values)
    gone = np.asarray(stored_texts.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
    listed: list[str | None] = stored_texts.to_pylist()
    if isinstance(column, Identifier):
        return ColumnCheck(name=column.name, kind=column.kind, missing=int(gone.sum()))
    if isinstance(column, Numeric):
        return _number_check(column, values, listed, gone, decimal=schema.csv.decimal)
    return _category_check(column, values, listed, gone)


def _number_check(
    column: Numeric, values: Any, stored_texts: list[str | None], gone: Any, *, decimal: str
) -> ColumnCheck:
    plain = not isinstance(column, DateTime) and column.written_as is None
    if plain and decimal == "," and not isinstance(values, MixedColumn) and kind_of(values.type) is Kind.text:
        values = as_decimal_points(values)
    read = column_numbers(column, values)
    marked = np.isin(read, [marker for marker in column.nulls if isinstance(marker, float)])
    texts_meant = {marker for marker in column.nulls if isinstance(marker, str)}
    named = np.array(
        [text is not None and text.strip() in texts_meant for text in stored_texts], dtype=np.bool_
    )
    lost = np.isnan(read) & ~gone & ~named
    if not isinstance(values, MixedColumn) and kind_of(values.type) is Kind.floating:
        lost = np.zeros_like(lost)  # a NaN is missing
    known = ~np.isnan(read) & ~marked
    return ColumnCheck(
        name=column.name,
        kind=column.kind,
        missing=int((gone | marked | named).sum()),
        unread=int(lost.sum()),
        below=int((read[known] < column.low).sum()),
        above=int((read[known] > column.high).sum()),
        empty=_empty(column, values),
        cells=column.cells,
        examples=_examples(stored_texts, lost),
    )


def _category_check(
    column: Categorical, values: Any, stored_texts: list[str | None], gone: Any
) -> ColumnCheck:
    probe = Categorical(
        column.name,
        column.labels,
        other="\x01other",
        null="\x01null",
        trim=column.trim,
        fold=column.fold,
        aliases=[
            (text, column.labels[code])
            for text, code in column.spellings.items()
            if code < column.cells and text not in map(column.normal_text, column.labels)
        ],
    )
    cells = _cells_of(probe, values)
    markers = {column.normal_text(str(marker)) for marker in column.nulls}
    marked = np.array(
        [text is not None and column.normal_text(text) in markers for text in stored_texts], dtype=np.bool_
    )
    strange = (cells == probe.other_code) & ~marked & ~gone
    return ColumnCheck(
        name=column.name,
        kind=column.kind,
        missing=int((gone | marked).sum()),
        unknown=int(strange.sum()),
        empty=_empty(column, values),
        cells=column.cells,
        examples=_examples(stored_texts, strange),
    )


def _empty(column: Numeric | Categorical, values: Any) -> int:
    return column.cells - len(set(_cells_of(column, values).tolist()))


def _cells_of(column: Numeric | Categorical, values: Any) -> Any:
    from holdfast.data._batch import encode_batch

    return encode_batch(Schema([column]), {column.name: values}, len(values)).codes(column.name)


def _examples(stored_texts: list[str | None], where: Any) -> tuple[tuple[str, int], ...]:
    counts = Counter(str(stored_texts[place])[:60] for place in np.flatnonzero(where).tolist())
    return tuple(counts.most_common(SHOWN_EXAMPLES))


def _identifiers(schema: Schema, stored: StoredTable) -> tuple[list[str], list[str]]:
    """Lines and findings about identifiers: how often they repeat, and whose rows are left out."""
    lines: list[str] = []
    findings: list[str] = []
    unit = schema.unit
    for name in schema.identifiers:
        owned = Counter(texts(stored.columns[name]).to_pylist())
        most = max(owned.values(), default=0)
        lines.append(
            f"identifier {name}: {rows_text(len(owned))}, at most {most} row{'s' * (most != 1)} each"
        )
        if isinstance(unit, UnconfirmedUnit):
            continue
        if name == unit.column:
            cut = [rows - unit.max_rows for rows in owned.values() if rows > unit.max_rows]
            if cut:
                findings.append(
                    f"{len(cut)} of {len(owned)} units own more rows than max_rows: {sum(cut)} are left out"
                )
        elif unit.column is None and most > 1:
            findings.append(
                f"{name} repeats, and the unit is one row: whoever it names is not protected as a whole"
            )
    return [*lines, *findings], findings
