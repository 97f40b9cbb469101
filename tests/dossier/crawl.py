"""A crawl of the page: every number on it, the link that it lies in, and whether the place it leads to holds it.

It reads the page as a browser shows it (`page.content()`), or as it was written, with nothing of holdfast's own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

NUMBER = re.compile(r"(?<![\w.#/])[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w/])", re.I)  # noqa: RUF001
VOID = frozenset({"meta", "input", "br", "img", "link", "hr"})
SILENT = frozenset({"script", "style", "head"})
SHARES = frozenset({"share"})
"""Fields that are per cent already."""
BOUND = re.compile(
    r"/certificates/\d+/alpha$|/rows/\d+/(?:within|worst)$|^tables/\d+/error$|/odds$"
    r"|^promise/(?:at|points/\d+)/epsilon$|/numbers/promised$"
)
"""Places of upper bounds, which are shown rounded up."""


@dataclass
class Node:
    """An element: its texts and its elements in their order."""

    tag: str
    attributes: dict[str, str]
    parent: Node | None
    parts: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(one if isinstance(one, str) else one.text for one in self.parts)

    def up(self) -> Iterator[Node]:
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def all(self) -> Iterator[Node]:
        yield self
        for one in self.parts:
            if isinstance(one, Node):
                yield from one.all()


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("page", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs}, self.at)
        self.at.parts.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.at.parts.append(Node(tag, {name: value or "" for name, value in attrs}, self.at))

    def handle_endtag(self, tag: str) -> None:
        opened = next((one for one in self.at.up() if one.tag == tag), None)
        if opened is not None and opened.parent is not None:
            self.at = opened.parent

    def handle_data(self, data: str) -> None:
        self.at.parts.append(data)


def tree(page: str) -> Node:
    """The page as elements."""
    made = _Tree()
    made.feed(page)
    return made.root


@dataclass(frozen=True)
class Crawl:
    """What a crawl saw: how many numbers, and what is wrong with them."""

    numbers: int
    links: int
    problems: tuple[str, ...]


def crawl(page: str) -> Crawl:
    """Follow every number of a page."""
    root = tree(page)
    record = json.loads(next(n for n in root.all() if n.attributes.get("id") == "holdfast-record").text)
    lines = {n.attributes["id"]: n for n in _section(root).all() if n.tag == "tr" and "id" in n.attributes}
    problems = [text for place, line in lines.items() for text in _line(place, line, record)]
    followed, written = set(), dict[str, set[str]]()
    problems += _references(root)
    for link in _links(root):
        if link.attributes.get("class") == "ref":
            continue
        place = link.attributes["href"][1:]
        followed.add(place)
        if place not in lines:
            problems.append(f"leads nowhere: {link.text[:60]!r} to {place}")
        elif link.attributes["class"] == "src" and not _written(
            link.text, place_in(record, place, lines), place
        ):
            problems.append(f"{place} does not hold {link.text[:60]!r}")
        written.setdefault(place, set()).add(link.text)
    for place, ways in written.items():
        if len(ways) > 1 and place in lines and isinstance(place_in(record, place, lines), int | float):
            problems.append(f"{place} is shown in two ways: {sorted(ways)}")
    problems += [f"nobody links to {place}" for place in lines.keys() - followed]
    numbers = 0
    for node, text in _texts(root):
        found = NUMBER.findall(text)
        if any(
            n.attributes.get("class") == "ref" or n.attributes.get("id") == "references" for n in node.up()
        ):
            continue
        numbers += len(found)
        if not found or any("src" in n.attributes.get("class", "").split() for n in node.up()):
            continue
        beside = next((link for n in node.up() for link in _beside(n)), None)
        if beside is None:
            problems.append(f"no link: {found[0]!r} in {text.strip()[:60]!r}")
        elif (place := beside.attributes["href"][1:]) in lines:
            value, tick = place_in(record, place, lines), "tick" in node.attributes.get("class", "")
            wrong = [one for one in found if not _drawn(one, text, value, tick=tick)]
            problems += [f"{place} does not hold {one!r}, which is drawn" for one in wrong]
    return Crawl(numbers=numbers, links=len(followed), problems=tuple(problems))


def place_in(record: Any, place: str, lines: dict[str, Node]) -> Any:
    """What stands at a place of the record; a constant of the page has its line alone."""
    if place.startswith("constant/"):
        return json.loads(_cells(lines[place])[1])
    value = record
    for part in map(unquote, place.split("/")):
        value = value[int(part) if isinstance(value, list) else part]
    return value


def leaves(value: Any) -> Iterator[Any]:
    """Every number and text of a part of the record."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner)
            if isinstance(value, dict):
                yield key
    elif value is not None:
        yield value


def holds(shown: str, value: float) -> bool:
    """Whether a number as it is shown is this one, rounded."""
    text = shown.replace(",", "").replace("−", "-").lower()  # noqa: RUF001
    mantissa, _, power = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    half = 0.5 * 10.0 ** (int(power or 0) - decimals)
    # Digits before the point that rounding to four or six made zeros.
    if "." not in mantissa and not power and abs(value) >= 1e4:
        half = max(half, 0.5e-4 * abs(value))
    return math.isclose(float(text), value, rel_tol=1e-9, abs_tol=half * (1 + 1e-6))


def bounds(shown: str, value: float) -> bool:
    """Whether it is this one, rounded up to three digits or more: an upper bound that is shown below itself is none."""
    number, least = float(shown.replace(",", "")), 10.0 ** (math.floor(math.log10(value or 1)) - 2)
    return value * (1 - 1e-12) <= number < value + min(least, 1.0) * (1 + 1e-9)


def _references(root: Node) -> Iterator[str]:
    """What is cited stands in the list under its number, and what stands there is cited."""
    listed = [n for n in root.all() if n.tag == "li" and n.attributes.get("id", "").startswith("reference-")]
    texts = {n.attributes["id"]: n.text for n in listed}
    used = set()
    for link in _links(root):
        place = link.attributes["href"][1:]
        if link.attributes.get("class") != "ref":
            continue
        used.add(place)
        if link.text != f"[{place.removeprefix('reference-')}]" or not texts.get(place, "").strip():
            yield f"cites nothing: {link.text} to {place}"
    if [*texts] != [f"reference-{place + 1}" for place in range(len(texts))]:
        yield "the references are not in their order"
    yield from (f"nobody cites {place}" for place in texts.keys() - used)


def _section(root: Node) -> Node:
    return next(n for n in root.all() if n.attributes.get("id") == "sources")


def _texts(root: Node) -> Iterator[tuple[Node, str]]:
    """Every text that is shown or read out, outside the list of sources."""
    for node in root.all():
        above = {(one.tag, one.attributes.get("id")) for one in node.up()}
        if any(tag in SILENT or name == "sources" for tag, name in above):
            continue
        for one in node.parts:
            if isinstance(one, str):
                yield node, one
        for name in ("aria-label", "alt", "title"):
            if name in node.attributes:
                yield node, node.attributes[name]


def _beside(node: Node) -> Iterator[Node]:
    for one in node.parts:
        if isinstance(one, Node) and one.tag == "a" and one.attributes.get("class") == "from":
            yield one


def _links(root: Node) -> Iterator[Node]:
    for node in root.all():
        if node.tag == "a" and node.attributes.get("href", "").startswith("#"):
            yield node


def _cells(line: Node) -> list[str]:
    return [one.text for one in line.parts if isinstance(one, Node)]


def _line(place: str, line: Node, record: Any) -> Iterator[str]:
    """A line of the sources says what the record says."""
    named, shown = _cells(line)[:2]
    value = place_in(record, place, {place: line})
    if named != place:
        yield f"the line {place} is called {named}"
    if isinstance(value, str):
        same = value.startswith(shown.removesuffix("…")) if shown.endswith("…") else shown == value
    elif isinstance(value, int | float):
        same = json.loads(shown) == value
    else:
        same = bool(shown)
    if not same:
        yield f"the line {place} shows {shown[:60]!r}"


def _written(text: str, value: Any, place: str) -> bool:
    """Whether the text of a link is what its place holds."""
    text = text.replace("\u00a0", " ")
    found = NUMBER.findall(text)
    if text == unquote(place.split("/")[-1]):
        return True  # the name under which it stands
    if isinstance(value, str):
        return value.startswith(text.removesuffix("…")) or text == value.replace(" ", "-") + ".holdfast"
    if isinstance(value, int | float):
        if text.startswith("under"):
            return value < float(found[0]) and (value > 0 or place.endswith("/p"))
        if text.startswith("one time in"):
            value = 1 / value
        elif text.endswith("%") and place.split("/")[-1] not in SHARES:
            value = 100 * value
        return len(found) == 1 and (bounds if BOUND.search(place) else holds)(found[0], value)
    if isinstance(value, list) and text == str(len(value)):
        return True
    if isinstance(value, dict) and value.keys() >= {"weight", "reach"} and len(found) == 1:
        ends = value["weight"] - value["reach"], value["weight"] + value["reach"]
        return any(holds(found[0], end) for end in ends)
    return all(_drawn(one, text, value, tick=False) for one in found)


def _drawn(shown: str, text: str, value: Any, *, tick: bool) -> bool:
    """Whether a number beside what is drawn is among the numbers and texts there, or within the reach of its axis."""
    inside = list(leaves(value))
    numbers = [one for one in inside if isinstance(one, int | float) and not isinstance(one, bool)]
    percent = re.search(re.escape(shown) + r"\s*%", text) is not None
    if any(holds(shown, 100 * one if percent else one) or holds(shown, one) for one in numbers):
        return True
    if "each within" in text and any(bounds(shown, one) for one in numbers):
        return True
    if any(
        shown in NUMBER.findall(one) or text.strip().removesuffix("…") in one
        for one in inside
        if isinstance(one, str)
    ):
        return True
    most = sum(sorted((abs(one) for one in numbers), reverse=True)[:2])
    return tick and abs(float(shown.replace("−", "-"))) <= 1.1 * max(most, 1.0)  # noqa: RUF001
