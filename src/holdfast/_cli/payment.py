"""How `fit` and `synth` pay: one release for one request, made once, paid from a ledger where one is named.

The same request that is given again finds the release that an earlier run made and could not write, or goes on where
that run was killed; nothing is paid twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.paths import READ_FILE
from holdfast._cli.result_files import Writer, write_files

if TYPE_CHECKING:
    from holdfast.data._table import Table
    from holdfast.privacy._account import Account
    from holdfast.privacy._curves.curve import PrivacyCurve
    from holdfast.release import Release

KEPT_RESULT_NOTICE = "an earlier run had made it, and it was kept: nothing was spent now"


def payment_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options --ledger, --dataset and --account, for a command that releases."""
    for option in (
        click.option(
            "--account",
            help="Name the ledger's account; default: a name made from what is asked. The same name, asked the same, "
            "goes on with a run that was killed, and finds a result that could not be written.",
        ),
        click.option("--dataset", help="The dataset of the ledger whose limit is spent."),
        click.option("--ledger", type=READ_FILE, help="Pay from this ledger."),
    ):
        command = option(command)
    return command


def check_payment_options(
    *, ledger: Path | None, dataset: str | None, account: str | None, epsilon: float | None
) -> None:
    """Refuse options that leave open who pays, or how much."""
    from holdfast.errors import ParameterError

    if (ledger is None) != (dataset is None) or (account is not None and ledger is None):
        raise ParameterError("--ledger and --dataset are given together: a ledger and a dataset of it")
    if ledger is None and epsilon is None:
        raise ParameterError("--epsilon must be given without --ledger, which holds a limit")


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """What a command is asked to release: `terms` say all of it, and name the result when they are given again."""

    verb: str
    terms: dict[str, Any]
    purpose: str
    make: Callable[[Account | None], Release[Any]]
    """Makes the release, paid by the account that it is handed."""
    files: Sequence[tuple[Writer, Path | None]]
    """Where the release is written, and how; None for a file that was not asked for."""

    def write(self, release: Release[Any]) -> None:
        """Write every file that was asked for."""
        write_files(release, self.files)


def make_once(
    request: ReleaseRequest,
    table: Table,
    *,
    limit: PrivacyCurve | None,
    ledger: Path | None,
    dataset: str | None,
    account: str | None,
) -> tuple[Release[Any], bool]:
    """The release, and whether an earlier run of the same request had made it; its files are written in any case."""
    from holdfast.ledger import Job, Ledger, once
    from holdfast.ledger._jobs import job_key, unpaid

    key = job_key(request.verb, request.terms)
    if ledger is None or dataset is None:
        release, was_kept = unpaid(
            key,
            beside=next(path for _, path in request.files if path is not None),
            make=lambda: request.make(None),
            write=request.write,
        )
    else:
        job = Job(
            key=account or key,
            again=account is None,
            about=request.terms,
            make=request.make,
            write=request.write,
        )
        with Ledger.open(ledger) as budget_ledger:
            paid = once(
                budget_ledger,
                dataset,
                job,
                limit=limit,
                adjacency=table.adjacency,
                unit=table.unit,
                purpose=request.purpose,
            )
        release, was_kept = paid.release, paid.found
    if was_kept:
        click.echo(KEPT_RESULT_NOTICE, err=True)
    return release, was_kept
