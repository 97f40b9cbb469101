"""Rows are read and encoded once: the same numbers as without a copy, nothing left behind, a way out of a full disk."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import PrivateLogisticRegression
from holdfast.data import Categorical, Identifier, Numeric, Schema, Table, open_table
from holdfast.data._engines.duckdb.table import DuckDBTable
from holdfast.errors import BudgetWarning, DataError, NotPrivateWarning, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._risk import descent
from holdfast.learn._rows import private_file, table_examples
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import ArrayExamples, Chunk
from holdfast.learn._rows.private_file import PrivateFile, has_room
from holdfast.learn._rows.row_copy import RowCopy, copied_bytes
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.ledger import Ledger
from holdfast.noise._source import Source
from holdfast.privacy import Adjacency, ApproxDP, PrivacyUnit

ROWS = 9_000


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table is small enough for memory, and chunks are small."""
    monkeypatch.setattr(table_examples, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(table_examples, "CHUNK_BYTES", 1)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    age = rng.uniform(0, 100, ROWS)
    frame = {
        "age": age,
        "weight": rng.uniform(0, 200, ROWS),
        "town": rng.choice(["a", "b", "c"], ROWS),
        "ill": np.where(age + rng.normal(0, 20, ROWS) > 50, "yes", "no"),
        "who": [f"u{place // 2}" for place in range(ROWS)],
    }
    made = tmp_path_factory.mktemp("rows") / "rows.parquet"
    parquet.write_table(pa.table(frame), made)
    return made


def schema(*more: Any, **terms: Any) -> Schema:
    numbers = [Numeric("age", 0, 100), Numeric("weight", 0, 200)]
    return Schema(
        [*numbers, Categorical("town", list("abc")), Categorical("ill", ["no", "yes"]), *more], **terms
    )


def held(n: int = 100, d: int = 3) -> ArrayExamples:
    rng = np.random.default_rng(n)
    return ArrayExamples(
        features=rng.normal(size=(n, d)),
        labels=rng.normal(size=n),
        adjacency=Adjacency.replace,
        public_count=n,
    )


def bits(chunks: Iterator[Chunk]) -> list[tuple[bytes, bytes]]:
    return [(x.tobytes(), y.tobytes()) for x, y in chunks]


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    asked: list[Any] = []
    stream = DuckDBTable._stream

    def counted(self: DuckDBTable, *arguments: Any) -> Any:
        asked.append(arguments)
        return stream(self, *arguments)

    monkeypatch.setattr(DuckDBTable, "_stream", counted)
    return asked


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 4), st.sampled_from(["f8", "u2", "i8", "?"])), max_size=6
    )
)
def test_arrays_come_back_as_they_were(shapes: list[tuple[int, int, str]]) -> None:
    rng = np.random.default_rng(len(shapes))
    chunks = [(rng.normal(size=(rows, wide)).astype(kind), np.arange(rows)) for rows, wide, kind in shapes]
    file = PrivateFile()
    assert all(file.append(*chunk) for chunk in chunks)
    for _ in range(2):
        for told, read in zip(chunks, file.chunks(), strict=True):
            for a, b in zip(told, read, strict=True):
                assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    file.close()
    assert not file.usable
    assert not file.append(np.ones(1))


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize(
    ("method", "adjacency", "told"),
    [
        ("noisy_gd", "replace", {"options": {"steps": 4}}),
        ("noisy_gd", "add_remove", {"options": {"steps": 4}}),
        ("output", "zero_out", {"penalty": 1e-2}),
        ("dp_sgd", "add_remove", {"options": {"steps": 5}}),
    ],
)
def test_a_fit_gives_the_same_weights_bit_by_bit(
    path: Path, method: str, adjacency: str, told: dict[str, Any]
) -> None:
    declared = schema(adjacency=adjacency, n_public=ROWS if adjacency == "add_remove" else None)
    made = []
    for local_copy in (None, False):
        with open_table(path, declared, local_copy=local_copy, entropy=Source(seed=4)) as table:
            model = PrivateLogisticRegression(2.0, 1e-6, method=method, random_state=3, **told)
            model.fit(table, target="ill")
            made.append(model.coef_.tobytes() + model.intercept_.tobytes())
    assert made[0] == made[1]


@pytest.mark.usefixtures("streamed")
def test_a_fit_of_many_steps_reads_its_table_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_reads(monkeypatch)
    # Without a copy: once for the columns' units, once for the second moment, and once in each step.
    for local_copy, reads in ((None, 1), (True, 1), (path.parent, 1), (False, 7)):
        asked.clear()
        with open_table(path, schema(), local_copy=local_copy) as table:
            options = {"steps": 5}
            PrivateLogisticRegression(2.0, 1e-6, options=options, random_state=1).fit(table, target="ill")
        assert len(asked) == reads, local_copy


@pytest.mark.usefixtures("streamed")
def test_rows_of_users_are_copied_with_their_null_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_reads(monkeypatch)
    owned = schema(Identifier("who"), unit=PrivacyUnit.user("who", max_rows=3), adjacency="zero_out")
    made = []
    for local_copy in (None, False):
        with open_table(path, owned, local_copy=local_copy, entropy=Source(seed=4)) as table:
            model = PrivateLogisticRegression(2.0, 1e-6, options={"steps": 3}, random_state=3)
            made.append(model.fit(table, target="ill").coef_.tobytes())
    assert made[0] == made[1]
    assert len(asked) == 1 + 5


def test_a_pass_inside_the_first_one_and_a_broken_one_change_nothing() -> None:
    rows = held(200_000, 1)
    truth, copy = bits(rows.chunks()), RowCopy(rows)
    broken = copy.chunks()
    next(broken)
    assert bits(copy.chunks()) == truth
    broken.close()  # type: ignore[attr-defined]
    states = [copy.repeats]
    assert [bits(copy.chunks()) for _ in range(3)] == [truth] * 3
    states.append(copy.repeats)
    copy.close()
    assert [*states, copy.repeats] == [False, True, False]
    assert bits(copy.chunks()) == truth


def test_the_file_is_private_and_without_a_name(tmp_path: Path) -> None:
    file = PrivateFile(tmp_path)
    file.append(np.ones(1000))
    assert file._file is not None
    found = os.fstat(file._file.fileno())
    assert found.st_size == 8000
    assert not list(tmp_path.iterdir())
    if sys.platform == "linux":
        assert (found.st_mode & 0o777, found.st_nlink) == (0o600, 0)
    file.close()


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from holdfast.learn._rows.private_file import PrivateFile
file = PrivateFile(Path(sys.argv[1]))
file.append(np.ones(100_000))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


class FullDisk:
    """Takes so many bytes, the last of them as a part of a write, and refuses more."""

    def __init__(self, room: int, made: Any) -> None:
        self.room, self.made = room, made

    def write(self, data: Any) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "no space left on device")
        some = min(self.room, len(data))
        self.room -= some
        return int(self.made.write(data[:some]))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made, name)


class InParts(FullDisk):
    """Takes and gives a part of what it is asked for, as a system may."""

    def write(self, data: Any) -> int:
        return super().write(data[:700])

    def readinto(self, into: Any) -> int:
        return int(self.made.readinto(into[:300]))


def test_a_system_that_writes_and_reads_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    make = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **options: InParts(10**9, make(**options)))
    rows = held(500)
    with closing(RowCopy(rows)) as copy:
        assert [bits(copy.chunks()) for _ in range(2)] == [bits(rows.chunks())] * 2


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize("room", [0, 1_000, 200_001])
def test_a_full_disk_costs_time_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: int
) -> None:
    def fitted(ledger: Path) -> tuple[bytes, str]:
        with open_table(path, schema(), entropy=Source(seed=4)) as table:
            book = Ledger.create(ledger)
            book.dataset("rows", limit=ApproxDP(2.0, 1e-6), unit=table.unit, adjacency=table.adjacency)
            account = book.account("rows", seed=5)
            model = PrivateLogisticRegression(options={"steps": 3}).fit(table, target="ill", account=account)
            return model.coef_.tobytes(), str(account.spent())

    truth = fitted(tmp_path / "first.db")
    disks: list[FullDisk] = []
    make = tempfile.TemporaryFile

    def full(**options: Any) -> Any:
        disks.append(FullDisk(room, make(**options)))
        return disks[-1]

    monkeypatch.setattr(private_file.tempfile, "TemporaryFile", full)  # type: ignore[attr-defined]
    asked = count_reads(monkeypatch)
    assert fitted(tmp_path / "second.db") == truth
    assert [disk.made.closed for disk in disks] == [True]
    assert len(asked) == 5


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize("fails", [False, True])
def test_the_copy_is_gone_with_the_fit(path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    made: list[PrivateFile] = []
    begin = PrivateFile.__init__

    def recorded(self: PrivateFile, *told: Any) -> None:
        begin(self, *told)
        made.append(self)

    monkeypatch.setattr(PrivateFile, "__init__", recorded)
    if fails:
        monkeypatch.setattr(descent.ClippedGradients, "at", lambda self, weights: 1 / 0)
    with open_table(path, schema()) as table:
        model = PrivateLogisticRegression(2.0, 1e-6, options={"steps": 3}, random_state=3)
        if fails:
            with pytest.raises(ZeroDivisionError):
                model.fit(table, target="ill")
        else:
            model.fit(table, target="ill")
    assert [file.usable for file in made] == [False]


def test_a_disk_with_little_room_is_not_used(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_room(Path("nowhere/at/all"), 1)
    monkeypatch.setattr(table_examples, "IN_MEMORY_BYTES", 0)
    with open_table(path, schema()) as table:
        examples: Any = table_examples.TableExamples(
            table=table, encoder=_encoder(table), target="ill", coding=_coding(table), public_count=ROWS
        )
        needed = copied_bytes(examples)
        assert needed == 8 * 6 * ROWS
        for free, kind in ((2 * needed, RowCopy), (2 * needed - 1, TableExamples)):
            usage = type("usage", (), {"free": free})
            monkeypatch.setattr(private_file.shutil, "disk_usage", lambda place, usage=usage: usage)  # type: ignore[attr-defined]
            loaded = examples.for_many_passes()
            assert type(loaded) is kind
            loaded.close()


def _encoder(table: Table) -> Any:
    from holdfast.data import Encoder

    return Encoder(table.schema, ["age", "weight", "town"], intercept=False)


def _coding(table: Table) -> Any:
    from holdfast.learn._problem.problem import ClassLabels

    return ClassLabels.of_column(table.schema["ill"])


def test_which_tables_are_copied(path: Path, tmp_path: Path) -> None:
    frame = parquet.read_table(path)
    with open_table(path, schema()) as files, open_table(path, schema(), local_copy=False) as not_this:
        assert (files.copies, not_this.copies) == (True, False)
    assert not open_table(frame, schema()).copies
    there = open_table(frame, schema(), local_copy=tmp_path)
    assert (there.copies, there.copy_folder) == (True, tmp_path)
    with pytest.raises(ParameterError, match="local_copy must be"):
        open_table(frame, schema(), local_copy=tmp_path / "absent")


def test_a_copy_that_was_cut_is_an_error() -> None:
    with closing(RowCopy(held())) as copy:
        bits(copy.chunks())
        assert copy._file._file is not None
        copy._file._file.truncate(100)
        with pytest.raises(DataError, match="nothing was released"):
            bits(copy.chunks())


def test_rows_too_long_are_clipped_in_every_pass() -> None:
    problem = Problem(loss=Logistic(), dimension=3, row_norm=1.0)
    with closing(RowCopy(held(5_000))) as copy:
        blocks = ClippedBlocks(copy, problem)
        passes = [list(blocks.blocks()) for _ in range(3)]
    for later in passes:
        assert max(np.linalg.norm(x, axis=1).max() for x, _ in later) <= problem.norm_bound
        assert bits(iter(later)) == bits(iter(passes[0]))


def test_lengths_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.learn._whitening import no_whitening

    problem, copy = Problem(loss=Logistic(), dimension=3, row_norm=9.0), RowCopy(held(9_000))
    truth = None
    for room in (0, 5_000, 10_000):
        monkeypatch.setattr(descent, "MOST_CACHED_LENGTHS", room)
        gradients = descent.ClippedGradients(
            problem=problem, passes=ClippedBlocks(copy, problem), whitening=no_whitening(3), clip=1.5
        )
        made = [gradients.at(np.full((1, 3), 0.1)).tobytes() for _ in range(3)]
        truth = truth or made[0]
        assert made == [truth] * 3
        assert sum(map(len, gradients._cached_lengths)) <= room
    assert len(gradients._cached_lengths) == 5
    copy.close()
