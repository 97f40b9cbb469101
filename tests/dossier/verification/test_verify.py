"""An edit to page, release or ledger shows, also where the forger seals the page again."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.dossier import Bars, Dossier, DossierVerification, verify_dossier
from holdfast.dossier._page import record_of, render, seal_of
from holdfast.dossier._record import Record
from holdfast.dossier._verification.ledger_checks import differences
from holdfast.ledger import Ledger
from holdfast.ledger._entry import LedgerEntry
from holdfast.privacy import ApproxDP
from holdfast.release import Provenance, Release
from holdfast.release._archive import from_bytes, to_bytes
from tests.dossier.dossier_samples import Paid, audit, counts, paid
from tests.ledger.unguarded import unguarded


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Paid:
    folder = tmp_path_factory.mktemp("sound")
    there = paid(folder)
    bars = Bars(
        title="visits",
        labels=("a", "b"),
        error=3.0,
        counts=tuple(Release.load(there.release).value["visits"].astype(float).tolist()),
    )
    with Ledger.open(there.ledger) as ledger:
        Dossier.of_files([there.release], ledger=ledger, audits=[audit()], tables=[bars]).save(
            folder / "page.html"
        )
    return there


@pytest.fixture
def three(made: Paid, tmp_path: Path) -> tuple[Path, Path, Path]:
    """Copies of page, release and ledger, to be edited."""
    for name in ("page.html", "table.holdfast", "ledger.db"):
        shutil.copy(made.release.parent / name, tmp_path / name)
    return tmp_path / "page.html", tmp_path / "table.holdfast", tmp_path / "ledger.db"


def check(three: tuple[Path, Path, Path], *, recompute: bool = False) -> DossierVerification:
    return verify_dossier(three[0], releases=[three[1]], ledger=three[2], recompute=recompute)


def test_the_three_agree(three: tuple[Path, Path, Path]) -> None:
    found = check(three, recompute=True)
    assert found.ok, found.summary()
    assert found.summary().startswith("OK: ")
    assert not found.skipped
    assert any("epsilon 1 at delta 1e-06 from the recorded mechanisms" in line for line in found.recomputed)


def test_they_still_agree_when_the_ledger_has_moved_on(three: tuple[Path, Path, Path]) -> None:
    with Ledger.open(three[2]) as ledger:
        ledger.account("clinic", name="table 2", limit=ApproxDP(0.5, 1e-6))
    assert check(three, recompute=True).ok


def test_what_is_not_given_is_said_to_be_unchecked(three: tuple[Path, Path, Path]) -> None:
    alone = verify_dossier(three[0])
    assert not alone.problems
    assert len(alone.skipped) == 2
    assert alone.summary().startswith(
        "NOT JUDGED: not everything could be checked: the release (give --release)"
    )
    assert (alone.ok, alone.verdict, alone.exit_code) == (False, "not judged", 3)


# The page.


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("77.1 %", "51.0 %", 1),
        lambda text: text.replace("R. Officer", "S. Officer", 1),
        lambda text: text.replace("<footer>", "<footer> "),
        lambda text: text.replace('"confidence":0.95', '"confidence":0.99', 1),
        lambda text: text.replace("stroke:#0b6e99", "stroke:#0b6e98", 1),
    ],
)
def test_a_careless_edit_of_the_page_breaks_its_seal(
    three: tuple[Path, Path, Path], edit: Callable[[str], str]
) -> None:
    before = three[0].read_text(encoding="utf-8")
    after = edit(before)
    assert after != before
    three[0].write_text(after, encoding="utf-8")
    found = check(three)
    assert any("seal" in problem for problem in found.problems)


def test_every_flipped_byte_of_the_page_shows(three: tuple[Path, Path, Path]) -> None:
    before = three[0].read_bytes()
    for place in np.random.default_rng(1).integers(0, len(before), 12):
        edited = bytearray(before)
        edited[place] ^= 1 << int(place) % 7
        three[0].write_bytes(edited)
        assert not verify_dossier(three[0]).ok, place


def test_a_page_sealed_again_is_not_the_drawing_of_its_record(three: tuple[Path, Path, Path]) -> None:
    text = three[0].read_text(encoding="utf-8").replace("77.1 %", "51.0 %")
    old = re.findall(r'holdfast-seal" content="(\w+)"', text)[0]
    three[0].write_text(text.replace(old, seal_of(text)), encoding="utf-8")
    found = check(three)
    assert found.problems[0] == "the page shows something else than its record"


def _set(*path: Any) -> Callable[[Any], None]:
    *inner, value = path

    def edit(record: Any) -> None:
        for key in inner[:-1]:
            record = record[key]
        assert record[inner[-1]] != value
        record[inner[-1]] = value

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _set("promise", "guess", 0.51),
        _set("promise", "sure", "after", 2, "at_most", 0.6),
        _set("promise", "points", 0, "epsilon", 0.1),
        _set("promise", "private", False),
        _set("promise", "theorem", "a better one"),
        _set("releases", 0, "provenance", "noise", "seeded"),
        _set("releases", 0, "title", "another"),
        _set("releases", 0, "sha256", "0" * 64),
        _set("picture", "linear", "series", 0, "found", 20, 0.9),
        _set("picture", "log", "series", 1, "found", 20, 0.9),
        _set("tried", 0, "numbers", "epsilon_lower", 9.0),
        _set("tried", 0, "state", "refuted"),
        _set("not_tested", ["nothing"]),
        lambda record: record["not_tested"].pop(0),
        _set("promise", "at", "epsilon", 0.1),
        _set("promise", "at", "odds", 1.1),
        _set("tried", 0, "numbers", "most", 9.0),
        _set("tried", 0, "numbers", "promised", 9.0),
        _set("payments", 0, "takes", "1 %"),
        _set("budgets", 0, "elsewhere", 3),
        _set("picture", "left_out", 2),
        lambda record: record["picture"]["rows"].pop(),
        _set("contradictions", ["none"]),
        _set("tables", 0, "counts", [1.0, 2.0]),
        _set("payments", 0, "approver", "Somebody Else"),
        _set("payments", 0, "purpose", "fun"),
        _set("payments", 0, "entries", 0, "hash", "0" * 64),
        _set("budgets", 0, "parts", 2, "epsilon", 1.9),
        _set("budgets", 0, "what_if", 3, "leaves", "epsilon", 1.9),
        _set("budgets", 0, "head", "0" * 64),
        _set("budgets", 0, "dataset", "another"),
        _set("accuracy", [{"model": "m", "score": 0.9, "rows": 3, "measure": "accuracy"}]),
        _set("format", "holdfast-dossier/9"),
        lambda record: record.pop("promise"),
        lambda record: record["releases"].append(record["releases"][0]),
        lambda record: record["audits"].clear(),
    ],
)
def test_a_forged_record_drawn_and_sealed_again_contradicts_its_sources(
    three: tuple[Path, Path, Path], edit: Callable[[Any], None]
) -> None:
    record = record_of(three[0].read_text(encoding="utf-8"))
    edit(record)
    try:
        three[0].write_text(render(Record.from_json(record)), encoding="utf-8")
    except Exception:  # not even a page: the forger can only paste the record in
        text = three[0].read_text(encoding="utf-8")
        block = re.findall(r'record">(.*?)</script>', text, flags=re.S)[0]
        three[0].write_text(text.replace(block, json.dumps(record)), encoding="utf-8")
    found = check(three)
    assert not found.ok, found.summary()


def test_anything_else_is_no_dossier(tmp_path: Path) -> None:
    for content in (
        b"",
        b"<html></html>",
        b"\xff\xfe",
        b'<script type="application/json" id="holdfast-record">[]</script>',
    ):
        (tmp_path / "x.html").write_bytes(content)
        assert not verify_dossier(tmp_path / "x.html").ok


# The release.


def test_another_release_shows(three: tuple[Path, Path, Path]) -> None:
    counts().save(three[1], overwrite=True)
    assert any("hash" in problem for problem in check(three).problems)


def test_every_flipped_byte_of_the_release_shows(three: tuple[Path, Path, Path]) -> None:
    before = three[1].read_bytes()
    for place in np.random.default_rng(2).integers(0, len(before), 12):
        edited = bytearray(before)
        edited[place] ^= 4
        three[1].write_bytes(edited)
        assert not verify_dossier(three[0], releases=[three[1]]).ok, place


def test_an_edited_release_with_new_sums_shows(three: tuple[Path, Path, Path]) -> None:
    record, members = from_bytes(three[1].read_bytes())
    record["provenance"]["method"] = "something better"
    three[1].write_bytes(to_bytes({k: v for k, v in record.items() if k != "format"}, members))
    assert Release.load(three[1]).provenance.method == "something better"
    assert not check(three).ok


def test_a_missing_or_extra_release_shows(three: tuple[Path, Path, Path]) -> None:
    assert not verify_dossier(three[0], releases=[three[1], three[1]]).ok


# The ledger.


def _entries(path: Path) -> list[tuple[int, str, str]]:
    with closing(sqlite3.connect(path)) as sql, sql:
        return sql.execute("SELECT number, text, hash FROM entries ORDER BY number").fetchall()


def _rewrite(path: Path, edit: Callable[[dict[str, Any]], None], *, chain: bool) -> None:
    """Change entries; with `chain`, hash everything after them again, as a careful forger would."""
    with closing(sqlite3.connect(path)) as sql, sql, unguarded(sql):
        previous = None
        for number, text, entry_hash in _entries(path):
            data = json.loads(text)
            edit(data)
            if chain and previous is not None:
                data["previous"] = previous
            data.pop("version")
            entry = LedgerEntry(**data)
            previous = entry.hash if chain else entry_hash
            sql.execute("UPDATE entries SET text=?, hash=? WHERE number=?", (entry.text, previous, number))


def _approver(data: dict[str, Any]) -> None:
    if data["kind"] == "account":
        data["body"]["approver"] = "Nobody"


def _sigma(data: dict[str, Any]) -> None:
    if data["kind"] == "charge":
        data["body"]["mechanism"]["sigma"] = 1.0


@pytest.mark.parametrize("chain", [False, True])
@pytest.mark.parametrize("edit", [_approver, _sigma])
def test_an_edited_entry_shows(
    three: tuple[Path, Path, Path], edit: Callable[[dict[str, Any]], None], chain: bool
) -> None:
    _rewrite(three[2], edit, chain=chain)
    found = check(three)
    assert any(problem.startswith("the ledger") for problem in found.problems), found.summary()


def test_an_older_copy_of_the_ledger_shows(three: tuple[Path, Path, Path], tmp_path: Path) -> None:
    with Ledger.open(three[2]) as ledger:
        ledger.account("clinic", name="later", limit=ApproxDP(0.1, 1e-6))
        Dossier.of_files([three[1]], ledger=ledger).save(tmp_path / "later.html")
    assert verify_dossier(tmp_path / "later.html", releases=[three[1]], ledger=three[2]).ok
    old = three[2].parent / "old"
    old.mkdir()
    older = paid(old)  # a ledger that never saw it
    assert not verify_dossier(tmp_path / "later.html", releases=[three[1]], ledger=older.ledger).ok


def test_a_file_that_is_no_ledger_is_a_problem(three: tuple[Path, Path, Path]) -> None:
    three[2].write_bytes(b"not a ledger")
    assert not check(three).ok


def test_recompute_finds_a_charge_that_was_too_small(
    three: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger in which the recorded mechanism costs more than was charged for it."""
    from holdfast.dossier._ledger_snapshot import LedgerSnapshot
    from holdfast.dossier._verification.findings import Findings
    from holdfast.dossier._verification.ledger_checks import check_recomputed

    true = LedgerSnapshot.charges

    def cheaper(self: LedgerSnapshot, provenance: Provenance) -> list[LedgerEntry]:
        charges = []
        for entry in true(self, provenance):
            data = json.loads(entry.text)
            _sigma(data)
            data.pop("version")
            charges.append(LedgerEntry(**data))
        return charges

    found = Findings()
    monkeypatch.setattr(LedgerSnapshot, "charges", cheaper)
    with Ledger.open(three[2], read_only=True) as ledger:
        check_recomputed([Release.load(three[1])], ledger, found, epsilons=False)
    assert any("less than its mechanism costs" in problem for problem in found.problems)


def test_numbers_may_differ_in_their_last_digits_only() -> None:
    assert not list(differences({"a": 1.0, "b": [None, "x"]}, {"a": 1.0 + 1e-9, "b": [None, "x"]}))
    assert list(differences({"a": True}, {"a": 1})) == ["a"]
    assert list(differences([1, 2], [1])) == ["its length"]
    assert list(differences({"a": 1}, {"b": 1})) == ["a", "b"]
