"""CSV: each line is read by itself, as declared; a broken one is a row of nothing and spoils no other (finding E7)."""

from __future__ import annotations

import codecs
import gzip
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, CsvFormat, Identifier, Numeric, Order, Schema, draft_schema, open_table
from holdfast.data._engines import csv_files
from holdfast.data._engines.csv_files import CsvFile
from holdfast.errors import DataError, NotPrivateWarning, ParameterError

Row = tuple[str | None, ...]
PLAIN = CsvFormat()


def read(path: Path, content: bytes, form: CsvFormat = PLAIN) -> list[Row]:
    path.write_bytes(content)
    file = CsvFile(path=str(path), format=form)
    batches = file.batches(range(len(file.names)))
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def slowly(line: bytes, fields: int, form: CsvFormat = PLAIN) -> list[Row]:
    """The rows of one line, letter by letter: what the vectors are held against."""
    nothing: list[Row] = [(None,) * fields]
    line = line.rstrip(b"\r")
    if not line and fields > 1:
        return []
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return nothing
    if "\r" in text or len(line) > csv_files.MOST_RECORD_BYTES:
        return nothing
    found, rest = [], text + ","
    while rest:
        if rest.startswith('"') and form.quote:
            value, at = "", 1
            while at < len(rest) and (rest[at] != '"' or rest[at : at + 2] == '""'):
                value, at = value + rest[at], at + (2 if rest[at] == '"' else 1)
            if rest[at : at + 2] != '",':
                return nothing
            rest = rest[at + 2 :]
        else:
            value, _, rest = rest.partition(",")
            if '"' in value and form.quote:
                return nothing
        found.append(value or None)
    return [tuple(found)] if len(found) == fields else nothing


PIECES = [
    b"a",
    b"1",
    b",",
    b",",
    b'"',
    b'""',
    b"\r",
    b"\xff",
    "é".encode(),
    b"\xc3",
    b"\0",
    codecs.BOM_UTF8,
    b"'",
    b" ",
]
LINES = st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=9).map(
    lambda pieces: b"".join(pieces).replace(b"\n", b"")
)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 7)
    monkeypatch.setattr(csv_files, "MOST_RECORD_BYTES", 24)


@settings(max_examples=900, deadline=None)  # a third of them kills the faults planted in byte order marks
@given(lines=st.lists(LINES, max_size=8), fields=st.integers(1, 3), block=st.sampled_from([3, 7, 64, 2**24]))
def test_a_row_is_made_of_its_own_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], fields: int, block: int
) -> None:
    header = ",".join(f"n{i}" for i in range(fields)).encode()
    content = b"\n".join([header, *lines, b""])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_files, "BLOCK_BYTES", block)
        patched.setattr(csv_files, "MOST_RECORD_BYTES", 12)
        found = read(tmp_path_factory.getbasetemp() / "rows.csv", content)
        assert found == [row for line in lines for row in slowly(line, fields)]


@settings(max_examples=100, deadline=None)
@given(lines=st.lists(LINES, min_size=1, max_size=6), other=LINES, data=st.data())
def test_neighbouring_files_agree_on_every_other_row(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], other: bytes, data: st.DataObject
) -> None:
    schema = Schema(
        [
            Numeric("x", 0, 1, bins=3, null="category"),
            Categorical("k", ["a", "1"], null="none", other="other"),
        ],
        adjacency="add_remove",
    )
    place = data.draw(st.integers(0, len(lines) - 1))
    path, counted = tmp_path_factory.getbasetemp() / "neighbour.csv", []
    for changed in (lines, [*lines[:place], other, *lines[place + 1 :]]):
        path.write_bytes(b"\n".join([b"x,k", *changed, b""]))
        with open_table(path, schema) as table:
            counted.append(table.counts([["x", "k"]])[0])
    assert abs(counted[0] - counted[1]).sum() <= 2


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r\r\n", b"\r\r\r\n"])
@pytest.mark.parametrize("form", [PLAIN, CsvFormat(quoted_newlines=True)])
@pytest.mark.usefixtures("small_blocks")
def test_lines_may_end_twice(tmp_path: Path, ending: bytes, form: CsvFormat) -> None:
    """Text that Python's csv writes to a file that translates line ends has two carriage returns."""
    content = ending.join([b"a,b", b'1,"x"', b"", b"2,y", b",", b'"3",', b""])
    assert read(tmp_path / "rows.csv", content, form) == [("1", "x"), ("2", "y"), (None, None), ("3", None)]
    assert read(tmp_path / "column.csv", ending.join([b"a", b"1", b"2", b""]), form) == [("1",), ("2",)]


BROKEN = {
    "ragged": b"1,2,3",
    "short": b"1",
    "bad byte": b"\xff,2",
    "stray quote": b'1"x,2',
    "open quote": b'"1,2',
    "closed too early": b'"1"x,2',
    "too long": b"1" * (csv_files.MOST_RECORD_BYTES + 1) + b",2",
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_line_is_a_row_of_nothing(tmp_path: Path, fault: str) -> None:
    lines = [b"a,b", b"0,0", BROKEN[fault], b"5,6", b""]
    assert read(tmp_path / "rows.csv", b"\n".join(lines)) == [("0", "0"), (None, None), ("5", "6")]
    schema = Schema(
        [Numeric("a", 0, 9, integer=True, null="category"), Categorical("b", ["0", "6"], null="none")]
    )
    with open_table(tmp_path / "rows.csv", schema) as table:
        assert table.count() == 3
        assert [count[-1] for count in table.counts([["a"], ["b"]])] == [1, 1]


@pytest.mark.usefixtures("small_blocks")
def test_records_of_several_lines_where_they_are_declared(tmp_path: Path) -> None:
    form = CsvFormat(quoted_newlines=True)
    content = b'a,b\n1,"x\r\ny"\n2,"z\n3,w\n4,"p\n""q""\n\nr"\n5,v\n6,"never\nclosed'
    expected = [
        ("1", "x\r\ny"),
        (None, None),
        ("3", "w"),
        ("4", 'p\n"q"\n\nr'),
        ("5", "v"),
        (None, None),
        (None, None),
    ]
    assert read(tmp_path / "rows.csv", content, form) == expected
    without = read(tmp_path / "rows.csv", content)
    assert without.count((None, None)) > 5
    assert ("3", "w") in without


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(LINES, max_size=8), block=st.sampled_from([3, 7, 11]))
def test_where_blocks_end_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], block: int
) -> None:
    """With line ends in fields, too."""
    path, form = tmp_path_factory.getbasetemp() / "joined.csv", CsvFormat(quoted_newlines=True)
    content = b"\n".join([b"a,b", *lines, b""])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_files, "MOST_RECORD_BYTES", 20)
        whole = read(path, content, form)
        patched.setattr(csv_files, "BLOCK_BYTES", block)
        assert read(path, content, form) == whole
    assert len(whole) <= len(lines)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be"]
)
@pytest.mark.parametrize("zipped", [False, True])
def test_declared_encodings(tmp_path: Path, encoding: str, zipped: bool) -> None:
    content = "größe;sex\n1,5;mä\n2.5;x\n".encode(encoding)
    path = tmp_path / ("rows.csv.gz" if zipped else "rows.csv")
    path.write_bytes(gzip.compress(content) if zipped else content)
    schema = Schema(
        [Numeric("größe", 0, 3, bins=[0, 1, 2, 3], null="category"), Categorical("sex", ["mä", "x"])],
        csv=CsvFormat(encoding=encoding, delimiter=";", decimal=","),
    )
    with open_table(path, schema) as table:
        assert [count.tolist() for count in table.counts([["größe"], ["sex"]])] == [[0, 1, 0, 1], [1, 1]]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le"])
def test_undeclared_encodings_end_in_a_clear_error_or_missing_rows(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "rows.csv").write_bytes("name,age\nGeheimrät,7\nplain,8\n".encode(encoding))
    schema = Schema([Categorical("name", ["plain"], null="none", other="other"), Numeric("age", 0, 9)])
    if encoding == "latin-1":
        with open_table(tmp_path / "rows.csv", schema) as table:
            assert table.counts([["name"]])[0].tolist() == [1, 0, 1]
        return
    with pytest.raises(DataError, match=r"written in utf-8") as caught:
        open_table(tmp_path / "rows.csv", schema)
    assert "Geheim" not in str(caught.value)


@pytest.mark.parametrize("bad", [b"\x00\xd8", b"\x00\xdc"])
def test_a_broken_letter_of_utf_16_spoils_its_line_only(tmp_path: Path, bad: bytes) -> None:
    lines = [line.encode("utf-16-le") for line in ("a,b\n", "1,", "\n", "3,4\n")]
    content = lines[0] + lines[1] + bad + lines[2] + lines[3]
    assert read(tmp_path / "rows.csv", content, CsvFormat(encoding="utf-16-le")) == [(None, None), ("3", "4")]


def test_names_that_differ_in_case_only(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('a,A,"x,y"\n1,2,3\n')
    schema = Schema(
        [Numeric("A", 0, 9, integer=True), Numeric("a", 0, 9, integer=True), Numeric("x,y", 0, 9, bins=9)]
    )
    with open_table(tmp_path / "rows.csv", schema) as table:
        (batch,) = table.batches(order=Order.irrelevant())
        assert batch.matrix().tolist() == [[2, 1, 3]]


def test_files_of_a_folder_are_told_apart_by_their_own_first_lines(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("b,a\n3,4\n")
    schema = Schema([Numeric("a", 0, 9, integer=True), Identifier("b")])
    with open_table(tmp_path, schema) as table:
        assert sorted(x for b in table.batches() for x in b.column("a").tolist()) == [1, 4]
    (tmp_path / "3.csv").write_text("b,c\n3,4\n")
    with pytest.raises(DataError, match="'a'"):
        open_table(tmp_path, schema)


WRONG: dict[str, dict[str, Any]] = {
    "encoding": {"encoding": "utf-7"},
    "delimiter": {"delimiter": "ab"},
    "quote": {"quote": "\n"},
    "decimal": {"decimal": "'"},
    "decimal ": {"decimal": ","},
    "quoted_newlines": {"quoted_newlines": 1},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_declared(name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name.strip()} must be"):
        CsvFormat(**WRONG[name])


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_a_schema_keeps_the_format_and_old_ones_load(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"schema.{ending}"
    plain = Schema([Numeric("a", 0, 1)])
    declared = Schema(
        [Numeric("a", 0, 1)], csv=CsvFormat(encoding="cp1252", delimiter="\t", quote="", decimal=",")
    )
    for schema in (plain, declared):
        schema.save(path)
        assert Schema.load(path) == schema
    assert "csv" not in plain.to_dict()
    assert plain.hash() != declared.hash()
    assert "cp1252" in declared.describe()


def test_only_a_draft_guesses(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("größe;name\n1,5;Jürgen\n2,5;Zoë\n-3,25;x\n".encode("cp1252"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        drafted = draft_schema(path)
    assert drafted.csv == CsvFormat(encoding="cp1252", delimiter=";", decimal=",")
    number = drafted["größe"]
    assert isinstance(number, Numeric)
    assert (number.low, number.high) == (-3.5, 2.5)  # rounded outward


def test_declared_line_ends_in_fields_are_an_assumption(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a\n1\n")
    schema = Schema([Numeric("a", 0, 1)], csv=CsvFormat(quoted_newlines=True))
    with open_table(tmp_path / "rows.csv", schema) as table:
        assert any("line ends" in assumption.text for assumption in table.assumptions)


def test_a_comma_is_a_decimal_sign_only_where_it_is_declared(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('x;k\n"1,5";a\n2.5;a\n', encoding="utf-8")
    found = []
    for decimal in (".", ","):
        schema = Schema([Numeric("x", 0, 10)], csv=CsvFormat(delimiter=";", decimal=decimal))
        with open_table(tmp_path / "rows.csv", schema) as table:
            found.append(sorted(next(table.batches()).column("x").tolist()))
    assert found[0] != found[1]
    assert 2.5 in found[0]
    assert 1.5 in found[1]
