"""The tour of the demo: release, attack, audit, write both pages, verify the public one, and sum everything up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from holdfast._demo import steps
from holdfast._demo.broken import too_little_noise
from holdfast._demo.steps import DELTA, LIMIT, TARGET
from holdfast.attack import AttackReport, MembershipResult
from holdfast.audit import AuditResult
from holdfast.data import adult_schema, open_table
from holdfast.data._engines.files import write_table
from holdfast.data._whole_file import whole_file
from holdfast.dossier._dossier import Dossier
from holdfast.dossier._evidence import AuditNumbers
from holdfast.dossier._utility import Accuracy
from holdfast.dossier._verification.findings import DossierVerification
from holdfast.dossier._verification.verify import verify_dossier
from holdfast.errors import require
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn._rows.summation import one_thread
from holdfast.ledger import Ledger
from holdfast.privacy._wording import least_text
from holdfast.release import Release
from holdfast.release._outputs import FileWritten

TITLE = "Adult census income: a model and a synthetic table"


def both_dossiers(
    paths: Sequence[Path],
    ledger: Ledger,
    *,
    audits: Sequence[AuditResult],
    report: AttackReport[MembershipResult],
    accuracy: Sequence[Accuracy],
) -> tuple[Dossier, Dossier]:
    """The public and the internal dossier of the same release files."""
    # The attacks are not on the public page, but they were run, so the page shares its error with them.
    public = Dossier.of_files(paths, audits=audits, ledger=ledger, title=TITLE, also_run=len(report))
    internal = Dossier.of_files(
        paths,
        audits=audits,
        attacks=list(report),
        accuracy=accuracy,
        ledger=ledger,
        title=TITLE,
        audience="internal",
    )
    return public, internal


def write_rows(synthetic: Release[Any], path: Path) -> Path:
    """Write the synthetic rows alone, as a Parquet file."""
    from holdfast.synth import Synthesizer

    with whole_file(path) as file:
        write_table(Synthesizer.from_release(synthetic).sample(), file)
    return path


def demo_summary(
    model: Release[Any],
    synthetic: Release[Any],
    *,
    public: Dossier,
    audit: AuditResult,
    report: AttackReport[MembershipResult],
    accuracy: Sequence[Accuracy],
    left: float,
    verification: DossierVerification,
) -> str:
    """A line or two for each step; internal results are marked as internal."""
    members_found = 100 * report.best().tpr_at(0.01)
    members_allowed = 100 * report.results[0].proved.detection_at(0.01) if report.results[0].proved else 100.0
    lines = [
        ("allowed", f"epsilon {LIMIT.epsilon(DELTA):g} at delta {DELTA:g} in all, by the ledger"),
        ("released", f"{model.provenance.title}: predicts {TARGET}"),
        ("", f"{synthetic.provenance.title}: {synthetic.provenance.parameters['rows']:,} rows"),
        ("promised", promise_text(public)),
        ("left", f"epsilon {least_text(left)} for later releases (costs add up in rho, not in epsilon)"),
        ("useful", certificate_text(synthetic)),
        ("", f"the model is right about {100 * accuracy[0].score:.1f} % of held-out people (internal)"),
        ("", f"the same without privacy {100 * accuracy[1].score:.1f} % (internal)"),
        (
            "audited",
            f"{audit.m:,} transcripts of the learner on two public tables: {public.record.tried[0].state}",
        ),
        ("", audit_power_text(public)),
        (
            "attacked",
            f"{len(report)} ways; {members_found:.1f} % of members found at 1 % false alarms, the proof allows "
            f"{members_allowed:.1f} %: {report.verdict()} (internal)",
        ),
        (
            "verified",
            "page, releases and ledger agree" if verification.ok else verification.first_line(),
        ),
    ]
    return "\n".join(f"{name:<10}{text}" for name, text in lines)


def promise_text(public: Dossier) -> str:
    """What both releases together promise to a person."""
    promise = public.record.promise
    return f"both together: {promise.sure.words(promise.unit)}"


def audit_power_text(public: Dossier) -> str:
    """The smallest fault that the audit on the page would have noticed."""
    numbers = public.record.tried[0].numbers
    assert isinstance(numbers, AuditNumbers)
    if not numbers.can_fail:
        return "it could not have failed, so it shows nothing"
    least = "no noise at all" if numbers.kappa is None else f"{numbers.kappa:.2g} times too little noise"
    return f"it would have noticed {least}"


def certificate_text(synthetic: Release[Any]) -> str:
    """The claim of the certificate about the rows."""
    if not synthetic.certificates:
        return "nothing is claimed about the rows"
    return f"the rows are off by {synthetic.certificates[0].bound()}"


@dataclass(frozen=True, kw_only=True)
class Demo:
    """The files of the demo, and its result."""

    page: Path
    internal: Path
    model: Path
    synthetic: Path
    rows: Path
    ledger: Path
    contradictions: tuple[str, ...]
    verification: DossierVerification
    summary: str


LEDGER = "ledger.db"
OUTPUTS = ("model.holdfast", "synthetic.holdfast", "synthetic.parquet", "dossier.html", "internal.html")
"""What the demo writes beside its ledger."""


def require_own_folder(folder: Path) -> None:
    """Refuse a folder with files of these names that the demo did not write: its ledger is always the first."""
    is_own = steps.is_ledger_of_demo(folder / LEDGER)
    for name in (LEDGER, *OUTPUTS):
        FileWritten(name="a file of the demo", path=folder / name, replaces=is_own).require_new(
            way_out="give the demo a new folder"
        )


def run_demo(
    output: Path,
    *,
    step: Callable[[str], None] = lambda text: None,
    columns: Sequence[str] = steps.SYNTHETIC_COLUMNS,
    method: str = "auto",
    count: int = 4000,
    runs: int = steps.AUDIT_RUNS,
) -> Demo:
    """Release a model and a synthetic table of Adult, and write two pages; running again pays nothing.

    `columns` and `method` are those of the synthetic table, `count` people on each side are attacked, and the audit
    makes so many `runs` on each of two tables.
    """
    require(TARGET in columns, "columns", tuple(columns), f"some with {TARGET!r}")
    require_own_folder(output)
    output.mkdir(parents=True, exist_ok=True)
    model_file, table_file = output / "model.holdfast", output / "synthetic.holdfast"
    step("opening the table (DuckDB, declared schema) and a ledger with a limit")
    with (
        one_thread(),
        as_file(files("holdfast.data._datasets") / "adult_train.parquet") as path,
        open_table(str(path), adult_schema()) as table,
        steps.open_ledger(output / LEDGER, table) as ledger,
    ):
        step("a private model: charge first, then noise")
        released = steps.model(ledger, table, model_file)
        step("a synthetic table with a certificate")
        synthetic = steps.synthetic_table(ledger, table, table_file, columns=columns, method=method)
        rows = write_rows(synthetic, output / "synthetic.parquet")
        model = PrivateLogisticRegression.from_release(released)
        step("attacks on members and held-out people (internal)")
        report = steps.attacks(model, count=count)
        accuracy = steps.accuracy(model, table)
        step("an audit of the learner on two public tables (public)")
        audit = steps.audit_of_learner(released, runs=runs, announce=lambda budget: step(budget.summary()))
        step("two editions of the dossier")
        public, internal = both_dossiers(
            [model_file, table_file], ledger, audits=[audit], report=report, accuracy=accuracy
        )
        page = public.save(output / "dossier.html")
        internal_page = internal.save(output / "internal.html")
        step("verifying page, releases and ledger against each other")
        verification = verify_dossier(
            page, releases=[model_file, table_file], ledger=ledger.path, recompute=True
        )
        left = ledger.remaining(steps.DATASET).epsilon(DELTA)
    return Demo(
        page=page,
        internal=internal_page,
        model=model_file,
        synthetic=table_file,
        rows=rows,
        ledger=output / LEDGER,
        contradictions=public.contradictions + internal.contradictions,
        verification=verification,
        summary=demo_summary(
            released,
            synthetic,
            public=public,
            audit=audit,
            report=report,
            accuracy=accuracy,
            left=left,
            verification=verification,
        ),
    )


def run_broken_demo(
    output: Path, *, step: Callable[[str], None] = lambda text: None, runs: int = steps.BROKEN_RUNS
) -> Demo:
    """A small demo with a third of the declared noise, which the audit must notice."""
    with too_little_noise():
        return run_demo(
            output, step=step, columns=("education", "sex", TARGET), method="tree", count=300, runs=runs
        )
