"""What the texts of a page cite: papers, soundness notes and pages of the documentation, by number and in full."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup


_EMPHASIS = re.compile(r"(?<![\w*])\*(\w+)\*(?![\w*])")
"""A word that the notes, which are Markdown, set off."""


@dataclass(frozen=True)
class Reference:
    """A paper, a soundness note or a page of the documentation; `text` is the note itself."""

    what: str
    text: str = ""


class Citations:
    """What the texts of one page cite, numbered in the order in which it does: a list at its end leads on."""

    def __init__(self) -> None:
        self.numbers: dict[Reference, int] = {}

    def __call__(self, value: Any) -> Markup:
        """A text, and behind it a link to each thing that it cites."""
        from markupsafe import Markup, escape

        html = escape(value)
        for reference in references_in(str(value)):
            number = self.numbers.setdefault(reference, len(self.numbers) + 1)
            html += Markup(' <a class="ref" href="#reference-{0}">[{0}]</a>').format(number)
        return Markup(html)

    def references(self) -> list[Reference]:
        """All of them, by number."""
        return list(self.numbers)


def references_in(text: str) -> list[Reference]:
    """The papers, soundness notes and pages of the documentation that a text names, in its order.

    >>> [one.what[:24] for one in references_in("by a theorem (Wang 2018, AdaSSP; soundness, sections 20 and 26)")]
    ['Yu-Xiang Wang. Revisitin', 'Soundness notes of holdf', 'Soundness notes of holdf']
    """
    library, pattern = _library()
    places = [(match.start(), library[match[0]]) for match in pattern.finditer(text)]
    for match in re.finditer(r"soundness, sections? (\d+(?:(?:, | and )\d+)*)", text):
        numbers = re.findall(r"\d+", match[1])
        places += [(match.start(), library[name]) for name in numbers if name in library]
    return list(dict.fromkeys(place for _, place in sorted(places, key=lambda place: place[0])))


@lru_cache(maxsize=1)
def _library() -> tuple[dict[str, Reference], re.Pattern[str]]:
    """Everything that can be cited, by the names under which it is, and a pattern for papers and pages."""
    stored = json.loads(
        (files("holdfast.dossier") / "_templates/references.json").read_text(encoding="utf-8")
    )
    papers = {name: Reference(paper["text"]) for paper in stored["papers"] for name in paper["names"]}
    pages = {
        f"docs/{name}.md": Reference(f"Documentation of holdfast, page “{title}” (docs/{name}.md).")
        for name, title in stored["pages"].items()
    }
    notes = {
        number: Reference(
            f"Soundness notes of holdfast, section {number}: {section['title']}.",
            _EMPHASIS.sub(r"\1", section["text"]),
        )
        for number, section in stored["sections"].items()
    }
    names = sorted(papers | pages, key=len, reverse=True)
    return papers | pages | notes, re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
