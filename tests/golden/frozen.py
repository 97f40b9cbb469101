"""Frozen: what a curve, a charge and a stored file say, which no change of the source may move.

    python -m tests.golden.frozen                       # what differs from frozen.json
    python -m tests.golden.frozen --new                 # store what nothing was stored of
    python -m tests.golden.frozen --write               # store all facts again
    python -m tests.golden.frozen --write text          # store again only what is named text/...
    python -m tests.golden.frozen --save before.json    # every seeded result, to the last bit, before a move
    python -m tests.golden.frozen --against before.json # what the move changed, on the same machine

The stored file holds what states a law: the privacy of curves, mechanisms and accounts, and the forms of files. Seeded
fits, rows and evidence state none (a better method changes them); they are compared before and after a move only.

Names are those of rooms; the few deeper ones are the list `DEEP` of frozen_common.py, which a move edits. The stored
file holds what is the same on every machine (frozen_facts.py). Integers, texts, hashes and draws of integers are
compared exactly, real numbers within a relative 1e-9. A change that is meant is stored again by its name, and listed
in the changelog.
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
from tests.golden.frozen_facts import facts
from tests.golden.frozen_files import files
from tests.golden.frozen_learn import learn
from tests.golden.frozen_privacy import privacy
from tests.golden.frozen_synth import synth

STORED = Path(__file__).with_suffix(".json")
PARTS: dict[str, Callable[[], dict[str, Plain]]] = {
    "privacy": privacy,
    "learn": learn,
    "synth": synth,
    "evidence": evidence,
    "files": files,
}
LAWS = ("privacy", "files")
"""The parts that are stored."""
TOLERANCE, NOTHING = 1e-9, 1e-12


def stored() -> dict[str, dict[str, Plain]]:
    """What was frozen, part by part."""
    known: dict[str, dict[str, Plain]] = json.loads(STORED.read_text(encoding="utf-8"))
    return known


def results(part: str) -> dict[str, Plain]:
    """Everything that is computed now, as a file would hold it."""
    values: dict[str, Plain] = json.loads(json.dumps(PARTS[part]()))
    return values


def computed(part: str) -> dict[str, Plain]:
    """The facts of it."""
    return facts(part, results(part))


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
    """Store the facts of now, where a name begins with the prefix."""
    known = stored() if prefix and STORED.exists() else {part: {} for part in LAWS}
    for part in LAWS:
        older = {name: value for name, value in known[part].items() if not name.startswith(prefix)}
        newer = {name: value for name, value in computed(part).items() if name.startswith(prefix)}
        known[part] = older | newer
    _store(known)


def write_new() -> None:
    """Store the facts of now that have no stored one; none that is stored is touched."""
    known = stored()
    for part in LAWS:
        known[part] = computed(part) | known[part]
    _store(known)


def _store(known: dict[str, dict[str, Plain]]) -> None:
    groups = []
    for part, values in known.items():
        lines = ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(values.items())
        )
        groups.append(f" {json.dumps(part)}: {{\n{lines}\n }}")
    STORED.write_text("{\n" + ",\n".join(groups) + "\n}\n", encoding="utf-8")


def main() -> int:
    """Compare, save or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--new", action="store_true")
    action.add_argument("--write", nargs="?", const="", metavar="PREFIX")
    action.add_argument("--save", type=Path, metavar="FILE")
    action.add_argument("--against", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.new:
        write_new()
        return 0
    if options.write is not None:
        write(options.write)
        return 0
    if options.save is not None:
        options.save.write_text(json.dumps({part: results(part) for part in PARTS}), encoding="utf-8")
        return 0
    if options.against is not None:
        before = json.loads(options.against.read_text(encoding="utf-8"))
        changes = [line for part in PARTS for line in differences(before[part], results(part), exact=True)]
    else:
        known = stored()
        changes = [line for part in LAWS for line in differences(known[part], computed(part))]
    sys.stdout.write("".join(f"{line}\n" for line in changes) or "all as it was\n")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
