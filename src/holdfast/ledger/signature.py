"""Signed heads: Ed25519 signatures that say "this is how far the ledger had come".

A signature inside the ledger shows who vouched for its entries. Kept outside, a signed head also
shows later that the ledger was rolled back. Needs the extra `sign`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import FormatError, LedgerError, missing_extra
from holdfast.ledger.entry import LedgerEntry, canonical
from holdfast.release.archive import write_atomically

FORMAT = "holdfast-head/1"


@dataclass(frozen=True, kw_only=True)
class SignedHead:
    """The number and hash of the newest entry of a ledger, signed."""

    ledger: str
    number: int
    head: str
    public_key: str
    signature: str

    @classmethod
    def sign(cls, private_key: str | os.PathLike[str], *, ledger: str, number: int, head: str) -> SignedHead:
        """Sign with the Ed25519 key of a PEM file."""
        key = _private_key(Path(private_key))
        public = key.public_key().public_bytes_raw().hex()
        signature = key.sign(_message(ledger, number, head)).hex()
        return cls(ledger=ledger, number=number, head=head, public_key=public, signature=signature)

    def verify(self, public_key: str | os.PathLike[str]) -> bool:
        """Whether the key of a PEM file made this signature, over exactly this head."""
        from cryptography.exceptions import InvalidSignature

        key = _public_key(Path(public_key))
        try:
            key.verify(bytes.fromhex(self.signature), _message(self.ledger, self.number, self.head))
        except (InvalidSignature, ValueError):
            return False
        return True

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "format": FORMAT,
            "ledger": self.ledger,
            "number": self.number,
            "head": self.head,
            "public_key": self.public_key,
            "signature": self.signature,
        }

    @classmethod
    def of(cls, entry: LedgerEntry) -> SignedHead:
        """The signed head that an entry holds."""
        return cls.from_json(entry.body)

    @classmethod
    def from_json(cls, data: Any) -> SignedHead:
        """The signed head that `to_json` wrote."""
        try:
            if data["format"] != FORMAT:
                raise FormatError(f"not a signed head of the format {FORMAT}")
            return cls(**{name: data[name] for name in cls.__dataclass_fields__})
        except (KeyError, TypeError) as error:
            raise FormatError("a signed head lacks a field") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, to be kept where whoever writes the ledger cannot write."""
        write_atomically(Path(path), (json.dumps(self.to_json(), indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SignedHead:
        """Read what `save` wrote."""
        try:
            return cls.from_json(json.loads(Path(path).read_bytes()[:65_536]))
        except (OSError, ValueError, RecursionError) as error:
            raise FormatError(f"cannot read a signed head from {str(path)!r}") from error


def create_key(path: str | os.PathLike[str]) -> Path:
    """Make a new Ed25519 key: the private part at `path`, for its owner only, the public part beside it."""
    _require_cryptography()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(private)
    beside = Path(path).with_suffix(".pub")
    beside.write_bytes(public)
    return beside


def _message(ledger: str, number: int, head: str) -> bytes:
    return canonical({"format": FORMAT, "ledger": ledger, "number": number, "head": head}).encode()


def _private_key(path: Path) -> Any:
    _require_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise LedgerError(f"cannot read an unencrypted PEM private key from {str(path)!r}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise LedgerError(f"the key in {str(path)!r} is not an Ed25519 key; make one with ledger.create_key")
    return key


def _public_key(path: Path) -> Any:
    _require_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError, TypeError) as error:
        raise LedgerError(f"cannot read a PEM public key from {str(path)!r}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise LedgerError(f"the key in {str(path)!r} is not an Ed25519 key")
    return key


def _require_cryptography() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise missing_extra("cryptography", "sign") from None
