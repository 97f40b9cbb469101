"""Signatures by Ed25519 keys: of the ledger's head, an approval, a file or an extract. Needs the extra `sign`.

A signed head says how far the ledger had come. Inside the ledger it shows who vouched for its entries; kept outside,
it also shows later if the ledger was rolled back. A signature names the key that made it; `trust` decides whether that
key is to be trusted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from holdfast._arguments import checked
from holdfast._extras import import_optional
from holdfast._plain_data import parse_json
from holdfast._ranges import require_place
from holdfast._regular_file import read_regular, sha256_of
from holdfast._stored_fields import require_fields, require_format
from holdfast.data._whole_file import write_new, write_whole
from holdfast.errors import FormatError, LedgerError, ParameterError
from holdfast.ledger._entry import LedgerEntry, canonical
from holdfast.release._outputs import FileRead, FileWritten, Outputs

HEAD_FORMAT = "holdfast-head/1"
SIGNATURE_FORMAT = "holdfast-signature/1"
SIGNATURE_ENDING = ".sig"
"""The ending of the file that holds the signature of another one."""
PUBLIC_KEY_ENDING = ".pub"
"""The ending of the file that holds the public part of a key."""
About = Literal["approval", "file", "extract"]
_MOST_SIGNATURE_BYTES = 65_536
_MOST_KEY_BYTES = 4_096
"""Of a PEM file: thirty times an Ed25519 key, and too little for a key of another kind that takes minutes to check."""
_ED25519 = "cryptography.hazmat.primitives.asymmetric.ed25519"
_SERIALIZATION = "cryptography.hazmat.primitives.serialization"


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What is signed, by which key; `about` is signed too, so that a signature serves no other purpose."""

    about: About
    content: Mapping[str, Any]
    public_key: str
    signature: str

    @classmethod
    def sign(
        cls, private_key: str | os.PathLike[str], *, about: About, content: Mapping[str, Any]
    ) -> Signature:
        """Sign with the Ed25519 key of a PEM file."""
        key = _private_key(Path(private_key))
        public = key.public_key().public_bytes_raw().hex()
        signature = key.sign(_signed_bytes(about, content)).hex()
        return cls(about=about, content=content, public_key=public, signature=signature)

    @classmethod
    def sign_file(cls, private_key: str | os.PathLike[str], path: str | os.PathLike[str]) -> Signature:
        """Sign every byte of a file, a release or a page, and write the signature beside it."""
        signature_outputs([path], private_key).require()
        digest = sha256_of(path, what="what is to be signed")
        signature = cls.sign(private_key, about="file", content={"sha256": digest})
        write_whole(signature_path(path), (json.dumps(signature.to_json(), indent=1) + "\n").encode())
        return signature

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Signature | None:
        """The signature that lies beside a file; None where there is none."""
        beside = signature_path(path)
        return cls.from_json(_read_json(beside)) if beside.is_file() else None

    def holds(self) -> bool:
        """Whether the key that it names made it, over exactly this content."""
        return _is_signature_of(self.public_key, self.signature, _signed_bytes(self.about, self.content))

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "format": SIGNATURE_FORMAT,
            "about": self.about,
            "content": dict(self.content),
            "public_key": self.public_key,
            "signature": self.signature,
        }

    @classmethod
    def from_json(cls, data: Any) -> Signature:
        """The signature that `to_json` wrote; `FormatError` for anything else."""
        require_format("signature", data, SIGNATURE_FORMAT)
        names = list(cls.__dataclass_fields__)
        stored = require_fields("signature", data, ("format", *names))
        signature = cls(**{name: stored[name] for name in names})
        if signature.about not in get_args(About):
            raise FormatError(f"a signature is about one of {', '.join(get_args(About))}")
        texts = (signature.public_key, signature.signature)
        if not isinstance(signature.content, dict) or not all(isinstance(text, str) for text in texts):
            raise FormatError("a signature has a field of the wrong kind")
        return signature


def signature_outputs(
    paths: Sequence[str | os.PathLike[str]], private_key: str | os.PathLike[str]
) -> Outputs:
    """What signing these files reads and writes; the only files that it writes over are earlier signatures."""
    reads = [FileRead(name="the key", path=Path(private_key))]
    reads += [FileRead(name="what is signed", path=Path(path)) for path in paths]
    signatures = [signature_path(path) for path in paths]
    writes = [
        FileWritten(name="the signature", path=path, replaces=_is_signature(path)) for path in signatures
    ]
    return Outputs(reads=tuple(reads), writes=tuple(writes))


def _is_signature(path: Path) -> bool:
    try:
        Signature.from_json(_read_json(path))
    except FormatError:
        return False
    return True


def signature_path(path: str | os.PathLike[str]) -> Path:
    """Where the signature of a file is written."""
    return Path(f"{os.fspath(path)}{SIGNATURE_ENDING}")


@checked
@dataclass(frozen=True, kw_only=True)
class SignedHead:
    """The number and hash of the newest entry of a ledger, signed.

    Parameters
    ----------
    ledger : str
        The identity of the ledger.
    number : int
        The number of the entry.
    head : str
        Its hash.
    public_key : str
        The public key of whoever signed.
    signature : str
        The Ed25519 signature over ledger, number and head.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     private = Path(folder, "officer.pem")
    ...     public = create_key(private)
    ...     signed = SignedHead.sign(ledger="visits", number=3, head="ab12", private_key=private)
    ...     signed.verify(public)
    True
    """

    ledger: str
    number: int
    head: str
    public_key: str
    signature: str

    @classmethod
    def sign(cls, private_key: str | os.PathLike[str], *, ledger: str, number: int, head: str) -> SignedHead:
        """Sign `number` and `head` of this `ledger` with the Ed25519 `private_key` of a PEM file."""
        key = _private_key(Path(private_key))
        public = key.public_key().public_bytes_raw().hex()
        signature = key.sign(_head_bytes(ledger, number, head)).hex()
        return cls(ledger=ledger, number=number, head=head, public_key=public, signature=signature)

    def verify(self, public_key: str | os.PathLike[str]) -> bool:
        """Whether the `public_key` of a PEM file made this signature, over exactly this head."""
        return self.public_key == public_hex(public_key) and self.holds()

    def holds(self) -> bool:
        """Whether the key that it names made this signature, over exactly this head."""
        return _is_signature_of(
            self.public_key, self.signature, _head_bytes(self.ledger, self.number, self.head)
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "format": HEAD_FORMAT,
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
        """The signed head in `data`, which `to_json` wrote."""
        require_format("signed head", data, HEAD_FORMAT)
        names = list(cls.__dataclass_fields__)
        stored = require_fields("signed head", data, ("format", *names))
        try:
            return cls(**{name: stored[name] for name in names})
        except (TypeError, ValueError) as error:
            raise FormatError("a signed head has a field of the wrong kind") from error

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write it to a file, to be kept where whoever writes the ledger cannot write.

        Parameters
        ----------
        path : str or path
            The file to write.
        overwrite : bool
            Whether it may take the place of a file that this process did not write.
        """
        text = json.dumps(self.to_json(), indent=1) + "\n"
        write_whole(Path(path), text.encode(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SignedHead:
        """Read what `save` wrote to `path`."""
        return cls.from_json(_read_json(Path(path)))


@checked
def create_key(path: str | os.PathLike[str]) -> Path:
    """Make a new Ed25519 key: the private part at `path`, for its owner only, the public part beside it as `.pub`.

    Both are new files: nothing that is there is ever written over. Where the private part is there and the public
    part is not, as after a call that was ended between the two, the public part of that key is written.

    Parameters
    ----------
    path : str or path
        Where the private part goes, such as `officer.pem`.

    Returns
    -------
    pathlib.Path
        Where the public part is.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create_key(folder + "/officer.pem").name
    'officer.pub'
    """
    form = import_optional(_SERIALIZATION)
    generate = import_optional(_ED25519).Ed25519PrivateKey.generate
    require_place("path", path)
    private_path = Path(path)
    if private_path.name in ("", ".."):
        raise ParameterError(f"path must name a file, got {str(path)!r}")
    public_path = private_path.with_suffix(PUBLIC_KEY_ENDING)
    if private_path.suffix.casefold() == PUBLIC_KEY_ENDING:
        raise ParameterError(
            f"path must not end in {PUBLIC_KEY_ENDING}, which is the public part, got {str(path)!r}; end it in .pem"
        )
    if private_path.is_file() and not os.path.lexists(public_path) and _is_private_key(private_path):
        key = _private_key(private_path)  # an earlier call was ended between its two files
    else:
        key = generate()
        private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
        _require_new(public_path)
        _write_new(private_path, private, mode=0o600)
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    _write_new(public_path, public, mode=0o644)
    return public_path


def _is_private_key(path: Path) -> bool:
    try:
        _private_key(path)
    except LedgerError:
        return False
    return True


def _require_new(path: Path) -> None:
    if os.path.lexists(path):
        raise ParameterError(
            f"path must be a new file, and {str(path)!r} is there already: a key is never written over; "
            "choose another name"
        )


def _write_new(path: Path, data: bytes, *, mode: int) -> None:
    """Write a file, whole or not at all; refused where anything has its name, be it a link that leads nowhere."""
    _require_new(path)
    try:
        write_new(path, data, mode=mode)
    except FileExistsError:
        _require_new(path)
        raise
    except OSError as error:
        raise ParameterError(
            f"path must lie where files can be written, got {str(path)!r}: {error.strerror}; choose another place"
        ) from None


def _head_bytes(ledger: str, number: int, head: str) -> bytes:
    return canonical({"format": HEAD_FORMAT, "ledger": ledger, "number": number, "head": head}).encode()


def _signed_bytes(about: About, content: Mapping[str, Any]) -> bytes:
    return canonical({"format": SIGNATURE_FORMAT, "about": about, "content": dict(content)}).encode()


def _is_signature_of(public_key: str, signature: str, message: bytes) -> bool:
    ed25519, exceptions = import_optional(_ED25519), import_optional("cryptography.exceptions")
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), message)
    except (exceptions.InvalidSignature, TypeError, ValueError):
        return False
    return True


def _read_json(path: Path) -> Any:
    data = read_regular(path, what="a signature", most_bytes=_MOST_SIGNATURE_BYTES)
    return parse_json(data, "a signature", most_bytes=_MOST_SIGNATURE_BYTES, most_depth=8)


def public_hex(path: str | os.PathLike[str]) -> str:
    """The public key of a PEM file as hexadecimal digits, as signatures name it."""
    raw: bytes = _public_key(Path(path)).public_bytes_raw()
    return raw.hex()


def _private_key(path: Path) -> Any:
    ed25519, form = import_optional(_ED25519), import_optional(_SERIALIZATION)
    data = read_regular(path, what="a private key", most_bytes=_MOST_KEY_BYTES, error=LedgerError)
    try:
        key = form.load_pem_private_key(data, password=None)
    except (ValueError, TypeError) as error:
        raise LedgerError(f"cannot read an unencrypted PEM private key from {str(path)!r}") from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise LedgerError(f"the key in {str(path)!r} is not an Ed25519 key; make one with ledger.create_key")
    return key


def _public_key(path: Path) -> Any:
    ed25519, form = import_optional(_ED25519), import_optional(_SERIALIZATION)
    data = read_regular(path, what="a public key", most_bytes=_MOST_KEY_BYTES, error=LedgerError)
    try:
        key = form.load_pem_public_key(data)
    except (ValueError, TypeError) as error:
        raise LedgerError(f"cannot read a PEM public key from {str(path)!r}") from error
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise LedgerError(f"the key in {str(path)!r} is not an Ed25519 key")
    return key
