"""Two walks through the code, as users take them: which files a reader must open, in order.

    python docs/walks.py [NAME ...] [--json] [--draw docs/figures/walks.svg]

What is counted: every file of the package in which a function call is entered, once, at its first
entry; `sys.setprofile` sees the calls, in threads too. Templates are files, and their functions
count. Bodies of modules and classes do not count, nor does code that `dataclasses` generates;
comprehensions and lambdas belong to their file. Each walk runs twice, on other rows, and the
second run is traced: imports, caches and what is built once are not part of it. Noise is seeded,
since rare draws enter rare files. Both walks begin with a file and a ledger and end with a page that is verified.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import holdfast
from holdfast import (
    Categorical,
    Dossier,
    Ledger,
    Numeric,
    PrivateLogisticRegression,
    Schema,
    Synthesizer,
    open_table,
    verify_dossier,
)
from holdfast.errors import BudgetWarning, NotPrivateWarning
from holdfast.privacy import ApproxDP

LIMIT = ApproxDP(1.0, 1e-6)
PACKAGE = Path(holdfast.__file__).resolve().parent
TITLES = {
    "model": ("A file to a model and its page", "open_table, fit, save; Dossier.save, verify_dossier"),
    "rows": (
        "A file to synthetic rows and their page",
        "open_table, fit, sample, save; Dossier.save, verify_dossier",
    ),
}
LAYERS = (
    "testing",
    "_cli",
    "_demo",
    "plan",
    "dossier",
    "refute",
    "audit",
    "attack",
    "learn",
    "synth",
    "ledger",
    "release",
    "data",
    "privacy",
    "noise",
    "_kernel",
    "root",
)
"""Rooms from the top layer to the bottom one; `root` are the files beside the rooms (errors, progress)."""

Walk = Callable[[], object]


@dataclass
class Trace:
    """What a walk enters: files with the function by which each was first entered, in order; functions; calls."""

    files: dict[str, str] = field(default_factory=dict)
    functions: set[tuple[str, str]] = field(default_factory=set)
    calls: int = 0

    def counts(self) -> str:
        """In words."""
        return f"{len(self.files)} files, {len(self.functions):,} functions, {self.calls:,} calls"


def trace(walk: Walk, package: Path = PACKAGE) -> Trace:
    """The files and functions under `package` in which a call of this walk is entered."""

    @cache
    def inside(file: str) -> str | None:
        path = Path(os.path.realpath(file))
        return path.relative_to(package).as_posix() if path.is_relative_to(package) else None

    entered = Trace()

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Functions have fast locals; bodies of modules and classes have none.
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED:
            file = inside(code.co_filename)
            if file is not None:
                entered.files.setdefault(file, code.co_qualname)
                entered.functions.add((file, code.co_qualname))
                entered.calls += 1

    package = package.resolve()
    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        walk()
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])
    return entered


# The walks: each is prepared in a folder of its own, then walked.


SCHEMA = Schema(
    [
        Numeric("age", 18, 90, bins=6, integer=True),
        Categorical("ward", [1, 2, 3], null="(missing)"),
        Categorical("ill", ["no", "yes"]),
    ],
    adjacency="replace",
)


def _prepare(folder: Path, seed: int) -> None:
    """A Parquet file of invented people, its schema and a ledger with a dataset."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, 3000)
    ill = np.where(age + draw.normal(0, 20, 3000) > 60, "yes", "no")
    people = pa.table({"age": age, "ward": draw.integers(1, 4, 3000), "ill": ill})
    parquet.write_table(people, folder / "people.parquet")
    SCHEMA.save(folder / "people.toml")
    with Ledger.create(folder / "budget.db") as ledger:
        ledger.dataset("people", limit=LIMIT, adjacency="replace", approver="R. Officer")


def _page(folder: Path, name: str) -> None:
    """Of a release that the ledger paid for, written and verified."""
    release, page = folder / name, folder / "dossier.html"
    with Ledger.open(folder / "budget.db") as ledger:
        Dossier.of_files([release], ledger=ledger).save(page)
    assert verify_dossier(page, releases=[release], ledger=folder / "budget.db", recompute=True).ok


def model(folder: Path, seed: int) -> Walk:
    """A Parquet file and a ledger to a model and its page, the method chosen by `auto`."""
    _prepare(folder, seed)

    def walk() -> None:
        people = open_table(folder / "people.parquet", Schema.load(folder / "people.toml"))
        with Ledger.open(folder / "budget.db") as ledger:
            account = ledger.account("people", name="model", limit=LIMIT, purpose="a model", seed=seed)
            fitted = PrivateLogisticRegression().fit(people, target="ill", account=account)
        assert fitted.release_ is not None
        fitted.release_.save(folder / "model.holdfast")
        _page(folder, "model.holdfast")

    return walk


def rows(folder: Path, seed: int) -> Walk:
    """A Parquet file and a ledger to synthetic rows and their page, the method chosen by `auto`."""
    _prepare(folder, seed)

    def walk() -> None:
        people = open_table(folder / "people.parquet", Schema.load(folder / "people.toml"))
        with Ledger.open(folder / "budget.db") as ledger:
            account = ledger.account("people", name="rows", limit=LIMIT, purpose="synthetic rows", seed=seed)
            synthetic = Synthesizer().fit(people, account=account)
        synthetic.sample()
        synthetic.release_.save(folder / "rows.holdfast")
        _page(folder, "rows.holdfast")

    return walk


WALKS: dict[str, Callable[[Path, int], Walk]] = {"model": model, "rows": rows}


def traced(name: str) -> Trace:
    """What a walk enters when it is taken for the second time."""
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        for expected in (NotPrivateWarning, BudgetWarning):  # invented people, seeded and fitted again
            warnings.simplefilter("ignore", expected)
        first, second = Path(scratch) / "first", Path(scratch) / "second"
        for folder in (first, second):
            folder.mkdir()
        WALKS[name](first, 101)()
        return trace(WALKS[name](second, 102))


def room(file: str) -> str:
    """The room of a file of the package."""
    return file.split("/", 1)[0] if "/" in file else "root"


def turns(files: Sequence[str]) -> int:
    """How often a walk turns back to a room of a higher layer; several steps up in a row are one turn."""
    at = [LAYERS.index(room(file)) for file in files]
    up = [False, *(after < before for before, after in pairwise(at))]
    return sum(now and not before for before, now in pairwise(up))


# The picture, at 900 pixels: a row for each file in order of entry, a column for each room.

INK, MUTED, GRID, BLUE, RED = "#1c2733", "#5b6875", "#e3e8ed", "#0072b2", "#d55e00"
WIDTH, HEAD, ROW, LETTER, GAP, EDGE = 900.0, 112.0, 13.5, 5.45, 26.0, 6.0
STYLE = f"""
text {{ font: 9.5px "DejaVu Sans", Verdana, sans-serif; fill: {INK} }}
.title {{ font-size: 14px; font-weight: bold }}
.calls, .room, .number {{ fill: {MUTED} }}
.number {{ font-size: 8px; text-anchor: end }}
.back {{ fill: {RED} }}
.file {{ text-anchor: end }}
.lane {{ stroke: {GRID}; stroke-width: 1.5 }}
.rule {{ stroke: {GRID}; stroke-width: 0.7 }}
.way {{ fill: none; stroke: {BLUE}; stroke-width: 1.6; stroke-linecap: round }}
.up {{ fill: none; stroke: {RED}; stroke-width: 1.9; stroke-linecap: round }}
.dot {{ fill: {BLUE} }}
.turn {{ fill: {RED} }}
"""


def _label(file: str) -> str:
    """A file by its path within the room."""
    return file.split("/", 1)[-1].removesuffix(".py").removesuffix(".j2")


def _step(x0: float, y0: float, x1: float, y1: float) -> str:
    middle = (y0 + y1) / 2
    bend = f"V{y1:g}" if x0 == x1 else f"C{x0:g} {middle:g} {x1:g} {middle:g} {x1:g} {y1:g}"
    return f'<path class="{"up" if x1 < x0 else "way"}" d="M{x0:g} {y0:g}{bend}"/>'


def _panel(name: str, walk: Trace, left: float, lane: float) -> tuple[list[str], float]:
    """The drawing of one walk and how wide it is."""
    files = list(walk.files)
    rooms = [layer for layer in LAYERS if any(room(file) == layer for file in files)]
    gutter = 22.0 + LETTER * max(len(_label(file)) for file in files) + 8.0
    place = {one: left + gutter + lane * (k + 0.5) for k, one in enumerate(rooms)}
    width, bottom = gutter + lane * len(rooms), HEAD + ROW * len(files)
    title, calls = TITLES[name]
    back = turns(files)
    parts = [
        f'<text class="title" x="{left:g}" y="20">{escape(title)}</text>',
        f'<text class="calls" x="{left:g}" y="36">{escape(calls)}</text>',
        f'<text x="{left:g}" y="53">{walk.counts()}, <tspan class="back">turns back {back} times</tspan></text>',
    ]
    for one, x in place.items():
        parts.append(
            f'<text class="room" transform="translate({x + 3:g} {HEAD - 10:g}) rotate(-50)">{one}</text>'
        )
        parts.append(f'<path class="lane" d="M{x:g} {HEAD - 4:g}V{bottom:g}"/>')
    spots = [(place[room(file)], HEAD + ROW * (k + 0.5)) for k, file in enumerate(files)]
    for k, (x, y) in enumerate(spots):
        parts.append(f'<path class="rule" d="M{left + gutter - 4:g} {y:g}H{x:g}"/>')
        if k:
            parts.append(_step(*spots[k - 1], x, y))
    for k, ((x, y), file) in enumerate(zip(spots, files, strict=True)):
        turned = k > 0 and x < spots[k - 1][0]
        parts.append(
            f'<circle class="{"turn" if turned else "dot"}" cx="{x:g}" cy="{y:g}" r="3.2">'
            f"<title>{escape(file)}: {escape(walk.files[file])}</title></circle>"
        )
        parts.append(f'<text class="number" x="{left + 13:g}" y="{y + 3:g}">{k + 1}</text>')
        parts.append(
            f'<text class="file{" back" if turned else ""}" x="{left + gutter - 7:g}" y="{y + 3.3:g}">'
            f"{escape(_label(file))}</text>"
        )
    return parts, width


def _legend(left: float, top: float) -> list[str]:
    said = (
        ('<circle class="dot" cx="{x:g}" cy="{y:g}" r="3.2"/>', "a file, at the first call into it"),
        ('<path class="way" d="M{a:g} {y:g}H{b:g}"/>', "on, or down to a lower room"),
        ('<path class="up" d="M{a:g} {y:g}H{b:g}"/>', "back to a higher room"),
    )
    parts = []
    for k, (mark, text) in enumerate(said):
        y = top + 18 * k
        parts.append(mark.format(x=left + 13, a=left + 4, b=left + 22, y=y))
        parts.append(f'<text x="{left + 32:g}" y="{y + 3.3:g}">{text}</text>')
    return parts


def drawing(walks: Mapping[str, Trace]) -> str:
    """The walks side by side, as SVG."""
    letters = sum(30.0 + LETTER * max(len(_label(file)) for file in walk.files) for walk in walks.values())
    lanes = sum(len({room(file) for file in walk.files}) for walk in walks.values())
    lane = (WIDTH - 2 * EDGE - GAP * (len(walks) - 1) - letters) / lanes
    parts, left = [], EDGE
    for name, walk in walks.items():
        panel, width = _panel(name, walk, left, lane)
        parts += panel
        left += width + GAP
    # Under the last walk there is room for the legend.
    below = HEAD + ROW * len(walk.files) + 40
    parts += _legend(left - width - GAP, below)
    height = max(HEAD + ROW * max(len(walk.files) for walk in walks.values()), below + 36) + 8
    counted = ", ".join(f"{TITLES[name][0]} {len(walk.files)}" for name, walk in walks.items())
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" role="img">',
            "<title>Walks through the code</title>",
            f"<desc>Files in order of entry, by room. Files entered: {counted}.</desc>",
            f"<style>{STYLE}</style>",
            *parts,
            "</svg>\n",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(WALKS)}; all without")
    parser.add_argument("--json", action="store_true", help="print the counts")
    parser.add_argument("--draw", type=Path, metavar="SVG", help="draw them to this file")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(WALKS):
        parser.error(f"NAME must be one of {', '.join(WALKS)}, got {', '.join(sorted(unknown))}")
    walks = {name: traced(name) for name in chosen.names or WALKS}
    counts = {name: len(walk.files) for name, walk in walks.items()}
    if chosen.json:
        print(json.dumps(counts))
    else:
        for name, walk in walks.items():
            print(f"{name}: {walk.counts()}, turns back {turns(list(walk.files))} times ({TITLES[name][1]})")
            for k, (file, function) in enumerate(walk.files.items(), start=1):
                print(f"{k:4} {file:42} {function}")
    if chosen.draw is not None:
        chosen.draw.write_text(drawing(walks), encoding="utf-8")


if __name__ == "__main__":
    main()
