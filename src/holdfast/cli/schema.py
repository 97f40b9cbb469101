"""`holdfast schema`: what is public about a table, declared."""

from __future__ import annotations

import warnings
from pathlib import Path

import click


@click.group()
def schema() -> None:
    """Declare what is public about a table: columns, bounds, categories, unit and adjacency."""


@schema.command()
@click.argument("source")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where to write it.")
@click.option("--force", is_flag=True, help="Overwrite OUTPUT.")
def draft(source: str, output: Path | None, force: bool) -> None:
    """Write a draft schema for SOURCE (Parquet, CSV, a folder of them, a DuckDB URL), to be corrected by hand.

    Bounds and categories in it are guesses taken from the data, each marked so: replace them by what is
    public knowledge. What is computed under an uncorrected draft carries that as an assumption.

    \b
    Examples:
      holdfast schema draft clinic.parquet -o clinic.toml
      holdfast schema draft 'duckdb:///clinic.db?table=visits'
    """
    from holdfast.data.draft import draft_schema
    from holdfast.data.schema.schema import to_toml
    from holdfast.errors import NotPrivateWarning
    from holdfast.release.outputs import require_writable

    if output is not None:
        require_writable(output, force=force)
    with warnings.catch_warnings():
        # The file itself says it, in every line that holds a guess.
        warnings.simplefilter("ignore", NotPrivateWarning)
        text = to_toml(draft_schema(source))
    if output is None:
        click.echo(text)
    else:
        output.write_text(text, encoding="utf-8")
        click.echo(
            f"draft written to {click.format_filename(output)}: replace what is marked 'taken from the data'",
            err=True,
        )


@schema.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def show(file: Path) -> None:
    """Check a schema FILE and show what it declares."""
    from holdfast.data.schema import Schema

    loaded = Schema.load(file)
    click.echo(loaded.describe())
    for assumption in loaded.assumptions:
        click.echo(f"assumes: {assumption}")
    click.echo(f"hash: {loaded.hash()}")
