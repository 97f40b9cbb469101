"""Draw the rooms of the package as layers: `python docs/rooms.py` writes docs/figures/rooms.svg.

Layers are those of the import contracts in pyproject.toml, folders and files those of the tree. Only the few words
about each room stand here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "holdfast"
PICTURE = ROOT / "docs" / "figures" / "rooms.svg"
WORDS = {
    "testing": "contracts for your own methods",
    "_cli": "one verb, one library call",
    "_demo": "a release of bundled data, end to end",
    "plan": "what a file of steps will cost, then the steps",
    "dossier": "the page about a release",
    "refute": "every claim against its mechanism",
    "audit": "lower bounds on what leaks",
    "attack": "what membership attackers achieve",
    "learn": "private linear models",
    "synth": "synthetic tables, certified",
    "statistics": "counts and means, with intervals",
    "ledger": "accounts that cannot forget",
    "release": "a value, its promise, its history",
    "data": "declared columns, rows wherever they live",
    "privacy": "curves, mechanisms that have them, accounts that charge before they draw",
    "noise": "exact samplers",
    "_kernel": "the SGD pass, in C",
    "_progress": "bars",
    "_arguments": "checked",
    "_argument_kinds": "what annotations admit",
    "_ranges": "ranges of arguments",
    "_stored_fields": "fields of files",
    "_options": "what methods may be told",
    "_plain_data": "plain data",
    "_regular_file": "regular files",
    "_silence": "silence",
    "_caution": "warnings",
    "_arrays": "types of arrays",
    "_assumption": "what promises rest on",
    "_docstrings": "shared parameters",
    "_extras": "packages that are not always there",
    "_extensions": "entries of others, by name",
    "errors": "every error names the way out",
}
BANDS = {
    "use": ("testing", "_cli", "_demo", "plan"),
    "check": ("dossier", "refute", "audit", "attack"),
    "make": ("learn", "synth", "statistics", "ledger"),
    "hold": ("release", "data"),
    "prove": ("privacy", "noise", "_kernel"),
    "base": (
        "_progress",
        "_extensions",
        "_assumption",
        "_extras",
        "_arguments",
        "_ranges",
        "_stored_fields",
        "_argument_kinds",
        "_plain_data",
        "_regular_file",
        "_silence",
        "_options",
        "_caution",
        "_arrays",
        "_docstrings",
        "errors",
    ),
}
Layers = list[list[str]]


def contracts() -> list[dict[str, Any]]:
    """The import contracts, as the linter reads them."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return found


def _layers(contract: dict[str, Any]) -> Layers:
    return [[one.strip() for one in layer.split("|")] for layer in contract["layers"]]


def rooms() -> Layers:
    """The rooms, top layer first."""
    top = next(c for c in contracts() if c["type"] == "layers" and "containers" not in c)
    return [[name.removeprefix("holdfast.") for name in layer] for layer in _layers(top)]


def entries(room: str) -> set[str]:
    """Folders (with a slash) and files of a room."""
    folder = PACKAGE / room
    folders = {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    return folders | {path.stem for path in folder.glob("*.py") if path.stem != "__init__"}


def _ordered(room: str) -> Layers:
    """The layers of a room's own contract; none where it has none."""
    there = entries(room)
    own = [c for c in contracts() if c.get("containers") == [f"holdfast.{room}"]]
    return [[f"{n}/" if f"{n}/" in there else n for n in layer] for c in own for layer in _layers(c)]


def unordered(room: str) -> set[str]:
    """What no contract of the room orders."""
    return entries(room) - {name for layer in _ordered(room) for name in layer}


def inside(room: str) -> Layers:
    """A room's folders and files, top layer first; what no contract orders comes last."""
    found = [[name for name in layer if name in entries(room)] for layer in _ordered(room)]
    return [layer for layer in [*found, sorted(unordered(room))] if layer]


# The picture, at 900 pixels.

INK, MUTED = "#1c2733", "#5b6875"
TINTS = {
    "use": ("#5b6875", "#f4f6f8"),
    "check": ("#d55e00", "#fdf3ec"),
    "make": ("#009e73", "#ebf7f3"),
    "hold": ("#b37b00", "#fdf6e7"),
    "prove": ("#0072b2", "#eaf3f9"),
    "base": ("#5b6875", "#f4f6f8"),
}
WIDTH, EDGE, GUTTER, GAP, PAD = 900.0, 6.0, 62.0, 6.0, 9.0
LINE, HEAD = 19.0, 21.0
BELOW = "\u203a"
STYLE = f"""
text {{ font: 10.5px "DejaVu Sans", Verdana, sans-serif; fill: {INK} }}
.name {{ font-size: 13px; font-weight: bold }}
.words {{ fill: {MUTED}; font-size: 10.5px; font-weight: normal }}
.then {{ fill: {MUTED} }}
.file {{ fill: {MUTED}; font-size: 10px }}
.folder {{ font-size: 10px }}
.band {{ font-size: 11px; font-weight: bold; text-anchor: middle }}
.chip {{ fill: #ffffff; stroke-width: 1 }}
.box {{ stroke-width: 1.2 }}
.arrow {{ fill: none; stroke: {MUTED}; stroke-width: 1.4 }}
"""


def _wide(text: str, size: float) -> float:
    """About how wide a text in DejaVu Sans is."""
    kinds = {0.28: "ijl", 0.33: " /.,'", 0.40: "ftr", 0.53: "csvzy", 0.90: "mwM"}
    return size * sum(next((w for w, letters in kinds.items() if one in letters), 0.62) for one in text)


def _band(room: str) -> str:
    return next(band for band, names in BANDS.items() if room in names)


class _Box:
    """A room: its name, a few words, and what is in it."""

    def __init__(self, room: str, width: float) -> None:
        self.room, self.width = room, width
        self.parts: list[str] = []
        colour, _ = TINTS[_band(room)]
        head = _wide(room, 13) * 1.1
        words = f'<tspan class="words" dx="8">{escape(WORDS[room])}</tspan>'
        below = head + 8 + _wide(WORDS[room], 10.5) > width - 2 * PAD
        self.parts.append(f'<text class="name" x="{PAD:g}" y="17">{room}{"" if below else words}</text>')
        x, y = PAD, HEAD + (15.0 if below else 0.0)
        if below:
            self.parts.append(f'<text class="words" x="{PAD:g}" y="32">{escape(WORDS[room])}</text>')
        layers, free = inside(room), unordered(room)
        for k, layer in enumerate(layers):
            for name in layer:
                wide = _wide(name, 10) + (12 if name.endswith("/") else 2)
                if x + wide + 6 > width - PAD:
                    x, y = PAD, y + LINE
                self.parts += self._entry(name, x, y, wide, colour)
                x += wide + 5
            if k + 1 < len(layers):
                sign = "·" if set(layers[k + 1]) <= free else BELOW
                self.parts.append(f'<text class="then" x="{x:g}" y="{y + 13:g}">{sign}</text>')
                x += 11
        self.height = (y + LINE if layers else HEAD) + 7

    @staticmethod
    def _entry(name: str, x: float, y: float, wide: float, colour: str) -> list[str]:
        if not name.endswith("/"):
            return [f'<text class="file" x="{x + 1:g}" y="{y + 13:g}">{name}</text>']
        return [
            f'<rect class="chip" x="{x:g}" y="{y + 1.5:g}" width="{wide:g}" height="16" rx="4" stroke="{colour}"/>',
            f'<text class="folder" x="{x + 6:g}" y="{y + 13:g}">{name}</text>',
        ]

    def drawn(self, x: float, y: float, height: float) -> list[str]:
        """The box at a place, as high as its layer."""
        colour, tint = TINTS[_band(self.room)]
        frame = f'<rect class="box" width="{self.width:g}" height="{height:g}" rx="6" fill="{tint}" stroke="{colour}"/>'
        return [f'<g transform="translate({x:g} {y:g})">', frame, *self.parts, "</g>"]


def _row(names: Sequence[str]) -> list[_Box]:
    share = (WIDTH - EDGE - GUTTER - GAP * (len(names) - 1)) / len(names)
    return [_Box(name, share) for name in names]


def drawing() -> str:
    """All rooms, as SVG."""
    parts: list[str] = []
    spans: dict[str, tuple[float, float]] = {}
    y = EDGE
    for names in rooms():
        boxes, x = _row(names), GUTTER
        height = max(box.height for box in boxes)
        for box in boxes:
            parts += box.drawn(x, y, height)
            x += box.width + GAP
        band = _band(names[0])
        spans[band] = (spans.get(band, (y, y))[0], y + height)
        y += height + GAP
    for band, (top, bottom) in spans.items():
        middle = (top + bottom) / 2
        colour = TINTS[band][0]
        parts.append(f'<path d="M44 {top + 2:g}V{bottom - 2:g}" stroke="{colour}" stroke-width="3"/>')
        parts.append(
            f'<text class="band" transform="translate(35 {middle:g}) rotate(-90)" style="fill: {colour}">{band}</text>'
        )
    parts.append(f'<path class="arrow" d="M14 {EDGE + 2:g}V{y - 8:g}m-4 -7l4 7l4 -7"/>')
    said = (
        f"Imports point down, and within a room to the right, across {BELOW}. Framed: folders; plain: files."
    )
    parts.append(f'<text class="words" x="{GUTTER:g}" y="{y + 12:g}">{said}</text>')
    y += 22
    named = "; ".join(" and ".join(layer) for layer in rooms())
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {y:g}" role="img">',
            "<title>The rooms of holdfast</title>",
            f"<desc>Layers from top to bottom, each importing only from those below: {named}.</desc>",
            f"<style>{STYLE}</style>",
            *parts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
