"""A process that has loaded everything and forks once for each command that it is told to run.

It reads a line of JSON for each: the folder, the words of the command, which signal it gets before which call (0: none)
and where its calls are written down. It answers with how the command ended and how many calls it made.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import mmap
import os
import sys
import tempfile
import traceback
from functools import partial
from importlib import import_module
from typing import Any

LOADED = (
    "duckdb",
    "matplotlib.figure",
    "pyarrow.csv",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.linear_model",
)


def load_everything() -> None:
    """Every command, and what commands import when they run; nothing that starts a thread."""
    from tests.cli.arguments import leaves

    leaves()
    rooms = ("_demo", "attack", "audit", "data", "dossier", "learn", "ledger", "plan", "release", "synth")
    for name in (*LOADED, *(f"holdfast.{room}" for room in rooms)):
        import_module(name)


def small_demo() -> None:
    """The demo on a few columns and people, with an audit of a few runs."""
    import holdfast._demo as demo

    vars(demo)["run_demo"] = partial(
        demo.run_demo, columns=("sex", "income"), method="independent", count=40, runs=64
    )


def run(job: dict[str, Any], shim: Any, calls: mmap.mmap) -> None:
    """In the child: the command, from its arguments to what is done at exit."""
    code = 0
    os.chdir(job["folder"])
    os.environ["TMPDIR"] = tempfile.tempdir = job["temporary"]
    shown = os.open(job["shown"], os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    for number, handle in enumerate((os.open(os.devnull, os.O_RDONLY), shown, shown)):
        os.dup2(handle, number)
    sys.path.insert(0, job["folder"])
    sys.argv = ["holdfast", *job["words"]]
    if job["words"][0] == "demo":
        small_demo()
    from holdfast._cli.app import main

    journal = os.open(job["journal"], os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    shared = ctypes.addressof(ctypes.c_long.from_buffer(calls))
    shim.arm(shared, job["before"], job["signal"], journal)
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    sys.stdout.flush()
    atexit._run_exitfuncs()
    os._exit(code)  # Python would take half a second to forget all that is loaded


def serve() -> None:
    """Fork for every line."""
    load_everything()
    shim = ctypes.CDLL(os.environ.pop("LD_PRELOAD"))
    shim.arm.argtypes = (ctypes.c_void_p, ctypes.c_long, ctypes.c_int, ctypes.c_int)
    calls = mmap.mmap(-1, mmap.PAGESIZE)
    gc.freeze()
    lines, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for line in iter(lines.readline, ""):
        calls[:8] = bytes(8)
        child = os.fork()
        if child == 0:
            try:
                run(json.loads(line), shim, calls)
            except BaseException:
                traceback.print_exc()
            os._exit(99)
        status = os.waitpid(child, 0)[1]
        count = int.from_bytes(calls[:8], sys.byteorder)
        answers.write(json.dumps({"code": os.waitstatus_to_exitcode(status), "calls": count}) + "\n")
        answers.flush()
    os._exit(0)


if __name__ == "__main__":
    serve()
