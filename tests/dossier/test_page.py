"""What the page says, to whom, and what it refuses to say."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast._assumption import Assumption
from holdfast.dossier import Accuracy, Bars, Dossier
from holdfast.dossier._page import record_of, seal_of, written_seal
from holdfast.errors import FormatError, NotPrivateWarning, ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import Account, PureDP
from holdfast.privacy._mechanisms import Laplace
from holdfast.release import Release
from tests.dossier.dossier_samples import HOSTILE, FakeAttack, audit, counts, model, paid

BARS = Bars(title=HOSTILE, labels=(HOSTILE, "b"), counts=(5.0, 0.0), error=2.0)


def text_of(page: str) -> str:
    """What a reader sees: no record, no script, no style, no tags."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def hostile() -> Dossier:
    return Dossier(
        [
            counts(name=HOSTILE, assumptions=(Assumption(kind=HOSTILE, subject=HOSTILE, text=HOSTILE),)),
            model([HOSTILE, "b"]),
        ],
        [FakeAttack(attack=HOSTILE)],
        [audit(planted=HOSTILE)],
        audience="internal",
        title=HOSTILE,
        tables=[BARS],
        accuracy=[Accuracy(model=HOSTILE, score=0.5, rows=10, measure=HOSTILE)],
        names=[HOSTILE, HOSTILE],
    )


def test_a_page_takes_no_place_of_another_file(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("of others")
    files = paid(tmp_path)
    with Ledger.open(files.ledger) as ledger:
        dossier = Dossier.of_files([files.release], ledger=ledger)
        before = len(ledger.history())
        with pytest.raises(ParameterError, match="path must be a new file"):
            dossier.save(path)
        assert (path.read_text(), len(ledger.history())) == ("of others", before)
        dossier.save(path, overwrite=True)
        dossier.save(path)
    assert path.read_text().startswith("<!doctype html>")


def test_what_could_not_be_read_back_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are counted, and not its letters; so are the values of its record."""
    dossier = Dossier([counts(name="\u6f22" * 500)], title="\u6f22" * 50)
    page = dossier.html()
    assert len(page.encode()) > len(page) + 1000
    monkeypatch.setattr("holdfast.dossier._page.MOST_PAGE_BYTES", len(page.encode()))
    assert dossier.html() == page
    monkeypatch.setattr("holdfast.dossier._page.MOST_PAGE_BYTES", len(page.encode()) - 1)
    with pytest.raises(ParameterError, match=r"could not be read back: it has .* bytes"):
        dossier.html()
    monkeypatch.undo()
    monkeypatch.setattr("holdfast.dossier._page._MOST_RECORD_PARTS", 100)
    with pytest.raises(ParameterError, match=r"could not be read back: .* at most 100 values"):
        dossier.html()


def test_hostile_names_stay_text() -> None:
    page = hostile().html()
    assert page.count("<script") == 2  # the record and our own script
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "49" not in re.findall(r"\{\{.*?\}\}", page)
    assert "{{7*7}}" in text_of(page)
    assert "\u202e" not in page  # what turns the writing round is spelled out
    assert "\\u202e" in text_of(page)
    assert record_of(page)["title"] == HOSTILE.replace("\u202e", "\\u202e")


def test_only_our_own_script_and_style_are_allowed() -> None:
    page = Dossier(counts()).html()
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0])
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, directive in (("<script>", "script-src"), ("<style>", "style-src")):
        (inside,) = re.findall(rf"{tag}(.*?)</{tag[1:]}", page, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert not re.search(r"\son\w+=", re.sub(r"<script.*?</script>", "", page, flags=re.S))
    assert not re.search(r'\sstyle="', page)


def test_the_page_asks_for_nothing_and_is_small() -> None:
    page = Dossier(model([f"column {k}" for k in range(100)]), audits=[audit()]).html()
    assert not re.findall(r"\ssrc=", page)
    assert not re.findall(r'href="(?!#)', page)  # every link stays on the page
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert len(page) < 250_000


def test_the_record_is_json_that_anyone_can_read() -> None:
    made = Dossier(counts(), audits=[audit()])
    (block,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', made.html(), flags=re.S)
    assert json.loads(block) == json.loads(json.dumps(made.to_json()))
    assert not set(block) & set("<>&")


def test_the_promise_is_in_peoples_terms() -> None:
    account = Account(PureDP(1.0))
    value = account.release(Laplace(scale=1.0, l1_sensitivity=1.0), [3])
    shown = text_of(Dossier(Release.of(account, value, method="one count")).html())
    assert "becomes at most 73.2 % sure , always" in shown
    gaussian = text_of(Dossier(counts()).html())
    assert "except one time in 1,000,000" in gaussian
    assert "54.8 % of the time" in gaussian


@pytest.mark.parametrize(
    ("attacks", "audits", "accuracy", "words"),
    [
        ([FakeAttack()], [], [], "attack results"),
        ([], [audit(coins="foreign")], [], "did not plant"),
        ([], [audit(planted="")], [], "did not plant"),
        ([], [], [Accuracy(model="m", score=0.5, rows=9)], "accuracy on real records"),
    ],
)
def test_the_public_edition_refuses_what_is_not_public(
    attacks: Any, audits: Any, accuracy: Any, words: str
) -> None:
    with pytest.raises(ParameterError, match=words):
        Dossier(counts(), attacks, audits, accuracy=accuracy)
    made = Dossier(counts(), attacks, audits, accuracy=accuracy, audience="internal").html()
    assert "must not be published" in text_of(made)


def test_the_editions_call_themselves_by_name() -> None:
    public, internal = (
        Dossier(counts(), audits=[audit()], audience=name).html() for name in ("public", "internal")
    )
    assert "must not be published" not in text_of(public)
    assert "in_median" not in public  # scores of canaries are for the owner
    assert "in_median" in internal
    for told in ('<body class="internal">', 'class="banner"', "@page internal", 'class="watermark"'):
        assert told in internal
    assert all("What was not tested" in text_of(page) for page in (public, internal))


def test_a_contradiction_is_red_and_counted() -> None:
    made = Dossier(counts(), audits=[audit(95)])
    assert len(made.contradictions) == 1
    assert 'role="alert"' in made.html()
    assert "CONTRADICTED" in text_of(made.html())
    assert "CONTRADICTION" in made.summary()
    fine = Dossier(counts(), audits=[audit(57)])
    assert fine.contradictions == ()
    assert "CONTRADICTED" not in text_of(fine.html())


@pytest.mark.parametrize(("state", "contradicts"), [("refuted", 1), ("warning", 0), ("consistent", 0)])
def test_an_attack_contradicts_only_by_its_own_verdict(state: str, contradicts: int) -> None:
    made = Dossier(counts(), [FakeAttack(state=state)], audience="internal")
    assert len(made.contradictions) == contradicts
    assert made.to_json()["tried"][0]["state"] == state


def test_an_audit_of_other_neighbours_is_not_compared() -> None:
    other = audit(95)
    object.__setattr__(other, "adjacency", type(other.adjacency).add_remove)
    made = Dossier(counts(), audits=[other])
    assert made.to_json()["tried"][0]["state"] == "not comparable"
    assert made.contradictions == ()


def test_seeded_noise_and_assumptions_are_in_red() -> None:
    with pytest.warns(NotPrivateWarning):
        seeded = counts(seed=1)
    assert "NOT PRIVATE" in text_of(Dossier(seeded).html())
    assert "NOT PRIVATE" not in text_of(Dossier(counts()).html())
    public = Assumption(kind="labels", text="the labels are public")
    assert "the labels are public" in text_of(Dossier(counts(assumptions=[public])).html())


def test_the_ledger_signs(tmp_path: Path) -> None:
    there = paid(tmp_path)
    with Ledger.open(there.ledger, read_only=True) as ledger:
        page = Dossier.of_files([there.release], ledger=ledger, title="Visits").save(
            tmp_path / "d" / "page.html"
        )
    shown = text_of(page.read_text(encoding="utf-8"))
    for words in ("R. Officer", "M. Head", "visits by month", "yearly report", "Limit ApproxDP(epsilon=2"):
        assert words in shown
    assert (
        "holdfast verify dossier.html --release table.holdfast --ledger ledger.db --public-key officer.pub"
        in shown
    )
    with Ledger.create(tmp_path / "other.db") as other, pytest.raises(ParameterError, match="paid for"):
        Dossier.of_files([there.release], ledger=other).to_json()
    with pytest.raises(ParameterError, match="another one"):
        with Ledger.open(there.ledger, read_only=True) as ledger:
            Dossier(counts(), ledger=ledger).to_json()


def test_the_seal_covers_every_letter() -> None:
    page = Dossier(counts(), title="Ünïcode").html()
    assert written_seal(page) == seal_of(page)
    for place in np.linspace(0, len(page) - 1, 40).astype(int):
        edited = page[:place] + ("x" if page[place] != "x" else "y") + page[place + 1 :]
        try:
            assert written_seal(edited) != seal_of(edited)
        except FormatError:
            continue  # the edit hit the seal itself


def test_the_page_is_a_function_of_its_record() -> None:
    from holdfast.dossier._page import render
    from holdfast.dossier._record import Record

    made = hostile()
    assert render(Record.from_json(json.loads(json.dumps(made.to_json())))) == made.html()


@pytest.mark.parametrize(
    "more",
    [
        {"audience": "everyone"},
        {"confidence": 1.0},
        {"names": ["a", "b"]},
        {"digests": []},
    ],
)
def test_bad_settings_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Dossier(counts(), **more)
    with pytest.raises(ParameterError):
        Dossier([])
