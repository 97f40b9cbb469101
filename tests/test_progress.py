"""Progress: seen on a terminal, silent in a pipe, gone afterwards, and never a reason to fail."""

from __future__ import annotations

import io
import itertools
import os
import subprocess
import sys
import threading

import pytest

from holdfast._progress import Progress, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def left(self) -> str:
        """What is to be read on the line at the end."""
        return self.getvalue().rsplit("\r", 1)[-1]


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


@pytest.fixture
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock is a second later."""
    seconds = itertools.count()
    monkeypatch.setattr("tqdm.std.time", lambda: float(next(seconds)))


def _run(stream: io.StringIO, steps: int = 4) -> int:
    """How many steps were worked through, by hand and over an iterable."""
    with progress(desc="fitting", total=steps, file=stream) as bar:
        for _ in range(steps):
            bar.update()
    return len(list(progress(range(steps), desc="counting", file=stream)))


@pytest.mark.usefixtures("_clock")
def test_a_terminal_shows_the_count_and_ends_with_an_empty_line() -> None:
    stream = Terminal()
    _run(stream)
    for what in ("fitting", "counting"):
        assert f"{what}: 100%" in stream.getvalue()
    assert "4/4" in stream.getvalue()
    assert stream.left() == ""


@pytest.mark.usefixtures("_clock")
def test_a_pipe_stays_empty() -> None:
    stream = io.StringIO()
    assert _run(stream) == 4
    assert stream.getvalue() == ""


def test_short_work_shows_nothing() -> None:
    stream = Terminal()
    _run(stream)
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_clock")
def test_a_terminal_that_is_gone_stops_no_work() -> None:
    assert _run(Gone()) == 4


@pytest.mark.usefixtures("_clock")
def test_the_line_is_erased_when_the_work_fails() -> None:
    stream = Terminal()

    def work() -> None:
        with progress(desc="fitting", total=4, file=stream) as bar:
            bar.update()
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert "fitting" in stream.getvalue()
    assert stream.left() == ""


def test_an_empty_piece_of_work_is_complete() -> None:
    assert _run(Terminal(), steps=0) == 0


@pytest.mark.usefixtures("_clock")
def test_a_bar_is_drawn_on_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    assert list(progress(range(1, 5), desc="fitting")) == [1, 2, 3, 4]
    assert "4/4" in stream.getvalue()
    assert stream.left() == ""


LOOP = """
import itertools, {before}, tqdm.std
from holdfast._progress import Progress, progress
tqdm.std.time = itertools.count().__next__
print(Progress.__mro__[1].__module__, len(list(progress(range(4)))))
"""


def _alone(script: str, **environment: str) -> str:
    """What the script prints, with every warning an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_no_standard_error_at_all_is_silence() -> None:
    closed = f"import os, sys; os.close(2); os.execv(sys.executable, [sys.executable, '-c', {LOOP!r}])"
    assert _alone(closed.replace("{before}", "sys")).endswith("4\n")


def test_a_notebook_without_widgets_draws_nothing_and_warns_of_nothing() -> None:
    notebook = "sys; sys.modules.update({'ipykernel.zmqshell': sys, 'IPython': __import__('types')"
    shell = ".SimpleNamespace(get_ipython=lambda: None), 'ipywidgets': None}); import sys"
    assert _alone(LOOP.format(before=notebook + shell)) == "tqdm.asyncio 4\n"


def test_the_switch_of_tqdm_turns_it_off() -> None:
    script = "from holdfast._progress import progress; print(progress.keywords['disable'])"
    assert _alone(script, TQDM_DISABLE="1") == "True\n"
    assert _alone(script, TQDM_DISABLE="") == "None\n"


def test_a_bar_leaves_threads_and_processes_alone() -> None:
    before = threading.active_count()
    _run(Terminal())
    assert threading.active_count() == before
    assert Progress.monitor is None
    script = (
        "import multiprocessing as m; from holdfast._progress import progress\n"
        "list(progress(range(3), desc='fitting')); print(m.get_start_method(allow_none=True))"
    )
    assert _alone(script) == "None\n"
