"""`holdfast sign`: a key put to a release or a page."""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--key", type=FILE, required=True, help="An unencrypted Ed25519 private key (PEM): 'holdfast ledger key'."
)
def sign(files: tuple[Path, ...], key: Path) -> None:
    """Sign every byte of each FILE, a release or a page; the signature lies beside it as FILE.sig.

    'holdfast verify --public-key' reads it there. A release and a page that a signed ledger closed need no signature of
    their own; one lets a reader check them who has no ledger.

    \b
    Examples:
      holdfast sign model.holdfast dossier.html --key officer.pem
    """
    from holdfast.ledger.signing.signature import Signature, signature_path

    for path in files:
        signed = Signature.sign_file(key, path)
        click.echo(f"{signature_path(path)}: signed by {signed.public_key}")
