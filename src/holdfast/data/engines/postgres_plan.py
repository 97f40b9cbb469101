"""What the aggregate in the database is told, and what it answers: doubles in a fixed order.

A run of several passes may take several queries. Each gets a plan for its own passes, which counts steps from 1,
and starts where the one before ended (`Reached`), bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.errors import DataError, require
from holdfast.kernel.options import LOSSES, SgdOptions

Floats = NDArray[np.float64]
FORMAT = 20260101.0
"""The first number of a plan, as in holdfast_sgd.c."""
MOST_STEPS = 2**18
"""Steps that are written out in one statement; one pass is never divided."""
MOST_PASSES = 32
"""In one statement."""
_ANSWER = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Reached:
    """Where a run is: weights, the sum of the iterates that are averaged, and how much was done. Private."""

    weights: Floats
    average: Floats
    averaged: int = 0
    steps: int = 0
    rows: int = 0
    passes: int = 0

    @classmethod
    def start(cls, dimension: int, weights: ArrayLike | None = None) -> Reached:
        """Nothing done yet; from zero, or from public weights."""
        first = np.zeros(dimension) if weights is None else np.asarray(weights, dtype=np.float64)
        require(first.shape == (dimension,), "weights", f"of shape {first.shape}", f"{dimension} numbers")
        return cls(weights=first, average=np.zeros(dimension))

    def after(self, answer: ArrayLike | None) -> Reached:
        """With what one query answered."""
        made = np.asarray([] if answer is None else answer, dtype=np.float64)
        d = len(self.weights)
        if made.shape != (_ANSWER + 2 * d,):
            raise DataError("the database ran no pass: the table has no row")
        steps, rows, passes, averaged = (int(number) for number in made[:_ANSWER])
        return Reached(
            weights=made[_ANSWER : _ANSWER + d], average=made[_ANSWER + d :], averaged=averaged,
            steps=self.steps + steps, rows=self.rows + rows, passes=self.passes + passes,
        )  # fmt: skip

    def result(self) -> Floats:
        """The average, or the last iterate."""
        return self.average / self.averaged if self.averaged else self.weights


@dataclass(frozen=True, kw_only=True, eq=False)
class Passes:
    """So many passes over a public number of records."""

    options: SgdOptions
    passes: int
    records: int

    def __post_init__(self) -> None:
        require(self.passes >= 1, "passes", self.passes, ">= 1")
        require(self.records >= 1, "records", self.records, ">= 1")
        given = self.steps.size
        wanted = self.passes * self.batches
        require(given == wanted, "steps", f"{given} numbers", f"{wanted} numbers, one for each batch")

    @cached_property
    def steps(self) -> Floats:
        """The step of every batch of every pass."""
        options = self.options
        if options.steps is not None:
            return options.steps
        assert options.step_size is not None
        return options.step_size.first(self.passes * self.batches)

    @property
    def batches(self) -> int:
        """Of one pass, the short last one included."""
        return math.ceil(self.records / self.options.batch)

    def portions(self) -> Iterator[int]:
        """How many passes each statement makes: few enough for its steps to be written out."""
        room = max(1, min(MOST_PASSES, MOST_STEPS // self.batches))
        for first in range(0, self.passes, room):
            yield min(room, self.passes - first)

    def plan(self, reached: Reached, passes: int) -> bytes:
        """The next passes, from where the run is."""
        options, before = self.options, reached.steps
        steps = self.steps[before : before + passes * self.batches]
        cap = 1.0
        if bool(np.all(steps == steps[0])):  # one number says it all
            cap, steps = float(steps[0]), np.empty(0)
        average_from = max(1, options.average_from - before) if options.average_from else 0
        header = [
            FORMAT, options.dimension, options.batch, LOSSES[options.loss], options.width, options.label_bound,
            options.row_norm, options.penalty, options.radius, cap, math.inf, 0.0, average_from,
            reached.averaged, float(reached.passes > 0), steps.size,
        ]  # fmt: skip
        return np.concatenate([header, reached.weights, reached.average, steps]).astype("<f8").tobytes()

    def check(self, reached: Reached) -> None:
        """Refuse a run that saw another number of rows than is public."""
        wanted = (self.passes * self.batches, self.passes * self.records, self.passes)
        if (reached.steps, reached.rows, reached.passes) != wanted:
            raise DataError(
                f"public_count must be the number of rows, got public_count={self.records}; nothing was released"
            )
