"""Findings L1 and L2: how many rows users may bring, and a warning that tells who was in a table."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.data import Categorical, Identifier, Numeric, Schema, Table, open_table
from holdfast.errors import BudgetWarning
from holdfast.learn import PrivateLogisticRegression, PrivateRidge
from holdfast.privacy import PrivacyUnit

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]


# L1: rows of users.


def _clinic(rows: dict[str, Any], *, max_rows: int, adjacency: str, users: int) -> Table:
    ill = [Categorical("ill", ["no", "yes"])] if "ill" in rows else []
    schema = Schema(
        [Identifier("who"), Numeric("x", -1, 1), Numeric("y", -1, 1), *ill],
        unit=PrivacyUnit.user("who", max_rows=max_rows),
    )
    # Only under add_remove is the number of users declared.
    return open_table(
        rows, schema, adjacency=adjacency, n_public=users if adjacency == "add_remove" else None
    )


@pytest.mark.parametrize("adjacency", ["zero_out", "add_remove"])
def test_a_user_moves_ridge_no_further_than_declared(adjacency: str) -> None:
    """Many rows with a large solution, and one user all of whose rows pull the other way."""
    users, max_rows, ridge = 400, 400, 1000.0
    count = users * max_rows
    who = np.repeat(np.arange(users), max_rows)
    usual = np.full(count, math.sqrt(ridge / count))
    last = np.arange(count) >= count - max_rows
    with_user = {"who": who, "x": np.where(last, 1.0, usual), "y": np.where(last, -1.0, 1.0)}
    if adjacency == "zero_out":
        without = {"who": who, "x": np.where(last, 0.0, usual), "y": np.where(last, 0.0, 1.0)}
    else:
        without = {name: values[~last] for name, values in with_user.items()}
    found, declared = [], []
    for rows in (with_user, without):
        table = _clinic(rows, max_rows=max_rows, adjacency=adjacency, users=users)
        model = PrivateRidge(
            epsilon=1e6,
            delta=1e-9,
            method="ridge",
            penalty=ridge / users,
            radius=1000.0,
            fit_intercept=False,
            random_state=1,
        ).fit(table, target="y")
        assert model.release_ is not None
        found.append(model.coef_)
        declared.append(float(model.release_.provenance.parameters["l2_sensitivity"]))
    moved = float(np.linalg.norm(found[0] - found[1]))
    assert moved <= min(declared), f"moved {moved:.4f}, declared {min(declared):.4f}"


CLASSIFIERS = ("frank_wolfe", "functional", "noisy_gd")
REGRESSORS = ("adassp", *CLASSIFIERS, "ridge")


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        *((PrivateRidge, name) for name in REGRESSORS),
        *((PrivateLogisticRegression, name) for name in CLASSIFIERS),
    ],
    ids=str,
)
def test_what_is_assumed_of_the_rows_holds_for_every_table_of_the_schema(
    estimator: type[PrivateRidge | PrivateLogisticRegression], method: str, adjacency: str
) -> None:
    users, max_rows = 20, 50
    x = np.random.default_rng(0).uniform(-1, 1, users * max_rows)
    rows = {"who": np.repeat(np.arange(users), max_rows), "x": x, "y": x, "ill": np.where(x > 0, "yes", "no")}
    table = _clinic(rows, max_rows=max_rows, adjacency=adjacency, users=users)
    model = estimator(epsilon=1.0, delta=1e-6, method=method, radius=10.0, penalty=0.1, random_state=1)
    model.fit(table, target="y" if estimator is PrivateRidge else "ill")
    assert model.release_ is not None
    told = " ".join(map(str, model.release_.guarantee.assumptions))
    bounds = [int(number.replace(",", "")) for number in re.findall(r"at most ([\d,]+) rows", told)]
    assert all(bound >= users * max_rows for bound in bounds), told


# L2: what a warning may depend on.


def _model() -> PrivateLogisticRegression:
    return PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, method="objective", classes=[0, 1], random_state=1
    )


def _warns(
    rows: NDArray[np.float64], labels: NDArray[np.int64], model: PrivateLogisticRegression | None = None
) -> bool:
    """Whether a fit of these rows says that it is one of several."""
    model = _model() if model is None else model
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rows, labels)
    return any(issubclass(one.category, BudgetWarning) for one in caught)


def _people(seed: int, count: int = 24) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 3)), rng.integers(0, 2, count)


@pytest.mark.parametrize("copies", [1, 40])
def test_a_warning_does_not_tell_whether_a_guessed_record_was_fitted_before(copies: int) -> None:
    told: dict[bool, list[bool]] = {True: [], False: []}
    for seed in range(3):
        for inside in (True, False):
            rows, labels = _people(1000 * copies + 10 * seed + inside)
            guess, label = (
                (rows[7], labels[7]) if inside else (_people(1000 * copies + 500 + seed)[0][0], labels[7])
            )
            _warns(rows, labels)
            told[inside].append(_warns(np.tile(guess, (copies, 1)), np.full(copies, label)))
    assert told[True] == told[False]


def test_a_warning_does_not_tell_whether_a_table_holds_the_rows_of_an_earlier_one() -> None:
    rows, labels = _people(7001, 300)
    _warns(rows, labels)
    again = _warns(rows.copy(), labels.copy())
    other = _warns(*_people(7002, 300))
    assert again == other


def test_people_with_the_same_answers_are_not_taken_for_the_same_people() -> None:
    """Tables of a few questions have few different rows: each looks like the one before."""
    warned = []
    for seed in range(4):
        rng = np.random.default_rng(8000 + seed)
        warned.append(_warns(rng.integers(0, 2, (200, 2)).astype(float), rng.integers(0, 2, 200)))
    assert not any(warned)


def test_fitting_an_estimator_again_is_warned_about_whatever_the_rows() -> None:
    rows, labels = _people(9001)
    for again in ((rows, labels), (rows.copy(), labels), _people(9002)):
        model = _model()
        assert [_warns(rows, labels, model), _warns(*again, model)] == [False, True]
