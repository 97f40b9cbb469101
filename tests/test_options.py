"""Options that belong together are one object of a method's function, and users still give each by its own name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from holdfast._options import OptionGroup, check_options, keywords_of, options_of
from holdfast.errors import ParameterError
from holdfast.learn._catalogue import LEARNERS
from holdfast.synth._catalogue import SYNTHESISERS


@dataclass(frozen=True)
class Pace(OptionGroup):
    """How far, and how often."""

    steps: int = 10
    step: float = 1.0


DEFAULT_PACE = Pace()


def method(
    rows: Any, *, account: Any, clip: float = 1.0, pace: Pace = DEFAULT_PACE, average: bool = False
) -> None:
    """A method with a group of options between two others."""


def test_the_fields_of_a_group_are_options_like_all_others() -> None:
    declared = options_of(method)
    assert [option.summary() for option in declared] == [
        "clip: float = 1.0",
        "steps: int = 10",
        "step: float = 1.0",
        "average: bool = False",
    ]
    with pytest.raises(ParameterError, match="did you mean 'steps'"):
        check_options({"stpes": 3}, declared, method="mine")
    with pytest.raises(ParameterError, match="among clip, steps, step, average"):
        check_options({"pace": Pace()}, declared, method="mine")
    with pytest.raises(ParameterError, match="steps must be int"):
        check_options({"steps": 0.5}, declared, method="mine")


def test_options_of_a_group_become_its_object() -> None:
    declared = options_of(method)
    assert keywords_of({"steps": 3, "average": True}, declared) == {"pace": Pace(steps=3), "average": True}
    assert keywords_of({"clip": 2.0}, declared) == {"clip": 2.0}  # the function's own default stays


def test_methods_take_few_keywords_and_no_option_twice() -> None:
    entries: tuple[Any, ...] = (*LEARNERS, *SYNTHESISERS)
    for entry in entries:
        names = [option.name for option in entry.options]
        assert len(names) == len(set(names)), entry.name
        keywords = {option.name if option.group is None else option.group[0] for option in entry.options}
        assert len(keywords) <= 8, (
            f"{entry.name} takes {len(keywords) + 3} parameters"
        )  # rows, problem, account
