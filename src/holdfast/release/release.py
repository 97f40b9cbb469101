"""Release: a value, what it promises, how it came about, and how accurate it is."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from holdfast.errors import FormatError, HoldfastError, NotPrivateWarning
from holdfast.privacy.account import Account
from holdfast.privacy.guarantee import Guarantee
from holdfast.release import archive
from holdfast.release.certificate import Certificate
from holdfast.release.contents import Contents, pack, unpack
from holdfast.release.provenance import Provenance

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class Release(Generic[T]):
    """What leaves: nothing downstream of it sees the table again.

    >>> from holdfast.privacy import ApproxDP, Gaussian
    >>> account = Account(ApproxDP(1.0, 1e-6), seed=1)
    >>> noisy = account.release(Gaussian(sigma=10.0, l2_sensitivity=1.0), [12.0, 30.0])
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "certificates", tuple(self.certificates))

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
        assumptions: Sequence[str] = (),
        theorem: str | None = None,
    ) -> Release[T]:
        """What was released through an account, with the promise and the history that the account knows.

        The guarantee is the account's limit, never the sum spent so far (soundness, section 19).
        Noise is seeded if any of it was, arithmetic is idealised if any of it was.
        """
        guarantee = account.guarantee(assumptions=assumptions)
        paid = [entry for entry in account.journal.entries if entry.charge.share.startswith(account.share)]
        seeded = account.source.provenance == "seeded" or any(e.charge.noise == "seeded" for e in paid)
        strict = all(entry.charge.arithmetic == "strict" for entry in paid)
        head = account.journal.head
        if seeded:
            warnings.warn(
                "this release was drawn from a seed and is not private; open the account without a seed",
                NotPrivateWarning,
                stacklevel=2,
            )
        return cls(
            value=value,
            guarantee=guarantee if theorem is None else replace(guarantee, theorem=theorem),
            provenance=Provenance(
                method=method,
                parameters={} if parameters is None else parameters,
                schema_hash=schema_hash,
                noise="seeded" if seeded else "secure",
                arithmetic="strict" if strict else "idealised",
                account=account.journal.name,
                entries=tuple(entry.number for entry in paid) if head else (),
                head=head,
            ),
            certificates=tuple(certificates),
        )

    @property
    def private(self) -> bool:
        """Whether the guarantee holds: it does not where the noise came from a seed."""
        return self.provenance.private

    def summary(self) -> str:
        """What is promised, how it came about, and how accurate it is."""
        first = [] if self.private else ["NOT PRIVATE: drawn from a seed; with secure noise it would satisfy"]
        lines = [*first, self.guarantee.summary(), self.provenance.summary()]
        return "\n".join(lines + [certificate.summary() for certificate in self.certificates])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file, whole or not at all: JSON and arrays, no code."""
        contents = pack(self.value)
        archive.write(Path(path), self._record(contents), contents.members)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Release[Any]:
        """The release of a file; `FormatError` for a file that is damaged or of another format."""
        record, members = archive.read(Path(path))
        return _from_record(record, members)

    def _record(self, contents: Contents) -> dict[str, Any]:
        return {
            "value": contents.tree,
            "guarantee": self.guarantee.to_json(),
            "provenance": self.provenance.to_json(),
            "certificates": [certificate.to_json() for certificate in self.certificates],
        }

    def __eq__(self, other: object) -> bool:
        """Equal where the files would be: arrays by dtype, shape and bits."""
        if not isinstance(other, Release):
            return NotImplemented
        mine, theirs = pack(self.value), pack(other.value)
        return mine.members == theirs.members and self._record(mine) == other._record(theirs)

    __hash__ = None  # type: ignore[assignment]


def _from_record(record: dict[str, Any], members: dict[str, bytes]) -> Release[Any]:
    try:
        return Release(
            value=unpack(Contents(record["value"], members)),
            guarantee=Guarantee.from_json(record["guarantee"]),
            provenance=Provenance.from_json(record["provenance"]),
            certificates=tuple(Certificate.from_json(entry) for entry in record["certificates"]),
        )
    except FormatError:
        raise
    except (HoldfastError, KeyError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise FormatError("a field of the release file is missing or of the wrong kind") from error
