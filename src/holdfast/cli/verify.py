"""`holdfast verify`: page, release and ledger held against each other."""

from __future__ import annotations

import json
from pathlib import Path

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("page", metavar="DOSSIER", type=FILE)
@click.option("--release", "releases", type=FILE, multiple=True, help="The release file (repeatable).")
@click.option("--ledger", type=FILE, help="The ledger that paid.")
@click.option("--recompute", is_flag=True, help="Derive epsilon again from the recorded mechanisms.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def verify(
    page: Path, releases: tuple[Path, ...], ledger: Path | None, recompute: bool, as_json: bool
) -> None:
    """Check a DOSSIER, its release and its ledger against each other; exit code 1 when something is wrong.

    The page must be the drawing of its own record, the record must say what the release says, and the ledger must
    hold the charges, the head, the approver and the budget that the page names. An edit to any of the three shows.

    \b
    Examples:
      holdfast verify dossier.html --release model.holdfast --ledger budget.db
      holdfast verify dossier.html --release model.holdfast --ledger budget.db --recompute
    """
    from holdfast.dossier import verify_dossier

    found = verify_dossier(page, releases=releases, ledger=ledger, recompute=recompute)
    click.echo(json.dumps(found.to_json()) if as_json else found.summary())
    if not found.ok:
        raise click.exceptions.Exit(1)
