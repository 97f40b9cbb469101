"""Step: what a release plan asks of each kind of step, and what its steps share.

What steps that spend have in common: an account of their own, opened once, closed when the result is saved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from holdfast.errors import AlreadyReleased, BudgetExceeded, LedgerError, ParameterError

if TYPE_CHECKING:
    from holdfast.data.table import Table
    from holdfast.ledger import Ledger
    from holdfast.privacy.account import Account
    from holdfast.privacy.curves.curve import PrivacyCurve
    from holdfast.release import Release


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What all steps of a plan share."""

    name: str
    folder: Path
    ledger: Path
    dataset: str
    source: str
    schema: Path
    purpose: str = ""
    approver: str = ""

    def place(self, path: str) -> Path:
        """A path of the plan, which is relative to the plan's folder."""
        return self.folder / path

    def account(self, step: str) -> str:
        """The name of a step's account: the same in every run."""
        return f"{self.name}/{step}"


@dataclass(frozen=True, kw_only=True)
class Done:
    """What a step did."""

    words: str
    finding: bool = False


class Step(Protocol):
    """One step of a plan."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """Its name, unique in the plan."""

    @property
    def output(self) -> str:
        """The file it writes."""

    def limit(self) -> PrivacyCurve | None:
        """What it may cost; None where it costs nothing."""

    def finished(self, setting: Setting, ledger: Ledger) -> bool:
        """Whether an earlier run finished it."""

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> Done:
        """Do it."""


def limit_of(epsilon: float, delta: float) -> PrivacyCurve:
    """The promise asked for."""
    from holdfast.privacy.account import request

    return request.limit_of(epsilon, delta)


def saved(name: str, output: str, setting: Setting, ledger: Ledger) -> bool:
    """Whether the output is there and was paid by this step's account; another file is not overwritten."""
    from holdfast.release import Release

    path = setting.place(output)
    if not path.exists():
        return False
    wanted = f"{ledger.id}/{setting.dataset}/{setting.account(name)}"
    if Release.load(path).provenance.account != wanted:
        raise ParameterError(f"output of step {name!r} must be a new file, got {output!r}")
    return True


def spend(
    name: str,
    output: str,
    setting: Setting,
    ledger: Ledger,
    *,
    limit: PrivacyCurve,
    n_public: int | None,
    make: Callable[[Table, Account], Release[Any]],
) -> Done:
    """Open or resume the step's account, make the release, save it, and give back what was not spent."""
    from holdfast.data.engines import open_table
    from holdfast.data.schema import Schema

    title = setting.account(name)
    with open_table(setting.source, Schema.load(setting.schema), n_public=n_public) as table:
        account = ledger.account(
            setting.dataset, name=title, limit=limit, adjacency=table.adjacency, unit=table.unit,
            purpose=setting.purpose or f"{setting.name}: {name}", approver=setting.approver,
        )  # fmt: skip
        begun = bool(account.journal.entries)
        try:
            release = make(table, account)
        except (AlreadyReleased, BudgetExceeded) as error:
            if not begun:
                raise
            ledger.close_account(title, reason="the run was killed while it drew noise")
            raise LedgerError(
                f"step {name!r} was killed while it drew noise, and what it drew is gone; it stays charged. "
                "Give the step another name to do it again, which is charged again"
            ) from error
    release.save(setting.place(output))
    ledger.close_account(title, reason="the step is done")
    return Done(words=release.summary())
