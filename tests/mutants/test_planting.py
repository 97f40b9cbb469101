"""Faults are found by name, wherever their room keeps them, and planted without regard to layout."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.__main__ import main
from tests.mutants.copies import ROOT, SOURCES
from tests.mutants.fault import Fault
from tests.mutants.faults import FAULTS
from tests.mutants.planting import CannotPlant, find, plant, replace_text

GAUSSIAN = '''\
"""A module."""

import functools

STEP = 2.0**-20
LOW, HIGH = 1, 2


class Gaussian:
    """A law."""

    width: float = 1.0

    class Grid:
        def step(self) -> float:
            return STEP

    @functools.cache
    def sample(self, sigma: float) -> float:
        STEP = 3
        if sigma > 0:
            noisy = sigma * (1 + self.width)
            return noisy
        return STEP


def outer() -> int:
    def inner() -> int:
        return 7

    return inner()


try:
    limit = 1
except ImportError:
    limit = 2
'''

KERNEL = """\
static int ready(const state *s);

static int close_batch(state *s)
{
    if (s->rows) {
        return s->batch;
    }
    return ready(s);
}

Datum
ready(const state *s)
{
    return s->batch;
}
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Two rooms and a module that stands alone."""
    files = {
        "privacy/laws/gaussian.py": GAUSSIAN,
        "privacy/twice.py": "def same() -> int:\n    return 1\n",
        "privacy/laws/again.py": "def same() -> int:\n    return 2\n",
        "kernel/sgd.c": KERNEL,
        "alone.py": "ONE = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def fault(target: str, old: str, new: str) -> Fault:
    return Fault(name="a fault", target=target, old=old, new=new, tests=())


class TestFind:
    @pytest.mark.parametrize(
        ("target", "first", "last"),
        [
            ("privacy:STEP", "STEP = 2.0**-20", "STEP = 2.0**-20"),
            ("privacy:HIGH", "LOW, HIGH = 1, 2", "LOW, HIGH = 1, 2"),
            ("privacy:Gaussian", "class Gaussian:", "        return STEP"),
            ("privacy:Gaussian.width", "    width: float = 1.0", "    width: float = 1.0"),
            ("privacy:Gaussian.Grid.step", "        def step(self) -> float:", "            return STEP"),
            ("privacy:Gaussian.sample", "    @functools.cache", "        return STEP"),
            ("privacy:outer.inner", "    def inner() -> int:", "        return 7"),
            ("privacy/laws:outer", "def outer() -> int:", "    return inner()"),
            ("privacy/laws/gaussian:outer", "def outer() -> int:", "    return inner()"),
            ("kernel:close_batch", "static int close_batch(state *s)", "}"),
            ("kernel:ready", "ready(const state *s)", "}"),
            ("alone:ONE", "ONE = 1", "ONE = 1"),
        ],
    )
    def test_an_object_is_the_whole_of_its_lines(
        self, sources: Path, target: str, first: str, last: str
    ) -> None:
        found = find(target, sources)
        lines = (sources / found.file).read_text()[found.start : found.end].strip("\n").split("\n")
        assert (lines[0], lines[-1]) == (first, last)

    @pytest.mark.parametrize(
        "target",
        ["privacy:Laplace", "privacy:sample", "privacy:Gaussian.sample.noisy", "kernel:STEP", "nowhere:STEP"],
    )
    def test_a_missing_name(self, sources: Path, target: str) -> None:
        with pytest.raises(CannotPlant, match="no file of"):
            find(target, sources)

    @pytest.mark.parametrize("target", ["", "privacy", "privacy:", ":STEP"])
    def test_no_target(self, sources: Path, target: str) -> None:
        with pytest.raises(CannotPlant, match="is not a room, a colon and a name"):
            find(target, sources)

    def test_a_name_of_two_files_needs_a_narrower_room(self, sources: Path) -> None:
        with pytest.raises(CannotPlant, match=r"same is defined 2 times .*again\.py.*twice\.py"):
            find("privacy:same", sources)
        assert find("privacy/twice:same", sources).file == Path("privacy/twice.py")
        assert find("privacy/laws:same", sources).file == Path("privacy/laws/again.py")

    def test_folders_between_do_not_count(self, sources: Path) -> None:
        assert find("privacy/again:same", sources).file == Path("privacy/laws/again.py")

    def test_a_name_defined_twice_in_a_file(self, sources: Path) -> None:
        with pytest.raises(CannotPlant, match="limit is defined 2 times"):
            find("privacy:limit", sources)


class TestChanged:
    @pytest.mark.parametrize(
        "source",
        [
            "y = f(a, b) * 2",
            "y = f(a,b)*2",
            "y = f(\n    a,\n    b,\n) * 2",
            "y = (\n    f(a, b)\n    * 2\n)",
        ],
    )
    def test_layout_does_not_count(self, source: str) -> None:
        made = replace_text(source, "f(a, b) * 2", "0")
        assert made.replace("\n", "").replace(" ", "") in ("y=0", "y=(0)")

    def test_words_are_whole(self) -> None:
        assert replace_text("safe_side = safe + unsafe", "safe", "0") == "safe_side = 0 + unsafe"
        with pytest.raises(CannotPlant, match="occurs 0 times"):
            replace_text("return notx", "not x", "x")

    @pytest.mark.parametrize(("old", "times"), [("c", 0), ("a", 2), ("a + a + a", 0)])
    def test_the_text_must_occur_once(self, old: str, times: int) -> None:
        with pytest.raises(CannotPlant, match=f"occurs {times} times, not once"):
            replace_text("a + a", old, "0")

    def test_texts_that_overlap_are_two(self) -> None:
        with pytest.raises(CannotPlant, match="occurs 2 times"):
            replace_text("a + a + a", "a + a", "0")

    @pytest.mark.parametrize(("old", "new"), [("", "a"), ("a + b", "a+b"), ("f(a)", "f(a,)")])
    def test_a_change_of_nothing_is_refused(self, old: str, new: str) -> None:
        with pytest.raises(CannotPlant, match="changes nothing"):
            replace_text("a + b, f(a)", old, new)

    def test_further_lines_keep_the_indentation(self) -> None:
        source = "    def g(self):\n        a = 1\n        return a\n"
        made = replace_text(source, "return a", "if a:\n    b()\n\nreturn a")
        expected = "        if a:\n            b()\n\n        return a\n"
        assert made == "    def g(self):\n        a = 1\n" + expected

    def test_text_inside_a_string(self) -> None:
        assert (
            replace_text('f"x <= {n.rows}"', "x <= {n.rows}", "x <= {n.rows + 1}") == 'f"x <= {n.rows + 1}"'
        )


class TestPlant:
    def test_only_the_named_object_changes(self, sources: Path) -> None:
        made = plant(fault("privacy:Gaussian.sample", "return STEP", "return 0"), sources)
        assert made.before == GAUSSIAN
        assert made.after == "        return 0\n\n\ndef outer".join(
            GAUSSIAN.split("        return STEP\n\n\ndef outer")
        )
        assert (sources / made.file).read_text() == GAUSSIAN

    def test_a_class_holds_its_methods(self, sources: Path) -> None:
        with pytest.raises(CannotPlant, match=r"privacy:Gaussian \(.*gaussian\.py\): .* occurs 2 times"):
            plant(fault("privacy:Gaussian", "return STEP", "return 0"), sources)

    def test_a_constant(self, sources: Path) -> None:
        made = plant(fault("privacy:STEP", "2.0**-20", "1.0"), sources)
        assert made.after == GAUSSIAN.replace("STEP = 2.0**-20", "STEP = 1.0")

    def test_a_decorator_belongs_to_its_function(self, sources: Path) -> None:
        made = plant(fault("privacy:Gaussian.sample", "@functools.cache", ""), sources)
        assert "functools.cache" not in made.after

    def test_a_function_in_c(self, sources: Path) -> None:
        made = plant(fault("kernel:ready", "s->batch", "s->rows"), sources)
        assert (
            made.after
            == KERNEL[: KERNEL.index("Datum")] + "Datum\nready(const state *s)\n{\n    return s->rows;\n}\n"
        )

    def test_what_does_not_compile_is_refused(self, sources: Path) -> None:
        with pytest.raises(CannotPlant, match=r"privacy:Gaussian\.sample .*syntax"):
            plant(fault("privacy:Gaussian.sample", "return noisy", "return return"), sources)

    def test_what_only_breaks_a_name_is_refused(self, sources: Path) -> None:
        with pytest.raises(
            CannotPlant, match=r"privacy:Gaussian\.sample .*uses noisier, which the file does not"
        ):
            plant(fault("privacy:Gaussian.sample", "return noisy", "return noisier"), sources)

    def test_a_move_within_the_room_does_not_matter(self, sources: Path, tmp_path: Path) -> None:
        change = fault("privacy:outer.inner", "7", "8")
        there = plant(change, sources)
        moved = tmp_path / "moved"
        (moved / "privacy").mkdir(parents=True)
        (moved / "privacy" / "elsewhere.py").write_text("# moved\n" + GAUSSIAN)
        assert plant(change, moved).after == "# moved\n" + there.after


class TestFaults:
    @pytest.mark.deep  # tests/mutants/test_faults.py plants them, too
    def test_every_fault_can_be_planted(self, capsys: pytest.CaptureFixture[str]) -> None:
        code = main(["--plant-only"])
        assert code == 0, capsys.readouterr().out

    def test_no_fault_reads_a_name_that_is_not_defined(self, tmp_path: Path) -> None:
        """Such a fault is killed by any test that runs the line, whatever the test asserts."""
        for number, fault in enumerate(FAULTS):
            planted = plant(fault, ROOT / SOURCES)
            if planted.file.suffix == ".py":
                (tmp_path / f"{number}.py").write_text(planted.after, encoding="utf-8")
        ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "--quiet"]
        check = subprocess.run(
            [*ruff, "--output-format", "json", str(tmp_path)], capture_output=True, check=False
        )
        undefined = [
            (FAULTS[int(Path(entry["filename"]).stem)].name, entry["message"])
            for entry in json.loads(check.stdout)
        ]
        assert not undefined

    def test_names_are_different(self) -> None:
        assert len({each.name for each in FAULTS}) == len(FAULTS)

    def test_their_tests_exist(self) -> None:
        root = Path(__file__).resolve().parents[2]
        for test in {test for fault in FAULTS for test in fault.tests}:
            file, *names = test.partition("[")[0].split("::")
            text = (root / file).read_text()
            assert all(f"def {name}(" in text or f"class {name}" in text for name in names), test

    def test_one_that_cannot_be_planted_is_told(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tests.mutants.__main__.FAULTS", (fault("privacy:Nothing", "a", "b"),))
        assert main(["--plant-only"]) == 1
        said = capsys.readouterr().out
        assert "cannot plant 'a fault': privacy:Nothing: no file of privacy defines Nothing" in said
        assert "0/1 can be planted" in said
