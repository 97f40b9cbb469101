"""Every entry of MECHANISMS keeps the contract of `holdfast.testing`; a new one is picked up without further code."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from holdfast.privacy import MECHANISMS, Mechanism
from holdfast.testing._contract import Check
from holdfast.testing._mechanisms import (
    a_third_of_the_noise_is_refuted,
    example_checks,
    is_not_refuted,
    kind_checks,
)


def marked(subject: str, check: Check, *, first: bool = True) -> ParameterSet:
    """The check under its name and its subject's, so that a failure tells both."""
    marks = [pytest.mark.slow] if check.slow else []
    # tests/refute/test_refutation.py tries every example with more draws; that an audit has power is tried once a kind.
    again = check.name == a_third_of_the_noise_is_refuted.__name__ and not first
    marks += [pytest.mark.deep] if again or check.name == is_not_refuted.__name__ else []
    return pytest.param(check, id=f"{subject}-{check.name}", marks=marks)


def numbered(kind: type[Mechanism]) -> list[tuple[str, Mechanism]]:
    """The examples under names that are told apart."""
    return [(f"{one.name}{place or ''}-{one.arithmetic}", one) for place, one in enumerate(kind.examples())]


KINDS = [marked(kind.__name__, check) for kind in MECHANISMS for check in kind_checks(kind)]
EXAMPLES = [
    marked(name, check, first=place == 0)
    for kind in MECHANISMS
    for place, (name, example) in enumerate(numbered(kind))
    for check in example_checks(example)
]


@pytest.mark.parametrize("check", KINDS)
def test_kind(check: Check) -> None:
    check()


@pytest.mark.parametrize("check", EXAMPLES)
def test_example(check: Check) -> None:
    check()
