"""Every entry of METHODS and CLASSICS keeps the contract of `holdfast.testing`; a new method is picked up by itself."""

from __future__ import annotations

import pytest

from holdfast.learn._catalogue import LEARNERS
from holdfast.learn.methods.method import Learner
from holdfast.testing._contract import Check
from holdfast.testing._learners import learner_checks

CHECKS = [
    pytest.param(check, id=f"{method.name}-{check.name}")
    for method in LEARNERS
    for check in learner_checks(method)
]


@pytest.mark.parametrize("check", CHECKS)
def test_method(check: Check) -> None:
    check()


def test_names_are_unique_and_sorted() -> None:
    names = [method.name for method in LEARNERS]
    assert names == sorted(set(names))


@pytest.mark.parametrize("method", LEARNERS, ids=lambda method: method.name)
def test_a_method_lies_in_the_file_of_its_name(method: Learner) -> None:
    assert method.run.__module__ in {
        f"holdfast.learn.{tier}.{method.name}" for tier in ("methods", "classics")
    }
