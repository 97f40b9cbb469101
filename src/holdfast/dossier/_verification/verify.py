"""Verification: the whole record built again from its sources, and compared field by field.

Three things can have been edited, so three are read: the page must be the drawing of its own record, its record must
be the one that release and ledger give today, and the ledger must have closed both. A page proves nothing about
itself alone: a forger can seal it again. Whoever holds the ledger can forge it too, which is what keys are for.

A page that another version of holdfast made is not judged here, since only that version can draw it again. What can be
read of it is checked all the same: the whole record where its format is this version's, and releases and ledger always.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast._arguments import checked
from holdfast._regular_file import read_regular
from holdfast.audit._result import AuditResult
from holdfast.dossier._dossier import Dossier
from holdfast.dossier._evidence import MOST_DRAWN_ATTACKS, Picture, untested_claims
from holdfast.dossier._ledger_snapshot import LedgerSnapshot
from holdfast.dossier._page import MOST_PAGE_BYTES, record_of, render, seal_of, written_seal
from holdfast.dossier._record import FORMAT, Record, file_digest
from holdfast.dossier._section import make_visible
from holdfast.dossier._verification.findings import DossierVerification, Findings
from holdfast.dossier._verification.ledger_checks import (
    Closings,
    PageFacts,
    check_accounts,
    check_closings,
    check_recomputed,
    check_released_values,
    check_unrecorded_assumptions,
    differences,
)
from holdfast.dossier._verification.versions import Origin
from holdfast.errors import FormatError, HoldfastError
from holdfast.ledger import Ledger
from holdfast.ledger._signing.trust import Trust
from holdfast.release import Release

_REBUILT_SECTIONS = (
    "releases",
    "promise",
    "picture",
    "tried",
    "contradictions",
    "not_tested",
    "payments",
    "budgets",
    "doubts",
)
"""Sections that follow from release, ledger and stored audits; the ledger that closed the page binds the rest."""
_MALFORMED = "the record of the page lacks a field, or has one of the wrong kind"


@checked
def verify_dossier(
    page: str | os.PathLike[str],
    *,
    releases: Sequence[str | os.PathLike[str]] = (),
    ledger: str | os.PathLike[str] | None = None,
    recompute: bool = False,
    public_key: str | os.PathLike[str] | Trust | None = None,
) -> DossierVerification:
    """Check a dossier against itself, the release files and the ledger.

    Parameters
    ----------
    page : str or path
        The dossier.
    releases : sequence of str or path
        The release files that it is about.
    ledger : str or path, optional
        The ledger that paid for them.
    recompute : bool
        Whether epsilon is computed again too, from the recorded mechanisms.
    public_key : str, path or Trust, optional
        The PEM file of one key, or a trust file that lists several: then ledger, approvals, releases and page must
        be signed by them.

    Returns
    -------
    DossierVerification
        What was checked, with a verdict: "ok" only where everything was checked and holds, "wrong" where something
        does not hold, else "not judged", with what a judgement takes in the first line of its summary.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from holdfast.dossier import Dossier
    >>> from holdfast.privacy import Account, Gaussian, GaussianDP
    >>> account = Account(GaussianDP(0.5))
    >>> noisy = account.release(Gaussian(sigma=2.0, l2_sensitivity=1.0), [12.0, 30.0])
    >>> dossier = Dossier(Release.of(account, noisy, method="two noisy counts"))
    >>> with TemporaryDirectory() as folder:
    ...     page = dossier.save(Path(folder, "counts.html"))
    ...     print(verify_dossier(page).first_line())
    NOT JUDGED: not everything could be checked: the release (give --release)
    """
    findings = Findings()
    trust = public_key if public_key is None or isinstance(public_key, Trust) else Trust.of(public_key)
    page, paths = Path(page), [Path(path) for path in releases]
    stored_record, text = _read_page(page, findings)
    if not stored_record:
        return findings.result()
    given_files = [
        (file_digest(path), path) for path in paths
    ]  # a file that cannot be read is no fault of the page
    try:
        if stored_record["format"] == FORMAT:
            record = Record.from_json(stored_record)
            if not findings.judge:
                _check_drawing(record, text, findings)
            loaded = _load_listed_releases(
                [(release.name, release.sha256) for release in record.releases], given_files, findings
            )
            facts = PageFacts.of(record)
        else:
            record = None
            findings.skipped.append(
                f"the record: only holdfast {findings.judge} reads {stored_record['format']}"
            )
            hashes = [str(release["sha256"]) for release in stored_record["releases"]]
            loaded = _load_listed_releases(
                [(str(place), digest) for place, digest in enumerate(hashes, start=1)], given_files, findings
            )
            facts = PageFacts.of_another_format(stored_record, hashes, loaded)
        closings = None
        if ledger is None:
            findings.skipped.append("the ledger (give --ledger)")
            _check_rebuilt_record(record, stored_record, loaded, None, findings)
        else:
            sources = _Sources(
                page=page, facts=facts, record=record, stored_record=stored_record, releases=loaded
            )
            closings = _check_with_ledger(sources, Path(ledger), findings, recompute=recompute, trust=trust)
        if trust is not None:
            from holdfast.dossier._verification.signatures import check_files

            check_files(page, paths, trust, findings, closings=closings)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        findings.problems.append(_MALFORMED)
    return findings.result()


@dataclass(frozen=True, kw_only=True)
class _Sources:
    """A page as it was read, and the releases that it is about; no record where its format is another one."""

    page: Path
    facts: PageFacts
    record: Record | None
    stored_record: dict[str, Any]
    releases: Sequence[Release[Any]]

    @property
    def heads(self) -> list[str]:
        """The heads of the ledger that releases and budgets name, each once."""
        heads = [release.provenance.head for release in self.facts.releases]
        heads += [] if self.record is None else [budget.head for budget in self.record.budgets]
        return list(dict.fromkeys(filter(None, heads)))


def _read_page(path: Path, findings: Findings) -> tuple[dict[str, Any], str]:
    """The record as it is written, and the text of the page; no record where its maker is not what it says.

    A maker that is another version is noted as the one that can judge the page.
    """
    content = read_regular(path, what="a page", most_bytes=MOST_PAGE_BYTES)
    try:
        text = content.decode()
        stored_record, seal = record_of(text), written_seal(text)
    except (FormatError, UnicodeDecodeError) as error:
        findings.problems.append(f"the page: {error}")
        return {}, ""
    findings.hold(
        seal == seal_of(text), "the page has its seal", "the page was changed: it does not have its seal"
    )
    origin = Origin.of(stored_record)
    findings.problems += origin.problems
    if origin.problems:
        return {}, text
    findings.checked.append(f"version {origin.version}, format and renderer: as they belong together")
    findings.judge = "" if origin.is_own else origin.version
    return stored_record, text


def _check_drawing(record: Record, text: str, findings: Findings) -> None:
    """The page is what this version draws of its record."""
    try:
        redrawn = render(record)
    except Exception:  # whatever a forged record makes of a template
        redrawn = ""
    findings.hold(
        redrawn == text,
        "the page is the drawing of its record, to the last byte",
        "the page shows something else than its record",
    )


def _load_listed_releases(
    page_releases: Sequence[tuple[str, str]], given_files: Sequence[tuple[str, Path]], findings: Findings
) -> list[Release[Any]]:
    """The release files in the order of the page, which lists a name and a hash of each; none where one is another."""
    if not given_files:
        findings.skipped.append("the release (give --release)")
        return []
    if not findings.hold(
        len(given_files) == len(page_releases),
        f"{len(page_releases)} release file{'s' * (len(page_releases) > 1)} for as many in the dossier",
        f"the dossier is about {len(page_releases)} releases, {len(given_files)} were given",
    ):
        return []
    by_hash = dict(given_files)
    loaded: list[Release[Any]] = []
    for name, sha256 in page_releases:
        path = by_hash.pop(sha256, None)
        if not findings.hold(
            path is not None,
            f"release {name} has the hash that the dossier names",
            f"release {name}: no given file has its hash; the release or the dossier was changed",
        ):
            return []
        assert path is not None
        try:
            loaded.append(Release.load(path))
            check_unrecorded_assumptions(loaded[-1], (), findings)
        except FormatError as error:
            findings.problems.append(f"release {name}: {error}")
            return []
    return loaded


def _check_with_ledger(
    sources: _Sources, path: Path, findings: Findings, *, recompute: bool, trust: Trust | None
) -> Closings | None:
    """The ledger is sound and holds the heads; then all that rests on it. Returns what it closed."""
    closings, record, releases = None, sources.record, sources.releases
    try:
        with Ledger.open(path, check="nothing", read_only=True) as ledger_file:
            ledger_verification = ledger_file.verify(public_key=trust)
            if not findings.hold(
                ledger_verification.ok,
                f"the ledger is sound: {ledger_verification.entries} entries, every hash, limit and total",
                f"the ledger: {'; '.join(ledger_verification.problems)}",
            ):
                return None
            if not sources.heads and (record is not None or releases):
                findings.problems.append("no ledger paid for this release, as far as the dossier says")
                return None
            snapshot = LedgerSnapshot.of(ledger_file)
            for head in sources.heads:
                number = snapshot.number_of(head)
                if not findings.hold(
                    number is not None,
                    f"the ledger holds the head {head[:12]}… as entry {number}",
                    f"the ledger does not hold the head {head[:12]}…: it is an older copy, or another ledger",
                ):
                    return None
            _check_rebuilt_record(record, sources.stored_record, releases, ledger_file, findings)
            check_accounts(releases, ledger_file, findings)
            closings = check_closings(
                sources.facts,
                sources.page,
                ledger_file,
                findings,
                signed_up_to=ledger_verification.signed_up_to if trust else None,
            )
            if trust is not None and record is not None:
                from holdfast.dossier._verification.signatures import check_approvals

                check_approvals(record, ledger_file, findings)
            check_recomputed(releases, ledger_file, findings, epsilons=recompute)
            check_released_values(releases, ledger_file, findings)
    except HoldfastError as error:
        findings.problems.append(f"the ledger: {error}")
    return closings


def _check_rebuilt_record(
    record: Record | None,
    stored_record: dict[str, Any],
    releases: Sequence[Release[Any]],
    ledger: Ledger | None,
    findings: Findings,
) -> None:
    """Build the record again from its sources and compare all of it."""
    if record is None or not releases:
        return
    internal = bool(record.accuracy) or any(attempt.kind == "attack" for attempt in record.tried)
    if internal and record.audience != "internal":
        findings.problems.append("a public edition holds results that are for internal use")
        return
    if ledger is not None and not record.payments and not record.budgets:
        findings.skipped.append("approver, purpose and budget: the page was made without the ledger")
        ledger = None
    heads = [budget.head for budget in record.budgets]
    try:
        rebuilt = Dossier(
            releases,
            audits=[AuditResult.from_json(audit) for audit in record.audits],
            ledger=ledger,
            audience=record.audience,
            title=record.title,
            tables=record.tables,
            accuracy=record.accuracy,
            confidence=record.confidence,
            names=[release.name for release in record.releases],
            digests=[release.sha256 for release in record.releases],
            also_run=record.also_run,
            attack_p_values=[attempt.numbers.p_value for attempt in record.tried if attempt.kind == "attack"],
            created=record.created,
            head=heads[0] if heads else None,
        ).record
    except HoldfastError as error:
        findings.problems.append(f"the record cannot be built again from its sources: {error}")
        return
    rebuilt = _with_unsourced_parts(rebuilt, record, ledger)
    for section, rebuilt_section in make_visible(rebuilt.to_json()).items():
        places = list(differences(stored_record[section], rebuilt_section))
        if places:
            where = ", ".join(places[:3])
            findings.problems.append(f"{section}: the page says something else than its sources, at {where}")
        elif section in _REBUILT_SECTIONS:
            findings.checked.append(f"{section}: as its sources say")
    _check_tables(record, releases, findings)
    if any("rows_sha256" in claim.details for release in releases for claim in release.certificates):
        from holdfast.dossier._verification.certificates import check_certificates

        check_certificates(releases, ledger, findings)


def _with_unsourced_parts(rebuilt: Record, record: Record, ledger: Ledger | None) -> Record:
    """The rebuilt record, with what has no source at hand taken from the written one.

    That is the version that drew it, and the results of attacks: those are functions of private data, and no dossier
    holds them. What the written record says of ledger and budget stays where no ledger was given.
    """
    tried = (*rebuilt.tried, *(attempt for attempt in record.tried if attempt.kind == "attack"))
    rebuilt = replace(
        rebuilt,
        holdfast=record.holdfast,
        renderer=record.renderer,
        tried=tried,
        picture=_with_attack_lines(rebuilt.picture, record.picture),
        contradictions=tuple(attempt.contradiction for attempt in tried if attempt.contradiction is not None),
        not_tested=untested_claims(tried, also_run=record.also_run),
    )
    if ledger is None:
        rebuilt = replace(rebuilt, payments=record.payments, budgets=record.budgets, doubts=record.doubts)
    return rebuilt


def _with_attack_lines(rebuilt: Picture, stored: Picture) -> Picture:
    """The lines of attacks come after those of proof and audits; what they are is what was written."""
    proof_line_count, proof_row_count = len(rebuilt.linear.series), len(rebuilt.rows)
    attacks = stored.rows[proof_row_count:]
    return replace(
        rebuilt,
        linear=replace(
            rebuilt.linear, series=(*rebuilt.linear.series, *stored.linear.series[proof_line_count:])
        ),
        log=replace(rebuilt.log, series=(*rebuilt.log.series, *stored.log.series[proof_line_count:])),
        rows=(*rebuilt.rows, *attacks),
        left_out=rebuilt.left_out + max(0, len(attacks) - MOST_DRAWN_ATTACKS),
    )


def _check_tables(record: Record, releases: Sequence[Release[Any]], findings: Findings) -> None:
    """Counts that are drawn must be counts that were released."""
    from holdfast.dossier._verification.ledger_checks import released_arrays

    released = [array for release in releases for array in released_arrays(release.value)]
    for table in record.tables:
        findings.hold(
            list(table.counts) in released,
            f"the counts of {table.title}: as the release says",
            f"the counts of {table.title} are not in the release",
        )
