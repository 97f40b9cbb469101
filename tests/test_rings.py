"""Which tests are slow, which are deep, and what a run cost: the marks and meters of the suite itself."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import pace, rings, room_costs
from tests.studies.size import deep

TESTS = """
class TestRoom:
    async def test_inside(self): ...

def test_here(): ...
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of tests and one of sources, and durations of its own."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_room.py").write_text(TESTS)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "room.py").write_text('"""Text."""\n\ndef length(): ...\n')
    monkeypatch.setattr(pace, "FILE", tmp_path / "durations.json")
    monkeypatch.setattr(pace, "missing", lambda tests: MISSING(tests, tmp_path))
    return tmp_path


MISSING = pace.missing
THERE = {
    "tests/test_room.py::test_here": 1.0,
    "tests/test_room.py::test_here[a::b-1.0]": 1.0,
    "tests/test_room.py::TestRoom::test_inside[x]": 1.0,
    "src/room.py::package.room.length": 1.0,
    "src/room.py::package.room": 1.0,
}
GONE = {
    "tests/test_room.py::test_her": 1.0,
    "tests/test_room.py::TestRooms::test_inside[x]": 1.0,
    "tests/test_hall.py::test_here": 1.0,
    "src/room.py::package.room.height": 1.0,
}


def test_durations_forget_tests_that_are_gone(tree: Path) -> None:
    pace.FILE.write_text(json.dumps(THERE | GONE))
    notebook = pace.Notebook()
    for spent in (0.5, 0.25):
        report: Any = SimpleNamespace(
            nodeid="tests/test_room.py::test_here", processor_seconds=spent, to_measure=True
        )
        notebook.pytest_runtest_logreport(report)
    notebook.pytest_sessionfinish()
    assert pace.stored() == THERE | {"tests/test_room.py::test_here": 0.75}


def test_what_is_called_slow_in_its_file_and_what_became_quick_is_not_remembered(tree: Path) -> None:
    pace.FILE.write_text(json.dumps(THERE))
    notebook = pace.Notebook()
    for name, measured in (("tests/test_room.py::test_here", False), ("src/room.py::package.room", True)):
        report: Any = SimpleNamespace(nodeid=name, processor_seconds=0.01, to_measure=measured)
        notebook.pytest_runtest_logreport(report)
    notebook.pytest_sessionfinish()
    assert set(pace.stored()) == set(THERE) - {"tests/test_room.py::test_here", "src/room.py::package.room"}


def test_every_test_that_is_remembered_is_there() -> None:
    gone = pace.missing(pace.stored())
    assert not gone, f"run: python -m tests.pace ({len(gone)} are gone: {', '.join(gone[:3])})"


def instances(**values: list[Any]) -> list[Any]:
    """What the choice reads of instances with these parameters."""
    (name, given), *_ = values.items()
    return [SimpleNamespace(callspec=SimpleNamespace(params={name: value})) for value in given]


@pytest.mark.parametrize(
    ("count", "all_of_them", "near"), [(1, 5, {0}), (2, 4, {0, 2}), (3, 7, {0, 2, 4}), (9, 3, {0, 1, 2})]
)
def test_a_share_by_number_is_evenly_apart(count: int, all_of_them: int, near: set[int]) -> None:
    assert rings.shared(instances(seed=list(range(all_of_them))), count) == near


def test_a_share_by_a_parameter_has_the_first_of_every_value() -> None:
    named = [SimpleNamespace(name=name) for name in ("one", "one", "two", "one", "three", "two")]
    assert rings.shared(instances(method=named), each="method") == {0, 2, 4}


@hypothesis.settings(max_examples=90)
@given(st.integers())
def drawn(number: int) -> None:
    """Nothing."""


def test_fewer_examples_are_drawn_outside_deep_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where hypothesis keeps the settings is not documented: if it keeps them elsewhere, this fails."""
    item: Any = SimpleNamespace(obj=drawn)
    calls: list[int] = []
    monkeypatch.setattr(drawn.hypothesis, "inner_test", lambda number: calls.append(number))  # type: ignore[attr-defined]
    monkeypatch.setenv("HOLDFAST_DEEP", "")
    rings.draw_fewer_examples([item, item])
    drawn()
    assert 10 < len(calls) <= 30


def test_deep_runs_draw_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_DEEP", "1")
    assert deep()

    @hypothesis.settings(max_examples=90)
    @given(st.integers())
    def example(number: int) -> None:
        """Nothing."""

    item: Any = SimpleNamespace(obj=example)
    rings.draw_fewer_examples([item])
    assert vars(example)["_hypothesis_internal_use_settings"].max_examples == 90


@pytest.mark.parametrize(
    ("test", "room"),
    [
        ("tests/learn/methods/test_output.py::test_it[a/b]", "tests/learn"),
        ("tests/test_tree.py::test_it", "tests (files)"),
        ("src/holdfast/errors.py::holdfast.errors", "src (doctests)"),
    ],
)
def test_rooms(test: str, room: str) -> None:
    assert room_costs.room_of(test) == room


def test_a_server_that_ends_during_a_test_is_none_of_its_costs() -> None:
    spent = iter([1.0, 5.0, 240.0, 241.0, 241.0])
    report = SimpleNamespace(when="teardown")
    item: Any = SimpleNamespace(user_properties=[])
    session: Any = SimpleNamespace(config=SimpleNamespace(workeroutput={}))
    # Taken back within the test: the run that it is part of measures it by the same clock.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room_costs, "processor_seconds", lambda: next(spent))
        patch.setattr(room_costs, "_ended", 0.0)
        patch.setattr(room_costs, "_children_now", lambda: 0.0)
        watch = room_costs.Stopwatch()
        watch.pytest_collection_finish()
        with room_costs.server_ends():
            """From 5 to 240 seconds."""
        reports = watch.pytest_runtest_makereport(item)
        next(reports)
        with pytest.raises(StopIteration):
            reports.send(report)  # type: ignore[arg-type]
        watch.pytest_sessionfinish(session)
    assert vars(report)[room_costs.SPENT] == 5.0
    assert session.config.workeroutput["spent"] == {room_costs.START: 1.0, room_costs.SERVERS: 235.0}


def test_the_bill_adds_up_tests_starts_and_servers() -> None:
    bill = room_costs.Bill()
    for when, spent in (("setup", 1.0), ("call", 2.0), ("teardown", 0.5)):
        report: Any = SimpleNamespace(
            nodeid="tests/learn/test_it.py::test_it", when=when, processor_seconds=spent
        )
        bill.pytest_runtest_logreport(report)
    for _ in range(2):
        worker = SimpleNamespace(workeroutput={"spent": {room_costs.START: 7.0, room_costs.SERVERS: 1.0}})
        bill.pytest_testnodedown(worker)
    assert bill.spent == {"tests/learn": 3.5, room_costs.START: 14.0, room_costs.SERVERS: 2.0}
    assert bill.tests["tests/learn"] == 1
