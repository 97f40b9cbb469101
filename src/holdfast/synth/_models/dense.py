"""Models that hold their distribution explicitly: over the whole universe, or over records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.noise._uniform import permutation
from holdfast.synth._models.product import round_to_counts

#: The most possible records for which a weight vector is held.
MOST_UNIVERSE_CELLS = 10_000_000


def universe_size(domain: Mapping[str, int]) -> int:
    """The number of possible records."""
    return math.prod(domain.values())


def flat_cells(codes: Codes, domain: Mapping[str, int], columns: Sequence[str]) -> Codes:
    """The cell of a joint count in which each record falls, as one number.

    >>> flat_cells(np.array([[1, 2], [0, 1]]), {"a": 2, "b": 3}, ("b", "a")).tolist()
    [5, 2]
    """
    order = {name: place for place, name in enumerate(domain)}
    cells = np.zeros(len(codes), dtype=np.int64)
    for name in columns:
        cells *= domain[name]
        cells += codes[:, order[name]]
    return cells


def _check_domain(domain: Mapping[str, int], total: float) -> None:
    require(
        bool(domain) and all(cells >= 1 for cells in domain.values()),
        "domain",
        dict(domain),
        "at least one column, each of at least one cell",
    )
    require(math.isfinite(total) and total >= 0, "total", total, ">= 0 and finite")


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseModel:
    """A weight for every possible record, for universes of at most ten million.

    >>> model = DenseModel(domain={"a": 2, "b": 2}, weights=np.array([1.0, 1.0, 1.0, 3.0]), total=12.0)
    >>> model.project(("b",)).tolist()
    [4.0, 8.0]
    """

    domain: Mapping[str, int]
    weights: Floats
    """In the order of the domain's cells; they need not sum to one."""
    total: float

    def __post_init__(self) -> None:
        _check_domain(self.domain, self.total)
        size = universe_size(self.domain)
        require(
            size <= MOST_UNIVERSE_CELLS,
            "domain",
            size,
            f"a universe of at most {MOST_UNIVERSE_CELLS} records",
        )
        weights = np.asarray(self.weights, dtype=np.float64).reshape(-1)
        require(
            weights.size == size, "weights.size", weights.size, f"one for each of the {size} possible records"
        )
        good = bool(np.all(np.isfinite(weights)) and np.all(weights >= 0)) and float(weights.sum()) > 0
        require(good, "weights", "some negative, or all zero", ">= 0 with a positive sum")
        object.__setattr__(self, "weights", weights / weights.sum())

    def project(self, columns: Sequence[str]) -> Floats:
        """Sums over the other axes."""
        return marginal_sums(self.weights, self.domain, columns) * self.total

    def sample(self, rows: int, source: Source) -> Codes:
        """Controlled rounding of the expected counts, in random order."""
        counts = round_to_counts(self.weights, rows, source)
        cells = np.repeat(np.arange(counts.size), counts)[permutation(source, rows)]
        return np.column_stack(np.unravel_index(cells, tuple(self.domain.values()))).astype(np.int64)


def marginal_sums(weights: Floats, domain: Mapping[str, int], columns: Sequence[str]) -> Floats:
    """A vector over the whole universe, summed down to some columns, in their order."""
    names = list(domain)
    cube = weights.reshape(tuple(domain.values()))
    axes = [names.index(name) for name in columns]
    table = cube.sum(axis=tuple(place for place in range(len(names)) if place not in axes))
    order = sorted(axes)
    return np.array(np.transpose(table, [order.index(place) for place in axes]), order="C")


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsModel:
    """Records with weights; without weights, plain synthetic rows."""

    domain: Mapping[str, int]
    codes: Codes
    total: float
    weights: Floats = field(default_factory=lambda: np.ones(0))
    """One per record; left out, all are equal."""

    def __post_init__(self) -> None:
        _check_domain(self.domain, self.total)
        codes = np.asarray(self.codes, dtype=np.int64)
        width = len(self.domain)
        require(
            codes.ndim == 2 and codes.shape[1] == width and len(codes) > 0,
            "codes.shape",
            codes.shape,
            f"(records, {width}), at least one record",
        )
        inside = np.all((codes >= 0) & (codes < np.array(list(self.domain.values()))))
        require(bool(inside), "codes", "some outside", "cells of the domain")
        weights = np.asarray(self.weights, dtype=np.float64).reshape(-1)
        weights = np.ones(len(codes)) if weights.size == 0 else weights
        require(
            weights.size == len(codes), "weights.size", weights.size, f"one for each of {len(codes)} records"
        )
        good = bool(np.all(np.isfinite(weights)) and np.all(weights >= 0)) and float(weights.sum()) > 0
        require(good, "weights", "some negative, or all zero", ">= 0 with a positive sum")
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "weights", weights / weights.sum())

    def project(self, columns: Sequence[str]) -> Floats:
        """Weighted counts of the records."""
        shape = tuple(self.domain[name] for name in columns)
        cells = flat_cells(self.codes, self.domain, columns)
        counts = np.bincount(cells, weights=self.weights, minlength=math.prod(shape))
        return np.asarray(counts.reshape(shape) * self.total)

    def sample(self, rows: int, source: Source) -> Codes:
        """Each record as often as its weight says, rounded in the order of the records' codes."""
        order = np.lexsort(self.codes.T[::-1])
        counts = round_to_counts(self.weights[order], rows, source)
        chosen = np.repeat(order, counts)[permutation(source, rows)]
        return np.ascontiguousarray(self.codes[chosen])
