"""Finding E8: a ledger appears whole or not at all, whoever else starts one at the same place."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.errors import LedgerError, ParameterError
from holdfast.ledger import Dataset, Ledger
from holdfast.ledger import _store as store
from holdfast.privacy import PureDP


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "wrong",
    [
        ("--epsilon", "-1"),
        ("--epsilon", "nan"),
        ("--delta", "1"),
        ("--dataset", ""),
        ("--dataset", "a\nb"),
        ("--approver", "x" * 1001),
        ("--purpose", "a\tb"),
        ("--currency", "pure", "--delta", "1e-6"),
        ("--currency", "renyi", "--delta", "0"),
        ("--max-rows", "0"),
        ("--max-rows", "5"),
    ],
)
def test_a_bad_option_leaves_no_file(tmp_path: Path, wrong: tuple[str, ...]) -> None:
    path = tmp_path / "l.db"
    given = ["--dataset", "clinic", "--epsilon", "1", *wrong]
    shown = CliRunner().invoke(app, ["ledger", "init", str(path), *given])
    assert shown.exit_code == 2, shown.output
    assert names(tmp_path) == []


def test_a_failure_between_ledger_and_dataset_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "name_new", interrupted)
    shown = CliRunner().invoke(
        app, ["ledger", "init", str(tmp_path / "l.db"), "--dataset", "d", "--epsilon", "1"]
    )
    assert shown.exit_code == 130
    assert names(tmp_path) == []


def test_datasets_are_there_when_the_file_is(tmp_path: Path) -> None:
    declared = [Dataset.declare(name, limit=PureDP(1.0)) for name in ("a", "b")]
    with Ledger.create(tmp_path / "l.db", datasets=declared) as ledger:
        assert [entry.kind for entry in ledger.history()] == ["ledger", "dataset", "dataset"]
        assert ledger.dataset("b").limit == PureDP(1.0)
        assert ledger.verify().ok
    with pytest.raises(ParameterError):
        Dataset.declare("", limit=PureDP(1.0))
    assert stat.S_IMODE((tmp_path / "l.db").stat().st_mode) == 0o600


def test_whoever_comes_second_opens_what_the_first_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, begin = tmp_path / "l.db", store._begin
    first: list[str] = []

    def slowly(made: Path, entries: Any) -> None:
        begin(made, entries)
        assert first or not path.exists()  # half a ledger is never seen
        if not first:
            first.append("")
            first[0] = Ledger.create(path).id  # another process was quicker

    monkeypatch.setattr(store, "_begin", slowly)
    assert Ledger.open_or_create(path).id == first[0]
    with pytest.raises(LedgerError, match="already"):
        Ledger.create(path)
    assert names(tmp_path) == ["l.db"]


def test_a_disk_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    assert Ledger.open_or_create(tmp_path / "l.db").verify().ok
    with pytest.raises(LedgerError, match="already"):
        Ledger.create(tmp_path / "l.db")
    assert names(tmp_path) == ["l.db"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_eight_processes_start_one_ledger(tmp_path: Path) -> None:
    for turn in range(5):
        path, (ready, report) = tmp_path / f"{turn}.db", os.pipe()
        go, start = os.pipe()
        children = []
        for _ in range(8):
            child = os.fork()
            if child == 0:
                said = "failed"
                try:
                    os.close(start)
                    os.read(go, 1)  # ends when all are there
                    said = Ledger.open_or_create(path).id
                except BaseException as error:
                    said = repr(error)
                finally:
                    os.write(report, (json.dumps(said) + "\n").encode())
                    os._exit(0)
            children.append(child)
        os.close(go)
        os.close(start)
        for child in children:
            os.waitpid(child, 0)
        os.close(report)
        with os.fdopen(ready) as lines:
            assert {json.loads(line) for line in lines} == {Ledger.open(path).id}
