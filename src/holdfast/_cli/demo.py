"""`holdfast demo`: a private model and a synthetic table of bundled data, end to end."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from holdfast._cli.paths import WRITTEN_FOLDER, Command


@click.command(cls=Command)
@click.option(
    "-o",
    "--output",
    type=WRITTEN_FOLDER,
    default=Path("holdfast-demo"),
    show_default=True,
    help="The folder to write to.",
)
@click.option(
    "--broken", is_flag=True, help="Draw a third of the noise that is declared: the audit must notice."
)
def demo(output: Path, broken: bool) -> None:
    """Release a model and a synthetic table of the bundled Adult data, and write two pages about them.

    Opens the data with DuckDB under their declared schema and a ledger with a limit, fits a private model, makes a
    synthetic table with a certificate, attacks the model, audits its learner on public tables, writes a public and an
    internal edition of the dossier, and verifies the public one. Running it again pays nothing. Exit code 1 when an
    audit or an attack contradicts the promise, or the page does not verify.

    \b
    Examples:
      holdfast demo --output out/demo
      holdfast demo --broken --output out/demo-broken      ends with a red banner
    """
    from holdfast._demo import run_broken_demo, run_demo

    def step(text: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"  {text} ...", err=True)

    outcome = (run_broken_demo if broken else run_demo)(output, step=step)
    click.echo(outcome.summary)
    click.echo()
    for name, path in (
        ("page", outcome.page.resolve()),
        ("internal", outcome.internal),
        ("rows", outcome.rows),
        ("releases", f"{outcome.model} {outcome.synthetic}"),
        ("ledger", outcome.ledger),
    ):
        click.echo(f"{name + ':':<10}{path}")
    # As it was called, so that the line can be pasted: make calls it by its path.
    program = sys.argv[0] if Path(sys.argv[0]).name == "holdfast" else "holdfast"
    click.echo(
        f"check it: {program} verify {outcome.page} --release {outcome.model} --release {outcome.synthetic} "
        f"--ledger {outcome.ledger} --recompute"
    )
    if outcome.contradictions or not outcome.verification.ok:
        click.secho("CONTRADICTED: the promise does not hold", fg="red", bold=True, err=True)
        raise click.exceptions.Exit(1)
