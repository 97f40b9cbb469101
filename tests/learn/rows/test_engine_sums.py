"""Gradients and moments that an engine sums: the same numbers, the same promise, no row read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.data import Categorical, Encoder, Numeric, Order, Schema, Table, open_table
from holdfast.data._engines.postgres import table as postgres
from holdfast.data._schema.kinds import Column
from holdfast.errors import BudgetExceeded, BudgetWarning, DataError, NotPrivateWarning
from holdfast.learn import PrivateLinearRegression, PrivateLinearSVC, PrivateLogisticRegression, PrivateRidge
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, HuberHinge, Logistic, Squared
from holdfast.learn._problem.problem import ClassLabels, LabelCoding, NumberLabels
from holdfast.learn._rows.engine_sums import (
    CrossSum,
    EngineSums,
    GradientSum,
    GramSum,
    LabelledRows,
)
from holdfast.learn._rows.summation import BLOCK
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.privacy import Account, ApproxDP
from holdfast.privacy._adjacency import PrivacyUnit
from tests.contracts.engine_contract import everything, seeded, visits, visits_schema
from tests.servers.postgres import Server


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


def hostile() -> tuple[pa.Table, Schema]:
    """Every type, with a target of two classes, and numbers whose products underflow."""
    rows, schema = everything()
    tiny = pa.array([5e-324, 1e-300, -1e-200, 1e-160, 0.0, None, 1.0, 1e-61])
    columns: list[Column] = [
        Categorical("flag", ["true", "false"]) if column.name == "flag" else column
        for column in schema.columns
    ]
    return rows.append_column("tiny", tiny), Schema([*columns, Numeric("tiny", 0, 1e3, null="category")])


@pytest.fixture(scope="module")
def both(postgres_server: Server) -> Iterator[tuple[Table, Table]]:
    rows, schema = hostile()
    postgres_server.load(rows, "of every type")
    with open_table(postgres_server.url("of every type"), schema, way="sql") as table:
        yield table, open_table(rows, schema)


def labelled(schema: Schema, target: str = "flag", **terms: Any) -> LabelledRows:
    columns = [name for name in schema.names if name != target]
    column = schema[target]
    coding: LabelCoding = (
        NumberLabels(low=column.low, high=column.high, centred=True)
        if isinstance(column, Numeric)
        else ClassLabels.of_column(column)
    )
    intercept = terms.pop("constant", 0.0)
    encoder = Encoder(schema, columns, intercept=False, **terms)
    return LabelledRows(encoder=encoder, target=target, coding=coding, intercept=intercept)


def agree(both: tuple[Table, Table], statistic: Any) -> None:
    server, memory = both
    found, expected = server.sums(statistic), memory.sums(statistic)
    assert found.shape == expected.shape == statistic.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13 * np.abs(expected).max())


class TestStatistics:
    @pytest.mark.parametrize("whitening", ["full", "diagonal", "none"])
    @pytest.mark.parametrize("loss", [Logistic(), HuberHinge(), Hinge(), Squared(target_bound=0.7)])
    def test_gradients(self, both: tuple[Table, Table], loss: Any, whitening: str) -> None:
        coins = np.random.default_rng(1)
        for scale, norm, constant in (("symmetric", 1.0, 0.5), ("unit", 1.0, 0.0), ("unit", None, 0.5)):
            for target in ("flag", "real"):
                rows = labelled(both[0].schema, target, scale=scale, row_norm=norm, constant=constant)
                d = rows.dimension
                root = coins.normal(size=(d, d))
                form = {"full": root @ root.T, "diagonal": root[0] ** 2, "none": np.ones(d)}[whitening]
                weights = np.where(coins.random(d) < 0.1, 1e-200, coins.normal(size=d))
                statistic = GradientSum(
                    rows=rows, loss=loss, weights=weights, form=form, clip=0.8, bound=1e4, margin=1e-13
                )
                agree(both, statistic)

    @pytest.mark.parametrize("constant", [0.0, 0.5])
    @pytest.mark.parametrize("scale", ["symmetric", "unit"])
    def test_moments(self, both: tuple[Table, Table], scale: str, constant: float) -> None:
        for norm in (1.0, 4.0, 30.0):  # every row is longer, some are, none is
            rows = labelled(both[0].schema, "real", scale=scale, constant=constant, row_norm=norm)
            agree(both, GramSum(rows=rows, bound=2.0 * norm**2))
            agree(both, GramSum(rows=rows, bound=2.0 * norm**2, kind="diagonal"))
            if constant:
                agree(both, GramSum(rows=rows, bound=2.0 * norm**2, kind="arrow"))
            form = np.diag(np.linspace(0.5, 4.0, rows.dimension)) + 0.1
            agree(both, GramSum(rows=rows, bound=2.0 * norm**2, form=form, norm=0.6, margin=1e-13))
            agree(both, CrossSum(rows=rows, target_bound=0.5, bound=2.0 * norm**2))

    def test_many_features_take_several_queries(
        self, both: tuple[Table, Table], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("holdfast.data._sql.sums.MOST_COLUMNS", 7)
        monkeypatch.setattr("holdfast.data._sql.sums.MOST_SETS", 5)
        agree(both, GramSum(rows=labelled(both[0].schema, "real", constant=0.5), bound=4.0))

    def test_a_sum_does_not_depend_on_the_order_of_the_rows(self, postgres_server: Server) -> None:
        values = np.random.default_rng(5).normal(size=3000)
        schema = Schema([Numeric("x", -4, 4), Categorical("y", ["a", "b"])])
        found = []
        for number, order in enumerate((np.arange(3000), np.argsort(values))):
            rows = pa.table({"x": values[order], "y": np.where(values[order] > 1, "a", "b")})
            postgres_server.load(rows, f"order {number}")
            with open_table(postgres_server.url(f"order {number}"), schema, way="sql") as table:
                rows_ = labelled(schema, "y", constant=0.5)
                found.append(
                    table.sums(
                        GradientSum(
                            rows=rows_,
                            loss=Logistic(),
                            weights=np.ones(2),
                            form=np.ones(2),
                            clip=0.7,
                            bound=3.0,
                        )
                    )
                )
        assert found[0].tolist() == found[1].tolist()  # to the last bit

    def test_batches_are_summed_in_the_blocks_that_the_rounding_bound_counts_on(self) -> None:
        n = 3 * BLOCK + 5
        schema = Schema([Numeric("x", 0, 1), Categorical("y", ["a", "b"])])
        table = open_table({"x": np.linspace(0, 1, n), "y": np.tile(["a", "b"], n)[:n]}, schema)
        rows = labelled(schema, "y", constant=0.5)
        (batch,) = table.batches(order=Order.irrelevant())
        features, labels = rows.chunk(batch)
        gram = GramSum(rows=rows, bound=3.0)(batch)
        np.testing.assert_allclose(gram, features.T @ features, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(
            CrossSum(rows=rows, target_bound=1.0, bound=3.0)(batch),
            features.T @ labels,
            rtol=1e-12,
            atol=1e-12,
        )

    def test_no_row_adds_more_than_the_clip(self, postgres_server: Server) -> None:
        """The length of what one row adds never passes the clip, however long the whitened row."""
        schema = Schema([Numeric("x", -1, 1), Numeric("z", -1, 1), Categorical("y", ["a", "b"])])
        coins = np.random.default_rng(2)
        rows = labelled(schema, "y", constant=0.5)
        root, longest = 3.0 * coins.normal(size=(3, 3)), 0.0
        for number in range(4):
            row = pa.table(
                {"x": [coins.uniform(-1, 1)], "z": [coins.uniform(-1, 1)], "y": ["ab"[number % 2]]}
            )
            postgres_server.load(row, f"one row {number}")
            with open_table(postgres_server.url(f"one row {number}"), schema, way="sql") as table:
                total = table.sums(
                    GradientSum(
                        rows=rows,
                        loss=Logistic(),
                        weights=np.array([30.0, -9.0, 4.0]),
                        form=root.T @ root,
                        clip=0.25,
                        bound=3.0,
                        margin=1e-12,
                    )
                )
            longest = max(longest, float(np.linalg.norm(root @ total)))
        assert longest == pytest.approx(0.25, rel=1e-6)  # reached, and never passed


def people(n: int = 400) -> tuple[pa.Table, Schema]:
    coins = np.random.default_rng(0)
    age = coins.uniform(0, 110, n)
    sex = coins.choice(["F", "M", "?"], n)
    ill = np.where(age + coins.normal(0, 20, n) > 50, "yes", "no")
    schema = Schema(
        [
            Numeric("age", 0, 100),
            Categorical("sex", ["F", "M"], other="else"),
            Numeric("cost", 0, 10),
            Categorical("ill", ["no", "yes"]),
        ]
    )
    return pa.table({"age": age, "sex": sex, "cost": age / 10, "ill": ill}), schema


@pytest.fixture(scope="module")
def clinic(postgres_server: Server) -> str:
    postgres_server.load(people()[0], "people")
    return "people"


class TestFits:
    @pytest.mark.parametrize(
        ("estimator", "target"),
        [
            (PrivateLogisticRegression(1.0, 1e-6, method="noisy_gd", random_state=1), "ill"),
            (PrivateLinearSVC(1.0, 1e-6, method="noisy_gd", random_state=1), "ill"),
            (PrivateRidge(1.0, 1e-6, method="adassp", random_state=1), "cost"),
            (PrivateLinearRegression(1.0, 1e-6, method="noisy_gd", radius=2.0, random_state=1), "cost"),
        ],
    )
    def test_the_same_model_without_reading_a_row(
        self,
        postgres_server: Server,
        clinic: str,
        monkeypatch: pytest.MonkeyPatch,
        estimator: Any,
        target: str,
    ) -> None:
        rows, schema = people()
        expected = estimator.fit(open_table(rows, schema), target=target)
        coef, promise = expected.coef_.copy(), expected.release_.guarantee
        monkeypatch.setattr(postgres, "pull", None)
        with open_table(postgres_server.url(clinic), schema, way="sql") as table:
            estimator.fit(table, target=target)
        # The noise is on a grid, so a sum that differs in its last bit gives the same release, or one step more.
        np.testing.assert_allclose(estimator.coef_, coef, rtol=1e-4)
        assert estimator.release_.guarantee == promise

    @pytest.mark.parametrize("method", ["bolt_on", "output"])
    def test_a_method_that_needs_rows_is_refused_before_it_spends(
        self, postgres_server: Server, clinic: str, method: str
    ) -> None:
        account = Account(ApproxDP(1.0, 1e-6), adjacency="replace", seed=1)
        with (
            open_table(postgres_server.url(clinic), people()[1], way="sql") as table,
            pytest.raises(DataError, match="rows do not leave the server"),
        ):
            PrivateLogisticRegression(method=method, penalty=0.1).fit(table, target="ill", account=account)
        assert account.spent().epsilon(1e-6) == 0

    def test_several_classes_are_refused_before_anything_is_spent(
        self, postgres_server: Server, clinic: str
    ) -> None:
        account = Account(ApproxDP(1.0, 1e-6), adjacency="replace", seed=1)
        with (
            open_table(postgres_server.url(clinic), people()[1], way="sql") as table,
            pytest.raises(DataError, match="rows do not leave the server"),
        ):
            PrivateLogisticRegression().fit(table, target="sex", account=account)
        assert account.spent().epsilon(1e-6) == 0

    def test_users(self, postgres_server: Server) -> None:
        rows = visits()
        schema = Schema(
            [
                column if column.name != "kind" else Categorical("kind", ["a", "b"])
                for column in visits_schema().columns
            ],
            unit=PrivacyUnit.user("user", max_rows=3),
        )
        postgres_server.load(rows, "visits to learn from")
        found = []
        for source in (rows, postgres_server.url("visits to learn from", way="sql")):
            with open_table(source, schema, entropy=seeded()) as table:
                model = PrivateLogisticRegression(5.0, 1e-3, method="noisy_gd", random_state=2)
                found.append(model.fit(table, target="kind").coef_)
        np.testing.assert_allclose(found[0], found[1], rtol=1e-4)

    def test_rows_longer_than_the_problem_allows_are_not_left_to_the_engine(
        self, both: tuple[Table, Table]
    ) -> None:
        rows = labelled(both[0].schema, row_norm=1.0)
        examples = TableExamples(
            table=both[0], encoder=rows.encoder, target="flag", coding=rows.coding, public_count=8
        )
        assert examples.sums(Problem(loss=Logistic(), dimension=rows.dimension)) is not None
        assert examples.sums(Problem(loss=Logistic(), dimension=rows.dimension, row_norm=0.5)) is None


def test_a_connection_lost_between_two_steps(
    postgres_server: Server, clinic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error, no release, and an account that was charged once: a second fit cannot spend it again."""
    asked: list[int] = []
    original = EngineSums.gradient

    def gradient(self: EngineSums, *weights: Any, **options: Any) -> Any:
        asked.append(1)
        if len(asked) == 3:
            postgres_server.terminate("between steps")
        return original(self, *weights, **options)

    monkeypatch.setattr(EngineSums, "gradient", gradient)
    account = Account(ApproxDP(1.0, 1e-6), adjacency="replace", seed=1)
    model = PrivateLogisticRegression(method="noisy_gd")
    url = postgres_server.url(clinic, way="sql", application_name="between steps")
    with open_table(url, people()[1]) as table, pytest.raises(DataError, match="the connection was lost"):
        model.fit(table, target="ill", account=account)
    assert not hasattr(model, "release_")
    assert not hasattr(model, "coef_")
    assert len(asked) == 3
    once = account.spent().epsilon(1e-6)
    assert 0 < once <= 1.0
    with open_table(url, people()[1]) as table, pytest.raises(BudgetExceeded):
        model.fit(table, target="ill", account=account)
    assert account.spent().epsilon(1e-6) == once
