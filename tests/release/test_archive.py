from __future__ import annotations

import io
import os
import random
import resource
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.errors import FormatError, ParameterError
from holdfast.release import Release
from holdfast.release._archive import checksums, from_bytes, pack, to_bytes
from holdfast.release._outputs import FileWritten
from holdfast.release._release import _from_record
from tests.golden.release_v1 import FOLDER, releases
from tests.studies.size import Study, trials

MUTANTS = trials(10_000)


@pytest.mark.parametrize("name", sorted(releases()))
def test_golden_files_of_version_1_always_load(name: str) -> None:
    assert Release.load(FOLDER / f"{name}.holdfast") == releases()[name]


def test_every_golden_file_is_checked() -> None:
    assert {path.stem for path in FOLDER.glob("*.holdfast")} == set(releases())


@pytest.mark.parametrize("name", sorted(releases()))
def test_the_same_release_is_the_same_file(name: str, tmp_path: Path) -> None:
    releases()[name].save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (FOLDER / f"{name}.holdfast").read_bytes()


def test_a_release_of_another_format_is_refused_by_its_name() -> None:
    """And one that lacks a field, or has one more: in the whole, its guarantee, provenance, certificates."""
    record, members = from_bytes((FOLDER / "counts.holdfast").read_bytes())
    for name in ("holdfast-release/0", "holdfast-release/2", "holdfast-dossier/1"):
        with pytest.raises(FormatError, match=f"the format '{name}', this holdfast reads holdfast-release/1"):
            from_bytes(to_bytes(record | {"format": name}, members))
    parts: list[Any] = [record, record["guarantee"], record["guarantee"]["unit"], record["provenance"]]
    for part in [*parts, record["certificates"][0]]:
        for name, value in list(part.items()):
            if part is record and name == "format":
                continue
            del part[name]
            with pytest.raises(FormatError, match=name):
                _from_record(record, members)
            part[name] = value
        part["more"] = 1
        with pytest.raises(FormatError, match="no others"):
            _from_record(record, members)
        del part["more"]


def stored(release: Release[Any]) -> bytes:
    contents = pack(release.value)
    return to_bytes(release._record(contents), contents.members)


def load(data: bytes) -> Release[Any]:
    return _from_record(*from_bytes(data))


def rebuilt(
    data: bytes, change: dict[str, bytes | None], *, fix_sums: bool = True, compress: bool = False
) -> bytes:
    """The archive with members replaced, added or (None) removed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    members.update({name: value for name, value in change.items() if value is not None})
    members = {name: value for name, value in members.items() if change.get(name, b"") is not None}
    if fix_sums and "SHA256SUMS" in members:
        members["SHA256SUMS"] = checksums(
            {name: value for name, value in members.items() if name != "SHA256SUMS"}
        )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as archive:
        for name, value in members.items():
            archive.writestr(name, value)
    return file.getvalue()


def test_unknown_majors_are_refused_by_both_versions() -> None:
    data = stored(releases()["number"])
    record = zipfile.ZipFile(io.BytesIO(data)).read("release.json")
    newer = record.replace(b"holdfast-release/1", b"holdfast-release/2")
    with pytest.raises(FormatError, match=r"holdfast-release/2.*holdfast-release/1"):
        load(rebuilt(data, {"release.json": newer, "future/member": b""}, fix_sums=False))


def test_what_is_no_release_is_a_format_error(tmp_path: Path) -> None:
    data = stored(releases()["counts"])
    bomb = rebuilt(data, {"arrays/0.npy": b"\0" * 50_000_000}, compress=True)
    wrong = {
        "empty": b"",
        "text": b"hello",
        "bomb": bomb,
        "other name": rebuilt(data, {"../../etc/passwd": b"x"}),
        "extra array": rebuilt(data, {"arrays/77.npy": b"x"}),
        "no sums": rebuilt(data, {"SHA256SUMS": None}),
        "no array": rebuilt(data, {"arrays/0.npy": None}),
        "no record": rebuilt(data, {"release.json": None}),
        "other array": rebuilt(
            data, {"arrays/0.npy": pack(np.array([13, -3])).members["arrays/0.npy"]}, fix_sums=False
        ),
        "deep record": rebuilt(data, {"release.json": b"[" * 100_000}),
        "no object": rebuilt(data, {"release.json": b"[]"}),
        "infinite record": rebuilt(data, {"release.json": b'{"format": Infinity}'}),
        "long number": rebuilt(data, {"release.json": b'{"format": ' + b"9" * 100_000 + b"}"}),
    }
    for name, content in wrong.items():
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(FormatError):
            pytest.fail(f"{name} loads as {Release.load(tmp_path / 'file')!r}")
    with pytest.raises(FormatError, match="cannot read"):
        Release.load(tmp_path / "absent")
    with pytest.raises(FormatError, match="cannot read"):
        Release.load(tmp_path)


# 10,000 mutants: each gives FormatError or an equal object, under 1 s and 200 MB.


def flip(data: bytearray, draw: random.Random) -> None:
    for _ in range(draw.choice((1, 1, 2, 8))):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def truncate(data: bytearray, draw: random.Random) -> None:
    del data[draw.randrange(len(data)) :]


def insert(data: bytearray, draw: random.Random) -> None:
    place = draw.randrange(len(data) + 1)
    data[place:place] = draw.randbytes(draw.choice((1, 2, 7, 100, 5000)))


def remove(data: bytearray, draw: random.Random) -> None:
    place = draw.randrange(len(data))
    del data[place : place + draw.choice((1, 4, 50))]


def headers(data: bytearray, draw: random.Random) -> None:
    """Wild numbers in the fields of the zip's own headers."""
    places = [i for i in range(len(data) - 4) if data[i : i + 2] == b"PK"]
    place = draw.choice(places) + draw.randrange(4, 46)
    data[place : place + draw.choice((1, 2, 4))] = draw.choice(
        (b"\xff\xff\xff\xff", b"\0\0", b"\x08\0", b"\x01")
    )


def splice(data: bytearray, draw: random.Random) -> None:
    start, end = sorted(draw.sample(range(len(data)), 2))
    place = draw.randrange(len(data))
    data[place:place] = data[start:end]


def text_edit(data: bytearray, draw: random.Random) -> None:
    """Edits of the JSON that keep it JSON; the sums are left as they were."""
    old, new = draw.choice(
        (
            (b"0.125", b"0.001"),
            (b"secure", b"seeded"),
            (b"replace", b"add_rem"),
            (b"strict", b"x"),
            (b"12", b"99"),
        )
    )
    at = data.find(old)
    if at >= 0:
        data[at : at + len(old)] = new
    else:
        flip(data, draw)


@pytest.mark.slow
def test_ten_thousand_mutants_give_a_format_error_or_an_equal_object(study: Study) -> None:
    original = stored(releases()["counts"])
    release, draw, equal, slowest = releases()["counts"], random.Random(7), 0, 0.0
    kinds = (flip, truncate, insert, remove, headers, splice, text_edit)
    tracemalloc.start()
    for number in range(MUTANTS):
        data = bytearray(original)
        kinds[number % len(kinds)](data, draw)
        start = time.process_time()
        try:
            assert load(bytes(data)) == release, f"mutant {number} loads as another release"
            equal += 1
        except FormatError:
            pass
        slowest = max(slowest, time.process_time() - start)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The bounds are the format's promise for one file: 1 s of processor time, 200 MB.
    assert slowest < 1.0
    assert peak < 200e6
    assert 0 < equal < MUTANTS / 2  # dates in headers may change; most edits are caught
    study.note(trials=MUTANTS, equal=equal, peak_megabytes=round(peak / 1e6, 1))


def test_mutants_with_right_sums_give_a_format_error_or_a_release() -> None:
    """Whoever edits a file can also write new sums: still no crash, and what loads can be stored again."""
    for name in ("counts", "nested"):
        data = stored(releases()[name])
        record = zipfile.ZipFile(io.BytesIO(data)).read("release.json")
        array = zipfile.ZipFile(io.BytesIO(data)).read("arrays/0.npy")
        draw = random.Random(11)
        for number in range(1_500):
            changed = bytearray(record if number % 2 else array)
            (flip, remove, truncate)[number % 3](changed, draw)
            member = "release.json" if number % 2 else "arrays/0.npy"
            try:
                again = load(rebuilt(data, {member: bytes(changed)}))
            except FormatError:
                continue
            assert load(stored(again)) == again


FULL_DISK = """
import resource, sys
from pathlib import Path
from holdfast.data._whole_file import write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_whole(Path(sys.argv[1]), b"new" * 1000)
except OSError:
    sys.exit(3)
"""


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "release"
    path.write_bytes(b"old")
    assert resource.RLIMIT_FSIZE is not None
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], env=dict(os.environ), check=False)
    assert done.returncode == 3
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]


def test_a_place_for_an_output_is_asked_for_and_left_as_it_was(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_bytes(b"old")
    FileWritten(name="output", path=tmp_path / "new").require_writable()
    with pytest.raises(ParameterError, match="weights must be a new file"):
        FileWritten(name="weights", path=old).require_writable()
    FileWritten(name="output", path=old, replaces=True).require_writable()
    with pytest.raises(ParameterError, match="must be a file"):
        FileWritten(name="output", path=tmp_path, replaces=True).require_writable()
    with pytest.raises(ParameterError, match="a folder that exists"):
        FileWritten(name="output", path=tmp_path / "absent" / "new", replaces=True).require_writable()
    assert [entry.name for entry in tmp_path.iterdir()] == ["old"]
    assert old.read_bytes() == b"old"


NO_PLACE = """
import resource, sys
from pathlib import Path
from holdfast.errors import ParameterError
from holdfast.release._outputs import FileWritten
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    FileWritten(name="output", path=Path(sys.argv[1])).require_writable()
except ParameterError:
    sys.exit(3)
"""


def test_a_full_disk_is_found_before_anything_is_spent(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", NO_PLACE, str(tmp_path / "new")], check=False)
    assert done.returncode == 3
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([np.zeros(1)] * 9_999, "at most 9,998 arrays"),
        (list(range(5_000_001)), "at most 5,000,000 values"),
        (["a" * 2**20] * 65, "at most 67,108,864 bytes"),
        (np.empty((2**20 + 1, 0)), "an array without elements"),
    ],
)
def test_what_would_not_be_read_again_is_not_written(value: Any, why: str) -> None:
    """A file that is paid for, saved, and refused when it is opened would be lost."""
    with pytest.raises(ParameterError, match=why):
        _packed(value)


def test_the_most_arrays_that_are_written_are_read_again() -> None:
    record, members = from_bytes(_packed([np.zeros(1)] * 9_998))
    assert len(record["value"]) == len(members) == 9_998


def _packed(value: Any) -> bytes:
    contents = pack(value)
    return to_bytes({"value": contents.tree}, contents.members)
