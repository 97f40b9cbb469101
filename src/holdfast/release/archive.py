"""The file around a release: a zip archive of stored members that `sha256sum -c` can check.

Members are stored, never compressed, so that nothing in the file can claim to be larger than the
file itself. `SHA256SUMS` lists every other member in the form of the tool of that name.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import secrets
import zipfile
from pathlib import Path
from typing import Any

from holdfast.errors import FormatError

FAMILY = "holdfast-release"
MAJOR = 1
MOST_BYTES = 4 * 2**30
MOST_MEMBERS = 10_000
_NAME = re.compile(r"arrays/[0-9]{1,5}\.(npy|arrow)")
_JSON, _SUMS = "release.json", "SHA256SUMS"


def write(path: Path, record: dict[str, Any], members: dict[str, bytes]) -> None:
    """Write the file whole or not at all: a temporary file, flushed, then renamed over the old one."""
    write_atomically(path, to_bytes(record, members))


def to_bytes(record: dict[str, Any], members: dict[str, bytes]) -> bytes:
    """The archive; the same release always gives the same bytes."""
    text = json.dumps({"format": f"{FAMILY}/{MAJOR}"} | record, indent=1, allow_nan=False).encode()
    everything = {_JSON: text} | members
    everything[_SUMS] = sums(everything)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in everything.items():
            info = zipfile.ZipInfo(name)  # dated 1980: the archive says nothing about when it was written
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, data)
    return file.getvalue()


def read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The record and the members of a release file; `FormatError` for anything else."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MOST_BYTES:
                raise FormatError(f"a release file has at most {MOST_BYTES} bytes, {str(path)!r} has {size}")
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FormatError(f"cannot read the release file {str(path)!r}: {error.strerror}") from None
    return from_bytes(data)


def from_bytes(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Check names, sizes, format version and sums, in this order."""
    members = _members(data)
    text = members.pop(_JSON, None)
    if text is None:
        raise FormatError(f"not a release file: it holds no {_JSON}")
    record = _parsed(text)
    _require_version(record.get("format"))
    if not all(_NAME.fullmatch(name) for name in members if name != _SUMS):
        raise FormatError("the release file holds a member of an unknown name")
    if members.pop(_SUMS, None) != sums({_JSON: text} | members):
        raise FormatError(
            f"the release file was changed or damaged: its members do not have the sums of {_SUMS}"
        )
    return record, members


def sums(members: dict[str, bytes]) -> bytes:
    """One line per member, as `sha256sum` prints it."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(members.items())]
    return "".join(lines).encode()


def _members(data: bytes) -> dict[str, bytes]:
    """Every member of the archive: plain, stored, named once, and together no larger than the file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            plain = all(
                info.compress_type == zipfile.ZIP_STORED
                and info.compress_size == info.file_size
                and not info.flag_bits & 0x1
                for info in infos
            )
            total = sum(info.file_size for info in infos)
            if not plain or total > len(data) or not 0 < len(infos) <= MOST_MEMBERS:
                raise FormatError(
                    "a release file holds stored members only, together no larger than the file"
                )
            members = {info.filename: archive.read(info) for info in infos}
    except FormatError:
        raise
    except Exception as error:  # zipfile answers a damaged archive with a dozen different errors
        raise FormatError("not a release file: it is no readable zip archive") from error
    if len(members) != len(infos):
        raise FormatError("the release file names a member twice")
    return members


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        record = json.loads(text.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{_JSON} of the release file is not valid JSON") from error
    if not isinstance(record, dict):
        raise FormatError(f"{_JSON} of the release file must hold one object")
    return record


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _require_version(written: Any) -> None:
    family, _, major = written.partition("/") if isinstance(written, str) else ("", "", "")
    if family != FAMILY:
        raise FormatError(f"not a release file: its format is not {FAMILY}/{MAJOR}")
    if major != str(MAJOR):
        raise FormatError(
            f"the file has the format {FAMILY}/{major[:20]}, this holdfast reads {FAMILY}/{MAJOR}; "
            "use a version that reads it"
        )


def write_atomically(path: Path, data: bytes) -> None:
    """After this the path holds the data, also after a power cut; on any error it holds what it held."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_directory(path.parent)


def _flush_directory(folder: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened, and the rename is already durable
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
