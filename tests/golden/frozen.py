"""Frozen: seeded results and stored forms that no move of the source may change.

    python -m tests.golden.frozen                  # what differs from frozen.json, to the last bit
    python -m tests.golden.frozen --write          # store everything again
    python -m tests.golden.frozen --write text     # store again only what is named text/...

Names are those of rooms; the few deeper ones are the list `DEEP` of frozen_common.py, which a move edits.
Integers, texts, hashes and draws of integers are compared exactly. Real numbers are stored to the last bit and
compared within a relative 1e-9: sums may be rounded otherwise by another BLAS or processor, and then the noise on
a grid is that of a neighbouring float. On the machine that wrote the file everything is equal to the last bit,
which the command above tests. A change that is meant is stored again by its name, and listed in the changelog.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.golden.frozen_common import Plain
from tests.golden.frozen_evidence import evidence
from tests.golden.frozen_files import files
from tests.golden.frozen_learn import learn
from tests.golden.frozen_privacy import privacy
from tests.golden.frozen_synth import synth

STORED = Path(__file__).with_suffix(".json")
PARTS: dict[str, Callable[[], dict[str, Plain]]] = {
    "privacy": privacy, "learn": learn, "synth": synth, "evidence": evidence, "files": files,
}  # fmt: skip
TOLERANCE, NOTHING = 1e-9, 1e-12


def stored() -> dict[str, dict[str, Plain]]:
    """What was frozen, part by part."""
    known: dict[str, dict[str, Plain]] = json.loads(STORED.read_text(encoding="utf-8"))
    return known


def computed(part: str) -> dict[str, Plain]:
    """The same now, as a file would hold it."""
    made: dict[str, Plain] = json.loads(json.dumps(PARTS[part]()))
    return made


def differences(then: Any, now: Any, *, exact: bool = False, place: str = "") -> Iterator[str]:
    """Where two trees differ; `exact` compares real numbers to the last bit."""
    match then, now:
        case dict(), dict():
            for name in [*then, *(name for name in now if name not in then)]:
                inner = f"{place}: {name}" if place else str(name)
                if name not in then or name not in now:
                    yield f"{inner} is {'new' if name in now else 'gone'}"
                else:
                    yield from differences(then[name], now[name], exact=exact, place=inner)
        case list(), list() if len(then) == len(now):
            for index, (left, right) in enumerate(zip(then, now, strict=True)):
                yield from differences(left, right, exact=exact, place=f"{place}[{index}]")
        case float(), float() if not exact and math.isclose(then, now, rel_tol=TOLERANCE, abs_tol=NOTHING):
            return
        case _ if type(then) is not type(now) or then != now:
            yield f"{place}: {_short(then)} became {_short(now)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 90 else f"{text[:87]}..."


def write(prefix: str) -> None:
    """Store what is computed now, where a name begins with the prefix."""
    known = stored() if prefix and STORED.exists() else {part: {} for part in PARTS}
    for part in PARTS:
        kept = {name: one for name, one in known[part].items() if not name.startswith(prefix)}
        fresh = {name: one for name, one in computed(part).items() if name.startswith(prefix)}
        known[part] = kept | fresh
    groups = []
    for part, made in known.items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in sorted(made.items()))
        groups.append(f" {json.dumps(part)}: {{\n{lines}\n }}")
    STORED.write_text("{\n" + ",\n".join(groups) + "\n}\n", encoding="utf-8")


def main() -> int:
    """Compare, or write."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("--write", nargs="?", const="", metavar="PREFIX")
    given = asked.parse_args()
    if given.write is not None:
        write(given.write)
        return 0
    known = stored()
    found = [line for part in PARTS for line in differences(known[part], computed(part), exact=True)]
    sys.stdout.write("".join(f"{line}\n" for line in found) or "all as it was, to the last bit\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
