"""Plant every fault in a copy of the sources and see that the tests notice: `python -m tests.mutants [WORD]`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.fault import Fault
from tests.mutants.faults import FAULTS

ROOT = Path(__file__).resolve().parents[2]


def killed(fault: Fault) -> bool:
    """Whether the named tests fail once the fault is planted (and pass the collection)."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "tests", copy / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        target = copy / "src" / "holdfast" / fault.file
        text = target.read_text()
        if text.count(fault.old) != 1:
            raise SystemExit(
                f"{fault.name}: its text occurs {text.count(fault.old)} times in {fault.file}, not once"
            )
        target.write_text(text.replace(fault.old, fault.new))
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *fault.tests],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        # 1: tests failed. Anything else (0 passed, 2 interrupted, 4 usage, 5 none collected) is no kill.
        if run.returncode not in (0, 1):
            sys.stdout.write(run.stdout[-2000:] + run.stderr[-2000:])
        return run.returncode == 1


def main() -> int:
    """Print killed/total; 1 if any survives."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    faults = [fault for fault in FAULTS if word in fault.name]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        results = list(pool.map(killed, faults))
    for fault, dead in zip(faults, results, strict=True):
        sys.stdout.write(f"{'killed  ' if dead else 'SURVIVED'}  {fault.name}\n")
    sys.stdout.write(f"mutants: {sum(results)}/{len(results)} killed\n")
    return 0 if all(results) and results else 1


if __name__ == "__main__":
    raise SystemExit(main())
