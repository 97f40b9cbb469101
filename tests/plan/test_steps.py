"""What every kind of step of a plan must satisfy; a new one is picked up without further code."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, get_type_hints

import pytest

from holdfast.errors import FormatError
from holdfast.plan._release_plan import STEP_KINDS, step_of

each = pytest.mark.parametrize("kind", STEP_KINDS, ids=lambda kind: kind.kind)


def _least(kind: Any) -> dict[str, Any]:
    """A table of a plan with what the step cannot do without."""
    needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    numbers = {name: 1.0 for name in needed if name == "epsilon"}
    lists = {name: ["word"] for name in needed if "tuple" in str(get_type_hints(kind)[name])}
    return {"do": kind.kind, **{name: "word" for name in needed}, **numbers, **lists}


def test_kinds_are_told_apart() -> None:
    assert len({kind.kind for kind in STEP_KINDS}) == len(STEP_KINDS)


@each
def test_a_table_of_the_plan_makes_the_step(kind: Any) -> None:
    step = step_of(_least(kind))
    assert type(step) is kind
    assert step.name == step.output == "word"
    # Only a step with an epsilon may cost anything.
    assert (step.limit() is None) == ("epsilon" not in _least(kind))


@each
def test_what_a_step_does_not_take_is_refused(kind: Any) -> None:
    with pytest.raises(FormatError, match=f"a {kind.kind} step takes .*the plan has epsiloon as well"):
        step_of({**_least(kind), "epsiloon": 1.0})


@each
def test_a_step_that_lacks_something_is_refused(kind: Any) -> None:
    with pytest.raises(FormatError, match=f"a {kind.kind} step lacks a setting"):
        step_of({"do": kind.kind, "name": "word"})


WRONG = {"str": 3, "float": "much", "int": 1.5, "tuple": "word"}
"""A value of another type, for each type that a setting may have."""


@each
def test_a_setting_of_another_type_is_refused(kind: Any) -> None:
    for name, hint in get_type_hints(kind).items():
        wrong = next((value for word, value in WRONG.items() if word in str(hint)), None)
        if name == "kind" or wrong is None:
            continue
        with pytest.raises(FormatError, match=f"{name} of a {kind.kind} step must be a"):
            step_of({**_least(kind), name: wrong})
