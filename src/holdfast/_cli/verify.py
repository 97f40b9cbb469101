"""`holdfast verify`: page, release and ledger held against each other."""

from __future__ import annotations

import json
from pathlib import Path

import click

from holdfast._cli.paths import READ_FILE, Command


@click.command(cls=Command)
@click.argument("page", metavar="DOSSIER", type=READ_FILE)
@click.option("--release", "releases", type=READ_FILE, multiple=True, help="The release file (repeatable).")
@click.option("--ledger", type=READ_FILE, help="The ledger that paid.")
@click.option("--recompute", is_flag=True, help="Tell epsilon again, from the recorded mechanisms.")
@click.option(
    "--public-key",
    type=READ_FILE,
    help="A public key (PEM): ledger, approvals, releases and page must be signed by it.",
)
@click.option(
    "--trust",
    type=READ_FILE,
    help="A trust file (TOML) that lists keys, whose they are and what they may sign.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def verify(
    page: Path,
    releases: tuple[Path, ...],
    ledger: Path | None,
    recompute: bool,
    public_key: Path | None,
    trust: Path | None,
    as_json: bool,
) -> None:
    """Check a DOSSIER, its release and its ledger against each other.

    The whole record of the page is built again from release and ledger and compared field by field, the page is drawn
    again from its record, and the ledger must have closed both. Exit code 0 when everything was checked and holds, 1
    when something is wrong, 3 when the page is not judged: something was not given, or another published version of
    holdfast made it. The first line says what a judgement takes. Without a key, a forger who holds the ledger can make
    all three agree.

    \b
    Examples:
      holdfast verify dossier.html --release model.holdfast --ledger budget.db
      holdfast verify dossier.html --release model.holdfast --ledger budget.db --public-key officer.pub
    """
    from holdfast.dossier import verify_dossier
    from holdfast.ledger._signing.trust import Trust

    trust_lists = [Trust.of(path) for path in (public_key, trust) if path is not None]
    verification = verify_dossier(
        page,
        releases=releases,
        ledger=ledger,
        recompute=recompute,
        public_key=Trust(tuple(key for trust in trust_lists for key in trust.keys)) if trust_lists else None,
    )
    click.echo(json.dumps(verification.to_json()) if as_json else verification.summary())
    raise click.exceptions.Exit(verification.exit_code)
