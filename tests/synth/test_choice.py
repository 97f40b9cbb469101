"""`auto` looks at public quantities only, and names a method that can do what is asked."""

from __future__ import annotations

import pytest

from holdfast.errors import ParameterError
from holdfast.privacy import ApproxDP, PureDP
from holdfast.synth import METHODS, Workload
from holdfast.synth.choice import choose_synthesis_method, find_synthesis_method

DOMAIN = {"a": 2, "b": 3, "c": 4}
WORKLOAD = Workload.of([("a", "b"), ("b", "c")])


def test_the_choice_fits_the_promise() -> None:
    assert choose_synthesis_method(DOMAIN, WORKLOAD, limit=ApproxDP(1.0, 1e-9)).method == "adaptive"
    pure = choose_synthesis_method(DOMAIN, WORKLOAD, limit=PureDP(1.0))
    assert find_synthesis_method(pure.method).pure
    assert "need no delta" in pure.summary()
    assert choose_synthesis_method({"a": 9}, Workload.of([("a",)]), limit=PureDP(1.0)).method == "independent"


def test_methods_are_found_by_name() -> None:
    assert [find_synthesis_method(method.name) for method in METHODS] == list(METHODS)
    with pytest.raises(ParameterError, match="'auto' or one of"):
        find_synthesis_method("magic")


def test_names_are_sorted_and_differ() -> None:
    names = [method.name for method in METHODS]
    assert names == sorted(set(names))
