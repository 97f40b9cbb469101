"""Bolt-on SGD inside PostgreSQL: a real server, a real compiler, and the kernel in memory as the oracle."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from holdfast._arrays import Floats
from holdfast._cli.app import app
from holdfast._kernel import SgdOptions, start
from holdfast.data import Categorical, Encoder, Identifier, Numeric, Order, Schema, open_table
from holdfast.data._engines.postgres import epochs as postgres_epochs
from holdfast.data._engines.postgres import epochs as postgres_plan
from holdfast.data._engines.postgres.dialect import PostgresDialect
from holdfast.data._engines.postgres.epochs import AggregatePasses, RunState, keyed_rows, passes_query, train
from holdfast.data._engines.postgres.extension import SCHEMA_NAME
from holdfast.data._engines.postgres.install import install
from holdfast.data._engines.postgres.session import Session
from holdfast.data._engines.postgres.source import Address
from holdfast.data._engines.postgres.table import PostgresTable
from holdfast.data._order import KeyedHash
from holdfast.data._sql.statements import Statements
from holdfast.data._storage_kinds import Kind
from holdfast.errors import DataError, HoldfastError, ParameterError
from holdfast.learn import PrivateLinearRegression, PrivateLogisticRegression
from holdfast.learn._intercept_centre import label_sum
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Squared
from holdfast.learn._problem.problem import ClassLabels, NumberLabels
from holdfast.learn._rows.engine_sums import LabelledRows
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP, PureDP
from holdfast.release import Release
from tests.servers.postgres import READER_PASSWORD, Server
from tests.servers.postgres_extension import able_to_build, folder

N = 203  # a short last batch at b = 10 and 50
SCHEMA_OF_ROWS = Schema(
    [
        Identifier("id"),
        Numeric("age", 18, 90, null="category"),
        Numeric("dose", 0, 9),
        Categorical("kind", ["u", "v", "w"], null="none"),
        Categorical("ill", ["no", "yes"]),
        Numeric("pressure", 50, 200),
    ]
)
FEATURES = ["age", "dose", "kind"]


@pytest.fixture(scope="module")
def extended(postgres_server: Server) -> Iterator[Server]:
    """The server with the extension, and a table of mixed columns with gaps and outliers."""
    server = able_to_build(postgres_server)
    install(server.url(user="postgres"))
    coins = np.random.default_rng(3)
    server.load(made_rows(coins), "visits")
    yield server
    server.run("DROP TABLE visits", f"DROP SCHEMA IF EXISTS {SCHEMA_NAME} CASCADE")
    shutil.rmtree(folder(server), ignore_errors=True)


def made_rows(coins: np.random.Generator) -> pa.Table:
    ages = [None if coin < 0.1 else 150 * coin for coin in coins.random(N)]
    return pa.table(
        {
            "id": [f"p{i}" for i in range(N)],
            "age": ages,
            "dose": coins.normal(4, 4, N),
            "kind": [[None, "u", "v", "w", "else"][i] for i in coins.integers(0, 5, N)],
            "ill": [["no", "yes"][i] for i in coins.integers(0, 2, N)],
            "pressure": coins.normal(120, 30, N),
        }
    )


ROWS = made_rows(np.random.default_rng(3))


def labelled() -> LabelledRows:
    encoder = Encoder(SCHEMA_OF_ROWS, FEATURES, intercept=False)
    return LabelledRows(
        encoder=encoder, target="ill", coding=ClassLabels.of_column(SCHEMA_OF_ROWS["ill"]), intercept=0.5
    )


def fixed_order() -> KeyedHash:
    return Order.keyed_hash("id", key=b"an order for all", neighbours_keep_identifier=True)


def in_memory(options: SgdOptions, chunks: Callable[[], Any], passes: int) -> Floats:
    """The kernel over the same rows in the same order."""
    run = start(options)
    for _ in range(passes):
        for rows, labels in chunks():
            run.feed(rows, labels)
        run.end_pass()
    return run.final()


def options_for(batch: int, passes: int, **given: Any) -> SgdOptions:
    steps = np.minimum(0.7, 3.0 / np.arange(1, passes * -(-N // batch) + 1))
    dimension = given.pop("dimension", labelled().dimension)
    return SgdOptions(dimension=dimension, batch=batch, steps=steps, **({"row_norm": 1.2} | given))


def session(server: Server, **query: str) -> Session:
    return Session(Address.of(server.url(**query)).url)


def opened(server: Server, **options: Any) -> PostgresTable:
    table = open_table(server.url("visits"), SCHEMA_OF_ROWS, way="extension", **options)
    assert isinstance(table, PostgresTable)
    return table


class TestTheSameNumbers:
    @pytest.mark.parametrize("batch", [1, 10, 50])
    @pytest.mark.parametrize(
        "given",
        [
            {"penalty": 0.05},
            {"radius": 0.4, "average_from": 1},
            {"average_from": 9, "penalty": 0.01, "row_norm": 0.3},
            {"loss": "huber", "width": 0.2},
            {"loss": "squared", "radius": 0.7, "label_bound": 0.5},
        ],
    )
    def test_as_the_kernel_in_memory(self, extended: Server, batch: int, given: dict[str, Any]) -> None:
        passes, rows, order = 3, labelled(), fixed_order()
        memory = open_table(ROWS, SCHEMA_OF_ROWS)
        options = options_for(batch, passes, **given)
        wanted = in_memory(
            options, lambda: map(rows.chunk, memory.batches(rows.columns, order=order)), passes
        )
        with closing(opened(extended)) as table:
            found = table.epochs(rows, options, order=order, passes=passes, records=N)
        assert np.linalg.norm(wanted) > 1e-3
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)

    @pytest.mark.parametrize("average_from", [0, 1, 5, 12])
    def test_several_statements_change_no_bit(
        self, extended: Server, monkeypatch: pytest.MonkeyPatch, average_from: int
    ) -> None:
        options = options_for(50, 5, radius=0.3, average_from=average_from)
        found = []
        for most in (32, 2, 1):
            monkeypatch.setattr(postgres_plan, "MOST_PLAN_PASSES", most)
            with closing(opened(extended)) as table:
                found.append(table.epochs(labelled(), options, order=fixed_order(), passes=5, records=N))
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], found[2])

    def test_equal_steps_are_sent_as_one_number(self, extended: Server) -> None:
        options = SgdOptions(dimension=8, batch=10, steps=np.full(42, 0.3))
        plan = AggregatePasses(options=options, passes=2, records=N).plan(RunState.start(8), 2)
        assert len(plan) == 8 * (16 + 2 * 8)

    @pytest.mark.parametrize(
        ("kind", "width"), [("real", 7), ("double precision", 7), ("double precision", 600)]
    )
    def test_arrays_as_they_are_stored(self, extended: Server, kind: str, width: int) -> None:
        """Wide ones are stored beside the table (TOAST) and fetched row by row."""
        coins = np.random.default_rng(5)
        x, y = coins.normal(size=(N, width)).astype(np.float32), coins.normal(size=N)
        extended.load(pa.table({"x": x.tolist(), "y": y}), "arrays", types={"x": f"{kind}[]"})
        options = options_for(10, 2, dimension=width)
        rows = "SELECT NULL::bytea AS key, x, y FROM public.arrays"
        try:
            found = low_level(
                extended, rows, AggregatePasses(options=options, passes=2, records=N), ordered=False
            )
        finally:
            extended.run("DROP TABLE arrays")
        wanted = in_memory(options, lambda: [(x.astype(np.float64), y)], 2)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)


def low_level(server: Server, rows: str, course: AggregatePasses, **options: Any) -> Floats:
    """`train` over a query that a test has written."""
    opened = session(server)
    try:
        return train(
            lambda made: opened.answer(made, "train", copy=False), lambda portion: rows, course, **options
        )
    finally:
        opened.close()


class TestOrder:
    def test_a_shuffle_is_a_keyed_hash_of_the_place_with_a_key_for_each_statement(
        self, extended: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres_plan, "MOST_PLAN_PASSES", 1)
        options, order, rows = options_for(10, 2), Order.permutation(Source(seed=1)), labelled()
        with closing(opened(extended)) as table:
            found = table.epochs(rows, options, order=order, passes=2, records=N)
        with extended.admin() as admin:
            places = dict(admin.execute("SELECT id, tidsend(ctid) FROM visits").fetchall())
        names = ROWS.column("id").to_pylist()
        ((features, labels),) = map(
            rows.chunk, open_table(ROWS, SCHEMA_OF_ROWS).batches(order=Order.irrelevant())
        )
        run = start(options)
        for portion in range(2):
            key = sha256(order.key + portion.to_bytes(8, "big")).digest()
            ranked = sorted(range(N), key=lambda i: sha256(key + places[names[i]]).digest()[:16])
            run.feed(features, labels, order=ranked)
            run.end_pass()
        np.testing.assert_allclose(found, run.final(), rtol=0, atol=1e-13)

    @pytest.mark.parametrize(
        "keys", ["'\\x02', '\\x01'", "'\\x01', '\\x01'", "'\\x0101', '\\x01'", "NULL, '\\x01'"]
    )
    def test_rows_out_of_order_are_refused(self, extended: Server, keys: str) -> None:
        rows = f"SELECT key, ARRAY[1.0::float8] AS x, 1.0::float8 AS y FROM unnest(ARRAY[{keys}]::bytea[]) AS key"
        course = AggregatePasses(
            options=SgdOptions(dimension=1, batch=1, steps=np.ones(2)), passes=1, records=2
        )
        with pytest.raises(DataError, match="order"):
            low_level(extended, rows, course, ordered=False)

    def test_passes_out_of_order_are_refused(self, extended: Server) -> None:
        course = AggregatePasses(
            options=SgdOptions(dimension=1, batch=1, steps=np.ones(2)), passes=2, records=1
        )
        rows = "SELECT NULL::bytea AS key, ARRAY[1.0::float8] AS x, 1.0::float8 AS y"
        made = passes_query(rows, course.plan(RunState.start(1), 2), passes=2, ordered=False)
        with extended.admin() as admin:
            admin.execute(made)
            backwards = made.replace("SELECT 0 AS pass", "SELECT 7 AS pass")
            assert sqlstate(admin, backwards) == "ZH004"

    @pytest.mark.parametrize(
        "order", [Order.irrelevant(), Order.storage(position_carries_no_information=True)]
    )
    def test_other_orders_are_refused(self, extended: Server, order: Order) -> None:
        with closing(opened(extended)) as table, pytest.raises(ParameterError, match="order must be"):
            table.epochs(labelled(), options_for(10, 1), order=order, passes=1, records=N)


class TestWhatCannotBeWritten:
    """Refused before the server is asked anything."""

    def rows(self, features: int, classes: int) -> tuple[Statements, LabelledRows]:
        numbers = [Numeric(f"x{i}", 0, 1) for i in range(features)]
        schema = Schema([*numbers, Categorical("y", [f"c{i}" for i in range(classes)])])
        statements = Statements(
            schema=schema,
            dialect=PostgresDialect(),
            source="t",
            position="ctid",
            key=bytes(32),
            kinds={name: Kind.floating for name in schema.names} | {"y": Kind.text},
        )
        encoder = Encoder(schema, [column.name for column in numbers], intercept=False)
        coding = ClassLabels.of_column(schema["y"])
        return statements, LabelledRows(encoder=encoder, target="y", coding=coding)

    def test_too_many_columns(self) -> None:
        keyed_rows(*self.rows(300, 2), Order.permutation())
        with pytest.raises(DataError, match="no room for 401 columns"):
            keyed_rows(*self.rows(400, 2), Order.permutation())

    def test_several_classes(self) -> None:
        with pytest.raises(DataError, match="several classes"):
            keyed_rows(*self.rows(2, 3), Order.permutation())


def sqlstate(admin: Any, made: str) -> str:
    import psycopg

    with pytest.raises(psycopg.Error) as caught:
        admin.execute(made)
    return str(caught.value.sqlstate)


class TestBadRows:
    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ("(ARRAY[1.5, 'NaN'], 1)", "not finite"),
            ("(ARRAY[1.5, 'Infinity'], 1)", "not finite"),
            ("(ARRAY[1.5, NULL], 1)", "not finite"),
            ("(NULL, 1)", "not finite"),
            ("(ARRAY[1.5, 2], 'NaN')", "not finite"),
            ("(ARRAY[1.5, 2], NULL)", "not finite"),
            ("(ARRAY[1.5], 1)", "wrong number"),
            ("(ARRAY[[1.5, 2]], 1)", "wrong number"),
            ("('{}', 1)", "wrong number"),
        ],
    )
    def test_are_refused_and_nothing_is_returned(self, extended: Server, row: str, said: str) -> None:
        extended.run(
            "CREATE TABLE bad (x real[], y double precision)",
            f"INSERT INTO bad VALUES (ARRAY[1, 2], 1), {row}, (ARRAY[1, 2], -1)",
            "GRANT SELECT ON bad TO reader",
        )
        course = AggregatePasses(
            options=SgdOptions(dimension=2, batch=2, steps=np.ones(2)), passes=1, records=3
        )
        try:
            with pytest.raises(DataError, match=said) as caught:
                low_level(extended, "SELECT NULL::bytea AS key, x, y FROM public.bad", course, ordered=False)
        finally:
            extended.run("DROP TABLE bad")
        assert "1.5" not in str(caught.value)
        assert "nothing was released" in str(caught.value)

    def test_a_plan_is_checked_before_it_is_used(self, extended: Server) -> None:
        course = AggregatePasses(
            options=SgdOptions(dimension=3, batch=2, steps=np.ones(2) + np.arange(2)), passes=1, records=3
        )
        plan = np.frombuffer(course.plan(RunState.start(3), 1))
        broken = [plan[:-1], plan[:9], plan[:0]]
        for place, value in [
            (0, 1.0),
            (1, 0),
            (1, 4),
            (1, 1e300),
            (1, np.nan),
            (2, 0),
            (2, 1.5),
            (3, 9),
            (6, -1),
            (15, -1),
        ]:
            changed = plan.copy()
            changed[place] = value
            broken.append(changed)
        rows = "SELECT NULL::bytea AS key, ARRAY[1,2,3]::real[] AS x, 1.0::float8 AS y"
        with extended.admin() as admin:
            for each in broken:
                assert sqlstate(admin, passes_query(rows, each.tobytes(), passes=1, ordered=False)) == "ZH001"
            odd = passes_query(rows, plan.tobytes() + b"1", passes=1, ordered=False)
            assert sqlstate(admin, odd) == "ZH001"
            nothing = admin.execute(
                f"SELECT {SCHEMA_NAME}.sgd_epochs('', 0, '', x, 1) FROM (SELECT '{{}}'::real[] AS x) q WHERE false"
            )
            assert nothing.fetchall() == [(None,)]

    @pytest.mark.parametrize(("batch", "records"), [(1, N - 1), (10, N - 1), (10, N + 1), (50, N + 50)])
    def test_another_number_of_rows_is_refused(self, extended: Server, batch: int, records: int) -> None:
        steps = np.full(2 * -(-records // batch), 0.1) + np.arange(2 * -(-records // batch)) / 1e6
        options = SgdOptions(dimension=labelled().dimension, batch=batch, steps=steps)
        with closing(opened(extended)) as table, pytest.raises(DataError, match="public_count"):
            table.epochs(labelled(), options, order=Order.permutation(), passes=2, records=records)

    def test_an_empty_table(self, extended: Server) -> None:
        rows = "SELECT NULL::bytea AS key, ARRAY[1]::real[] AS x, 1.0::float8 AS y WHERE false"
        course = AggregatePasses(
            options=SgdOptions(dimension=1, batch=1, steps=np.ones(1)), passes=1, records=1
        )
        with pytest.raises(DataError, match="no row"):
            low_level(extended, rows, course)


def promised(model: PrivateLogisticRegression) -> Release[Any]:
    assert model.release_ is not None
    return model.release_


class TestFitting:
    @pytest.mark.parametrize("delta", [1e-9, 0.0])
    def test_as_over_the_pulled_copy(self, extended: Server, delta: float) -> None:
        schema = Schema(
            [column for column in SCHEMA_OF_ROWS.columns if column.name not in ("id", "pressure")]
        )
        found = {}
        for way in ("extension", "pull"):
            with open_table(extended.url("visits", way=way), schema) as table:
                model = PrivateLogisticRegression(1e9, delta, method="bolt_on", penalty=0.5, row_norm=1.0)
                found[way] = model.fit(table, target="ill")
                assert isinstance(table, PostgresTable)
                assert (table._copy is None) == (way == "extension")
        ours, pulled = (promised(found[way]).provenance.parameters for way in ("extension", "pull"))
        assert ours["l2_sensitivity"] == pulled["l2_sensitivity"] > 0
        # Both are within a few steps of the minimum; the orders differ.
        np.testing.assert_allclose(found["extension"].coef_, found["pull"].coef_, atol=0.05)

    def test_noise_and_charge_are_the_drivers(self, extended: Server) -> None:
        schema = Schema([column for column in SCHEMA_OF_ROWS.columns if column.name not in ("id", "ill")])
        coefficients, account = [], None
        for _ in range(2):
            account = Account(ApproxDP(0.5, 1e-4), adjacency="replace", seed=None)
            with open_table(extended.url("visits"), schema, way="extension") as table:
                model = PrivateLinearRegression(1.0, 1e-4, method="bolt_on", radius=1.0, penalty=0.5)
                model.fit(table, target="pressure", account=account)
            coefficients.append(model.coef_)
        assert account is not None
        assert account.remaining().delta(0.0) < 1e-3
        assert np.linalg.norm(coefficients[0] - coefficients[1]) > 0.01

    def test_targets_are_shifted_by_their_released_mean_on_the_server_too(self, extended: Server) -> None:
        """Targets far from the middle of their bounds: without the shift, predictions would be half a range off."""
        columns = [SCHEMA_OF_ROWS[name] for name in FEATURES]
        schema = Schema([*columns, Numeric("pressure", 0, 2_000)])
        models = []
        for opened in (
            open_table(extended.url("visits"), schema, way="extension"),
            open_table(ROWS, schema),
        ):
            model = PrivateLinearRegression(1e4, 1e-4, method="bolt_on", radius=2_000.0, penalty=0.05)
            with opened as table:
                models.append(model.fit(table, target="pressure"))
        server, memory = (
            model.predict({"age": [20, 60], "dose": [1, 8], "kind": ["u", "w"]}) for model in models
        )
        np.testing.assert_allclose(server, memory, rtol=0, atol=20.0)  # their orders differ
        assert np.all(np.abs(memory - 125.0) < 75.0)

    @pytest.mark.parametrize("bound", [1.0, 0.5])
    def test_the_server_adds_up_the_targets_that_are_clipped_and_there(
        self, extended: Server, bound: float
    ) -> None:
        """As rows in memory are added up: beyond the bounds at them, without a target not at all."""
        schema = Schema([SCHEMA_OF_ROWS["age"], Numeric("pressure", 100, 140)])
        problem = Problem(loss=Squared(target_bound=1.0), dimension=3, penalty=0.1, row_norm=1.5)
        sums = []
        for opened in (
            open_table(extended.url("visits"), schema, way="extension"),
            open_table(ROWS, schema),
        ):
            with opened as table:
                rows = TableExamples(
                    table=table,
                    encoder=Encoder(schema, ["age"], intercept=False),
                    target="pressure",
                    coding=NumberLabels(low=100.0, high=140.0, centred=True),
                    public_count=ROWS.num_rows,
                    intercept=0.5,
                )
                sums.append((rows.target_sum(problem, bound=bound), label_sum(rows, problem, bound=bound)))
        (taken, there), (untaken, here) = sums
        assert taken == there
        assert untaken is None
        assert there == pytest.approx(here, abs=1e-6)

    def test_on_the_command_line(self, extended: Server, tmp_path: Path) -> None:
        SCHEMA_OF_ROWS.save(tmp_path / "visits.toml")
        done = CliRunner().invoke(
            app,
            [
                "fit",
                extended.url("visits", way="extension"),
                "--schema",
                str(tmp_path / "visits.toml"),
                "--target",
                "ill",
                "--epsilon",
                "1",
                "--delta",
                "1e-5",
                "--method",
                "bolt_on",
                "--penalty",
                "0.1",
                "-o",
                str(tmp_path / "model.holdfast"),
            ],
        )
        assert done.exit_code == 0, done.output
        assert READER_PASSWORD not in done.output
        assert "bolt_on" in done.output

    def test_rows_do_not_leave(self, extended: Server) -> None:
        account = Account(PureDP(1.0))
        with closing(opened(extended)) as table, pytest.raises(DataError, match="way='extension'"):
            PrivateLogisticRegression(1.0, 0.0, method="output", penalty=0.1).fit(
                table, target="ill", account=account
            )
        assert account.remaining().as_pure() == pytest.approx(1.0)

    def test_counts_and_sums_are_answered_too(self, extended: Server) -> None:
        memory = open_table(ROWS, SCHEMA_OF_ROWS)
        with closing(opened(extended)) as table:
            np.testing.assert_array_equal(
                table.counts([["kind", "ill"]])[0], memory.counts([["kind", "ill"]])[0]
            )
            PrivateLogisticRegression(1.0, 1e-5, method="noisy_gd").fit(table, target="ill")

    def test_an_order_that_ranks_is_refused_under_add_remove(self, extended: Server) -> None:
        with (
            closing(opened(extended, adjacency="add_remove", n_public=N)) as table,
            pytest.raises(HoldfastError),
        ):
            PrivateLogisticRegression(1.0, 1e-5, method="bolt_on").fit(table, target="ill")

    def test_a_connection_lost_half_way(self, extended: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is released and nothing is spent; the next attempt works."""
        monkeypatch.setattr(postgres_plan, "MOST_PLAN_PASSES", 1)
        asked, answer = [], postgres_epochs._answer

        def cut(ask: Any, made: str) -> Any:
            asked.append(made)
            if len(asked) == 3:
                extended.run(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'",
                )
            return answer(ask, made)

        monkeypatch.setattr(postgres_epochs, "_answer", cut)
        account = Account(ApproxDP(1.0, 1e-5))
        model = PrivateLogisticRegression(1.0, 1e-5, method="bolt_on", penalty=0.1)
        with closing(opened(extended)) as table, pytest.raises(DataError, match="lost") as caught:
            model.fit(table, target="ill", account=account)
        assert READER_PASSWORD not in str(caught.value)
        assert not hasattr(model, "release_")
        with closing(opened(extended)) as table:
            model.fit(table, target="ill", account=account)
