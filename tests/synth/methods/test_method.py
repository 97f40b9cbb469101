"""What methods declare, and what is refused in one place before anything is charged."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from holdfast._options import Option
from holdfast.data import Categorical, Schema, open_table
from holdfast.errors import ParameterError
from holdfast.privacy import Account, ApproxDP
from holdfast.synth import SYNTHESISERS, Synthesizer, Workload
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth.methods.method import SynthesisMethod, SynthesisTask

DOMAIN = {"a": 2, "b": 3}
WORKLOAD = Workload.of([("a", "b")])
TELLTALE = "telltale"
each_method = pytest.mark.parametrize("method", SYNTHESISERS, ids=lambda method: method.name)
each_option = pytest.mark.parametrize(
    ("method", "option"),
    [(method, option) for method in SYNTHESISERS for option in method.options],
    ids=lambda value: value.name,
)


def table() -> ExactCounts:
    schema = Schema(
        [Categorical(name, [str(cell) for cell in range(cells)]) for name, cells in DOMAIN.items()]
    )
    return ExactCounts(open_table({"a": ["0", "1"] * 10, "b": ["0", "1", "2", TELLTALE] * 5}, schema))


def account(method: SynthesisMethod) -> Account:
    return Account(ApproxDP(1.0, 1e-6), currency=method.currency, seed=1)


@each_method
def test_its_declaration_is_complete(method: SynthesisMethod) -> None:
    assert method.paper
    assert method.adjacencies
    assert method.seconds[0] > 0
    parameters = inspect.signature(method.run).parameters.values()
    assert not [one for one in parameters if one.kind is inspect.Parameter.VAR_KEYWORD], (
        "options are declared"
    )
    assert method.zeros == ("constraints" in [option.name for option in method.options])
    task = SynthesisTask(domain=DOMAIN, workload=WORKLOAD, limit=ApproxDP(1.0, 1e-6))
    rank = method.rank(task)
    assert rank is None or rank.reason


WRONG_TYPES: tuple[Any, ...] = ("many", None, {}, [1.5], 1.5, 3)


def spoiled(name: str) -> list[str]:
    """The usual slips: two letters exchanged, one doubled, one left out."""
    return [name[1::-1] + name[2:], name + name[-1], name[:-1]]


@each_option
def test_a_misspelt_option_is_refused_with_the_right_name_before_anything_is_charged(
    method: SynthesisMethod, option: Option
) -> None:
    data = table()
    for name in spoiled(option.name):
        opened = account(method)
        with pytest.raises(ParameterError, match=f"did you mean '{option.name}'") as refusal:
            method.fit(data, WORKLOAD, account=opened, **{name: option.default})
        assert f"got '{name}'" in str(refusal.value)
        assert f"method='{method.name}'" in str(refusal.value)
        assert not opened.journal.entries
        assert TELLTALE not in str(refusal.value)


@each_option
def test_an_option_of_a_wrong_type_is_refused_before_anything_is_charged(
    method: SynthesisMethod, option: Option
) -> None:
    data, refused = table(), 0
    for value in WRONG_TYPES:
        if not option.admits(value):
            opened = account(method)
            with pytest.raises(ParameterError, match=f"{option.name} must be"):
                method.fit(data, WORKLOAD, account=opened, **{option.name: value})
            assert not opened.journal.entries
            refused += 1
    assert refused


@each_option
def test_an_option_may_be_given_as_it_is(method: SynthesisMethod, option: Option) -> None:
    data = table()
    made = method.fit(data, WORKLOAD, account=account(method), **{option.name: option.default})
    assert dict(made.model.domain) == DOMAIN


@pytest.mark.filterwarnings("ignore::holdfast.errors.UselessReleaseWarning")  # four rows
@each_method
def test_a_synthesizer_refuses_options_before_anything_is_charged(method: SynthesisMethod) -> None:
    data = table()
    opened = account(method)
    made = Synthesizer(method=method.name, workload=WORKLOAD, options={"no_such_option": 1})
    with pytest.raises(ParameterError, match="options must be"):
        made.fit(data.table, account=opened)
    assert not opened.journal.entries
    assert not hasattr(made, "release_")
