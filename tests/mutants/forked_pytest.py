"""Runs pytest in forks of one process that has imported the libraries, but nothing of ours: a start costs little.

Its arguments are the libraries. Reads a JSON list of pytest's arguments from each line of its input, and answers with
exit code, output and the processor time that the fork took.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

import pytest


def main() -> None:
    """Serve until the input ends."""
    sys.path[0] = os.getcwd()  # as `python -m pytest` has it
    _load_plugins()
    for name in sys.argv[1:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # What is loaded stays: no fork looks through it for garbage, which pytest collects ten times at its end.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
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
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    gc.unfreeze()  # libraries that clean up at the end may now


def _load_plugins() -> None:
    """By a run of no tests: pytest wants to be the one that imports its plugins, and rewrites their assertions."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        (Path(folder) / "test_nothing.py").touch()
        pytest.main(["-p", "no:cacheprovider", "--noconftest", "-c", os.devnull, folder])


def run(arguments: list[str], output: int) -> None:
    """The tests, in a fork that never returns."""
    code = 3
    try:
        for stream in (1, 2):
            os.dup2(output, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        code = int(pytest.main(arguments))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
