"""Every field forged, one at a time, by three forgers: how many pass, and which.

    python -m tests.dossier.verification.forgeries            # all of them, as a table
    python -m tests.dossier.verification.forgeries 5          # one in five
    python -m tests.dossier.verification.forgeries --write    # and into the documentation

The test beside it takes an even share of them in every run of the suite.
"""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Literal, TypeAlias

from holdfast.dossier import verify_dossier
from holdfast.dossier.page import record_of
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
GENERATED = ROOT / "docs" / "_generated" / "forgeries.md"
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
        stranger().verify(case.page, [case.release], extract, case.public)
    except stranger().Wrong:
        return False
    return True


def extracted(case: Case, key: Path, target: Path) -> Path | None:
    """The extract that a holder of this ledger and this key can make; None where the ledger is none any more."""
    try:
        with Ledger.open(case.ledger, check="nothing", read_only=True) as ledger:
            target.write_text(json.dumps(ledger.extract(["clinic"], key)), encoding="utf-8")
    except (HoldfastError, KeyError, TypeError):
        return None
    return target


def tallied(share: int, folder: Path) -> dict[tuple[Forger, What], Tally]:
    """One in `share` of all forgeries, evenly, by each forger: which ones pass under the officer's public key."""
    case = forging.sound(folder / "sound")
    create_key(folder / "forger.pem")
    true = extracted(case, case.key, folder / "extract.json")
    assert true is not None
    assert passes(case, key=True)
    assert passes_stranger(case, true)
    found: dict[tuple[Forger, What], Tally] = {}
    for forger in FORGERS:
        key = case.key if forger == "the owner, with both" else folder / "forger.pem"
        listed = forgeries(case, key)
        for number, forgery in enumerate(listed):
            if number % share or (forgery.what == "ledger" and forger == "without the ledger"):
                continue
            tally = found.setdefault((forger, forgery.what), Tally())
            with tempfile.TemporaryDirectory(dir=folder) as there:
                made = forge(case, Path(there) / "case", forgery, forger)
                tally.tried += 1
                # The first forger falls without any key: the ledger is out of his hands.
                if passes(made, key=forger != "without the ledger"):
                    tally.passed.append(forgery.where)
                outside = forger == "without the ledger"
                extract = true if outside else extracted(made, key, Path(there) / "extract.json")
                if extract is not None and passes_stranger(made, extract):
                    tally.passed_stranger.append(forgery.where)
    return found


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


def table(found: dict[tuple[Forger, What], Tally]) -> str:
    """Counts by forger and by what was forged."""
    kinds: Sequence[What] = ("record", "page", "release", "ledger")
    lines = [
        "| forger | " + " | ".join(kinds) + " | pass `verify` | pass the stranger |",
        "|---|" + "---|" * (len(kinds) + 2),
    ]
    for forger in FORGERS:
        tallies = [found.get((forger, kind), Tally()) for kind in kinds]
        cells = [f"{one.tried:,}" if one.tried else "-" for one in tallies]
        passed = sum(len(one.passed) for one in tallies), sum(len(one.passed_stranger) for one in tallies)
        lines.append(f"| {forger} | " + " | ".join(cells) + f" | {passed[0]:,} | {passed[1]:,} |")
    return "\n".join(lines)


def main() -> int:
    """Print the counts, and write them into the documentation if asked."""
    share = next((int(one) for one in sys.argv[1:] if one.isdigit()), 1)
    with tempfile.TemporaryDirectory() as folder:
        found = tallied(share, Path(folder))
    sys.stdout.write(table(found) + "\n")
    for (forger, what), tally in found.items():
        if tally.passed:
            sys.stdout.write(f"{forger}, {what}: {len(tally.passed)} pass: {tally.passed[:400]}\n")
        if tally.passed_stranger:
            sys.stdout.write(f"{forger}, {what}, stranger: {tally.passed_stranger[:400]}\n")
    if "--write" in sys.argv:
        GENERATED.write_text(table(found) + "\n", encoding="utf-8")
    return int(
        any(
            tally.passed or tally.passed_stranger
            for (forger, _), tally in found.items()
            if forger != FORGERS[2]
        )
    )


if __name__ == "__main__":
    sys.exit(main())
