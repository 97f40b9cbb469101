"""Files that are never written over, whatever the options: ledgers and private keys."""

from __future__ import annotations

from pathlib import Path

from holdfast._regular_file import open_regular
from holdfast.errors import ParameterError

LEDGER_ID = 0x484F4C44  # "HOLD"
"""The application id of a ledger file, which SQLite stores in the header of the file."""
LEDGER_PARTS = ("-wal", "-shm", "-journal")
"""Endings of the files beside a SQLite file that hold a part of it."""
_HEAD_BYTES = 100
_SQLITE = b"SQLite format 3\x00"


def irreplaceable(path: Path) -> str | None:
    """What kind of file a path holds, if it is never to be written over; None for any other file."""
    head = _head(path)
    if _is_ledger(head):
        return "a ledger"
    if head.lstrip().startswith(b"-----BEGIN") and b"PRIVATE KEY" in head:
        return "a private key"
    for ending in LEDGER_PARTS:
        if path.name.endswith(ending) and _is_ledger(_head(path.with_name(path.name.removesuffix(ending)))):
            return "a part of a ledger"
    return None


def require_replaceable(path: Path, *, name: str = "output") -> None:
    """Refuse to write over a ledger, a part of one, or a private key."""
    kind = irreplaceable(path)
    if kind is not None:
        raise ParameterError(
            f"{name} must be another file, got {str(path)!r}, which is {kind}: nothing is ever written over it, "
            "also not with --force; choose another name"
        )


def _head(path: Path) -> bytes:
    try:
        with open_regular(path) as (file, _):
            return file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        return b""


def _is_ledger(head: bytes) -> bool:
    return head.startswith(_SQLITE) and head[68:72] == LEDGER_ID.to_bytes(4, "big")
