from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from holdfast.errors import FormatError, ParameterError
from holdfast.release._archive import Contents, pack, unpack

ARRAYS = hnp.arrays(
    st.sampled_from(["?", "<i8", "<i2", "<u4", "<f4", "<f8", ">f8", "<c16", "<U3"]),
    hnp.array_shapes(min_dims=0, min_side=0),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())
VALUES = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers(), st.just("$array")), inner, max_size=4),
    ),
    max_leaves=8,
)


@given(VALUES)
def test_every_value_survives_json_and_members(value: Any) -> None:
    contents = pack(value)
    stored = Contents(json.loads(json.dumps(contents.tree, allow_nan=False)), contents.members)
    again = unpack(stored)
    assert pack(again) == contents
    assert type(again) is type(value) or isinstance(value, np.generic)


def test_arrays_keep_dtype_shape_and_bits() -> None:
    array = np.array([[0.0, -0.0], [math.nan, math.inf]], order="F")
    again = unpack(pack(array))
    assert again.dtype == array.dtype
    assert again.tobytes() == np.ascontiguousarray(array).tobytes()
    again[0, 0] = 1.0  # a loaded array can be written to


def test_tables_keep_their_schema() -> None:
    table = pa.table({"a": pa.array([1, None], pa.int8()), "b": pa.array(["x", "y"]).dictionary_encode()})
    assert unpack(pack(table)).equals(table)
    sliced = table.slice(1, 1)
    assert unpack(pack([sliced]))[0].equals(sliced)


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1, 2},
        b"bytes",
        np.array([object()]),
        np.zeros(2, dtype="f8,i4"),
        1j,
        np.zeros(1, np.longdouble),
    ],
)
def test_what_cannot_be_stored_is_refused_by_its_type(value: Any) -> None:
    with pytest.raises(ParameterError, match="cannot be stored"):
        pack([value])


def test_deep_values_are_refused_on_both_sides() -> None:
    deep: Any = 0
    for _ in range(500):
        deep = [deep]
    with pytest.raises(ParameterError, match="nested"):
        pack(deep)
    with pytest.raises(FormatError, match="nested"):
        unpack(Contents(deep))


def header(text: str, body: bytes = b"") -> bytes:
    data = text.encode().ljust(53) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(data).to_bytes(2, "little") + data + body


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY\x01\x00",
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", b"12345678"),
        header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"12345678"),
        header("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", b"\xff\xff\xff\x7f"),
        header("(" * 4000),
        header("__import__('os')"),
    ],
)
def test_a_header_that_lies_is_a_format_error(data: bytes) -> None:
    with pytest.raises(FormatError):
        unpack(Contents({"$array": "a"}, {"a": data}))


@pytest.mark.parametrize(
    "tree",
    [
        {"$array": "missing"},
        {"$new": 1},
        {"$float": "1.0"},
        {"$pairs": [[1]]},
        {"$array": "a", "more": 1},
        [{"$array": "a"}, {"$array": "a"}],
        3,
    ],
)
def test_a_tree_that_pack_cannot_write_is_a_format_error(tree: Any) -> None:
    with pytest.raises(FormatError):
        unpack(
            Contents(tree, dict(pack(np.zeros(1)).members) | {"a": pack(np.zeros(1)).members["arrays/0.npy"]})
        )
