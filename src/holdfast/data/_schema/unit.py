"""The privacy unit of a schema: as declared, as files hold it, or not confirmed yet.

A draft cannot know whom a table is about, so it leaves the unit unconfirmed: with such a schema no row is read and
nothing is spent. A person confirms a column (`column` and `max_rows`) or says that each row is about somebody else
(`"row"`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.errors import FormatError, ParameterError, require
from holdfast.privacy._adjacency import PrivacyUnit

ROW = "row"
"""How files and commands say that each row is about another person."""
_FIELDS = {"column", "max_rows", "taken_from_data", "confirmed", "candidates"}


@dataclass(frozen=True)
class UnconfirmedUnit:
    """Nobody has said whose privacy is promised.

    `candidates` are the identifiers that may name a person, the likeliest first: names of columns, nothing of their
    values.

    >>> UnconfirmedUnit(["patient_id"]).summary()
    'not confirmed; columns that may name a person: patient_id'
    """

    candidates: Sequence[str] = ()

    def __post_init__(self) -> None:
        listed = not isinstance(self.candidates, str) and all(
            isinstance(name, str) for name in self.candidates
        )
        require(listed, "candidates", self.candidates, "a list of names of columns")
        object.__setattr__(self, "candidates", tuple(self.candidates))

    def summary(self) -> str:
        """The state in words."""
        named = f"; columns that may name a person: {', '.join(self.candidates)}" if self.candidates else ""
        return f"not confirmed{named}"

    def refusal(self) -> ParameterError:
        """What is raised wherever rows would be read or something would be spent, with both ways out."""
        first = self.candidates[0] if self.candidates else "COLUMN"
        named = f" (columns that may name one: {', '.join(self.candidates)})" if self.candidates else ""
        return ParameterError(
            "unit must be confirmed before a row is read or anything is spent, got a draft that leaves it open. "
            f'Is each row about another person? Then say so: unit = "{ROW}" in the file, --unit {ROW}, or '
            f'schema.with_unit("{ROW}"). May a person have several rows{named}? Then name the column, and how many '
            f'rows of one person may count, a public number N: unit = {{ column = "{first}", max_rows = N }} in the '
            f'file, --unit {first}:N, or schema.with_unit("{first}", max_rows=N)'
        )


@dataclass(frozen=True, kw_only=True)
class DeclaredUnit:
    """What a schema file says of the unit."""

    unit: PrivacyUnit | UnconfirmedUnit = PrivacyUnit()  # noqa: RUF009 - frozen
    taken_from_data: bool = False

    def to_dict(self) -> dict[str, Any]:
        """For files; nothing for a row that somebody declared, which is what a file without a unit says."""
        if isinstance(self.unit, UnconfirmedUnit):
            return {"confirmed": False, "candidates": list(self.unit.candidates)}
        record: dict[str, Any] = {}
        if self.unit.column is not None:
            record = {"column": self.unit.column, "max_rows": self.unit.max_rows}
        return record | ({"taken_from_data": True} if self.taken_from_data else {})

    @classmethod
    def from_file(cls, entry: Any) -> DeclaredUnit:
        """What `to_dict` wrote, or a person; `FormatError` says what is wrong with it."""
        if entry == ROW:
            return cls()
        if not isinstance(entry, Mapping):
            raise FormatError(f'unit must be "{ROW}" or a table with column and max_rows')
        unknown = sorted(set(entry) - _FIELDS)
        if unknown:
            raise FormatError(f"unit has the fields {sorted(_FIELDS)}, got {unknown}")
        if "confirmed" in entry or "candidates" in entry:
            return cls(unit=_open_unit(entry))
        marked = entry.get("taken_from_data", False)
        if not isinstance(marked, bool):
            raise FormatError("taken_from_data of the unit must be true, or left out")
        if "column" in entry and "max_rows" not in entry:
            raise FormatError("unit must say max_rows beside column: how many rows of one person may count")
        named = {name: entry[name] for name in ("column", "max_rows") if name in entry}
        return cls(unit=PrivacyUnit(**named), taken_from_data=marked)


def _open_unit(entry: Mapping[str, Any]) -> UnconfirmedUnit:
    """Half an answer is none: whoever confirms takes the mark away."""
    if entry.get("confirmed", False) is not False or set(entry) - {"confirmed", "candidates"}:
        raise FormatError(
            "a unit is confirmed by its column and max_rows alone, or by unit = "
            f'"{ROW}": take confirmed and candidates out of it'
        )
    candidates = entry.get("candidates", [])
    if not isinstance(candidates, list):
        raise FormatError("candidates of the unit must be a list of names of columns")
    return UnconfirmedUnit(candidates)


def read_unit(text: str) -> tuple[str, int | None]:
    """What `--unit` says: the word row, or a column and how many rows of one of its values may count.

    >>> read_unit("row"), read_unit("patient_id:20")
    (('row', None), ('patient_id', 20))
    """
    column, _, rows = text.rpartition(":")
    if text == ROW:
        return ROW, None
    good = bool(column) and rows.isascii() and rows.isdigit() and 1 <= len(rows) <= 9 and int(rows) >= 1
    require(good, "--unit", text, f"{ROW}, or COLUMN:ROWS with a whole number >= 1, such as patient_id:20")
    return column, int(rows)
