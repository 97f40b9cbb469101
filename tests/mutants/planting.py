"""Planting: find the object that a fault names, wherever its room keeps it, and change its source.

Texts are compared as words and marks: layout does not count, nor does a comma before a closing bracket.
So neither a move within the room nor a formatter touches a fault.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from holdfast.refute._planting import CannotPlant as CannotPlant
from holdfast.refute._planting import replace_text as replace_text

from .fault import Fault

C_FUNCTION = re.compile(r"^(?:[\w *]+[ *])?(\w+)\([^;{}()]*\)\s*\{.*?^\}", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Definition:
    """Where one object stands: a file, below the sources, and the characters from `start` to `end`."""

    name: str
    file: Path
    start: int
    end: int


@dataclass(frozen=True)
class Planted:
    """One file, below the sources, before and after a fault."""

    file: Path
    before: str
    after: str


def plant(fault: Fault, sources: Path) -> Planted:
    """The one file that changes. `sources` is the folder of the rooms; nothing is written."""
    found = find(fault.target, sources)
    before = (sources / found.file).read_text(encoding="utf-8")
    try:
        segment = replace_text(before[found.start : found.end], fault.old, fault.new)
        after = before[: found.start] + segment + before[found.end :]
        if found.file.suffix == ".py":
            compile(after, str(found.file), "exec", dont_inherit=True)
            _require_known_names(fault, after, str(found.file))
    except (CannotPlant, SyntaxError) as problem:
        raise CannotPlant(f"{fault.target} ({found.file}): {problem}") from problem
    return Planted(found.file, before, after)


def _require_known_names(fault: Fault, source: str, file: str) -> None:
    """Refuse a fault whose new text uses a name that its file does not have: any test would notice a `NameError`."""
    words = set(re.findall(r"[A-Za-z_]\w*", fault.new)) - set(re.findall(r"[A-Za-z_]\w*", fault.old))
    if unknown := sorted(words & unbound_names(source, file)):
        raise CannotPlant(f"its new text uses {', '.join(unknown)}, which the file does not define")


def unbound_names(source: str, file: str) -> set[str]:
    r"""The names that a source reads as globals and that neither it nor Python defines.

    >>> sorted(unbound_names("import re\ndef f(x):\n    return re, x, y, len(x)", "f.py"))
    ['y']
    """
    module = symtable.symtable(source, file, "exec")
    bound = {
        symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()
    }
    bound |= {symbol.get_name() for symbol in module.get_symbols() if symbol.is_namespace()}
    tables, read = [module], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        read |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (symbol.is_global() or table is module)
        }
    return read - bound - set(dir(builtins)) - {"__file__", "__name__"}


def find(target: str, sources: Path) -> Definition:
    """The one definition that `target` names."""
    place, colon, name = target.partition(":")
    if not (place and colon and name):
        raise CannotPlant(f"{target!r} is not a room, a colon and a name, as in 'privacy:Gaussian.sample'")
    room, *narrower = place.split("/")
    found = [
        each for each in _definitions(sources, room) if each.name == name and _lies_in(each.file, narrower)
    ]
    if not found:
        raise CannotPlant(f"{target}: no file of {place} defines {name}")
    if len(found) > 1:
        files = ", ".join(str(each.file) for each in found)
        raise CannotPlant(
            f"{target}: {name} is defined {len(found)} times ({files}); "
            f"narrow the room by a folder or a file: {room}/{found[0].file.stem}:{name}"
        )
    return found[0]


def _lies_in(file: Path, narrower: list[str]) -> bool:
    """Whether the path goes through the named folders and files, in their order; others may lie between."""
    parts = iter([part.lstrip("_") for part in (*file.parts[1:-1], file.stem)])
    return all(part.lstrip("_") in parts for part in narrower)


@cache
def _definitions(sources: Path, room: str) -> tuple[Definition, ...]:
    """Every object of a room: a folder, or a module that stands alone."""
    # Simulators and printed constants are no part of the package; they lie beside it.
    home = sources.parents[1] / "studies" / room if room == "reproductions" else _home(room, sources)
    files = sorted(path for kind in ("py", "c") for path in home.rglob(f"*.{kind}"))
    alone = home.with_suffix(".py")
    found: list[Definition] = []
    for path in [*files, *([alone] if alone.exists() else [])]:
        text = path.read_text(encoding="utf-8")
        spans = _spans(text, path.suffix)
        file = Path(os.path.relpath(path, sources))
        found += (Definition(name, file, start, end) for name, start, end in spans)
    return tuple(found)


def _home(room: str, sources: Path) -> Path:
    """The folder of a room, or where its file would be; names in faults leave out the mark of what is not public."""
    private = sources / f"_{room}"
    return private if private.exists() or private.with_suffix(".py").exists() else sources / room


@cache  # the tree and its copies hold the same texts
def _spans(text: str, kind: str) -> tuple[tuple[str, int, int], ...]:
    """Every object of a source, and where it stands."""
    return tuple(_python_spans(text) if kind == ".py" else _c_spans(text))


def _python_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Whole lines, decorators included."""
    starts = [0, *(mark.end() for mark in re.finditer("\n", text)), len(text)]
    for name, node in _objects(ast.parse(text), "", constants=True):
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)])
        assert node.end_lineno is not None
        yield name, starts[first - 1], starts[node.end_lineno]


def _objects(node: ast.AST, prefix: str, *, constants: bool) -> Iterator[tuple[str, ast.stmt]]:
    """Functions and classes at any depth; names that a module or a class assigns, not a function's own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = prefix + child.name
            yield name, child
            yield from _objects(child, name + ".", constants=isinstance(child, ast.ClassDef))
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            for each in (part for target in targets for part in ast.walk(target)):
                if constants and isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    yield prefix + each.id, child
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _objects(child, prefix, constants=constants)


def _c_spans(text: str) -> Iterator[tuple[str, int, int]]:
    for function in C_FUNCTION.finditer(text):
        yield function[1], function.start(), function.end()
