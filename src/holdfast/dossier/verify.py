"""Verification: page, release and ledger held against each other.

Three things can have been edited, so three are read: the page must be the drawing of its own record, its record
must say what the release says, and the ledger must hold the charges, the approvers and the head that both name.
A page proves nothing about itself alone: a forger can seal it again, but not make release and ledger agree.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.audit.result import AuditResult
from holdfast.dossier.evidence import Picture, audience_of, audited, not_tested, picture
from holdfast.dossier.page import MOST_BYTES, record_of, render, seal_of, written_seal
from holdfast.dossier.promise import promise, together
from holdfast.dossier.record import FORMAT, OLDER, Record, described, file_digest, payment
from holdfast.dossier.section import Section, visible
from holdfast.errors import FormatError, HoldfastError
from holdfast.ledger import Ledger
from holdfast.release import Release

if TYPE_CHECKING:
    from holdfast.ledger.recompute import Recomputed

_TOLERANCE = 1e-4
"""Numbers computed again on another machine may differ in their last digits, not in their fifth."""
_MALFORMED = "the record of the page lacks a field, or has one of the wrong kind"


@dataclass(frozen=True, kw_only=True)
class DossierVerification:
    """What was checked, and what does not hold."""

    checked: tuple[str, ...]
    problems: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    recomputed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def summary(self) -> str:
        """One line a check."""
        lines = [f"ok: {text}" for text in self.checked]
        lines += list(self.recomputed)
        lines += [f"not checked: {text}" for text in self.skipped]
        lines += [f"PROBLEM: {text}" for text in self.problems]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "ok": self.ok,
            "checked": list(self.checked),
            "problems": list(self.problems),
            "skipped": list(self.skipped),
            "recomputed": list(self.recomputed),
        }


class _Report:
    """Collects what was found."""

    def __init__(self) -> None:
        self.checked: list[str] = []
        self.problems: list[str] = []
        self.skipped: list[str] = []
        self.recomputed: list[str] = []

    def hold(self, fine: bool, said: str, wrong: str) -> bool:
        (self.checked if fine else self.problems).append(said if fine else wrong)
        return fine

    def same(self, what: str, written: Any, again: Any) -> None:
        places = list(differences(_plain(written), visible(_plain(again))))
        self.hold(
            not places,
            f"{what}: as the source says",
            f"{what}: the page says something else than its source, at {', '.join(places[:3])}",
        )

    def result(self) -> DossierVerification:
        return DossierVerification(
            checked=tuple(self.checked),
            problems=tuple(self.problems),
            skipped=tuple(self.skipped),
            recomputed=tuple(self.recomputed),
        )


def verify_dossier(
    page: str | os.PathLike[str],
    *,
    releases: Sequence[str | os.PathLike[str]] = (),
    ledger: str | os.PathLike[str] | None = None,
    recompute: bool = False,
) -> DossierVerification:
    """Check a dossier against itself, the release files and the ledger; `recompute` charges everything again."""
    report = _Report()
    record = _page(Path(page), report)
    if record is None:
        return report.result()
    try:
        loaded = _releases(record, [Path(path) for path in releases], report)
        if ledger is None:
            report.skipped.append("the ledger (give --ledger)")
        else:
            _ledger(record, Path(ledger), loaded, report, recompute=recompute)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        report.problems.append(_MALFORMED)
    return report.result()


def _page(path: Path, report: _Report) -> Record | None:
    """The record, where the page is whole and drawn from it."""
    import holdfast

    try:
        data = path.read_bytes()
        if len(data) > MOST_BYTES:
            raise FormatError(f"a dossier has at most {MOST_BYTES} bytes")
        text = data.decode()
        written, seal = record_of(text), written_seal(text)
    except (FormatError, UnicodeDecodeError) as error:
        report.problems.append(f"the page: {error}")
        return None
    report.hold(
        seal == seal_of(text), "the page has its seal", "the page was changed: it does not have its seal"
    )
    if not report.hold(
        written.get("format") in (FORMAT, *OLDER),
        f"the record has the format {written.get('format')}",
        f"the record has another format than {FORMAT}",
    ):
        return None
    try:
        record = Record.from_json(written)
    except FormatError:
        report.problems.append(_MALFORMED)
        return None
    if record.holdfast != holdfast.__version__ or record.format in OLDER:
        report.skipped.append(
            "that the page is the drawing of its record: another version of holdfast drew it"
        )
        return record
    try:
        again = render(record)
    except Exception:  # whatever a forged record makes of a template
        again = ""
    report.hold(
        again == text,
        "the page is the drawing of its record, to the last byte",
        "the page shows something else than its record",
    )
    return record


def _releases(record: Record, paths: Sequence[Path], report: _Report) -> list[Release[Any]]:
    """The release files, where they are the ones the page is about and it says of them what they say."""
    written = record.releases
    if not paths:
        report.skipped.append("the release (give --release)")
        return []
    if not report.hold(
        len(paths) == len(written),
        f"{len(written)} release file{'s' * (len(written) > 1)} for as many in the dossier",
        f"the dossier is about {len(written)} releases, {len(paths)} were given",
    ):
        return []
    by_hash = {file_digest(path): path for path in paths}
    loaded = []
    for one in written:
        path = by_hash.get(one.sha256)
        if not report.hold(
            path is not None,
            f"release {one.name} has the hash that the dossier names",
            f"release {one.name}: no given file has its hash; the release or the dossier was changed",
        ):
            return []
        assert path is not None
        try:
            release = Release.load(path)
        except FormatError as error:
            report.problems.append(f"release {one.name}: {error}")
            return []
        again = described(release, name=one.name, sha256=one.sha256)
        report.same(f"the facts about release {one.name}", one, again)
        loaded.append(release)
    report.same("the promise and its words", record.promise, promise(loaded))
    _evidence(record, loaded, report)
    _tables(record, loaded, report)
    return loaded


def _evidence(record: Record, releases: Sequence[Release[Any]], report: _Report) -> None:
    """Audits held against the promise again; the curves of attacks are only where they were measured."""
    guarantee = together(releases)
    audits = [AuditResult.from_json(one) for one in record.audits]
    beside = [one.numbers.p_value for one in record.tried if one.kind == "attack"]
    again = audited(
        audits, guarantee, confidence=record.confidence, run=len(record.tried) + record.also_run, beside=beside,
        own=[one.guarantee for one in releases],
    )  # fmt: skip
    written = [one for one in record.tried if one.kind == "audit"]
    if record.format in OLDER:
        report.skipped.append("what the audits say of themselves: an earlier version said it")
    else:
        report.same("the audits", written, [one.attempt for one in again])
    # An earlier version drew audits without sharing the error: of its picture only the proof can be drawn again.
    drawn = () if record.format in OLDER else again
    report.same(
        "the picture of proof and audits",
        [lines[: 1 + len(drawn)] for lines in _lines(record.picture)],
        _lines(picture(guarantee, drawn)),
    )
    tried = [(one.kind, one.name) for one in record.tried]
    report.same("what was not tested", record.not_tested, not_tested(record.tried))
    listed = [one.contradiction for one in record.tried if one.contradiction]
    report.same("the contradictions", record.contradictions, listed)
    if record.accuracy or any(kind == "attack" for kind, _ in tried):
        report.skipped.append("attacks and accuracy: their private data are not part of a dossier")
        if record.audience != "internal":
            report.problems.append("a public edition holds results that are for internal use")
    if record.format in OLDER and audits:
        report.skipped.append("whether real rows went into the audits: the page is older than that mark")
    elif record.audience != "internal" and any(audience_of(one) == "internal" for one in audits):
        report.problems.append(
            "a public edition holds audits on real rows, or on coins that are not holdfast's"
        )


def _lines(picture: Picture) -> list[Any]:
    return [picture.rows, picture.linear.series, picture.log.series]


def _tables(record: Record, releases: Sequence[Release[Any]], report: _Report) -> None:
    """Counts that are drawn must be counts that were released."""
    released = [array for one in releases for array in _arrays(one.value)]
    for table in record.tables:
        report.hold(
            list(table.counts) in released,
            f"the counts of {table.title}: as the release says",
            f"the counts of {table.title} are not in the release",
        )


def _arrays(value: Any) -> list[list[float]]:
    parts = value.values() if isinstance(value, Mapping) else [value]
    return [part.ravel().astype(float).tolist() for part in parts if isinstance(part, np.ndarray)]


def _ledger(
    record: Record,
    path: Path,
    releases: Sequence[Release[Any]],
    report: _Report,
    *,
    recompute: bool,
) -> None:
    """The ledger is sound, holds the heads, and says of payment and budget what the page says."""
    heads = [one.provenance.head for one in record.releases]
    heads += [budget.head for budget in record.budgets]
    try:
        with Ledger.open(path, check="nothing", read_only=True) as opened:
            for head in dict.fromkeys(filter(None, heads)):
                found = opened.verify(head=head)
                if not report.hold(
                    found.ok,
                    f"the ledger is sound and holds the head {head[:12]}… as entry {found.found_at}",
                    f"the ledger: {'; '.join(found.problems)}",
                ):
                    return
            if not any(heads):
                report.problems.append("no ledger paid for this release, as far as the dossier says")
                return
            _payments(record, opened, releases, report)
            if recompute:
                _recompute(opened, releases, report)
    except HoldfastError as error:
        report.problems.append(f"the ledger: {error}")


def _payments(record: Record, ledger: Ledger, releases: Sequence[Release[Any]], report: _Report) -> None:
    if releases:
        again = [payment(one, ledger) for one in releases]
        if record.payments:
            report.same("payment, approver and purpose", record.payments, again)
        else:
            report.skipped.append("approver and purpose: the page was made without the ledger")
    for budget in record.budgets:
        then = ledger.standing(budget.dataset, head=budget.head)
        report.same(f"the budget for {budget.dataset}", budget, then.to_json())


def _recompute(ledger: Ledger, releases: Sequence[Release[Any]], report: _Report) -> None:
    """Derive epsilon again from the mechanisms that were recorded for each release."""
    from holdfast.ledger.journal import charge_of
    from holdfast.ledger.recompute import recompute

    if not releases:
        report.skipped.append("epsilon from the recorded mechanisms (give --release)")
    entries = {entry.number: entry for entry in ledger.history()}
    for one in releases:
        paid = payment(one, ledger)
        dataset = ledger.dataset(paid.dataset)
        charges = [(number, charge_of(entries[number])) for number in one.provenance.entries]
        again = recompute(dataset, charges)
        promised = dataset.currency.amounts(one.guarantee.curve)
        within = promised is None or all(
            a <= b for a, b in zip(again.recomputed.amounts, promised, strict=True)
        )
        report.hold(
            again.sound and within,
            f"{len(charges)} recorded mechanisms, charged again by today's proofs, stay within the promise",
            "; ".join(again.problems) or "the recorded mechanisms cost more than the release promises",
        )
        report.recomputed += _epsilons(one, again)


def _epsilons(release: Release[Any], again: Recomputed) -> list[str]:
    if again.composed is None:
        return []
    return [
        f"  epsilon {again.composed.epsilon(delta):.4g} at delta {delta:g} from the recorded mechanisms, "
        f"{release.guarantee.epsilon(delta):.4g} promised"
        for delta in (1e-5, 1e-6, 1e-9)
    ]


def _plain(part: Any) -> Any:
    """A section, or several, as plain data."""
    if isinstance(part, list | tuple):
        return [_plain(one) for one in part]
    return part.to_json() if isinstance(part, Section) else part


def differences(written: Any, again: Any, place: str = "") -> Iterator[str]:
    """Where two trees of plain data differ, by more than the last digits of a number.

    >>> list(differences({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]}))
    ['a/1']
    """
    match written, again:
        case dict(), dict():
            for key in sorted(written.keys() | again.keys()):
                inner = f"{place}/{key}" if place else str(key)
                if key not in written or key not in again:
                    yield inner
                else:
                    yield from differences(written[key], again[key], inner)
        case list(), list():
            if len(written) != len(again):
                yield place or "its length"
                return
            for index, (left, right) in enumerate(zip(written, again, strict=True)):
                yield from differences(left, right, f"{place}/{index}" if place else str(index))
        case (bool(), _) | (_, bool()):
            if written is not again:
                yield place
        case ((int() | float()), (int() | float())):
            if not math.isclose(written, again, rel_tol=_TOLERANCE, abs_tol=1e-12):
                yield place
        case _:
            if written != again:
                yield place
