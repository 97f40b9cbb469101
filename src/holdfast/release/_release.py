"""Release: a value with its guarantee, its provenance and its certificates of accuracy.

The provenance says how the value came about: method, noise, software, date and payment, all of them public facts.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args

from holdfast._arguments import checked
from holdfast._assumption import Assumption
from holdfast._caution import warn
from holdfast._extensions import OWN_PACKAGE, Author, package_mark
from holdfast._plain_data import require_depth
from holdfast._stored_fields import require_fields
from holdfast.data._whole_file import NameTakenError, write_whole
from holdfast.errors import FormatError, HoldfastError, NotPrivateWarning, ParameterError, require
from holdfast.privacy._account import Account
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._mechanisms import MECHANISMS
from holdfast.release import _archive as archive
from holdfast.release._archive import Contents, pack, unpack
from holdfast.release._certificate import Certificate
from holdfast.release._usefulness import Prospect

T = TypeVar("T")
Noise = Literal["secure", "seeded"]
Arithmetic = Literal["strict", "idealised"]
_MOST_STATEMENT_LETTERS = 2**20
_MOST_STATEMENT_LEVELS = 32


def software_versions() -> dict[str, str]:
    """The versions of Python and of the packages that can change a result."""
    return {"python": platform.python_version()} | {
        name: _version(name) for name in ("holdfast", "numpy", "scipy")
    }


def today() -> str:
    """The date in UTC, without the time of day."""
    return datetime.now(UTC).date().isoformat()


@checked
@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Estimator, method, parameters, schema, noise, arithmetic, software, date, and where it was paid for.

    Parameters
    ----------
    method : str
        The name of the estimator's method; empty for an estimator that has only one.
    estimator : str
        The class that was fitted; empty where the value comes from mechanisms and no estimator.
    package : str
        The package that the method is from: 'holdfast', the name and version of the installed package that registers
        it, or empty where none does.
    steps : tuple of str
        The names of a pipeline's steps.
    parameters : mapping
        The public parameters, as plain JSON.
    schema_hash : str, optional
        The hash of the schema of the rows.
    noise : {'secure', 'seeded'}
        How the noise was drawn; a value with seeded noise is not private.
    arithmetic : {'strict', 'idealised'}
        Whether all noise was drawn exactly, or some in floating point.
    software : mapping
        The versions of the packages that computed the value; by default those that are installed.
    created : str
        The date, such as 2025-01-31; by default today's, in UTC.
    account : str
        The name of the account in the ledger that paid; empty without a ledger.
    entries : tuple of int
        The numbers of the ledger's entries that hold the charges.
    head : str
        The ledger's head at that time, which shows later whether a ledger was rolled back.

    Examples
    --------
    >>> Provenance(method="gaussian", noise="seeded", created="2025-01-31").private
    False
    """

    method: str = ""
    estimator: str = ""
    package: str = OWN_PACKAGE
    steps: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schema_hash: str | None = None
    noise: Noise = "secure"
    arithmetic: Arithmetic = "strict"
    software: Mapping[str, str] = field(default_factory=software_versions)
    created: str = field(default_factory=today)
    account: str = ""
    entries: tuple[int, ...] = ()
    head: str = ""

    def __post_init__(self) -> None:
        for name in ("method", "estimator", "package", "account", "head", "created"):
            value = getattr(self, name)
            require(isinstance(value, str), name, type(value).__name__, "a text")
        require(
            self.schema_hash is None or isinstance(self.schema_hash, str),
            "schema_hash",
            "...",
            "a text or None",
        )
        require(self.noise in get_args(Noise), "noise", self.noise, "'secure' or 'seeded'")
        require(
            self.arithmetic in get_args(Arithmetic), "arithmetic", self.arithmetic, "'strict' or 'idealised'"
        )
        require(_is_date(self.created), "created", self.created, "a date such as 2025-01-31")
        require(_are_numbers(self.entries), "entries", "...", "whole numbers >= 0")
        require(all(isinstance(name, str) for name in self.steps), "steps", "...", "names")
        object.__setattr__(self, "steps", tuple(self.steps))
        object.__setattr__(self, "entries", tuple(self.entries))
        object.__setattr__(self, "parameters", plain_json("parameters", self.parameters))
        object.__setattr__(self, "software", plain_json("software", self.software))

    @property
    def private(self) -> bool:
        """Whether the noise was drawn securely; noise from a seed protects nobody."""
        return self.noise == "secure"

    @property
    def title(self) -> str:
        """Estimator, method and package in one line, for readers.

        >>> Provenance(estimator="PrivateRidge", method="ssp").title
        'PrivateRidge, ssp'
        >>> Provenance(estimator="PrivateRidge", method="mine", package="", steps=("scaler", "model")).title
        'Pipeline of scaler, model; PrivateRidge, mine [unregistered]'
        """
        whole = f"Pipeline of {', '.join(self.steps)}; " if self.steps else ""
        return whole + ", ".join(filter(None, (self.estimator, self.method))) + package_mark(self.package)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "method": self.method,
            "estimator": self.estimator,
            "package": self.package,
            "steps": list(self.steps),
            "parameters": self.parameters,
            "schema_hash": self.schema_hash,
            "noise": self.noise,
            "arithmetic": self.arithmetic,
            "software": self.software,
            "created": self.created,
            "account": self.account,
            "entries": list(self.entries),
            "head": self.head,
        }

    @classmethod
    def from_json(cls, data: Any) -> Provenance:
        """The provenance that `to_json` wrote; `FormatError` for anything else.

        Parameters
        ----------
        data : dict
            What `to_json` gave.

        Returns
        -------
        Provenance
            The same again.
        """
        try:
            return cls(**require_fields("provenance", data, list(cls.__dataclass_fields__)))
        except FormatError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise FormatError("a stored provenance lacks a field or has one of the wrong kind") from error

    def summary(self) -> str:
        """A few lines: what was done, with which noise, when, and where it was paid for."""
        lines = [
            f"{self.title}, {self.created}, {self.noise} noise, {self.arithmetic} arithmetic, "
            + ", ".join(f"{name} {version}" for name, version in self.software.items())
        ]
        if self.parameters:
            lines.append("  " + ", ".join(f"{name}={value!r}" for name, value in self.parameters.items()))
        if self.schema_hash:
            lines.append(f"  schema {self.schema_hash}")
        if self.head:
            lines.append(f"  paid by {self.account}, {_ranges(self.entries)}; ledger head {self.head}")
        return "\n".join(lines)


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Release(Generic[T]):
    """A released value with everything that is said about it; nothing that uses it sees the table again.

    `Release.of` makes a release from what an account released; estimators make theirs in `fit`.

    Parameters
    ----------
    value : object
        What was released: numbers, texts, arrays, tables, and lists and mappings of such.
    guarantee : Guarantee
        What is promised to those in the data.
    provenance : Provenance
        How the value came about.
    certificates : tuple of Certificate
        How far off the value may be.
    prospects : tuple of Prospect
        Reasons, from public numbers, why the value cannot be of use; empty where there are none.

    Examples
    --------
    >>> from holdfast.privacy import ApproxDP, Gaussian
    >>> account = Account(ApproxDP(1.0, 1e-6), seed=1)
    >>> noisy = account.release(Gaussian(sigma=10.0, l2_sensitivity=1.0), [12.0, 30.0])
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", NotPrivateWarning)
    ...     release = Release.of(account, noisy, method="two noisy counts")
    >>> release.private
    False
    """

    value: T
    guarantee: Guarantee
    provenance: Provenance
    certificates: tuple[Certificate, ...] = ()
    prospects: tuple[Prospect, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "certificates", tuple(self.certificates))
        object.__setattr__(self, "prospects", tuple(self.prospects))
        # Where either of them says that the noise was seeded, both must say so.
        object.__setattr__(self, "guarantee", self.guarantee.drawn_from(self.provenance.noise))
        if not self.guarantee.private:
            object.__setattr__(self, "provenance", replace(self.provenance, noise="seeded"))

    @classmethod
    def of(
        cls,
        account: Account,
        value: T,
        *,
        method: str,
        parameters: Mapping[str, Any] | None = None,
        schema_hash: str | None = None,
        certificates: Sequence[Certificate] = (),
        assumptions: Sequence[Assumption] = (),
        theorem: str | None = None,
        prospects: Sequence[Prospect] = (),
    ) -> Release[T]:
        """What was released through an account, with the promise and the history that the account knows.

        The guarantee is the account's limit, never the sum spent so far (soundness, section 19).
        Noise is seeded if any of it was, arithmetic is idealised if any of it was.

        Parameters
        ----------
        account : Account
            What paid.
        value : object
            What was released. It must follow from what the account released and from what is public.
        method : str
            What was done, in a few words.
        parameters : mapping, optional
            The public parameters, as plain JSON.
        schema_hash : str, optional
            The hash of the schema of the rows.
        certificates : sequence of Certificate
            How far off the value may be.
        assumptions : sequence of Assumption
            What the proof takes for granted, beyond what the account knows.
        theorem : str, optional
            What proves the promise; by default what the account says.
        prospects : sequence of Prospect
            Reasons, from public numbers, why the value cannot be of use.

        Returns
        -------
        Release
            The release; where a ledger paid, it holds the hash of the release from now on.
        """
        return cls.paid_by(
            account,
            value,
            Provenance(method=method, parameters=parameters or {}, schema_hash=schema_hash),
            certificates=certificates,
            assumptions=assumptions,
            theorem=theorem,
            prospects=prospects,
        )

    @classmethod
    def paid_by(
        cls,
        account: Account,
        value: T,
        provenance: Provenance,
        *,
        certificates: Sequence[Certificate] = (),
        assumptions: Sequence[Assumption] = (),
        theorem: str | None = None,
        prospects: Sequence[Prospect] = (),
    ) -> Release[T]:
        """The same as `of`, where more is known of how the value came about than the name of a method.

        Parameters
        ----------
        account : Account
            What paid.
        value : object
            What was released.
        provenance : Provenance
            How it came about. Noise, arithmetic and payment are those of the account, whatever it says of them.
        certificates, assumptions, theorem, prospects
            As of `of`.

        Returns
        -------
        Release
            The release; where a ledger paid, it holds the hash of the release from now on.
        """
        head = account.journal.head  # read first: every charge up to it is among the entries
        paid = [entry for entry in account.journal.entries if entry.charge.share.startswith(account.share)]
        foreign = foreign_proofs([entry.charge.mechanism for entry in paid])
        guarantee = account.guarantee(assumptions=(*assumptions, *foreign))
        strict = all(entry.charge.arithmetic == "strict" for entry in paid)
        if not guarantee.private:
            warn(
                "this release was drawn from a seed and is not private; open the account without a seed",
                NotPrivateWarning,
            )
        release = cls(
            value=value,
            guarantee=guarantee if theorem is None else replace(guarantee, theorem=theorem),
            provenance=replace(
                provenance,
                parameters={**provenance.parameters, **account.release_parameters},
                noise=guarantee.noise,
                arithmetic="strict" if strict else "idealised",
                account=account.journal.name,
                entries=tuple(entry.number for entry in paid) if head else (),
                head=head,
            ),
            certificates=tuple(certificates),
            prospects=tuple(prospects),
        )
        if head:
            release.close_in(account)
        return release

    def close_in(self, account: Account) -> None:
        """Write the hash of this release into the journal that holds its charges, so that no other passes for it.

        Parameters
        ----------
        account : Account
            What paid.
        """
        account.journal.close_release(self._ledger_facts(account.share))

    @property
    def private(self) -> bool:
        """Whether the guarantee holds: it does not where the noise came from a seed."""
        return self.guarantee.private

    @property
    def useless(self) -> tuple[str, ...]:
        """Reasons, from released and public numbers, why the value cannot be of use; empty where there are none."""
        vacuous = [claim.summary() for claim in self.certificates[:1] if claim.vacuous]
        return (*(prospect.sentence() for prospect in self.prospects), *vacuous)

    @property
    def first_lines(self) -> tuple[str, ...]:
        """The first lines of every summary: the reasons why the value cannot be of use."""
        return tuple(f"OF NO USE: {reason}" for reason in self.useless)

    def summary(self) -> str:
        """Reasons why it is of no use, guarantee, provenance and certificates, in a few lines."""
        return "\n".join([*self.first_lines, self.description()])

    def description(self) -> str:
        """The summary without the reasons why it is of no use."""
        lines = [self.guarantee.summary(), self.provenance.summary()]
        return "\n".join(lines + [certificate.summary() for certificate in self.certificates])

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write one file, whole or not at all: JSON and arrays, no code.

        Where another file is in the way, this one is written beside it, under a name that the error gives: what was
        paid for is not lost because a name is taken.

        Parameters
        ----------
        path : str or path
            The file to write.
        overwrite : bool
            Whether it may take the place of a file that this process did not write. A ledger, a part of one and a
            private key are never written over.
        """
        data, target = self.file_bytes(), Path(path)
        try:
            write_whole(target, data, overwrite=overwrite)
        except NameTakenError as error:
            beside = target.with_name(f"{target.stem}-{hashlib.sha256(data).hexdigest()[:12]}{target.suffix}")
            write_whole(beside, data)
            raise NameTakenError(
                f"{error}. The release is not lost: it is saved as {str(beside)!r}"
            ) from None

    def file_bytes(self) -> bytes:
        """The bytes of the file: the same release always gives the same ones."""
        contents = pack(self.value)
        return archive.to_bytes(self._record(contents), contents.members)

    def sha256(self) -> str:
        """The hash of the file, which stands for everything in it."""
        return hashlib.sha256(self.file_bytes()).hexdigest()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Release[Any]:
        """The release of a file; `FormatError` for a file that is damaged or of another format.

        Parameters
        ----------
        path : str or path
            A file that `save` wrote.

        Returns
        -------
        Release
            Equal to the one that was saved.
        """
        record, members = archive.read(Path(path))
        return _from_record(record, members)

    def _ledger_facts(self, share: str) -> dict[str, Any]:
        """What the ledger that paid stores about the release."""
        provenance = self.provenance
        return {
            "sha256": self.sha256(),
            "share": share,
            "method": provenance.method,
            "estimator": provenance.estimator,
            "package": provenance.package,
            "noise": provenance.noise,
            "arithmetic": provenance.arithmetic,
            "schema_hash": provenance.schema_hash,
            "charges": len(provenance.entries),
            "last": max(provenance.entries, default=0),
            "head": provenance.head,
        }

    def _record(self, contents: Contents) -> dict[str, Any]:
        statements = {
            "guarantee": self.guarantee.to_json(),
            "provenance": self.provenance.to_json(),
            "certificates": [certificate.to_json() for certificate in self.certificates],
            "prospects": [prospect.to_json() for prospect in self.prospects],
        }
        try:
            _require_readable_statements(statements)
        except FormatError as error:
            raise ParameterError(f"{error}; put what is larger into the value") from None
        return {"value": contents.tree} | statements

    def __eq__(self, other: object) -> bool:
        """Whether the files of both would be equal: arrays are compared by dtype, shape and bits."""
        if not isinstance(other, Release):
            return NotImplemented
        own, others = pack(self.value), pack(other.value)
        return own.members == others.members and self._record(own) == other._record(others)

    __hash__ = None  # type: ignore[assignment]


def _require_readable_statements(record: Mapping[str, Any]) -> None:
    """Bound the size and depth of what a release says of itself, which people read and pages show."""
    statements = [record["provenance"], record["certificates"], record["prospects"]]
    statements.append(record["guarantee"] | {"curve": None})
    require_depth(statements, "what a release says of itself", _MOST_STATEMENT_LEVELS)
    size = len(json.dumps(statements, default=str))
    if size > _MOST_STATEMENT_LETTERS:
        raise FormatError(
            f"what a release says of itself has at most {_MOST_STATEMENT_LETTERS:,} letters, this has {size:,}"
        )


def _from_record(record: dict[str, Any], members: dict[str, bytes]) -> Release[Any]:
    names = ("format", "value", "guarantee", "provenance", "certificates", "prospects")
    record = dict(require_fields("release", record, names))
    try:
        _require_readable_statements(record)
        return Release(
            value=unpack(Contents(record["value"], members)),
            guarantee=Guarantee.from_json(record["guarantee"]),
            provenance=Provenance.from_json(record["provenance"]),
            certificates=tuple(Certificate.from_json(entry) for entry in record["certificates"]),
            prospects=tuple(Prospect.from_json(entry) for entry in record["prospects"]),
        )
    except FormatError:
        raise
    except (HoldfastError, KeyError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise FormatError("a field of the release file is missing or of the wrong kind") from error


def foreign_mechanisms(charges: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The mechanisms, also inside of others, that are not holdfast's: name and package, empty if it is unknown."""
    known = {kind.__name__ for kind in MECHANISMS}
    origins: dict[str, str] = {}
    for stored in charges:
        name = str(stored.get("mechanism"))
        if name not in known:
            origins[name] = str(stored.get("from", ""))
        inner = [
            mechanism
            for mechanism in stored.values()
            if isinstance(mechanism, dict) and "mechanism" in mechanism
        ]
        origins |= foreign_mechanisms(inner)
    return origins


def foreign_proofs(charges: Sequence[Mapping[str, Any]]) -> list[Assumption]:
    """The assumptions of a guarantee whose charges rest on mechanisms that are not holdfast's."""
    return [
        Author(noun="mechanism", name=name, promise="is private", package=package).assumption
        for name, package in foreign_mechanisms(charges).items()
    ]


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as a provenance holds them, without those that are infinite or None."""
    return {
        name: value
        for name, value in parameters.items()
        if value is not None and not (isinstance(value, float) and not math.isfinite(value))
    }


def plain_json(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping as JSON holds it (tuples become lists), refused if JSON cannot hold it."""
    require(isinstance(value, Mapping), name, type(value).__name__, "a mapping")
    require(all(isinstance(key, str) for key in value), name, "...", "a mapping whose keys are texts")
    try:
        result: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False, default=_plain_number))
    except (AttributeError, TypeError, ValueError, RecursionError):
        raise ParameterError(
            f"{name} must be made of finite numbers, texts, lists and mappings; put arrays into the value"
        ) from None
    return result


def _plain_number(value: Any) -> Any:
    """A NumPy number as a plain one."""
    return value.item()


@cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "from source"


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _are_numbers(entries: object) -> bool:
    return isinstance(entries, Sequence) and all(type(n) is int and n >= 0 for n in entries)


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers of entries as text, consecutive ones as ranges.

    >>> _ranges((3, 4, 5, 9))
    'entries 3-5, 9'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    ranges = [f"{first}" if first == last else f"{first}-{last}" for first, last in runs[:8]] + ["..."] * (
        len(runs) > 8
    )
    return "entries " + ", ".join(ranges)
