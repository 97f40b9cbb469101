"""Potential: V = k [f + (penalty/2)|x|^2] over rows that are read once and stored in memory. Private."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel.bregman import BregmanGaps, SamplerRows, bregman_gaps
from holdfast.learn._problem import Problem
from holdfast.learn._risk.risk import Risk
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import ArrayExamples, Examples

BLOCK = 2_048


@dataclass(frozen=True, kw_only=True, eq=False)
class Potential:
    """f is the sum of losses over `divisor`, the public number of rows.

    `rows` are within the declared norm; their losses are convex, with second derivatives of at most the problem's.
    """

    rows: ArrayExamples
    problem: Problem
    inverse_temperature: float
    penalty: float

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self.problem.dimension

    @property
    def divisor(self) -> float:
        """The divisor of the sum of losses."""
        return float(self.rows.public_count)

    @property
    def weight(self) -> float:
        """k / divisor: the weight of one row's loss in V."""
        return self.inverse_temperature / self.divisor

    @cached_property
    def gaps(self) -> BregmanGaps:
        """The rows in the form that the compiled kernel takes."""
        loss = self.problem.loss
        rows = SamplerRows.of_arrays(
            self.rows.features, self.rows.labels, loss=loss.name, width=loss.corner_width
        )
        return bregman_gaps(rows)

    @property
    def risk(self) -> Risk:
        """f + (penalty/2)|x|^2, for the certified solver."""
        return Risk(examples=self.rows, problem=self.problem, penalty=self.penalty, divisor=self.divisor)

    def gradient(self, at: Floats) -> tuple[Floats, Floats]:
        """The gradient of f, and the rows' predictions."""
        total, predictions = self.gaps.gradient(at)
        return total / self.divisor, predictions

    def values(self, points: Floats) -> Floats:
        """f at each of these points, one in each row."""
        total = np.zeros(len(points))
        for start in range(0, len(self.rows.labels), BLOCK):
            x, y = self.rows.features[start : start + BLOCK], self.rows.labels[start : start + BLOCK]
            total += self.problem.loss.values(x @ points.T, y[:, None]).sum(axis=0)
        return total / self.divisor

    def second_moment(self) -> Floats:
        """Curvature bound times sum of x x^T over the divisor: no second derivative of f is above it."""
        total = np.zeros((self.dimension, self.dimension))
        for start in range(0, len(self.rows.labels), BLOCK):
            x = self.rows.features[start : start + BLOCK]
            total += x.T @ x
        return total * (self.problem.loss.curvature / self.divisor)


def rows_in_memory(examples: Examples, problem: Problem) -> ArrayExamples:
    """All rows in memory, clipped once more; rows of an array are not copied."""
    if isinstance(examples, ArrayExamples):
        rows, labels = clip_chunk((examples.features, examples.labels), problem)
        return dataclasses.replace(examples, features=rows, labels=labels)
    parts = [clip_chunk(chunk, problem) for chunk in examples.chunks()]
    none = np.empty((0, problem.dimension)), np.empty(0)
    features, labels = (np.concatenate(part) for part in zip(none, *parts, strict=True))
    return ArrayExamples(
        features=features,
        labels=labels,
        adjacency=examples.adjacency,
        public_count=examples.public_count,
        unit=examples.unit,
    )
