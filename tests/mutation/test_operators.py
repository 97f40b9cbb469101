"""What each operator makes of a line, and what is left alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutation.mutant import CannotPlant, Mutant, candidates, changes_nothing, place_of, plant


def changes(body: str, signature: str = "x, y") -> set[tuple[str, str]]:
    """Every (old, new) in a function with this body."""
    lines = "\n".join("    " + line for line in body.split("\n"))
    return {
        (each.mutant.old, each.mutant.new)
        for each in candidates("room/file.py", f"def f({signature}):\n{lines}\n")
    }


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        ("return x * y", "x * y", "x"),
        ("return x * y", "x * y", "x / y"),
        ("return x + y", "x + y", "x - y"),
        ("return x - y", "x - y", "x"),
        ("return x**2", "x ** 2", "x"),
        ("return x // 2", "x // 2", "-(-x // 2)"),
        ("return max(x, y)", "max(x, y)", "min(x, y)"),
        ("return max(x, y)", "max(x, y)", "y"),
        ("return sum(x)", "sum(x)", "max(x)"),
        ("return x.sum(axis=1)", "x.sum(axis=1)", "x.max(axis=1)"),
        ("return x.sum(axis=1)", "x.sum(axis=1)", "x.sum()"),
        ("return np.max(x)", "np.max(x)", "np.sum(x)"),
        ("return math.floor(x)", "math.floor(x)", "math.ceil(x)"),
        ("return x > y", "x > y", "x >= y"),
        ("return x > y", "x > y", "x < y"),
        ("return x == y", "x == y", "x != y"),
        ("return x and y", "x and y", "x or y"),
        ("return x and y", "x and y", "y"),
        ("return not x", "not x", "x"),
        ("return -x", "-x", "x"),
        ("if x:\n    y = 1\nreturn y", "x", "not x"),
        ("if x:\n    y = 1\nreturn y", "x", "False"),
        ("return [z for z in x if z]", "z", "not z"),
        ("return x if y else 0", "x if y else 0", "x"),
        ("return 3", "3", "4"),
        ("return 3", "3", "2"),
        ("return 0.5", "0.5", "1.0"),
        ("return True", "True", "False"),
        ("return range(x)", "range(x)", "range(x - 1)"),
        ("return len(x)", "len(x)", "len(x) + 1"),
        ("return x[1:]", "x[1:]", "x[:]"),
        ("return x[:y]", "x[:y]", "x[:y + 1]"),
        ("return clip_rows(x, y)", "clip_rows(x, y)", "x"),
        ("return x.clip(0, y)", "x.clip(0, y)", "x"),
        ("return math.sqrt(x)", "math.sqrt(x)", "x"),
        ("return account.release(x, y)", "account.release(x, y)", "y"),
        ("return f(x, y)", "f(x, y)", "f(y, x)"),
        ("return f(a=x, b=y)", "f(a=x, b=y)", "f(a=y, b=x)"),
        ("return f(a=x, b=y)", "f(a=x, b=y)", "f(b=y)"),
        ("account.charge(x)\nreturn y", "account.charge(x)", "pass"),
        ("x += y\nreturn x", "x += y", "pass"),
        ("x += y\nreturn x", "x += y", "x -= y"),
        ("x = f(x)\nreturn x", "x = f(x)", "pass"),
        ("if x:\n    raise ValueError(y)\nreturn x", "raise ValueError(y)", "pass"),
        ("for y in x:\n    break\nreturn y", "break", "pass"),
        ("return x.epsilon + y.delta", "x.epsilon", "x.delta"),
        ("require(x > 0, 'x', x, 'positive')", "x > 0", "x >= 0"),
        ("require(x > 0, 'x', x, 'positive')", "require(x > 0, 'x', x, 'positive')", "pass"),
    ],
)
def test_every_operator(body: str, old: str, new: str) -> None:
    assert (old, new) in changes(body)


def test_another_argument_of_one_type() -> None:
    assert ("x", "y") in changes("return x", "x: float, y: float, z: int")
    assert ("z", "x") not in changes("return z", "x: float, y: float, z: int")


@pytest.mark.parametrize(
    "body",
    [
        '"""A text."""',
        "raise ValueError(f'{x - 1} is below {y}')",
        "assert x > 0",
        "import numpy as np",
        "value: dict[int, float]",
        "f(f'{x + 1}')",
    ],
)
def test_what_is_left_alone(body: str) -> None:
    assert {old for old, _ in changes(body)} <= {body.replace('"""', "'")}, changes(body)


def test_arguments_of_min_are_not_swapped() -> None:
    assert ("min(x, y)", "min(y, x)") not in changes("return min(x, y)")


SOURCE = """\
LEAST = 3


class Law:
    def price(self, sigma: float) -> float:
        if sigma > LEAST:
            return 2 * sigma
        return sigma + 2 * sigma
"""


def mutant(**changed: object) -> Mutant:
    facts = {
        "old": "2 * sigma",
        "new": "sigma",
        "nth": 1,
        "operator": "drop a factor",
        "wider": "",
        **changed,
    }
    return Mutant(**({"file": "room/law.py", "function": "Law.price"} | facts))  # type: ignore[arg-type]


def test_the_node_that_is_meant_changes_and_lines_stay() -> None:
    assert ast.unparse(plant(mutant(), SOURCE)) == ast.unparse(
        ast.parse(SOURCE.replace("sigma + 2 * sigma", "sigma + sigma"))
    )
    lines = [
        vars(node).get("lineno") for node in ast.walk(plant(mutant(), SOURCE)) if isinstance(node, ast.Return)
    ]
    assert lines == [8, 7] or lines == [7, 8]


def test_a_condition_is_told_from_an_expression_with_its_text() -> None:
    after = ast.unparse(plant(mutant(old="sigma > LEAST", new="False", nth=-1), SOURCE))
    assert "if False:" in after


def test_a_constant_outside_of_functions() -> None:
    assert ast.unparse(plant(mutant(function="", old="3", new="4", nth=0), SOURCE)).startswith("LEAST = 4")


@pytest.mark.parametrize("gone", [{"nth": 2}, {"function": "Law.cost"}, {"old": "3 * sigma"}])
def test_a_text_that_is_gone(gone: dict[str, object]) -> None:
    with pytest.raises(CannotPlant, match=r"has no .* any more"):
        plant(mutant(**gone), SOURCE)


def test_a_mutant_that_the_compiler_does_not_see() -> None:
    assert changes_nothing(mutant(new="sigma * 1 * 0 + 2 * sigma", old="2 * sigma"), SOURCE) is False
    assert changes_nothing(mutant(new="(2) * sigma"), SOURCE)


def test_a_function_that_moved_is_found_in_its_room(tmp_path: Path) -> None:
    room = tmp_path / "src" / "holdfast" / "room"
    room.mkdir(parents=True)
    (room / "prices.py").write_text(SOURCE)
    assert place_of(mutant(), tmp_path) == "room/prices.py"
    (room / "again.py").write_text(SOURCE)
    with pytest.raises(CannotPlant, match="2 files define"):
        place_of(mutant(), tmp_path)
