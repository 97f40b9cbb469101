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

from holdfast.dossier._ledger_snapshot import LedgerSnapshot
from holdfast.dossier._verification.findings import Findings
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

_ROWS_KEY, _CHARGE_KEY_PREFIX = "rows_sha256", "certificate-"
_TOLERANCE = 1e-9


def row_certificates(release: Release[Any]) -> tuple[Certificate, ...]:
    """The certificates of a release that name the rows they were made for."""
    return tuple(certificate for certificate in release.certificates if _ROWS_KEY in certificate.details)


def check_certificates(releases: Sequence[Release[Any]], ledger: Ledger | None, findings: Findings) -> None:
    """The released rows, coded again, are those that were certified; with the ledger, alpha is what was paid for."""
    snapshot = None if ledger is None else LedgerSnapshot.of(ledger)
    for release in releases:
        certificates = row_certificates(release)
        if not certificates:
            continue
        name, contents = release.provenance.title, SyntheticContents.of_value(release.value)
        row_fingerprint = contents.coded_rows().fingerprint()
        charges = [] if snapshot is None else snapshot.charges(release.provenance)
        keys = [str(entry.body["key"]) for entry in charges if _CHARGE_KEY_PREFIX in str(entry.body["key"])]
        rows_agree = findings.hold(
            all(certificate.details[_ROWS_KEY] == row_fingerprint for certificate in certificates)
            and all(key.endswith(f"{_CHARGE_KEY_PREFIX}{row_fingerprint[:16]}") for key in keys),
            f"{name}: the rows are those that were certified",
            f"{name}: other rows were certified than were released",
        )
        if ledger is None or not rows_agree:
            continue
        # A method may have counted rows for itself, before: the certificate's charges name the rows that it is about.
        certified_charges = [
            entry for entry in charges if _CHARGE_KEY_PREFIX in str(entry.body["key"])
        ] or charges
        paid_values = [
            (
                entry.body["label"],
                mechanism_from_json(charge_of(entry).mechanism),
                kept_value(ledger, entry.number),
            )
            for entry in certified_charges
            if entry.body["label"] in (ERRORS_LABEL, ROWS_LABEL)
        ]
        _check_alphas(release, contents, paid_values, findings)


def _check_alphas(
    release: Release[Any],
    contents: SyntheticContents,
    paid_values: Sequence[tuple[str, Mechanism, Any]],
    findings: Findings,
) -> None:
    """Alpha of each claim over all queries, by group and against the population, from the noisy maxima."""
    name, (overall, *_) = release.provenance.title, row_certificates(release)
    maxima = [
        (mechanism, np.asarray(noisy, float))
        for label, mechanism, noisy in paid_values
        if label == ERRORS_LABEL and noisy is not None
    ]
    counts = [(mechanism, noisy) for label, mechanism, noisy in paid_values if label == ROWS_LABEL]
    first_maximum = next(((mechanism, noisy) for mechanism, noisy in maxima if noisy.size == 1), None)
    lacks_count = contents.public_rows is None and (contents.counted is None or not counts)
    if first_maximum is None or lacks_count or not contents.certified:
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
        size, alpha_failure = float(contents.public_rows), failure
    else:
        assert contents.counted is not None
        count_mechanism, noisy = counts[0]
        count_offset = offset(count_mechanism, noise_std(count_mechanism), failure=COUNT_FAILURE * failure)
        size, alpha_failure = contents.counted.value - count_offset, (1 - COUNT_FAILURE) * failure
        if noisy is not None:
            findings.hold(
                float(np.asarray(noisy).ravel()[0]) == contents.counted.value,
                f"{name}: the number of rows is the noisy one that the ledger keeps",
                f"{name}: the ledger keeps another noisy number of rows",
            )
    alpha = proportion(float(upper_bounds(*first_maximum, failure=alpha_failure)[0]), size)
    expected_alphas: dict[str, float] = {overall.name: alpha}
    for mechanism, noisy in maxima:
        if noisy.size == len(contents.certified) > 1:
            bounds = [
                proportion(float(bound), size)
                for bound in upper_bounds(mechanism, noisy, failure=alpha_failure)
            ]
            expected_alphas |= {
                f"largest error in {group.name}": bound
                for group, bound in zip(contents.certified, bounds, strict=True)
                if bound < alpha
            }
    # Sampling adds to alpha what Hoeffding's bound over the queries of the workload says.
    queries = Workload(contents.certified).size(contents.schema)
    for certificate in release.certificates:
        if "sampling" in certificate.details:
            sampling_error = math.sqrt(math.log(2 * queries / failure) / (2 * size))
            expected_alphas[certificate.name] = min(1.0, alpha + sampling_error)
    stated_alphas = {
        certificate.name: certificate.alpha
        for certificate in release.certificates
        if certificate.name in expected_alphas
    }
    findings.hold(
        stated_alphas.keys() == expected_alphas.keys()
        and all(
            math.isclose(stated_alphas[key], alpha, rel_tol=_TOLERANCE)
            for key, alpha in expected_alphas.items()
        ),
        f"{name}: {len(expected_alphas)} alphas follow from the noisy maxima that the ledger keeps",
        f"{name}: an alpha does not follow from the noisy maxima that the ledger keeps",
    )
