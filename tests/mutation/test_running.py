"""A few mutants of real code, from tracing to verdicts, and a run that goes on where it ended."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation import draw, readings, verdicts
from tests.mutation.__main__ import environment
from tests.mutation.mutant import Mutant
from tests.mutation.order import Order
from tests.mutation.paying import Traces
from tests.mutation.places import ROOT, SOURCES
from tests.mutation.readings import Reading
from tests.mutation.report import Report
from tests.mutation.tracing import Trace
from tests.mutation.verdicts import Verdict, Word

TESTS = "tests/noise/test_bernoulli.py"


def mutant(function: str, old: str, new: str, *, nth: int = 0) -> Mutant:
    return Mutant(
        file="noise/_bernoulli.py", function=function, operator="by hand", old=old, new=new, nth=nth, wider=""
    )


FEW = {
    0: mutant("LazyUniform.below", "approximate - 1", "approximate + 1"),
    1: mutant("last_integer", "1", "2"),  # the first step of a search that ends at the same place
    2: mutant("", "16", "17"),
    3: mutant("last_integer", "guess + 7", "guess"),
    4: mutant("last_integer", "high - low > 1", "True", nth=-1),
}
WORDS = {0: "killed", 1: "survived", 2: "fresh", 3: "gone", 4: "out of time"}


def plugged(plugin: str, *arguments: str) -> str:
    """Pytest with one of our plugins, over one file."""
    options = (
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:faulthandler",
        "-p",
        f"tests.mutation.{plugin}",
    )
    command = [sys.executable, "-m", "pytest", *options, *arguments, TESTS]
    run = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    assert run.returncode in (0, 5), run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces of one file of tests."""
    folder = tmp_path_factory.mktemp("traces")
    plugged("tracing", "--trace-into", str(folder / "trace0.pickle"))
    (folder / "traced").mkdir()
    shutil.copytree(ROOT / SOURCES / "noise", folder / "traced" / "holdfast" / "noise")
    return folder


def test_what_survives_and_what_does_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_MUTATION_GRACE", "0.2")
    stored, results = folder / "drawn.jsonl", folder / "verdicts.jsonl"
    draw.store(FEW, stored)
    options = ("--traces", str(folder), "--drawn", str(stored), "--verdicts", str(results))
    plugged("running", *options, "--last", "2")
    known = verdicts.stored(results)
    assert {number: verdict.word for number, verdict in known.items()} == {0: "killed", 1: "survived"}
    assert known[0].killer.startswith(TESTS)
    assert (known[1].killer, known[1].ran) == ("", known[1].covering)
    # It goes on with those that have no verdict, and then has nothing to do.
    plugged("running", *options)
    known = verdicts.stored(results)
    assert {number: verdict.word for number, verdict in known.items()} == WORDS
    assert len(results.read_text().splitlines()) == len(FEW)


def test_lines_that_pay_are_drawn_by_a_coin_of_each_mutant(folder: Path) -> None:
    traces = Traces.load(folder)
    assert traces.lines()["noise"] > 20
    assert {each.mutant.function for each in traces.candidates} >= {"", "bernoulli_exp", "LazyUniform.below"}
    many = dict(enumerate(draw.drawn(traces, range(6))))
    few = dict(enumerate(draw.drawn(traces, range(3))))
    assert {number: many[number] for number in few} == few
    assert len(set(many.values())) == 6
    assert all(traces.of(each) for each in many.values() if each.function)
    draw.store(many, folder / "again.jsonl")
    assert draw.stored(folder / "again.jsonl") == many


def test_what_killed_a_neighbour_comes_first() -> None:
    tests = {name: Trace(seconds=1.0, passed=True, lines={"noise/_bernoulli.py": 2}) for name in "abc"}
    order = Order(tests)
    order.learn(FEW[0], "b")
    assert order.sorted(FEW[4], tests)[0] == "b"


def verdict(number: int, word: Word) -> Verdict:
    return Verdict(number=number, word=word)


def test_a_report_counts_what_was_read() -> None:
    words: tuple[Word, ...] = ("killed", "survived", "killed", "survived", "gone")
    known = {number: verdict(number, word) for number, word in enumerate(words)}
    read = {
        1: Reading(number=1, kind="speed alone", proof="equivalent", why="the same limit of a search"),
        2: Reading(number=2, kind="a bound", proof="law", why="nobody looked", test="tests/test_it.py::test"),
    }
    report = Report(FEW, known, read)
    assert [report.state(number) for number in report.tried] == ["killed", "equivalent", "law", "unexplained"]
    assert report.unexplained == [3]
    assert "| noise | 4 | 1 | 1 | 1 | 0 | 1 |" in "\n".join(report.lines())
    assert "| speed alone | 1 | 1 | 0 | 0 |" in "\n".join(report.classes())
    assert report.summary().startswith("4 of 5 mutants were tried")


class TestCommitted:
    def test_every_verdict_and_reading_is_of_a_mutant_that_was_drawn(self) -> None:
        mutants, known, read = draw.stored(), verdicts.stored(), readings.stored()
        assert set(known) <= set(mutants)
        assert set(read) <= set(known)

    def test_a_law_is_there(self) -> None:
        for reading in readings.stored().values():
            file, *names = reading.test.partition("[")[0].split("::")
            assert reading.why
            if reading.proof == "law":
                text = (ROOT / file).read_text(encoding="utf-8")
                objects = [name.rpartition(".")[2] for name in names]  # an example is named after its object
                assert all(f"def {name}(" in text or f"class {name}" in text for name in objects), reading
