"""What a move of the source must not change: facts of seeded results, and files that were stored before it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.data import open_table
from holdfast.ledger import Ledger
from holdfast.release import Release
from holdfast.synth import Synthesizer, Workload
from tests.golden import frozen, frozen_facts, stored_files
from tests.golden.frozen_common import clinic, clinic_schema

pytestmark = pytest.mark.slow  # what is loaded once is shared by all tests

KNOWN: dict[str, Any] = json.loads((stored_files.FOLDER / "shown.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy: reading a ledger leaves files beside it."""
    return Path(shutil.copytree(stored_files.FOLDER, tmp_path_factory.mktemp("frozen") / "stored"))


@pytest.fixture(scope="module")
def shown(folder: Path) -> dict[str, Any]:
    return stored_files.shown(folder)


@pytest.mark.parametrize("part", frozen.LAWS)
def test_what_states_a_law_is_as_it_was(part: str) -> None:
    found = list(frozen.differences(frozen.stored()[part], frozen.computed(part)))
    added = [line for line in found if line.endswith(" is new")]
    assert not found, "\n".join([*found[:40], *(["what is new is stored by: make lists"] if added else [])])


@pytest.mark.deep
@pytest.mark.parametrize("part", frozen.PARTS)
def test_seeded_results_repeat_to_the_last_bit(part: str) -> None:
    assert not list(frozen.differences(frozen.results(part), frozen.results(part), exact=True))


def test_facts_see_a_cheaper_charge_and_a_lost_refusal() -> None:
    fit = {"charges": [{"scale": 2.0}], "weights": [1.0]}
    kept = frozen_facts.facts("files", {"file/model": fit})["file/model"]
    assert kept == {"fields": ["charges", "weights"], "charges": [{"scale": 2.0}]}
    moved = {"charges": [{"scale": 1.9}], "weights": [7.0]}
    assert frozen_facts.facts("files", {"file/model": moved})["file/model"] != kept
    refused = frozen_facts.facts("files", {"file/model": "refused: ParameterError"})["file/model"]
    assert refused != frozen_facts.facts("files", {"file/model": "a text"})["file/model"]


def test_the_comparison_sees_numbers_texts_and_names() -> None:
    then = {"a": [1.0, 2], "b": "text"}
    assert not list(frozen.differences(then, {"a": [1.0 + 1e-12, 2], "b": "text"}))
    changed: list[dict[str, Any]] = [
        {"a": [1.0 + 1e-8, 2], "b": "text"},
        {"a": [1.0, 3], "b": "text"},
        {"a": [1.0, 2], "b": "texts"},
        {"a": [1.0, 2, 3], "b": "text"},
        {"a": [1.0, 2]},
        then | {"c": 1},
    ]
    assert all(len(list(frozen.differences(then, now))) == 1 for now in changed)


@pytest.mark.parametrize("name", KNOWN)
def test_stored_files_load_and_show_the_same(name: str, shown: dict[str, Any]) -> None:
    found = list(frozen.differences(KNOWN[name], shown[name]))
    assert not found, "\n".join(found)


def test_every_stored_file_is_looked_at() -> None:
    kinds = {".holdfast", ".db", ".html"}
    files = [path for path in stored_files.FOLDER.rglob("*") if path.suffix in kinds]
    assert {str(path.relative_to(stored_files.FOLDER)) for path in files} <= set(KNOWN)
    assert sum(path.stat().st_size for path in stored_files.FOLDER.rglob("*")) < 1_500_000


@pytest.mark.parametrize("page", stored_files.PAGES)
def test_stored_pages_verify(page: str) -> None:
    """Their record is checked in full, and the ledger closed them; only the version that drew them draws them again."""
    assert KNOWN[page]["verdict"] == "not judged"
    assert KNOWN[page]["judge"]
    assert not KNOWN[page]["problems"]
    assert not KNOWN[page]["skipped"]
    for section in ("releases", "promise", "picture", "payments", "budgets"):
        assert f"{section}: as its sources say" in KNOWN[page]["checked"]
    assert any("the page: the ledger closed it" in line for line in KNOWN[page]["checked"])


def test_the_stored_signature_and_head_verify(folder: Path) -> None:
    pytest.importorskip("cryptography")
    path = folder / "budget.db"
    told = stored_files.command("ledger", "verify", path, "--public-key", folder / "officer.pub")
    assert told
    with Ledger.open(path, read_only=True) as ledger:
        head = Release.load(folder / "model.holdfast").provenance.head
        assert ledger.verify(head=head, public_key=folder / "officer.pub").ok


def test_a_release_saved_again_has_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for path in folder.rglob("*.holdfast"):
        Release.load(path).save(tmp_path / "again.holdfast")
        assert (tmp_path / "again.holdfast").read_bytes() == path.read_bytes(), path.name


def test_schema_files_are_written_as_they_were(folder: Path, tmp_path: Path) -> None:
    for name in ("clinic.toml", "clinic.json"):
        clinic_schema().save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def charges(ledger: Ledger) -> int:
    """How often anything was charged; a release or a page that is made again is closed again, which costs nothing."""
    return sum(entry.kind == "charge" for entry in ledger.history())


def test_a_stored_key_resumes_without_paying_again(tmp_path: Path) -> None:
    place = Path(shutil.copytree(stored_files.FOLDER, tmp_path / "stored"))
    asked = Workload.of([("age", "stage"), ("stage", "ill"), ("age", "ill")])
    with Ledger.open(place / "budget.db") as ledger:
        spent, entries = repr(ledger.spent("clinic")), charges(ledger)
        account = ledger.account("clinic", name="rows")
        resumed = [
            Synthesizer(workload=asked, key="rows").fit(
                open_table(clinic(), clinic_schema()), account=account
            )
            for _ in range(2)
        ]
        # What was measured is kept by the ledger, to the last bit; rows are made of it by sums, equal on one machine.
        first, again = (synthesizer.release_.value for synthesizer in resumed)
        assert first["rows"].equals(again["rows"])
        then = Release.load(place / "rows.holdfast").value["measurements"]
        for now, known in zip(first["measurements"], then, strict=True):
            assert np.array_equal(now["values"], known["values"])
        assert repr(ledger.spent("clinic")) == spent
        assert charges(ledger) == entries


def test_a_stored_plan_is_done_and_runs_again_for_nothing(tmp_path: Path) -> None:
    place = Path(shutil.copytree(stored_files.FOLDER / "plan", tmp_path / "plan"))
    quote = json.loads(stored_files.command("run", place / "plan.toml", "--dry-run", "--json"))
    assert [step["state"] for step in quote["steps"]] == ["done"] * 4 + ["to do"]
    before = {
        name: (place / name).read_bytes() for name in ("model.holdfast", "rows.holdfast", "attack.json")
    }
    with Ledger.open(place / "budget.db", read_only=True) as ledger:
        spent, entries = repr(ledger.spent("clinic")), charges(ledger)
    stored_files.command("run", place / "plan.toml")
    assert before == {name: (place / name).read_bytes() for name in before}
    with Ledger.open(place / "budget.db", read_only=True) as ledger:
        assert (repr(ledger.spent("clinic")), charges(ledger)) == (spent, entries)
