"""The whole fit: histograms, main shapes, pairs, shrinkage, a last descent, calibration.

Shares of mu^2 are public and add up to one. What a phase is told, features, floors, clipping norms, which columns
pair, follows from released values; so the fit is adaptive composition of Gaussian mechanisms (soundness, sections 19
and 24).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernel.lookup import CellPlan, Loss
from holdfast.learn.additive.basis import column_features, principal_axes
from holdfast.learn.additive.calibration import calibrate_scores
from holdfast.learn.additive.cell_rows import CellRows
from holdfast.learn.additive.descent import AdditiveTask, Descent, descend
from holdfast.learn.additive.design import AdditiveDesign, whitened
from holdfast.learn.additive.histograms import Histograms, release_histograms
from holdfast.learn.additive.pairs import levels_of, pair_axes, pair_capacity, pair_levels, paired_columns
from holdfast.learn.risk.descent import gaussian_square
from holdfast.learn.rows.examples import one_thread
from holdfast.privacy.account import Account
from holdfast.privacy.mechanisms.mechanism import Arithmetic

Floats = NDArray[np.float64]
THEOREM = (
    "Additive model: composed Gaussian mechanisms, histograms and gradients that are clipped record by record "
    "(soundness, section 24)"
)
HISTOGRAMS, CALIBRATION = Fraction(8, 100), Fraction(3, 100)
MAINS, JOINT = Fraction(30, 100), Fraction(30, 100)
"""Of what phases have; of what is left after the mains."""
MAIN_STEPS, JOINT_STEPS, FINAL_STEPS = 8, 8, 16
LEAST_ENERGY = 0.01
"""Axes are never shrunk to nothing: what the joint phase did not see, the last one may."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveFit:
    """Released tables: what each cell of each column and pair adds to the scores, (cells, K)."""

    constant: Floats
    shapes: tuple[Floats, ...]
    pairs: tuple[tuple[int, int], ...]
    levels: tuple[NDArray[np.uint8], ...]
    pair_shapes: tuple[Floats, ...]
    pair_levels: int
    shares: tuple[Floats, ...]
    parameters: dict[str, float | int]


def fit_additive(
    rows: CellRows,
    *,
    loss: Loss,
    outputs: int,
    account: Account,
    interactions: bool = True,
    unpaired: frozenset[int] = frozenset(),
    arithmetic: Arithmetic = "strict",
) -> AdditiveFit:
    """Spend all that remains in the account. Columns in `unpaired` stay out of pairs."""
    square = gaussian_square(account.remaining())
    classifier = loss != "squared"
    descents = square * (1 - HISTOGRAMS - (CALIBRATION if classifier else 0))
    with one_thread():
        seen = release_histograms(
            rows, account, square=square * HISTOGRAMS, arithmetic=arithmetic, numbers=not classifier
        )
        moved = account.adjacency.gradient_factor * account.unit.max_rows
        task = AdditiveTask(
            rows=rows, loss=loss, outputs=outputs, account=account, count=seen.rows,
            signal=max(math.sqrt(square) * seen.rows / moved, 1e-3), arithmetic=arithmetic,
            mean_square=seen.mean_square, square_noise=seen.square_noise,
        )  # fmt: skip
        design, found, levels = _phases(task, seen, descents, interactions=interactions, unpaired=unpaired)
        scale, shift = 1.0, np.zeros(outputs)
        if classifier:
            scale, shift = calibrate_scores(task, design, found.weights, square=square * CALIBRATION)
    values = design.values(scale * found.weights)
    columns = len(rows.cells)
    return AdditiveFit(
        constant=scale * found.weights[:, 0] + shift, shapes=tuple(values[:columns]), pairs=design.plan.pairs,
        levels=levels, pair_shapes=tuple(values[columns:]), pair_levels=pair_levels(task.count), shares=seen.shares,
        parameters={
            "effective_dimension": design.effective_dimension, "dimension": design.dimension,
            "pairs": len(design.plan.pairs), "pair_levels": pair_levels(task.count), "scale": scale,
            "clip": found.clip, "steps": FINAL_STEPS,
        },
    )  # fmt: skip


def _phases(
    task: AdditiveTask, seen: Histograms, square: Fraction, *, interactions: bool, unpaired: frozenset[int]
) -> tuple[AdditiveDesign, Descent, tuple[NDArray[np.uint8], ...]]:
    cells = task.rows.cells
    scale, count = math.sqrt(len(cells) + 1.0), pair_levels(task.count)
    mains = tuple(
        principal_axes((place,), column_features(column, mass), mass, scale=scale)
        for place, (column, mass) in enumerate(zip(cells, seen.shares, strict=True))
    )
    capacity = (
        pair_capacity(cells, seen.shares, count) if interactions else np.zeros(len(cells), dtype=np.int64)
    )
    capacity[list(unpaired)] = 0
    paying: dict[str, Any] = {
        "signal": task.signal / task.outputs, "rows": task.count,
        "target": task.target,
    }  # fmt: skip
    counts = tuple(column.count for column in cells)
    plan = CellPlan(cells=counts, outputs=task.outputs)
    design = whitened(plan, mains, signal=task.signal, rows=task.count, target=task.target)
    start = np.zeros((task.outputs, design.dimension))
    levels: tuple[NDArray[np.uint8], ...] = ()
    # Whether any pair is affordable: decided before the first phase is paid for.
    if paired_columns(1.0 / np.maximum(capacity, 1) ** 2, capacity, **paying):
        first = descend(task, design, start, square=square * MAINS, steps=MAIN_STEPS, label="main shapes")
        square *= 1 - MAINS
        shapes = design.values(first.weights)
        importance = np.array([_energy(shape, mass) for shape, mass in zip(shapes, seen.shares, strict=True)])
        pairs = paired_columns(importance, capacity, **paying)
        levels = tuple(
            levels_of(column, mass, shape, count)
            for column, mass, shape in zip(cells, seen.shares, shapes, strict=True)
        )
        plan = CellPlan(cells=counts, outputs=task.outputs, pairs=pairs, levels=count, level_of=levels)
        blocks = (*mains, *(pair_axes(pair, levels, seen.shares, scale=scale, count=count) for pair in pairs))
        joint = whitened(plan, blocks, signal=task.signal, rows=task.count, target=task.target)
        start = _carried(design, first.weights, joint)
        design = joint
    second = descend(task, design, start, square=square * JOINT, steps=JOINT_STEPS, label="all shapes")
    shrink = _shrinkage(design, second)
    final = whitened(
        design.plan, design.blocks, signal=task.signal, rows=task.count, target=task.target, shrink=shrink
    )
    start = _carried(design, second.weights, final, shrink)
    last = descend(task, final, start, square=square * (1 - JOINT), steps=FINAL_STEPS, label="final shapes")
    return final, last, levels


def _energy(shape: Floats, mass: Floats) -> float:
    """The variance of a shape under the released histogram."""
    return float(np.sum(mass @ (shape - mass @ shape) ** 2))


def _shrinkage(design: AdditiveDesign, found: Descent) -> tuple[Floats, ...]:
    """For each axis, the root of the share of its band's energy that is not noise."""
    made = []
    for block, part, few in zip(design.blocks, design.parts(found.weights), design.kept, strict=True):
        shrink = np.full(len(block.variances), math.sqrt(LEAST_ENERGY))
        bands = block.bands[:few]
        for band in np.unique(bands):
            chosen = part[:, bands == band]
            energy = float(np.sum(chosen**2))
            signal = 1.0 - chosen.size * found.noise / energy if energy > 0 else 0.0
            shrink[:few][bands == band] = math.sqrt(max(LEAST_ENERGY, signal))
        made.append(shrink)
    return tuple(made)


def _carried(
    old: AdditiveDesign, weights: Floats, new: AdditiveDesign, shrink: tuple[Floats, ...] | None = None
) -> Floats:
    """The same shapes in another design's weights, shrunk twice by the root (as features, and as a start)."""
    made = np.zeros((len(weights), new.dimension))
    made[:, 0] = weights[:, 0]
    for place, part in enumerate(old.parts(weights)):
        few = min(old.kept[place], new.kept[place])
        ratio = old.factors[place][:few] / new.factors[place][:few]
        if shrink is not None:
            ratio = ratio * shrink[place][:few] ** 2
        made[:, new.ends[place] : new.ends[place] + few] = part[:, :few] * ratio
    return made
