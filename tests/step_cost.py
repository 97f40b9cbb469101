"""Runs a command and says what it cost: `python -m tests.step_cost types .venv/bin/mypy`."""

from __future__ import annotations

import os
import subprocess
import sys


def main(name: str, *command: str) -> int:
    """The command's exit code, after a line with the processor seconds that it took."""
    done = subprocess.run(command, check=False)
    times = os.times()
    sys.stdout.write(f"{times.children_user + times.children_system:8.1f} processor seconds: {name}\n")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
