"""Trust: which keys are trusted, and for what: one public key for everything, or a file that lists several keys.

    format = "holdfast-trust/1"

    [[key]]
    name = "R. Officer"
    public_key = "9f3c..."
    may = ["ledger", "approval", "release", "page"]

Where an account names its approver, the key that signed the approval must be listed under that name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from holdfast._plain_data import parse_toml
from holdfast._regular_file import read_regular
from holdfast._stored_fields import require_format, require_known
from holdfast.errors import FormatError
from holdfast.ledger._signing.signature import Signature, SignedHead, public_hex

FORMAT = "holdfast-trust/1"
Role = Literal["ledger", "approval", "release", "page"]
ROLES: tuple[Role, ...] = get_args(Role)
_MOST_TRUST_BYTES = 2**20


@dataclass(frozen=True, kw_only=True)
class TrustedKey:
    """A key, whose it is (empty where nobody said), and what its owner may sign."""

    public_key: str
    name: str = ""
    may: tuple[Role, ...] = ROLES


@dataclass(frozen=True)
class Trust:
    """The keys that are trusted; a signature by itself only shows which key made it."""

    keys: tuple[TrustedKey, ...] = field(default=())

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Trust:
        """From a PEM file with one public key, or from a trust file (TOML)."""
        data = read_regular(path, what="a key or a trust file", most_bytes=_MOST_TRUST_BYTES)
        if data.lstrip().startswith(b"-----BEGIN"):
            return cls((TrustedKey(public_key=public_hex(path)),))
        what = f"{str(path)!r}, which is no PEM public key and so is read as a trust file,"
        return cls.from_json(parse_toml(data, what, most_bytes=_MOST_TRUST_BYTES))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trust:
        """From the tables of a trust file; `FormatError` for anything else."""
        require_format("trust file", data, FORMAT)
        require_known("trust file", data, ("format", "key"))
        try:
            keys = tuple(_key(line) for line in data["key"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FormatError(f"a trust file has format = {FORMAT!r} and tables [[key]]: {error}") from error
        if not all(set(key.may) <= set(ROLES) for key in keys):
            raise FormatError(f"a key of a trust file may sign {', '.join(ROLES)} and nothing else")
        return cls(keys)

    def accepts(self, signed: Signature | SignedHead, role: Role, *, name: str = "") -> bool:
        """Whether a key that is trusted for this made the signature; with `name`, a key of that name."""
        keys = [key for key in self.keys if key.public_key == signed.public_key and role in key.may]
        return any(not (key.name and name) or key.name == name for key in keys) and signed.holds()


def _key(table: Mapping[str, Any]) -> TrustedKey:
    """The key of one table of a trust file; an unknown field is refused, as it may have been meant as a restriction."""
    require_known("key of a trust file", table, ("name", "public_key", "may"))
    return TrustedKey(
        public_key=bytes.fromhex(table["public_key"]).hex(),
        name=str(table.get("name", "")),
        may=tuple(table.get("may", ROLES)),
    )
