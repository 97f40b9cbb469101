"""The record reads and writes itself: what a page embeds comes back, to the byte, and nothing else is taken for one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.dossier import Accuracy, Bars, Dossier, verify_dossier
from holdfast.dossier._page import embedded, record_of, render
from holdfast.dossier._record import OLDER, Record
from holdfast.dossier._utility import ModelUtility
from holdfast.dossier._verification.sources import differences
from holdfast.errors import FormatError
from tests.dossier.dossier_samples import audit, counts, model
from tests.golden import dossier_v2, stored_files


@pytest.mark.parametrize("name", stored_files.PAGES)
def test_stored_records_of_older_formats_are_read_whole(name: str) -> None:
    written = record_of((stored_files.FOLDER / name).read_text(encoding="utf-8"))
    assert written["format"] in OLDER
    record = Record.from_json(written)
    # What came later is added; what was there is as it was.
    assert not [
        place for place in differences(written, record.to_json(), older=True) if "payments" not in place
    ]
    assert any(isinstance(one.utility, ModelUtility) for one in record.releases)


def test_a_page_of_the_former_format_is_read_and_never_called_ok(tmp_path: Path) -> None:
    """What came later is not missed; what is said in other words today is not called wrong, nor checked."""
    there = Path(shutil.copytree(dossier_v2.FOLDER, tmp_path / "v2"))
    found = verify_dossier(
        there / "page.html", releases=[there / "table.holdfast"], ledger=there / "ledger.db"
    )
    assert not found.problems
    assert found.verdict == "incomplete"
    assert any("utility" in line for line in found.skipped)
    # A forger who calls a page of today an old one gets no further.
    record = Dossier(counts(), audits=[audit()]).to_json() | {"format": "holdfast-dossier/2"}
    record["releases"][0]["utility"]["what"] = "something better"
    (tmp_path / "page.html").write_text(render(Record.from_json(record)), encoding="utf-8")
    counts().save(tmp_path / "r.holdfast")
    assert not verify_dossier(tmp_path / "page.html", releases=[tmp_path / "r.holdfast"]).ok


def test_a_record_is_embedded_and_comes_back_to_the_byte() -> None:
    page = Dossier([model(), counts()], audits=[audit()]).html()
    assert embedded(Record.from_json(record_of(page))) in page


def test_a_record_is_equal_after_reading() -> None:
    made = Dossier(
        [model(), counts()],
        audits=[audit()],
        audience="internal",
        tables=[Bars(title="t", labels=("a",), counts=(1.0,), error=2.0)],
        accuracy=[Accuracy(model="m", score=0.9, rows=3)],
    )
    assert Record.from_json(json.loads(json.dumps(made.to_json()))) == made.record


@pytest.mark.parametrize(
    "edit",
    [
        lambda record: record.pop("tried"),
        lambda record: record.pop("doubts"),
        lambda record: record.update(more=1),
        lambda record: record["promise"].update(more=1),
        lambda record: record["releases"][0]["provenance"].update(more=1),
        lambda record: record["promise"].update(guess="0.5"),
        lambda record: record["promise"].update(private=1),
        lambda record: record["promise"].update(points={}),
        lambda record: record["releases"][0]["utility"].update(kind="another"),
        lambda record: record.update(audience="everyone"),
        lambda record: record.update(promise=None),
    ],
)
def test_anything_else_is_no_record(edit: Callable[[dict[str, Any]], None]) -> None:
    record = Dossier(counts()).to_json()
    edit(record)
    with pytest.raises(FormatError):
        Record.from_json(record)


def test_an_accuracy_may_leave_out_its_measure(tmp_path: Path) -> None:
    assert Accuracy.from_json({"model": "m", "score": 0.5, "rows": 3}).measure == "accuracy"
    wrongs: tuple[Any, ...] = ({"model": "m"}, [], {"model": "m", "score": "high", "rows": 3})
    for wrong in wrongs:
        with pytest.raises(FormatError, match="a stored accuracy lacks a field"):
            Accuracy.from_json(wrong)


def test_an_older_record_holds_nothing_unknown() -> None:
    written = record_of((stored_files.FOLDER / "public.html").read_text(encoding="utf-8"))
    with pytest.raises(FormatError):
        Record.from_json(written | {"certified": "by nobody"})
    written["payments"][0].pop("approver")
    with pytest.raises(FormatError):
        Record.from_json(written)
