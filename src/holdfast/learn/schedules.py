"""Step sizes of permutation SGD, all of them functions of public numbers (seed 001, section 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Course:
    """What a schedule may look at: t counts batches, never records.

    `cap` is the largest step with a contraction proof: 1/(smoothness + penalty), or for an unpenalised risk
    2/smoothness (soundness, section 1). `offset` is m^c of the decreasing schedules.
    """

    steps: int
    records: int
    smoothness: float
    penalty: float
    cap: float
    step: float | None = None
    offset_power: float = 0.5

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, ">= 1")
        require(0 < self.cap < math.inf, "cap", self.cap, "> 0 and finite")
        allowed = self.step is None or 0 < self.step <= self.cap * (1 + 1e-12)
        require(
            allowed,
            "step",
            self.step,
            f"in (0, {self.cap:g}], the largest step with a proof for this problem",
        )
        require(0 <= self.offset_power < 1, "offset_power", self.offset_power, "in [0, 1)")

    @property
    def times(self) -> Floats:
        """1, 2, ..., T."""
        return np.arange(1, self.steps + 1, dtype=np.float64)

    @property
    def largest(self) -> float:
        """The step asked for, or the cap."""
        return self.cap if self.step is None else min(self.step, self.cap)


class Schedule(Protocol):
    """All steps of a course."""

    def __call__(self, course: Course) -> Floats:
        """One step for each batch of each pass."""


def constant(course: Course) -> Floats:
    """The same step throughout; for one pass over m records 1/sqrt(m) is the textbook choice (001, Algorithm 1).

    >>> constant(Course(steps=2, records=100, smoothness=0.25, penalty=0.0, cap=8.0)).tolist()
    [0.1, 0.1]
    """
    step = 1.0 / math.sqrt(course.records) if course.step is None else course.step
    return np.full(course.steps, min(step, course.cap))


def decreasing(course: Course) -> Floats:
    """2 / (smoothness (t + m^c)) (001, Corollary 3.7)."""
    offset = float(course.records) ** course.offset_power
    return np.asarray(np.minimum(course.largest, 2.0 / (course.smoothness * (course.times + offset))))


def square_root(course: Course) -> Floats:
    """2 / (smoothness (sqrt(t) + m^c)) (001, Corollary 3.8)."""
    offset = float(course.records) ** course.offset_power
    steps = 2.0 / (course.smoothness * (np.sqrt(course.times) + offset))
    return np.asarray(np.minimum(course.largest, steps))


def strongly_convex(course: Course) -> Floats:
    """min(1/beta, 1/(penalty t)) (001, Algorithm 2)."""
    require(
        course.penalty > 0, "penalty", course.penalty, "> 0 for schedule='strongly_convex'",
        "use schedule='constant'",
    )  # fmt: skip
    return np.asarray(np.minimum(course.largest, 1.0 / (course.penalty * course.times)))


SCHEDULES: Mapping[str, Schedule] = {
    "constant": constant,
    "decreasing": decreasing,
    "square_root": square_root,
    "strongly_convex": strongly_convex,
}
