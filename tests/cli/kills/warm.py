"""A process that has loaded everything and forks once for each command that it is told to run.

It reads a line of JSON for each: the folder, the words of the command, before which call it is to be killed (0: never),
and where its calls are written down. It answers with how the command ended and how many calls it made.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import sys
import tempfile
import traceback
from typing import Any


def load_everything() -> None:
    """Every command, and what commands import when they run; nothing that starts a thread."""
    import duckdb  # noqa: F401
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401
    import scipy.optimize
    import scipy.stats  # noqa: F401
    import sklearn.linear_model  # noqa: F401

    from holdfast._cli.app import COMMANDS, app
    from tests.cli.arguments import leaves

    assert COMMANDS
    leaves(app)
    for room in ("attack", "audit", "data", "dossier", "learn", "ledger", "plan", "release", "synth"):
        __import__(f"holdfast.{room}")


def run(job: dict[str, Any], shim: Any, calls: mmap.mmap) -> None:
    """In the child: the command, from its arguments to the end of Python."""
    os.chdir(job["folder"])
    os.environ["TMPDIR"] = tempfile.tempdir = job["temporary"]
    output = os.open(job["shown"], os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    sys.path.insert(0, job["folder"])
    sys.argv = ["holdfast", *job["words"]]
    journal = os.open(job["journal"], os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600) if job["journal"] else -1
    shim.arm(ctypes.addressof(ctypes.c_long.from_buffer(calls)), job["kill_before"], journal)
    from holdfast._cli.app import main

    main()


def serve() -> None:
    """Fork for every line."""
    load_everything()
    shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
    shim.arm.argtypes = (ctypes.c_void_p, ctypes.c_long, ctypes.c_int)
    del os.environ["LD_PRELOAD"]
    calls = mmap.mmap(-1, mmap.PAGESIZE)
    gc.freeze()
    lines, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for line in iter(lines.readline, ""):
        job = json.loads(line)
        calls[:8] = bytes(8)
        child = os.fork()
        if child == 0:
            try:
                run(job, shim, calls)
            except SystemExit:
                raise
            except BaseException:
                traceback.print_exc()
                os._exit(99)
            return
        _, status = os.waitpid(child, 0)
        count = int.from_bytes(calls[:8], sys.byteorder)
        answers.write(json.dumps({"code": os.waitstatus_to_exitcode(status), "calls": count}) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
