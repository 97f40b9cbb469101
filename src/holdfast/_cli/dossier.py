"""`holdfast dossier`: the page about a release."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path

import click

from holdfast._cli.paths import FORCE_OPTION, READ_FILE, WRITTEN_FILE, Command


@click.command(cls=Command)
@click.argument("releases", metavar="RELEASE...", nargs=-1, required=True, type=READ_FILE)
@click.option("-o", "--output", type=WRITTEN_FILE, required=True, help="The page (HTML).")
@click.option(
    "--audience",
    type=click.Choice(["public", "internal"]),
    default="public",
    show_default=True,
    help="A public edition refuses what is an un-noised function of private data.",
)
@click.option("--ledger", type=READ_FILE, help="The ledger that paid: shows budget, approver and purpose.")
@click.option(
    "--audit", "audits", type=READ_FILE, multiple=True, help="What 'holdfast audit --json' printed."
)
@click.option(
    "--attack",
    "attacks",
    type=READ_FILE,
    multiple=True,
    help="What 'holdfast attack membership --json' wrote (internal).",
)
@click.option("--accuracy", type=READ_FILE, help="JSON: a list of {model, score, rows, measure} (internal).")
@click.option("--title", help="Default: the method of the first release.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of audited bounds.")
@click.option(
    "--also-run",
    type=int,
    default=0,
    show_default=True,
    help="Audits and attacks that were run and are not on the page: all share one error.",
)
@FORCE_OPTION
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output: everything the page says.")
def dossier(
    releases: tuple[Path, ...],
    output: Path,
    audience: str,
    ledger: Path | None,
    audits: tuple[Path, ...],
    attacks: tuple[Path, ...],
    accuracy: Path | None,
    title: str | None,
    confidence: float,
    also_run: int,
    as_json: bool,
) -> None:
    """Write one self-contained page about one or more RELEASE files.

    It says what was released, about whom, what is promised in plain words, and what was tried against the
    promise. It opens from disk, asks the network for nothing, prints, and carries its own data. Exit code 1 when an
    audit or attack contradicts the promise; the page then says so in red.

    \b
    Examples:
      holdfast dossier model.holdfast -o dossier.html --ledger budget.db
      holdfast dossier model.holdfast -o dossier.html --ledger budget.db --audit audit.json
      holdfast dossier model.holdfast -o internal.html --audience internal --attack attacks.json
    """
    from holdfast.dossier import Dossier
    from holdfast.dossier._stored_evidence import read_accuracy, read_attacks, read_audit
    from holdfast.ledger import Ledger

    with ExitStack() as stack:
        # Saving the page closes it in the ledger; where that cannot be written to, the page stays unbound.
        budget_ledger = None
        if ledger is not None:
            budget_ledger = stack.enter_context(Ledger.open(ledger, read_only=not os.access(ledger, os.W_OK)))
        document = Dossier.of_files(
            releases,
            audits=[read_audit(path) for path in audits],
            attacks=[attack for path in attacks for attack in read_attacks(path)],
            accuracy=[] if accuracy is None else read_accuracy(accuracy),
            ledger=budget_ledger,
            audience=audience,
            title=title,
            confidence=confidence,
            also_run=also_run,
        )
        document.save(output)
    if as_json:
        click.echo(json.dumps({"page": str(output)} | document.to_json()))
    else:
        click.echo(document.summary())
        click.echo(f"page: {click.format_filename(output)}")
    if document.contradictions:
        click.secho("CONTRADICTED: the promise does not hold", fg="red", bold=True, err=True)
        raise click.exceptions.Exit(1)
