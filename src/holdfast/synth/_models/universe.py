"""Universe: the records that a weight vector runs over, all of them or a public sample."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.errors import require
from holdfast.synth._models.dense import (
    MOST_UNIVERSE_CELLS,
    DenseModel,
    RowsModel,
    flat_cells,
    marginal_sums,
    universe_size,
)
from holdfast.synth._models.shared_sums import SharedTable, shared_tables, summed_together
from holdfast.synth._workload.workload import AnswerVector

SHARED_FROM = 2**14
"""Up to so many points each table is summed by itself: a shared table would be as large as the universe."""


class Universe(ABC):
    """Points, each a record, that a distribution gives weights to. Answers of a workload are linear in the weights."""

    domain: Mapping[str, int]
    _planned: tuple[AnswerVector, tuple[SharedTable, ...]] | None = None

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of points; a record that appears twice counts twice."""

    @abstractmethod
    def values(self, columns: Sequence[str], table: Floats) -> Floats:
        """The values at every point of a function of some columns, given as a table over their cells."""

    @abstractmethod
    def project(self, probabilities: Floats, columns: Sequence[str]) -> Floats:
        """The joint distribution of some columns."""

    @abstractmethod
    def model(self, probabilities: Floats, total: float) -> DenseModel | RowsModel:
        """The model of `total` records with these probabilities."""

    @property
    def log_size(self) -> float:
        """ln |X|, at least ln 2: step sizes depend on it."""
        return math.log(max(2, self.size))

    def uniform(self) -> Floats:
        """Equal probabilities."""
        return np.full(self.size, 1.0 / self.size)

    def answers(self, probabilities: Floats, layout: AnswerVector) -> Floats:
        """The answers of all queries; where there are many points, through sums that several queries share."""
        if self.size <= SHARED_FROM:
            return layout.answers_of(lambda columns: self.project(probabilities, columns))
        if self._planned is None or self._planned[0] is not layout:
            self._planned = (layout, shared_tables(self.domain, layout.columns))
        sums = summed_together(
            lambda columns: self.project(probabilities, columns), self.domain, self._planned[1]
        )
        return layout.answers_of(sums.__getitem__)


class AllCells(Universe):
    """Every possible record, where there are at most ten million.

    >>> AllCells({"a": 2, "b": 3}).values(("b",), np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
    """

    def __init__(self, domain: Mapping[str, int], *, most_cells: int = MOST_UNIVERSE_CELLS) -> None:
        self.domain = dict(domain)
        require(
            self.size <= most_cells,
            "domain",
            self.size,
            f"a universe of at most {most_cells} records",
            "use a sampled support",
        )

    @property
    def size(self) -> int:
        """The product of the domain."""
        return universe_size(self.domain)

    def values(self, columns: Sequence[str], table: Floats) -> Floats:
        """The table, broadcast along the axes of the other columns."""
        names = list(self.domain)
        places = [names.index(name) for name in columns]
        order = sorted(range(len(places)), key=places.__getitem__)
        shape = [self.domain[name] if name in columns else 1 for name in names]
        turned = np.transpose(np.asarray(table, dtype=np.float64), order).reshape(shape)
        return np.broadcast_to(turned, tuple(self.domain.values())).reshape(-1)

    def project(self, probabilities: Floats, columns: Sequence[str]) -> Floats:
        """Sums over the other axes."""
        return marginal_sums(probabilities, self.domain, columns)

    def model(self, probabilities: Floats, total: float) -> DenseModel:
        """A weight for every possible record."""
        return DenseModel(domain=self.domain, weights=probabilities, total=total)


class SampledSupport(Universe):
    """Records given in advance, from public or released values only; all other records have probability 0.

    Privacy does not depend on which records they are (soundness, section 9, large domains, iii); accuracy does.
    """

    def __init__(self, domain: Mapping[str, int], codes: Codes) -> None:
        self.domain = dict(domain)
        self.codes = np.asarray(codes, dtype=np.int64)
        require(len(self.codes) > 0, "codes", 0, "at least one record")
        self._cells: dict[tuple[str, ...], Codes] = {}

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.codes)

    def cells(self, columns: Sequence[str]) -> Codes:
        """The cell of each record in the joint table of some columns, cached between rounds."""
        key = tuple(columns)
        if key not in self._cells:
            self._cells[key] = flat_cells(self.codes, self.domain, key).astype(np.int32)
        return self._cells[key]

    def values(self, columns: Sequence[str], table: Floats) -> Floats:
        """The table at the cell of each record."""
        return np.asarray(table, dtype=np.float64).reshape(-1)[self.cells(columns)]

    def project(self, probabilities: Floats, columns: Sequence[str]) -> Floats:
        """Counts of the records, weighted by their probabilities."""
        shape = tuple(self.domain[name] for name in columns)
        table = np.bincount(self.cells(columns), weights=probabilities, minlength=math.prod(shape))
        return np.asarray(table.reshape(shape))

    def model(self, probabilities: Floats, total: float) -> RowsModel:
        """The records with their probabilities as weights."""
        return RowsModel(domain=self.domain, codes=self.codes, weights=probabilities, total=total)
