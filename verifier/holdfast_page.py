"""Draw a holdfast page from its record, without holdfast: a reader of its template, and its charts.

The template and the style are data (`holdfast_page.json`, beside this file); the language that they are written in, the
charts and the forms of numbers are written anew here, from the description of the formats (docs/format.md).
`holdfast_verify.py` compares what comes out with the page that it was given, to the last byte.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

ZERO = "0" * 64
SHIPPED = Path(__file__).with_name("holdfast_page.json")
MOST_ENTRIES = 40
CONSTANTS = {
    "noticed": (0.8, "docs/audits.md, What would it have noticed?"),
    "weights": (0.95, "docs/dossier.md, Section by section"),
    "cells": (0.95, "docs/dossier.md, Section by section"),
    "one-per-cent": (0.01, "docs/dossier.md, Section by section"),
    "one-per-mille": (0.001, "docs/dossier.md, Section by section"),
    "shown": (MOST_ENTRIES, "docs/dossier.md, Section by section"),
}
ALIASES = {"found_at_a_tenth": "found_at_0.1_percent"}
"""A field that the template calls by another name than the record."""


# Forms of numbers.


def rounded_up(value: float, digits: int) -> float:
    """The least number of so many digits that is not below the value; one part in 10^9 does not count."""
    if value == 0 or not math.isfinite(value):
        return value
    slack = Decimal(abs(value) * 1e-9)
    nearest = Decimal(f"{value:.{digits - 1}e}")
    if abs(nearest - Decimal(value)) <= slack:
        return float(nearest)
    exact = Decimal(value - abs(value) * 1e-9)
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_CEILING))


def small(value: float) -> str:
    """Six digits, and no zeros in exponents."""
    return re.sub(r"e-0?(\d)", r"e-\1", f"{value:.6g}")


def percent(share: float) -> str:
    """One digit after the point, below ten three digits."""
    value = 100 * share
    return f"{value:.1f} %" if value >= 10 or value == 0 else f"{value:.3g} %"


def bound(value: float, *, times: int = 1) -> str:
    """Three digits, rounded up."""
    exact = times * Decimal(repr(float(value)))
    if not exact:
        return "0"
    last = exact.adjusted() - 2
    return (
        f"{float(exact.quantize(Decimal(1).scaleb(last if last > 12 else min(last, 0)), ROUND_CEILING)):.15g}"
    )


def budget_share(share: float) -> str:
    """Per cent of a limit."""
    return "under 0.01 %" if 0 < share < 0.01 else f"{round(share, 2):g} %"


def confidence(sure: float) -> str:
    """Rounded down to six digits, and certain only where it is 1."""
    if sure >= 1:
        return "100 %"
    nearest, slack = Decimal(f"{sure:.5e}"), Decimal(sure * 1e-9)
    down = float(nearest)
    if abs(nearest - Decimal(sure)) > slack:
        exact = Decimal(sure + sure * 1e-9)
        down = float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 5), "ROUND_FLOOR"))
    return f"{100 * float(f'{min(down, 1 - 1e-6):.6g}'):.6g} %"


FORMS: Mapping[str, Callable[[Any], str]] = {
    "percent": percent,
    "rate": lambda share: f"{small(100 * share)} %",
    "number": lambda value: f"{float(f'{value:.6g}') * (1 + 1e-12):.4g}",
    "promise": lambda epsilon: f"{rounded_up(epsilon, 4):.4g}",
    "confidence": confidence,
    "small": small,
    "bound": bound,
    "bound_rate": lambda share: f"{bound(share, times=100)} %",
    "probability": lambda value: "under 1e-6" if value < 1e-6 else f"{value:.2g}",
    "factor": lambda value: f"{value:.3g}",
    "chance": lambda value: f"{value:.2f}",
    "share": budget_share,
    "odds": lambda failure: f"one time in {math.floor(1 / failure * (1 + 1e-9)):,}",
    "start": lambda text: f"{text[:16]}…",
    "file": lambda name: name if "." in name else name.replace(" ", "-") + ".holdfast",
    "from_weight": lambda row: f"{row['weight'] - row['reach']:.4g}",
    "to_weight": lambda row: f"{row['weight'] + row['reach']:.4g}",
}


# Values of the record, which know their places.


class Html(str):
    """A text that is markup already."""

    __slots__ = ()


def escaped(value: Any) -> Html:
    """As a page writes it."""
    if isinstance(value, Part):
        return value.written(str)
    if isinstance(value, Html):
        return value
    text = str(value).replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")
    return Html(text.replace("'", "&#39;").replace('"', "&#34;"))


class Part:
    """A value of the record and its place; what is written of it that has a digit leads there."""

    def __init__(self, value: Any, place: str, used: dict[str, Any]) -> None:
        self.value, self.place, self.used = value, place, used

    def inner(self, key: Any, value: Any) -> Any:
        """A part of it."""
        if value is None or isinstance(value, bool):
            return value
        return Part(value, self.at(key), self.used)

    def at(self, key: Any) -> str:
        """The place of a part."""
        name = quote(str(key), safe="")
        return f"{self.place}/{name}" if self.place else name

    def linked(self, place: str, value: Any, text: str) -> Html:
        """The text, as a link where it has a digit."""
        if not any(letter.isdigit() for letter in text):
            return escaped(text)
        self.used.setdefault(place, value)
        return Html(f'<a class="src" tabindex="-1" href="#{escaped(place)}">{escaped(text)}</a>')

    def written(self, form: Callable[[Any], str]) -> Html:
        """The value in this form."""
        return self.linked(self.place, self.value, form(self.value))

    def get(self, key: Any) -> Any:
        """An item or a field, or one of the few methods that the template calls."""
        if isinstance(key, slice):
            return list(self)[key]
        if isinstance(self.value, dict) and ALIASES.get(key, key) in self.value and key != "items":
            key = ALIASES.get(key, key)
            return self.inner(key, self.value[key])
        if isinstance(self.value, list) and isinstance(key, int):
            return self.inner(key, self.value[key])
        if isinstance(self.value, str) and key in ("startswith", "split"):
            return getattr(self.value, key)
        methods = {
            "plain": self.plain,
            "link_target": self.link_target,
            "part_count": self.part_count,
            "items": self.items,
        }
        return methods[key]

    def plain(self) -> Any:
        """The value alone."""
        return self.value

    def link_target(self) -> str:
        """Its place, which the page links to."""
        self.used.setdefault(self.place, self.value)
        return self.place

    def part_count(self) -> Html:
        """How many parts it has."""
        return self.written(lambda value: f"{len(value)}")

    def items(self) -> list[tuple[Html, Any]]:
        """Of a mapping."""
        return [(self.linked(self.at(k), v, str(k)), self.inner(k, v)) for k, v in self.value.items()]

    def __iter__(self) -> Iterator[Any]:
        return iter([self.inner(place, value) for place, value in enumerate(self.value)])

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == bare(other))

    def __hash__(self) -> int:
        return hash(self.place)

    def __str__(self) -> str:
        return str(self.value)


def bare(value: Any) -> Any:
    """Without its place."""
    return value.value if isinstance(value, Part) else value


# The language of the template: a part of Jinja.

TOKEN = re.compile(
    r"\s*(?:(\d+\.\d+|\d+)|(\"[^\"]*\"|'[^']*')|([A-Za-z_]\w*)|(==|!=|>=|<=|[-+~*/|.,:()\[\]<>=]))"
)
COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "in": lambda a, b: any(a == part for part in b),
}
Scope = dict[str, Any]
Expression = Callable[[list[Scope]], Any]


class Reader:
    """An expression of the template, from its text."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        place, text = 0, text.rstrip()
        while place < len(text):
            match = TOKEN.match(text, place)
            if match is None:
                raise ValueError(f"the template has {text[place:]!r}")
            kind = ("number", "text", "name", "sign")[match.lastindex - 1 if match.lastindex else 0]
            self.tokens.append((kind, match[match.lastindex or 0]))
            place = match.end()
        self.place = 0

    def next_is(self, *signs: str) -> bool:
        """Whether one of these comes next."""
        return (
            self.place < len(self.tokens)
            and self.tokens[self.place][1] in signs
            and self.tokens[self.place][0] != "text"
        )

    def take(self, *signs: str) -> str:
        """The next sign or name, where it is one of these."""
        if not self.next_is(*signs):
            return ""
        self.place += 1
        return self.tokens[self.place - 1][1]

    def must(self, sign: str) -> None:
        """Nothing else may come next."""
        if not self.take(sign):
            raise ValueError(f"the template lacks {sign!r}")

    def name(self) -> str:
        """The next name."""
        self.place += 1
        return self.tokens[self.place - 1][1]

    def whole(self) -> Expression:
        """All of it."""
        found = self.choice()
        if self.place != len(self.tokens):
            raise ValueError(f"the template has {self.tokens[self.place :]!r}")
        return found

    def choice(self) -> Expression:
        """a if b else c."""
        found = self.either()
        while self.take("if"):
            first, when = found, self.either()
            other = self.choice() if self.take("else") else (lambda _: "")
            found = _choose(when, first, other)
        return found

    def either(self) -> Expression:
        """a or b."""
        found = self.both()
        while self.take("or"):
            found = _either(found, self.both())
        return found

    def both(self) -> Expression:
        """a and b."""
        found = self.negated()
        while self.take("and"):
            found = _both(found, self.negated())
        return found

    def negated(self) -> Expression:
        """not a."""
        if self.take("not"):
            inner = self.negated()
            return lambda s: not inner(s)
        return self.compared()

    def compared(self) -> Expression:
        """a == b."""
        left = self.sum()
        sign = self.take(*COMPARE)
        if not sign:
            return left
        right, compare = self.sum(), COMPARE[sign]
        if sign == "in":
            return lambda s: compare(left(s), right(s))
        return lambda s: compare(bare(left(s)), bare(right(s)))

    def sum(self) -> Expression:
        """a + b - c."""
        found = self.filtered()
        while sign := self.take("+", "-"):
            found = _sum(found, self.filtered(), 1 if sign == "+" else -1)
        return found

    def filtered(self) -> Expression:
        """a.b[c](d) | e is f."""
        found = self.primary()
        while True:
            if self.take("."):
                found = _field(found, self.name())
            elif self.take("["):
                found = self.item(found)
            elif self.take("("):
                found = _called(found, *self.arguments())
            elif self.take("|"):
                called = FILTERS[self.name()]
                found = _filter(called, found, self.arguments()[0] if self.take("(") else [])
            elif self.take("is"):
                found = (
                    _test(found, self.name(), wanted=True)
                    if not self.take("not")
                    else _test(found, self.name(), wanted=False)
                )
            else:
                return found

    def item(self, of: Expression) -> Expression:
        """What stands in brackets, an item or a slice."""
        first = None if self.next_is(":") else self.choice()
        if not self.take(":"):
            self.must("]")
            assert first is not None
            return lambda s: _get(of(s), bare(first(s)))
        last = None if self.next_is("]") else self.choice()
        self.must("]")
        return lambda s: _get(of(s), slice(first and first(s), last and last(s)))

    def arguments(self) -> tuple[list[Expression], dict[str, Expression]]:
        """What stands in parentheses."""
        given: list[Expression] = []
        named: dict[str, Expression] = {}
        while not self.take(")"):
            if self.place + 1 < len(self.tokens) and self.tokens[self.place + 1][1] == "=":
                name = self.name()
                self.must("=")
                named[name] = self.choice()
            else:
                given.append(self.choice())
            self.take(",")
        return given, named

    def primary(self) -> Expression:
        """A name, a constant, or something in parentheses."""
        if self.take("("):
            parts = [self.choice()]
            several = self.next_is(",")
            while self.take(","):
                parts.append(self.choice())
            self.must(")")
            return (lambda s: tuple(part(s) for part in parts)) if several else parts[0]
        if self.take("-"):
            inner = self.primary()
            return lambda s: -inner(s)
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "name":
            known = {"true": True, "false": False, "none": None}
            return (lambda _: known[text]) if text in known else (lambda s: _named(s, text))
        value = text[1:-1] if kind == "text" else float(text) if "." in text else int(text)
        return lambda _: value


def _choose(when: Expression, first: Expression, other: Expression) -> Expression:
    return lambda s: first(s) if when(s) else other(s)


def _either(left: Expression, right: Expression) -> Expression:
    return lambda s: left(s) or right(s)


def _both(left: Expression, right: Expression) -> Expression:
    return lambda s: left(s) and right(s)


def _sum(left: Expression, right: Expression, sign: int) -> Expression:
    return lambda s: left(s) + right(s) if sign > 0 else left(s) - right(s)


def _field(of: Expression, name: str) -> Expression:
    return lambda s: _get(of(s), name)


def _called(of: Expression, given: list[Expression], named: dict[str, Expression]) -> Expression:
    return lambda s: of(s)(*(one(s) for one in given), **{name: one(s) for name, one in named.items()})


def _filter(called: Callable[..., Any], of: Expression, given: list[Expression]) -> Expression:
    return lambda s: called(of(s), *(one(s) for one in given))


def _test(of: Expression, name: str, *, wanted: bool) -> Expression:
    if name != "none":
        raise ValueError(f"the template asks whether something is {name}")
    return lambda s: (of(s) is None) == wanted


def _named(scopes: list[Scope], name: str) -> Any:
    for scope in reversed(scopes):
        if name in scope:
            return scope[name]
    raise ValueError(f"the template speaks of {name!r}")


def _get(value: Any, key: Any) -> Any:
    return value.get(key) if isinstance(value, Part) else value[key]


def _path(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = _get(value, name)
    return value


def _selected(values: Any, path: str, how: str = "", *wanted: Any) -> list[bool]:
    tests: Mapping[str, Callable[[Any], Any]] = {
        "": bool,
        "none": lambda value: value is None,
        "equalto": lambda value: value == wanted[0],
    }
    return [bool(tests[how](_path(value, path))) for value in values]


def _in_form(form: Callable[[Any], str]) -> Callable[[Any], Any]:
    def write(value: Any) -> Any:
        if value is None:
            return "∞"
        return value.written(form) if isinstance(value, Part) else form(value)

    return write


FILTERS: dict[str, Callable[..., Any]] = {
    "length": len,
    "list": list,
    "first": lambda values: next(iter(values)),
    "join": lambda values, sign: Html(escaped(sign).join(escaped(value) for value in values)),
    "capitalize": lambda value: str(value).capitalize(),
    "selectattr": lambda values, *how: [
        v for v, yes in zip(values, _selected(values, *how), strict=True) if yes
    ],
    "rejectattr": lambda values, *how: [
        v for v, yes in zip(values, _selected(values, *how), strict=True) if not yes
    ],
    **{name: _in_form(form) for name, form in FORMS.items()},
}

TAG = re.compile(r"(\{#.*?#\}\n?|\{%.*?%\}\n?|\{\{.*?\}\})", re.S)
Node = Callable[[list[Scope], list[str]], None]


class Template:
    """The text of a template as steps that write a page."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"(?m)^[ \t]+(?=\{[%#])", "", text.removesuffix("\n"))
        self.pieces = TAG.split(text)
        self.place = 0
        self.steps, _ = self.block()

    def render(self, **content: Any) -> str:
        """What it writes."""
        out: list[str] = []
        scopes: list[Scope] = [content]
        for step in self.steps:
            step(scopes, out)
        return "".join(out)

    def block(self, *ends: str) -> tuple[list[Node], str]:
        """Steps up to one of these tags, and that tag."""
        steps: list[Node] = []
        while self.place < len(self.pieces):
            piece = self.pieces[self.place]
            self.place += 1
            if piece.startswith("{{"):
                steps.append(_output(Reader(piece[2:-2]).whole()))
            elif piece.startswith("{%"):
                tag = piece.rstrip("\n")[2:-2].strip()
                word, _, rest = tag.partition(" ")
                if word in ends:
                    return steps, tag
                steps.append(self.statement(word, rest))
            elif piece and not piece.startswith("{#"):
                steps.append(_literal(piece))
        return steps, ""

    def statement(self, word: str, rest: str) -> Node:
        """What a tag does."""
        if word == "if":
            return self.condition(rest)
        if word == "for":
            return self.loop(rest)
        if word == "macro":
            return self.macro(rest)
        if word != "set":
            raise ValueError(f"the template has a tag {word!r}")
        name, sign, value = rest.partition("=")
        if sign and re.fullmatch(r"\w+ ?", name):
            return _assignment(name.strip(), Reader(value).whole())
        steps, _ = self.block("endset")
        return _captured(rest.strip(), steps)

    def condition(self, rest: str) -> Node:
        """if, elif, else."""
        branches: list[tuple[Expression, list[Node]]] = []
        when: Expression = Reader(rest).whole()
        while True:
            steps, tag = self.block("elif", "else", "endif")
            branches.append((when, steps))
            if tag == "endif":
                return _branches(branches)
            when = Reader(tag[4:]).whole() if tag.startswith("elif") else (lambda _: True)

    def loop(self, rest: str) -> Node:
        """for a, b in c if d, and else."""
        names, _, over = rest.partition(" in ")
        reader = Reader(over)
        values = reader.either()
        only = reader.choice() if reader.take("if") else None
        steps, tag = self.block("else", "endfor")
        empty = self.block("endfor")[0] if tag == "else" else []
        return _loop([name.strip() for name in names.split(",")], values, only, steps, empty)

    def macro(self, rest: str) -> Node:
        """A part that is written at several places."""
        name, _, given = rest.partition("(")
        parameters = [
            (one.partition("=")[0].strip(), one.partition("=")[2]) for one in given.rstrip(") ").split(",")
        ]
        steps, _ = self.block("endmacro")
        defaults = {key: Reader(value).whole() for key, value in parameters if value}

        def step(scopes: list[Scope], out: list[str]) -> None:
            def called(*values: Any, **named: Any) -> Html:
                scope = {key: value(scopes) for key, value in defaults.items()}
                scope |= dict(zip((key for key, _ in parameters), values, strict=False)) | named
                inner: list[str] = []
                for one in steps:
                    one([scopes[0], scope], inner)
                return Html("".join(inner))

            scopes[-1][name] = called

        return step


def _literal(text: str) -> Node:
    return lambda scopes, out: out.append(text)


def _output(value: Expression) -> Node:
    return lambda scopes, out: out.append(escaped(value(scopes)))


def _assignment(name: str, value: Expression) -> Node:
    def step(scopes: list[Scope], out: list[str]) -> None:
        scopes[-1][name] = value(scopes)

    return step


def _captured(name: str, steps: list[Node]) -> Node:
    def step(scopes: list[Scope], out: list[str]) -> None:
        inner: list[str] = []
        for one in steps:
            one(scopes, inner)
        scopes[-1][name] = Html("".join(inner))

    return step


def _branches(branches: list[tuple[Expression, list[Node]]]) -> Node:
    def step(scopes: list[Scope], out: list[str]) -> None:
        for when, steps in branches:
            if when(scopes):
                for one in steps:
                    one(scopes, out)
                return

    return step


def _loop(
    names: list[str], values: Expression, only: Expression | None, steps: list[Node], empty: list[Node]
) -> Node:
    def scope_of(value: Any) -> Scope:
        return dict(zip(names, value, strict=True)) if len(names) > 1 else {names[0]: value}

    def step(scopes: list[Scope], out: list[str]) -> None:
        turns = [scope_of(value) for value in values(scopes)]
        turns = [turn for turn in turns if only is None or only([*scopes, turn])]
        for index, turn in enumerate(turns):
            turn["loop"] = {
                "index0": index,
                "index": index + 1,
                "first": index == 0,
                "last": index == len(turns) - 1,
            }
            for one in steps:
                one([*scopes, turn], out)
        for one in empty if not turns else []:
            one(scopes, out)

    return step


# Charts.

WIDTH, HEIGHT = 460, 340
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 34, 46
LINE = 15
LABELS = 176
LEAST_RATE = 1e-4
NARROW, WIDE = frozenset("iljtfrI.,:;'|!()[]{}/ "), frozenset("mwMWGOQ@%&…—")


class Axis:
    """A scale from `low` to `high`, drawn from `start` to `end`."""

    def __init__(self, span: tuple[float, float], start: float, end: float, label: str) -> None:
        self.low, self.high = span
        self.start, self.end, self.label = start, end, label
        self.log, self.ticked = False, True

    def place(self, value: float) -> float:
        """Where a value is drawn; what lies outside is moved to the edge."""
        value = min(max(value, self.low), self.high)
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            return self.start + (math.log10(value) - low) / (high - low) * (self.end - self.start)
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers within the range."""
        if not self.ticked:
            return []
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            decades = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
            every = max(1, math.ceil(len(decades) / 6))
            shown = [k for k in decades if k % every == 0]
            return [(10.0**k, f"1e{k}" if k < -2 or k > 3 else f"{10.0**k:g}") for k in shown]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 4))
        step *= next(m for m in (1, 2, 2.5, 5, 10) if (self.high - self.low) / (step * m) <= 6)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(k * step, f"{k * step:g}") for k in range(first, last + 1)]


Lines = list[tuple[str, list[float], list[float]]]
"""A name, places across and places upwards, of each line."""


def line(x: Axis, y: Axis, across: Sequence[float], upwards: Sequence[float]) -> str:
    """A path without corners that lie too close together."""
    places = [(x.place(a), y.place(b)) for a, b in zip(across, upwards, strict=True)]
    corners = [places[0]]
    for a, b in places[1:-1]:
        if max(abs(a - corners[-1][0]), abs(b - corners[-1][1])) >= 0.7:
            corners.append((a, b))
    return "M" + "L".join(f"{a:.1f},{b:.1f}" for a, b in [*corners, places[-1]])


def drawn_lines(x: Axis, y: Axis, lines: Lines) -> str:
    """All of them."""
    return "".join(
        f'<path class="line s{k % 8}" d="{line(x, y, a, b)}"/>' for k, (_, a, b) in enumerate(lines)
    )


def width_of(text: str) -> float:
    """About how wide a text is."""
    return 12.0 * sum(0.36 if c in NARROW else 0.95 if c in WIDE or ord(c) > 0x2E7F else 0.6 for c in text)


def wrapped(text: str, width: float) -> list[str]:
    """The text in lines that fit."""
    lines = [""]
    for word in re.findall(r"[^\s=_-]+[\s=_-]*|[\s=_-]+", text):
        if lines[-1] and width_of((lines[-1] + word).rstrip()) > width:
            lines.append("")
        for letter in word:
            if width_of(lines[-1] + letter.rstrip()) > width and lines[-1]:
                lines.append("")
            lines[-1] += letter
    return [one.rstrip() for one in lines]


def text_at(
    text: str, at: tuple[float, float], width: float, *, anchor: str = "start", style: str = ""
) -> tuple[str, int]:
    """A text in its lines, and how much room they take."""
    shown = wrapped(text, width)
    called = f' class="{style}"' if style else ""
    return "".join(
        f'<text{called} x="{at[0]:.1f}" y="{at[1] + LINE * k:.1f}" text-anchor="{anchor}">{html.escape(one)}</text>'
        for k, one in enumerate(shown)
    ), LINE * len(shown)


def frame(
    title: str,
    said: str,
    x: Axis,
    y: Axis,
    body: str,
    *,
    height: int = HEIGHT,
    facts: str = "",
    key: Sequence[str] = (),
) -> str:
    """The whole drawing."""
    left, floor = x.start, height - BOTTOM
    head, drop = text_at(title, (14, 18), 0.84 * (WIDTH - 28), style="title")
    parts = []
    for value, text in x.ticks():
        at = x.place(value)
        parts.append(f'<line class="gridline" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{floor}"/>')
        parts.append(f'<text class="tick" x="{at:.1f}" y="{floor + 16}" text-anchor="middle">{text}</text>')
    for value, text in y.ticks():
        at = y.place(value)
        parts.append(f'<line class="gridline" x1="{left}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="tick" x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{text}</text>')
    middle = ((left + WIDTH - RIGHT) / 2, height - 8)
    below, deep = text_at(x.label, middle, WIDTH - RIGHT - left, anchor="middle")
    end = height + deep - LINE + 10
    listed = ""
    for k, name in enumerate(key):
        listed += f'<line class="line s{k % 8}" x1="{left:.0f}" x2="{left + 24:.0f}" y1="{end}" y2="{end}"/>'
        words, room = text_at(name, (left + 30, end + 4), WIDTH - RIGHT - left - 30)
        listed += words
        end += room + 2
    parts += [
        body,
        f'<rect class="frame" x="{left}" y="{TOP}" width="{WIDTH - left - RIGHT}" height="{floor - TOP}"/>',
        below,
    ]
    if y.label:
        parts.append(
            f'<text transform="translate(14,{(TOP + floor) / 2}) rotate(-90)" text-anchor="middle">'
            f"{html.escape(y.label)}</text>"
        )
    parts.append(listed)
    drop -= LINE
    bottom = drop + (end if key else height + deep - LINE)
    name, text = html.escape(title), html.escape(said)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {bottom:.0f}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="{name}. {text}"{facts}><title>{name}</title><desc>{text}</desc>{head}'
        f'<g transform="translate(0,{drop:.0f})">{"".join(parts)}</g></svg>'
    )


def trade_offs(points: Any, *, log: bool, void: bool) -> str:
    """Members found against false alarms."""
    low = LEAST_RATE if log else 0.0
    x = Axis((low, 1), LEFT, WIDTH - RIGHT, "false alarms: non-members taken for members")
    y = Axis((low, 1), HEIGHT - BOTTOM, TOP, "members found")
    x.log = y.log = log
    rates = points["false_alarm"]
    lines = [(one["name"], rates, one["found"]) for one in points["series"]]
    shaded = f"{line(x, y, rates, lines[0][2])}L{x.end},{y.end}L{x.start:.1f},{y.end:.1f}Z"
    forbidden = "impossible, if the promise held" if void else "impossible, by the proof"
    body = (
        f'<path class="impossible" d="{shaded}"/><path class="coin" d="{line(x, y, rates, rates)}"/>'
        f'<text class="region" x="{LEFT + 10}" y="{TOP + 18}">{forbidden}</text>{drawn_lines(x, y, lines)}'
        '<g class="reading" visibility="hidden"><line class="cursor" y1="34" y2="294"/></g>'
    )
    near = min(range(len(rates)), key=lambda k: abs(rates[k] - 0.01))
    said = "; ".join(
        f"{name}: at {percent(rates[near])} false alarms {percent(found[near])} found"
        for name, _, found in lines
    )
    region = "The shaded region was claimed to be" if void else "The shaded region is"
    return frame(
        "What an attacker can achieve" + (" (log scale)" if log else ""),
        f"{region} out of reach. {said}.",
        x,
        y,
        body,
        key=[name for name, _, _ in lines],
        facts=f' data-left="{LEFT}" data-right="{WIDTH - RIGHT}" data-low="{low}"',
    )


def privacy_curve(points: Any) -> str:
    """delta against epsilon."""
    epsilons = points["epsilon"]
    x = Axis((0.0, epsilons[-1]), LEFT, WIDTH - RIGHT, "epsilon")
    y = Axis((1e-12, 1.0), HEIGHT - BOTTOM, TOP, "delta")
    y.log = True
    lines = [(one["name"], epsilons, one["delta"]) for one in points["series"]]
    half = epsilons[len(epsilons) // 2]
    said = "; ".join(
        f"{name}: delta {delta[0]:.3g} at epsilon 0, {delta[len(delta) // 2]:.3g} at epsilon {half:.3g}"
        for name, _, delta in lines
    )
    return frame("Privacy curve", said, x, y, drawn_lines(x, y, lines), key=[name for name, _, _ in lines])


def rows_of(labels: Sequence[str], least: int) -> tuple[list[float], int]:
    """Where rows begin, and how high the chart is."""
    heights = [max(19, 13 * len(wrapped(label, LABELS - 14)) + 6) for label in labels]
    spare = max(0.0, least - TOP - BOTTOM - sum(heights)) / len(heights)
    tops = [float(TOP)]
    for height in heights:
        tops.append(tops[-1] + height + spare)
    return tops, math.ceil(tops[-1]) + BOTTOM


def label_at(label: str, middle: float) -> str:
    """A label beside its row."""
    shown = wrapped(label, LABELS - 14)
    first = middle + 4 - 13 * (len(shown) - 1) / 2
    return "".join(
        f'<text class="tick" x="{LABELS - 6}" y="{first + 13 * k:.1f}" text-anchor="end">{html.escape(one)}</text>'
        for k, one in enumerate(shown)
    )


def row_axes(low: float, high: float, height: int, label: str) -> tuple[Axis, Axis]:
    """Of a chart with a row for each label."""
    y = Axis((0.0, 1.0), TOP, height - BOTTOM, "")
    y.ticked = False
    return Axis((low, high), LABELS, WIDTH - RIGHT, label), y


def bars(table: Any) -> str:
    """Released counts."""
    labels, counts, error = table["labels"], [float(one) for one in table["counts"]], table["error"]
    tops, height = rows_of(labels, 160)
    top = max(max(counts) + error, 1.0) * 1.05
    x, y = row_axes(0.0, top, height, "released count, in records")
    body = ""
    for k, (label, count) in enumerate(zip(labels, counts, strict=True)):
        middle, thick = (tops[k] + tops[k + 1]) / 2, max(1.0, min(0.7 * (tops[k + 1] - tops[k]), 30))
        zero, end, low, high = (x.place(one) for one in (0.0, count, count - error, count + error))
        body += (
            f'<rect class="bar" x="{zero:.1f}" y="{middle - thick / 2:.1f}" width="{max(0.0, end - zero):.1f}" '
            f'height="{thick:.1f}"/><line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{middle:.1f}" '
            f'y2="{middle:.1f}"/>{label_at(label, middle)}'
        )
    text = "; ".join(f"{label}: {count:.0f}" for label, count in zip(labels, counts, strict=True))
    return frame(table["title"], f"{text}; each within {bound(error)} records.", x, y, body, height=height)


def coefficients(
    title: str, names: Sequence[str], weights: Sequence[float], reach: Sequence[Any], label: str
) -> str:
    """A dot for each, and its interval."""
    wide = [one or 0.0 for one in reach]
    most = max(abs(a) + b for a, b in zip(weights, wide, strict=True)) * 1.06 or 1.0
    tops, height = rows_of(names, TOP + BOTTOM + 4 * 19)
    x, y = row_axes(-most, most, height, label)
    zero = x.place(0.0)
    body = f'<line class="zero" x1="{zero:.1f}" x2="{zero:.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>'
    for k, (name, value, half) in enumerate(zip(names, weights, wide, strict=True)):
        middle = (tops[k] + tops[k + 1]) / 2
        low, at, high = (x.place(one) for one in (value - half, value, value + half))
        body += (
            f'<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
            f'<circle class="dot" cx="{at:.1f}" cy="{middle:.1f}" r="3.4"/>{label_at(name, middle)}'
        )
    text = "; ".join(
        f"{name}: {value:.3g}" + ("" if half is None else f" plus or minus {half:.2g}")
        for name, value, half in zip(names, weights, reach, strict=True)
    )
    return frame(title, text, x, y, body, height=height)


def budget(parts: Sequence[tuple[str, float]]) -> str:
    """Shares of a limit, left to right."""
    body, at = "", 14.0
    for k, (_, share) in enumerate(parts):
        width = max(0.0, min(share * ((WIDTH - 28) / 100.0), WIDTH - 14 - at))
        body += f'<rect class="bar part{k}" x="{at:.1f}" y="32" width="{width:.1f}" height="26"/>'
        at += width
    for k, (name, share) in enumerate(parts):
        left = 14 + k * 150
        body += (
            f'<rect class="bar part{k}" x="{left}" y="70" width="11" height="11"/>'
            f'<text x="{left + 17}" y="80">{html.escape(name)} {budget_share(share)}</text>'
        )
    said = html.escape(", ".join(f"{name} {budget_share(share)}" for name, share in parts))
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} 92" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="The budget: {said}"><title>The budget</title><desc>{said}</desc>'
        f'<text class="title" x="14" y="18">The budget</text>{body}'
        f'<rect class="frame" x="14" y="32" width="{WIDTH - 28}" height="26"/></svg>'
    )


def intervals(utility: Any) -> str:
    """Of released statistics those that are drawn: an interval each, and a dot where something was learnt."""
    label = utility["drawn"]
    rows = [row for row in utility["rows"] if row["name"].startswith(f"{label}: ")][:24]
    names = [row["name"].removeprefix(f"{label}: ") for row in rows]
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    room = 0.04 * (high - low) or 1.0
    tops, height = rows_of(names, TOP + BOTTOM + 4 * 19)
    x, y = row_axes(low - room, high + room, height, label)
    body = ""
    for k, (name, row) in enumerate(zip(names, rows, strict=True)):
        middle, first, last = (tops[k] + tops[k + 1]) / 2, x.place(row["low"]), x.place(row["high"])
        body += (
            f'<line class="whisker" x1="{first:.1f}" x2="{last:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
            f"{label_at(name, middle)}"
        )
        if row["value"] is not None:
            at = x.place(row["value"])
            body += f'<circle class="dot" cx="{at:.1f}" cy="{middle:.1f}" r="3.4"/>'
    said = "; ".join(
        f"{name}: from {row['low']:.4g} to {row['high']:.4g}" for name, row in zip(names, rows, strict=True)
    )
    return frame(f"Released statistics: {label}", said, x, y, body, height=height)


def shape(row: Any) -> str:
    """What a column adds to the score."""
    values, title = row["values"], f"What {row['name']} adds to the score"
    if not row["numeric"]:
        largest = sorted(range(len(values)), key=lambda k: -abs(values[k]))[:24]
        order = sorted(largest, key=lambda k: -values[k])
        names = [row["labels"][k] for k in order]
        return coefficients(
            title, names, [values[k] for k in order], [None] * len(order), "adds to the score"
        )
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 1.0
    first, last = row["places"][0], row["places"][-1]
    x = Axis((first, last if last > first else first + 1.0), 64, WIDTH - 16, row["name"])
    y = Axis((low - margin, high + margin), 240 - 44, TOP, "adds to the score")
    body = f'<path class="line s0" d="{line(x, y, row["places"], values)}"/>'
    return frame(title, f"{row['name']}: from {low:.3g} to {high:.3g}", x, y, body, height=240)


def pair(row: Any) -> str:
    """What two columns add, as a table."""
    size = len(row["left"])
    head = "".join(f'<th scope="col" class="n">{html.escape(word)}</th>' for word in row["right"])
    body = ""
    for k, word in enumerate(row["left"]):
        if word:
            cells = row["values"][k * size : (k + 1) * size]
            shown = "".join(f'<td class="n">{value:+.2f}</td>' for value in cells)
            body += f'<tr><th scope="row">{html.escape(word)}</th>{shown}</tr>'
    caption = f"What {html.escape(row['name'])} add together, beyond each alone"
    return (
        f'<div class="scroll" role="region" aria-label="{caption}" tabindex="0"><table><caption>{caption}</caption>'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def model(utility: Any) -> str:
    """The chart of a model, if it has one."""
    if utility["kind"] == "additive":
        return "".join([*map(shape, utility["rows"]), *map(pair, utility["pairs"])])
    if utility["kind"] == "statistics":
        return intervals(utility)
    if utility["kind"] not in ("model", "inferred") or not utility["rows"]:
        return ""
    rows, word = utility["rows"][:24], "coefficient" if utility["kind"] == "inferred" else "weight"
    return coefficients(
        f"Released {word}s, the largest first",
        [row["name"] for row in rows],
        [row["weight"] for row in rows],
        [row["reach"] for row in rows],
        word,
    )


# References and sources.


class Citations:
    """What the texts of a page cite, in the order in which it does."""

    def __init__(self, stored: Any) -> None:
        self.known: dict[str, tuple[str, str]] = {}
        for paper in stored["papers"]:
            self.known |= {name: (paper["text"], "") for name in paper["names"]}
        for name, title in stored["pages"].items():
            what = f"Documentation of holdfast, page “{title}” (docs/{name}.md)."
            self.known[f"docs/{name}.md"] = (what, "")
        names = sorted(self.known, key=len, reverse=True)
        self.named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
        for number, section in stored["sections"].items():
            text = re.sub(r"(?<![\w*])\*(\w+)\*(?![\w*])", r"\1", section["text"])
            what = f"Soundness notes of holdfast, section {number}: {section['title']}."
            self.known[number] = (what, text)
        self.found: dict[tuple[str, str], int] = {}

    def __call__(self, value: Any) -> Html:
        """A text, and links to what it cites."""
        text = str(value)
        places = [(match.start(), self.known[match[0]]) for match in self.named.finditer(text)]
        for match in re.finditer(r"soundness, sections? (\d+(?:(?:, | and )\d+)*)", text):
            numbers = [name for name in re.findall(r"\d+", match[1]) if name in self.known]
            places += [(match.start(), self.known[name]) for name in numbers]
        shown: str = escaped(value)
        for cited in dict.fromkeys(one for _, one in sorted(places, key=lambda place: place[0])):
            number = self.found.setdefault(cited, len(self.found) + 1)
            shown += f' <a class="ref" href="#reference-{number}">[{number}]</a>'
        return Html(shown)

    def listed(self) -> list[dict[str, str]]:
        """All of them, by number."""
        return [{"what": what, "text": text} for what, text in self.found]


def origin(place: str, record: Any) -> tuple[str, str]:
    """Where a place of the record comes from, and the field of a file that it is a copy of."""
    first, *rest = place.split("/")
    names = " and ".join(one["name"] for one in record["releases"])
    if first == "constant":
        return f"the page itself ({CONSTANTS[rest[0]][1]})", ""
    if first == "releases" and rest:
        name = record["releases"][int(rest[0])]["name"]
        field = rest[1]
        if field in ("provenance", "certificates", "guarantee"):
            return f"{name}, its fields", "/".join(rest[1:])
        copies = {"created": "provenance/created", "theorem": "guarantee/theorem"}
        if field in copies:
            return f"{name}, its fields", copies[field]
        words = {
            "title": "estimator, method and package in its provenance",
            "useless": "its prospects and its first certificate",
            "utility": "its values",
        }
        return f"{name}, {words.get(field, 'the file')}", ""
    if first in ("payments", "budgets"):
        ledger = record["payments"][0]["ledger"] if record["payments"] else ""
        return f"the ledger {ledger}".strip(), ""
    if first == "tried" and rest and record["tried"][int(rest[0])]["kind"] == "attack":
        return "attacks, as they were run on the owner's side", ""
    return {
        "promise": f"the guarantees in {names}",
        "picture": f"the guarantees in {names}, and what was tried against them",
        "tried": "the audits that are stored in the record of this page",
        "contradictions": "what was tried, held against the promise",
        "story": f"the guarantees in {names}, one after the other",
        "doubts": f"what {names} assume, and what the ledger does not say",
        "tables": f"the values in {names}; titles and labels are those of whoever made the page",
        "accuracy": "whoever holds the data",
    }.get(first, "whoever made the page"), ""


def value_text(value: Any) -> str:
    """A value as the last section shows it."""
    numbers = isinstance(value, list) and all(isinstance(one, int | float) for one in value)
    if numbers and len(value) > 1:
        return f"{len(value)} numbers, from {value[0]} to {value[-1]}"
    if isinstance(value, list | dict) and len(str(value)) > 160:
        return f"{len(value)} parts"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:159]}…"


def sources(used: dict[str, Any], record: Any) -> list[tuple[str, list[dict[str, str]]]]:
    """Every place that the page links to, by where its value comes from."""
    groups: dict[str, list[dict[str, str]]] = {}
    for place, value in used.items():
        source, copy = origin(place, record)
        groups.setdefault(source, []).append({"place": place, "value": value_text(value), "copy_of": copy})
    return list(groups.items())


# The page.


def shipped() -> dict[str, Any]:
    """Template, script, style and references, as they lie beside this file."""
    stored: dict[str, Any] = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return stored


def drawn(record: Any) -> str:
    """The page of a record, sealed."""
    data = shipped()
    used: dict[str, Any] = {}
    cite = Citations(data["references"])
    script = Template(data["script"]).render()
    style = data["colours"] + Template(data["style"]).render()
    void = bool(record["contradictions"]) or not record["promise"]["private"]
    embedded = json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        embedded = embedded.replace(letter, f"\\u{ord(letter):04x}")
    page = Template(data["template"]).render(
        style=Html(style),
        script=Html(script),
        policy=f"default-src 'none'; style-src 'sha256-{digest(style)}'; script-src 'sha256-{digest(script)}'; "
        "base-uri 'none'; form-action 'none'",
        record=Part(record, "", used),
        constant={name: Part(value, f"constant/{name}", used) for name, (value, _) in CONSTANTS.items()},
        sources=lambda: sources(used, record),
        cite=cite,
        references=cite.listed,
        linear=Html(trade_offs(record["picture"]["linear"], log=False, void=void)),
        log=Html(trade_offs(record["picture"]["log"], log=True, void=void)),
        curve=Html(privacy_curve(record["promise"]["curve_points"])),
        tables=[Html(bars(table)) for table in record["tables"]],
        budgets=[
            Html(budget([(part["name"], part["share"]) for part in one["parts"]]))
            for one in record["budgets"]
        ],
        models=[Html(model(release["utility"])) for release in record["releases"]],
        embedded=Html(embedded),
        seal=ZERO,
    )
    return page.replace(ZERO, hashlib.sha256(page.encode()).hexdigest(), 1)


def digest(text: str) -> str:
    """As a policy names a style or a script."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
