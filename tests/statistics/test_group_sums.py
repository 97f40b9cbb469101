"""Whole-number sums by groups: what a unit can move, and the same integers from every engine."""

from __future__ import annotations

import itertools
import math
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from holdfast.data import Categorical, Identifier, Numeric, Schema, open_table
from holdfast.data._conditions import ColumnName as column
from holdfast.data._group_sums import Amount, CellKey, GroupSums, Weighing
from holdfast.privacy import PrivacyUnit
from holdfast.statistics._measures.basis import MIDDLE_FACTOR, basis

STEPS = 64
SCHEMA = Schema(
    [Categorical("ward", ["a", "b", "c"]), Numeric("cost", 0, 64), Identifier("person")],
    unit=PrivacyUnit.user("person", max_rows=3),
    adjacency="add_remove",
)


def rows(seed: int, size: int = 400) -> pd.DataFrame:
    """Rows with all that is awkward: missing values, values outside, one heavy person, and one without a name."""
    draw = np.random.default_rng(seed)
    cost = draw.choice([0.0, 64.0, 3.7, 31.999, -5.0, 900.0, math.nan, math.inf, -0.0], size=size)
    person = draw.zipf(1.4, size=size) % 60
    return pd.DataFrame(
        {
            "ward": np.array(["a", "b", "c", "z", None], dtype=object)[draw.integers(5, size=size)],
            "cost": cost,
            "person": [None if name == 3 else f"p{name}" for name in person],
        }
    )


QUESTIONS = [
    GroupSums(keys=(CellKey("ward"),), forms=((1, 1, 0, 0),)),
    GroupSums(keys=(CellKey("ward"),), amount=Amount("cost", STEPS), forms=((0, STEPS, -1, 0), (0, 0, 1, 0))),
    GroupSums(
        amount=Amount("cost", STEPS),
        forms=basis(degree=2, steps=STEPS, missing=True, family="laplace").forms,
        where=(column("cost") > 3) & ~column("ward").isin(["c"]),
    ),
    GroupSums(
        keys=(Amount("cost", 16), CellKey("ward")), forms=((1, 1, 0, 0),), where=~(column("cost") <= 3)
    ),
]


@pytest.mark.parametrize("norm", [None, 1, 2])
@pytest.mark.parametrize("place", range(len(QUESTIONS)))
def test_duckdb_gives_the_integers_of_memory(place: int, norm: int | None) -> None:
    frame = rows(place)
    question = QUESTIONS[place]
    unit = PrivacyUnit() if norm is None else SCHEMA.confirmed_unit
    schema = Schema(SCHEMA.columns, unit=unit, adjacency="add_remove")
    if norm is not None:
        question = weighed(question, norm, 2)
    memory = open_table(frame, schema).aggregate(question)
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        engine = open_table(connection.table("frame"), schema).aggregate(question)
    assert memory.shape == question.shape(schema)
    assert memory.tolist() == engine.tolist()
    assert memory.sum() > 0


def weighed(question: GroupSums, norm: int, limit: int) -> GroupSums:
    largest = max(sum(form) for form in question.forms)
    return GroupSums(
        keys=question.keys,
        forms=question.forms,
        amount=question.amount,
        where=question.where,
        weighing=Weighing(norm=norm, limit=limit * largest, bits=6),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("place", range(len(QUESTIONS)))
def test_no_unit_moves_the_sums_by_more_than_the_limit(place: int, norm: int) -> None:
    frame = rows(10 + place)
    question = weighed(QUESTIONS[place], norm, 2)
    assert question.weighing is not None
    bound = question.weighing.limit << question.weighing.bits
    whole = open_table(frame, SCHEMA).aggregate(question).astype(object)
    reached = 0.0
    for name in frame["person"].unique():
        without = frame[frame["person"].ne(name) if name is not None else frame["person"].notna()]
        change = (whole - open_table(without, SCHEMA).aggregate(question)).ravel()
        assert all(entry >= 0 for entry in change)
        size = sum(change) if norm == 1 else math.isqrt(sum(entry * entry for entry in change))
        assert size <= bound
        reached = max(reached, size / bound)
    assert reached > 0.9


@pytest.mark.parametrize("degree", [1, 2])
def test_bases_sum_to_one_in_their_norm(degree: int) -> None:
    for missing in (False, True):
        for place in range(STEPS + 1):
            laplace = basis(degree=degree, steps=STEPS, missing=missing, family="laplace")
            values = [b + c * place + d * place**2 for _, b, c, d in laplace.forms]
            assert min(values) >= 0
            assert sum(values) == laplace.whole
            normal = basis(degree=degree, steps=STEPS, missing=missing, family="gaussian")
            values = [b + c * place + d * place**2 for _, b, c, d in normal.forms]
            assert sum(value**2 for value in values) <= normal.whole**2
        assert sum(form[0] for form in laplace.forms) == (laplace.whole if missing else 0)


def test_a_larger_middle_factor_would_be_too_large() -> None:
    factor = MIDDLE_FACTOR[0] / MIDDLE_FACTOR[1]
    assert 3.49 < factor**2 <= 3.5

    def longest(square: float) -> float:
        points = np.linspace(0, 1, 1001)
        return float(((1 - points) ** 4 + square * (2 * points * (1 - points)) ** 2 + points**4).max())

    assert longest(3.5) <= 1 + 1e-12
    assert longest(3.6) > 1.01


def test_conditions_have_the_three_values_of_sql() -> None:
    cost, ward = column("cost"), column("ward")
    conditions = [cost > 3, cost <= 3, cost == 64.0, cost != 64.0, ward == "a", ward.isin(["a", "c"])]
    conditions += [~condition for condition in conditions]
    conditions += [a & ~b for a, b in itertools.combinations(conditions[:4], 2)]
    conditions += [a | b for a, b in itertools.combinations(conditions[:6], 2)]
    frame = rows(5, 60)
    schema = Schema(SCHEMA.columns, unit=PrivacyUnit(), adjacency="add_remove")
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        tables: list[Any] = [open_table(frame, schema), open_table(connection.table("frame"), schema)]
        for condition in conditions:
            counted = [table.aggregate(GroupSums(forms=((1, 1, 0, 0),), where=condition)) for table in tables]
            assert counted[0].tolist() == counted[1].tolist(), condition.describe()
    missing = int(frame["cost"].isna().sum())
    above, below = (
        int(tables[0].aggregate(GroupSums(forms=((1, 1, 0, 0),), where=condition))[0])
        for condition in conditions[:2]
    )
    assert above + below + missing == len(frame)
