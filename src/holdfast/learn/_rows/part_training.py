"""Bolt-on SGD in parts: a model is trained on each part of the rows, where the part lies, and the models are averaged.

One record changes one of the P models. So their average with weights m_p / m changes by at most max_p (m_p / m) Delta_p
(soundness, section 1, "Partitioned runs"), where neither the sizes of parts nor their members depend on the rows'
values: a row's part follows from its rank in a secret order, and sizes follow from the public number of rows. Under
add_remove one row would change the sizes, so there all rows are read in one stream and train one model.
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


class TrainingRun(Protocol):
    """A training run without noise: its result, which is private, and how much one record can change it."""

    @property
    def l2_sensitivity(self) -> float:
        """The largest L2 distance between results where one record differs."""

    @property
    def part_count(self) -> int:
        """The number of models that the result is an average of."""

    def train(self, examples: Any, source: Source) -> Floats:
        """The trained weights."""


class PublicRun(TrainingRun, Protocol):
    """A frozen dataclass of public constants (`bolt_on.SgdPlan`), which can be copied for a smaller part."""

    @property
    def problem(self) -> Problem:
        """The loss, the penalty and the norms."""

    @property
    def adjacency(self) -> Adjacency:
        """Which tables are neighbours."""

    @property
    def records(self) -> int:
        """The number of records."""

    @property
    def batch(self) -> int:
        """The number of records in a step."""

    @property
    def steps(self) -> Floats:
        """The step sizes."""


@dataclass(frozen=True, eq=False)
class OrderedExamples(Examples):
    """Rows that were shuffled before, and that every pass reads in the same order."""

    rows: list[Chunk]

    def shuffled_chunks(self, source: Any) -> Iterator[Chunk]:
        """The rows in the order that they have."""
        return iter(self.rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class PartTrainer:
    """The function that trains the model of one part, on the machine that holds the part's rows, in its memory."""

    run_by_size: Mapping[int, PublicRun]
    rows: LabelledRows

    def __call__(self, batches: Iterator[Batch]) -> Floats:
        """The weights of the part's model."""
        chunks = [self.rows.chunk(batch) for batch in batches]
        count = sum(len(labels) for _, labels in chunks)
        if count not in self.run_by_size:
            raise DataError("a part must have one of the public sizes")
        return self.run_by_size[count].train(OrderedExamples(chunks), None)  # type: ignore[arg-type]  # draws nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class AveragedRuns:
    """A run on each of `parts` parts of nearly equal size, and the average of their weights."""

    run: PublicRun
    parts: int

    def __post_init__(self) -> None:
        most = self.run.records
        require(1 <= self.parts <= most, "parts", self.parts, f"in [1, {most}], the number of records")

    @property
    def part_count(self) -> int:
        """The number of parts."""
        return self.parts

    @property
    def sizes(self) -> list[int]:
        """The public number of records in each part."""
        total = self.run.records
        return [total * (part + 1) // self.parts - total * part // self.parts for part in range(self.parts)]

    @cached_property
    def run_by_size(self) -> dict[int, PublicRun]:
        """The run for a part of each size."""
        run_by_size: dict[int, PublicRun] = {}
        for size in sorted(set(self.sizes)):
            smaller: Any = replace(self.run, records=size, batch=min(self.run.batch, size))  # type: ignore[type-var]
            run_by_size[size] = smaller
        return run_by_size

    @property
    def l2_sensitivity(self) -> float:
        """max_p (m_p / m) Delta_p, and a bound on the rounding errors of the other parts and of the average."""
        problem = self.run.problem
        change, rounding = 0.0, 0.0
        for size, run in self.run_by_size.items():
            change = max(change, run.l2_sensitivity * (size / self.run.records))
            slack = rounding_slack(
                run.steps,
                dimension=problem.weights,
                batch=run.batch + problem.predictions - 1,
                lipschitz=problem.lipschitz,
                smoothness=problem.smoothness,
                penalty=problem.penalty,
                radius=problem.radius,
            )
            rounding = max(rounding, slack)
        return change * (1.0 + 2.0**-50) + rounding

    def train(self, examples: TableExamples, source: Source) -> Floats:
        """The averaged weights without noise; private. All passes read the rows in one secret order."""
        rows = examples.labelled_rows
        partitions = examples.table.map_partitions(
            PartTrainer(run_by_size=self.run_by_size, rows=rows),
            rows.columns,
            order=Order.permutation(source),
            partitions=self.parts,
        )
        return self.average(partitions)

    def average(self, partitions: Sequence[Partition[Floats]]) -> Floats:
        """The sum of the parts' results times m_p / m, computed exactly and rounded once."""
        if [part.rows for part in partitions] != self.sizes:
            raise DataError(
                f"public_count must be the number of rows, got public_count={self.run.records}; "
                "nothing was released"
            )
        scaled = np.array([part.value * (part.rows / self.run.records) for part in partitions])
        return np.array([math.fsum(column) for column in scaled.T])


def average_over_parts(run: PublicRun, examples: Examples) -> TrainingRun:
    """The run, averaged over parts where the engine can train on the machines that hold them; else the run itself.

    The engine's number of parts is public: the caller chose it, or it follows from the number of rows.
    """
    parts = examples.engine_part_count()
    if parts is None or not run.adjacency.count_is_public:
        return run
    return AveragedRuns(run=run, parts=min(parts, run.records))
