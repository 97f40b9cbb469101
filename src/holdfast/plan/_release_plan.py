"""ReleasePlan: the steps of a whole release in one file, whose cost is known before anything is spent.

A new kind of step is one class and one line in STEP_KINDS.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

from holdfast._arguments import checked
from holdfast._options import Option
from holdfast._plain_data import parse_toml
from holdfast._regular_file import read_regular
from holdfast.errors import BudgetExceeded, FormatError, LedgerError, ParameterError
from holdfast.ledger import Ledger
from holdfast.ledger._jobs.job import finish_written_work
from holdfast.ledger._jobs.turns import Latest
from holdfast.ledger._report import Standing, share
from holdfast.plan._evidence_steps import AttackStep, AuditStep, DossierStep
from holdfast.plan._paid_steps import FitStep, SynthStep
from holdfast.plan._step import Setting, Step, StepOutcome, payer_of_output
from holdfast.privacy._account.currency import Cost
from holdfast.release._outputs import FileRead, FileWritten, Outputs, lies_outside

_MOST_PLAN_BYTES = 2**20
STEP_KINDS: tuple[type[Any], ...] = (FitStep, SynthStep, AttackStep, AuditStep, DossierStep)
"""Every kind of step."""


@dataclass(frozen=True, kw_only=True)
class PricedStep:
    """A step with what it would cost now."""

    step: Step
    state: str
    """What an earlier run left of it, in words."""
    cost: Cost
    output: Path
    is_done: bool = False
    """Whether an earlier run did it, so that this one leaves it alone."""
    finding: bool = False
    """Whether an earlier run did it and found something against a promise."""

    @property
    def state_words(self) -> str:
        """Its state, and what was found."""
        return f"{self.state}, CONTRADICTED" if self.finding else self.state


@checked
@dataclass(frozen=True, kw_only=True)
class Quote:
    """What a plan costs, step by step and in all, against what is free.

    Parameters
    ----------
    name : str
        The name of the plan.
    standing : Standing
        What the ledger allows, holds and has left of the plan's dataset.
    steps : tuple
        Every step with its state and what it would cost now.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from holdfast.ledger import Ledger
    >>> from holdfast.privacy import PureDP
    >>> with TemporaryDirectory() as folder, Ledger.create(Path(folder) / "budget.db") as ledger:
    ...     _ = ledger.dataset("clinic", limit=PureDP(1.0))
    ...     quote = Quote(name="march", standing=ledger.standing("clinic"), steps=())
    >>> quote.is_covered, quote.to_json()["total"]
    (True, '0 %')
    """

    name: str
    standing: Standing
    steps: tuple[PricedStep, ...]

    @property
    def total(self) -> Cost:
        """What is still to be set aside."""
        total = self.standing.dataset.currency.nothing
        for priced in self.steps:
            total = total + priced.cost
        return total

    @property
    def is_covered(self) -> bool:
        """Whether that much is free in the ledger."""
        return self.total.fits(self.standing.free)

    def require(self) -> None:
        """Raise `BudgetExceeded` unless the ledger covers the plan."""
        if not self.is_covered:
            raise BudgetExceeded(
                f"the plan asks for more than {self._free()}, which is what is left of dataset "
                f"{self.standing.dataset.name!r}; nothing was spent"
            )

    def summary(self) -> str:
        """A line for each step, then the total."""
        budget = self.standing.dataset.amount
        lines = [
            f"plan {self.name}: dataset {self.standing.dataset.name}, limit {self.standing.dataset.limit.words()}"
        ]
        for priced in self.steps:
            limit = priced.step.limit()
            price = (
                "costs nothing"
                if limit is None
                else f"{limit.words()}, {share(priced.cost, budget)} of the limit"
            )
            lines.append(
                f"  {priced.step.kind:<8} {priced.step.name:<20} {price} ({priced.state_words}), "
                f"writes {priced.step.output}"
            )
        rest = self._rest() if self.is_covered else "not covered"
        lines.append(f"  total    {share(self.total, budget)} of the limit; free now {self._free()}; {rest}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        budget = self.standing.dataset.amount
        return {
            "plan": self.name,
            "dataset": self.standing.dataset.name,
            "steps": [
                {
                    "do": priced.step.kind,
                    "name": priced.step.name,
                    "state": priced.state,
                    "finding": priced.finding,
                    "output": str(priced.output),
                    "limit": None if (limit := priced.step.limit()) is None else limit.to_json(),
                    "share": share(priced.cost, budget),
                }
                for priced in self.steps
            ],
            "total": share(self.total, budget),
            "free": self.standing.point(self.standing.free),
            "covered": self.is_covered,
        }

    def _free(self) -> str:
        return self.standing.dataset.free_words(self.standing.free)

    def _rest(self) -> str:
        return f"left afterwards {self.standing.dataset.free_words(self.standing.free - self.total)}"


@checked
@dataclass(frozen=True, kw_only=True)
class ReleasePlan:
    """Steps in order, with what they share.

    Parameters
    ----------
    setting : Setting
        The ledger, dataset, source and schema that all steps share.
    steps : tuple
        What is done, in this order.
    outside : bool
        Whether steps may write outside of the plan's folder; whoever runs the plan decides that, not its file.
    force : bool
        Whether steps may write over files that they did not make; whoever runs the plan decides that as well.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> text = '''
    ... [plan]
    ... ledger = "budget.db"
    ... dataset = "clinic"
    ... source = "visits.csv"
    ... schema = "schema.toml"
    ...
    ... [[step]]
    ... do = "synth"
    ... name = "rows"
    ... epsilon = 1.0
    ... output = "rows.holdfast"
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "march.toml").write_text(text)
    ...     plan = ReleasePlan.load(Path(folder) / "march.toml")
    >>> plan.setting.name, [step.kind for step in plan.steps]
    ('march', ['synth'])
    """

    setting: Setting
    steps: tuple[Step, ...]
    outside: bool = False
    force: bool = False

    @classmethod
    def load(cls, path: Path, *, outside: bool = False, force: bool = False) -> ReleasePlan:
        """Read a plan; `FormatError` for anything that is not understood.

        Parameters
        ----------
        path : Path
            The TOML file.
        outside : bool
            Whether its steps may write outside of its folder.
        force : bool
            Whether its steps may write over files that they did not make.

        Returns
        -------
        ReleasePlan
            The plan; nothing is done yet.
        """
        content = read_regular(path, what="a plan", most_bytes=_MOST_PLAN_BYTES)
        document = parse_toml(content, f"the plan {path.name!r}", most_bytes=_MOST_PLAN_BYTES)
        try:
            plan_table = dict(document.pop("plan"))
            steps = tuple(step_of(table) for table in document.pop("step"))
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError("a plan has one table [plan] and one or more [[step]]") from error
        if document:
            raise FormatError(
                f"a plan has [plan] and [[step]] only; it also has {', '.join(sorted(document))}"
            )
        names = [step.name for step in steps]
        if len(set(names)) != len(names):
            raise FormatError("each step of a plan needs a name of its own")
        return cls(setting=_setting(plan_table, path), steps=steps, outside=outside, force=force)

    def outputs(self) -> Outputs:
        """Everything that its steps read and write."""
        names = {step.name for step in self.steps}
        reads = self.setting.reads()
        for step in self.steps:
            reads += [
                FileRead(name=f"{name} of step {step.name!r}", path=self.setting.place(path))
                for name, path in step.inputs().items()
                if path not in names
            ]
        return Outputs(reads=tuple(reads), writes=tuple(map(self._output_file, self.steps)))

    def _output_file(self, step: Step, *, again: bool = False) -> FileWritten:
        """The output of a step; `again` says that what lies there is its own and is made anew."""
        place = self.setting.place(step.output)
        return FileWritten(name=f"output of step {step.name!r}", path=place, replaces=self.force or again)

    @property
    def _by_name(self) -> dict[str, Step]:
        return {step.name: step for step in self.steps}

    def require_outputs(self) -> None:
        """Refuse outputs that would be written over something, or that lie outside the plan's folder without leave."""
        for step in self.steps:
            if not self.outside and lies_outside(self.setting.place(step.output), self.setting.folder):
                raise ParameterError(
                    f"output of step {step.name!r} must lie in the folder of the plan, got {step.output!r}; "
                    "holdfast run --outside lets steps write elsewhere"
                )
        self.outputs().require_apart()

    def quote(self, ledger: Ledger) -> Quote:
        """What the plan costs now: nothing for what is done, nothing more for what is already set aside.

        Refused where an output is the ledger, the source, or anything else that is read or written already.

        Parameters
        ----------
        ledger : Ledger
            The ledger that pays.

        Returns
        -------
        Quote
            Every step with its cost, and what is free.
        """
        self.require_outputs()
        standing = ledger.standing(self.setting.dataset)
        return Quote(
            name=self.setting.name,
            standing=standing,
            steps=tuple(self._price(step, ledger, standing) for step in self.steps),
        )

    def _price(self, step: Step, ledger: Ledger, standing: Standing) -> PricedStep:
        limit, nothing = step.limit(), standing.dataset.currency.nothing
        priced = partial(PricedStep, step=step, output=self.setting.place(step.output))
        stored_outcome = step.stored_outcome(self.setting, ledger, self._by_name)
        if stored_outcome is not None and not step.redrawn:
            return priced(state="done", is_done=True, cost=nothing, finding=stored_outcome.finding)
        self._output_file(step, again=stored_outcome is not None).require_new(
            way_out=self._way_out(step, ledger)
        )
        if limit is None:
            return priced(state="to do", cost=nothing)
        latest = Latest.of(ledger, self.setting.account(step.name))
        price = standing.dataset.currency.limit(limit)
        if latest is None or latest.state == "nothing spent":
            return priced(state="to do", cost=price)
        if latest.state == "empty":
            return priced(state="to do, in place of what was set aside", cost=price - latest.held)
        if latest.state == "kept":
            return priced(state="made and kept, to be written", cost=nothing)
        if latest.state == "closed":
            raise LedgerError(
                f"step {step.name!r} was paid and is closed, but its output {step.output!r} is gone, or is not "
                "what was paid for; put it back, or give the step another name, which is charged again"
            )
        return priced(state="begun, set aside already", cost=nothing)

    def _way_out(self, step: Step, ledger: Ledger) -> str:
        """What to do where a file is in the way: what was paid for under another name of the plan is not paid again."""
        account = payer_of_output(step, self.setting, ledger)
        former, found, name = account.rpartition("/")
        if found and name == step.name:
            return (
                f"it was paid for when the plan was called {former!r}: write name = {json.dumps(former)} into [plan], "
                "and nothing is charged again"
            )
        if account:
            return (
                f"it holds what account {account!r} paid for; give the step another output, or use --force, which "
                "charges again and overwrites it"
            )
        return "use --force to overwrite it"

    def run(
        self,
        ledger: Ledger,
        *,
        begin: Callable[[Step], None] = lambda step: None,
        report: Callable[[Step, StepOutcome], None] = lambda step, done: None,
    ) -> bool:
        """Do every step that is not done; what was done before is read again, and its finding counts as it did then.

        Parameters
        ----------
        ledger : Ledger
            The ledger that pays.
        begin : callable
            Called before each step.
        report : callable
            Called after each step, with what it did.

        Returns
        -------
        bool
            Whether any step found something against a promise, now or in an earlier run.
        """
        quote = self.quote(ledger)
        quote.require()
        # Leave to write over what is there was given with the price, for what was there then.
        Outputs(
            writes=tuple(self._output_file(priced.step) for priced in quote.steps if not priced.is_done)
        ).require()
        by_name = self._by_name
        self._check(quote, ledger, by_name)
        finding = any(priced.finding for priced in quote.steps)
        for priced in quote.steps:
            if priced.is_done:
                finish_written_work(ledger, self.setting.account(priced.step.name))
                continue
            begin(priced.step)
            done = priced.step.run(self.setting, ledger, by_name)
            if priced.step.stored_outcome(self.setting, ledger, by_name) is None:
                raise LedgerError(
                    f"step {priced.step.name!r} was done, and its output {priced.step.output!r} does not read back "
                    "as it was written; look at the disk, and run the plan again"
                )
            finding = finding or done.finding
            report(priced.step, done)
        return finding

    def _check(self, quote: Quote, ledger: Ledger, by_name: dict[str, Step]) -> None:
        """Refuse what any step would be refused for, before the first one spends.

        The first step that spends is not rehearsed: its account is opened by its first charge, so that it spends
        nothing where it is refused, and what it computes until then is not computed twice.
        """
        to_do = [priced.step for priced in quote.steps if not priced.is_done]
        first = next((step for step in to_do if step.limit() is not None), None)
        for step in to_do:
            if step is not first:
                step.check(self.setting, ledger, by_name)


def step_of(table: Any) -> Step:
    """The step that a table of the plan describes; `FormatError` for one that does not exist."""
    kinds = {step.kind: step for step in STEP_KINDS}
    if not isinstance(table, dict) or table.get("do") not in kinds:
        raise FormatError(f"each [[step]] of a plan must have do = one of {', '.join(kinds)}")
    kind = kinds[table["do"]]
    settings = {name: tuple(v) if isinstance(v, list) else v for name, v in table.items() if name != "do"}
    setting_names = [f.name for f in fields(kind)]
    unknown = sorted(set(settings) - set(setting_names))
    if unknown:
        raise FormatError(
            f"a {kind.kind} step takes {', '.join(setting_names)}; the plan has {', '.join(unknown)} as well"
        )
    _require_kinds(f"a {kind.kind} step", kind, settings)
    try:
        step: Step = kind(**settings)
    except TypeError as error:
        raise FormatError(
            f"a {kind.kind} step lacks a setting; it takes {', '.join(setting_names)}"
        ) from error
    return step


def _require_kinds(what: str, kind: type[Any], settings: dict[str, Any]) -> None:
    """Refuse a setting whose type is not the declared one."""
    hints = get_type_hints(kind)
    for name, value in settings.items():
        option = Option(name, hints[name], None)
        is_text_list = tuple[str, ...] in (hints[name], *get_args(hints[name])) and value is not None
        if not option.admits(value) or (
            is_text_list and not all(isinstance(element, str) for element in value)
        ):
            type_text = option.type_text
            for python_name, plain_name in _PLAIN_TYPE_NAMES.items():
                type_text = type_text.replace(python_name, plain_name)
            raise FormatError(f"{name} of {what} must be {type_text}, got {type(value).__name__}")


_PLAIN_TYPE_NAMES = {
    " | None": "",
    "tuple[str, ...]": "a list of texts",
    "tuple[Any, ...]": "a list",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
}
"""What errors call a Python type in front of somebody who writes TOML."""


def _setting(plan_table: dict[str, Any], path: Path) -> Setting:
    folder = path.resolve().parent
    texts = {
        name: value
        for name, value in plan_table.items()
        if name in ("name", "dataset", "purpose", "approver", "even_if_useless")
    }
    _require_kinds("[plan]", Setting, texts)
    try:
        ledger, schema, source = plan_table.pop("ledger"), plan_table.pop("schema"), plan_table.pop("source")
        return Setting(
            name=plan_table.pop("name", path.stem),
            folder=folder,
            file=path.resolve(),
            ledger=folder / ledger,
            schema=folder / schema,
            source=source if "://" in source else str(folder / source),
            **plan_table,
        )
    except (KeyError, TypeError) as error:
        raise FormatError(
            "[plan] must have ledger, dataset, source and schema, and may have name, purpose, approver and "
            "even_if_useless"
        ) from error
