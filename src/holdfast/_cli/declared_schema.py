"""The schema that a command is given, with the unit that is said beside it; an open unit is refused here, at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from holdfast.data._schema import Schema

_KEY = "holdfast.unit"


def _keep(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    context.meta[_KEY] = value


UNIT = click.option(
    "--unit",
    metavar="row|COLUMN:ROWS",
    expose_value=False,
    callback=_keep,
    help="Whose privacy is promised, where a draft of --schema leaves it open: each row another person, or a column "
    "that names one and how many rows of one may count, a public number.",
)
"""The option, for every command that takes a schema; `declared_schema` reads it."""


def declared_schema(path: Path) -> Schema:
    """The schema of a file, its unit confirmed by the file or by `--unit`."""
    from holdfast.data._schema import Schema

    said: str | None = click.get_current_context().meta.get(_KEY)
    return Schema.load(path).with_asked_unit(said).confirmed()


def say_drafted_class(schema: Schema, target: str) -> None:
    """One line where a draft that did not know of the target made one more class of it."""
    column = schema[target] if target in schema.names else None
    other = getattr(column, "other", None)
    if column is not None and column.taken_from_data and other is not None:
        click.echo(
            f"{other!r} is a class of {target!r}: the draft made it for whatever is not listed. "
            f"holdfast schema draft --target {target} leaves it out, or remove other = from that column",
            err=True,
        )
