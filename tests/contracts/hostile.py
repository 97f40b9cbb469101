"""Hostile files: real files of every kind, changed at random, and bombs made on purpose.

    python -m tests.contracts.hostile bombs           # every bomb
    python -m tests.contracts.hostile NAME            # one of them

Each is opened and used as a command would, under the limits of `bounded`, and must end in an error of holdfast's own.
`readers` changes and draws more of them.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

from holdfast.data import Schema
from holdfast.dossier import Dossier, verify_dossier
from holdfast.dossier._page import record_of
from holdfast.dossier._stored_evidence import read_accuracy, read_attacks, read_audit
from holdfast.ledger import Ledger
from holdfast.ledger._signing.trust import Trust
from holdfast.plan._release_plan import ReleasePlan
from holdfast.release import Release
from holdfast.release._archive import checksums, from_bytes, to_bytes
from tests.contracts.bounded import ended
from tests.golden.stored_files import FOLDER
from tests.ledger.unguarded import unguarded

EXTREME: tuple[Any, ...] = (
    0,
    -1,
    1e308,
    -1e308,
    5e-324,
    10**18,
    10**400,
    True,
    None,
    "",
    "x" * 5000,
    "\u0000\u202e",
    [],
    {},
    [[]],
    {"$array": "arrays/0.npy"},
    {"kind": "PureDP"},
    "1/0",
    "-1/3",
    "9" * 4000,
)


# How each kind of file is opened and used.


def use_release(path: Path) -> None:
    """Load it, say what it is, and draw its page."""
    made = Release.load(path)
    made.summary()
    Dossier(made).html()


def use_ledger(path: Path) -> None:
    """Open it in full, and tell what it holds."""
    with Ledger.open(path) as ledger:
        ledger.summary()
        for entry in ledger.history():
            entry.summary()


def use_page(path: Path) -> None:
    """Verify it beside its release."""
    verify_dossier(path, releases=[FOLDER / "model.holdfast"])


def use_attack(path: Path) -> None:
    for one in read_attacks(path):
        one.summary()
        one.tpr_at(0.01)


def use_audit(path: Path) -> None:
    found = read_audit(path)
    found.summary()
    found.trade_off(0.95)


USES: dict[str, Callable[[Path], object]] = {
    ".holdfast": use_release,
    ".db": use_ledger,
    ".html": use_page,
    ".toml": Schema.load,
    ".schema.json": Schema.load,
    ".plan": ReleasePlan.load,
    ".attack.json": use_attack,
    ".audit.json": use_audit,
    ".accuracy.json": read_accuracy,
    ".trust": Trust.of,
}
SEEDS: dict[str, tuple[Path, ...]] = {
    ".holdfast": (FOLDER / "counts.holdfast", FOLDER / "model.holdfast", FOLDER / "rows.holdfast"),
    ".db": (FOLDER / "budget.db",),
    ".html": (FOLDER / "internal.html",),
    ".toml": (FOLDER / "clinic.toml",),
    ".schema.json": (FOLDER / "clinic.json",),
    ".plan": (FOLDER / "plan" / "plan.toml",),
    ".attack.json": (FOLDER / "attack.json",),
    ".audit.json": (FOLDER / "audit.json",),
}


# Changes.


def changed(kind: str, source: Path, target: Path, draw: random.Random) -> None:
    """A copy with a few changes: of bytes, or of values with sums, seals and hashes made again."""
    if draw.random() < 0.4 or kind in (".toml", ".plan"):
        target.write_bytes(_bytes(source.read_bytes(), draw))
    elif kind == ".holdfast":
        record, members = from_bytes(source.read_bytes())
        if members and draw.random() < 0.3:
            name = draw.choice(sorted(members))
            members[name] = _bytes(members[name], draw)
        else:
            record = _values(record, draw)
        target.write_bytes(_archive(record, members))
    elif kind == ".html":
        page = source.read_text(encoding="utf-8")
        block = re.findall(r'holdfast-record">(.*?)</script>', page, flags=re.S)[0]
        forged = json.dumps(_values(record_of(page), draw)).replace("<", "\\u003c")
        target.write_text(page.replace(block, forged), encoding="utf-8")
    elif kind == ".db":
        shutil.copy(source, target)
        _entries(target, draw)
    else:
        target.write_text(json.dumps(_values(json.loads(source.read_text()), draw)), encoding="utf-8")


def _archive(record: Any, members: dict[str, bytes]) -> bytes:
    named = record.get("format") if isinstance(record, dict) else None
    body = (
        {key: value for key, value in record.items() if key != "format"} if isinstance(record, dict) else {}
    )
    made = to_bytes(body, members)
    return made if named else made.replace(b"holdfast-release/1", b"holdfast-release/9")


def _bytes(data: bytes, draw: random.Random) -> bytes:
    for _ in range(draw.randint(1, 6)):
        place, length = draw.randrange(len(data) + 1), draw.choice((1, 1, 2, 8, 100))
        match draw.randrange(4):
            case 0:
                data = data[:place] + draw.randbytes(length) + data[place + length :]
            case 1:
                data = data[:place] + data[place + length :]
            case 2:
                data = data[:place] + data[place : place + length] * draw.randint(2, 40) + data[place:]
            case _:
                word = draw.choice(
                    (b"[", b"{", b'"', b"1e999", b"NaN", b"-", b"\x00", b"9" * 30, b"\n[[step]]\n")
                )
                data = data[:place] + word * draw.choice((1, 1, 300)) + data[place:]
    return data


def _values(tree: Any, draw: random.Random) -> Any:
    copy = json.loads(json.dumps(tree))
    for _ in range(draw.randint(1, 3)):
        places = list(_places(copy))
        inner, key = draw.choice(places)
        match draw.randrange(4):
            case 0:
                inner[key] = draw.choice(EXTREME)
            case 1:
                other, name = draw.choice(places)
                inner[key] = json.loads(json.dumps(other[name]))
            case 2:
                inner[key] = [inner[key]] * draw.choice((2, 30))
            case _:
                inner.pop(key)
        if not copy:
            break
    return copy


def _places(tree: Any) -> list[tuple[Any, Any]]:
    found, level = [], [tree]
    while level:
        one = level.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one))
        found += [(one, key) for key in keys]
        level += [one[key] for key in keys if isinstance(one[key], dict | list) and one[key]]
    return found or [({"": 0}, "")]


def _entries(path: Path, draw: random.Random) -> None:
    """Change one entry and hash the chain again."""
    sql = sqlite3.connect(path)
    with unguarded(sql):
        rows = sql.execute("SELECT number, text FROM entries ORDER BY number").fetchall()
        chosen, previous = draw.randrange(len(rows)), "0" * 64
        for number, text in rows:
            data = json.loads(text) | {"previous": previous}
            if number == chosen:
                data = _values(data, draw)
            text = json.dumps(data, sort_keys=True, separators=(",", ":"))
            previous = hashlib.sha256(text.encode()).hexdigest()
            sql.execute("UPDATE entries SET text = ?, hash = ? WHERE number = ?", (text, previous, number))
    sql.commit()
    sql.close()


# Bombs.


def _release_with(folder: Path, **parts: Any) -> Path:
    record, members = from_bytes((FOLDER / "model.holdfast").read_bytes())
    for place, value in parts.items():
        inner = record
        *outer, last = place.split("__")
        for key in outer:
            inner = inner[key]
        inner[last] = value
    text = json.dumps(record).replace('"@@huge"', "1e999").replace('"@@nan"', "NaN")
    record = {key: value for key, value in record.items() if key != "format"}
    path = folder / "bomb.holdfast"
    path.write_bytes(_raw_archive(text.encode(), members))
    return path


def _raw_archive(text: bytes, members: dict[str, bytes]) -> bytes:
    """An archive around any text, with sums."""
    everything = {"release.json": text} | members
    everything["SHA256SUMS"] = checksums(everything)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in everything.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()


def nested(depth: int, inner: Any = 0) -> Any:
    """Lists inside each other."""
    for _ in range(depth):
        inner = [inner]
    return inner


def arrow_bomb(folder: Path) -> Path:
    """A few kilobytes of compressed Arrow that expand to 320 MB."""
    table = pyarrow.table({"x": np.zeros(40_000_000)})
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    data = sink.getvalue().to_pybytes()
    assert len(data) < 100_000
    text = json.dumps(
        from_bytes((FOLDER / "model.holdfast").read_bytes())[0] | {"value": {"$table": "arrays/0.arrow"}}
    )
    path = folder / "bomb.holdfast"
    path.write_bytes(_raw_archive(text.encode(), {"arrays/0.arrow": data}))
    return path


def null_rows(folder: Path) -> Path:
    """A table of nothing but nulls, which takes no bytes whatever its length."""
    table = pyarrow.table({"x": pyarrow.nulls(2**25)})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    text = json.dumps(
        from_bytes((FOLDER / "model.holdfast").read_bytes())[0] | {"value": {"$table": "arrays/0.arrow"}}
    )
    path = folder / "bomb.holdfast"
    path.write_bytes(_raw_archive(text.encode(), {"arrays/0.arrow": sink.getvalue().to_pybytes()}))
    return path


def two_steps(folder: Path) -> Path:
    """Curves for neighbours of neighbours of neighbours: each level costs 34 times the one below."""
    curve: Any = {"kind": "GaussianDP", "mu": 1.0, "square": None}
    for _ in range(12):
        curve = {"kind": "GroupReplace", "curve": curve}
    return _release_with(folder, guarantee__curve=curve)


def composed(folder: Path) -> Path:
    """A hundred curves inside each other."""
    curve: Any = {"kind": "GaussianDP", "mu": 1.0, "square": None}
    for _ in range(100):
        curve = {"kind": "WithSlack", "curve": curve, "tau": 1e-9, "probability": 1e-9}
    return _release_with(folder, guarantee__curve=curve)


def nan_weights(folder: Path) -> Path:
    """A model whose weights are no numbers."""
    record, members = from_bytes((FOLDER / "model.holdfast").read_bytes())
    for name, data in members.items():
        if name.endswith(".npy") and b"'<f8'" in data:
            head = data.index(b"\n") + 1
            members[name] = data[:head] + np.full((len(data) - head) // 8, np.nan).tobytes()
    path = folder / "bomb.holdfast"
    path.write_bytes(to_bytes({key: value for key, value in record.items() if key != "format"}, members))
    return path


def long_json(folder: Path) -> Path:
    """30 MB of empty lists."""
    path = folder / "bomb.attack.json"
    path.write_bytes(b"[" + b"[]," * 10_000_000 + b"[]]")
    return path


def long_release(folder: Path) -> Path:
    """30 MB of words in the provenance, which a page would show."""
    return _release_with(folder, provenance__parameters={"note": "x" * 30_000_000})


def long_value(folder: Path) -> Path:
    """30 MB of empty mappings as the value."""
    return _release_with(folder, value=[{}] * 7_500_000)


def long_page(folder: Path) -> Path:
    page = (FOLDER / "internal.html").read_text(encoding="utf-8")
    path = folder / "bomb.html"
    path.write_text(page.replace('"tables":[', '"tables":[' + "[]," * 10_000_000), encoding="utf-8")
    return path


def ledger_view(folder: Path) -> Path:
    """A view in the place of the entries that never ends."""
    path = folder / "bomb.db"
    shutil.copy(FOLDER / "budget.db", path)
    sql = sqlite3.connect(path)
    sql.executescript(
        "ALTER TABLE entries RENAME TO old; CREATE VIEW entries AS WITH RECURSIVE e(number) AS "
        "(SELECT 0 UNION ALL SELECT number + 1 FROM e) SELECT e.number, old.text, old.hash FROM e, old;"
    )
    sql.close()
    return path


def ledger_text(folder: Path) -> Path:
    """An entry of 30 MB."""
    path = folder / "bomb.db"
    shutil.copy(FOLDER / "budget.db", path)
    sql = sqlite3.connect(path)
    with unguarded(sql):
        sql.execute("UPDATE entries SET text = ? WHERE number = 3", ("[" * 30_000_000,))
    sql.commit()
    sql.close()
    return path


def deep_toml(folder: Path) -> Path:
    path = folder / "bomb.plan"
    path.write_text("x = " + "[" * 20_000, encoding="utf-8")
    return path


def quoted_toml(folder: Path) -> Path:
    """Texts that begin on every line and never end."""
    path = folder / "bomb.toml"
    path.write_text('"""\n' + '\\"""\n' * 100_000, encoding="utf-8")
    return path


def long_toml_text(folder: Path) -> Path:
    """A text of 8 MB."""
    path = folder / "bomb.toml"
    path.write_text(f'x = "{"a" * 2**23}"\n', encoding="utf-8")
    return path


def quoted_page(folder: Path) -> Path:
    """A record with a million quotes of a text that never ends."""
    page = (FOLDER / "internal.html").read_text(encoding="utf-8")
    path = folder / "bomb.html"
    path.write_text(page.replace('"tables":[', '"tables":["' + '\\"' * 1_000_000), encoding="utf-8")
    return path


def page_of_records(folder: Path) -> Path:
    """A hundred thousand records begin, and none ends."""
    path = folder / "bomb.html"
    path.write_text('<script type="application/json" id="holdfast-record">' * 100_000, encoding="utf-8")
    return path


BOMBS: dict[str, Callable[[Path], Path]] = {
    "arrow": arrow_bomb,
    "null-rows": null_rows,
    "two-steps": two_steps,
    "nested-curves": composed,
    "nan-weights": nan_weights,
    "deep-parameters": lambda folder: _release_with(folder, provenance__parameters={"x": nested(900)}),
    "deep-value": lambda folder: _release_with(folder, value=nested(900)),
    "deep-certificate": lambda folder: _release_with(
        folder,
        certificates=[
            {
                "name": "a",
                "statement": "",
                "alpha": 1,
                "confidence": 0.5,
                "query_class": "",
                "details": {"x": nested(900)},
            }
        ],
    ),
    "infinite": lambda folder: _release_with(folder, provenance__parameters={"x": "@@huge"}),
    "not-a-number": lambda folder: _release_with(folder, provenance__parameters={"x": "@@nan"}),
    "infinite-mu": lambda folder: _release_with(
        folder, guarantee__curve={"kind": "GaussianDP", "mu": "@@huge"}
    ),
    "long-json": long_json,
    "long-release": long_release,
    "long-value": long_value,
    "long-page": long_page,
    "ledger-view": ledger_view,
    "ledger-text": ledger_text,
    "deep-toml": deep_toml,
    "quoted-toml": quoted_toml,
    "long-toml-text": long_toml_text,
    "quoted-page": quoted_page,
    "page-of-records": page_of_records,
}


def main() -> int:
    """Run one bomb or all; 0 where each ended as it should."""
    asked = sys.argv[1]
    return sum(_bomb(name) for name in (BOMBS if asked == "bombs" else [asked]))


def _bomb(name: str) -> int:
    """Whether a bomb did anything else than end in an error of holdfast's own."""
    with tempfile.TemporaryDirectory() as folder:
        path = BOMBS[name](Path(folder))
        kind = next(ending for ending in USES if path.name.endswith(ending))
        ending = ended(USES[kind], path)
    fine = ending.words.endswith("Error") or (kind == ".html" and ending.words == "fine")
    sys.stdout.write(f"{name}: {ending.words}, {ending.peak_bytes >> 20} MB, {ending.seconds:.1f} s\n")
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main())
