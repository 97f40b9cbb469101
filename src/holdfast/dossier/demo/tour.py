"""The tour: open, pay, release, attack, audit, write both pages, verify the public one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from holdfast.data import adult_schema, open_table
from holdfast.dossier.demo import evidence, pages, releases
from holdfast.dossier.demo.summary import summary
from holdfast.dossier.verification import DossierVerification, verify_dossier
from holdfast.errors import require
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn.threads import one_thread


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Where everything went, and what a reader should know first."""

    page: Path
    internal: Path
    model: Path
    synthetic: Path
    rows: Path
    ledger: Path
    contradictions: tuple[str, ...]
    verification: DossierVerification
    summary: str


def run_demo(
    output: Path,
    *,
    step: Callable[[str], None] = lambda text: None,
    columns: Sequence[str] = releases.COLUMNS,
    method: str = "auto",
    count: int = 4000,
    canaries: int = 1000,
) -> Demo:
    """Release a model and a synthetic table of Adult, and write two pages; run again, it pays nothing.

    `columns` and `method` are those of the synthetic table, `count` people on each side are attacked, and
    `canaries` records are planted for the audit.
    """
    require(releases.TARGET in columns, "columns", tuple(columns), f"some with {releases.TARGET!r}")
    output.mkdir(parents=True, exist_ok=True)
    model_file, table_file = output / "model.holdfast", output / "synthetic.holdfast"
    step("opening the table (DuckDB, declared schema) and a ledger with a limit")
    with (
        one_thread(),
        as_file(files("holdfast.data") / "bundled" / "adult_train.parquet") as path,
        open_table(str(path), adult_schema()) as table,
        releases.open_ledger(output / "ledger.db", table) as ledger,
    ):
        step("a private model: charge first, then noise")
        released = releases.model(ledger, table, model_file)
        step("a synthetic table with a certificate")
        synthetic = releases.synthetic(ledger, table, table_file, columns=columns, method=method)
        rows = pages.write_rows(synthetic, output / "synthetic.parquet")
        model = PrivateLogisticRegression.from_release(released)
        step("attacks on members and held-out people (internal)")
        report = evidence.attacks(model, count=count)
        accuracy = evidence.accuracy(model, table)
        step("an audit with planted records (public)")
        audit = evidence.audited(model, synthetic, table.schema, canaries=canaries)
        step("two editions of the dossier")
        public, internal = pages.editions(
            [model_file, table_file], ledger, audits=[audit], report=report, accuracy=accuracy
        )  # fmt: skip
        page = public.save(output / "dossier.html")
        inside = internal.save(output / "internal.html")
        step("verifying page, releases and ledger against each other")
        found = verify_dossier(page, releases=[model_file, table_file], ledger=ledger.path, recompute=True)
        left = ledger.remaining(releases.DATASET).epsilon(releases.DELTA)
    return Demo(
        page=page, internal=inside, model=model_file, synthetic=table_file, rows=rows,
        ledger=output / "ledger.db", contradictions=public.contradictions + internal.contradictions,
        verification=found,
        summary=summary(
            released, synthetic, public=public, audit=audit, report=report, accuracy=accuracy, left=left,
            verification=found,
        ),
    )  # fmt: skip
