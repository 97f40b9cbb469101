"""`holdfast demo`: a private release of bundled data, end to end."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command()
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=Path("holdfast-demo"),
    show_default=True, help="The folder to write to.",
)  # fmt: skip
def demo(output: Path) -> None:
    """Release three tables of the bundled Adult data and write a page about them.

    Opens the data with DuckDB under their declared schema, opens a ledger with a limit, charges it, adds
    exact noise, saves the release and writes a page. Running it again pays nothing and changes nothing.

    \b
    Example:
      holdfast demo --output out/demo
    """
    from holdfast.dossier.demo import run_demo

    def step(text: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"  {text} ...", err=True)

    made = run_demo(output, step=step)
    click.echo(made.summary)
    click.echo(f"release: {made.release}")
    click.echo(f"ledger:  {made.ledger}")
    click.echo(f"page:    {made.page.resolve()}")
