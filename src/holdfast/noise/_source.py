"""Source: the stream of random bits that every draw takes.

A release draws from the operating system. A seed is for tests and figures only: what is drawn from it can be repeated
and is therefore not private, and `provenance` says so.
"""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, checked
from holdfast._ranges import MOST_DRAWS, require_whole

Provenance = Literal["secure", "seeded"]
WORD = 64
"""Bits of a word."""
CHUNK = 1 << 16
"""The most words that are drawn at once, so that little memory is needed besides the result."""


@checked
class Source:
    """A stream of random bytes: secure by default, reproducible when given a seed.

    >>> Source().provenance
    'secure'
    >>> Source(seed=7).words(2).tolist() == Source(seed=7).words(2).tolist()
    True
    """

    def __init__(self, seed: Seed | None = None) -> None:
        self._stream = None if seed is None else np.random.Generator(np.random.PCG64(seed))

    @property
    def provenance(self) -> Provenance:
        """Either "secure", or "seeded" for noise that can be repeated and so protects nobody."""
        return "secure" if self._stream is None else "seeded"

    def bytes(self, count: int) -> bytes:
        """`count` random bytes."""
        require_whole("count", count, most=8 * MOST_DRAWS)
        return os.urandom(count) if self._stream is None else self._stream.bytes(count)

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` uniform 64-bit words."""
        return np.frombuffer(self.bytes(8 * int(count)), dtype="<u8").astype(np.uint64)

    def words_of(self, records: NDArray[np.int64]) -> NDArray[np.uint64]:
        """One uniform 64-bit word for each of these records, which are given by their positions in the table.

        This is the same law as `words`. A replay of a release on a neighbouring table overrides it and gives each
        record a stream of its own, so that leaving a record out changes no draw of the others (soundness, section 22).
        """
        return self.words(len(records))

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Source is never copied or stored: a state used twice is noise used twice")
