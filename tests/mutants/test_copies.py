"""Faults are tried in a copy, which is as before after each; a survivor ends the run with 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.__main__ import main
from tests.mutants.copies import Copy
from tests.mutants.fault import Fault
from tests.mutants.planting import plant

pytestmark = pytest.mark.slow

SOURCE = "def one() -> int:\n    return 1\n"
TESTS = {
    "test_value.py": "import holdfast.room\n\ndef test_it():\n    assert holdfast.room.one() == 1\n",
    "test_kind.py": "import holdfast.room\n\ndef test_it():\n    assert isinstance(holdfast.room.one(), int)\n",
}
SEEN = Fault("seen", "room:one", "1", "2", ("tests/test_value.py",))
UNSEEN = Fault("unseen", "room:one", "1", "2", ("tests/test_kind.py",))
LOST = Fault("lost", "room:one", "1", "2", ("tests/test_nowhere.py",))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package of the same name, in place of ours."""
    root = tmp_path / "tree"
    files = {
        "src/holdfast/__init__.py": "",
        "src/holdfast/room.py": SOURCE,
        "studies/reproductions/__init__.py": "",
    }
    files["pyproject.toml"] = '[tool.pytest.ini_options]\naddopts = "-ra"\n'
    for name, text in (files | {f"tests/{name}": text for name, text in TESTS.items()}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr("tests.mutants.copies.ROOT", root)
    monkeypatch.setattr("tests.mutants.copies.LIBRARIES", ())
    monkeypatch.setattr("tests.mutants.__main__.ROOT", root)
    return root


def test_a_copy_is_restored_and_a_change_of_the_same_size_is_never_overlooked(
    tree: Path, tmp_path: Path
) -> None:
    copy = Copy.made(tmp_path / "copy")
    planted = plant(SEEN, copy.sources)
    outcome = copy.tried(planted, SEEN.tests)
    assert (outcome.killed, outcome.killer) == (True, "tests/test_value.py::test_it")
    assert (copy.sources / "room.py").read_text() == SOURCE
    assert (tree / "src" / "holdfast" / "room.py").read_text() == SOURCE
    outcome = copy.tried(planted, UNSEEN.tests)
    assert (outcome.code, outcome.killer) == (0, "")
    assert copy.tried(planted, SEEN.tests).killed


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("faults", "code", "told"),
    [
        ((SEEN, UNSEEN), 1, "SURVIVED  unseen\nmutants: 1/2 killed"),
        ((SEEN,), 0, "1/1 killed"),
        ((LOST,), 1, "file or directory not found"),
        ((Fault("none", "room:two", "1", "2", ()), SEEN), 1, "UNPLANTED  none\nmutants: 1/2 killed"),
    ],
    ids=["survived", "killed", "no test ran", "not planted"],
)
def test_the_run_ends_with_1_unless_all_are_killed(
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    faults: tuple[Fault, ...],
    code: int,
    told: str,
) -> None:
    monkeypatch.setattr("tests.mutants.__main__.FAULTS", faults)
    assert main([]) == code
    assert told in capsys.readouterr().out


def test_a_word_that_no_name_contains(tree: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["no such fault"])
