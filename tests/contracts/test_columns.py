"""Every column kind keeps the contract of `holdfast.testing`, on declarations of every sort."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.data import Categorical, DateTime, Hierarchy, Numeric
from holdfast.data._schema.kinds import KINDS, REGISTRY
from holdfast.testing import Check, column_checks

WRITTEN: tuple[Numeric | Categorical, ...] = (
    Numeric("a", 0, 100),
    Numeric("a", -3, 3, integer=True, null="category"),
    Numeric("a", 0, 1000, integer=True, bins=7, null=5),
    Numeric("a", 0, 1, bins=[0, 0.3, 1], null="high"),
    Categorical("a", ["x", "y"]),
    Categorical("a", [1, 2, 3], other="o", null="(missing)"),
    Categorical("a", [True, False], null="true"),
    Numeric("a", -100, 10_000, bins=8, spacing="log", smallest=0.5, nulls=[-99, "n/a"], null="category"),
    Numeric("a", 1, 1000, integer=True, bins=3, spacing="log"),
    Categorical(
        "a", ["no", "Yes"], aliases={"Y": "Yes"}, trim=True, fold=True, nulls=["?", ""], ordered=True
    ),
    Categorical("a", [1, 2], aliases={"3": "2"}, nulls=[-9], null="none"),
    Categorical("a", [True, False], null="false"),
    Categorical("a", [7, -2], other="7"),
    DateTime("a", "2023-12-25", "2024-02-29", nulls=["2024-02-02"]),
    DateTime("a", "1900", "2024", unit="year", null="category"),
    DateTime("a", "2024-01-01 06:00", "2024-03-01", unit="hour", bins="week", null="2024-02-01"),
    DateTime("a", "1990-01-31", "2010-06-15", format="%d.%m.%y", bins=9),
    Hierarchy("a", ["aa", "ab", "ba"], coarser=[1, {"a*": "all", "b*": "all"}], other="o", null="none"),
    Hierarchy("a", ["aa", "ab", "ba"], coarser=[1, {"a*": "all", "b*": "all"}], level=1),
)
OWN: tuple[Any, ...] = tuple(
    kind("a", **told) for kind in KINDS.values() for told in vars(kind).get("tried_with", ())
)
"""Of kinds that say themselves on which declarations they are tried."""
COLUMNS = (*WRITTEN, *OWN)
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
    assert {type(column) for column in COLUMNS} == set(KINDS.values()) - {KINDS["identifier"]}, (
        "give it `tried_with`"
    )
    assert set(REGISTRY.own) == set(KINDS.values())
