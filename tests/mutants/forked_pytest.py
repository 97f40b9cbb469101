"""Runs pytest in forks of one process that has imported the libraries, but nothing of ours: a start costs little.

Reads a JSON list of arguments from each line of its input, and answers with exit code and output.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import tempfile
import traceback

LIBRARIES = (
    "pytest", "numpy", "scipy.stats", "scipy.optimize", "pandas", "pyarrow.parquet", "duckdb",
    "sklearn.linear_model", "click.testing", "jinja2", "cryptography.hazmat.primitives.asymmetric.ed25519",
)  # fmt: skip


def main() -> None:
    """Serve until the input ends."""
    sys.path[0] = os.getcwd()  # as `python -m pytest` has it
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if child == 0:
                run(json.loads(line), said.fileno())
            _, status = os.waitpid(child, 0)
            said.seek(0)
            text = said.read().decode(errors="replace")
        answer = {"code": os.waitstatus_to_exitcode(status), "said": text}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def run(arguments: list[str], output: int) -> None:
    """The tests, in a fork that never returns."""
    code = 3
    try:
        for stream in (1, 2):
            os.dup2(output, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        import pytest

        code = int(pytest.main(arguments))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
