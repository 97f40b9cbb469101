"""Dossier: a page about one or several releases, in a public or an internal edition."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast._arguments import checked
from holdfast._ranges import require_place
from holdfast.audit._result import AuditResult
from holdfast.data._whole_file import write_whole
from holdfast.dossier._doubts import doubts
from holdfast.dossier._evidence import (
    ComparedAttempt,
    audience_of,
    require_public,
    trade_off_picture,
    try_attacks,
    try_audits,
    untested_claims,
)
from holdfast.dossier._ledger_snapshot import LedgerSnapshot, payment
from holdfast.dossier._promise import joint_guarantee, joint_promise, release_chapters
from holdfast.dossier._record import Bars, Payment, Record, file_digest, release_facts
from holdfast.dossier._renderer import renderer
from holdfast.dossier._section import Audience, make_visible
from holdfast.dossier._stored_evidence import AttackFigures
from holdfast.dossier._utility import Accuracy
from holdfast.errors import require
from holdfast.ledger import Ledger
from holdfast.privacy._guarantee import guess_words
from holdfast.release import Release
from holdfast.release._outputs import FileRead, FileWritten, Outputs
from holdfast.release._release import today


@checked
@dataclass(frozen=True)
class Dossier:
    """One self-contained page about a release, or several about the same people, in one of two editions.

    The `public` edition holds released values, proofs, certificates and audits of planted records; it refuses
    what is an un-noised function of private data. The `internal` edition may hold attacks and accuracy, and says
    on every page that it must not be published.

    Parameters
    ----------
    release : Release or sequence of Release
        What the page is about.
    attacks : sequence
        Results of attacks on real records, for the internal edition.
    audits : sequence of AuditResult
        Results of audits. The public edition takes those of planted records.
    ledger : Ledger, optional
        The ledger that paid: the page then shows the budget and who signed, and saving it closes the page in the
        ledger, unless that was opened for reading alone.
    audience : {'public', 'internal'}
        The edition.
    title : str, optional
        The title of the page; by default the release's own.
    tables : sequence of Bars
        Released tables to draw.
    accuracy : sequence of Accuracy
        Scores on real records, for the internal edition.
    confidence : float
        Of what audits and attacks claim together, in (0, 1).
    names : sequence of str, optional
        What the releases are called on the page, one each.
    digests : sequence of str, optional
        The SHA-256 of each release's file; by default computed.
    also_run : int
        How many audits and attacks were run and are not on this page: all that was run shares the error, so that
        nobody is accused by the luckiest of many.
    attack_p_values : sequence of float
        p-values of attacks whose results are not at hand: they share the error too.
    created : str, optional
        The date that the page bears, to make the page of an earlier day again; by default today's.
    head : str, optional
        How far the ledger had come, to make the page of an earlier day again.
    files : sequence of Path
        The files of the releases, where they were read from files: the page is written over none of them.

    Examples
    --------
    >>> from holdfast.privacy import Account, Gaussian, GaussianDP
    >>> account = Account(GaussianDP(0.5))
    >>> noisy = account.release(Gaussian(sigma=2.0, l2_sensitivity=1.0), [12.0, 30.0])
    >>> dossier = Dossier(Release.of(account, noisy, method="two noisy counts"))
    >>> dossier.contradictions
    ()
    >>> dossier.to_json()["promise"]["curve"]
    'GaussianDP(mu=0.5)'
    """

    release: Release[Any] | Sequence[Release[Any]]
    attacks: Sequence[AttackFigures] = ()
    audits: Sequence[AuditResult] = ()
    ledger: Ledger | None = field(default=None, kw_only=True)
    audience: Audience = field(default="public", kw_only=True)
    title: str | None = field(default=None, kw_only=True)
    tables: Sequence[Bars] = field(default=(), kw_only=True)
    accuracy: Sequence[Accuracy] = field(default=(), kw_only=True)
    confidence: float = field(default=0.95, kw_only=True)
    names: Sequence[str] | None = field(default=None, kw_only=True)
    digests: Sequence[str] | None = field(default=None, kw_only=True)
    also_run: int = field(default=0, kw_only=True)
    attack_p_values: Sequence[float] = field(default=(), kw_only=True)
    created: str | None = field(default=None, kw_only=True)
    head: str | None = field(default=None, kw_only=True)
    files: Sequence[Path] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        require(self.audience in ("public", "internal"), "audience", self.audience, "'public' or 'internal'")
        require(0 < self.confidence < 1, "confidence", self.confidence, "in (0, 1)")
        require(
            isinstance(self.also_run, int) and self.also_run >= 0,
            "also_run",
            self.also_run,
            "an integer >= 0",
        )
        require(len(self.releases) > 0, "release", "()", "one release, or a sequence of them")
        for name in ("names", "digests"):
            texts = getattr(self, name)
            require(texts is None or len(texts) == len(self.releases), name, "...", "one per release")
        if self.audience == "public":
            require_public(self.audits, self.attacks, self.accuracy)
        joint_guarantee(self.releases)  # refuses releases about different neighbours or units

    @classmethod
    def of_files(cls, paths: Sequence[str | os.PathLike[str]], **more: Any) -> Dossier:
        """The dossier of release files, which it names and whose hashes it keeps.

        Parameters
        ----------
        paths : sequence of str or path
            Files that `Release.save` wrote.
        **more
            The other parameters of a dossier.

        Returns
        -------
        Dossier
            It refuses to be written over one of these files.
        """
        files = [Path(path) for path in paths]
        return cls(
            [Release.load(path) for path in files],
            names=[path.name for path in files],
            digests=[file_digest(path) for path in files],
            files=files,
            **more,
        )

    @property
    def releases(self) -> tuple[Release[Any], ...]:
        """All releases that it is about."""
        return (self.release,) if isinstance(self.release, Release) else tuple(self.release)

    @cached_property
    def attempts(self) -> tuple[ComparedAttempt, ...]:
        """Every audit and attack, held against the promise."""
        guarantee = joint_guarantee(self.releases)
        run_count = len(self.audits) + len(self.attacks) + len(self.attack_p_values) + self.also_run
        alone = try_attacks(self.attacks, guarantee)
        audits = try_audits(
            self.audits,
            guarantee,
            confidence=self.confidence,
            run_count=run_count,
            other_p_values=[*(attempt.numbers.p_value for attempt in alone), *self.attack_p_values],
            release_promises=[release.guarantee for release in self.releases],
        )
        attacks = try_attacks(
            self.attacks,
            guarantee,
            confidence=self.confidence,
            run_count=run_count,
            other_p_values=[attempt.numbers.p_value for attempt in audits],
        )
        return (*audits, *attacks)

    @property
    def contradictions(self) -> tuple[str, ...]:
        """What refutes the promise; empty where nothing does."""
        return tuple(attempt.contradiction for attempt in self.attempts if attempt.contradiction is not None)

    def to_json(self) -> dict[str, Any]:
        """Everything the page says, as plain data; it is embedded in the page."""
        return self.record.to_json()

    @cached_property
    def record(self) -> Record:
        """Everything the page says."""
        import holdfast

        releases = self.releases
        names = self.names or [
            "release" if len(releases) == 1 else f"release {k + 1}" for k in range(len(releases))
        ]
        digests = self.digests or [release.sha256() for release in releases]
        facts = tuple(
            release_facts(release, name=name, sha256=sha256)
            for release, name, sha256 in zip(releases, names, digests, strict=True)
        )
        first = min((number for release in releases for number in release.provenance.entries), default=0)
        snapshot = (
            None if self.ledger is None else LedgerSnapshot.of(self.ledger, head=self.head, after=first - 1)
        )
        payments: list[Payment] = []
        if snapshot is not None:
            payments = [
                payment(release, snapshot, sha256=digest)
                for release, digest in zip(releases, digests, strict=True)
            ]
        record = Record(
            title=self.title or releases[0].provenance.title,
            audience=self.audience,
            created=self.created or today(),
            holdfast=holdfast.__version__,
            releases=facts,
            promise=joint_promise(releases),
            picture=trade_off_picture(joint_guarantee(releases), self.attempts),
            confidence=self.confidence,
            tried=tuple(attempt.attempt for attempt in self.attempts),
            audits=tuple(_audit_json(audit, self.audience) for audit in self.audits),
            contradictions=self.contradictions,
            tables=tuple(self.tables),
            accuracy=tuple(self.accuracy),
            not_tested=untested_claims(self.attempts, also_run=self.also_run),
            also_run=self.also_run,
            payments=tuple(payments),
            budgets=tuple(
                snapshot.budget(name, release_hashes=digests)
                for name in dict.fromkeys(paid.dataset for paid in payments)
                if snapshot is not None
            ),
            doubts=doubts(facts, payments),
            story=release_chapters(releases),
            renderer=renderer(),
        )
        # As any later reader of the page will see it.
        return Record.from_json(make_visible(record.to_json()))

    def html(self) -> str:
        """The page, sealed."""
        from holdfast.dossier._page import render

        return render(self.record)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page, whole or not at all, and its hash into the ledger that paid.

        Parameters
        ----------
        path : str or path
            The file to write; a folder that does not exist is made.
        overwrite : bool
            Whether it may take the place of a file that this process did not write.

        Returns
        -------
        Path
            Where the page is.
        """
        target = Path(path)
        inputs = [FileRead(name="a release", path=place) for place in self.files]
        if self.ledger is not None:
            inputs.append(FileRead(name="the ledger", path=self.ledger.path))
        page_file = FileWritten(name="path", path=target, replaces=overwrite)
        Outputs(reads=tuple(inputs), writes=(page_file,)).require_apart()
        with suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
        require_place("path", target)
        page = self.html().encode()
        page_file.require_new(way_out="choose another name, or pass overwrite=True", data=page)
        # Closed first: a page that is there is always one that the ledger knows, however this ends.
        if self.ledger is not None and not self.ledger.read_only:
            self.ledger.close_page(
                page,
                title=self.record.title,
                audience=self.audience,
                releases=[release.sha256 for release in self.record.releases],
            )
        write_whole(target, page)
        return target

    def summary(self) -> str:
        """A few lines: what is promised, what was tried, and whether anything contradicts it."""
        record = self.record
        lines = [
            *(line for release in self.releases for line in release.first_lines),
            f"{record.title} ({self.audience} edition): {joint_guarantee(self.releases).headline()}",
            f"  {record.promise.sure.words(record.promise.unit)}",
            f"  {guess_words(record.promise.guess)}",
            f"  {len(self.audits)} audits and {len(self.attacks)} attacks, {len(self.contradictions)} contradictions",
        ]
        return "\n".join(lines + [f"  CONTRADICTION: {text}" for text in self.contradictions])


def _audit_json(audit: AuditResult, audience: Audience) -> dict[str, Any]:
    """The audit as plain data; the public edition leaves out the scores of canaries."""
    assert audience == "internal" or audience_of(audit) == "public"
    return audit.to_json() | ({"scores": {}} if audience == "public" else {})
