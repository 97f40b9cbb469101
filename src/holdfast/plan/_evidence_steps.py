"""Steps that spend nothing: attacks, audits and pages, made as by the commands `attack`, `audit` and `dossier`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast._regular_file import sha256_of
from holdfast.data._engines.places import module_file
from holdfast.errors import FormatError, ParameterError, require
from holdfast.plan._sealed import read_sealed, write_sealed
from holdfast.plan._step import Setting, Step, StepOutcome, require_file, require_step

if TYPE_CHECKING:
    from holdfast.audit._designs import AuditDesign
    from holdfast.ledger import Ledger
    from holdfast.privacy._guarantee import Guarantee


@dataclass(frozen=True, kw_only=True)
class AttackStep:
    """Attacks on the model of another step. It charges nothing, and what it writes is for internal use only."""

    kind: ClassVar[str] = "attack"
    redrawn: ClassVar[bool] = False

    name: str
    output: str
    model: str
    members: str
    non_members: str
    target: str
    reference: str | None = None
    attacks: tuple[str, ...] | None = None
    seed: int = 0

    def inputs(self) -> dict[str, str]:
        """The files with records of people."""
        paths = {name: getattr(self, name) for name in ("members", "non_members", "reference")}
        return {name: path for name, path in paths.items() if path is not None}

    def limit(self) -> None:
        """None: it costs nothing."""
        return None

    def stored_outcome(
        self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]
    ) -> StepOutcome | None:
        """A whole report of this step about the model as it is, with the verdict that was reached."""
        report = read_sealed(self, setting, judged=self._judged_release(setting, plan))
        return None if report is None else StepOutcome(summary="", finding=report["verdict"] == "refuted")

    def check(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> None:
        """Refuse a model that is no step, unknown attacks, and files that do not exist."""
        from holdfast.attack._catalogue import find_attacks

        require_step(self, "model", self.model, plan)
        for name in ("members", "non_members", "reference"):
            if (path := getattr(self, name)) is not None:
                require_file(setting, self, name, path)
        if self.attacks is not None:
            try:
                find_attacks(self.attacks, "model")
            except ParameterError as error:
                raise ParameterError(f"attacks of step {self.name!r}: {error}") from None
        require(self.seed >= 0, f"seed of step {self.name!r}", self.seed, ">= 0")

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> StepOutcome:
        """Attack, and write the results without the scores of single persons."""
        from holdfast.attack import Target, membership
        from holdfast.attack._models.target import read_records

        target = Target.of(setting.place(plan[self.model].output))
        attacks: Any = "all" if self.attacks is None else list(self.attacks)
        report = membership(
            target,
            members=read_records(setting.place(self.members), label=self.target, target=target),
            non_members=read_records(setting.place(self.non_members), label=self.target, target=target),
            reference=None
            if self.reference is None
            else read_records(setting.place(self.reference), label=self.target, target=target),
            attacks=attacks,
            random_state=self.seed,
        )
        write_sealed(self, setting, report.to_json(), judged=self._judged_release(setting, plan))
        return StepOutcome(summary=report.summary(), finding=report.verdict() == "refuted")

    def _judged_release(self, setting: Setting, plan: Mapping[str, Step]) -> Path:
        require_step(self, "model", self.model, plan)
        return setting.place(plan[self.model].output)


@dataclass(frozen=True, kw_only=True)
class DossierStep:
    """A page, which every run draws again: it costs nothing, and the ledger may have new charges."""

    kind: ClassVar[str] = "dossier"
    redrawn: ClassVar[bool] = True

    name: str
    output: str
    releases: tuple[str, ...]
    audits: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ()
    audience: str = "public"
    title: str | None = None
    confidence: float = 0.95

    def inputs(self) -> dict[str, str]:
        """The files of its evidence; some are names of steps that make them."""
        return {
            f"{name} ({place})": path
            for name in ("releases", "audits", "attacks")
            for place, path in enumerate(getattr(self, name))
        }

    def limit(self) -> None:
        """None: it costs nothing."""
        return None

    def stored_outcome(
        self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]
    ) -> StepOutcome | None:
        """A page that the ledger closed for this audience, under this title if it has one."""
        page = setting.place(self.output)
        if not page.is_file():
            return None
        digest = sha256_of(page, what="a page")
        is_own_page = any(
            closed["audience"] == self.audience and self.title in (None, closed["title"])
            for closed in ledger.closed_pages(digest)
        )
        return StepOutcome(summary="") if is_own_page else None

    def check(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> None:
        """Refuse evidence that neither a step makes nor a file holds, and bad settings."""
        for name in ("releases", "audits", "attacks"):
            for entry in getattr(self, name):
                if entry not in plan:
                    require_file(setting, self, name, entry)
        require(bool(self.releases), f"releases of step {self.name!r}", self.releases, "one or more")
        is_audience = self.audience in ("public", "internal")
        require(is_audience, f"audience of step {self.name!r}", self.audience, "'public' or 'internal'")
        require(0 < self.confidence < 1, f"confidence of step {self.name!r}", self.confidence, "in (0, 1)")

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> StepOutcome:
        """Draw the page."""
        from holdfast.dossier import Dossier
        from holdfast.dossier._stored_evidence import read_attacks, read_audit

        def files(names: tuple[str, ...]) -> list[Path]:
            return [setting.place(plan[name].output if name in plan else name) for name in names]

        dossier = Dossier.of_files(
            files(self.releases),
            audits=[read_audit(path) for path in files(self.audits)],
            attacks=[attack for path in files(self.attacks) for attack in read_attacks(path)],
            also_run=self._unshown_count(setting, plan),
            ledger=ledger,
            audience=self.audience,
            title=self.title,
            confidence=self.confidence,
        )
        dossier.save(setting.place(self.output))
        return StepOutcome(summary=dossier.summary(), finding=bool(dossier.contradictions))

    def _unshown_count(self, setting: Setting, plan: Mapping[str, Step]) -> int:
        """How many audits and attacks of the plan were run and are not on this page.

        The page divides its chance of a false contradiction among them too.
        """
        from holdfast.dossier._stored_evidence import read_attacks

        outputs = {
            kind.kind: [
                setting.place(other.output)
                for name, other in plan.items()
                if isinstance(other, kind)
                and name not in (*self.audits, *self.attacks)
                and setting.place(other.output).exists()
            ]
            for kind in (AuditStep, AttackStep)
        }
        return len(outputs["audit"]) + sum(len(read_attacks(path)) for path in outputs["attack"])


@dataclass(frozen=True, kw_only=True)
class AuditStep:
    """An audit of a step's promise. It charges nothing, as it learns only about records that it planted itself."""

    kind: ClassVar[str] = "audit"
    redrawn: ClassVar[bool] = False

    name: str
    output: str
    function: str
    data: str
    claim: str
    label: str | None = None
    classes: tuple[Any, ...] | None = None
    delta: float = 1e-6
    design: str = "one-run"
    canaries: int | None = None
    """For the design `one-run`; 1000 by default."""
    runs: int | None = None
    """For the other designs; 400 by default."""
    row_norm: float | None = None
    rows: str | None = None
    """Whether the rows are public, generated or real; only audits on public or generated rows go on a public page."""
    confidence: float = 0.95

    def inputs(self) -> dict[str, str]:
        """The files of its rows and of its function."""
        file = module_file(self.function)
        return {"data": self.data} | ({} if file is None else {"function": str(Path.cwd() / file)})

    def limit(self) -> None:
        """None: it costs nothing."""
        return None

    def stored_outcome(
        self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]
    ) -> StepOutcome | None:
        """A whole record of this step about the claim as it is; what it shows is computed again from the audit."""
        from holdfast.audit._result import AuditResult

        record = read_sealed(self, setting, judged=self._judged_release(setting, plan))
        if record is None:
            return None
        try:
            result, claim = AuditResult.from_json(record["result"]), self._claim(setting, plan)
        except (FormatError, KeyError):
            return None
        verdict = result.verdict(claim, self.confidence)
        summary = result.summary(claim, confidence=self.confidence)
        return (
            StepOutcome(summary=summary, finding=verdict == "refuted")
            if verdict == record["verdict"]
            else None
        )

    def check(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> None:
        """Refuse a claim that is no step, a function that cannot be loaded, and bad settings."""
        from holdfast.audit._run import load

        require_step(self, "claim", self.claim, plan)
        require_file(setting, self, "data", self.data)
        load(self.function)
        design_names = ("one-run", "multi-run", "sequential")
        designs_text = " or ".join(map(repr, design_names))
        require(self.design in design_names, f"design of step {self.name!r}", self.design, designs_text)
        require(0 < self.confidence < 1, f"confidence of step {self.name!r}", self.confidence, "in (0, 1)")
        for name in ("canaries", "runs", "row_norm"):
            value = getattr(self, name)
            require(value is None or value > 0, f"{name} of step {self.name!r}", value, "> 0")
        self._audit_design()  # which refuses what does not belong together

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> StepOutcome:
        """Audit, and write the result."""
        from holdfast.audit import audit
        from holdfast.audit._run import load
        from holdfast.data._engines.files import read_arrays

        features, labels = read_arrays(setting.place(self.data), self.label)
        claim = self._claim(setting, plan)
        rows_kind: Any = self.rows
        result = audit(
            load(self.function),
            features if labels is None else (features, labels),
            claim=claim,
            rows=rows_kind,
            design=self._audit_design(),
            delta=self.delta,
        )
        verdict = result.verdict(claim, self.confidence)
        record = {
            "verdict": verdict,
            "epsilon_lower": result.epsilon_lower(self.confidence) if result.valid else None,
            "epsilon_estimate": result.epsilon_estimate(self.confidence),
            "result": result.to_json(),
        }
        write_sealed(self, setting, record, judged=self._judged_release(setting, plan))
        return StepOutcome(
            summary=result.summary(claim, confidence=self.confidence), finding=verdict == "refuted"
        )

    def _audit_design(self) -> AuditDesign:
        """The design that the step's settings ask for."""
        from holdfast.audit._designs.named import named_design, settings_of

        settings: dict[str, Any] = {
            "canaries": self.canaries,
            "runs": self.runs,
            "row_norm": self.row_norm,
            "classes": self.classes,
        }
        if "confidence" in settings_of(self.design):
            settings["confidence"] = self.confidence
        return named_design(self.design, settings)

    def _claim(self, setting: Setting, plan: Mapping[str, Step]) -> Guarantee:
        from holdfast.release import Release

        return Release.load(self._judged_release(setting, plan)).guarantee

    def _judged_release(self, setting: Setting, plan: Mapping[str, Step]) -> Path:
        require_step(self, "claim", self.claim, plan)
        return setting.place(plan[self.claim].output)
