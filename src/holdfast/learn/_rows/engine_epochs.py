"""Bolt-on SGD in parts: each part of the rows trains a model where it lies, and the models are averaged.

Averaging P models with weights m_p / m moves by at most max_p (m_p / m) Delta_p, because a changed record changes
one of them (soundness, section 1, "Partitioned runs"). That needs parts whose members and sizes do not depend on
values: here a row's part follows from its rank in a secret order, and sizes from the public count. Under add_remove
the weights themselves would move, so there rows are streamed instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel.sensitivity import rounding_slack
from holdfast.data._batch import Batch
from holdfast.data._order import Order
from holdfast.data._table import Partition
from holdfast.errors import DataError, require
from holdfast.learn._problem import Problem
from holdfast.learn._rows.engine_sums import LabelledRows
from holdfast.learn._rows.examples import Chunk, Examples
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency

if TYPE_CHECKING:
    from holdfast.learn._rows.table_examples import TableExamples


class KernelRun(Protocol):
    """What a bolt-on method asks of a run: how far a record moves its result, and the result, private before noise."""

    @property
    def l2_sensitivity(self) -> float:
        """How far one record moves the result."""

    @property
    def part_count(self) -> int:
        """Of how many parts the result is an average."""

    def train(self, examples: Any, source: Source) -> Floats:
        """The result."""


class PartRun(KernelRun, Protocol):
    """A run whose constants are all public (`bolt_on.Pass`), and which can be had for another number of records."""

    @property
    def problem(self) -> Problem:
        """What is minimised."""

    @property
    def adjacency(self) -> Adjacency:
        """Who is a neighbour of whom."""

    @property
    def records(self) -> int:
        """How many records there are."""

    @property
    def batch(self) -> int:
        """How many records a step sees."""

    @property
    def steps(self) -> Floats:
        """The step sizes."""


@dataclass(frozen=True, eq=False)
class InOrder(Examples):
    """Rows that have come in a secret order already, and keep it in every pass."""

    rows: list[Chunk]

    def shuffled(self, source: Any) -> Iterator[Chunk]:
        """As they came."""
        return iter(self.rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class PartKernel:
    """Trains one part, on whatever machine holds it; the encoded rows of the part are held in memory."""

    courses: Mapping[int, PartRun]
    rows: LabelledRows

    def __call__(self, batches: Iterator[Batch]) -> Floats:
        """The part's weights."""
        chunks = [self.rows.chunk(batch) for batch in batches]
        count = sum(len(labels) for _, labels in chunks)
        if count not in self.courses:
            raise DataError("a part must have one of the public sizes")
        return self.courses[count].train(InOrder(chunks), None)  # type: ignore[arg-type]  # draws nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class Averaged:
    """A course in `parts` parts of nearly equal size, and the average of what they give."""

    course: PartRun
    parts: int

    def __post_init__(self) -> None:
        most = self.course.records
        require(1 <= self.parts <= most, "parts", self.parts, f"in [1, {most}], the number of records")

    @property
    def part_count(self) -> int:
        """`parts`."""
        return self.parts

    @property
    def sizes(self) -> list[int]:
        """How many records each part has: known before any is read."""
        whole = self.course.records
        return [whole * (part + 1) // self.parts - whole * part // self.parts for part in range(self.parts)]

    @cached_property
    def courses(self) -> dict[int, PartRun]:
        """The course of each size."""
        courses: dict[int, PartRun] = {}
        for size in sorted(set(self.sizes)):
            smaller: Any = replace(self.course, records=size, batch=min(self.course.batch, size))  # type: ignore[type-var]
            courses[size] = smaller
        return courses

    @property
    def l2_sensitivity(self) -> float:
        """max_p (m_p / m) Delta_p, and once more what rounding may do, for the other parts and the average."""
        problem = self.course.problem
        moved, rounded = 0.0, 0.0
        for size, course in self.courses.items():
            moved = max(moved, course.l2_sensitivity * (size / self.course.records))
            slack = rounding_slack(
                course.steps,
                dimension=problem.weights,
                batch=course.batch + problem.predictions - 1,
                lipschitz=problem.lipschitz,
                smoothness=problem.smoothness,
                penalty=problem.penalty,
                radius=problem.radius,
            )
            rounded = max(rounded, slack)
        return moved * (1.0 + 2.0**-50) + rounded

    def train(self, examples: TableExamples, source: Source) -> Floats:
        """The average before noise, in one secret order that every pass keeps; private."""
        rows = examples.labelled
        partitions = examples.table.map_partitions(
            PartKernel(courses=self.courses, rows=rows),
            rows.columns,
            order=Order.shuffled(source),
            partitions=self.parts,
        )
        return self.average(partitions)

    def average(self, partitions: Sequence[Partition[Floats]]) -> Floats:
        """Weights m_p / m, added up exactly and rounded once."""
        if [part.rows for part in partitions] != self.sizes:
            raise DataError(
                f"public_count must be the number of rows, got public_count={self.course.records}; "
                "nothing was released"
            )
        scaled = np.array([part.value * (part.rows / self.course.records) for part in partitions])
        return np.array([math.fsum(column) for column in scaled.T])


def in_parts(course: PartRun, examples: Examples) -> KernelRun:
    """The course, averaged over parts where the engine runs kernels beside the rows; else as it is.

    The engine's number of parts is public: it is the caller's, or follows from the number of rows.
    """
    parts = examples.parts()
    if parts is None or not course.adjacency.count_is_public:
        return course
    return Averaged(course=course, parts=min(parts, course.records))
