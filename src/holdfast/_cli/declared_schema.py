"""The schema that a command is given, with the unit that is said beside it; an open unit is refused here, at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from holdfast.data._schema import Schema

_UNIT_KEY = "holdfast.unit"


def _store_unit(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    context.meta[_UNIT_KEY] = value


UNIT_OPTION = click.option(
    "--unit",
    metavar="row|COLUMN:ROWS",
    expose_value=False,
    callback=_store_unit,
    help="Whose privacy is promised, where a draft of --schema leaves it open: each row another person, or a column "
    "that names one and how many rows of one may count, a public number.",
)
"""The option, for every command that takes a schema; `declared_schema` reads it."""


def declared_schema(path: Path) -> Schema:
    """The schema of a file, its unit confirmed by the file or by `--unit`."""
    from holdfast.data._schema import Schema

    unit: str | None = click.get_current_context().meta.get(_UNIT_KEY)
    return Schema.load(path).with_asked_unit(unit).require_confirmed()
