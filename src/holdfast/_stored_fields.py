"""Fields of stored things: a file whose format is unknown, or that lacks a field or has others, is refused by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holdfast._argument_kinds import type_text
from holdfast.errors import FormatError


def stored_fields(what: str, data: object) -> Mapping[str, Any]:
    """The fields of a stored thing by name; reading a field that it lacks is a `FormatError`."""
    if not isinstance(data, Mapping):
        raise FormatError(f"a stored {what} must be a mapping of its fields, got {type_text(data)}")
    return _Fields(what, data)


def require_known(
    what: str, data: Mapping[str, Any], names: Sequence[str], *, also: Sequence[str] = ()
) -> None:
    """Refuse a stored thing with fields that it does not have."""
    unknown = [name for name in data if name not in names and name not in also]
    if unknown:
        raise FormatError(
            f"a stored {what} has the fields {list(names)} and no others, got {len(unknown)} more"
        )


def require_format(what: str, data: object, known: str) -> None:
    """Refuse a stored thing of any other format than the known one; the error names its format."""
    stored_format = data.get("format") if isinstance(data, Mapping) else None
    if stored_format == known:
        return
    if isinstance(stored_format, str):
        raise FormatError(
            f"the {what} has the format {stored_format[:60]!r}, this holdfast reads {known}; "
            "use a version that reads it"
        )
    raise FormatError(f"not a {what}: it does not have the format {known}")


def require_fields(what: str, data: object, names: Collection[str]) -> Mapping[str, Any]:
    """The fields of a stored thing that has exactly these; `FormatError` for anything else."""
    stored = stored_fields(what, data)
    for name in names:
        stored[name]
    require_known(what, stored, list(names))
    return stored


class _Fields(dict[str, Any]):
    def __init__(self, what: str, data: Mapping[Any, Any]) -> None:
        super().__init__(data)
        self.what = what

    def __missing__(self, name: str) -> Any:
        raise FormatError(f"a stored {self.what} lacks the field {name!r}")
