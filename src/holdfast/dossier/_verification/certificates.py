"""Certificates held against the rows that they speak of, and against the noise that was paid for and kept.

A certificate of synthetic rows is a released noisy maximum, raised by a quantile of its noise and divided by a public
or released number of rows. Where the ledger keeps what was released, all of it can be computed again; the exact maximum
nobody but the owner ever saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast.dossier._record import Books
from holdfast.dossier._verification.sources import Findings
from holdfast.ledger import Ledger
from holdfast.ledger._journal import charge_of, kept_value
from holdfast.privacy._mechanisms import mechanism_from_json
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.release import Release
from holdfast.release._certificate import Certificate
from holdfast.synth._certificate import (
    COUNT_FAILURE,
    ERRORS_LABEL,
    ROWS_LABEL,
    noise_std,
    offset,
    proportion,
    upper_bounds,
)
from holdfast.synth._contents import SyntheticContents
from holdfast.synth._workload import Workload

_MARK, _KEY = "rows_sha256", "certificate-"
_TOLERANCE = 1e-9


def of_rows(release: Release[Any]) -> tuple[Certificate, ...]:
    """The certificates of a release that name the rows they were made for."""
    return tuple(claim for claim in release.certificates if _MARK in claim.details)


def check_certificates(releases: Sequence[Release[Any]], ledger: Ledger | None, findings: Findings) -> None:
    """The released rows, coded again, are those that were certified; with the ledger, alpha is what was paid for."""
    books = None if ledger is None else Books.of(ledger)
    for release in releases:
        claims = of_rows(release)
        if not claims:
            continue
        name, contents = release.provenance.title, SyntheticContents.of_value(release.value)
        mark = contents.coded_rows().fingerprint()
        charges = [] if books is None else books.charges(release.provenance)
        keys = [str(entry.body["key"]) for entry in charges if _KEY in str(entry.body["key"])]
        same = findings.hold(
            all(claim.details[_MARK] == mark for claim in claims)
            and all(key.endswith(f"{_KEY}{mark[:16]}") for key in keys),
            f"{name}: the rows are those that were certified",
            f"{name}: other rows were certified than were released",
        )
        if ledger is None or not same:
            continue
        # A method may have counted rows for itself, before: the certificate's charges name the rows that it is about.
        certified = [entry for entry in charges if _KEY in str(entry.body["key"])] or charges
        paid = [
            (
                entry.body["label"],
                mechanism_from_json(charge_of(entry).mechanism),
                kept_value(ledger, entry.number),
            )
            for entry in certified
            if entry.body["label"] in (ERRORS_LABEL, ROWS_LABEL)
        ]
        _check_alphas(release, contents, paid, findings)


def _check_alphas(
    release: Release[Any],
    contents: SyntheticContents,
    paid: Sequence[tuple[str, Mechanism, Any]],
    findings: Findings,
) -> None:
    """Alpha of each claim over all queries, by group and against the population, from the noisy maxima."""
    name, (overall, *_) = release.provenance.title, of_rows(release)
    maxima = [
        (mechanism, np.asarray(noisy, float))
        for label, mechanism, noisy in paid
        if label == ERRORS_LABEL and noisy is not None
    ]
    counts = [(mechanism, noisy) for label, mechanism, noisy in paid if label == ROWS_LABEL]
    first = next(((mechanism, noisy) for mechanism, noisy in maxima if noisy.size == 1), None)
    uncounted = contents.public_rows is None and (contents.counted is None or not counts)
    if first is None or uncounted or not contents.certified:
        findings.recomputed.append(
            f"{name}: alpha was not computed again; the ledger keeps no noisy maximum of it"
        )
        return
    findings.hold(
        all(noisy.size in (1, len(contents.certified)) for _, noisy in maxima),
        f"{name}: as many groups are certified as the ledger keeps maxima of",
        f"{name}: the ledger keeps maxima of another number of groups than is certified",
    )
    failure = 1.0 - overall.confidence
    if contents.public_rows is not None:
        size, failing = float(contents.public_rows), failure
    else:
        assert contents.counted is not None
        counting, noisy = counts[0]
        low = offset(counting, noise_std(counting), failure=COUNT_FAILURE * failure)
        size, failing = contents.counted.value - low, (1 - COUNT_FAILURE) * failure
        if noisy is not None:
            findings.hold(
                float(np.asarray(noisy).ravel()[0]) == contents.counted.value,
                f"{name}: the number of rows is the noisy one that the ledger keeps",
                f"{name}: the ledger keeps another noisy number of rows",
            )
    alpha = proportion(float(upper_bounds(*first, failure=failing)[0]), size)
    wanted: dict[str, float] = {overall.name: alpha}
    for mechanism, noisy in maxima:
        if noisy.size == len(contents.certified) > 1:
            each = (
                proportion(float(bound), size) for bound in upper_bounds(mechanism, noisy, failure=failing)
            )
            wanted |= {
                f"largest error in {group.name}": bound
                for group, bound in zip(contents.certified, each, strict=True)
                if bound < alpha
            }
    # Sampling adds to alpha what Hoeffding's bound over the queries of the workload says.
    queries = Workload(contents.certified).size(contents.schema)
    for claim in release.certificates:
        if "sampling" in claim.details:
            wanted[claim.name] = min(1.0, alpha + math.sqrt(math.log(2 * queries / failure) / (2 * size)))
    claimed = {claim.name: claim.alpha for claim in release.certificates if claim.name in wanted}
    findings.hold(
        claimed.keys() == wanted.keys()
        and all(math.isclose(claimed[key], wanted[key], rel_tol=_TOLERANCE) for key in wanted),
        f"{name}: {len(wanted)} alphas follow from the noisy maxima that the ledger keeps",
        f"{name}: an alpha does not follow from the noisy maxima that the ledger keeps",
    )
