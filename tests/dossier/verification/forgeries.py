"""Every field forged, one at a time, by three forgers: how many pass, and which.

    python -m tests.dossier.verification.forgeries            # all of them, as a table
    python -m tests.dossier.verification.forgeries 5          # one in five
    python -m tests.dossier.verification.forgeries 5 --keep DIR [--turn 0 --turns 2] [--store]

With a folder, what was tried is kept there: a run that was stopped goes on, one that took every fifth goes on to take
all, and several processes share the work. `--store` writes the counts to `tests/studies/results`, from where
`docs/make_tables.py` takes them. In every run of the suite the test beside this file takes an even share.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias

from holdfast.dossier import verify_dossier
from holdfast.dossier._page import record_of
from holdfast.dossier._renderer import renderer
from holdfast.errors import HoldfastError
from holdfast.ledger import Ledger, create_key
from tests.dossier.verification import forging
from tests.dossier.verification.forging import Case, Place
from tests.paths import ROOT

Forger = Literal["without the ledger", "with the ledger, without the key", "the owner, with both"]
FORGERS: tuple[Forger, ...] = (
    "without the ledger",
    "with the ledger, without the key",
    "the owner, with both",
)
What = Literal["record", "page", "release", "ledger"]
KINDS: Sequence[What] = ("record", "page", "release", "ledger")
Edit: TypeAlias = Callable[[Case], None]


@dataclass(frozen=True)
class Forgery:
    """One field of one thing, changed."""

    what: What
    where: str
    edit: Edit


@dataclass
class Tally:
    """How many were tried, and which passed."""

    tried: int = 0
    passed: list[str] = field(default_factory=list)
    passed_stranger: list[str] = field(default_factory=list)
    """Past the verifier that shares no line with holdfast."""


def forgeries(case: Case, key: Path) -> list[Forgery]:
    """Every field of record, page, release and ledger; a ledger is hashed and signed again with this key."""
    text = case.page.read_text(encoding="utf-8")
    written = record_of(text)
    tree, members = forging.release_tree(case)
    found = [Forgery("record", _name(place), _record(place)) for place in forging.places(written)]
    found += [Forgery("page", text[slice(*span)][:40], _text(span)) for span in forging.texts(text)]
    found += [Forgery("release", _name(place), _release(place)) for place in forging.places(tree)]
    found += [Forgery("release", name, _member(name)) for name in members]
    for entry in forging.entries_of(case.ledger):
        data = {"at": entry.at, "kind": entry.kind, "body": dict(entry.body)}
        found += [
            Forgery(
                "ledger", f"{entry.kind} {entry.number}: {_name(place)}", _entry(entry.number, place, key)
            )
            for place in forging.places(json.loads(json.dumps(data)))
        ]
    return found


def forge(sound: Case, folder: Path, forgery: Forgery, forger: Forger) -> Case:
    """The forged files, made to agree as far as this forger can; what cannot even be made stays half done."""
    case = sound.copy(folder)
    try:
        forgery.edit(case)
        if forger != "without the ledger" and forgery.what != "ledger":
            forging.close_again(case, key=case.key if forger == "the owner, with both" else None)
    except (HoldfastError, KeyError, TypeError, ValueError, AttributeError, IndexError, sqlite3.Error):
        pass
    return case


def passes(case: Case, *, key: bool) -> bool:
    """Whether `verify` finds everything in order."""
    return verify_dossier(
        case.page, releases=[case.release], ledger=case.ledger, public_key=case.public if key else None
    ).ok


@cache
def stranger() -> ModuleType:
    """The independent verifier, loaded from its one file."""
    spec = importlib.util.spec_from_file_location("holdfast_verify", ROOT / "verifier" / "holdfast_verify.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def passes_stranger(case: Case, extract: Path) -> bool:
    """Whether a stranger, who holds page, release, extract and public key, finds everything in order."""
    try:
        found = stranger().verify(case.page, [case.release], extract, case.public, renderer=renderer())
    except stranger().Wrong:
        return False
    return not found.not_judged


def extracted(case: Case, key: Path, target: Path) -> Path | None:
    """The extract that a holder of this ledger and this key can make; None where the ledger is none any more."""
    try:
        with Ledger.open(case.ledger, check="nothing", read_only=True) as ledger:
            target.write_text(json.dumps(ledger.extract(["clinic"], key)), encoding="utf-8")
    except (HoldfastError, KeyError, TypeError):
        return None
    return target


def opened(folder: Path) -> tuple[Case, Path]:
    """The sound case of a folder and the extract of its ledger, made where there is none yet."""
    case, extract = Case(folder / "sound"), folder / "extract.json"
    if not extract.exists():
        case = forging.sound(folder / "sound")
        create_key(folder / "forger.pem")
        assert extracted(case, case.key, extract) is not None
    assert passes(case, key=True)
    assert passes_stranger(case, extract)
    return case, extract


def tallied(share: int, folder: Path, *, turn: int = 0, turns: int = 1) -> dict[tuple[Forger, What], Tally]:
    """One in `share` of all forgeries, evenly, by each forger: which ones pass under the officer's public key.

    What the folder already holds is not tried again.
    """
    case, true = opened(folder)
    kept = {(line["forger"], line["number"]): line for line in _kept(folder)}
    found: dict[tuple[Forger, What], Tally] = {}
    with (folder / f"tried-{turn}.jsonl").open("a", encoding="utf-8") as notes:
        for forger in FORGERS:
            key = case.key if forger == "the owner, with both" else folder / "forger.pem"
            for number, forgery in enumerate(forgeries(case, key)):
                if number % share or (forgery.what == "ledger" and forger == "without the ledger"):
                    continue
                line = kept.get((forger, number))
                if line is None:
                    if number // share % turns != turn:
                        continue
                    line = {
                        "forger": forger,
                        "number": number,
                        **_tried(case, folder, forgery, forger, key, true),
                    }
                    notes.write(json.dumps(line) + "\n")
                    notes.flush()
                tally = found.setdefault((forger, forgery.what), Tally())
                tally.tried += 1
                tally.passed += [forgery.where] * line["passed"]
                tally.passed_stranger += [forgery.where] * line["stranger"]
    return found


def _tried(
    case: Case, folder: Path, forgery: Forgery, forger: Forger, key: Path, true: Path
) -> dict[str, bool]:
    """Whether one forgery passes, and whether a stranger is taken in."""
    with tempfile.TemporaryDirectory(dir=folder) as there:
        made = forge(case, Path(there) / "case", forgery, forger)
        outside = forger == "without the ledger"
        extract = true if outside else extracted(made, key, Path(there) / "extract.json")
        return {
            # The first forger falls without any key: the ledger is out of his hands.
            "passed": passes(made, key=not outside),
            "stranger": extract is not None and passes_stranger(made, extract),
        }


def _kept(folder: Path) -> list[dict[str, Any]]:
    lines = [line for path in folder.glob("tried-*.jsonl") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines if line.endswith("}")]


def _name(place: Place) -> str:
    return "/".join(str(part) for part in place) or "all of it"


def _record(place: Place) -> Edit:
    def edit(case: Case) -> None:
        written = record_of(case.page.read_text(encoding="utf-8"))
        forging.redraw(case, forging.mutated(written, place))

    return edit


def _text(span: tuple[int, int]) -> Edit:
    return lambda case: forging.edit_text(case, span)


def _release(place: Place) -> Edit:
    def edit(case: Case) -> None:
        tree, members = forging.release_tree(case)
        forging.rewrite_release(case, forging.mutated(tree, place), members)
        forging.redraw_about(case)

    return edit


def _member(name: str) -> Edit:
    def edit(case: Case) -> None:
        tree, members = forging.release_tree(case)
        members[name] = members[name][:-8] + bytes(8)
        forging.rewrite_release(case, tree, members)
        forging.redraw_about(case)

    return edit


def _entry(number: int, place: Place, key: Path) -> Edit:
    def edit(case: Case) -> None:
        def change(at: int, data: forging.Tree) -> forging.Tree:
            if at != number:
                return data
            parts = {name: data[name] for name in ("at", "kind", "body")}
            changed = forging.mutated(parts, place)
            return data | (changed if isinstance(changed, dict) else {})

        forging.rehash(case, change, key=key)

    return edit


def counts(found: dict[tuple[Forger, What], Tally]) -> dict[str, int]:
    """How many were tried and how many passed, by forger and by what was forged: what a study notes."""
    made = {}
    for (forger, what), tally in found.items():
        made[f"{forger}: {what}"] = tally.tried
        made[f"{forger}: {what} passed"] = len(tally.passed)
        made[f"{forger}: {what} passed the stranger"] = len(tally.passed_stranger)
    return made


def table(noted: Mapping[str, int]) -> str:
    """What a study noted, by forger and by what was forged."""
    lines = [
        "| forger | " + " | ".join(KINDS) + " | pass `verify` | pass the stranger |",
        "|---|" + "---|" * (len(KINDS) + 2),
    ]
    for forger in FORGERS:
        cells = [f"{noted[name]:,}" if (name := f"{forger}: {what}") in noted else "-" for what in KINDS]
        for end in ("passed", "passed the stranger"):
            cells.append(f"{sum(noted.get(f'{forger}: {what} {end}', 0) for what in KINDS):,}")
        lines.append(f"| {forger} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


RESULT = ROOT / "tests" / "studies" / "results" / "dossier.verification.test_forgeries.json"


def store(found: dict[tuple[Forger, What], Tally], share: int) -> None:
    """The counts, with commit and machine, as results of studies are kept."""
    from tests.studies.results import made_on

    trials = sum(tally.tried for tally in found.values())
    study = made_on() | {"found": {"trials": trials, "one_in": share, **counts(found)}}
    content = {
        "tests": "tests/dossier/verification/test_forgeries.py",
        "studies": {"test_nothing_passes_without_the_key": study},
    }
    RESULT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Print the counts; 1 where something passed that should not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("share", nargs="?", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--turn", type=int, default=0)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--store", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = tallied(asked.share, asked.keep or Path(scratch), turn=asked.turn, turns=asked.turns)
    sys.stdout.write(table(counts(found)))
    if asked.store:
        store(found, asked.share)
    for (forger, what), tally in found.items():
        if tally.passed:
            sys.stdout.write(f"{forger}, {what}: {len(tally.passed)} pass: {tally.passed[:400]}\n")
        if tally.passed_stranger:
            sys.stdout.write(f"{forger}, {what}, stranger: {tally.passed_stranger[:400]}\n")
    return int(
        any(
            tally.passed or tally.passed_stranger
            for (forger, _), tally in found.items()
            if forger != FORGERS[2]
        )
    )


if __name__ == "__main__":
    sys.exit(main())
