"""Order: the order in which a pass may read the records.

The proofs of methods that read records one after another compare two runs that differ in one position.
So an order is admissible when changing one unit changes one position, whatever the table's layout was:

1. `Order.permutation()`: a uniformly random permutation, drawn for the run and kept secret (the default);
2. `Order.keyed_hash(column)`: by a keyed hash of an identifier that does not depend on the other values;
3. `Order.storage(...)`: as stored, only if the caller declares that position carries no information.

All three rank the records, which `add_remove` does not allow: one record more shifts all that follow. There,
`Order.per_record_batches(...)` lets every record draw its batch by itself. `Order.irrelevant()` is for
results that do not depend on the order at all, such as sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import ClassVar

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Codes
from holdfast._assumption import READING_OF_ROWS, Assumption
from holdfast.data._schema import Schema
from holdfast.errors import AdjacencyError, ParameterError, require
from holdfast.noise._source import Provenance, Source
from holdfast.noise._uniform import integers, permutation
from holdfast.privacy._adjacency import Adjacency

KEY_BYTES = 32
#: Hexadecimal digits of a keyed hash that order records: 128 bits, so that two never meet.
DIGITS = 32


def keyed_hash(key: bytes, text: str) -> str:
    """The hash that ranks records in every engine: 128 bits of SHA-256 of the key's digits and the text."""
    return sha256((key.hex() + text).encode()).hexdigest()[:DIGITS]


@checked
class Order(ABC):
    """An order of the records; made by one of the functions of this class."""

    #: Whether one record more or less would shift the places of others.
    ranks: ClassVar[bool]
    assumptions: tuple[Assumption, ...] = ()
    provenance: Provenance = "secure"

    @abstractmethod
    def index(self, count: int, identifiers: Callable[[str], list[str]]) -> Codes:
        """The places of `count` records in the order they are read; `identifiers` gives the texts of a column."""

    def admit(self, adjacency: Adjacency, schema: Schema) -> None:
        """Refuse an order that the proofs do not cover for this `schema` and `adjacency`."""
        if self.ranks and adjacency is Adjacency.add_remove:
            raise AdjacencyError(
                "an order must not rank the records under adjacency='add_remove': one record more shifts all "
                "that follow. Use Order.per_record_batches(batches=..., cap=...), where each record draws "
                "its batch by itself, or Order.irrelevant() for a result that does not depend on the order"
            )

    @staticmethod
    def permutation(source: Source | None = None) -> Shuffled:
        """A secret uniform permutation from `source`. The object keeps it: every pass with this order is the same one.

        >>> order = Order.permutation(Source(seed=1))
        >>> sorted(order.index(5, lambda name: []).tolist())
        [0, 1, 2, 3, 4]
        """
        source = Source() if source is None else source
        return Shuffled(key=source.bytes(KEY_BYTES), source=source, provenance=source.provenance)

    @staticmethod
    def keyed_hash(
        column: str,
        *,
        key: bytes | None = None,
        neighbours_keep_identifier: bool = False,
        source: Source | None = None,
    ) -> KeyedHash:
        """By SHA-256 of a key and an identifier.

        Parameters
        ----------
        column : str
            The identifier.
        key : bytes, optional
            By default a fresh and secret one. A given key may be known or reused: then the order is admissible
            only if neighbours keep the identifier, and that becomes an assumption of the promise.
        neighbours_keep_identifier : bool
            Whether the caller declares that they do.
        source : Source, optional
            Where a fresh key comes from.
        """
        source = Source() if source is None else source
        assumptions: tuple[Assumption, ...] = ()
        if key is not None:
            require(len(key) >= 16, "key", f"{len(key)} bytes", "at least 16 bytes")
            if not neighbours_keep_identifier:
                raise ParameterError(
                    "neighbours_keep_identifier must be declared as True when a fixed key is given, "
                    "got False; drop the key for a fresh secret one"
                )
            fixed = Assumption(
                kind=READING_OF_ROWS,
                subject=column,
                text=f"neighbouring tables keep the identifiers of column {column!r}: the order's key is fixed",
            )
            assumptions = (fixed,)
        return KeyedHash(
            column=column,
            key=source.bytes(KEY_BYTES) if key is None else key,
            tie_key=source.bytes(KEY_BYTES),
            assumptions=assumptions,
            provenance=source.provenance,
        )

    @staticmethod
    def storage(*, position_carries_no_information: bool) -> Storage:
        """As stored; the caller declares `position_carries_no_information`: the layout does not depend on values."""
        require(
            position_carries_no_information is True,
            "position_carries_no_information",
            position_carries_no_information,
            "declared as True",
            "use Order.permutation() if you cannot",
        )
        harmless = Assumption(
            kind=READING_OF_ROWS, text="the position of a record in the table carries no information"
        )
        return Storage(assumptions=(harmless,))

    @staticmethod
    def per_record_batches(*, batches: int, cap: int, source: Source | None = None) -> PerRecordBatches:
        """Each record draws one of `batches` batches; secret priorities from `source` pick the `cap` that stay.

        One unit more or less then changes one batch (soundness: cap = 2 b for batches of b).
        """
        require(batches >= 1, "batches", batches, ">= 1")
        require(cap >= 1, "cap", cap, ">= 1")
        source = Source() if source is None else source
        return PerRecordBatches(
            batches=batches, cap=cap, key=source.bytes(KEY_BYTES), source=source, provenance=source.provenance
        )

    @staticmethod
    def irrelevant() -> Irrelevant:
        """Any order, for a result that does not depend on it."""
        return Irrelevant()


@dataclass(frozen=True, kw_only=True)
class Shuffled(Order):
    """A secret uniform permutation: exact in memory, a keyed hash of the position in other engines."""

    ranks: ClassVar[bool] = True
    key: bytes = field(repr=False)
    source: Source = field(repr=False, compare=False)
    provenance: Provenance = "secure"
    _permutations: dict[int, Codes] = field(default_factory=dict, repr=False, compare=False)

    def index(self, count: int, identifiers: Callable[[str], list[str]]) -> Codes:
        """A permutation from the source, drawn once per table size."""
        if count not in self._permutations:
            self._permutations[count] = permutation(self.source, count)
        return self._permutations[count]


@dataclass(frozen=True, kw_only=True)
class KeyedHash(Order):
    """By a keyed hash of an identifier; records that share one follow a secret order among themselves."""

    ranks: ClassVar[bool] = True
    column: str
    key: bytes = field(repr=False)
    tie_key: bytes = field(repr=False)
    assumptions: tuple[Assumption, ...] = ()
    provenance: Provenance = "secure"

    def admit(self, adjacency: Adjacency, schema: Schema) -> None:
        """Refuse what the proofs do not cover; padded users are known by their own column only."""
        super().admit(adjacency, schema)
        if self.column not in schema.identifiers:
            raise ParameterError(
                f"column must be a declared identifier, one of {list(schema.identifiers)}, "
                f"got column={self.column!r}"
            )
        unit = schema.confirmed_unit
        if unit.max_rows > 1 and self.column != unit.column:
            raise ParameterError(
                f"column must be the user column {unit.column!r} when users have several rows, "
                f"got column={self.column!r}; or use Order.permutation()"
            )

    def index(self, count: int, identifiers: Callable[[str], list[str]]) -> Codes:
        """The places sorted by hash."""
        hashes = [keyed_hash(self.key, name) for name in identifiers(self.column)]
        ties = [keyed_hash(self.tie_key, str(place)) for place in range(count)]
        return np.array(sorted(range(count), key=lambda place: (hashes[place], ties[place])), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Storage(Order):
    """As stored, with the caller's declaration that this is harmless."""

    ranks: ClassVar[bool] = True
    assumptions: tuple[Assumption, ...]

    def admit(self, adjacency: Adjacency, schema: Schema) -> None:
        """Refuse what the proofs do not cover; users are padded, which leaves no stored order."""
        super().admit(adjacency, schema)
        if schema.confirmed_unit.max_rows > 1:
            raise ParameterError(
                "order must not be Order.storage() when users have several rows: they are padded to "
                f"max_rows={schema.confirmed_unit.max_rows}; use Order.permutation()"
            )

    def index(self, count: int, identifiers: Callable[[str], list[str]]) -> Codes:
        """As they are."""
        return np.arange(count, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class PerRecordBatches(Order):
    """Every record draws its batch and a priority by itself; full batches keep the highest priorities."""

    ranks: ClassVar[bool] = False
    batches: int
    cap: int
    key: bytes = field(repr=False)
    source: Source = field(repr=False, compare=False)
    provenance: Provenance = "secure"
    _members: dict[int, list[Codes]] = field(default_factory=dict, repr=False, compare=False)

    def members(self, count: int) -> list[Codes]:
        """The places of the records of each batch, drawn once per table size."""
        if count not in self._members:
            records = np.arange(count)
            batch = integers(self.source, bound=self.batches, size=count, records=records)
            priority = permutation(self.source, count, records=records)
            # A stable sort by batch keeps the secret priority as the order within each batch.
            sorted_places = priority[np.argsort(batch[priority], kind="stable")]
            ends = np.cumsum(np.bincount(batch, minlength=self.batches))
            self._members[count] = [part[: self.cap] for part in np.split(sorted_places, ends[:-1])]
        return self._members[count]

    def index(self, count: int, identifiers: Callable[[str], list[str]]) -> Codes:
        """All batches, one after the other."""
        return np.concatenate(self.members(count))


@dataclass(frozen=True, kw_only=True)
class Irrelevant(Order):
    """The order that is fastest, for results that do not depend on it."""

    ranks: ClassVar[bool] = False

    def index(self, count: int, identifiers: Callable[[str], list[str]]) -> Codes:
        """As they are."""
        return np.arange(count, dtype=np.int64)
