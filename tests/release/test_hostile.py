"""Values and words from a stranger: bounded before anything is built from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow
import pytest

from holdfast._plain_data import parse_json
from holdfast.errors import FormatError, ParameterError
from holdfast.privacy import ZCDP, Account, Gaussian
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.release import Release
from holdfast.release._archive import Contents, unpack
from holdfast.release._tables import table_bytes, table_of

TABLE = pyarrow.table({"x": [0.0] * 1000, "name": pyarrow.array(["a", "b"] * 500).dictionary_encode()})


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_a_compressed_table_is_refused(compression: str) -> None:
    assert table_of(table_bytes(TABLE)).equals(TABLE)
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with pyarrow.ipc.new_file(sink, TABLE.schema, options=options) as writer:
        writer.write_table(TABLE)
    with pytest.raises(FormatError, match="compressed"):
        table_of(sink.getvalue().to_pybytes())


@pytest.mark.parametrize(
    "text",
    [
        "[1e999]",
        "[NaN]",
        "[" * 100_000,
        "[]x",
        "[" + "9" * 400 + "]",
        "[" + "[]," * 60 + "[]]",
        "[" + "1," * 500 + "1]",
    ],
)
def test_json_from_a_stranger(text: str) -> None:
    with pytest.raises(FormatError):
        parse_json(text.encode(), "a note", most_parts=500)


def of(column: pyarrow.Array) -> bytes:
    """A table of one column as Arrow writes it, whatever it is."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, pyarrow.schema([("x", column.type)])) as writer:
        writer.write_table(pyarrow.table({"x": column}))
    data: bytes = sink.getvalue().to_pybytes()
    return data


MOST = 2**31 - 1
MANY: dict[str, Callable[[], pyarrow.Array]] = {
    "list of nulls": lambda: pyarrow.ListArray.from_arrays(
        pyarrow.array([0, MOST], pyarrow.int32()), pyarrow.nulls(MOST)
    ),
    "list without size": lambda: pyarrow.FixedSizeListArray.from_arrays(pyarrow.nulls(MOST), MOST),
    "structure of nulls": lambda: pyarrow.StructArray.from_arrays([pyarrow.nulls(MOST)], ["a"]),
    "run of one": lambda: pyarrow.RunEndEncodedArray.from_arrays(pyarrow.array([MOST], pyarrow.int32()), [0]),
    "union": lambda: pyarrow.UnionArray.from_sparse(pyarrow.array([0], pyarrow.int8()), [pyarrow.nulls(1)]),
    "bytes without bytes": lambda: pyarrow.array([b""], pyarrow.binary(0)),
    "views": lambda: pyarrow.array(["a"], pyarrow.string_view()),
}
"""Made when they are wanted: nulls take a bit each."""


@pytest.mark.parametrize("name", MANY)
def test_columns_that_can_be_longer_than_their_bytes_are_neither_stored_nor_read(name: str) -> None:
    column = MANY[name]()
    with pytest.raises(FormatError, match="columns of numbers, texts"):
        table_of(of(column))
    with pytest.raises(ParameterError, match="columns of numbers, texts"):
        table_bytes(pyarrow.table({"x": column}))


def test_nulls_without_a_type_are_stored_as_far_as_they_are_read() -> None:
    few = pyarrow.table({"x": pyarrow.nulls(2**20)})
    many = pyarrow.table({name: pyarrow.nulls(2**22) for name in "abcd"})
    assert table_of(table_bytes(few)).equals(few)
    with pytest.raises(ParameterError, match="more rows than its bytes"):
        table_bytes(many)
    with pytest.raises(FormatError, match="more rows than its bytes"):
        table_of(of(pyarrow.nulls(2**24)))


def test_a_dictionary_that_grows_from_batch_to_batch_is_refused() -> None:
    sink = pyarrow.BufferOutputStream()
    texts = pyarrow.array([str(number) for number in range(9)])
    batches = [
        pyarrow.record_batch([pyarrow.DictionaryArray.from_arrays([0], texts[: place + 1])], names=["x"])
        for place in range(9)
    ]
    options = pyarrow.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pyarrow.ipc.new_file(sink, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    with pytest.raises(FormatError, match="adds to its dictionaries"):
        table_of(sink.getvalue().to_pybytes())


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [("<U0", "2147483647,"), ("|S0", "2147483647,"), ("|S0", "1000, 9000"), ("<f8", "0, 9999999999")],
)
def test_an_array_is_as_large_as_its_bytes(dtype: str, shape: str) -> None:
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({shape}), }}\n".encode()
    data = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
    with pytest.raises(FormatError, match="a stored array"):
        unpack(Contents({"$array": "arrays/0.npy"}, {"arrays/0.npy": data}))


def test_json_is_not_deeper_than_it_may_be() -> None:
    assert parse_json(b"[" * 40 + b"]" * 40, "a note", most_depth=50)
    with pytest.raises(FormatError, match="50 levels"):
        parse_json(b"[" * 60 + b"]" * 60, "a note", most_depth=50)


def test_a_long_text_is_one_value() -> None:
    assert parse_json(b'["a,b,c,[[["]', "a note", most_parts=20) == ["a,b,c,[[["]


def test_nested_curves_are_refused() -> None:
    curve: Any = {"kind": "GaussianDP", "mu": 1.0, "square": None}
    for _ in range(2):
        curve = {"kind": "GroupReplace", "curve": curve}
    assert curve_from_json(curve).delta(1.0) > 0
    with pytest.raises(ParameterError, match="GroupReplace"):
        curve_from_json({"kind": "GroupReplace", "curve": curve})


def test_what_a_release_says_of_itself_is_modest() -> None:
    account = Account(ZCDP(1.0))
    value = account.release(Gaussian(sigma=9.0, l2_sensitivity=1.0), [3.0])
    deep: Any = 0
    for _ in range(60):
        deep = [deep]
    for parameters in ({"x": "a" * 2**21}, {"x": deep}):
        made = Release.of(account, value, method="a count", parameters=parameters)
        with pytest.raises(ParameterError, match="into the value"):
            made.file_bytes()
