"""CodedRows: synthetic records as cell codes, countable like a table. Public."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedRows:
    """One row per record and one column per column of the domain.

    >>> rows = CodedRows(domain={"a": 2, "b": 3}, codes=np.array([[0, 2], [1, 2], [1, 0]]))
    >>> rows(["a"]).tolist(), rows(["b", "a"]).tolist()
    ([1.0, 2.0], [[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    """

    domain: Mapping[str, int]
    codes: Codes

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", np.ascontiguousarray(self.codes, dtype=np.int64))
        sizes = np.array(list(self.domain.values()))
        flat = self.codes.ndim == 2 and self.codes.shape[1] == len(sizes)
        require(flat, "codes", self.codes.shape, f"rows of {len(sizes)} codes")
        inside = bool(np.all((self.codes >= 0) & (self.codes < sizes)))
        require(inside, "codes", "...", "codes inside the domain")

    def __len__(self) -> int:
        return len(self.codes)

    def __call__(self, columns: Sequence[str]) -> Floats:
        """The joint count of some columns."""
        shape = tuple(self.domain[name] for name in columns)
        if not shape:
            return np.array(float(len(self)))
        place = {name: column for column, name in enumerate(self.domain)}
        cells = np.ravel_multi_index(tuple(self.codes[:, place[name]] for name in columns), shape)
        counts = np.bincount(cells, minlength=int(np.prod(shape, dtype=np.int64)))
        return counts.reshape(shape).astype(np.float64)

    def fingerprint(self) -> str:
        """A hash of the records: what was certified is told from what was not."""
        head = repr([list(self.domain.items()), self.codes.shape]).encode()
        return hashlib.sha256(head + self.codes.astype("<i8").tobytes()).hexdigest()
