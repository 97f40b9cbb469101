"""Runs pytest in forks of processes that have imported what no fault of theirs can touch: a start costs little.

Its arguments are libraries, which are imported first. Each line of its input is JSON: pytest's arguments, the module
with the fault, and the modules of ours that lie below it. For each such list one process imports them and forks for
every line. It is answered with exit code, output and the processor time that the fork took.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

import pytest

LESS_OFTEN = 50_000
"""How many new objects Python looks through for garbage at once: a fork lives shortly, and mostly imports."""


def main() -> None:
    """Serve until the input ends."""
    sys.path[0] = os.getcwd()  # as `python -m pytest` has it
    _load_plugins()
    load(sys.argv[1:])
    stages: dict[str, Stage] = {}
    for line in sys.stdin:
        modules = json.loads(line)["modules"]
        stage = stages.setdefault(json.dumps(modules), Stage(modules))
        sys.stdout.write(stage.answer(line))
        sys.stdout.flush()
    for stage in stages.values():
        stage.close()
    for stage in stages.values():
        stage.wait()
    gc.unfreeze()  # libraries that clean up at the end may now


def load(names: Iterable[str]) -> None:
    """Import them, where they are installed. What is loaded stays: no fork looks through it for garbage."""
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


class Stage:
    """A process that has imported some modules and forks for every line; it starts when it is first asked."""

    def __init__(self, modules: list[str]) -> None:
        self._modules, self._child = modules, 0
        self._lines: TextIO | None = None
        self._answers: TextIO | None = None

    def answer(self, line: str) -> str:
        """What the process says to a line."""
        if self._lines is None or self._answers is None:
            self._start()
        assert self._lines is not None
        assert self._answers is not None
        self._lines.write(line)
        self._lines.flush()
        return self._answers.readline()

    def _start(self) -> None:
        (line_end, line_start), (answer_end, answer_start) = os.pipe(), os.pipe()
        self._child = os.fork()
        if self._child == 0:
            for end in (line_start, answer_end):
                os.close(end)
            load(self._modules)
            serve(os.fdopen(line_end), os.fdopen(answer_start, "w"))
            os._exit(0)
        for end in (line_end, answer_start):
            os.close(end)
        self._lines, self._answers = os.fdopen(line_start, "w"), os.fdopen(answer_end)

    def close(self) -> None:
        """Its input ends, and so will the process."""
        for stream in (self._lines, self._answers):
            if stream is not None:
                stream.close()

    def wait(self) -> None:
        """Until it has ended."""
        if self._child:
            os.waitpid(self._child, 0)


def serve(lines: TextIO, answers: TextIO) -> None:
    """A fork for every line."""
    for line in iter(lines.readline, ""):
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if child == 0:
                run(json.loads(line), said.fileno())
            _, status, used = os.wait4(child, 0)
            said.seek(0)
            text = said.read().decode(errors="replace")
        answer = {
            "code": os.waitstatus_to_exitcode(status),
            "said": text,
            "seconds": used.ru_utime + used.ru_stime,
        }
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _load_plugins() -> None:
    """By a run of no tests: pytest wants to be the one that imports its plugins, and rewrites their assertions."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        (Path(folder) / "test_nothing.py").touch()
        pytest.main(["-p", "no:cacheprovider", "--noconftest", "-c", os.devnull, folder])


def run(job: dict[str, Any], output: int) -> None:
    """The tests, in a fork that never returns; servers that they started end with it."""
    code = 3
    gc.set_threshold(LESS_OFTEN)
    try:
        for stream in (1, 2):
            os.dup2(output, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if job["module"] in sys.modules:
            raise RuntimeError(f"{job['module']} was imported before its fault was planted")
        code = int(pytest.main(job["arguments"]))
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
