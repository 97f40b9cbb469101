"""Second moments of clipped rows and labels, which are all that linear regression needs of the data; in one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Squared
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import Examples


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Sums over all rows, without noise; private."""

    gram: Floats
    """The sum of x x^T."""
    cross: Floats
    """The sum of y x, labels clipped."""


def second_moments(examples: Examples, problem: Problem, *, target_bound: float) -> Moments:
    """The sums of x x^T and of y x over all rows, rows and labels clipped to their bounds; 0 for an empty table."""
    engine = examples.sums(problem)
    if engine is not None:
        return Moments(gram=engine.gram(), cross=engine.cross(target_bound))
    gram = np.zeros((examples.dimension, examples.dimension))
    cross = np.zeros(examples.dimension)
    for features, labels in (clip_chunk(chunk, problem) for chunk in examples.chunks()):
        gram += features.T @ features
        cross += features.T @ np.clip(labels, -target_bound, target_bound)
    return Moments(gram=gram, cross=cross)


def squared_loss(problem: Problem) -> Squared:
    """The problem's loss, checked to be the squared loss."""
    loss = problem.loss
    require(isinstance(loss, Squared), "loss", loss.name, "squared")
    assert isinstance(loss, Squared), "required above"
    return loss
