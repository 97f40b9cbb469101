"""What every entry of METHODS must satisfy; a new method is picked up without further code."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.errors import AdjacencyError, HoldfastError, ParameterError
from holdfast.learn.methods import METHODS
from holdfast.learn.methods.method import Fit, Learner
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Hinge, Logistic, Softmax, Squared
from holdfast.learn.rows.examples import ArrayExamples
from holdfast.privacy import Account, Adjacency, ApproxDP, PrivacyUnit, PureDP

Floats = NDArray[np.float64]
LIMIT = ApproxDP(2.0, 1e-5)
ROWS, COLUMNS = 300, 3
NEEDS = {"convex", "lipschitz", "smooth", "strongly_convex", "delta"}
TELLTALE = 0.1234567
PROBLEMS = (
    Problem(loss=Logistic(), dimension=COLUMNS, penalty=0.05),
    Problem(
        loss=Squared(target_bound=1.0, prediction_bound=2.0), dimension=COLUMNS, penalty=0.05, radius=2.0
    ),
    Problem(loss=cast(Any, Softmax(classes=2)), dimension=COLUMNS, penalty=0.05),
)
"""Each method takes one of these by its defaults."""

each_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
each_way = pytest.mark.parametrize(
    ("method", "adjacency"),
    [(method, adjacency) for method in METHODS for adjacency in method.adjacencies],
    ids=lambda value: value if isinstance(value, str) else value.name,
)


def table(
    adjacency: str, *, rows: int = ROWS, seed: int = 0, public_count: int | None = None
) -> ArrayExamples:
    rng = np.random.Generator(np.random.PCG64(seed))
    x = rng.normal(size=(rows, COLUMNS))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    y = np.where(x @ np.array([2.0, -1.0, 0.5]) > 0, 1.0, -1.0)
    if rows:
        x[0] = TELLTALE
    return ArrayExamples(
        features=x, labels=y, adjacency=Adjacency.of(adjacency), public_count=public_count or max(1, rows)
    )


def account(method: Learner, adjacency: str, *, seed: int | None = 1) -> Account:
    return Account(LIMIT, adjacency=adjacency, currency=method.currency, seed=seed)


def problem_of(method: Learner) -> Problem:
    """The first problem that the method's proof covers."""
    for problem in PROBLEMS:
        try:
            adjacency = method.adjacencies[0]
            method.fit(table(adjacency), problem, account=account(method, adjacency))
        except ParameterError:
            continue
        return problem
    pytest.fail(f"{method.name} takes none of the contract's problems in currency {method.currency!r}")


def fitted(method: Learner, examples: ArrayExamples, opened: Account, **changed: Any) -> Fit:
    problem = dataclasses.replace(problem_of(method), **changed)
    return method.fit(examples, problem, account=opened)


def refused(
    method: Learner, examples: ArrayExamples, problem: Problem, opened: Account, **options: Any
) -> str:
    """The refusal's words; nothing was spent, and no value of the data is in them."""
    with pytest.raises((HoldfastError, TypeError)) as caught:
        method.fit(examples, problem, account=opened, **options)
    assert opened.journal.entries == (), "refused after spending"
    assert str(TELLTALE) not in str(caught.value)
    return str(caught.value)


def test_names_are_unique_and_sorted() -> None:
    names = [method.name for method in METHODS]
    assert names == sorted(set(names))


@each_method
def test_declares_what_it_rests_on(method: Learner) -> None:
    assert method.paper
    assert set(method.needs) <= NEEDS
    assert set(method.adjacencies) <= {adjacency.value for adjacency in Adjacency}
    assert method.adjacencies
    assert method.pure != ("delta" in method.needs)
    assert method.run.__module__ == f"holdfast.learn.methods.{method.name}"
    assert method.outputs
    assert set(method.outputs) <= {"one", "several"}


@each_method
def test_refuses_a_loss_of_a_kind_that_it_does_not_take(method: Learner) -> None:
    adjacency = method.adjacencies[0]
    for problem in PROBLEMS:
        if not method.takes(problem):
            refused(method, table(adjacency), problem, account(method, adjacency))


@each_way
def test_spends_no_more_than_its_limit_and_says_why_it_is_private(method: Learner, adjacency: str) -> None:
    opened = account(method, adjacency)
    fit = fitted(method, table(adjacency), opened)
    assert fit.weights.shape in ((COLUMNS,), (2, COLUMNS))
    assert np.all(np.isfinite(fit.weights))
    assert fit.theorem
    spent = opened.journal.spent("")
    assert spent is not None, "nothing was charged"
    assert spent.fits(opened.currency.limit(LIMIT))


@each_way
def test_the_first_charge_depends_on_public_numbers_only(method: Learner, adjacency: str) -> None:
    """Another table of the same public facts, and under add_remove one row more: the same charge.

    Later ones may depend on what was released before (soundness, section 19), but not their number.
    """
    more = 0 if Adjacency.of(adjacency).count_is_public else 1
    charges = []
    for rows, seed in ((ROWS, 0), (ROWS + more, 5)):
        opened = account(method, adjacency)
        fitted(method, table(adjacency, rows=rows, seed=seed, public_count=ROWS), opened)
        charges.append([entry.charge for entry in opened.journal.entries])
    assert charges[0][0] == charges[1][0]
    assert len(charges[0]) == len(charges[1])


@each_way
def test_a_seed_repeats_and_another_differs(method: Learner, adjacency: str) -> None:
    def weights(seed: int | None) -> tuple[float, ...]:
        return tuple(fitted(method, table(adjacency), account(method, adjacency, seed=seed)).weights.ravel())

    assert weights(3) == weights(3)
    assert weights(3) != weights(4)
    assert weights(None) != weights(None)


@each_method
def test_works_without_delta_exactly_if_it_says_so(method: Learner) -> None:
    adjacency = method.adjacencies[0]
    opened = Account(PureDP(2.0), adjacency=adjacency, seed=1)
    if not method.pure:
        refused(method, table(adjacency), problem_of(method), opened)
        return
    fitted(method, table(adjacency), opened)
    spent = opened.journal.spent("")
    assert spent is not None
    assert spent.fits(opened.currency.limit(PureDP(2.0)))


@each_method
def test_refuses_adjacencies_that_it_is_not_proved_for(method: Learner) -> None:
    problem = problem_of(method)
    for adjacency in {a.value for a in Adjacency} - set(method.adjacencies):
        with pytest.raises(AdjacencyError):
            method.fit(table(adjacency), problem, account=account(method, adjacency))


@each_method
def test_refuses_rows_and_accounts_of_different_worlds(method: Learner) -> None:
    problem = problem_of(method)
    for rows in Adjacency:
        for asked in method.adjacencies:
            if rows.value != asked:
                with pytest.raises(AdjacencyError):
                    method.fit(table(rows.value), problem, account=account(method, asked))
    user = PrivacyUnit("user", max_rows=2)
    adjacency = method.adjacencies[0]
    other = dataclasses.replace(table(adjacency), unit=user)
    refused(method, other, problem, account(method, adjacency))


@each_way
@pytest.mark.parametrize("rows", [0, 1])
def test_survives_tiny_tables_or_refuses_before_spending(method: Learner, adjacency: str, rows: int) -> None:
    public = Adjacency.of(adjacency).count_is_public
    opened = account(method, adjacency)
    examples = table(adjacency, rows=rows, public_count=None if public else 20)
    try:
        weights = fitted(method, examples, opened).weights
    except HoldfastError:
        assert public, "a private number of rows must not decide whether there is a result"
        weights = np.zeros(COLUMNS)
        assert opened.journal.entries == ()
    assert np.all(np.isfinite(weights))


@each_method
def test_refuses_bad_constants_before_spending(method: Learner) -> None:
    adjacency = method.adjacencies[0]
    problem, rows = problem_of(method), table(adjacency)
    assert "dimension" in refused(
        method, rows, dataclasses.replace(problem, dimension=COLUMNS + 1), account(method, adjacency)
    )
    refused(method, rows, problem, account(method, adjacency), no_such_option=1)


BREAKING: dict[str, dict[str, Any]] = {
    "lipschitz": {"loss": Squared(target_bound=1.0), "radius": math.inf},
    "smooth": {"loss": Hinge()},
    "strongly_convex": {"penalty": 0.0},
}


@each_method
def test_refuses_a_problem_without_what_it_needs(method: Learner) -> None:
    adjacency = method.adjacencies[0]
    for need in method.needs:
        if need in BREAKING:
            broken = dataclasses.replace(problem_of(method), **BREAKING[need])
            refused(method, table(adjacency), broken, account(method, adjacency))
