"""All reproductions, one after the other: `python -m studies.reproductions [--quick] [--again] [--list] [NAME ...]`.

A run that was cut off goes on: pages that are there are skipped, and scripts that keep their numbers as they go start
where they were (`001_bolt_on`, `001_runtime`, `001_runtime_postgres`, `000_membership`, `000_panels`). What a page cost
when it was made is printed first. `--quick` runs everything at a size that shows no result, writes nothing, and fails
if a script does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "studies" / "reproductions" / "results"
COSTS = RESULTS / "costs.json"
UNITS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0}


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a page cost when it was made; None where nobody measured."""

    seconds: float | None
    memory_mb: int | None

    def words(self) -> str:
        """For people."""
        time = "not measured" if self.seconds is None else f"{self.seconds / 3600:.2f} CPU hours"
        memory = "memory not measured" if self.memory_mb is None else f"{self.memory_mb / 1024:.1f} GB"
        return f"{time}, {memory}"


def names() -> list[str]:
    """Every script that writes a page of results."""
    scripts = sorted((ROOT / "studies" / "reproductions").glob("*.py"))
    return [
        path.stem
        for path in scripts
        if path.stem != "__main__" and '"--quick"' in path.read_text(encoding="utf-8")
    ]


def cost(name: str) -> Cost:
    """From the page and from what was kept beside it."""
    page, kept = RESULTS / f"{name}.md", RESULTS / f"{name}.json"
    stamp = (
        re.search(r"([\d.]+) CPU (seconds|minutes|hours)", page.read_text("utf-8"))
        if page.is_file()
        else None
    )
    memory = json.loads(kept.read_text("utf-8"))["made"].get("memory_mb") if kept.is_file() else None
    if memory is None and COSTS.is_file():
        memory = json.loads(COSTS.read_text("utf-8")).get(name)
    return Cost(seconds=float(stamp[1]) * UNITS[stamp[2]] if stamp else None, memory_mb=memory)


def run(name: str, *, quick: bool) -> int:
    """One script in a process of its own; what it needed at most is remembered."""
    command = [sys.executable, "-m", f"studies.reproductions.{name}", *(["--quick"] if quick else [])]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        said = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)  # what this child alone took, however many came before it
        child.returncode = os.waitstatus_to_exitcode(status)
    if quick:
        sys.stdout.write("\n".join(said.strip().splitlines()[-1:]) + "\n")
    elif child.returncode == 0:
        costs = json.loads(COSTS.read_text("utf-8")) if COSTS.is_file() else {}
        costs[name] = used.ru_maxrss // (1024 * 1024 if sys.platform == "darwin" else 1024)
        COSTS.write_text(json.dumps(costs, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return child.returncode


def main() -> int:
    """Say what it costs, then run what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names())}")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, nothing written")
    parser.add_argument("--again", action="store_true", help="also what has a page already")
    parser.add_argument("--list", action="store_true", help="what it would cost, and nothing else")
    asked = parser.parse_args()
    chosen = asked.names or names()
    unknown = set(chosen) - set(names())
    if unknown:
        parser.error(f"no reproduction is called {', '.join(sorted(unknown))}")
    for name in chosen:
        sys.stdout.write(f"{name}: {cost(name).words()}\n")
    total = sum(cost(name).seconds or 0.0 for name in chosen)
    sys.stdout.write(f"together {total / 3600:.1f} CPU hours on one core\n")
    if asked.list:
        return 0
    failed = []
    for name in chosen:
        if not asked.quick and not asked.again and (RESULTS / f"{name}.md").is_file():
            sys.stdout.write(f"{name}: its page is there (--again makes it anew)\n")
            continue
        sys.stdout.write(f"{name} ...\n")
        sys.stdout.flush()
        if run(name, quick=asked.quick):
            failed.append(name)
    sys.stdout.write(f"failed: {', '.join(failed)}\n" if failed else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
