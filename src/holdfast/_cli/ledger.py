"""`holdfast ledger`: who spent what on which data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast._cli.declared_schema import UNIT_OPTION, declared_schema
from holdfast._cli.default_delta import default_delta_notice
from holdfast._cli.paths import FORCE_OPTION, LEDGER_FILE, NEW_FILE, READ_FILE, WRITTEN_FILE, CommandGroup

if TYPE_CHECKING:
    from holdfast.ledger import Ledger

LEDGER_ARGUMENT = click.argument("path", type=LEDGER_FILE)


@click.group(cls=CommandGroup)
def ledger() -> None:
    """Open, show and verify a budget ledger, and close accounts.

    \b
    Examples:
      holdfast ledger init budget.db --dataset clinic --epsilon 2 --delta 1e-6 --schema clinic.toml
      holdfast ledger show budget.db
      holdfast ledger verify budget.db --head HASH
      holdfast ledger close budget.db --abandoned
      holdfast ledger sign budget.db --key officer.pem
    """


@ledger.command()
@click.argument("path", type=NEW_FILE)
@click.option("--dataset", required=True, help="The name of the data that the limit protects.")
@click.option(
    "--epsilon", type=float, required=True, help="The limit for everything ever released about them."
)
@click.option(
    "--delta",
    type=float,
    help="The limit's delta; default: 1e-6, or less for a --n-public above 100,000; 0 for pure privacy.",
)
@click.option(
    "--n-public", type=int, help="The public number of people or rows; default: the schema's, if any."
)
@click.option(
    "--schema",
    "schema_file",
    type=READ_FILE,
    help="Neighbours and whom a row belongs to, as this schema declares them.",
)
@UNIT_OPTION
@click.option(
    "--adjacency",
    type=click.Choice(["replace", "zero_out", "add_remove"]),
    help="Which tables count as neighbours; replace, unless --schema says otherwise.",
)
@click.option(
    "--currency", type=click.Choice(["pure", "basic", "zcdp", "gdp", "renyi"]), help="What is counted in."
)
@click.option("--user", help="The column that names a person; default: each row is one.")
@click.option("--max-rows", type=int, help="How many rows of one person are used; 1 where nothing is said.")
@click.option("--approver", default="", help="Who allows it.")
@click.option("--purpose", default="", help="What for.")
def init(
    path: Path,
    dataset: str,
    epsilon: float,
    delta: float | None,
    n_public: int | None,
    schema_file: Path | None,
    adjacency: str | None,
    currency: str | None,
    user: str | None,
    max_rows: int | None,
    approver: str,
    purpose: str,
) -> None:
    """Start a ledger at PATH with one dataset and its limit."""
    from holdfast.ledger import Dataset, Ledger
    from holdfast.privacy._account.request import limit_of
    from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

    unit = PrivacyUnit(user, 1 if max_rows is None else max_rows)
    if schema_file is not None:
        schema = declared_schema(schema_file)
        if user is not None or max_rows is not None:
            raise click.UsageError("--user and --max-rows are what --schema declares; leave them out")
        declared_adjacency = None if schema.adjacency is None else Adjacency.of(schema.adjacency).value
        if None not in (declared_adjacency, adjacency) and declared_adjacency != adjacency:
            raise click.UsageError(
                f"--adjacency {adjacency} is not what --schema declares, {declared_adjacency}; leave it out"
            )
        adjacency, unit = declared_adjacency or adjacency, schema.confirmed_unit
        n_public = schema.n_public if n_public is None else n_public
    limit = limit_of(epsilon, delta, count=n_public)
    # Everything is checked before the file is made.
    declared_dataset = Dataset.declare(
        dataset,
        limit=limit,
        adjacency=adjacency or "replace",
        unit=unit,
        currency=currency,
        approver=approver,
        purpose=purpose,
    )
    with Ledger.create(
        path, purpose=purpose, approver=approver, datasets=[declared_dataset]
    ) as budget_ledger:
        click.echo(budget_ledger.summary())
    if delta is None:
        click.echo(default_delta_notice(limit))


def _opened_to_read(path: Path) -> Ledger:
    """The ledger; where it can be written to, how far it was checked is noted in it, for the next command."""
    from holdfast.ledger import Ledger

    return Ledger.open(path, read_only=not _is_writable(path))


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


@ledger.command()
@LEDGER_ARGUMENT
def show(path: Path) -> None:
    """Datasets, accounts, what is spent and what is left, and results that were not written yet."""
    from holdfast.ledger._jobs import waiting

    with _opened_to_read(path) as budget_ledger:
        click.echo(budget_ledger.summary())
        for name, place in waiting(budget_ledger).items():
            click.echo(f"kept: the result of {name}, in {place}; its command writes it and pays nothing")


@ledger.command()
@LEDGER_ARGUMENT
@click.option("--head", help="A head hash from a release: shows whether this file is an older copy.")
@click.option("--public-key", type=READ_FILE, help="Check the signatures with this key.")
def verify(path: Path, head: str | None, public_key: str | None) -> None:
    """Check every hash, limit and total; exit code 1 when something is wrong."""
    from holdfast.ledger import Ledger

    with Ledger.open(path, check="nothing", read_only=not _is_writable(path)) as budget_ledger:
        verification = budget_ledger.verify(head=head, public_key=public_key)
    click.echo(verification.summary())
    if not verification.ok:
        raise SystemExit(1)


@ledger.command()
@LEDGER_ARGUMENT
@click.argument("accounts", nargs=-1, metavar="[ACCOUNT]...")
@click.option("--abandoned", is_flag=True, help="Close every account whose process is gone.")
@click.option(
    "--reason", default="closed on the command line", show_default=True, help="Why, for the history."
)
@click.option("--approver", default="", help="Who allows it.")
@click.option("--force", is_flag=True, help="Also where another process has an account open, or may have.")
def close(
    path: Path, accounts: tuple[str, ...], abandoned: bool, reason: str, approver: str, force: bool
) -> None:
    """Close accounts for good: what they did not spend goes back to their dataset, what they spent stays spent.

    The ledger notes which process opened an account: host, process number, and when the process was started. An
    account is closed if that process is gone. While it lives, or where that cannot be told (another host, another
    container), --force is needed; the process is then refused its next charge.

    \b
    Examples:
      holdfast ledger close budget.db fit-3f9a81c2
      holdfast ledger close budget.db --abandoned
    """
    from holdfast.errors import ParameterError
    from holdfast.ledger import Ledger

    if bool(accounts) == abandoned:
        raise ParameterError("name the accounts to close, or give --abandoned; got both or none")
    with Ledger.open(path) as budget_ledger:
        accounts_to_close = accounts or [
            name for dataset in budget_ledger.datasets() for name in budget_ledger.abandoned_accounts(dataset)
        ]
        for name in accounts_to_close:
            budget_ledger.close_account(name, reason=reason, approver=approver, force=force)
            click.echo(f"closed: {name}")
        click.echo(budget_ledger.summary())


@ledger.command()
@LEDGER_ARGUMENT
@click.option("--dataset", help="Only this dataset.")
@click.option("--account", help="Only this account.")
def history(path: Path, dataset: str | None, account: str | None) -> None:
    """Every entry in order."""
    with _opened_to_read(path) as budget_ledger:
        for entry in budget_ledger.entries(dataset=dataset, account=account):
            click.echo(entry.summary())


@ledger.command()
@LEDGER_ARGUMENT
@click.option(
    "-o",
    "--output",
    type=WRITTEN_FILE,
    required=True,
    help="The file to write.",
)
@FORCE_OPTION
def export(path: Path, output: Path) -> None:
    """Write all entries as JSON lines, each with its hash."""
    with _opened_to_read(path) as budget_ledger:
        budget_ledger.export(output)


KEY_OPTION = click.option(
    "--key",
    type=READ_FILE,
    required=True,
    help="An unencrypted Ed25519 private key (PEM).",
)


@ledger.command()
@click.argument("path", type=NEW_FILE)
def key(path: Path) -> None:
    """Make a key to sign with: the private part at PATH, the public part beside it as .pub."""
    from holdfast.ledger import create_key

    public = create_key(path)
    click.echo(f"private: {click.format_filename(path)}\npublic:  {click.format_filename(public)}")


@ledger.command()
@LEDGER_ARGUMENT
@KEY_OPTION
@click.option("-o", "--output", type=WRITTEN_FILE, help="Keep the signed head here too.")
@FORCE_OPTION
def sign(path: Path, key: Path, output: Path | None) -> None:
    """Sign the newest entry, and with it everything before: charges, approvals, releases and pages."""
    from holdfast.ledger import Ledger

    with Ledger.open(path) as budget_ledger:
        signed = budget_ledger.sign(key)
    if output is not None:
        signed.save(output)
    click.echo(f"signed up to entry {signed.number}, head {signed.head}")


@ledger.command()
@LEDGER_ARGUMENT
@KEY_OPTION
@click.option("--account", required=True, help="The account whose limit and purpose are approved.")
@click.option(
    "--approver", required=True, help="Whose key it is; the name that the account names, if it names one."
)
def approve(path: Path, key: Path, account: str, approver: str) -> None:
    """Sign the opening of an account."""
    from holdfast.ledger import Ledger

    with Ledger.open(path) as budget_ledger:
        budget_ledger.approve(account, key, approver=approver)
    click.echo(f"account {account} approved by {approver}")


@ledger.command()
@LEDGER_ARGUMENT
@KEY_OPTION
@click.option(
    "--dataset", "datasets", multiple=True, required=True, help="All entries about it (repeatable)."
)
@click.option(
    "-o",
    "--output",
    type=WRITTEN_FILE,
    required=True,
    help="The file to write.",
)
@FORCE_OPTION
def extract(path: Path, key: Path, datasets: tuple[str, ...], output: Path) -> None:
    """Write every entry about some datasets, signed, for a reader who may not see the rest.

    With it, the page, the release and your public key, a stranger checks everything by one file that does not import
    holdfast: verifier/holdfast_verify.py.
    """
    import json

    from holdfast.data._whole_file import write_whole
    from holdfast.ledger import Ledger

    with Ledger.open(path, read_only=True) as budget_ledger:
        extract = budget_ledger.extract(datasets, key)
    write_whole(output, (json.dumps(extract, indent=1) + "\n").encode())
    click.echo(f"{click.format_filename(output)}: {len(extract['entries'])} entries")
