"""Bombs drawn at random: files of each kind that claim more than they hold, in sizes, nesting and repetition."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import re
import shutil
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow

from holdfast.release._archive import checksums, from_bytes
from tests.contracts import thrift
from tests.golden.stored_files import FOLDER

Draw = random.Random
COUNTS = (0, 1, 2, 127, 2**16, 2**20, 10**6, 10**7, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 10**18)
SIZES = (1, 10, 1000, 30_000, 200_000)


INNER = (
    *(
        "[]",
        "{}",
        "[[]]",
        "[0]",
        '{"":0}',
        '{"a":{}}',
        "0",
        "1.5",
        "-7",
        '""',
        '"ab"',
        '"\u65e5"',
        "null",
        "1e308",
    ),
    *('{"$array":"arrays/0.npy"}', '{"$tuple":[]}', '{"$pairs":[]}', "9" * 299, '"\\u0000"', "[[[[[]]]]]"),
)
DTYPES = (
    *(
        "<f8",
        "|b1",
        "<U0",
        "|S0",
        "|V0",
        "|V8",
        "|O",
        "<U1",
        "<U1000000000",
        "|S999999999",
        "<M8[ns]",
        "<M8[0ns]",
    ),
    *("<c16", "|u1", "<i8", "<f2", "<f16", "<m8", "<M8[999999999s]", ">f8"),
)
LISTED = ("[],", "[0],", "{},", "{a=0},", "{a.a.a=0},", "0,", "1.5,", "[[[]]],")
KEYS = (
    *("PUBLIC KEY", "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"),
    "OPENSSH PRIVATE KEY",
)


def some(draw: Draw) -> int:
    """How often something is repeated: mostly few times, sometimes to a file of some megabytes."""
    return draw.choice(SIZES) * draw.choice((1, 1, 2, 5))


def json_text(draw: Draw) -> bytes:
    """JSON of one thing many times, or of one thing inside itself."""
    inner = draw.choice(INNER)
    match draw.randrange(4):
        case 0:
            text = "[" + ",".join([inner] * some(draw)) + "]"
        case 1:
            text = "{" + ",".join(f'"{number}":{inner}' for number in range(some(draw))) + "}"
        case 2:
            depth = draw.choice((5, 50, 99, 390, 399, 401, 1000, 100_000))
            text = "[" * depth + inner + "]" * depth
        case _:
            depth = draw.choice((5, 50, 99, 390))
            row = '{"a":' * depth + inner + "}" * depth
            text = "[" + ",".join([row] * min(some(draw), 400_000 // depth)) + "]"
    return text.encode()


def toml_text(draw: Draw) -> bytes:
    """Tables, keys and lists many times or inside each other, some of them behind quotes."""
    count = min(some(draw), 100_000)
    lines: list[Callable[[], str]] = [
        lambda: "".join(f"[a{number}]\n" for number in range(count)),
        lambda: "".join(f"[a.b.c.d{number}]\nx=0\n" for number in range(count)),
        lambda: "[[a]]\n" * count,
        lambda: "[[a.b]]\n[a.b.c]\n" * (count // 10),
        lambda: "a." * min(count, 20_000) + "b=1\n",
        lambda: "".join(f"{'a.' * 12}b{number}=1\n" for number in range(count // 4)),
        lambda: "".join(
            "".join(f"k{place}_{number}." for place in range(14)) + "b=1\n" for number in range(count // 9)
        ),
        lambda: f"a=[{draw.choice(LISTED) * count}]\n",
        lambda: "a=" + "[" * count + "]" * count + "\n",
        lambda: "a=" + "{a=" * count + "0" + "}" * count + "\n",
        lambda: f'a="{chr(92)}u65e5' * 1 + "x" * count + '"\n',
        lambda: '"""' + "'" * count,
        lambda: "a=1979-05-27\n" * 1 + "#" + "[" * count,
        lambda: f"a={'9' * count}\n",
        lambda: f"a={draw.choice(['0x', '0b', '1e', '1_'])}{'1' * count}\n",
    ]
    columns = '[[columns]]\nname="a{}"\nkind="categorical"\ncategories=["x","y"]\n'
    lines += [
        lambda: "".join(columns.format(number) for number in range(min(count, 20_000))),
        lambda: columns.format(0).replace('"x","y"', ",".join(f'"{number}"' for number in range(count))),
        lambda: columns.format(0).replace('"x","y"', "0." + "0" * min(count, 5000) + "1," * count),
        lambda: (
            '[[columns]]\nname="a"\nkind="numeric"\nlow=0\nhigh=1\nbins=' + str(draw.choice(COUNTS)) + "\n"
        ),
    ]
    head = draw.choice(("", "", '[plan]\nname="a"\n', 'format="holdfast-trust/1"\n', 'adjacency="replace"\n'))
    return (head + "".join(line() for line in draw.sample(lines, draw.choice((1, 1, 2))))).encode()


# Arrays, tables and archives.


def npy(draw: Draw) -> bytes:
    """A header that claims a shape and a dtype, and a few bytes."""
    dtype = draw.choice(DTYPES)
    sides = [draw.choice(COUNTS) for _ in range(draw.choice((0, 1, 1, 2, 2, 3, 60)))]
    if draw.random() < 0.5:
        sides[draw.randrange(len(sides) or 1) : 1] = [0]
    shape = ", ".join(map(str, sides)) + ("," if len(sides) == 1 else "")
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({shape}), }}\n".encode()
    body = draw.randbytes(draw.choice((0, 0, 8, 64)))
    length = draw.choice((len(head), len(head), 65535))
    return (
        b"\x93NUMPY"
        + draw.choice((b"\1\0", b"\1\0", b"\2\0", b"\3\0"))
        + length.to_bytes(2, "little")
        + head
        + body
    )


def arrow(draw: Draw) -> bytes:
    """A table whose columns have more elements than bytes, in one batch or many, and a few bytes changed."""
    count = draw.choice((0, 1, 1000, 2**20, 2**24, 2**31 - 1))
    nulls, small = pyarrow.nulls(count), pyarrow.array([1, 2, 3])
    ends = pyarrow.array([0, count], pyarrow.int32())
    columns: list[Callable[[], Any]] = [
        lambda: nulls,
        lambda: pyarrow.ListArray.from_arrays(ends, nulls),
        lambda: pyarrow.LargeListArray.from_arrays(ends.cast(pyarrow.int64()), nulls),
        lambda: pyarrow.FixedSizeListArray.from_arrays(nulls, max(1, count)),
        lambda: pyarrow.StructArray.from_arrays([nulls], ["a"]),
        lambda: pyarrow.RunEndEncodedArray.from_arrays(pyarrow.array([max(1, count)], pyarrow.int32()), [0]),
        lambda: pyarrow.UnionArray.from_sparse(pyarrow.array([0, 0, 0], pyarrow.int8()), [small]),
        lambda: pyarrow.array([b""] * min(count, 1000), pyarrow.binary(0)),
        lambda: (
            pyarrow.array(["a" * 10_000])
            .dictionary_encode()
            .take(pyarrow.array([0] * min(count, 10**6), pyarrow.int32()))
        ),
        lambda: pyarrow.array([0] * min(count, 10**6), pyarrow.int8()),
        lambda: pyarrow.array(["x"] * min(count, 1000), pyarrow.string_view()),
        lambda: small,
    ]
    column = draw.choice(columns)()
    sink, fields = pyarrow.BufferOutputStream(), draw.choice((1, 1, 3, 200))
    table = pyarrow.table([column] * fields, names=[f"c{place}" for place in range(fields)])
    compression = draw.choice((None, None, None, "zstd"))
    options = pyarrow.ipc.IpcWriteOptions(compression=compression, emit_dictionary_deltas=draw.random() < 0.2)
    with pyarrow.ipc.new_file(sink, table.schema, options=options) as writer:
        for _ in range(draw.choice((1, 1, 2, 300))):
            writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return changed_numbers(data[: 8 * 2**20], draw) if draw.random() < 0.5 else data[: 8 * 2**20]


def changed_numbers(data: bytes, draw: Draw) -> bytes:
    """A few whole numbers written over, at places that are multiples of four, as most that count things are."""
    copy = bytearray(data)
    for _ in range(draw.randint(1, 3)):
        form = draw.choice(("<I", "<Q", ">I"))
        place = draw.randrange(0, max(4, len(copy) - 8), 4)
        if place + 8 <= len(copy):
            struct.pack_into(form, copy, place, draw.choice(COUNTS) % 2 ** (64 if form == "<Q" else 32))
    return bytes(copy)


def archive(members: dict[str, bytes], draw: Draw | None = None) -> bytes:
    """Members and their sums, stored; with a draw sometimes packed, twice there, or with other sizes."""
    everything = members | {"SHA256SUMS": checksums(members)}
    file = io.BytesIO()
    odd = draw is not None and draw.random() < 0.3
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if odd else zipfile.ZIP_STORED) as opened:
        for name, data in everything.items():
            opened.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED if odd else zipfile.ZIP_STORED)
        if draw is not None and draw.random() < 0.1:
            for number in range(draw.choice((10, 9_000, 60_000))):
                opened.writestr(zipfile.ZipInfo(f"arrays/{number}.npy"), b"")
    data = file.getvalue()
    return changed_numbers(data, draw) if draw is not None and draw.random() < 0.2 else data


def release(draw: Draw, folder: Path) -> Path:
    """A release whose value, or what it says of itself, is a bomb."""
    record, members = from_bytes(
        (FOLDER / draw.choice(("model", "counts", "rows"))).with_suffix(".holdfast").read_bytes()
    )
    match draw.randrange(4):
        case 0:
            record, members = record | {"value": {"$array": "arrays/0.npy"}}, {"arrays/0.npy": npy(draw)}
        case 1:
            record, members = (
                record | {"value": {"$table": "arrays/0.arrow"}},
                {"arrays/0.arrow": arrow(draw)},
            )
        case 2:
            members = {name: npy(draw) if name.endswith("npy") else arrow(draw) for name in members}
        case _:
            record = record | {draw.choice(sorted(record)): "@@bomb"}
    text = json.dumps(record).replace('"@@bomb"', json_text(draw).decode())
    path = folder / "drawn.holdfast"
    path.write_bytes(archive({"release.json": text.encode()} | members, draw))
    return path


def page(draw: Draw, folder: Path) -> Path:
    """A page one field of whose record is a bomb, or that holds as many records or seals as one likes."""
    text = (FOLDER / draw.choice(("internal.html", "public.html"))).read_text(encoding="utf-8")
    (block,) = re.findall(r'holdfast-record">(.*?)</script>', text, flags=re.S)
    record = json.loads(block)
    key = draw.choice(sorted(record))
    forged = json.dumps(record | {key: "@@bomb"}).replace('"@@bomb"', json_text(draw).decode())
    text = text.replace(block, forged)
    if draw.random() < 0.2:
        text += draw.choice(('<meta name="holdfast-seal" content="', "<script", "\U0001f600", "<!--")) * some(
            draw
        )
    path = folder / "drawn.html"
    path.write_text(text, encoding="utf-8")
    return path


# The other kinds.


def parquet_rows(draw: Draw, folder: Path) -> Path:
    """Rows that become much longer than their file: long values, repeated ones, pages of any size; or bytes changed."""
    from pyarrow import parquet as real

    path = folder / "drawn.parquet"
    length = draw.choice((1, 100, 10_000, 10**6, 5 * 10**7))
    count = min(draw.choice((1, 50, 5000, 300_000)), max(1, 10**8 // length))
    values = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * count, pyarrow.int32()), pyarrow.array([draw.choice("xyz") * length])
    )
    table = pyarrow.table(
        {
            f"c{place}": draw.choice((values, values, pyarrow.nulls(count, pyarrow.float64())))
            for place in range(3)
        }
    )
    real.write_table(
        table,
        path,
        compression=draw.choice(("zstd", "snappy", "none")),
        use_dictionary=draw.random() < 0.6,
        dictionary_pagesize_limit=draw.choice((2**20, 2**30)),
        data_page_size=draw.choice((2**12, 2**20, 2**30)),
        row_group_size=draw.choice((100, 10**6)),
    )
    if draw.random() < 0.5:
        data = bytearray(path.read_bytes())
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(min(len(data), 300))] = draw.choice(
                (0, 1, 127, 128, 255, draw.randrange(256))
            )
        path.write_bytes(data)
    return path


def csv_rows(draw: Draw, folder: Path) -> Path:
    """Packed lines that are long, many, or never end."""
    path = folder / "drawn.csv.gz"
    line = draw.choice((b"1,2\n", b"a," * 5000 + b"\n", b"x", b'"', b"\r", b'"x\n'))
    text = b"a,b\n" + line * (draw.choice((1, 1000, 2 * 10**7)) // len(line))
    path.write_bytes(gzip.compress(text, 1))
    return path


def parquet(draw: Draw, folder: Path) -> Path:
    """Metadata with huge counts, statistics and wide or deep schemas; or a real file with numbers changed."""
    path = folder / "drawn.parquet"
    if draw.random() < 0.4:
        from pyarrow import parquet as real

        columns = draw.choice((1, 5, 300))
        table = pyarrow.table({f"c{place}": ["a", "b", None] * 5 for place in range(columns)})
        real.write_table(table, path, row_group_size=draw.choice((1, 15)), use_dictionary=draw.random() < 0.5)
        data = bytearray(path.read_bytes())
        length = int.from_bytes(data[-8:-4], "little")
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data) - 8 - length, len(data))] = draw.choice(
                (0, 1, 127, 128, 255, draw.randrange(256))
            )
        path.write_bytes(data)
        return path
    count, claimed = min(some(draw), 300_000), draw.choice(COUNTS[:9])
    statistics = thrift.field(12, 12) + thrift.field(1, 8) + thrift.varint(claimed) + b"x" * 9
    chunks = draw.choice((b"\0", statistics + b"\0\0", thrift.field(3, 12) + statistics + b"\0\0\0"))
    deep = thrift.sequence(count + 1, thrift.STRUCT) + thrift.parent(1) * count + thrift.COLUMN
    schema = draw.choice(
        (
            thrift.schema_of(1),
            thrift.schema_of(min(count, 50_000)),
            thrift.sequence(claimed % 2**31, thrift.STRUCT) + thrift.COLUMN,
            thrift.sequence(count, thrift.STRUCT) + b"\0" * count,
            thrift.sequence(2, thrift.STRUCT) + thrift.parent(claimed % 2**31) + thrift.COLUMN,
            deep,
        )
    )
    groups, number = draw.choice(
        (
            (b"", 0),
            (b"", claimed % 2**31),
            (b"\0" * count, count),
            (thrift.row_group(chunks * count, count), 1),
            (thrift.row_group(chunks, 1, rows=2**62) * min(count, 9000), min(count, 9000)),
        )
    )
    more = draw.choice(
        (b"", thrift.field(1, 9) + thrift.sequence(count, 12) + b"\0" * count, bytes([0x1C]) * count)
    )
    body = thrift.metadata(schema, groups, number, rows=draw.choice(COUNTS), more=more)
    path.write_bytes(thrift.footer(body))
    return path


def ledger(draw: Draw, folder: Path) -> Path:
    """A ledger with numbers of its pages changed, an entry that is a bomb, or tables that are none of ours."""
    path = folder / "drawn.db"
    for ending in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    shutil.copy(FOLDER / "budget.db", path)
    if draw.random() < 0.5:
        data = bytearray(path.read_bytes())
        for _ in range(draw.randint(1, 8)):
            start = draw.randrange(0, len(data), 4096)  # heads of pages say where their cells are
            place = draw.choice(
                (draw.randrange(0, 100), start + draw.randrange(0, 60), draw.randrange(len(data)))
            )
            data[min(place, len(data) - 1)] = draw.randrange(256)
        path.write_bytes(data)
        return path
    sql = sqlite3.connect(path)
    try:
        for (name,) in sql.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            if draw.random() < 0.9:
                sql.execute(f'DROP TRIGGER "{name}"')
        sql.execute(
            draw.choice(
                (
                    "UPDATE entries SET text = ? WHERE number = 2",
                    "UPDATE entries SET text = text || ? WHERE number = 0",
                    "INSERT INTO entries SELECT number + 1000, ?, hash FROM entries",
                )
            ),
            (json_text(draw)[: 4 * 2**20].decode(errors="ignore"),),
        )
        for number in range(draw.choice((0, 0, 2000))):
            sql.execute(f"CREATE TABLE t{number} (a)")
        sql.commit()
    except sqlite3.Error:
        pass
    sql.close()
    return path


def pem(draw: Draw, folder: Path) -> Path:
    """A key with a body of any length, in any of its names."""
    name = draw.choice(KEYS)
    number = draw.choice((1, 30, 1000, 2500, 10_000, 700_000))
    body = draw.choice(
        (draw.randbytes(min(number, 3000)), b"\x30\x82\xff\xff" * (number // 4), b"\x30\x80" * (number // 2))
    )
    if draw.random() < 0.3:
        body = base64.b64decode((FOLDER / "officer.pub").read_text().splitlines()[1]) + body
    lines = base64.encodebytes(body)
    path = folder / "drawn.pem"
    path.write_bytes(
        (f"-----BEGIN {name}-----\n".encode() + lines + f"-----END {name}-----\n".encode())
        * draw.choice((1, 1, 50))
    )
    return path


def of_text(text: Callable[[Draw], bytes], ending: str) -> Callable[[Draw, Path], Path]:
    """Files of one text."""

    def make(draw: Draw, folder: Path) -> Path:
        path = folder / f"drawn{ending}"
        path.write_bytes(text(draw))
        return path

    return make


def evidence(draw: Draw) -> bytes:
    """An audit or an attack one field of which is a bomb."""
    record: dict[str, Any] = json.loads((FOLDER / draw.choice(("attack.json", "audit.json"))).read_text())
    inner = (
        next((one for one in record.values() if isinstance(one, dict) and one), record)
        if draw.random() < 0.5
        else record
    )
    inner[draw.choice(sorted(inner))] = "@@bomb"
    return json.dumps(record).replace('"@@bomb"', json_text(draw).decode()).encode()
