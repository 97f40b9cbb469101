"""The phases of an additive fit: histograms, main shapes, pairs, shrinkage, a last descent, calibration.

Shares of mu^2 are public and add up to one. What a phase is told, features, floors, clipping norms, which columns
pair, follows from released values; so the fit is adaptive composition of Gaussian mechanisms (soundness, sections 19
and 24).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._kernel.lookup import CellPlan, Loss
from holdfast.learn._additive.basis import column_features, principal_axes
from holdfast.learn._additive.calibration import calibrate_scores
from holdfast.learn._additive.cell_rows import CellRows
from holdfast.learn._additive.descent import AdditiveTask, Descent, descend
from holdfast.learn._additive.design import AdditiveDesign, whitened_design
from holdfast.learn._additive.histograms import Histograms, affordable_grid, release_histograms
from holdfast.learn._additive.pairs import levels_of, pair_axes, pair_capacity, pair_levels, paired_columns
from holdfast.learn._risk.descent import gaussian_square
from holdfast.learn._rows.summation import one_thread
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Arithmetic

THEOREM = (
    "Additive model: composed Gaussian mechanisms, histograms and gradients that are clipped record by record "
    "(soundness, section 24)"
)
HISTOGRAMS, CALIBRATION = Fraction(8, 100), Fraction(3, 100)
MAINS, JOINT = Fraction(30, 100), Fraction(20, 100)
"""The share of the main shapes in the budget of all descents, and that of the joint phase in the rest."""
MAIN_STEPS = {"classes": 12, "numbers": 4}
"""A squared loss curves as much as its features vary; a logistic one less, and its shapes take longer."""
JOINT_STEPS, FINAL_STEPS = 8, 16
LEAST_ENERGY = 0.25
"""The least factor to which axes are shrunk: the last phase may see what the joint phase did not, and where every
column matters a little, each alone looks like noise."""


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
    grid: int
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
        rows.regrid(affordable_grid(rows, account, square=square * HISTOGRAMS))
        seen = release_histograms(
            rows,
            account,
            square=square * HISTOGRAMS,
            arithmetic=arithmetic,
            classes=max(2, outputs) if classifier else None,
        )
        moved = account.adjacency.gradient_factor * account.unit.max_rows
        task = AdditiveTask(
            rows=rows,
            loss=loss,
            outputs=outputs,
            account=account,
            count=seen.rows,
            public_signal=max(math.sqrt(square) * seen.rows / moved, 1e-3),
            arithmetic=arithmetic,
            mean=seen.mean,
            mean_square=seen.mean_square,
            square_noise=seen.square_noise,
            evenness=seen.evenness,
        )
        design, descent, levels = _phases(task, seen, descents, interactions=interactions, unpaired=unpaired)
        scale, shift = 1.0, np.zeros(outputs)
        if classifier:
            scale, shift = calibrate_scores(task, design, descent.weights, square=square * CALIBRATION)
    values = design.values(scale * descent.weights)
    columns = len(rows.cells)
    return AdditiveFit(
        constant=scale * descent.weights[:, 0] + shift,
        shapes=tuple(values[:columns]),
        pairs=design.plan.pairs,
        levels=levels,
        pair_shapes=tuple(values[columns:]),
        pair_levels=pair_levels(task.effective_rows),
        shares=seen.shares,
        grid=rows.cells[0].grid,
        parameters={
            "effective_dimension": design.effective_dimension,
            "dimension": design.dimension,
            "pairs": len(design.plan.pairs),
            "pair_levels": pair_levels(task.effective_rows),
            "scale": scale,
            "clip": descent.clip,
            "steps": FINAL_STEPS,
        }
        | _rarest(seen),
    )


def _phases(
    task: AdditiveTask, seen: Histograms, square: Fraction, *, interactions: bool, unpaired: frozenset[int]
) -> tuple[AdditiveDesign, Descent, tuple[NDArray[np.uint8], ...]]:
    cells = task.rows.cells
    scale, count = math.sqrt(len(cells) + 1.0), pair_levels(task.effective_rows)
    mains = tuple(
        principal_axes((place,), column_features(column, mass), mass, scale=scale, line=column.numeric)
        for place, (column, mass) in enumerate(zip(cells, seen.shares, strict=True))
    )
    capacity = (
        pair_capacity(cells, seen.shares, count) if interactions else np.zeros(len(cells), dtype=np.int64)
    )
    capacity[list(unpaired)] = 0
    design_arguments: dict[str, Any] = {
        "signal": task.signal,
        "rows": task.effective_rows,
        "target": task.target,
    }
    paying = design_arguments | {"signal": task.signal / task.outputs}
    counts = tuple(column.count for column in cells)
    plan = CellPlan(cells=counts, outputs=task.outputs)
    design = whitened_design(plan, mains, **design_arguments)
    start = np.zeros((task.outputs, design.dimension))
    start[:, 0] = _first_constant(seen, task.outputs)
    levels: tuple[NDArray[np.uint8], ...] = ()
    # Whether any pair is affordable: decided before the first phase is paid for.
    if paired_columns(1.0 / np.maximum(capacity, 1) ** 2, capacity, **paying):
        first = descend(
            task, design, start, square=square * MAINS, steps=MAIN_STEPS[task.target], label="main shapes"
        )
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
        joint = whitened_design(plan, blocks, **design_arguments)
        start = _start_weights(design, first.weights, joint)
        design = joint
    second = descend(task, design, start, square=square * JOINT, steps=JOINT_STEPS, label="all shapes")
    walked = (MAIN_STEPS[task.target] if levels else 0) + JOINT_STEPS
    shrink = _shrinkage(task, design, second, walked)
    final = whitened_design(design.plan, design.blocks, shrink=shrink, **design_arguments)
    start = _start_weights(design, second.weights, final, shrink)
    last = descend(task, final, start, square=square * (1 - JOINT), steps=FINAL_STEPS, label="final shapes")
    return final, _shrunk_descent(task, final, last, walked + FINAL_STEPS), levels


def _rarest(seen: Histograms) -> dict[str, float | int]:
    """The released share of the rarest class, and of how many records; nothing for a target without classes."""
    if seen.class_shares is None:
        return {}
    return {"rarest_share": float(np.min(seen.class_shares)), "records": float(seen.rows)}


def _first_constant(seen: Histograms, outputs: int) -> Floats:
    """Scores that say the released shares of the classes, or the released mean."""
    if seen.class_shares is None:
        return np.array([seen.mean])
    logs = np.log(seen.class_shares)
    return np.array([logs[1] - logs[0]]) if outputs == 1 else np.asarray(logs - logs.mean())


def _energy(shape: Floats, mass: Floats) -> float:
    """The variance of a shape under the released histogram."""
    return float(np.sum(mass @ (shape - mass @ shape) ** 2))


def _shrinkage(
    task: AdditiveTask, design: AdditiveDesign, descent: Descent, walked: int
) -> tuple[Floats, ...]:
    """For each axis, the root of the share of its band's energy that is not noise, of the budget or of the sample."""
    factors = []
    for block, factor, part, few in zip(
        design.blocks, design.factors, design.parts(descent.weights), design.ranks, strict=True
    ):
        noise = descent.noise + task.sampling_noise(
            block.variances[:few] * factor[:few] ** 2, walked, descent.residual
        )
        shrink = np.full(len(block.variances), math.sqrt(LEAST_ENERGY))
        bands = block.bands[:few]
        for band in np.unique(bands):
            chosen = part[:, bands == band]
            energy = float(np.sum(chosen**2))
            expected = len(chosen) * float(np.sum(noise[bands == band]))
            signal = 1.0 - expected / energy if energy > 0 else 0.0
            shrink[:few][bands == band] = math.sqrt(max(LEAST_ENERGY, signal))
        factors.append(shrink)
    return tuple(factors)


def _shrunk_descent(task: AdditiveTask, design: AdditiveDesign, descent: Descent, walked: int) -> Descent:
    """Weights shrunk by the share of their band's energy that is noise: post-processing, which costs nothing."""
    weights = descent.weights.copy()
    for place, shrink in enumerate(_shrinkage(task, design, descent, walked)):
        few = design.ranks[place]
        weights[:, design.ends[place] : design.ends[place] + few] *= shrink[:few] ** 2
    return replace(descent, weights=weights)


def _start_weights(
    old: AdditiveDesign, weights: Floats, new: AdditiveDesign, shrink: tuple[Floats, ...] | None = None
) -> Floats:
    """The same shapes in another design's weights, shrunk twice by the root (as features, and as a start)."""
    carried_weights = np.zeros((len(weights), new.dimension))
    carried_weights[:, 0] = weights[:, 0]
    for place, part in enumerate(old.parts(weights)):
        few = min(old.ranks[place], new.ranks[place])
        ratio = old.factors[place][:few] / new.factors[place][:few]
        if shrink is not None:
            ratio = ratio * shrink[place][:few] ** 2
        carried_weights[:, new.ends[place] : new.ends[place] + few] = part[:, :few] * ratio
    return carried_weights
