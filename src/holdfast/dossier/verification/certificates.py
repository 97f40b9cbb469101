"""Certificates held against the rows that they speak of, and against the charge that paid for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.dossier.record import Books
from holdfast.dossier.verification.sources import Findings
from holdfast.ledger import Ledger
from holdfast.release import Release
from holdfast.release.certificate import Certificate
from holdfast.synth.contents import SyntheticContents

_ROWS, _KEY = "rows_sha256", "certificate-"


def of_rows(release: Release[Any]) -> tuple[Certificate, ...]:
    """The certificates of a release that name the rows they were made for."""
    return tuple(claim for claim in release.certificates if _ROWS in claim.details)


def check_certificates(releases: Sequence[Release[Any]], ledger: Ledger | None, found: Findings) -> None:
    """The released rows, coded again, are those that were certified; the key of the charge, if any, says so too."""
    books = None if ledger is None else Books.of(ledger)
    for one in releases:
        claims = of_rows(one)
        if not claims:
            continue
        mark = SyntheticContents.of_value(one.value).coded().fingerprint()
        keys = [
            str(books.entries[number].body["key"])
            for number in one.provenance.entries
            if books is not None and _KEY in str(books.entries[number].body["key"])
        ]
        found.hold(
            all(claim.details[_ROWS] == mark for claim in claims)
            and all(key.endswith(f"{_KEY}{mark[:16]}") for key in keys),
            f"{one.provenance.method}: the rows are those that were certified",
            f"{one.provenance.method}: other rows were certified than were released",
        )
