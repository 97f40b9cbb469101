"""`holdfast sign`: a key put to a release or a page."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast._cli.paths import READ_FILE, Command


@click.command(cls=Command)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=READ_FILE)
@click.option(
    "--key",
    type=READ_FILE,
    required=True,
    help="An unencrypted Ed25519 private key (PEM): 'holdfast ledger key'.",
)
def sign(files: tuple[Path, ...], key: Path) -> None:
    """Sign every byte of each FILE, a release or a page; the signature lies beside it as FILE.sig.

    'holdfast verify --public-key' reads it there. A release and a page that a signed ledger closed need no signature of
    their own; one lets a reader check them who has no ledger.

    \b
    Examples:
      holdfast sign model.holdfast dossier.html --key officer.pem
    """
    from holdfast.ledger._signing.signature import Signature, signature_outputs, signature_path

    signature_outputs(files, key).require()
    for path in files:
        signature = Signature.sign_file(key, path)
        click.echo(f"{signature_path(path)}: signed by {signature.public_key}")
