"""ProductModel: columns independent of each other, each with its own distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.noise._uniform import permutation


@dataclass(frozen=True, kw_only=True, eq=False)
class ProductModel:
    """A distribution for each column, and the number of records that the model describes.

    >>> model = ProductModel(columns={"a": [1, 1], "b": [3, 1]}, total=8.0)
    >>> model.project(["b", "a"]).tolist()
    [[3.0, 3.0], [1.0, 1.0]]
    """

    columns: Mapping[str, Sequence[float] | Floats]
    total: float

    def __post_init__(self) -> None:
        require(math.isfinite(self.total) and self.total > 0, "total", self.total, "> 0 and finite")
        shares = {}
        for name, weights in self.columns.items():
            array = np.asarray(weights, dtype=np.float64)
            good = array.ndim == 1 and array.size > 0 and bool(np.all(array >= 0)) and array.sum() > 0
            require(good, "columns", name, "vectors of weights >= 0 that do not all vanish")
            shares[name] = array / array.sum()
        object.__setattr__(self, "columns", shares)

    @classmethod
    def uniform(cls, domain: Mapping[str, int], *, total: float) -> ProductModel:
        """The model in which all records are equally likely."""
        return cls(columns={name: np.ones(cells) for name, cells in domain.items()}, total=total)

    @property
    def domain(self) -> dict[str, int]:
        """Columns with their numbers of cells."""
        return {name: len(weights) for name, weights in self.columns.items()}

    def project(self, columns: Sequence[str]) -> Floats:
        """The outer product of the columns' distributions, times the total."""
        table = np.array(self.total)
        for name in columns:
            table = np.multiply.outer(table, self.columns[name])
        return table

    def sample(self, rows: int, source: Source) -> Codes:
        """Records with each column's counts within one of their expectation; every column is shuffled by itself."""
        require(rows >= 0, "rows", rows, ">= 0")
        drawn = [
            np.repeat(np.arange(len(weights)), round_to_counts(np.asarray(weights), rows, source))[
                permutation(source, rows)
            ]
            for weights in self.columns.values()
        ]
        return np.stack(drawn, axis=1).astype(np.int64)


def round_to_counts(weights: Floats, rows: int, source: Source) -> Codes:
    """Whole counts that sum to `rows`, each within one of its expectation and unbiased.

    Systematic sampling: the running sum of the expected counts, moved by one uniform offset, is rounded down; the
    counts are its differences.

    >>> round_to_counts(np.array([0.5, 0.25, 0.25]), 4, Source(seed=1)).tolist()
    [2, 1, 1]
    """
    expected = np.cumsum(weights / weights.sum()) * rows
    offset = float(source.words(1)[0]) * 2.0**-64
    passed = np.minimum(np.floor(expected + offset), rows)
    passed[-1] = rows
    return np.diff(passed, prepend=0.0).astype(np.int64)
