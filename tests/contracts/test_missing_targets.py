"""The contract of rows without a target: no learner, search or evaluation learns from them, in any engine.

What is made of a table with such rows is what is made of the table without them, where the same n is declared.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from sklearn.base import is_classifier

from holdfast.attack import Attacker, Scoring, attribute_risk
from holdfast.attack._models.target import Target, read_records
from holdfast.data import Categorical, Encoder, Identifier, Numeric, Schema, open_table
from holdfast.data._schema.kinds import Column
from holdfast.data._table import Table
from holdfast.dossier._comparison.held_out import HeldOut
from holdfast.errors import HoldfastError
from holdfast.learn import (
    PrivateAdditiveRegressor,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateRidge,
    PrivateSearch,
)
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._estimators import ESTIMATORS
from holdfast.learn._forecast import rehearse
from holdfast.learn._problem.losses import Logistic, Squared
from holdfast.learn._problem.problem import ClassLabels, NumberLabels
from holdfast.learn._rows.engine_sums import CrossSum, GradientSum, GramSum, LabelledRows
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.synth._evaluation.compared_rows import plain_schema, read_compared
from holdfast.synth._evaluation.prediction import predictions
from tests.contracts.test_classes import extended
from tests.servers import postgres, spark

ROWS = 3_000
DRAWS_AN_ORDER = ("bolt_on", "bst14", "dp_sgd", "gibbs", "projected_histogram", "scs13")
"""Methods whose coins are spent on the rows: with other rows they fall otherwise."""
pytestmark = [pytest.mark.filterwarnings("ignore")]


def people(rows: int = ROWS, *, seed: int = 0, users: int = 0) -> dict[str, Any]:
    """Children have no income, and of a class of their own nobody has heard; `mark` says so as well."""
    random = np.random.default_rng(seed)
    age, kind = random.integers(0, 90, rows).astype(float), random.choice(["a", "b", "c"], rows)
    child = age < 25
    income = np.clip(20 + 0.5 * age + 15 * (kind == "b") + random.normal(0, 12, rows), 0, 100)
    works = np.where(random.normal(income, 10) > 55, "yes", "no").astype(object)
    works[child] = random.choice(np.array([None, "not in universe"], dtype=object), rows)[child]
    return {
        "age": age,
        "kind": kind,
        "income": np.where(child, np.nan, income),
        "works": works,
        "id": np.arange(rows) if not users else random.integers(0, users, rows),
    }


def declared(target: str, **told: Any) -> Schema:
    last = Numeric("income", 0, 100) if target == "income" else Categorical("works", ["yes", "no"])
    columns: list[Column] = [
        Numeric("age", 0, 90),
        Categorical("kind", ["a", "b", "c"]),
        last,
        Identifier("id"),
    ]
    return Schema(columns, adjacency="add_remove", n_public=told.pop("n_public", ROWS), **told)


def having(rows: dict[str, Any], target: str) -> dict[str, Any]:
    """The rows that have a value of the target."""
    known = np.isfinite(rows["income"])
    return {name: values[known] for name, values in rows.items()}


def stored(rows: dict[str, Any]) -> pa.Table:
    """As files have them: what is not a number is missing."""
    return pa.table({**rows, "income": pa.array(rows["income"], from_pandas=True)})


Door = Callable[[dict[str, Any], Path], Any]


def in_memory(rows: dict[str, Any], folder: Path) -> Any:
    return rows


def in_parquet(rows: dict[str, Any], folder: Path) -> Any:
    parquet.write_table(stored(rows), folder / "rows.parquet")
    return folder / "rows.parquet"


def in_csv(rows: dict[str, Any], folder: Path) -> Any:
    """With the census's word for a number that is none."""
    words = pa.array([f"{value}" if np.isfinite(value) else "N" for value in rows["income"]])
    table = stored(rows)
    csv.write_csv(table.set_column(table.column_names.index("income"), "income", words), folder / "rows.csv")
    return folder / "rows.csv"


def in_spark(rows: dict[str, Any], folder: Path) -> Any:
    return spark.stored(spark.classic(), stored(rows))


def on_a_server(rows: dict[str, Any], folder: Path, **told: Any) -> Any:
    server, name = postgres.required_server(), f"missing {uuid.uuid4()}"
    server.load(stored(rows), name)
    return server.url(name, **told)


def in_sql(rows: dict[str, Any], folder: Path) -> Any:
    return on_a_server(rows, folder, way="sql")


SLOW = pytest.mark.slow
DOORS: tuple[Any, ...] = (
    in_memory,
    in_parquet,
    in_csv,
    pytest.param(in_spark, marks=(SLOW, pytest.mark.filterwarnings(spark.IGNORED))),
    pytest.param(on_a_server, marks=SLOW),
    pytest.param(in_sql, marks=SLOW),
)


def labelled(schema: Schema, target: str) -> LabelledRows:
    column = schema[target]
    coding: Any = (
        NumberLabels(low=column.low, high=column.high, centred=True)
        if isinstance(column, Numeric)
        else ClassLabels.of_column(column)
    )
    return LabelledRows(
        encoder=Encoder(schema, ["age", "kind"], intercept=False), target=target, coding=coding, intercept=0.5
    )


def examples(table: Table, target: str) -> TableExamples:
    rows = labelled(table.schema, target)
    return TableExamples(
        table=table, encoder=rows.encoder, target=target, coding=rows.coding, public_count=ROWS, intercept=0.5
    )


@pytest.mark.parametrize("target", ["income", "works"])
@pytest.mark.parametrize("door", DOORS)
def test_every_engine_sums_over_the_rows_that_have_one(door: Door, target: str, tmp_path: Path) -> None:
    rows, schema = people(), Schema(declared(target).columns)
    own = labelled(schema, target)
    d = own.dimension
    loss: Any = Squared(target_bound=1.0) if target == "income" else Logistic()
    root = np.random.default_rng(1).normal(size=(d, d))
    with open_table(door(rows, tmp_path), schema) as table:
        without = open_table(having(rows, target), schema)
        for statistic in (
            GradientSum(
                rows=own, loss=loss, weights=root[0], form=root @ root.T, clip=0.6, bound=1e3, margin=1e-13
            ),
            GramSum(rows=own, bound=4.0),
            GramSum(rows=own, bound=4.0, kind="diagonal"),
            GramSum(rows=own, bound=4.0, kind="arrow", form=root @ root.T, norm=0.7, margin=1e-13),
            CrossSum(rows=own, target_bound=1.0, bound=4.0),
        ):
            found, wanted = table.sums(statistic), without.sums(statistic)
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
        if door is in_sql:
            return
        read = [np.column_stack(chunk) for chunk in examples(table, target).shuffled_chunks(Source(seed=1))]
        kept = np.concatenate(read)
        assert len(kept) == ROWS
        null = ~kept.any(axis=1)
        assert null.sum() == np.isnan(rows["income"]).sum()
        wanted = np.concatenate([np.column_stack(chunk) for chunk in examples(without, target).chunks()])
        np.testing.assert_allclose(np.sort(kept[~null], axis=0), np.sort(wanted, axis=0), atol=1e-12)


def fits(kind: Any, target: str, rows: dict[str, Any], **told: Any) -> Any:
    table = open_table(rows, told.pop("schema", declared(target)))
    return kind(epsilon=4.0, delta=1e-6, random_state=5, **told).fit(table, target=target)


def parts(model: Any) -> list[np.ndarray]:
    if hasattr(model, "coef_"):
        return [np.ravel(model.coef_), np.ravel(model.intercept_)]
    return [model.model_.shapes, model.model_.pair_shapes, model.model_.constant]


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_estimator_fits_the_rows_that_have_one(kind: Any) -> None:
    target, rows = "works" if is_classifier(kind()) else "income", people()
    told = {"radius": 1.0} if kind.__name__ == "PrivateLasso" else {}
    model, same = (fits(kind, target, each, **told) for each in (rows, having(rows, target)))
    for mine, theirs in zip(parts(model), parts(same), strict=True):
        np.testing.assert_allclose(
            mine, theirs, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(theirs).max(initial=0.0))
        )
    assert model.release_.provenance.parameters["left_out_without"] == target
    assert f"n = {ROWS:,} rows, those without a declared value of {target!r} among them" in model.summary()


@pytest.mark.parametrize("method", [one.name for one in LEARNERS])
def test_every_method_fits_the_rows_that_have_one(method: str) -> None:
    tried = 0
    for kind, target in ((PrivateLogisticRegression, "works"), (PrivateRidge, "income")):
        learner = next(one for one in LEARNERS if one.name == method)
        for told in ({"penalty": 0.05}, {"penalty": 0.05, "radius": 2.0}, {"penalty": 0.0}):
            schema = declared(target, n_public=ROWS)
            if "add_remove" not in learner.adjacencies:
                schema = Schema(schema.columns, adjacency="zero_out")
            try:
                model = fits(kind, target, people(), method=method, schema=schema, **told)
            except HoldfastError:
                continue
            tried += 1
            good = np.isfinite(np.concatenate(parts(model))).all()
            assert good
            if method not in DRAWS_AN_ORDER and "add_remove" in learner.adjacencies:
                same = fits(kind, target, having(people(), target), method=method, schema=schema, **told)
                for mine, theirs in zip(parts(model), parts(same), strict=True):
                    np.testing.assert_allclose(
                        mine, theirs, rtol=1e-5, atol=1e-5 * max(1, np.abs(theirs).max(initial=0.0))
                    )
            break
    assert tried or method in ("frank_wolfe", "softmax")


def test_what_a_column_declares_for_them_is_their_target() -> None:
    rows = people()
    known = having(rows, "income")
    truth = known["income"].mean()
    for null, wanted in (("midpoint", truth), ("category", truth), ("low", None), (0.0, None)):
        columns: list[Column] = [
            Numeric("age", 0, 90),
            Categorical("kind", ["a", "b", "c"]),
            Numeric("income", 0, 100, null=null),
        ]
        model = fits(PrivateRidge, "income", rows, schema=Schema(columns), penalty=0.0)
        mean = float(np.mean(model.predict({name: rows[name] for name in ("age", "kind")})))
        young = float(model.predict({"age": [5.0], "kind": ["a"]})[0])
        assert (young > 15.0) == (wanted is not None)
        assert ("left_out_without" in model.release_.provenance.parameters) == (wanted is not None)
        assert abs(mean - (truth if wanted is not None else np.nan_to_num(rows["income"]).mean())) < 12.0
    told = [Categorical("works", ["yes", "no"], other=other, null="child") for other in (None, "child")]
    for column, lacking in zip(told, (True, False), strict=True):
        schema = Schema([Numeric("age", 0, 90), column])
        model = fits(PrivateLogisticRegression, "works", rows, schema=schema)
        assert model.classes_.tolist() == ["child", "no", "yes"]
        assert model.predict({"age": [3.0]}).tolist() == ["child"]
        assert ("left_out_without" in model.release_.provenance.parameters) == lacking


@pytest.mark.parametrize("kind", [PrivateRidge, PrivateAdditiveRegressor])
def test_a_user_without_any_is_a_user(kind: Any, tmp_path: Path) -> None:
    rows = people(users=900)
    alone = rows["age"] < 25
    rows["id"] = np.where(alone, rows["id"] + 900, rows["id"])  # children come alone
    schema = declared("income", unit=PrivacyUnit.user("id", max_rows=12), n_public=1_800)
    for adjacency in ("add_remove", "zero_out"):
        public = {"n_public": 1_800} if adjacency == "add_remove" else {"n_public": None}
        own = Schema(schema.columns, unit=schema.unit, adjacency=adjacency, **public)
        told = {"penalty": 0.0} if kind is PrivateRidge else {}
        model = fits(kind, "income", rows, schema=own, **told)
        users = len(np.unique(rows["id"]))
        assert model.counted_.count == (1_800 if adjacency == "add_remove" else users)
        assert "users (id), those of whom no row has a declared value of 'income'" in model.summary()
        same = fits(kind, "income", in_parquet(rows, tmp_path), schema=own, **told)
        for mine, theirs in zip(parts(model), parts(same), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-5)
        if adjacency == "add_remove":
            same = fits(kind, "income", having(rows, "income"), schema=own, **told)
            for mine, theirs in zip(parts(model), parts(same), strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-5)


def test_rows_of_a_user_that_differ_in_the_target_alone_are_told_apart(tmp_path: Path) -> None:
    """Which of them are kept must be the same in every engine, whatever the order in which they lie."""
    income = np.where(np.arange(60) % 2, np.nan, 50.0)
    rows = {
        "age": np.full(60, 40.0),
        "kind": np.full(60, "a"),
        "income": income,
        "id": np.repeat(np.arange(6), 10),
    }
    schema = declared("income", unit=PrivacyUnit.user("id", max_rows=3), n_public=6)
    found = []
    for each in (rows, {name: values[::-1] for name, values in rows.items()}):
        for door in (in_memory, in_parquet):
            with open_table(door(each, tmp_path), schema, entropy=Source(seed=4)) as table:
                found.append(
                    sum(
                        float(chunk[1].size - (~chunk[0].any(axis=1)).sum())
                        for chunk in examples(table, "income").chunks()
                    )
                )
    assert len(set(found)) == 1
    assert 0 < found[0] < 18


def test_under_replace_the_additive_model_counts_what_is_there() -> None:
    rows = people()
    schema = Schema(declared("income").columns)
    model = fits(PrivateAdditiveRegressor, "income", rows, schema=schema)
    same = fits(PrivateAdditiveRegressor, "income", having(rows, "income"), schema=schema)
    asked = {name: having(people(seed=1), "income")[name] for name in ("age", "kind")}
    truth = having(people(seed=1), "income")["income"]
    errors = [float(np.sqrt(np.mean((each.predict(asked) - truth) ** 2))) for each in (model, same)]
    assert errors[0] < 1.1 * errors[1]
    first = model.model_.split(model.model_.shares)[0]
    young = np.asarray(model.model_.cells[0].middles) < 24
    assert first[young].sum() < 0.02  # nobody's place is made up for


def test_intervals_count_the_rows_that_have_one() -> None:
    rows = people(20_000)
    schema = Schema([column for column in declared("income").columns if column.name != "kind"])
    told = {"method": "ssp", "schema": schema}
    found, wanted = (
        fits(PrivateLinearRegression, "income", each, **told).conf_int()
        for each in (rows, having(rows, "income"))
    )
    np.testing.assert_allclose(found.std_error, wanted.std_error, rtol=0.1)
    short = fits(PrivateLinearRegression, "income", rows, **told).model_.inference["score"]["count"]
    assert abs(short - np.isfinite(rows["income"]).sum()) < 1_000


@pytest.mark.parametrize(
    "grid", [{"penalty": [0.0, 0.01]}, {"row_norm": [1.0, 1.5]}], ids=["shared", "whole"]
)
@pytest.mark.parametrize("strategy", ["parts", "random_stopping"])
def test_searches_choose_by_the_rows_that_have_one(grid: Any, strategy: Any) -> None:
    rows = people(8_000)
    for target, kind in (("works", PrivateLogisticRegression), ("income", PrivateRidge)):
        columns = declared(target).columns[:3]
        search = PrivateSearch(kind(), grid, epsilon=30.0, strategy=strategy, random_state=2)
        search.fit(open_table(rows, Schema(columns)), target=target)
        known = having(people(seed=1), target)
        made = search.predict({name: known[name] for name in ("age", "kind")})
        if target == "works":
            assert np.mean(made == known["works"]) > np.mean(known["works"] == "no") + 0.05
        else:
            assert np.mean((made - known["income"]) ** 2) < 0.9 * np.var(known["income"])
        release = search.release_
        assert (
            release.provenance.parameters["counted"],
            release.provenance.parameters["left_out_without"],
        ) == (
            8_000,
            target,
        )


def test_evaluations_look_at_the_rows_that_have_one() -> None:
    """Whether there is an income follows from age; with a midpoint in its place, so would the income."""
    random = np.random.default_rng(0)
    rows = people()
    rows["income"] = np.where(np.isnan(rows["income"]), np.nan, random.uniform(0, 5, ROWS))
    for target, null in (("income", "midpoint"), ("income", "category"), ("works", "")):
        columns = list(declared(target).columns)
        columns[2] = Numeric("income", 0, 100, null=null) if null else columns[2]
        schema = plain_schema(Schema(columns))
        one, other = (
            read_compared(rows, schema, name="rows"),
            read_compared(people(seed=2), schema, name="rows"),
        )
        made = predictions(one, other, target)
        assert made.without_target == (
            np.isnan(rows["income"]).sum(),
            np.isnan(people(seed=2)["income"]).sum(),
        )
        assert made.tested < ROWS / 2
        if target == "income":
            assert max(model.on_real.value for model in made.models) < 0.1
        table = read_compared(open_table(rows, Schema(columns)), schema, name="rows")
        assert predictions(table, table, target).without_target[0] == made.without_target[0]


def test_comparisons_and_rehearsals_split_the_rows_that_have_one() -> None:
    rows = {name: values for name, values in people().items() if name != "id"}
    schema = Schema(declared("works").columns[:3])
    known = {name: values for name, values in having(people(), "works").items() if name != "id"}
    for seed in range(3):
        found, wanted = (HeldOut.of(each, schema, "works", holdout=0.3, seed=seed) for each in (rows, known))
        np.testing.assert_array_equal(found.labels, wanted.labels)
        assert found.constant() == wanted.constant()
    told: dict[str, Any] = {"target": "works", "epsilons": [8.0], "delta": 1e-6, "fits": 1}
    assert rehearse(rows, schema, **told) == rehearse(known, schema, **told)


def test_attacks_ask_about_the_people_who_have_one(tmp_path: Path) -> None:
    rows = people()
    for target, kind in (("works", PrivateLogisticRegression), ("income", PrivateRidge)):
        model = fits(kind, target, rows)
        parquet.write_table(stored(rows), tmp_path / "rows.parquet")
        found = read_records(tmp_path / "rows.parquet", label=target, target=Target.of(model))
        wanted = having(rows, target)[target]
        assert found.left_out == ROWS - len(wanted)
        assert found.labels.tolist() == wanted.tolist()
        assert np.isfinite(Target.of(model).signal(found)).all()
        frames = [
            stored(people(seed=seed)).drop_columns(["income" if target == "works" else "works"])
            for seed in (0, 1)
        ]
        report = attribute_risk(
            model,
            frames[0],
            fresh=frames[1],
            sensitive="kind",
            target=target,
            schema=declared(target),
            attacker=Attacker(attacks=["bayes"], own=[50]),
            scoring=Scoring(disclosure=False),
            random_state=0,
        )
        assert "are left out" in report["kind"].notes["target"]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["income", "works"])
def test_passes_beside_the_rows(target: str, tmp_path: Path) -> None:
    """The C aggregate meets null records, as the kernel does."""
    server, rows = postgres.required_server(), people()
    schema = Schema([*declared(target).columns[:3], Identifier("id")])
    kind: Any = PrivateRidge if target == "income" else PrivateLogisticRegression
    with extended(server):
        told = {"method": "bolt_on", "radius": 2.0, "penalty": 0.01}
        with open_table(on_a_server(rows, tmp_path, way="extension"), schema) as table:
            there = kind(epsilon=1e4, random_state=1, **told).fit(table, target=target)
        here = kind(epsilon=1e4, random_state=1, **told).fit(open_table(rows, schema), target=target)
        asked = {"age": np.linspace(0, 90, 10), "kind": np.full(10, "b")}
        scores, room = ("predict", 2.0) if target == "income" else ("decision_function", 0.3)
        found, wanted = (getattr(model, scores)(asked) for model in (there, here))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=room)  # their orders differ
