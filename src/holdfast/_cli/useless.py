"""The option of every command that charges: to go on where public numbers say that the result cannot be of use."""

from __future__ import annotations

import click

EVEN_IF_USELESS_OPTION = click.option(
    "--even-if-useless",
    is_flag=True,
    help="Make it although public numbers say that noise hides everything; without, that is refused before it is paid.",
)
