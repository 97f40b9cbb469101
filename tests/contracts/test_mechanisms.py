"""Every entry of MECHANISMS keeps the contract of `holdfast.testing`; a new one is picked up without further code."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from holdfast.privacy import MECHANISMS, Mechanism
from holdfast.testing._contract import Check
from holdfast.testing._mechanisms import example_checks, is_not_refuted, kind_checks


def marked(subject: str, check: Check) -> ParameterSet:
    """The check under its name and its subject's, so that a failure tells both."""
    marks = [pytest.mark.slow] if check.slow else []
    # `holdfast refute`, which follows in `make test`, tries every example with more draws.
    marks += [pytest.mark.refuted_later] if check.name == is_not_refuted.__name__ else []
    return pytest.param(check, id=f"{subject}-{check.name}", marks=marks)


def numbered(kind: type[Mechanism]) -> list[tuple[str, Mechanism]]:
    """The examples under names that are told apart."""
    return [(f"{one.name}{place or ''}-{one.arithmetic}", one) for place, one in enumerate(kind.examples())]


KINDS = [marked(kind.__name__, check) for kind in MECHANISMS for check in kind_checks(kind)]
EXAMPLES = [
    marked(name, check)
    for kind in MECHANISMS
    for name, example in numbered(kind)
    for check in example_checks(example)
]


@pytest.mark.parametrize("check", KINDS)
def test_kind(check: Check) -> None:
    check()


@pytest.mark.parametrize("check", EXAMPLES)
def test_example(check: Check) -> None:
    check()
