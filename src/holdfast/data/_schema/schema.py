"""Schema: what is public about the data, declared and never inferred, and the files that hold it.

Schemas are written as TOML for people or as JSON for programs, with one format version for both. The standard library
reads TOML and does not write it, so a small writer is here; `tomllib` reads its files back as equal schemas, which a
property test checks.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast._arguments import checked
from holdfast._assumption import READ_FROM_DATA, Assumption
from holdfast._plain_data import parse_json, parse_toml
from holdfast._regular_file import read_regular
from holdfast.data._schema.columns import Categorical, Numeric
from holdfast.data._schema.csv_format import CsvFormat
from holdfast.data._schema.hierarchy import Hierarchy
from holdfast.data._schema.kinds import KINDS, REGISTRY, Column, Identifier
from holdfast.data._schema.unit import ROW, DeclaredUnit, UnconfirmedUnit, read_unit
from holdfast.data._whole_file import write_whole
from holdfast.errors import FormatError, ParameterError, require
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

__all__ = ["FORMAT", "Categorical", "Column", "CsvFormat", "Identifier", "Numeric", "Schema"]
FORMAT = "holdfast-schema/1"
_ROW = PrivacyUnit.row()
_CSV = CsvFormat()
_KEYS = {"format", "description", "adjacency", "n_public", "unit", "csv", "columns"}


@checked
@dataclass(frozen=True)
class Schema:
    """The columns with their domains, the privacy unit, the neighbour relation and the public count.

    Parameters
    ----------
    columns : sequence of columns
        The declared columns, in order.
    unit : PrivacyUnit
        Who is protected: one row, unless a user column is named. A draft leaves it unconfirmed, and then
        nothing is read or spent (`with_unit` says it).
    adjacency : Adjacency or str, optional
        The neighbour relation; None leaves the choice to the caller (then `replace`).
    n_public : int, optional
        The public number of privacy units, needed under `add_remove` only.
    description : str
        What the table is, for whoever reads a release.
    csv : CsvFormat
        How CSV files of this table are written.
    unit_taken_from_data : bool
        Whether a draft guessed the unit, or its `max_rows` was read from the data.

    Examples
    --------
    >>> schema = Schema([Numeric("age", 17, 90, bins=4), Categorical("sex", ["F", "M"])])
    >>> schema.cells("age", "sex"), schema.domain
    (8, {'age': 4, 'sex': 2})
    >>> schema.select("sex").names
    ('sex',)
    """

    columns: Sequence[Column]
    unit: PrivacyUnit | UnconfirmedUnit = _ROW
    adjacency: Adjacency | str | None = None
    n_public: int | None = None
    description: str = ""
    csv: CsvFormat = _CSV
    unit_taken_from_data: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        for kind in {type(column) for column in self.columns} - set(KINDS.values()):
            require(
                issubclass(kind, Numeric | Categorical),
                "columns",
                kind.__name__,
                "a list of Numeric, Categorical and Identifier, or of kinds below the first two",
            )
            REGISTRY.admit(kind)
        seen: set[str] = set()
        for column in self.columns:
            require(column.name not in seen, "columns", column.name, "columns of different names")
            seen.add(column.name)
        object.__setattr__(self, "unit", _ROW if self.unit is None else self.unit)
        if self.adjacency is not None:
            object.__setattr__(self, "adjacency", Adjacency.of(self.adjacency))
        if self.n_public is not None:
            whole = isinstance(self.n_public, int) and not isinstance(self.n_public, bool)
            require(whole and self.n_public >= 1, "n_public", self.n_public, "a whole number >= 1")
        require(isinstance(self.description, str), "description", self.description, "a text")
        require(isinstance(self.csv, CsvFormat), "csv", self.csv, "a CsvFormat")
        known = isinstance(self.unit, PrivacyUnit | UnconfirmedUnit)
        require(
            known,
            "unit",
            self.unit,
            "a PrivacyUnit",
            f'schema.with_unit("{ROW}") says that a row is a person',
        )
        for name in self.unit.candidates if isinstance(self.unit, UnconfirmedUnit) else ():
            listed = [column.name for column in self.columns]
            require(name in listed, "candidates", name, f"columns of the schema: {listed}")
        if isinstance(self.unit, PrivacyUnit) and self.unit.column is not None:
            name = self.unit.column
            require(
                name in self.identifiers,
                "unit.column",
                name,
                "a column that the schema declares as an identifier",
                f'add Identifier({name!r}) to the columns, or declare it so in the file: kind = "identifier"',
            )

    @property
    def confirmed_unit(self) -> PrivacyUnit:
        """The privacy unit; refused with the candidates and what to do where it is not confirmed."""
        if isinstance(self.unit, UnconfirmedUnit):
            raise self.unit.refusal()
        return self.unit

    def require_confirmed(self) -> Schema:
        """This schema, if its unit is confirmed; a `ParameterError` otherwise."""
        _ = self.confirmed_unit
        return self

    def with_unit(self, column: str, *, max_rows: int | None = None) -> Schema:
        """The same schema with this privacy unit, which no longer counts as taken from the data.

        `column` names a person, or is `"row"` where each row is about another person. A column that was
        declared as something else becomes an identifier, which is no feature any more. `max_rows` says how many
        rows of one person may count, a public number; it is left out for `"row"`.

        >>> schema = Schema([Numeric("age", 0, 100), Identifier("pid")], unit=UnconfirmedUnit(["pid"]))
        >>> schema.with_unit("row").unit.summary(), schema.with_unit("pid", max_rows=5).unit.summary()
        ('one row', 'one pid, with at most 5 rows')
        """
        if column == ROW and max_rows is None:
            return replace(self, unit=_ROW, unit_taken_from_data=False)
        listed = [other.name for other in self.columns]
        require(column in listed, "column", column, f'"{ROW}" or a column of the schema: {listed}')
        require(
            isinstance(max_rows, int) and not isinstance(max_rows, bool) and max_rows >= 1,
            "max_rows",
            max_rows,
            "a whole number >= 1",
            "it says how many rows of one person may count",
        )
        assert max_rows is not None
        columns = [Identifier(column) if other.name == column else other for other in self.columns]
        unit = PrivacyUnit.user(column, max_rows=max_rows)
        return replace(self, columns=columns, unit=unit, unit_taken_from_data=False)

    def with_asked_unit(self, text: str | None) -> Schema:
        """The same with the `text` of the option `--unit`; a unit that the schema declares cannot be changed by it.

        >>> Schema([Numeric("age", 0, 100)]).with_asked_unit("row").unit.summary()
        'one row'
        """
        if text is None:
            return self
        column, rows = read_unit(text)
        said = self.with_unit(column, max_rows=rows)
        if isinstance(self.unit, PrivacyUnit) and not self.unit_taken_from_data and self.unit != said.unit:
            raise ParameterError(
                f"--unit {text} contradicts the schema, which declares {self.unit.summary()}; drop the option or "
                "change the schema"
            )
        return said

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that may be encoded and counted, in order (identifiers left out)."""
        return tuple(column.name for column in self.columns if not isinstance(column, Identifier))

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that only say whose row it is."""
        return tuple(column.name for column in self.columns if isinstance(column, Identifier))

    @property
    def no_features(self) -> str:
        """Which columns no model sees and no synthetic row has; empty where there are none."""
        names = self.identifiers
        return f"no features, because they are identifiers: {_names_text(names)}" if names else ""

    @property
    def open_levels(self) -> tuple[str, ...]:
        """The hierarchies without a declared level, which the release chooses."""
        named = (
            hierarchy
            for hierarchy in self.columns
            if isinstance(hierarchy, Hierarchy) and hierarchy.level is None
        )
        return tuple(column.name for column in named)

    def at_levels(self, levels: Mapping[str, int]) -> Schema:
        """The same schema with these hierarchies counted at these levels; 0 are the categories themselves."""
        for name in levels:
            known = [column.name for column in self.columns if isinstance(column, Hierarchy)]
            require(name in known, "levels", name, f"a hierarchy of the schema, which has {known or 'none'}")
        columns = [
            column.at(levels[column.name]) if column.name in levels else column  # type: ignore[union-attr]
            for column in self.columns
        ]
        return replace(self, columns=columns)

    def visible_levels(self, *, rows: int | None, noise: float) -> dict[str, int]:
        """For every open hierarchy the finest level whose cells stand above this noise, by public numbers alone.

        Without a public number of rows it is the finest of all.
        """
        opened = [
            hierarchy
            for hierarchy in self.columns
            if isinstance(hierarchy, Hierarchy) and hierarchy.level is None
        ]
        return {
            hierarchy.name: 0 if rows is None else hierarchy.finest(rows=rows, noise=noise)
            for hierarchy in opened
        }

    @property
    def domain(self) -> dict[str, int]:
        """The number of cells of each column that may be counted."""
        return {name: self[name].cells for name in self.names}

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What a promise made with this schema rests on beyond its theorem."""
        bounds = [
            column.name for column in self.columns if column.taken_from_data and isinstance(column, Numeric)
        ]
        texts = [
            column.name
            for column in self.columns
            if column.taken_from_data and not isinstance(column, Numeric)
        ]
        of_columns = [
            Assumption(
                kind=READ_FROM_DATA,
                subject=f"{what} of {_names_text(names)}",
                voids=True,
                text=f"{what} of {_names_text(names)} were taken from the data: the promise does not cover what they "
                "show",
            )
            for what, names in (("bounds", bounds), ("categories", texts))
            if names
        ]
        return (*of_columns, *self._unit_assumptions())

    def _unit_assumptions(self) -> tuple[Assumption, ...]:
        if not self.unit_taken_from_data or isinstance(self.unit, UnconfirmedUnit):
            return ()
        if self.unit.column is None:
            text = (
                "that each row is about another person was guessed from the data, in which no column seemed to name "
                "a person: one with several rows is not protected as a whole"
            )
        else:
            text = (
                f"max_rows = {self.unit.max_rows} of the unit {self.unit.column} was taken from the data: the promise "
                "does not cover what it shows"
            )
        return (Assumption(kind=READ_FROM_DATA, subject="unit", voids=True, text=text),)

    def __getitem__(self, name: str) -> Numeric | Categorical:
        column = self._by_name.get(name)
        if column is not None:
            return column
        hint = " (it is an identifier, which is never encoded)" if name in self.identifiers else ""
        raise ParameterError(f"columns must be among {list(self.names)}, got {name!r}{hint}")

    @cached_property
    def _by_name(self) -> dict[str, Numeric | Categorical]:
        return {column.name: column for column in self.columns if not isinstance(column, Identifier)}

    def __contains__(self, name: object) -> bool:
        return any(column.name == name for column in self.columns)

    def select(self, *names: str) -> Schema:
        """The same schema with only the columns `names`, in this order, and the identifiers."""
        require(len(set(names)) == len(names), "names", list(names), "names given once each")
        columns = [self[name] for name in names]
        return replace(self, columns=[*columns, *(Identifier(name) for name in self.identifiers)])

    def cells(self, *names: str) -> int:
        """How many cells a joint count of the columns `names` has (1 for no column: the total)."""
        return math.prod(self[name].cells for name in names)

    def shape(self, *names: str) -> tuple[int, ...]:
        """The shape of a joint count of the columns `names`."""
        return tuple(self[name].cells for name in names)

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain values: what the files hold."""
        record: dict[str, Any] = {"format": FORMAT}
        if self.description:
            record["description"] = self.description
        if self.adjacency is not None:
            record["adjacency"] = Adjacency.of(self.adjacency).value
        if self.n_public is not None:
            record["n_public"] = self.n_public
        if unit := DeclaredUnit(unit=self.unit, taken_from_data=self.unit_taken_from_data).to_dict():
            record["unit"] = unit
        if self.csv != _CSV:
            record["csv"] = self.csv.to_dict()
        return record | {"columns": [column.to_dict() for column in self.columns]}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Schema:
        """The schema of a `record` that `to_dict` wrote; anything else is a `FormatError`."""
        _check_format(record)
        unknown = sorted(set(record) - _KEYS)
        if unknown:
            raise FormatError(f"a schema has the fields {sorted(_KEYS)}, got {unknown}")
        columns = record.get("columns", [])
        if not isinstance(columns, list):
            raise FormatError("columns must be a list of tables")
        try:
            declared = DeclaredUnit.from_file(record.get("unit", ROW))
            return cls(
                columns=[_column(entry) for entry in columns],
                unit=declared.unit,
                unit_taken_from_data=declared.taken_from_data,
                adjacency=record.get("adjacency"),
                n_public=record.get("n_public"),
                description=record.get("description", ""),
                csv=CsvFormat(**record.get("csv", {})),
            )
        except (ParameterError, TypeError) as error:
            raise FormatError(f"not a valid schema: {error}") from error

    def hash(self) -> str:
        """SHA-256 of the canonical JSON: two schemas with the same hash declare the same."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write TOML, or JSON where the name ends in `.json`.

        Parameters
        ----------
        path : str or path
            The file to write. One that holds the same already is left as it is.
        overwrite : bool
            Whether it may take the place of a file that this process did not write.
        """
        write_schema(self, Path(path), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read the file at `path`, which `save` wrote or a person did; `FormatError` says what is wrong with it."""
        return read_schema(Path(path))

    def describe(self) -> str:
        """Unit, neighbours and one line per column."""
        adjacency = "not declared" if self.adjacency is None else Adjacency.of(self.adjacency).value
        count = "" if self.n_public is None else f"; public count {self.n_public}"
        lines = [f"privacy unit: {self.unit.summary()}; adjacency: {adjacency}{count}"]
        lines += [f"CSV files: {self.csv.describe()}"] if self.csv != _CSV else []
        lines += [f"  {column.describe()}" for column in self.columns]
        return "\n".join(lines + [f"assumption: {assumption.text}" for assumption in self.assumptions])

    def summary(self) -> str:
        """The same as `describe`, under the name that every result of holdfast has."""
        return self.describe()


def _names_text(names: Sequence[str], most: int = 12) -> str:
    """Names in a sentence; of many columns the first ones, for the schema itself marks them all."""
    more = f" and {len(names) - most} more columns" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _check_format(record: Mapping[str, Any]) -> None:
    version = record.get("format")
    if version == FORMAT:
        return
    if isinstance(version, str) and version.startswith("holdfast-schema/"):
        raise FormatError(f"this holdfast reads {FORMAT}, the file says {version!r}; use a newer holdfast")
    raise FormatError(f'a schema file starts with format = "{FORMAT}", this one does not')


def _column(entry: Any) -> Column:
    named = entry.get("kind") if isinstance(entry, dict) else None
    kind = (KINDS.get(named) or REGISTRY.find(named)) if isinstance(named, str) else None
    if kind is None:
        raise FormatError(f"each column must be a table whose kind is one of {', '.join(REGISTRY.names())}")
    return read_column(entry, kind)


def read_column(entry: Mapping[str, Any], kind: Any) -> Column:
    """The column that `to_dict` wrote, of a class that is known."""
    fields = {key: value for key, value in entry.items() if key != "kind"}
    try:
        column: Column = kind(**fields)
    except TypeError:
        raise FormatError(
            f"column {entry.get('name')!r} has missing or unknown fields: {sorted(fields)}"
        ) from None
    return column


#: A larger schema file is not read: nobody declares that much by hand.
MOST_SCHEMA_BYTES = 16 * 2**20
_MARK = "  # taken from the data: replace it"
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def write_schema(schema: Schema, path: Path, *, overwrite: bool = False) -> None:
    """Write the schema as TOML, or as JSON where the name ends in `.json`."""
    text = json.dumps(schema.to_dict(), indent=2) + "\n" if path.suffix == ".json" else to_toml(schema)
    data = text.encode()
    if len(data) > MOST_SCHEMA_BYTES:
        raise ParameterError(
            f"a schema file has at most {MOST_SCHEMA_BYTES:,} bytes, this one would have {len(data):,} and could not "
            "be read back; declare fewer categories, or a number"
        )
    write_whole(path, data, overwrite=overwrite)


def read_schema(path: Path) -> Schema:
    """Read a TOML or JSON schema file."""
    content = read_regular(path, what="a schema", most_bytes=MOST_SCHEMA_BYTES)
    parse = parse_json if path.suffix == ".json" else parse_toml
    record = parse(content, f"the schema {str(path)!r}", most_bytes=MOST_SCHEMA_BYTES)
    if not isinstance(record, dict):
        raise FormatError(f"{str(path)!r} must hold one table")
    return Schema.from_dict(record)


def to_toml(
    schema: Schema, notes: Mapping[str, Sequence[str]] | None = None, *, unit_notes: Sequence[str] = ()
) -> str:
    """The schema as TOML text; a guess of a draft is marked by a comment that asks to replace it.

    `notes` are comments, by the name of a column; those of the file stand under the name "". `unit_notes` stand
    before the unit, which is the first table: a line `unit = "row"` may take its place.
    """
    record = schema.to_dict()
    columns = record.pop("columns")
    tables = {name: record.pop(name) for name in ("unit", "csv") if name in record}
    said = {} if notes is None else notes
    lines = _pairs(record)
    lines += [f"# {_plain(note)}" for note in said.get("", ())]
    lines += ["", *(f"# {_plain(note)}".rstrip() for note in unit_notes)] if unit_notes else []
    for name, pairs in tables.items():
        space = [] if name == "unit" and unit_notes else [""]
        lines += [*space, f"[{name}]", *_pairs(pairs)]
    for column in columns:
        marked = ("low", "high", "categories") if column.get("taken_from_data") else ()
        comments = [f"# {_plain(note)}" for note in said.get(column["name"], ())]
        lines += ["", *comments, "[[columns]]", *_pairs(column, marked=marked)]
    return "\n".join(lines) + "\n"


def _plain(note: str) -> str:
    """A comment on one line: what is a control character to TOML would end it."""
    return "".join(letter if letter.isprintable() else " " for letter in note)


def _pairs(record: Mapping[str, Any], *, marked: Sequence[str] = ()) -> list[str]:
    """Lines `key = value`; our keys are plain words, so only values need quoting."""
    return [f"{key} = {_value(value)}{_MARK if key in marked else ''}" for key, value in record.items()]


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_text(key)} = {_value(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)  # whole numbers and finite floats: Python's shortest form is TOML's


def _text(text: str) -> str:
    r"""A TOML basic string.

    >>> print(_text('say "hi"\n'))
    "say \"hi\"\n"
    """
    letters = (
        _ESCAPES.get(letter)
        or (f"\\u{ord(letter):04X}" if ord(letter) < 0x20 or ord(letter) == 0x7F else letter)
        for letter in text
    )
    return '"' + "".join(letters) + '"'
