"""Step: the interface of a step of a release plan, and what the steps of one plan share.

Each step that spends has its own account, which is opened once and closed when the result is saved.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

from holdfast.data._whole_file import write_whole
from holdfast.errors import FormatError, ParameterError, without_password
from holdfast.ledger._dataset import require_terms
from holdfast.ledger._jobs.first_charge import OpenedByFirstCharge
from holdfast.release._outputs import FileRead
from holdfast.release._usefulness import useful_only

if TYPE_CHECKING:
    from holdfast.data._schema import Schema
    from holdfast.data._table import Table
    from holdfast.ledger import Ledger
    from holdfast.privacy._account import Account
    from holdfast.privacy._curves.curve import PrivacyCurve
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
    file: Path | None = None
    """The plan itself."""
    even_if_useless: bool = False
    """Whether steps are done although public numbers say that their results cannot be of use."""

    def reads(self) -> list[FileRead]:
        """The files that all steps share: none of them may be an output."""
        from holdfast.data._engines.places import local_place, would_be_read

        files = {
            "the plan": self.file,
            "the ledger": self.ledger,
            "the schema": self.schema,
            "the source": local_place(self.source),
        }
        return [
            FileRead(name=name, path=path, admits=would_be_read)
            for name, path in files.items()
            if path is not None
        ]

    def place(self, path: str) -> Path:
        """A path of the plan, which is relative to the plan's folder."""
        return self.folder / path

    def account(self, step: str) -> str:
        """The name of a step's account: the same in every run."""
        return f"{self.name}/{step}"


@dataclass(frozen=True, kw_only=True)
class StepOutcome:
    """What a step did: a summary, and whether it found something against a promise."""

    summary: str
    finding: bool = False
    """Whether it found something against a promise, which makes the exit code 1."""


class Step(Protocol):
    """One step of a plan."""

    kind: ClassVar[str]
    redrawn: ClassVar[bool]
    """Whether every run does it anew: it costs nothing, and what it shows may have moved."""

    @property
    def name(self) -> str:
        """Its name, unique in the plan."""

    @property
    def output(self) -> str:
        """The file it writes."""

    def inputs(self) -> Mapping[str, str]:
        """The files that only this step reads, by their names in the plan; a path may be the name of another step."""

    def limit(self) -> PrivacyCurve | None:
        """What it may cost; None where it costs nothing."""

    def stored_outcome(
        self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]
    ) -> StepOutcome | None:
        """What an earlier run of this step left at its output, read and verified; None for anything else."""

    def check(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> None:
        """Refuse what `run` would refuse, before any step spends anything."""

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> StepOutcome:
        """Do the step."""


def paid_outcome(step: PaidStep, setting: Setting, ledger: Ledger) -> StepOutcome | None:
    """The release at the output, if an account of this step paid for it and the ledger closed it with these bytes.

    Refused where the step asks something else now than when it was paid for.
    """
    from holdfast.data._schema import Schema
    from holdfast.ledger._jobs.job import request_digest
    from holdfast.ledger._jobs.turns import Latest, paid_for
    from holdfast.release import Release

    path = setting.place(step.output)
    try:
        release = Release.load(path) if path.is_file() else None
    except FormatError:
        return None
    if release is None or not paid_for(ledger, setting.dataset, setting.account(step.name), release):
        return None
    latest = Latest.of(ledger, setting.account(step.name))
    request = _paid_terms(step, setting, Schema.load(setting.schema))
    if latest is None or latest.about != request_digest(request):
        raise ParameterError(
            f"step {step.name!r} was paid for when its settings, the source or the schema of the plan said something "
            f"else, and {step.output!r} holds what was asked then; undo the change, or give the step another name and "
            "output, which is charged again"
        )
    return StepOutcome(summary="")


def payer_of_output(step: Step, setting: Setting, ledger: Ledger) -> str:
    """The key of the ledger's account that paid for what lies at the output; empty where none did."""
    from holdfast.ledger._jobs.turns import payer
    from holdfast.release import Release

    path = setting.place(step.output)
    try:
        return payer(ledger, setting.dataset, Release.load(path)) if path.is_file() else ""
    except FormatError:
        return ""


class PaidStep(Step, Protocol):
    """A step that makes a release and pays for it."""

    @property
    def n_public(self) -> int | None:
        """The public number of rows, under add_remove."""

    def limit(self) -> PrivacyCurve:
        """What it may cost."""

    def make(self, table: Table, account: Account) -> Release[Any]:
        """The release, paid from the account."""


def spend(step: PaidStep, setting: Setting, ledger: Ledger) -> StepOutcome:
    """Make the step's release once, save it, and give back what was not spent."""
    from holdfast.ledger import Job, once

    def write(release: Release[Any]) -> None:
        write_whole(setting.place(step.output), release.file_bytes())

    with _table(step, setting) as table, useful_only(unless=setting.even_if_useless):
        paid = once(
            ledger,
            setting.dataset,
            Job(
                key=setting.account(step.name),
                about=_paid_terms(step, setting, table.schema),
                make=lambda account: step.make(table, account),
                write=write,
            ),
            limit=step.limit(),
            adjacency=table.adjacency,
            unit=table.unit,
            approver=setting.approver,
            purpose=setting.purpose or f"{setting.name}: {step.name}",
        )
    return StepOutcome(summary=paid.release.summary())


def rehearse_until_first_charge(step: PaidStep, setting: Setting, ledger: Ledger) -> None:
    """Rehearse a step up to its first charge, so that it is refused here if it would be refused later."""
    from holdfast.privacy._account import Account

    dataset = ledger.dataset(setting.dataset)
    with _table(step, setting) as table, warnings.catch_warnings(), suppress(_FirstCharge):
        warnings.simplefilter("ignore")  # the step itself will warn
        refuse_useless = useful_only(unless=setting.even_if_useless)
        require_terms(dataset, table.adjacency, table.unit)
        account = Account(
            step.limit(),
            adjacency=dataset.adjacency,
            unit=dataset.unit,
            currency=dataset.currency,
            journal=OpenedByFirstCharge(_refuse_charge),
        )
        with refuse_useless:
            step.make(table, account)


class _FirstCharge(Exception):
    """A rehearsed step came to its first charge."""


def _refuse_charge() -> NoReturn:
    raise _FirstCharge


def _table(step: PaidStep, setting: Setting) -> Table:
    from holdfast.data._engines import open_table
    from holdfast.data._schema import Schema

    return open_table(setting.source, Schema.load(setting.schema), n_public=step.n_public)


def _paid_terms(step: PaidStep, setting: Setting, schema: Schema) -> dict[str, Any]:
    """What the step asks, without where its output and its plan lie."""
    settings: dict[str, Any] = {f.name: getattr(step, f.name) for f in fields(step)}  # type: ignore[arg-type]
    del settings["output"]
    source = without_password(setting.source.removeprefix(f"{setting.folder}/"))
    return settings | {"do": step.kind, "source": source, "schema": schema.hash()}


def require_file(setting: Setting, step: Step, name: str, path: str) -> None:
    """Refuse a file that does not exist."""
    if not setting.place(path).is_file():
        raise ParameterError(f"{name} of step {step.name!r} must be a file that is there, got {path!r}")


def require_step(step: Step, name: str, other: str, plan: Mapping[str, Step]) -> None:
    """Refuse the name of a step that the plan does not have."""
    if other not in plan:
        raise ParameterError(f"{name} of step {step.name!r} must name a step, got {name}={other!r}")
