"""Canaries for tables: records in joint cells where hardly anybody is, chosen from the schema alone.

A domain of several columns has far more cells than a table has rows, so a cell drawn uniformly is almost
surely empty but for its canary. Nothing is looked up in the data: the choice would be an unpaid release.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.audit._canaries.design import as_indices, random_words, stream_key
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.errors import require

Value = float | str | datetime.date | None
CELLS_STREAM = 0x43454C4C
"""The purpose of this stream of random words."""
LARGEST_LISTED_DOMAIN = 1 << 20
"""A domain of at most so many cells is listed and shuffled; a larger one is drawn from."""


@dataclass(frozen=True, kw_only=True)
class RareCells:
    """Records in m different cells of the declared domain, one in each.

    >>> from holdfast.data._schema import Categorical, Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 100, bins=10), Categorical("sex", ["F", "M"])])
    >>> cells = RareCells(schema=schema, count=3, seed=1)
    >>> cells.domain, len({tuple(code) for code in cells.codes([0, 1, 2]).tolist()})
    (20, 3)
    """

    schema: Schema
    count: int
    seed: int

    def __post_init__(self) -> None:
        require(self.seed >= 0, "seed", self.seed, ">= 0")
        require(
            1 <= self.count <= self.domain,
            "count",
            self.count,
            f"from 1 to the {self.domain} cells of the schema",
            "declare more columns or finer bins",
        )

    @property
    def domain(self) -> int:
        """How many joint cells a record of this schema can fall into."""
        return math.prod(len(values) for values in self._values)

    @cached_property
    def _values(self) -> tuple[dict[int, Value], ...]:
        return tuple(_cell_values(self.schema[name]) for name in self.schema.names)

    @property
    def public(self) -> Mapping[str, int | float | str]:
        """Design, number and seed; the schema is public, too."""
        return {"design": "rare cells", "count": self.count, "seed": self.seed}

    @cached_property
    def _codes(self) -> NDArray[np.int64]:
        sizes = tuple(len(values) for values in self._values)
        key = stream_key(self.seed, CELLS_STREAM)
        if self.domain <= LARGEST_LISTED_DOMAIN:
            listed = np.argsort(random_words(key, 0, self.domain), kind="stable")[: self.count]
            places = np.stack(np.unravel_index(listed, sizes), axis=1)
        else:
            places = _distinct(key, sizes, self.count)
        codes = [np.array(list(values), np.int64)[places[:, k]] for k, values in enumerate(self._values)]
        return np.stack(codes, axis=1)

    def codes(self, indices: ArrayLike) -> NDArray[np.int64]:
        """The cells of some canaries: one row each, one code for each column of `schema.names`."""
        return self._codes[as_indices(indices, self.count)]

    def records(self, indices: ArrayLike) -> dict[str, list[Value]]:
        """Some canaries as columns of values that fall into their cells: what is added to the table."""
        codes = self.codes(indices)
        named = zip(self.schema.names, self._values, strict=True)
        return {
            name: [values[code] for code in codes[:, k].tolist()] for k, (name, values) in enumerate(named)
        }

    def scores(
        self, counts: Mapping[tuple[int, ...], float], indices: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """What a released joint count says of each canary's cell; cells that are not listed count 0."""
        chosen = self.codes(np.arange(self.count) if indices is None else indices)
        return np.array([float(counts.get(tuple(code), 0.0)) for code in chosen.tolist()])


def _distinct(key: int, sizes: tuple[int, ...], count: int) -> NDArray[np.int64]:
    """So many different places in a domain too large to list, in the order of their first draw."""
    width, draws = len(sizes), 0
    places = np.empty((0, width), np.int64)
    while len(places) < count:
        fresh = random_words(key, draws * width, count * width).reshape(count, width)
        draws += count
        # The upper 32 bits times the size, divided by 2^32: uniform as far as anybody could see.
        codes = ((fresh >> np.uint64(32)) * np.array(sizes, np.uint64)) >> np.uint64(32)
        places = np.concatenate([places, codes.astype(np.int64)])
        _, first = np.unique(places, axis=0, return_index=True)
        places = places[np.sort(first)]
    return places[:count]


def _cell_values(column: Numeric | Categorical) -> dict[int, Value]:
    """For each cell of the column that a value can fall into, such a value."""
    return _numeric_values(column) if isinstance(column, Numeric) else _category_values(column)


def _numeric_values(column: Numeric) -> dict[int, Value]:
    last = len(column.edges) - 2
    values: dict[int, Value] = {}
    for code, (low, high) in enumerate(pairwise(column.edges)):
        value = float(math.ceil(low)) if column.integer else column.midpoints[code]
        # A bin of an integer column may hold no whole number at all: nothing ever falls into it.
        if value < high or (code == last and value == high):
            values[code] = column.stored_value(value)
    return values | ({column.cells - 1: None} if column.has_null_cell else {})


def _category_values(column: Categorical) -> dict[int, Value]:
    values: dict[int, Value] = dict(enumerate(column.labels))
    if len(column.declared_labels) <= column.null_code != column.other_code:
        values[column.null_code] = None  # a cell for missing values alone: its name is no value
    return values
