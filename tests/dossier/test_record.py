"""The record reads and writes itself: what a page embeds comes back, to the byte, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.dossier import Accuracy, Bars, Dossier
from holdfast.dossier._page import record_of, script_json
from holdfast.dossier._record import FORMAT, Record
from holdfast.dossier._utility import ModelUtility
from holdfast.errors import FormatError
from tests.dossier.dossier_samples import audit, counts, model
from tests.golden import stored_files


@pytest.mark.parametrize("name", stored_files.PAGES)
def test_stored_records_are_read_whole(name: str) -> None:
    written = record_of((stored_files.FOLDER / name).read_text(encoding="utf-8"))
    record = Record.from_json(written)
    assert record.to_json() == written
    assert any(isinstance(one.utility, ModelUtility) for one in record.releases)


@pytest.mark.parametrize("name", ["holdfast-dossier/0", "holdfast-dossier/2", "holdfast-dossier/3", ""])
def test_a_record_of_another_format_is_refused_by_its_name(name: str) -> None:
    record = Dossier(counts()).to_json()
    with pytest.raises(FormatError, match=f"the format '{name}', this holdfast reads {FORMAT}"):
        Record.from_json(record | {"format": name})


def test_a_record_is_embedded_and_comes_back_to_the_byte() -> None:
    page = Dossier([model(), counts()], audits=[audit()]).html()
    assert script_json(Record.from_json(record_of(page))) in page


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


def test_an_accuracy_may_leave_out_its_measure() -> None:
    assert Accuracy.from_json({"model": "m", "score": 0.5, "rows": 3}).measure == "accuracy"
    wrongs: tuple[Any, ...] = ({"model": "m"}, [], {"model": "m", "score": "high", "rows": 3})
    for wrong in wrongs:
        with pytest.raises(FormatError, match="a stored accuracy lacks a field"):
            Accuracy.from_json(wrong)


def test_a_stored_record_holds_nothing_unknown() -> None:
    written = record_of((stored_files.FOLDER / "public.html").read_text(encoding="utf-8"))
    with pytest.raises(FormatError):
        Record.from_json(written | {"certified": "by nobody"})
    written["payments"][0].pop("approver")
    with pytest.raises(FormatError):
        Record.from_json(written)
