"""What the demo releases: a model and a synthetic table, each paid once from a ledger with a limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from holdfast.data.table import Table
from holdfast.errors import AlreadyReleased, BudgetExceeded, LedgerError
from holdfast.ledger import Ledger
from holdfast.privacy.account import Account
from holdfast.privacy.curve import ApproxDP
from holdfast.release import Release

DATASET = "adult"
DELTA = 1e-6
LIMIT = ApproxDP(2.0, DELTA)
"""What the data's owner allows in all."""
SPEND = ApproxDP(1.0, DELTA)
"""What each of the two releases may cost."""
TARGET = "income"
COLUMNS = ("age", "education", "marital_status", "hours_per_week", "sex", "income")
"""Of the synthetic table. The model sees all columns."""


def open_ledger(path: Path, table: Table) -> Ledger:
    """The demo's ledger: one dataset, its limit in the currency that measurements and selections share."""
    ledger = Ledger.open_or_create(path)
    ledger.dataset(
        DATASET, limit=LIMIT, currency="zcdp", adjacency=table.adjacency, unit=table.unit,
        approver="A. Officer (demo)", purpose="a tour of holdfast on public data",
    )  # fmt: skip
    return ledger


def paid_once(
    ledger: Ledger, path: Path, *, name: str, purpose: str, make: Callable[[Account], Release[Any]]
) -> Release[Any]:
    """The release of this account: what an earlier run saved, or a new one, saved before the account closes."""
    if path.exists():
        kept: Release[Any] = Release.load(path)
        if kept.provenance.account != f"{ledger.id}/{DATASET}/{name}":
            raise LedgerError(f"{path.name} was paid by another ledger; give the demo a new folder")
        return kept
    try:
        account = ledger.account(
            DATASET, name=name, limit=SPEND, purpose=purpose, approver="A. Officer (demo)"
        )
        made = make(account)
    except (LedgerError, AlreadyReleased, BudgetExceeded) as error:
        raise LedgerError(
            f"account {name!r} was spent by an earlier run whose result is gone; it stays charged. "
            "Give the demo a new folder"
        ) from error
    made.save(path)
    ledger.close_account(name, reason="the release is saved")
    return made


def model(ledger: Ledger, table: Table, path: Path) -> Release[Any]:
    """A private logistic regression of income on all other columns; the method is chosen from public quantities."""
    from holdfast.learn import PrivateLogisticRegression

    def make(account: Account) -> Release[Any]:
        made = PrivateLogisticRegression().fit(table, target=TARGET, account=account).release_
        assert made is not None  # an account was given
        return made

    return paid_once(ledger, path, name="income model", purpose="predict income", make=make)


def synthetic(
    ledger: Ledger, table: Table, path: Path, *, columns: Sequence[str] = COLUMNS, method: str = "auto"
) -> Release[Any]:
    """Synthetic rows for all pairs of these columns, with a certificate."""
    from holdfast.synth import Synthesizer, Workload

    def make(account: Account) -> Release[Any]:
        pairs = Workload.marginals(table.schema, 2, columns=columns)
        maker = Synthesizer(method=method, columns=columns, workload=pairs, key="synthetic table")
        return maker.fit(table, account=account).release_

    return paid_once(ledger, path, name="synthetic table", purpose="share rows with students", make=make)
