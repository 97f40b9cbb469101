"""Where random bits come from.

A release draws from the operating system. A seed exists for tests and figures only: whatever
was drawn from it is reproducible and therefore not private, and `provenance` says so.
"""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import MOST_DRAWS, Seed, checked, require_whole

Provenance = Literal["secure", "seeded"]
WORD = 64
"""Bits of a word."""
CHUNK = 1 << 16
"""Words that are drawn at once, so that memory does not grow beyond the result."""


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
        """`secure` or `seeded`: the one field that says whether the noise can protect anybody."""
        return "secure" if self._stream is None else "seeded"

    def bytes(self, count: int) -> bytes:
        """So many random bytes: `count` of them."""
        require_whole("count", count, most=8 * MOST_DRAWS)
        return os.urandom(count) if self._stream is None else self._stream.bytes(count)

    def words(self, count: int) -> NDArray[np.uint64]:
        """So many uniform 64-bit words: `count` of them."""
        return np.frombuffer(self.bytes(8 * int(count)), dtype="<u8").astype(np.uint64)

    def words_of(self, records: NDArray[np.int64]) -> NDArray[np.uint64]:
        """One word for each of these records, named by their places in the table, that belongs to it alone.

        In law nothing but `words`. A replay on a neighbouring table gives each record a stream of its own here, so
        that a record that is gone takes its own coins with it and no others (soundness, section 22).
        """
        return self.words(len(records))

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Source is never copied or stored: a state used twice is noise used twice")
