"""Every column kind keeps the contract of `holdfast.testing`, on declarations of every sort."""

from __future__ import annotations

import pytest

from holdfast.data import Categorical, Numeric
from holdfast.data.schema.columns import KINDS, REGISTRY
from holdfast.testing import Check, column_checks

COLUMNS: tuple[Numeric | Categorical, ...] = (
    Numeric("a", 0, 100),
    Numeric("a", -3, 3, integer=True, null="category"),
    Numeric("a", 0, 1000, integer=True, bins=7, null=5),
    Numeric("a", 0, 1, bins=[0, 0.3, 1], null="high"),
    Categorical("a", ["x", "y"]),
    Categorical("a", [1, 2, 3], other="o", null="(missing)"),
    Categorical("a", [True, False], null="true"),
)
CHECKS = [
    pytest.param(check, id=f"{place}-{check.name}")
    for place, column in enumerate(COLUMNS)
    for check in column_checks(column)
]


@pytest.mark.parametrize("check", CHECKS)
def test_every_kind_keeps_its_contract(check: Check) -> None:
    check()


def test_every_kind_is_among_them() -> None:
    """An identifier is never read, so that it has no contract."""
    assert {type(column) for column in COLUMNS} == set(KINDS.values()) - {KINDS["identifier"]}
    assert set(REGISTRY.own) == set(KINDS.values())
