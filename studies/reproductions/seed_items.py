"""Every computable item of the source documents: what is printed, where ours is, and what follows.

`studies/reproductions/items/*.toml` has one line for each item. Our numbers are pointers into files of results, so
that no value is typed twice, and where a number or an order can be compared the verdict is computed:

- `"001_bolt_on.json > KEY"`: the mean of the numbers kept by that key, over seeds if it has some; `KEY [i]` for one;
  a key that its script lists as waiting makes the item "not yet";
- `"001_runtime.md # HEADING > ROW > COLUMN"`: a cell of a page's table; `HEADING | CORNER` where a heading has several
  tables; rows of two labels are `FIRST / SECOND`;
- `within`: confirmed if every number of ours is at most that far from its printed one, else refuted;
- `one_run`: confirmed if a further run of ours would give numbers like the printed ones with that probability, by the
  spread of the runs that are kept (`seed_agreement`), else refuted; for documents that print a single run;
- `holds`: confirmed if the comparison is true of ours, called a, b, ... in order, and of the printed p, q, ...
"""

from __future__ import annotations

import ast
import json
import math
import re
import string
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from studies.reproductions.seed_agreement import agrees

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "studies" / "reproductions" / "items"
RESULTS = ROOT / "studies" / "reproductions" / "results"
VERDICTS = ("confirmed", "corrected", "refuted", "not reproducible", "not yet")
FIELDS = {
    "item",
    "section",
    "what",
    "where",
    "printed",
    "ours",
    "test",
    "within",
    "one_run",
    "holds",
    "verdict",
    "why",
}


class BadItem(ValueError):
    """An item that does not say what it must, or points to nothing."""


class Waiting(BadItem):
    """A number that its script knows of and has not measured yet."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line."""

    document: str
    item: str
    section: str
    what: str
    where: tuple[str, ...]
    printed: tuple[float | str, ...]
    ours: tuple[str, ...]
    test: tuple[str, ...]
    within: float | None
    one_run: float | None
    holds: str | None
    stated: str | None
    why: str

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.document}, {self.item}"

    @property
    def numbers(self) -> tuple[float, ...]:
        """Ours, resolved; raises Waiting where one has not been measured."""
        return tuple(resolve(pointer) for pointer in self.ours)

    @property
    def waiting(self) -> bool:
        """Whether something that it points to has still to be measured; BadItem where nothing will ever be there."""
        left = 0
        for pointer in self.ours:  # all of them: a bad pointer may not hide behind one that waits
            try:
                resolve(pointer)
            except Waiting:
                left += 1
        return left > 0

    @property
    def verdict(self) -> str:
        """Computed where something can be compared, else as stated; "not yet" while a number is waiting."""
        if self.waiting:
            return "not yet"
        if self.within is not None:
            pairs = zip(self.numbers, self.printed, strict=True)
            near = all(abs(ours - float(printed)) <= self.within for ours, printed in pairs)
            return "confirmed" if near else "refuted"
        if self.one_run is not None:
            runs, said = [kept(pointer) for pointer in self.ours], [float(each) for each in self.printed]
            return "confirmed" if agrees(runs, said, level=self.one_run) else "refuted"
        if self.holds is not None:
            return "confirmed" if compare(self.holds, self.numbers, self.printed) else "refuted"
        return str(self.stated)

    def check(self) -> None:
        """Raise BadItem for whatever is wrong."""
        rules = [self.within is not None, self.one_run is not None, self.holds is not None]
        computed = any(rules)
        if sum(rules) + (self.stated is not None) != 1:
            raise BadItem(f"{self.name}: either a verdict, or something to compute it from")
        if self.verdict not in VERDICTS:
            raise BadItem(f"{self.name}: verdict {self.verdict!r} is none of {', '.join(VERDICTS)}")
        if self.verdict in ("confirmed", "corrected", "refuted") and not (self.ours or self.test):
            raise BadItem(f"{self.name}: {self.verdict} by what? give ours or test")
        if self.verdict not in ("confirmed",) and not self.why and not computed:
            raise BadItem(f"{self.name}: {self.verdict}, and why?")
        if computed and not self.ours:
            raise BadItem(f"{self.name}: nothing of ours to compare")
        for place in (*self.where, *self.test):
            there(place)


def compare(rule: str, ours: tuple[float, ...], printed: tuple[float | str, ...]) -> bool:
    """A comparison of numbers: names, constants, + - * / abs min max, and < <= > >= and.

    >>> compare("a < b and abs(a - p) <= 0.1", (0.5, 0.7), (0.45,))
    True
    """
    names: dict[str, Any] = dict(zip(string.ascii_lowercase, ours, strict=False))
    names |= dict(zip("pqrs", (value for value in printed if not isinstance(value, str)), strict=False))
    allowed = (
        ast.Expression,
        ast.Compare,
        ast.BoolOp,
        ast.And,
        ast.BinOp,
        ast.UnaryOp,
        ast.USub,
        ast.Add,
        ast.Sub,
        ast.Mult,
        ast.Div,
        ast.Lt,
        ast.LtE,
        ast.Gt,
        ast.GtE,
        ast.Name,
        ast.Load,
        ast.Constant,
        ast.Call,
    )
    tree = ast.parse(rule, mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, allowed):
            raise BadItem(f"{rule!r} is no comparison of numbers")
    functions = {"abs": abs, "min": min, "max": max}
    return bool(eval(compile(tree, "holds", "eval"), {"__builtins__": {}}, functions | names))


# Pointers.


def resolve(pointer: str) -> float:
    """The number that a pointer points to."""
    file, _, rest = (part.strip() for part in pointer.partition(" > "))
    if file.endswith(".json"):
        numbers = kept(pointer)
        return math.fsum(numbers) / len(numbers)
    page, _, heading = (part.strip() for part in file.partition(" # "))
    row, _, column = (part.strip() for part in rest.rpartition(" > "))
    found = {
        cells[column]
        for title, rows in tables(page)
        for labels, cells in rows
        if heading.lower() in title.lower() and row in labels and column in cells
    }
    if len(found) != 1:
        raise BadItem(f"{pointer}: {len(found)} cells, and there should be one")
    return number(found.pop(), pointer)


def kept(pointer: str) -> list[float]:
    """All numbers that a pointer into a file of numbers points to: one for each seed or run."""
    file, _, key = (part.strip() for part in pointer.partition(" > "))
    place = re.fullmatch(r"(.*) \[(\d+)\]", key)
    name, at = (place[1], int(place[2])) if place else (key, None)
    values = _json(file)["values"]
    lists = [
        numbers
        for each, numbers in values.items()
        if each == name or re.fullmatch(re.escape(name) + r", (seed|run) \d+.*", each)
    ]
    if not lists and {name, f"{name}, seed 0", f"{name}, run 0"} & set(_json(file).get("waiting", ())):
        raise Waiting(f"{pointer}: not measured yet")
    if not lists:
        raise BadItem(f"{pointer}: no such key")
    return [x for numbers in lists for x in (numbers if at is None else [numbers[at]])]


@cache
def _json(file: str) -> Any:
    path = RESULTS / file
    if not path.is_file():
        raise BadItem(f"{file} is not in studies/reproductions/results")
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def tables(page: str) -> list[tuple[str, list[tuple[set[str], dict[str, str]]]]]:
    """All tables of a page under their headings: each row by its labels, its cells by their columns."""
    path = RESULTS / page
    if not path.is_file():
        raise BadItem(f"{page} is not in studies/reproductions/results")
    found: list[tuple[str, list[tuple[set[str], dict[str, str]]]]] = []
    title, header, above = "", [""], ""
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("#"):
            title = line.lstrip("# ")
        if not line.startswith("|"):
            header, above = [], ""
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not header:
            header = cells
            found.append((f"{title} | {cells[0]}", []))
        elif not set(line) <= set("|-: "):
            above = cells[0] or above
            labels = {above, f"{above} / {cells[1]}" if len(cells) > 1 else above}
            found[-1][1].append((labels, dict(zip(header, cells, strict=False))))
    return found


def number(cell: str, pointer: str) -> float:
    """The first number of a cell.

    >>> number("0.743 ± 0.010", ""), number("1,024", ""), number("56.5 %", "")
    (0.743, 1024.0, 56.5)
    """
    found = re.search(r"[-+]?\d[\d,]*\.?\d*(e[-+]?\d+)?", cell)
    if found is None:
        raise BadItem(f"{pointer}: no number in {cell!r}")
    return float(found[0].replace(",", ""))


def there(place: str) -> None:
    """Refuse a path of the repository, or `path::name` in it, that is not there."""
    path, _, name = place.partition("::")
    if not (ROOT / path).exists():
        raise BadItem(f"{path} is not there")
    if name and not re.search(rf"\b{re.escape(name)}\b", (ROOT / path).read_text(encoding="utf-8")):
        raise BadItem(f"{name} is not in {path}")


# All items.


def _texts(value: Any) -> tuple[Any, ...]:
    return () if value is None else tuple(value) if isinstance(value, list) else (value,)


def load(folder: Path = FOLDER) -> list[Item]:
    """All documents, in the order of their files."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        for line in content["items"]:
            unknown = set(line) - FIELDS
            if unknown:
                raise BadItem(f"{path.name}, {line.get('item')}: unknown {', '.join(sorted(unknown))}")
            found.append(
                Item(
                    document=content["document"],
                    item=line["item"],
                    section=line["section"],
                    what=line["what"],
                    where=_texts(line.get("where")),
                    printed=_texts(line.get("printed")),
                    ours=_texts(line.get("ours")),
                    test=_texts(line.get("test")),
                    within=line.get("within"),
                    one_run=line.get("one_run"),
                    holds=line.get("holds"),
                    stated=line.get("verdict"),
                    why=line.get("why", ""),
                )
            )
    return found
