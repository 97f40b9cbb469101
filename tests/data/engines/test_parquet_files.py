"""A Parquet file whose metadata ask for more memory than its size allows is refused before any of it is made."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from holdfast.data._engines.file_rows import BATCH_BYTES, rows_of_files
from holdfast.data._engines.files import read_arrays, read_table
from holdfast.data._engines.parquet_files import open_parquet
from holdfast.errors import DataError, ParameterError
from tests.contracts.thrift import COLUMN, STRUCT, footer, metadata, row_group, schema_of, sequence


def written(folder: Path, data: bytes) -> Path:
    path = folder / "rows.parquet"
    path.write_bytes(data)
    return path


def test_what_parquet_writes_is_read(tmp_path: Path) -> None:
    table = pyarrow.table({f"c{place}": [1.0, 2.0] for place in range(3000)})
    parquet.write_table(table, tmp_path / "wide.parquet", row_group_size=1)
    assert read_table(tmp_path / "wide.parquet").equals(table)


@pytest.mark.parametrize(
    "parts",
    [
        (sequence(100_000, STRUCT) + b"\0" * 100_000,),
        (schema_of(1), row_group(b"\0" * 100_000, 100_000), 1),
        (schema_of(1), b"\0" * 100_000, 100_000),
        (schema_of(1), row_group(b"\0" * 1000, 1000) * 100, 100),
        (schema_of(20_000),),
    ],
    ids=["columns", "chunks", "groups", "chunks of groups", "a wide schema"],
)
def test_metadata_that_would_grow_are_refused(
    parts: tuple[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ParquetFile", lambda *_, **__: pytest.fail("it was opened"))
    with pytest.raises(DataError, match="twenty times its size"):
        open_parquet(written(tmp_path, footer(metadata(*parts))))


def test_no_list_is_longer_than_the_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, int] = {}
    real = parquet.ParquetFile
    monkeypatch.setattr(parquet, "ParquetFile", lambda path, **said: asked.update(said) or real(path, **said))
    body = metadata(sequence(999_999, STRUCT) + COLUMN)
    with pytest.raises(DataError, match="could not open a Parquet file"):
        open_parquet(written(tmp_path, footer(body)))
    assert asked["thrift_container_size_limit"] == asked["thrift_string_size_limit"] == len(body)


def test_rows_that_no_group_holds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="as many rows"):
        open_parquet(written(tmp_path, footer(metadata(schema_of(1), rows=2**62))))


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" * 3, b"x" * 50, footer(b"")[:-1]])
def test_what_is_no_parquet_file_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        open_parquet(written(tmp_path, data))


def test_an_array_is_as_large_as_its_header_says(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    head = b"{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }"
    for dtype, count in ((b"|O", 1), (b"<U0", 10**9), (b"|V0", 10**9), (b"<f8", 10**9), (b"<f8", 2)):
        text = head % (dtype, count)
        path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 8)
        with pytest.raises(DataError, match="of the size that its header says"):
            read_arrays(path, None)
    path.write_bytes(path.read_bytes() + b"\0" * 8)
    assert read_arrays(path, None)[0].tolist() == [0.0, 0.0]
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(ParameterError, match="folder"):
        read_arrays(tmp_path / "folder.npy", None)


def test_a_page_that_unpacks_to_more_than_its_file_allows_is_refused_before_it_is_read(
    tmp_path: Path,
) -> None:
    """Both kinds of pages; Arrow would make room for what a page says it holds."""
    path = tmp_path / "long.parquet"
    for dictionary in (True, False):
        table = pyarrow.table({"a": pyarrow.array(["z" * 30_000_000]), "b": pyarrow.array([1])})
        options = {"compression": "zstd", "use_dictionary": dictionary, "dictionary_pagesize_limit": 2**30}
        parquet.write_table(table, path, **options)
        rows = rows_of_files(str(path))
        with pytest.raises(DataError, match=r"its pages need .* bytes; write the file again"):
            list(rows.reader([0, 1]))
        assert sum(batch.num_rows for batch in rows.reader([1])) == 1, "what is not asked for is not read"


def test_a_value_that_is_repeated_is_written_out_a_few_times_only(tmp_path: Path) -> None:
    path = tmp_path / "repeated.parquet"
    values = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0, None, 1] * 50, pyarrow.int32()), ["y" * 10**6, "x"]
    )
    parquet.write_table(pyarrow.table({"a": values, "b": pyarrow.array(range(150))}), path)
    batches = list(rows_of_files(str(path)).reader([0, 1]))
    assert max(batch.nbytes for batch in batches) < 2 * BATCH_BYTES
    assert [value for batch in batches for value in batch.column(0).to_pylist()] == values.to_pylist()
    assert [value for batch in batches for value in batch.column(1).to_pylist()] == list(range(150))
