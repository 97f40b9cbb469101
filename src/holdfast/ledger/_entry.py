"""LedgerEntry: one immutable line of the ledger, in canonical JSON, chained to the one before.

The hash of an entry is that of its text, and the text holds the hash of the entry before. So whoever
changes an entry changes every hash after it. Entries are read as they were written: a later version
of holdfast does not give an old text another meaning.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal, get_args

from holdfast._arguments import checked
from holdfast._plain_data import parse_json
from holdfast.errors import LedgerError

VERSION = 1
BEGINNING_HASH = "0" * 64
_MOST_ENTRY_BYTES = 4 * 2**20
Kind = Literal[
    "ledger",
    "dataset",
    "account",
    "charge",
    "settle",
    "refusal",
    "close",
    "reset",
    "signature",
    "release",
    "page",
    "approval",
]


@checked
@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """What happened, when, and after which entry.

    Parameters
    ----------
    number : int
        The place in the chain, from 0 on.
    previous : str
        The hash of the entry before.
    nonce : str
        Random digits: two copies of a ledger that do the same in the same second go on with different hashes.
    at : str
        The time in UTC.
    kind : str
        What happened.
    body : mapping
        Its particulars.

    Examples
    --------
    >>> entry = LedgerEntry(
    ...     number=0, previous=BEGINNING_HASH, nonce="9f", at="2025-01-31T12:00:00Z", kind="ledger", body={}
    ... )
    >>> LedgerEntry.parse(entry.text, entry.hash) == entry
    True
    """

    number: int
    previous: str
    nonce: str
    at: str
    kind: Kind
    body: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """The canonical JSON that is hashed and stored."""
        return canonical(
            {
                "version": VERSION,
                "number": self.number,
                "previous": self.previous,
                "nonce": self.nonce,
                "at": self.at,
                "kind": self.kind,
                "body": self.body,
            }
        )

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return entry_digest(self.text)

    @property
    def must_last(self) -> bool:
        """Whether losing the entry in a power cut would do harm, so that writing it waits for the disk.

        A lost refusal forgets nothing that was spent. Where the settlement of a charge is lost, the charge itself
        is still there; but a value that was kept under a key would then be drawn a second time.
        """
        return self.kind != "refusal" and not (self.kind == "settle" and self.body.get("payload") is None)

    @classmethod
    def parse(cls, text: str, stored_hash: str) -> LedgerEntry:
        """The entry of a stored `text`, which must have the `stored_hash` and a known version."""
        return parse_entry(text, stored_hash)

    def summary(self) -> str:
        """One line for the history."""
        shown = {
            name: value for name, value in self.body.items() if name in _SHOWN and value not in ("", None)
        }
        if isinstance(self.body.get("mechanism"), dict):
            shown["mechanism"] = self.body["mechanism"].get("mechanism")
        facts = ", ".join(f"{name} {_value_text(name, value)}" for name, value in shown.items())
        return f"{self.number:>6}  {self.at}  {self.kind:<9}  {facts}"


def parse_entry(text: str, stored_hash: str) -> LedgerEntry:
    """What `LedgerEntry.parse` does, for whoever reads millions."""
    if not isinstance(text, str) or entry_digest(text) != stored_hash:
        raise LedgerError(
            "the ledger was changed or damaged: an entry does not have its hash; nothing was released"
        )
    try:
        data = parse_json(text.encode(), "a ledger entry", most_bytes=_MOST_ENTRY_BYTES, most_depth=60)
        version = data.pop("version")
        if version != VERSION:
            raise LedgerError(
                f"a ledger entry has version {version!r}, this holdfast reads {VERSION}; "
                "use a version that reads it"
            )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise LedgerError(_NO_ENTRY) from error
    if {name: type(value) for name, value in data.items() if name not in ("kind", "body")} != _FIELD_TYPES:
        raise LedgerError(_NO_ENTRY)
    if str(data.get("kind")) not in _KINDS or type(data.get("body")) is not dict:
        raise LedgerError(f"entry {data['number']!r} of the ledger is of an unknown kind; upgrade holdfast")
    entry = object.__new__(
        LedgerEntry
    )  # every field was checked above: a long ledger has millions of entries
    # Text and hash as they are stored, not as they would be written now.
    entry.__dict__.update(data, text=text, hash=stored_hash)
    return entry


_KINDS = frozenset(get_args(Kind))
_FIELD_TYPES = {"number": int, "previous": str, "nonce": str, "at": str}
_NO_ENTRY = "a ledger entry has the right hash but not the form of an entry"
_SHOWN = (
    "dataset",
    "account",
    "share",
    "entry",
    "state",
    "times",
    "cost",
    "spent",
    "label",
    "key",
    "purpose",
    "approver",
    "reason",
    "limit",
    "method",
    "title",
    "sha256",
)


def canonical(data: Any) -> str:
    r"""One text for one value: sorted keys, no spaces, ASCII; infinities as {"float": "inf"}.

    >>> canonical({"b": 1, "a": [0.5, "é"]})
    '{"a":[0.5,"\\u00e9"],"b":1}'
    """
    try:
        return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain_number)
    except ValueError:
        return json.dumps(
            _finite(data), sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain_number
        )


def restored_entry(data: Any) -> Any:
    """Undo what `canonical` does to infinities.

    >>> restored_entry(json.loads(canonical({"epsilon": math.inf})))
    {'epsilon': inf}
    """
    match data:
        case {"float": str() as text} if len(data) == 1:
            return float(text)
        case dict():
            return {name: restored_entry(value) for name, value in data.items()}
        case list():
            return [restored_entry(value) for value in data]
    return data


def entry_digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _finite(data: Any) -> Any:
    match data:
        case float() if not math.isfinite(data):
            return {"float": repr(float(data))}
        case Mapping():
            return {name: _finite(value) for name, value in data.items()}
        case list() | tuple():
            return [_finite(value) for value in data]
    return data


def _plain_number(value: Any) -> Any:
    """A NumPy number as a plain one."""
    return value.item()


def _value_text(name: str, value: Any) -> str:
    """A value of the history as a reader sees it: exact amounts become decimals; the entry keeps them exact."""
    if name == "limit" and isinstance(value, dict):
        from holdfast.privacy._curves.stored import curve_from_json

        return curve_from_json(restored_entry(value)).words()
    if isinstance(value, list):
        return "(" + ", ".join(_decimal(part) for part in value) + ")"
    return str(value)


def _decimal(value: Any) -> str:
    numerator, _, denominator = str(value).partition("/")
    if numerator.isdecimal() and denominator.isdecimal():
        return f"{int(numerator) / int(denominator):.6g}"
    return str(value)
