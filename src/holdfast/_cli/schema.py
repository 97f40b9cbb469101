"""`holdfast schema`: what is public about a table, declared."""

from __future__ import annotations

import warnings
from pathlib import Path

import click

from holdfast._cli.paths import FORCE_OPTION, READ_FILE, SOURCE_TEXT, WRITTEN_FILE, CommandGroup


@click.group(cls=CommandGroup)
def schema() -> None:
    """Declare what is public about a table: columns, bounds, categories, unit and adjacency."""


@schema.command()
@click.argument("source", type=SOURCE_TEXT)
@click.option("-o", "--output", type=WRITTEN_FILE, help="Where to write it.")
@click.option("--target", help="The column to be predicted; few whole numbers in it are classes.")
@click.option(
    "--encoding", help="How the letters of CSV files are written, such as cp1251; guessed otherwise."
)
@FORCE_OPTION
def draft(source: str, output: Path | None, target: str | None, encoding: str | None) -> None:
    """Write a draft schema for SOURCE (Parquet, CSV, a folder of them, a database URL), to be corrected by hand.

    Bounds and categories in it are guesses taken from the data, each marked so: replace them by what is
    public knowledge. Comments say what each guess rests on: the draft is not for publication. What is computed under
    an uncorrected draft carries that as an assumption. Whose privacy is promised is never guessed: where columns may
    name a person, they are listed, and every command refuses the draft until [unit] or --unit says it.

    \b
    Examples:
      holdfast schema draft clinic.parquet -o clinic.toml
      holdfast schema draft 'duckdb:///clinic.db?table=visits'
    """
    from holdfast.data._draft import draft_of
    from holdfast.data._whole_file import write_whole
    from holdfast.errors import NotPrivateWarning

    with warnings.catch_warnings():
        # The file itself says it, in every line that holds a guess.
        warnings.simplefilter("ignore", NotPrivateWarning)
        draft = draft_of(source, target=target, encoding=encoding)
    text = draft.to_toml()
    for line in draft.no_features:
        click.echo(line, err=True)
    if output is None:
        click.echo(text)
    else:
        write_whole(output, text.encode())
        click.echo(
            f"draft written to {click.format_filename(output)}: replace what is marked 'taken from the data'",
            err=True,
        )
    if draft.candidates:
        names = ", ".join(column.name for column in draft.candidates)
        click.echo(
            f"say whose privacy is promised, in its [unit]: {names} may name a person; nothing is read or spent before",
            err=True,
        )
    else:
        click.echo(
            "no column seems to name a person: each row is taken to be about another one, as an assumption",
            err=True,
        )


@schema.command()
@click.argument("source", type=SOURCE_TEXT)
@click.argument("file", metavar="SCHEMA", type=READ_FILE)
@click.option(
    "--internal", is_flag=True, help="Show what the rows hold, to whoever owns them; exit 1 on a finding."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(source: str, file: Path, internal: bool, as_json: bool) -> None:
    """Hold the table SOURCE against a SCHEMA file, before anything is spent.

    Without --internal only names and types of columns are compared: the output and the exit status say nothing about
    any row. With it, the owner sees how many values lie outside of bounds, which categories nobody declared, what
    could not be read, what is missing and whose rows are cut. That is exact, hence private: never publish it.

    \b
    Examples:
      holdfast schema check sales.csv sales.toml
      holdfast schema check sales.csv sales.toml --internal
    """
    from holdfast.data._draft.check import check_columns_of, check_table
    from holdfast.data._schema import Schema

    schema_of_file = Schema.load(file)
    report = check_table(source, schema_of_file) if internal else check_columns_of(source, schema_of_file)
    click.echo(report.to_json() if as_json else report.summary())
    if internal and report.findings:
        raise SystemExit(1)


@schema.command()
@click.argument("file", type=READ_FILE)
def show(file: Path) -> None:
    """Check a schema FILE and show what it declares."""
    from holdfast.data._schema import Schema

    schema_of_file = Schema.load(file)
    click.echo(schema_of_file.describe())
    for assumption in schema_of_file.assumptions:
        click.echo(f"assumes: {assumption.text}")
    click.echo(f"hash: {schema_of_file.hash()}")
