"""Forgers: they change one field, then make everything else agree as far as their means go.

The first holds page and release, and neither ledger nor key. The second holds the ledger too, and no key: he writes
entries of his own, or hashes the whole chain again. The third is the owner, who holds both.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast._assumption import Assumption
from holdfast.dossier import Bars, Dossier
from holdfast.dossier._page import record_of, render, seal_of
from holdfast.dossier._record import Record
from holdfast.errors import HoldfastError
from holdfast.ledger import Ledger, LedgerEntry, SignedHead, create_key
from holdfast.ledger._chain import APPLICATION_ID, FORMAT_VERSION, TABLES, write_entry
from holdfast.ledger._replay import BrokenRule
from holdfast.ledger._signing.signature import Signature
from holdfast.privacy import Account, ApproxDP, Gaussian
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.release import Release
from holdfast.release._archive import from_bytes, to_bytes
from holdfast.release._certificate import Certificate
from tests.dossier.dossier_samples import audit

Tree = Any
Place = tuple[str | int, ...]
DRAWING = r"d|x|y|x1|y1|x2|y2|cx|cy|width|height|points|class|aria-label|data-\w+"
"""Attributes that decide what a page shows."""
BARS = Bars(title="visits", labels=("a", "b"), counts=(0.0, 0.0), error=25.0)


@dataclass(frozen=True)
class Case:
    """A page, its release and its ledger, and the officer's keys."""

    folder: Path

    @property
    def page(self) -> Path:
        return self.folder / "page.html"

    @property
    def release(self) -> Path:
        return self.folder / "table.holdfast"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.db"

    @property
    def key(self) -> Path:
        return self.folder / "officer.pem"

    @property
    def public(self) -> Path:
        return self.folder / "officer.pub"

    def copy(self, folder: Path) -> Case:
        """The same files elsewhere, to be edited."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        for name in ("ledger.db-wal", "ledger.db-shm"):
            (folder / name).unlink(missing_ok=True)
        return Case(folder)


def visits(account: Account) -> Release[Any]:
    """Two counts and a mean, with a certificate."""
    mechanism = Gaussian(sigma=9.0, l2_sensitivity=1.0)
    counts = account.release(mechanism, [12.0, 30.0], key="visits")
    mean = account.release(mechanism, [41.5], key="mean")
    claim = Certificate(
        name="largest error",
        statement="normal tails",
        alpha=25.0,
        confidence=0.95,
        query_class="both counts",
        details={"cells": 2},
    )
    return Release.of(
        account,
        {"visits": counts, "mean": mean, "note": "by month"},
        method="two noisy counts",
        parameters={"sigma": 9.0},
        schema_hash="ab" * 32,
        certificates=[claim],
        assumptions=[Assumption(kind="public", text="the year is public")],
    )


def sound(
    folder: Path,
    make: Callable[[Account], Release[Any]] = visits,
    *,
    limit: PrivacyCurve = ApproxDP(1.0, 1e-6),  # noqa: B008
    currency: str | None = "gdp",
    adjacency: str = "replace",
    title: str = "Visits",
    approver: str = "M. Head",
    key: Path | None = None,
    seed: int | None = None,
) -> Case:
    """A release that was paid, closed, approved, shown on a page, signed."""
    folder.mkdir(parents=True, exist_ok=True)
    case = Case(folder)
    if key is None:
        create_key(case.key)
    else:
        shutil.copy(key, case.key)
        shutil.copy(key.with_suffix(".pub"), case.public)
    with Ledger.create(case.ledger) as ledger:
        ledger.dataset(
            "clinic",
            limit=limit,
            currency=currency,
            adjacency=adjacency,
            approver="R. Officer",
            purpose="yearly report",
        )
        account = ledger.account(
            "clinic", name="table 1", purpose="visits by month", approver=approver, seed=seed
        )
        make(account).save(case.release)
        ledger.close_account("table 1", reason="printed")
        if approver:
            ledger.approve("table 1", case.key, approver=approver)
        Dossier.of_files(
            [case.release], ledger=ledger, audits=[audit()], tables=_bars(case, [BARS]), title=title
        ).save(case.page)
        ledger.sign(case.key)
    return case


# One field at a time.


def places(tree: Tree, place: Place = ()) -> Iterator[Place]:
    """Every leaf, and every list or mapping that could lose a part; of long lists of numbers three are enough."""
    if isinstance(tree, dict) and tree:
        yield place
        for key, value in tree.items():
            yield from places(value, (*place, key))
    elif isinstance(tree, list) and tree:
        yield place
        long = len(tree) > 6 and all(isinstance(one, int | float) for one in tree)
        for index in (0, len(tree) // 2, len(tree) - 1) if long else range(len(tree)):
            yield from places(tree[index], (*place, index))
    else:
        yield place


def mutated(tree: Tree, place: Place) -> Tree:
    """A copy in which this place says something else of the same kind."""
    copy = json.loads(json.dumps(tree))
    if not place:
        return _other(copy)
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = _other(inner[place[-1]])
    return copy


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 0.873 + 0.0001
        case str() if re.fullmatch(r"[0-9a-f]{64}", value):
            return ("0" if value[0] != "0" else "1") + value[1:]
        case str() if re.fullmatch(r"\d{4}-\d\d-\d\d.*", value):
            return "1999" + value[4:]
        case "secure" | "seeded":
            return "seeded" if value == "secure" else "secure"
        case "strict" | "idealised":
            return "idealised" if value == "strict" else "strict"
        case str():
            return value + " (better)"
        case list() if value:
            return value[:-1]
        case dict() if value:
            return dict(list(value.items())[:-1])
        case None:
            return 0
    return ["something"]


# The page.


def redraw(case: Case, record: Tree) -> None:
    """Draw and seal the page of a forged record; one that cannot be drawn is pasted into the old page."""
    try:
        case.page.write_text(render(Record.from_json(record)), encoding="utf-8")
    except Exception:
        text = case.page.read_text(encoding="utf-8")
        block = re.findall(r'holdfast-record">(.*?)</script>', text, flags=re.S)[0]
        reseal(case, text.replace(block, json.dumps(record).replace("<", "\\u003c")))


def reseal(case: Case, text: str) -> None:
    """Write an edited page with the seal that it should have."""
    old = re.findall(r'holdfast-seal" content="(\w+)"', text)[0]
    case.page.write_text(text.replace(old, seal_of(text), 1), encoding="utf-8")


def texts(page: str) -> list[tuple[int, int]]:
    """Where a page shows something: its texts, and the attributes that draw its charts."""
    body = page[: page.index('<script type="application/json"')]
    start = body.index("</style>")
    found = [m.span(1) for m in re.finditer(r">([^<>]*\w[^<>]*)<", body) if m.start() > start]
    found += [
        m.span(1)
        for m in re.finditer(
            r'(?:\bd|\bx|\by|x1|y1|x2|y2|cx|cy|width|height|points|class|aria-label|data-\w+)="([^"]+)"', body
        )
        if m.start() > start
    ]
    return sorted(found)


def edit_text(case: Case, span: tuple[int, int]) -> None:
    """Change one text or one attribute of the page, and seal it again."""
    page = case.page.read_text(encoding="utf-8")
    shown = page[slice(*span)]
    digits = re.sub(r"\d", lambda found: str((int(found[0]) + 1) % 10), shown, count=1)
    reseal(case, page[: span[0]] + (digits if digits != shown else shown + "x") + page[span[1] :])


# The release.


def release_tree(case: Case) -> tuple[Tree, dict[str, bytes]]:
    record, members = from_bytes(case.release.read_bytes())
    return record, members


def rewrite_release(case: Case, record: Tree, members: dict[str, bytes]) -> None:
    """Write a forged release with sums of its own."""
    case.release.write_bytes(to_bytes(record, members))


def redraw_about(case: Case) -> None:
    """Make the page say what a forged release says, as a forger can who only reads the ledger."""
    written = record_of(case.page.read_text(encoding="utf-8"))
    said = Record.from_json(written)
    try:
        with Ledger.open(case.ledger, read_only=True, check="nothing") as ledger:
            made = Dossier.of_files(
                [case.release],
                ledger=ledger,
                audits=[audit()],
                title=said.title,
                tables=_bars(case, said.tables),
                head=said.budgets[0].head,
            )
            case.page.write_text(made.html(), encoding="utf-8")
    except (
        HoldfastError
    ):  # the ledger did not pay for what this release says: leave its part of the page as it is
        made = Dossier.of_files(
            [case.release], audits=[audit()], title=said.title, tables=_bars(case, said.tables)
        )
        record = replace(made.record, payments=said.payments, budgets=said.budgets, doubts=said.doubts)
        case.page.write_text(render(record), encoding="utf-8")


def _bars(case: Case, tables: Sequence[Bars]) -> tuple[Bars, ...]:
    value = Release.load(case.release).value
    counts = value.get("visits") if isinstance(value, dict) else None
    if not isinstance(counts, np.ndarray) or counts.size != 2:
        return ()
    return tuple(replace(one, counts=tuple(counts.ravel().astype(float).tolist())) for one in tables)


# The ledger.


def entries_of(path: Path) -> list[LedgerEntry]:
    with closing(sqlite3.connect(path)) as sql, sql:
        rows = sql.execute("SELECT text, hash FROM entries ORDER BY number").fetchall()
    return [LedgerEntry.parse(text, entry_hash) for text, entry_hash in rows]


def write_ledger(path: Path, entries: Sequence[LedgerEntry]) -> None:
    """A ledger file with these entries, its pointers as they should be, and the kept values of the old one."""
    with closing(sqlite3.connect(path)) as sql, sql:
        payloads = sql.execute("SELECT number, part, payload FROM payloads").fetchall()
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as sql, sql:
        sql.executescript(
            f"{TABLES} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT_VERSION};"
        )
        for entry in entries:
            write_entry(sql, entry)
        sql.executemany("INSERT INTO payloads VALUES (?, ?, ?)", payloads)


@contextmanager
def drafted(case: Case, entries: Sequence[LedgerEntry]) -> Iterator[Ledger]:
    """A ledger that is being forged, as far as it has come: what a page is made from."""
    draft = Path(shutil.copy(case.ledger, case.ledger.with_name("draft.db")))
    write_ledger(draft, entries)
    with Ledger.open(draft, check="nothing", read_only=True) as ledger:
        yield ledger
    for ending in ("", "-wal", "-shm"):
        Path(f"{draft}{ending}").unlink(missing_ok=True)


def rehash(
    case: Case, edit: Callable[[int, Tree], Tree], *, key: Path, release: Callable[[Tree], Tree] | None = None
) -> None:
    """Edit entries and make all that follows agree: chain, closings, release, page, signatures by this key.

    `edit` takes the number and the plain data of an entry; `release` edits the record of the release.
    """
    hashes: dict[str, str] = {}
    made: list[LedgerEntry] = []
    record, members = release_tree(case)
    for old in entries_of(case.ledger):
        data = json.loads(old.text)
        data.pop("version")
        body = data["body"]
        data["previous"] = made[-1].hash if made else data["previous"]
        if data["kind"] == "release":
            record["provenance"]["head"] = hashes[record["provenance"]["head"]]
            record = record if release is None else release(record)
            rewrite_release(case, record, members)
            body["sha256"], body["head"] = Release.load(case.release).sha256(), record["provenance"]["head"]
        if data["kind"] == "approval":
            body["hash"] = made[body["entry"]].hash
            content = {name: body[name] for name in ("approver", "ledger", "account", "entry", "hash")}
            signed = Signature.sign(key, about="approval", content=content)
            body |= {"public_key": signed.public_key, "signature": signed.signature}
        if data["kind"] == "page":
            with suppress(
                HoldfastError, BrokenRule
            ):  # a ledger that no page can be made from keeps the old one
                body |= _page_again(case, made)
        if data["kind"] == "signature":
            head = SignedHead.sign(
                key, ledger=made[0].body["ledger"], number=old.number - 1, head=made[-1].hash
            )
            data["body"] = head.to_json()
        data = edit(old.number, data)
        made.append(LedgerEntry(**data))
        hashes[old.hash] = made[-1].hash
    write_ledger(case.ledger, made)


def _page_again(case: Case, made: Sequence[LedgerEntry]) -> Tree:
    """The page that a forged ledger would have closed, and what its entry says."""
    said = Record.from_json(record_of(case.page.read_text(encoding="utf-8")))
    with drafted(case, made) as ledger:
        again = Dossier.of_files(
            [case.release],
            ledger=ledger,
            audits=[audit()],
            title=said.title,
            tables=_bars(case, said.tables),
            created=said.created,
        )
        page = again.html()
    case.page.write_text(page, encoding="utf-8")
    return {
        "sha256": hashlib.sha256(case.page.read_bytes()).hexdigest(),
        "releases": [one.sha256 for one in again.record.releases],
        "title": again.record.title,
        "audience": again.record.audience,
    }


def close_again(case: Case, *, key: Path | None) -> None:
    """Append closings of a forged release and page to the true ledger; sign them if there is a key."""
    made = Release.load(case.release)
    written = record_of(case.page.read_text(encoding="utf-8"))
    with Ledger.open(case.ledger, check="nothing") as ledger:
        with ledger._store.writing() as chain:
            old = next(entry for entry in entries_of(case.ledger) if entry.kind == "release")
            chain.append(
                "release",
                dict(old.body) | made._ledger_facts(old.body["share"]) | {"account": old.body["account"]},
            )
        ledger.close_page(
            case.page.read_bytes(),
            title=written["title"],
            audience=written["audience"],
            releases=[one["sha256"] for one in written["releases"]],
        )
        if key is not None:
            ledger.sign(key)


# What a page says of its maker.


LATER = "1000.0.0"
"""A version that may come one day."""
FORGED_MAKERS: dict[str, dict[str, Any]] = {
    "format 0": {"format": "holdfast-dossier/0"},
    "format 2": {"format": "holdfast-dossier/2"},
    "format 3": {"format": "holdfast-dossier/3"},
    "another family": {"format": "holdfast-release/1"},
    "no format": {"format": ...},
    "format null": {"format": None},
    "another renderer": {"renderer": "0" * 64},
    "no hash": {"renderer": "the one of holdfast"},
    "no renderer": {"renderer": ...},
    "an earlier version": {"holdfast": "0.0.1"},
    "an earlier version and format": {"holdfast": "0.0.9", "format": "holdfast-dossier/3"},
    "a version in the making": {"holdfast": "1000.0.0.dev0"},
    "half a number": {"holdfast": "1000.0"},
    "another spelling": {"holdfast": "01000.0.0"},
    "no number": {"holdfast": "the newest"},
    "no version": {"holdfast": ...},
    "a later version without a format": {"holdfast": LATER, "format": "holdfast-dossier/0"},
    "a later version without a renderer": {"holdfast": LATER, "renderer": "none"},
    "an unknown field": {"certified": "by nobody"},
    "a later version and an unknown field": {"holdfast": LATER, "certified": "by nobody"},
    "a missing field": {"doubts": ...},
    "a later version and a missing field": {"holdfast": LATER, "not_tested": ...},
}
"""Fields that no version writes into a record, or not together; `...` stands for a field that is left out."""


def relabel(case: Case, **fields: Any) -> None:
    """Write other fields into the embedded record, and seal, close and sign the page again."""
    text = case.page.read_text(encoding="utf-8")
    block = re.findall(r'holdfast-record">(.*?)</script>', text, flags=re.S)[0]
    record = json.loads(block)
    forged = {name: value for name, value in (record | fields).items() if value is not ...}
    reseal(case, text.replace(block, json.dumps(forged).replace("<", "\\u003c")))
    close_again(case, key=case.key)


def package(folder: Path) -> Path:
    """A small package with all kinds of files."""
    for name in ("a.py", "dossier/_section.py", "dossier/_templates/page.html.j2", "data/x.parquet"):
        (folder / "holdfast" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "holdfast" / name).write_text(name)
    return folder / "holdfast"
