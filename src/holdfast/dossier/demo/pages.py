"""The demo's two editions: one for everybody, one for the house."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.attack import MembershipReport
from holdfast.audit import AuditResult
from holdfast.dossier.accuracy import Accuracy
from holdfast.dossier.dossier import Dossier
from holdfast.ledger import Ledger
from holdfast.release import Release

TITLE = "Adult census income: a model and a synthetic table"


def editions(
    paths: Sequence[Path],
    ledger: Ledger,
    *,
    audits: Sequence[AuditResult],
    report: MembershipReport,
    accuracy: Sequence[Accuracy],
) -> tuple[Dossier, Dossier]:
    """The public and the internal dossier of the same release files."""
    public = Dossier.of_files(paths, audits=audits, ledger=ledger, title=TITLE)
    internal = Dossier.of_files(
        paths, audits=audits, attacks=list(report), accuracy=accuracy, ledger=ledger, title=TITLE,
        audience="internal",
    )  # fmt: skip
    return public, internal


def write_rows(synthetic: Release[Any], path: Path) -> Path:
    """The synthetic rows as a Parquet file, for whoever wants them without the rest."""
    import pyarrow.parquet as parquet

    from holdfast.synth import Synthesizer

    parquet.write_table(Synthesizer.from_release(synthetic).sample(), path)
    return path
