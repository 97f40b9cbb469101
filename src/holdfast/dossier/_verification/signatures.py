"""Signatures of files: that a trusted key vouches for page and releases, directly or through the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.dossier._record import Record, file_digest
from holdfast.dossier._verification.findings import Findings
from holdfast.dossier._verification.ledger_checks import Closings
from holdfast.errors import FormatError
from holdfast.ledger import Ledger
from holdfast.ledger._signing.signature import Signature
from holdfast.ledger._signing.trust import Role, Trust


def check_files(
    page: Path, releases: Sequence[Path], trust: Trust, findings: Findings, *, closings: Closings | None
) -> None:
    """A signature beside a file must hold; where there is none, the signed ledger must have closed the file.

    `closings` is None where no ledger was at hand, or none that could be read to its end.
    """
    roles: list[tuple[Role, Path]] = [("page", page), *(("release", path) for path in releases)]
    for role, path in roles:
        try:
            signature = Signature.of_file(path)
        except FormatError as error:
            findings.problems.append(f"the signature of {path.name}: {error}")
            continue
        if signature is not None:
            findings.hold(
                signature.about == "file"
                and signature.content == {"sha256": file_digest(path)}
                and trust.accepts(signature, role),
                f"{path.name} is signed by a trusted key",
                f"{path.name}: its signature is of another file, or not of a trusted key",
            )
        elif closings is None:
            findings.skipped.append(
                f"{path.name} carries no signature; whether a signed ledger closed it was not looked at"
            )
        else:
            (findings.checked if closings.is_signed(path) else findings.skipped).append(
                f"{path.name} {closings.sentence(path)}"
            )


def check_approvals(record: Record, ledger: Ledger, findings: Findings) -> None:
    """Whoever is named as approver signed for the account; that a trusted key did, the ledger's own check found."""
    signed_approvals = {(e.body["account"], e.body["approver"]) for e in ledger.entries(kind="approval")}
    for payment in record.payments:
        if not payment.approver:
            continue  # the page says in its own words that nobody approved
        if (payment.account, payment.approver) in signed_approvals:
            findings.checked.append(f"the approval of account {payment.account} is signed by a trusted key")
        else:
            findings.skipped.append(
                f"the approval of account {payment.account} by {payment.approver}: not signed (holdfast ledger approve)"
            )
