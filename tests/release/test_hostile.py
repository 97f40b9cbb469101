"""Values and words from a stranger: bounded before anything is built from them."""

from __future__ import annotations

from typing import Any

import pyarrow
import pytest

from holdfast.errors import FormatError, ParameterError
from holdfast.privacy import ZCDP, Account, Gaussian
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.release import Release
from holdfast.release._archive import parse_json
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
