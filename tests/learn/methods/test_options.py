"""Options are declared by a method's function, and anything else is refused before it costs."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from holdfast.errors import ParameterError
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn.methods.method import Learner
from holdfast.privacy._account.request import Option
from holdfast.testing._learners import learner_account, learner_rows, problem_of

DECLARED = [(method, option) for method in LEARNERS for option in method.options]
each_option = pytest.mark.parametrize(
    ("method", "option"), DECLARED, ids=[f"{method.name}-{option.name}" for method, option in DECLARED]
)


def refused(method: Learner, **options: Any) -> str:
    adjacency = method.adjacencies[0]
    opened, problem = learner_account(method, adjacency), problem_of(method)
    with pytest.raises(ParameterError) as caught:
        method.fit(learner_rows(adjacency), problem, account=opened, **options)
    assert opened.journal.entries == (), "refused after spending"
    return str(caught.value)


@pytest.mark.parametrize("method", LEARNERS, ids=lambda method: method.name)
def test_no_function_takes_what_it_does_not_declare(method: Learner) -> None:
    kinds = {parameter.kind for parameter in inspect.signature(method.run).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert method.options
    assert "arithmetic" in {option.name for option in method.options}


@each_option
def test_a_misspelt_option_is_refused_with_the_nearest_name(method: Learner, option: Option) -> None:
    said = refused(method, **{f"{option.name[0]}{option.name}": option.default})
    assert f"method={method.name!r}" in said
    assert f"did you mean {option.name!r}?" in said


@each_option
def test_a_value_of_another_type_is_refused(method: Learner, option: Option) -> None:
    for value in (object(), {"a": 1}):
        said = refused(method, **{option.name: value})
        assert said.startswith(f"{option.name} must be ")
        assert "in options" in said
    if option.kind in (int, float):
        assert option.name in refused(method, **{option.name: True})


def test_what_is_far_from_every_name_gets_no_hint() -> None:
    said = refused(next(method for method in LEARNERS if method.name == "bst14"), zzz=1)
    assert said == "options must be among passes, batch, arithmetic for method='bst14', got 'zzz'"
