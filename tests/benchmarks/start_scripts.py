"""Start many scripts with `--help`, each in a fork of one process that has loaded the libraries once.

    python -m tests.benchmarks.start_scripts studies.benchmarks.kernel studies.reproductions.001_bolt_on ...

Prints one JSON object: for each script its exit code, what it printed and what it complained of. A script's own imports
happen in its fork, so that a wrong one fails there.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
import traceback
from importlib import import_module
from typing import Any


def started(script: str) -> dict[str, Any]:
    """What `python -m SCRIPT --help` says, here and now."""
    sys.argv = [script, "--help"]
    for package in filter(None, os.environ.get("HOLDFAST_TEST_WITHOUT", "").split(",")):
        sys.modules[package] = None  # type: ignore[assignment]  # as if it were not installed
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
    return {"code": code, "out": out.getvalue()[:2000], "err": err.getvalue()[-2000:]}


def forked(script: str) -> dict[str, Any]:
    """The same in a child, so that no script sees what another one loaded."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            json.dump(started(script), pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    found: dict[str, Any] = json.loads(told) if told else {"code": 1, "out": "", "err": "it died"}
    return found


LIBRARIES = (
    "matplotlib.pyplot",
    "pyarrow.parquet",
    "scipy.special",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "holdfast.attack._membership",
    "holdfast.audit._run",
    "holdfast.dossier._dossier",
    "holdfast.learn._estimators",
    "holdfast.synth._synthesizer",
)
"""What most scripts load, and what takes most of their time."""


def main() -> None:
    """Libraries first, then the scripts."""
    for library in LIBRARIES:
        import_module(library)
    json.dump({script: forked(script) for script in sys.argv[1:]}, sys.stdout)


if __name__ == "__main__":
    main()
