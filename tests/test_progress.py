"""Progress: seen on a terminal, silent in a pipe, gone afterwards, and never a reason to fail."""

from __future__ import annotations

import io
import itertools

import pytest

from holdfast.errors import ParameterError
from holdfast.progress import ERASE, Bar, counted, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise OSError("gone")


@pytest.fixture
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock is a second later."""
    seconds = itertools.count()
    monkeypatch.setattr("holdfast.progress.time.monotonic", lambda: float(next(seconds)))


def _run(stream: io.StringIO, steps: int = 4) -> Bar:
    with progress("fitting", total=steps, stream=stream) as bar:
        for _ in range(steps):
            bar.step()
    return bar


@pytest.mark.usefixtures("_clock")
def test_a_terminal_shows_the_count_and_ends_with_an_empty_line() -> None:
    stream = Terminal()
    _run(stream)
    assert "fitting [" in stream.getvalue()
    assert "4/4" in stream.getvalue()
    assert stream.getvalue().endswith(ERASE)


@pytest.mark.usefixtures("_clock")
def test_a_pipe_stays_empty() -> None:
    stream = io.StringIO()
    assert _run(stream).done == 4
    assert stream.getvalue() == ""


def test_short_work_shows_nothing() -> None:
    stream = Terminal()
    _run(stream)
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_clock")
def test_a_terminal_that_is_gone_stops_no_work() -> None:
    assert _run(Gone()).done == 4


@pytest.mark.usefixtures("_clock")
def test_the_line_is_erased_when_the_work_fails() -> None:
    stream = Terminal()

    def work() -> None:
        with progress("fitting", total=4, stream=stream) as bar:
            bar.step()
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert stream.getvalue().endswith(ERASE)


def test_no_standard_error_at_all_is_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with progress("fitting", total=1) as bar:
        bar.step()
    assert bar.done == 1


def test_a_negative_total_is_refused() -> None:
    with pytest.raises(ParameterError, match="total"):
        Bar(what="fitting", total=-1)


def test_an_empty_piece_of_work_is_complete() -> None:
    assert "100 %" in Bar(what="fitting", total=0).line()


@pytest.mark.usefixtures("_clock")
def test_counted_work_is_drawn_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    assert list(counted("fitting", 4)) == [0, 1, 2, 3]
    assert "4/4" in stream.getvalue()
    assert stream.getvalue().endswith(ERASE)
