"""The Spark engine beyond the contract: retries, skewed and many partitions, lost rows, and where rows go.

Both kinds of session run on one real Spark (`tests.servers.spark`); tasks fail on purpose.
"""

from __future__ import annotations

import pickle
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Encoder, Identifier, Numeric, Order, RowSum, Schema, open_table
from holdfast.data._engines.spark import table as engine
from holdfast.data._engines.spark import worker
from holdfast.data._schema.kinds import Column
from holdfast.data._table import Table
from holdfast.errors import AdjacencyError, DataError, ParameterError
from holdfast.learn import PrivateAdditiveClassifier, PrivateLogisticRegression
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._problem.problem import ClassLabels
from holdfast.learn._rows.engine_sums import LabelledRows
from holdfast.learn._rows.part_training import AveragedRuns, PartTrainer
from holdfast.learn.methods.bolt_on import SgdPlan
from holdfast.privacy import Account, ApproxDP
from holdfast.privacy._adjacency import Adjacency
from tests.conftest import ROOT
from tests.contracts.engine_contract import all_rows, as_multiset, everything, reference, seeded
from tests.servers import spark
from tests.servers.spark_kernels import FailsOnce, numbers, tells

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(spark.IGNORED),
    pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning"),
]
N = 60
PAGE = ROOT / "docs" / "engines" / "spark.md"
KEPT: dict[str, Any] = {"key": b"k" * 16, "neighbours_keep_identifier": True}


def people(n: int = N) -> pa.Table:
    coins = np.random.default_rng(3)
    x = coins.normal(size=(n, 2))
    ill = np.where(x[:, 0] + 0.3 * coins.normal(size=n) > 0, "yes", "no")
    return pa.table({"id": coins.permutation(n), "x": x[:, 0], "z": x[:, 1], "ill": ill})


def schema(**declared: Any) -> Schema:
    columns: list[Column] = [
        Identifier("id"),
        Numeric("x", -2, 2),
        Numeric("z", -2, 2),
        Categorical("ill", ["no", "yes"]),
    ]
    return Schema(columns, **declared)


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest) -> Any:
    return getattr(spark, request.param)()


def opened(session: Any, *, partitions: int | None = None, **options: Any) -> Table:
    return open_table(spark.stored(session, people(), partitions=partitions), schema(), **options)


@pytest.mark.filterwarnings(
    "ignore::holdfast.errors.ProbabilityWarning"
)  # so few rows say little of a rare class
def test_additive_fits_give_the_numbers_of_the_memory_engine(session: Any) -> None:
    made = PrivateAdditiveClassifier(4.0, 1e-4, random_state=7).fit(
        opened(session, partitions=3), target="ill"
    )
    same = PrivateAdditiveClassifier(4.0, 1e-4, random_state=7).fit(
        reference(people(), schema()), target="ill"
    )
    assert (made.model_.shapes == same.model_.shapes).all()  # what is summed over rows are whole numbers


class TestRetries:
    def test_a_kernel_that_fails_at_first(self, session: Any, tmp_path: Path) -> None:
        table = opened(session, partitions=3)
        order = Order.permutation(seeded())
        calm = table.map_partitions(numbers, order=order, partitions=4, rows=7)
        failing = table.map_partitions(FailsOnce(numbers, tmp_path), order=order, partitions=4, rows=7)
        assert failing == calm
        assert len(list(tmp_path.iterdir())) == 4  # every part failed once

    def test_a_statistic_that_fails_at_first(self, session: Any, tmp_path: Path) -> None:
        table = opened(session, partitions=3)
        statistic = RowSum(Encoder(schema()))
        failing: Any = FailsOnce(statistic, tmp_path)
        np.testing.assert_array_equal(table.sums(failing), table.sums(statistic))
        assert list(tmp_path.iterdir())

    def test_a_kernel_that_always_fails_says_nothing_of_the_data(self) -> None:
        with pytest.raises(DataError, match="run a kernel over the partitions") as caught:
            opened(spark.classic()).map_partitions(tells)
        assert "a value" not in str(caught.value)
        assert caught.value.__suppress_context__


class TestPartitions:
    @pytest.mark.parametrize(("name", "partitions"), [("classic", 1), ("classic", 34), ("connect", 7)])
    def test_the_parts_of_every_engine(self, name: str, partitions: int) -> None:
        """Also where a part is empty, whatever the DataFrame's own partitions are."""
        order = Order.keyed_hash("id", **KEPT)
        rows = people(17)
        skewed = (
            spark.stored(getattr(spark, name)(), rows)
            .selectExpr("*", "1 AS same")
            .repartition(5, "same")
            .drop("same")
        )
        mine = open_table(skewed, schema()).map_partitions(numbers, order=order, partitions=partitions)
        theirs = reference(rows, schema()).map_partitions(numbers, order=order, partitions=partitions)
        assert mine == theirs

    def test_borders_are_found_among_prefixes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(engine, "BUCKET_ROWS", 4)  # two digits, buckets of about one row
        table = opened(spark.classic())
        order = Order.permutation(seeded())
        parts = table.map_partitions(numbers, order=order, partitions=7)
        assert [part.rows for part in parts] == [N * (p + 1) // 7 - N * p // 7 for p in range(7)]
        assert [x for part in parts for x in part.value] == all_rows(table, order)[:, 0].tolist()

    def test_several_parts_in_one_partition(self) -> None:
        """Where Spark puts two parts together, each kernel sees its own, in batches cut as one stream would be."""
        part, x = np.repeat([0, 2], [4, 5]), np.arange(9.0)
        keys = [bytes([place]) * 16 for place in range(9)]
        whole = pa.record_batch(
            {"c0": x, "part": pa.array(part, pa.int32()), "h": pa.array(keys, pa.binary())}
        )
        parts = worker.Parts(
            schema=Schema([Numeric("x", 0, 9)]),
            kernel=lambda batches: [len(batch) for batch in batches],
            starts=[0, 4, 4, 9],
            rows=3,
            padded=False,
        )
        made = [
            row for found in parts(iter([whole.slice(0, 3), whole.slice(3)])) for row in found.to_pylist()
        ]
        assert [(row["part"], row["rows"], row["intact"]) for row in made] == [(0, 4, True), (2, 5, True)]
        assert [pickle.loads(row["value"]) for row in made] == [[3, 1], [2, 3]]

    def test_orders_that_a_retried_task_would_not_repeat(self) -> None:
        table = opened(spark.classic())
        for order in (Order.storage(position_carries_no_information=True), Order.irrelevant()):
            with pytest.raises(AdjacencyError, match="retried task"):
                table.map_partitions(len, order=order)  # type: ignore[arg-type]

    def test_repeated_identifiers_are_told_apart(self) -> None:
        """Rows that share an identifier follow a secret order, not their values'."""
        rows = pa.table({"id": np.zeros(40, dtype=np.int64), "x": np.linspace(-1, 1, 40)})
        shared = Schema([Identifier("id"), Numeric("x", -2, 2)])
        table = open_table(spark.stored(spark.classic(), rows), shared)
        for order in (Order.permutation(seeded()), Order.keyed_hash("id", source=seeded())):
            read = all_rows(table, order)[:, 0]
            assert sorted(read) == rows["x"].to_pylist()
            assert abs(np.corrcoef(read, np.arange(40))[0, 1]) < 0.7


class TestLostRows:
    def test_a_table_that_changes_is_noticed(self, tmp_path: Path) -> None:
        rows, path = people(), tmp_path / "part.parquet"
        parquet.write_table(rows, path)
        table = open_table(spark.classic().read.parquet(str(tmp_path)), schema())
        assert table.count() == N
        parquet.write_table(pa.concat_tables([rows, rows.slice(0, 1)]), path)  # one row twice
        statistic = RowSum(Encoder(schema()))
        with pytest.raises(DataError, match="lost or repeated"):
            table.sums(statistic)
        with pytest.raises(DataError, match="lost or repeated"):
            table.map_partitions(numbers)
        with pytest.raises(DataError, match="lost or repeated"):
            list(table.batches())
        with pytest.raises(DataError, match="lost or repeated"):
            list(table.batches(order=Order.irrelevant()))
        path.unlink()
        with pytest.raises(DataError, match="withheld"):
            table.sums(statistic)

    def test_a_loss_that_a_repetition_hides(self) -> None:
        """As many rows as declared, but one of them twice: its key does not rise."""
        made = [{"part": 0, "rows": 3, "intact": False, "value": b""}]
        with pytest.raises(DataError, match="lost or repeated"):
            engine._results_in_order(made, numbers, [3])
        with pytest.raises(DataError, match="lost or repeated"):
            engine._results_in_order([made[0] | {"intact": True, "rows": 2}], numbers, [3])
        with pytest.raises(DataError, match="lost or repeated"):
            engine._results_in_order([], numbers, [3])

    @given(st.lists(st.binary(min_size=16, max_size=16), max_size=12), st.integers(1, 5))
    def test_keys_must_rise(self, keys: list[bytes], size: int) -> None:
        ascent = worker.Ascent()
        for start in range(0, len(keys), size):
            ascent.see(pa.array(keys[start : start + size], pa.binary()))
        assert ascent.rows == len(keys)
        assert ascent.intact == all(a < b for a, b in pairwise(keys))

    def test_a_connection_lost_half_way(self) -> None:
        """The budget is charged once, nothing is released, and the error says no more than that Spark failed."""
        session = spark.another_connect()
        table = open_table(spark.stored(session, people()), schema())
        stream = table.batches(rows=10)
        next(stream)
        assert table.count() == N
        session.stop()
        account = Account(ApproxDP(1.0, 1e-6), adjacency="replace")
        estimator = PrivateLogisticRegression(method="noisy_gd")
        with pytest.raises(DataError, match="Spark could not"):
            estimator.fit(table, target="ill", account=account)
        assert not hasattr(estimator, "release_")
        with pytest.raises(DataError, match="Spark could not"):
            table.counts([["ill"]])
        table.close()


class TestSources:
    def test_what_is_refused(self) -> None:
        session = spark.classic()
        with pytest.raises(ParameterError, match=r"DataFrame of pyspark\.sql"):
            open_table(session, schema())
        with pytest.raises(ParameterError, match="table must be left out"):
            opened(session, table="people")
        with pytest.raises(ParameterError, match="partitions must be >= 1"):
            open_table(spark.stored(session, people()), schema(), partitions=0)
        assert not {"sparkContext", "rdd"} & set(Path(str(engine.__file__)).read_text().split("."))

    def test_names_that_differ_in_case_only(self) -> None:
        rows = pa.table({"x": [0.0, 1.0], "X": [1.0, 1.0], "`x`": [0.0, 0.0]})
        declared = Schema([Numeric(name, 0, 1, bins=2) for name in rows.column_names])
        found = open_table(spark.stored(spark.classic(), rows), declared).counts([["x"], ["X"], ["`x`"]])
        assert [count.tolist() for count in found] == [[1, 1], [0, 2], [2, 0]]

    @pytest.mark.filterwarnings("ignore:The SQL config")
    def test_settings_of_the_session_change_no_answer(self) -> None:
        session = spark.classic()
        rows, declared = everything()
        frame = spark.stored(session, rows)
        texts = frame.selectExpr("* EXCEPT (sex)", "CAST(sex AS STRING COLLATE UNICODE_CI_RTRIM) AS sex")
        sets = [[name] for name in declared.names]
        expected = reference(rows, declared).counts(sets)
        settings = {
            "spark.sql.ansi.enabled": "false",
            "spark.sql.adaptive.enabled": "true",
            "spark.sql.codegen.wholeStage": "true",
            "spark.sql.codegen.factoryMode": "FALLBACK",
            "spark.sql.parser.escapedStringLiterals": "true",
            "spark.sql.session.timeZone": "Asia/Kathmandu",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "3",
        }
        before = {name: session.conf.get(name) for name in settings}
        try:
            for name, value in settings.items():
                session.conf.set(name, value)
            for table in (open_table(frame, declared), open_table(texts, declared)):
                for mine, theirs in zip(table.counts(sets), expected, strict=True):
                    np.testing.assert_array_equal(mine, theirs)
            assert as_multiset(all_rows(table)) == as_multiset(all_rows(reference(rows, declared)))
        finally:
            for name, value in before.items():
                session.conf.set(name, value)

    def test_closing_leaves_nothing_behind(self, session: Any) -> None:
        with opened(session) as table:
            assert isinstance(table, engine.SparkTable)
            view = table._statements.source
            assert session.catalog.tableExists(view)
        assert not session.catalog.tableExists(view)
        table.close()


class TestLearning:
    @pytest.fixture(autouse=True)
    def _rows_stay(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whoever pulls a row to the driver fails."""

        def pulled(*arguments: Any) -> None:
            raise AssertionError("a row was pulled")

        monkeypatch.setattr(engine.SparkTable, "_record_batches", pulled)

    def test_noisy_gd_gives_the_answer_of_the_memory_engine(self, session: Any) -> None:
        settings: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "method": "noisy_gd", "random_state": 7}
        mine = PrivateLogisticRegression(**settings).fit(opened(session, partitions=3), target="ill")
        theirs = PrivateLogisticRegression(**settings).fit(reference(people(), schema()), target="ill")
        np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=0, atol=1e-9)  # noise of one seed included
        np.testing.assert_allclose(mine.intercept_, theirs.intercept_, rtol=0, atol=1e-9)

    def test_bolt_on_averages_models_of_the_parts(self, session: Any) -> None:
        table = open_table(spark.stored(session, people()), schema(), partitions=3)
        fitted, again = (
            PrivateLogisticRegression(epsilon=2.0, delta=1e-6, method="bolt_on", penalty=0.1, random_state=7)
            for _ in range(2)
        )
        fitted.fit(table, target="ill")
        assert fitted.release_ is not None
        parameters = fitted.release_.provenance.parameters
        assert parameters["parts"] == 3
        whole = again.fit(reference(people(), schema()), target="ill").release_
        assert whole is not None
        assert whole.provenance.parameters["parts"] == 1
        # With a penalty, G / (penalty m) bounds both (soundness, section 1).
        bound = 2 * 1.25**0.5 / (0.1 * N) * (1 + 1e-6)
        assert whole.provenance.parameters["l2_sensitivity"] <= bound
        assert parameters["l2_sensitivity"] <= bound

    def test_bolt_on_gives_the_weights_of_the_memory_engine(self, session: Any) -> None:
        encoder = Encoder(schema(), ["x", "z"], intercept=False)
        rows = LabelledRows(
            encoder=encoder, target="ill", coding=ClassLabels.of_column(schema()["ill"]), intercept=0.5
        )
        problem = Problem(loss=Logistic(), dimension=3, penalty=0.1, row_norm=1.2)
        course = SgdPlan(
            problem=problem,
            adjacency=Adjacency.replace,
            records=N,
            batch=5,
            passes=2,
            schedule="strongly_convex",
        )
        averaged = AveragedRuns(run=course, parts=4)
        kernel = PartTrainer(run_by_size=averaged.run_by_size, rows=rows)
        order = Order.keyed_hash("id", **KEPT)
        mine, theirs = (
            averaged.average(table.map_partitions(kernel, rows.columns, order=order, partitions=4, rows=9))
            for table in (opened(session, partitions=3), reference(people(), schema()))
        )
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12)
        assert np.linalg.norm(mine) > 0.1

    def test_parts_follow_from_the_public_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = opened(spark.classic())
        assert isinstance(table, engine.SparkTable)
        assert table.parts() == 1
        monkeypatch.setattr(engine, "PART_ROWS", 25)
        assert table.parts() == 3

    @pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning")
    def test_the_page_runs(self) -> None:
        names: dict[str, Any] = {"spark": spark.connect()}
        for block in re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S):
            exec(compile(block, str(PAGE), "exec"), names)
        assert names["by_age"].tolist() == reference_counts()
        assert names["model"].method_ == "noisy_gd"
        assert names["other"].release_.provenance.parameters["parts"] == 4


def reference_counts() -> list[list[int]]:
    """What the page counts, by hand."""
    made = np.zeros((5, 2), dtype=int)
    for i in range(3000):
        made[i % 100 // 20, int((i * 7919) % 100 < i % 100)] += 1
    found: list[list[int]] = made.tolist()
    return found
