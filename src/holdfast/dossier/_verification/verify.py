"""Verification: the whole record built again from its sources, and compared field by field.

Three things can have been edited, so three are read: the page must be the drawing of its own record, its record must
be the one that release and ledger give today, and the ledger must have closed both. A page proves nothing about
itself alone: a forger can seal it again. Whoever holds the ledger can forge it too, which is what keys are for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast._arguments import checked
from holdfast.audit._result import AuditResult
from holdfast.dossier._dossier import Dossier
from holdfast.dossier._evidence import MOST_ATTACKS, Picture, not_tested
from holdfast.dossier._page import MOST_BYTES, record_of, render, renderer, seal_of, written_seal
from holdfast.dossier._record import FORMAT, OLDER, Record, file_digest
from holdfast.dossier._section import visible
from holdfast.dossier._verification.sources import (
    Closings,
    DossierVerification,
    Findings,
    check_accounts,
    check_closings,
    check_recomputed,
    check_told,
    differences,
)
from holdfast.errors import FormatError, HoldfastError
from holdfast.ledger import Ledger
from holdfast.ledger._signing.trust import Trust
from holdfast.release import Release

_REBUILT = (
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
_OF_AUDITS = ("tried", "contradictions", "not_tested")
"""Of these an older record is taken at its word."""
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
    """Check a dossier against itself, the release files and the ledger; `recompute` also tells epsilon again.

    `public_key` is the PEM file of one key, or a trust file that lists several: then ledger, approvals, releases and
    page must be signed by them. The verdict is "ok" only where everything was checked.
    """
    found = Findings()
    trust = public_key if public_key is None or isinstance(public_key, Trust) else Trust.of(public_key)
    read = _page(Path(page), found)
    if read is None:
        return found.result()
    record, written = read
    try:
        paths = [Path(path) for path in releases]
        loaded = _releases(record, paths, found)
        closings = None
        if ledger is None:
            found.skipped.append("the ledger (give --ledger)")
            _rebuilt(record, written, loaded, None, found)
        else:
            closings = _with_ledger(
                record, written, Path(page), loaded, Path(ledger), found, recompute=recompute, trust=trust
            )
        if trust is not None:
            from holdfast.dossier._verification.signatures import check_files

            check_files(Path(page), paths, trust, found, closings=closings)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        found.problems.append(_MALFORMED)
    return found.result()


def _page(path: Path, found: Findings) -> tuple[Record, dict[str, Any]] | None:
    """The record and its JSON as it was written, where the page is whole and drawn from it."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise FormatError(f"a dossier has at most {MOST_BYTES} bytes")
        text = path.read_bytes().decode()
        written, seal = record_of(text), written_seal(text)
    except (FormatError, UnicodeDecodeError) as error:
        found.problems.append(f"the page: {error}")
        return None
    except OSError as error:
        raise FormatError(f"cannot read the page {str(path)!r}: {error.strerror}") from None
    found.hold(
        seal == seal_of(text), "the page has its seal", "the page was changed: it does not have its seal"
    )
    named = written.get("format")
    if not found.hold(
        named in (FORMAT, *OLDER),
        f"the record has the format {named}",
        f"the record has another format than {FORMAT}, and no older one",
    ):
        return None
    try:
        record = Record.from_json(written)
    except FormatError:
        found.problems.append(_MALFORMED)
        return None
    if record.renderer != renderer():
        found.skipped.append(
            "page not checked: another version of holdfast drew it, and only its record was read"
        )
        return record, written
    try:
        again = render(record)
    except Exception:  # whatever a forged record makes of a template
        again = ""
    found.hold(
        again == text,
        "the page is the drawing of its record, to the last byte",
        "the page shows something else than its record",
    )
    return record, written


def _releases(record: Record, paths: Sequence[Path], found: Findings) -> list[Release[Any]]:
    """The release files in the order of the record, where they are the ones that the page is about."""
    written = record.releases
    if not paths:
        found.skipped.append("the release (give --release)")
        return []
    if not found.hold(
        len(paths) == len(written),
        f"{len(written)} release file{'s' * (len(written) > 1)} for as many in the dossier",
        f"the dossier is about {len(written)} releases, {len(paths)} were given",
    ):
        return []
    by_hash = {file_digest(path): path for path in paths}
    loaded: list[Release[Any]] = []
    for one in written:
        path = by_hash.pop(one.sha256, None)
        if not found.hold(
            path is not None,
            f"release {one.name} has the hash that the dossier names",
            f"release {one.name}: no given file has its hash; the release or the dossier was changed",
        ):
            return []
        assert path is not None
        try:
            loaded.append(Release.load(path))
            check_told(loaded[-1], (), found)
        except FormatError as error:
            found.problems.append(f"release {one.name}: {error}")
            return []
    return loaded


def _with_ledger(
    record: Record,
    written: dict[str, Any],
    page: Path,
    releases: Sequence[Release[Any]],
    path: Path,
    found: Findings,
    *,
    recompute: bool,
    trust: Trust | None,
) -> Closings | None:
    """The ledger is sound and holds the heads; then all that rests on it. Returns what it closed."""
    closings = None
    heads = [one.provenance.head for one in record.releases]
    heads += [budget.head for budget in record.budgets]
    try:
        with Ledger.open(path, check="nothing", read_only=True) as opened:
            sound = opened.verify(public_key=trust)
            if not found.hold(
                sound.ok,
                f"the ledger is sound: {sound.entries} entries, every hash, limit and total",
                f"the ledger: {'; '.join(sound.problems)}",
            ):
                return None
            if not any(heads):
                found.problems.append("no ledger paid for this release, as far as the dossier says")
                return None
            places = {entry.hash: entry.number for entry in opened.history()}
            for head in dict.fromkeys(filter(None, heads)):
                if not found.hold(
                    head in places,
                    f"the ledger holds the head {head[:12]}… as entry {places.get(head)}",
                    f"the ledger does not hold the head {head[:12]}…: it is an older copy, or another ledger",
                ):
                    return None
            _rebuilt(record, written, releases, opened, found)
            check_accounts(releases, opened, found)
            closings = check_closings(
                record, page, opened, found, signed_up_to=sound.signed_up_to if trust else None
            )
            if trust is not None:
                from holdfast.dossier._verification.signatures import check_approvals

                check_approvals(record, opened, found)
            check_recomputed(releases, opened, found, epsilons=recompute)
    except HoldfastError as error:
        found.problems.append(f"the ledger: {error}")
    return closings


def _rebuilt(
    record: Record,
    written: dict[str, Any],
    releases: Sequence[Release[Any]],
    ledger: Ledger | None,
    found: Findings,
) -> None:
    """Build the record again from its sources and compare all of it."""
    if not releases:
        return
    internal = bool(record.accuracy) or any(one.kind == "attack" for one in record.tried)
    if internal and record.audience != "internal":
        found.problems.append("a public edition holds results that are for internal use")
        return
    if ledger is not None and not record.payments and not record.budgets:
        found.skipped.append("approver, purpose and budget: the page was made without the ledger")
        ledger = None
    older = record.format in OLDER
    if older and record.audits:
        found.skipped.append(
            "what the audits say: an earlier version said it, without naming the rows that went in"
        )
    if older:
        found.skipped.append(
            "what is said of utility: an earlier version said it in other words and another order"
        )
    heads = [budget.head for budget in record.budgets]
    try:
        made = Dossier(
            releases,
            audits=[] if older else [AuditResult.from_json(one) for one in record.audits],
            ledger=ledger,
            audience=record.audience,
            title=record.title,
            tables=record.tables,
            accuracy=record.accuracy,
            confidence=record.confidence,
            names=[one.name for one in record.releases],
            digests=[one.sha256 for one in record.releases],
            also_run=record.also_run,
            beside=[one.numbers.p_value for one in record.tried if one.kind == "attack"],
            created=record.created,
            head=heads[0] if heads else None,
        ).record
    except HoldfastError as error:
        found.problems.append(f"the record cannot be built again from its sources: {error}")
        return
    made = _as_written(made, record, ledger)
    for section, again in visible(made.to_json()).items():
        if section not in written and older:
            continue  # its format did not have it yet
        places = list(differences(written[section], again, older=older))
        if places:
            where = ", ".join(places[:3])
            found.problems.append(f"{section}: the page says something else than its sources, at {where}")
        elif section in _REBUILT and not (older and section in _OF_AUDITS):
            found.checked.append(f"{section}: as its sources say")
    _tables(record, releases, found)
    if any("rows_sha256" in claim.details for one in releases for claim in one.certificates):
        from holdfast.dossier._verification.certificates import check_certificates

        check_certificates(releases, ledger, found)


def _as_written(made: Record, record: Record, ledger: Ledger | None) -> Record:
    """The rebuilt record, with what has no source at hand taken from the written one.

    That is the version that drew it, and the results of attacks: those are functions of private data, and no dossier
    holds them. An older format's audits and utility are as that version saw them. What the written record says of
    ledger and budget stays where no ledger was given.
    """
    older = record.format in OLDER
    tried = (*made.tried, *(one for one in record.tried if older or one.kind == "attack"))
    made = replace(
        made,
        format=record.format,
        holdfast=record.holdfast,
        renderer=record.renderer,
        tried=tried,
        picture=_with_lines(made.picture, record.picture),
        contradictions=tuple(one.contradiction for one in tried if one.contradiction is not None),
        not_tested=record.not_tested if older else not_tested(tried, also_run=record.also_run),
        audits=record.audits if older else made.audits,
    )
    if older:
        told = zip(made.releases, record.releases, strict=True)
        made = replace(
            made,
            releases=tuple(replace(again, utility=then.utility) for again, then in told),
            picture=replace(made.picture, left_out=record.picture.left_out),
        )
    if ledger is None:
        made = replace(made, payments=record.payments, budgets=record.budgets, doubts=record.doubts)
    return made


def _with_lines(made: Picture, written: Picture) -> Picture:
    """The lines of attacks come after those of proof and audits; what they are is what was written."""
    drawn, listed = len(made.linear.series), len(made.rows)
    attacks = written.rows[listed:]
    return replace(
        made,
        linear=replace(made.linear, series=(*made.linear.series, *written.linear.series[drawn:])),
        log=replace(made.log, series=(*made.log.series, *written.log.series[drawn:])),
        rows=(*made.rows, *attacks),
        left_out=made.left_out + max(0, len(attacks) - MOST_ATTACKS),
    )


def _tables(record: Record, releases: Sequence[Release[Any]], found: Findings) -> None:
    """Counts that are drawn must be counts that were released."""
    from holdfast.dossier._verification.sources import released_arrays

    released = [array for one in releases for array in released_arrays(one.value)]
    for table in record.tables:
        found.hold(
            list(table.counts) in released,
            f"the counts of {table.title}: as the release says",
            f"the counts of {table.title} are not in the release",
        )
