"""Laws that drawn faults asked for: each lived until its law was written (docs/mutation.md)."""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from holdfast.data import Categorical, DateTime, Hierarchy, Numeric, Schema
from holdfast.data._clipped_rows import clip_rows
from holdfast.data._encode import Encoder
from holdfast.data._engines.duckdb.source import Runner, interruptible
from holdfast.data._process_lock import new_locked_folder
from holdfast.data._schema.calendar import pattern_of
from holdfast.data._schema.spelling import checked_markers
from holdfast.data._whole_file import whole_file
from holdfast.data._work_folder import WorkFolder, _make_files_private
from holdfast.errors import DataError, ParameterError


@pytest.mark.parametrize("digits", [0, 9])
def test_digits_at_the_ends_of_their_range(digits: int) -> None:
    assert Numeric("money", 0, 100, decimals=digits).decimals == digits
    for beyond in (-1, 10, True, 2.0):
        with pytest.raises(ParameterError, match="decimals"):
            Numeric("money", 0, 100, decimals=beyond)  # type: ignore[arg-type]


def test_numbers_that_are_written_as_texts_mark_missing_values_as_numbers() -> None:
    assert checked_markers(["-999", "1e3", "NA", "nan"], numbers=True) == (-999.0, 1000.0, "NA", "nan")
    assert checked_markers([-999, "-999.0"], numbers=True) == (-999.0,)


def test_what_takes_the_place_of_a_file_is_on_the_disk_before_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    names = {"fsync": os.fsync, "replace": os.replace}
    for name, function in names.items():

        def noted(*arguments: object, name: str = name, function: object = function) -> object:
            calls.append(name)
            return function(*arguments)  # type: ignore[operator]

        monkeypatch.setattr(f"holdfast.data._whole_file.os.{name}", noted)
    with whole_file(tmp_path / "table.json", overwrite=True) as file:
        file.write_text("{}")
    assert calls == ["fsync", "replace", "fsync"]


def test_a_folder_may_be_deleted_again() -> None:
    folder = WorkFolder()
    folder.delete()
    used = os.open(os.devnull, os.O_RDONLY)  # perhaps under the number that the lock had
    folder.delete()
    os.fstat(used)
    os.close(used)


def test_a_new_folder_is_locked(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    path, handle = new_locked_folder(lambda: tmp_path / "work")
    assert handle is not None
    other = os.open(path, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    os.close(handle)


def test_files_of_an_engine_are_for_their_owner_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written: dict[str, bytes] = {}
    monkeypatch.setattr(os, "setxattr", lambda _, name, value: written.update({name: value}), raising=False)
    _make_files_private(tmp_path)
    version, entries = written["system.posix_acl_default"][:4], written["system.posix_acl_default"][4:]
    assert struct.unpack("<I", version) == (2,)
    # Tags of access lists on Linux: 1 the owner, 4 the group, 32 others.
    assert [fields[:2] for fields in struct.iter_unpack("<HHI", entries)] == [(1, 7), (4, 0), (32, 0)]


def test_a_logarithm_needs_a_smallest_size() -> None:
    with pytest.raises(ParameterError, match="smallest must be declared"):
        Numeric("money", 0, 100, bins=3, spacing="log")
    assert Numeric("money", 1, 100, bins=3, spacing="log").smallest is None


@pytest.mark.parametrize("most", [0, -1, None])
def test_a_person_has_at_least_one_row(most: object) -> None:
    schema = Schema([Numeric("x", 0, 1), Numeric("person", 0, 9)])
    with pytest.raises(ParameterError, match="max_rows must be a whole number >= 1"):
        schema.with_unit("person", max_rows=most)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["%d.%m", "%d.%d.%Y", "%H:%M", "%Y %m %H", "%Y-%m-%d %S", "%q", "%Y/%m/%b"])
def test_forms_of_dates_that_say_no_day_or_one_thing_twice(form: str) -> None:
    with pytest.raises(ParameterError, match="format must be 'iso', or a month"):
        pattern_of(form)


def test_two_spellings_of_two_categories_are_refused() -> None:
    for second, options in (
        ("YES", {"fold": True}),
        ("yes ", {"trim": True}),
        ("YES", {"fold": True, "nulls": ["NA"]}),
    ):
        with pytest.raises(ParameterError, match="must differ as they are read"):
            Categorical("c", ["yes", second], **options)
        assert Categorical("c", ["yes", second]).cells == 2


def test_a_name_of_two_levels_is_read_as_that_of_the_finer_one() -> None:
    """Every text means one cell, however many levels it names."""
    column = Hierarchy(
        "place", ["a", "b", "c"], coarser=[{"a": "x", "b": "x", "c": "y"}, {"x": "y", "y": "z"}], level=2
    )
    texts = [text for text, _ in column.meanings()]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("years", [1, 3, 4, 10, 40])
def test_cells_of_dates_are_the_finest_calendar_that_is_not_too_fine(years: int) -> None:
    column = DateTime("d", "2000-01-01", f"{2000 + years}-12-31")
    assert column._period is not None
    assert column._period != "day"
    assert len(column._inner(column._period)) < 60
    finer = {"month": "day", "quarter": "month", "year": "month", "decade": "year"}.get(column._period, "day")
    assert len(column._inner(finer)) >= 60


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_row_that_is_not_finite_is_enough_to_be_refused(bad: float, place: int) -> None:
    rows = np.ones((3, 2))
    rows[place, 1] = bad
    with pytest.raises(DataError, match="rows must be finite"):
        clip_rows(rows, 1.0)


def test_the_error_of_a_statement_is_the_error_of_its_call() -> None:
    def call() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interruptible(call, lambda: None)
    assert interruptible(lambda: 7, lambda: None) == 7


def test_every_statement_that_may_be_running_is_interrupted() -> None:
    class Cursor:
        ended = False

        def sql(self, statement: str) -> str:
            return statement

        def interrupt(self) -> None:
            self.ended = True

    cursors = [Cursor() for _ in range(3)]
    places = iter(cursors)
    runner = Runner(lambda: next(places))
    assert [runner(word) for word in "ab"] == ["a", "b"]
    runner.interrupt()
    assert [cursor.ended for cursor in cursors] == [True, True, False]


def test_settings_of_an_encoder_are_checked_by_name() -> None:
    with pytest.raises(ParameterError, match="row_norm"):
        Encoder(Schema([Numeric("x", 0, 1)]), row_norm="long").fit()  # type: ignore[arg-type]
