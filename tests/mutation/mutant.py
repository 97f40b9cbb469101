"""Mutant: one changed node, named by file, function and the text that it had, so that it survives movement."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from tests.mutation.operators import LABELS, Site, called, conditions, of_condition
from tests.mutation.places import ROOT, SOURCES

Definition = ast.FunctionDef | ast.AsyncFunctionDef
#: The node that stands for a module or a class, outside of its functions.
OUTSIDE = ""


class CannotPlant(LookupError):
    """The text that a mutant changes is gone."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """In `function` of `file` (below the sources), the `nth` node with the text `old` becomes `new`.

    `function` is a qualified name without `<locals>`; "" is the module outside of its functions. `wider` is the text
    of the statement around it, for whoever reads it.
    """

    file: str
    function: str
    operator: str
    old: str
    new: str
    nth: int
    wider: str

    @property
    def room(self) -> str:
        """The folder of the package."""
        return self.file.partition("/")[0]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Candidate:
    """A change of a node, and the lines of the statement that it stands in."""

    mutant: Mutant
    line: int
    statement: tuple[int, int]
    in_body: bool = True
    """Whether its line is run when the function is called; a default and a constant are read at the start."""


def functions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Every function with its qualified name, those inside of others included."""

    def within(node: ast.AST, prefix: str) -> Iterator[tuple[str, Definition]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Definition):
                yield prefix + child.name, child
                yield from within(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.ClassDef):
                yield from within(child, f"{prefix}{child.name}.")
            else:
                yield from within(child, prefix)

    yield from within(tree, "")


def candidates(file: str, text: str) -> Iterator[Candidate]:
    """Every mutant of a file, function by function, and of the constants of the module."""
    tree = ast.parse(text)
    words = frozenset(
        {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        | {"min", "max", "minimum", "maximum", "any", "all", "sum", "floor", "ceil", "log1p", "expm1"}
    )
    places: list[tuple[str, list[ast.AST], dict[str, tuple[str, ...]]]] = [
        (OUTSIDE, [node for node in tree.body if _is_constant(node)], {})
    ]
    for name, function in functions(tree):
        places.append((name, _own_parts(function), _siblings(function)))
    times: Counter[tuple[str, str]] = Counter()
    for name, parts, siblings in places:
        for node, statement in _nodes(parts):
            old = ast.unparse(node)
            nth = times[name, old]
            times[name, old] += 1
            changes = list(Site(node, words, siblings).changes())
            wider = _head(statement)
            span = _lines(statement)
            seen = {old}
            for operator, new in changes:
                if new not in seen:
                    seen.add(new)
                    mutant = Mutant(
                        file=file, function=name, operator=operator, old=old, new=new, nth=nth, wider=wider
                    )
                    in_body = isinstance(statement, ast.stmt) and name != OUTSIDE
                    yield Candidate(mutant, vars(node).get("lineno", span[0]), span, in_body)
            for test in conditions(node):
                text_of_test = ast.unparse(test)
                for operator, new in of_condition(test, loop=isinstance(node, ast.While)):
                    mutant = Mutant(
                        file=file,
                        function=name,
                        operator=operator,
                        old=text_of_test,
                        new=new,
                        nth=-1 - _tests_before(parts, test, text_of_test),
                        wider=wider,
                    )
                    yield Candidate(mutant, test.lineno, (test.lineno, test.end_lineno or test.lineno))


def _tests_before(parts: list[ast.AST], test: ast.expr, text: str) -> int:
    """How many conditions with this text come first."""
    before = 0
    for node, _ in _nodes(parts):
        for other in conditions(node):
            if other is test:
                return before
            before += ast.unparse(other) == text
    raise AssertionError(text)


def plant(mutant: Mutant, text: str) -> ast.Module:
    """The tree of the file with the change in it; lines stay where they are."""
    tree = ast.parse(text)
    node, _ = _find(mutant, tree)
    return _replaced(tree, node, mutant.new)


def plant_place(mutant: Mutant, text: str) -> tuple[int, int]:
    """The first and the last line of the statement that a mutant changes."""
    return _lines(_find(mutant, ast.parse(text))[1])


def _find(mutant: Mutant, tree: ast.Module) -> tuple[ast.AST, ast.AST]:
    """The node that a mutant changes, and the statement around it."""
    parts: list[list[ast.AST]] = (
        [[node for node in tree.body if _is_constant(node)]]
        if mutant.function == OUTSIDE
        else [_own_parts(function) for name, function in functions(tree) if name == mutant.function]
    )
    left = mutant.nth if mutant.nth >= 0 else -1 - mutant.nth
    for own in parts:
        for node, statement in _nodes(own):
            nodes = [node] if mutant.nth >= 0 else list(conditions(node))
            for each in nodes:
                if ast.unparse(each) == mutant.old:
                    if left == 0:
                        return each, statement
                    left -= 1
    raise CannotPlant(f"{mutant.file}: {mutant.function or 'the module'} has no {mutant.old!r} any more")


def place_of(mutant: Mutant, root: Path = ROOT) -> str:
    """The file of a mutant, or the one file of its room where its function is defined now."""
    if (root / SOURCES / mutant.file).is_file():
        return mutant.file
    homes = []
    for path in sorted((root / SOURCES / mutant.room).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if mutant.function and mutant.function in {name for name, _ in functions(ast.parse(text))}:
            homes.append(path.relative_to(root / SOURCES).as_posix())
    if len(homes) != 1:
        raise CannotPlant(f"{mutant.file} is gone, and {len(homes)} files define {mutant.function!r}")
    return homes[0]


def changes_nothing(mutant: Mutant, text: str) -> bool:
    """Whether the compiler makes the same of both."""
    after = compile(plant(mutant, text), mutant.file, "exec", dont_inherit=True)
    return _plain(compile(text, mutant.file, "exec", dont_inherit=True)) == _plain(after)


def _plain(code: CodeType) -> tuple[Any, ...]:
    """All that a code object does, without where it stands."""
    constants = tuple(_plain(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _replaced(tree: ast.Module, node: ast.AST, new: str) -> ast.Module:
    """The same tree with another node."""
    fresh: ast.AST = ast.parse(new).body[0]
    if not isinstance(node, ast.stmt):
        assert isinstance(fresh, ast.Expr)
        fresh = fresh.value
        if hasattr(node, "ctx") and hasattr(fresh, "ctx"):
            fresh.ctx = node.ctx
    for each in ast.walk(fresh):
        if isinstance(each, (ast.stmt, ast.expr)):
            ast.copy_location(each, node)
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, fresh)
                return tree
            if isinstance(value, list) and any(each is node for each in value):
                value[next(place for place, each in enumerate(value) if each is node)] = fresh
                return tree
    raise AssertionError(new)


def _own_parts(function: Definition) -> list[ast.AST]:
    """The defaults of a function and its body; functions inside of it are places of their own."""
    defaults = [*function.args.defaults, *(each for each in function.args.kw_defaults if each is not None)]
    return [*defaults, *function.body]


def _nodes(parts: list[ast.AST]) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Every node that may be changed, with the statement that it stands in, in the order of the text."""
    for part in parts:
        yield from _within(part, part)


def _within(node: ast.AST, statement: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    if isinstance(node, (Definition, ast.ClassDef, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.stmt):
        statement = node
    if isinstance(node, ast.Raise):
        yield node, statement
        return
    if isinstance(node, (ast.stmt, ast.expr, ast.comprehension)) and not _is_docstring(node):
        yield node, statement
    if isinstance(node, ast.Call) and called(node) == "require":
        for child in node.args[:1]:
            yield from _within(child, statement)
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "decorator_list", "func") and not isinstance(
            value, ast.Attribute
        ):
            continue
        if name == "func":
            yield from _within(value.value, statement)
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword):
                if child.arg not in LABELS:
                    yield from _within(child.value, statement)
            elif isinstance(child, ast.AST):
                yield from _within(child, statement)


def _is_constant(node: ast.stmt) -> bool:
    """Whether a statement of a module gives a value a name that is neither a type nor a list of names."""
    if isinstance(node, ast.AnnAssign):
        target: ast.expr = node.target
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    else:
        return False
    return isinstance(target, ast.Name) and target.id.strip("_").isupper() and "all" not in target.id


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _siblings(function: Definition) -> dict[str, tuple[str, ...]]:
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    kinds = {each.arg: ast.unparse(each.annotation) for each in parameters if each.annotation is not None}
    names = list(kinds)
    return {
        name: tuple(other for other in [*names[place + 1 :], *names[:place]] if kinds[other] == kinds[name])
        for place, name in enumerate(names)
    }


def _head(statement: ast.AST) -> str:
    """The first line of a statement's text."""
    return ast.unparse(statement).split("\n")[0][:160]


def _lines(statement: ast.AST) -> tuple[int, int]:
    """The lines of a statement; of one with a body, those of its head."""
    first = vars(statement)["lineno"]
    body = vars(statement).get("body")
    if isinstance(body, list) and body:
        return first, max(first, body[0].lineno - 1)
    return first, vars(statement).get("end_lineno") or first


@cache
def text_of(file: str, root: Path = ROOT) -> str:
    """The source of a file."""
    return (root / SOURCES / file).read_text(encoding="utf-8")
