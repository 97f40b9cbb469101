"""One secret order for all passes: the same numbers as in memory, and nothing left behind."""

from __future__ import annotations

import errno
import shutil
import tempfile
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast.data import Categorical, Encoder, Identifier, Numeric, Schema, Table, open_table
from holdfast.data._engines.duckdb.table import DuckDBTable
from holdfast.errors import BudgetWarning, DataError, NotPrivateWarning
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._problem.problem import ClassLabels
from holdfast.learn._rows import shuffled_copy as module
from holdfast.learn._rows import table_examples
from holdfast.learn._rows.examples import ArrayExamples, Chunk
from holdfast.learn._rows.part_training import OrderedExamples
from holdfast.learn._rows.row_copy import room_for
from holdfast.learn._rows.shuffled_copy import ShuffledCopy, fixed_order
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.learn.methods.bolt_on import SgdPlan
from holdfast.noise._source import Source
from holdfast.privacy import PrivacyUnit
from holdfast.privacy._adjacency import Adjacency

ROWS = 3_000


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


def columns(n: int = ROWS) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    age = rng.uniform(0, 100, n)
    ill = np.where(age + rng.normal(0, 20, n) > 50, "yes", "no")
    return {"age": age, "weight": rng.uniform(0, 200, n), "ill": ill}


def schema(*more: Any, **terms: Any) -> Schema:
    numbers = [Numeric("age", 0, 100), Numeric("weight", 0, 200)]
    return Schema([*numbers, Categorical("ill", ["no", "yes"]), *more], **terms)


def stored(folder: Path, frame: dict[str, Any] | None = None, declared: Schema | None = None) -> Table:
    parquet.write_table(pa.table(columns() if frame is None else frame), folder / "rows.parquet")
    return open_table(folder / "rows.parquet", schema() if declared is None else declared)


def streamed(table: Table, public_count: int = ROWS) -> TableExamples:
    return TableExamples(
        table=table,
        encoder=Encoder(table.schema, ["age", "weight"], intercept=False),
        target="ill",
        coding=ClassLabels.of_column(table.schema["ill"]),
        public_count=public_count,
        intercept=0.5,
    )


def held(n: int = 100, d: int = 3) -> ArrayExamples:
    rng = np.random.default_rng(n)
    return ArrayExamples(
        features=rng.normal(size=(n, d)),
        labels=rng.normal(size=n),
        adjacency=Adjacency.replace,
        public_count=n,
    )


def together(chunks: Iterator[Chunk]) -> Floats:
    return np.concatenate([np.column_stack(chunk) for chunk in chunks])


def in_any_order(rows: Floats) -> Floats:
    return np.asarray(rows[np.lexsort(rows.T)])


def course(**changes: Any) -> SgdPlan:
    told: dict[str, Any] = {
        "problem": Problem(loss=Logistic(), dimension=3, row_norm=1.2, penalty=1e-3),
        "adjacency": Adjacency.replace,
        "records": ROWS,
        "batch": 7,
        "passes": 4,
        "schedule": "strongly_convex",
    }
    return SgdPlan(**(told | changes))


@given(n=st.integers(1, 300), d=st.integers(1, 5))
def test_every_pass_is_the_first_one_bit_by_bit(n: int, d: int) -> None:
    examples = held(n, d)
    with ShuffledCopy(examples) as copy:
        source = Source(seed=3)
        first, *further = [together(copy.shuffled_chunks(source)) for _ in range(3)]
        summed = together(copy.chunks())
    for later in (*further, summed):
        assert np.array_equal(later, first)
    assert np.array_equal(in_any_order(first), in_any_order(together(examples.chunks())))


def test_the_order_is_drawn_for_each_run() -> None:
    orders = []
    for seed in (1, 2):
        with ShuffledCopy(held()) as copy:
            orders.append([together(copy.shuffled_chunks(Source(seed=seed))) for _ in range(2)])
    assert not np.array_equal(orders[0][1], orders[1][1])
    assert not np.array_equal(orders[0][1], together(held().chunks()))


def test_weights_are_those_of_the_same_order_in_memory(tmp_path: Path) -> None:
    with stored(tmp_path) as table:
        examples = streamed(table)
        order: Any = OrderedExamples(list(examples.shuffled_chunks(Source(seed=5))))
        made = course().train(examples, Source(seed=5))
    np.testing.assert_allclose(made, course().train(order, Source(seed=5)), rtol=0, atol=1e-12)
    backwards: Any = OrderedExamples([(x[::-1], y[::-1]) for x, y in reversed(order.rows)])
    assert not np.allclose(made, course().train(backwards, Source(seed=5)), rtol=0, atol=1e-9)


def test_a_run_shuffles_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    stream = DuckDBTable._stream

    def counted(self: DuckDBTable, *arguments: Any) -> Any:
        asked.append(arguments)
        return stream(self, *arguments)

    monkeypatch.setattr(DuckDBTable, "_stream", counted)
    with stored(tmp_path) as table:
        course(passes=4).train(streamed(table), Source(seed=5))
        assert len(asked) == 1
        monkeypatch.setattr(module, "room_for", lambda examples, folder: False)
        course(passes=4).train(streamed(table), Source(seed=5))
    assert len(asked) == 1 + 4


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Any]]:
    """All copies made; temporary files go to an empty folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    made: list[Any] = []
    make = tempfile.TemporaryFile

    def recorded(**options: Any) -> Any:
        before = list(folder.rglob("*"))
        made.append(make(**options))
        assert list(folder.rglob("*")) == before, "the copy has no name"
        return made[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", recorded)

    def closed() -> list[Any]:
        assert all(file.closed for file in made)
        assert not list(folder.iterdir())
        return made

    return closed


def test_nothing_is_left_after_a_run_or_an_error(files: Callable[[], list[Any]]) -> None:
    examples = held()
    with ShuffledCopy(examples) as copy:
        together(copy.shuffled_chunks(Source(seed=1)))
        states = [copy.complete]
    assert [*states, copy.complete] == [True, False]

    def broken() -> None:
        with ShuffledCopy(examples) as copy:
            next(copy.shuffled_chunks(Source(seed=1)))
            raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        broken()
    assert len(files()) == 2


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_left_after_a_fit_or_a_lost_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: Callable[[], list[Any]], fails: bool
) -> None:
    monkeypatch.setattr(table_examples, "IN_MEMORY_BYTES", 0)
    read = TableExamples.shuffled_chunks

    def lost(self: TableExamples, source: Source) -> Iterator[Chunk]:
        yield from list(read(self, source))[:1]
        raise DataError("the connection was lost")

    model = PrivateLogisticRegression(epsilon=40.0, method="bolt_on", random_state=2)
    with stored(tmp_path) as table:
        if fails:
            monkeypatch.setattr(TableExamples, "shuffled_chunks", lost)
            with pytest.raises(DataError, match="lost"):
                model.fit(table, target="ill")
        else:
            model.fit(table, target="ill")
            assert model.predict({"age": [2, 98], "weight": [100, 100]}).tolist() == ["no", "yes"]
    assert len(files()) == 1


def test_a_pass_that_is_broken_off_is_not_read_again() -> None:
    rows = held(200_000, 1)
    with ShuffledCopy(rows) as copy:
        broken = copy.shuffled_chunks(Source(seed=1))
        next(broken)
        broken.close()  # type: ignore[attr-defined]
        assert not copy.complete
        passes = [together(copy.shuffled_chunks(Source(seed=2))) for _ in range(2)]
    assert np.array_equal(passes[0], passes[1])
    assert len(passes[1]) == 200_000


def test_a_full_disk_costs_time_and_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        closed = False

        def seek(self, place: int) -> None: ...

        def truncate(self) -> None: ...

        def write(self, data: Any) -> None:
            raise OSError(errno.ENOSPC, "no space left on device")

        def close(self) -> None:
            self.closed = True
            raise OSError(errno.ENOSPC, "no space left on device")

    full = Full()
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **options: full)
    source = Source(seed=1)
    with ShuffledCopy(held()) as copy:
        passes = [together(copy.shuffled_chunks(source)) for _ in range(2)]
        assert not copy.complete
    assert full.closed
    assert not np.array_equal(passes[0], passes[1])
    assert np.array_equal(in_any_order(passes[0]), in_any_order(passes[1]))


def test_a_copy_that_was_cut_is_an_error() -> None:
    with ShuffledCopy(held()) as copy:
        together(copy.shuffled_chunks(Source(seed=1)))
        assert copy._file._file is not None
        copy._file._file.truncate(100)
        with pytest.raises(DataError, match="nothing was released"):
            together(copy.shuffled_chunks(Source(seed=1)))


def test_only_rows_of_files_are_copied_and_only_where_it_pays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copied(table: Table, passes: int = 2) -> bool:
        examples = streamed(table)
        with fixed_order(examples, passes=passes) as ordered:
            return ordered is not examples

    with stored(tmp_path) as table:
        assert copied(table)
        assert not copied(table, passes=1)
        free = namedtuple("free", "free")
        needed = 8 * 4 * ROWS
        for left, enough in ((2 * needed, True), (2 * needed - 1, False)):
            monkeypatch.setattr(shutil, "disk_usage", lambda path, left=left: free(left))
            assert room_for(streamed(table)) is copied(table) is enough
    monkeypatch.undo()
    assert not copied(open_table(columns(), schema()))
    with duckdb.connect() as connection:
        connection.register("frame", pa.table(columns()))
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
        assert not copied(open_table(connection, schema(), table="t"))


def test_users_stay_padded_with_null_rows(tmp_path: Path) -> None:
    owned = schema(Identifier("who"), unit=PrivacyUnit.user("who", max_rows=3))
    frame = columns(10) | {"who": [f"u{place // 2}" for place in range(10)]}
    with stored(tmp_path, frame, owned) as table, ShuffledCopy(streamed(table, 5)) as copy:
        passes = [together(copy.shuffled_chunks(Source(seed=1))) for _ in range(2)]
    assert np.array_equal(passes[0], passes[1])
    null = (passes[1] == 0).all(axis=1)
    assert passes[1].shape == (15, 4)
    assert null.sum() == 5
    assert (np.abs(passes[1][~null, 3]) == 1).all()


def test_under_add_remove_records_draw_their_batches_in_every_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fixed order would be a ranking: no copy, and every record in one batch of each pass."""
    monkeypatch.setattr(module, "ShuffledCopy", None)
    declared = schema(adjacency="add_remove", n_public=ROWS)
    with stored(tmp_path, None, declared) as table:
        examples = streamed(table)
        made = course(adjacency=Adjacency.add_remove, batch=50).train(examples, Source(seed=5))
        drawn = [list(examples.random_batches(Source(seed=seed), batches=60)) for seed in (1, 2)]
        everything = in_any_order(together(examples.chunks()))
    assert np.isfinite(made).all()
    for batches in drawn:
        assert len(batches) == 60
        assert np.array_equal(in_any_order(together(iter(batches))), everything)
    assert [len(y) for _, y in drawn[0]] != [len(y) for _, y in drawn[1]]


def test_a_table_that_shrinks_while_it_is_loaded_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stored(tmp_path) as table:
        loaded: Any = streamed(table).for_many_passes()
        assert np.array_equal(
            in_any_order(together(loaded.chunks())), in_any_order(together(streamed(table).chunks()))
        )
        for counted in (ROWS - 1, ROWS + 1):
            monkeypatch.setattr(table, "count", lambda counted=counted: counted)
            with pytest.raises(DataError, match="changed while it was read"):
                streamed(table).for_many_passes()
