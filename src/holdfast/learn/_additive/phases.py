"""The phases of an additive fit: histograms, shapes of single columns, pairs, shrinkage, a last descent, calibration.

The shares of mu^2 that the phases spend are public and add up to one. Whatever a phase chooses (features, clipping
norms, pairs of columns) follows from values that were released before it, so the whole fit is an adaptive composition
of Gaussian mechanisms (soundness, sections 19 and 24).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast._kernel.lookup import CellPlan, Loss
from holdfast.learn._additive.basis import Axes, column_features, principal_axes
from holdfast.learn._additive.calibration import calibrate_scores
from holdfast.learn._additive.cell_rows import CellRows
from holdfast.learn._additive.descent import AdditiveTask, Descent, descend
from holdfast.learn._additive.design import AdditiveDesign, whitened_design
from holdfast.learn._additive.histograms import Histograms, affordable_grid, release_histograms
from holdfast.learn._additive.pair_choice import choose_pairs, pair_level_count
from holdfast.learn._additive.pair_features import CellLevels, cell_levels, contrast_counts, pair_axes
from holdfast.learn._risk.descent import gaussian_square
from holdfast.learn._rows.summation import one_thread
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Arithmetic

THEOREM = (
    "Additive model: composed Gaussian mechanisms, histograms and gradients that are clipped record by record "
    "(soundness, section 24)"
)
HISTOGRAM_SHARE, CALIBRATION_SHARE = Fraction(8, 100), Fraction(3, 100)
"""Of mu^2; descents get the rest, and calibration is for classifiers only."""
MAIN_SHARE, JOINT_SHARE = Fraction(30, 100), Fraction(20, 100)
"""Of the budget of all descents for the shapes of single columns, and of what is left then for the joint phase."""
MAIN_STEPS = {"classes": 12, "numbers": 4}
"""A logistic loss curves less than a squared one, so its shapes need more steps."""
JOINT_STEPS, FINAL_STEPS = 8, 16
LEAST_ENERGY_SHARE = 0.25
"""Shrinkage never removes more than the rest of an axis' energy. The last phase may see what the joint phase did not,
and where every column matters a little, each alone looks like noise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveFit:
    """Released tables: what each cell of each column and pair adds to the scores, (cells, K)."""

    constant: Floats
    shapes: tuple[Floats, ...]
    pairs: tuple[tuple[int, int], ...]
    levels: tuple[CellLevels, ...]
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
    descent_square = square * (1 - HISTOGRAM_SHARE - (CALIBRATION_SHARE if classifier else 0))
    with one_thread():
        rows.regrid(affordable_grid(rows, account, square=square * HISTOGRAM_SHARE))
        histograms = release_histograms(
            rows,
            account,
            square=square * HISTOGRAM_SHARE,
            arithmetic=arithmetic,
            classes=max(2, outputs) if classifier else None,
        )
        clips_moved = account.adjacency.gradient_factor * account.unit.max_rows
        task = AdditiveTask(
            rows=rows,
            loss=loss,
            outputs=outputs,
            account=account,
            count=histograms.rows,
            public_signal=max(math.sqrt(square) * histograms.rows / clips_moved, 1e-3),
            arithmetic=arithmetic,
            mean=histograms.mean,
            mean_square=histograms.mean_square,
            square_noise=histograms.square_noise,
            evenness=histograms.evenness,
        )
        design, descent, levels = _fit_shapes(
            task, histograms, descent_square, interactions=interactions, unpaired=unpaired
        )
        scale, shift = 1.0, np.zeros(outputs)
        if classifier:
            scale, shift = calibrate_scores(task, design, descent.weights, square=square * CALIBRATION_SHARE)
    values = design.values(scale * descent.weights)
    columns = len(rows.cells)
    return AdditiveFit(
        constant=scale * descent.weights[:, 0] + shift,
        shapes=tuple(values[:columns]),
        pairs=design.plan.pairs,
        levels=levels,
        pair_shapes=tuple(values[columns:]),
        pair_levels=pair_level_count(task.effective_rows),
        shares=histograms.shares,
        grid=rows.cells[0].grid,
        parameters={
            "effective_dimension": design.effective_dimension,
            "dimension": design.dimension,
            "pairs": len(design.plan.pairs),
            "pair_levels": pair_level_count(task.effective_rows),
            "scale": scale,
            "clip": descent.clip,
            "steps": FINAL_STEPS,
        }
        | _rarest_class(histograms),
    )


def _fit_shapes(
    task: AdditiveTask,
    histograms: Histograms,
    square: Fraction,
    *,
    interactions: bool,
    unpaired: frozenset[int],
) -> tuple[AdditiveDesign, Descent, tuple[CellLevels, ...]]:
    """All descents for mu^2 = `square`: the last design, its weights, and the levels of cells if there are pairs."""
    design = _main_design(task, histograms)
    start = np.zeros((task.outputs, design.dimension))
    start[:, 0] = _first_constant(histograms, task.outputs)
    contrasts = _pair_contrasts(task, histograms, interactions=interactions, unpaired=unpaired)
    levels: tuple[CellLevels, ...] = ()
    steps = 0
    if _pairs_affordable(task, contrasts):
        steps = MAIN_STEPS[task.target]
        mains = descend(task, design, start, square=square * MAIN_SHARE, steps=steps, label="main shapes")
        square *= 1 - MAIN_SHARE
        joint_design, levels = _joint_design(task, histograms, design, mains, contrasts)
        start = _start_weights(design, mains.weights, joint_design)
        design = joint_design
    joint = descend(task, design, start, square=square * JOINT_SHARE, steps=JOINT_STEPS, label="all shapes")
    steps += JOINT_STEPS
    shrink = _shrinkage(task, design, joint, steps)
    final_design = _task_design(task, design.plan, design.blocks, shrink)
    start = _start_weights(design, joint.weights, final_design, shrink)
    final = descend(
        task, final_design, start, square=square * (1 - JOINT_SHARE), steps=FINAL_STEPS, label="final shapes"
    )
    return final_design, _shrunk_descent(task, final_design, final, steps + FINAL_STEPS), levels


def _task_design(
    task: AdditiveTask, plan: CellPlan, blocks: tuple[Axes, ...], shrink: tuple[Floats, ...] | None = None
) -> AdditiveDesign:
    """The whitened design of some blocks, as large as the task's budget and rows allow."""
    return whitened_design(
        plan, blocks, signal=task.signal, rows=task.effective_rows, target=task.target, shrink=shrink
    )


def _feature_scale(task: AdditiveTask) -> float:
    """Features are divided by it, so that a row's features of all columns and the constant have a bounded norm."""
    return math.sqrt(len(task.rows.cells) + 1.0)


def _main_design(task: AdditiveTask, histograms: Histograms) -> AdditiveDesign:
    """The design of all single columns."""
    cells, scale = task.rows.cells, _feature_scale(task)
    blocks = tuple(
        principal_axes((place,), column_features(column, shares), shares, scale=scale, line=column.numeric)
        for place, (column, shares) in enumerate(zip(cells, histograms.shares, strict=True))
    )
    plan = CellPlan(cells=tuple(column.count for column in cells), outputs=task.outputs)
    return _task_design(task, plan, blocks)


def _pair_contrasts(
    task: AdditiveTask, histograms: Histograms, *, interactions: bool, unpaired: frozenset[int]
) -> Codes:
    """For each column its contrasts in pairs; 0 for those that stay out of pairs."""
    cells = task.rows.cells
    if not interactions:
        return np.zeros(len(cells), dtype=np.int64)
    contrasts = contrast_counts(cells, histograms.shares, pair_level_count(task.effective_rows))
    contrasts[list(unpaired)] = 0
    return contrasts


def _choose_pairs(task: AdditiveTask, importance: Floats, contrasts: Codes) -> tuple[tuple[int, int], ...]:
    """The pairs that the task's budget pays for; several scores share it."""
    return choose_pairs(
        importance,
        contrasts,
        signal=task.signal / task.outputs,
        rows=task.effective_rows,
        target=task.target,
    )


def _pairs_affordable(task: AdditiveTask, contrasts: Codes) -> bool:
    """Whether the budget pays for the cheapest pair, which is known before any shape is."""
    cheapest_first = 1.0 / np.maximum(contrasts, 1) ** 2
    return bool(_choose_pairs(task, cheapest_first, contrasts))


def _joint_design(
    task: AdditiveTask, histograms: Histograms, mains: AdditiveDesign, descent: Descent, contrasts: Codes
) -> tuple[AdditiveDesign, tuple[CellLevels, ...]]:
    """The design of all columns and of the pairs whose released main shapes matter most, and the cells' levels."""
    cells, count = task.rows.cells, pair_level_count(task.effective_rows)
    shapes = mains.values(descent.weights)
    importance = np.array(
        [_energy(shape, shares) for shape, shares in zip(shapes, histograms.shares, strict=True)]
    )
    pairs = _choose_pairs(task, importance, contrasts)
    levels = tuple(
        cell_levels(column, shares, shape, count)
        for column, shares, shape in zip(cells, histograms.shares, shapes, strict=True)
    )
    plan = CellPlan(cells=mains.plan.cells, outputs=task.outputs, pairs=pairs, levels=count, level_of=levels)
    pair_blocks = (
        pair_axes(pair, levels, histograms.shares, scale=_feature_scale(task), count=count) for pair in pairs
    )
    return _task_design(task, plan, (*mains.blocks, *pair_blocks)), levels


def _rarest_class(histograms: Histograms) -> dict[str, float | int]:
    """The released share of the rarest class and the number of records, for a target of classes."""
    if histograms.class_shares is None:
        return {}
    return {"rarest_share": float(np.min(histograms.class_shares)), "records": float(histograms.rows)}


def _first_constant(histograms: Histograms, outputs: int) -> Floats:
    """The constant scores that predict the released shares of the classes, or the released mean."""
    if histograms.class_shares is None:
        return np.array([histograms.mean])
    logs = np.log(histograms.class_shares)
    return np.array([logs[1] - logs[0]]) if outputs == 1 else np.asarray(logs - logs.mean())


def _energy(shape: Floats, shares: Floats) -> float:
    """The variance of a shape under the released histogram."""
    return float(np.sum(shares @ (shape - shares @ shape) ** 2))


def _shrinkage(
    task: AdditiveTask, design: AdditiveDesign, descent: Descent, steps: int
) -> tuple[Floats, ...]:
    """For each axis of each block the factor sqrt(1 - noise / energy) of its band, noise of the budget and the sample.

    `steps` is how many steps were taken so far, which is how far weights followed the noise of the sample.
    """
    factors = []
    for block, factor, part, few in zip(
        design.blocks, design.factors, design.parts(descent.weights), design.ranks, strict=True
    ):
        noise = descent.noise + task.sampling_noise(
            block.variances[:few] * factor[:few] ** 2, steps, descent.residual
        )
        shrink = np.full(len(block.variances), math.sqrt(LEAST_ENERGY_SHARE))
        bands = block.bands[:few]
        for band in np.unique(bands):
            in_band = bands == band
            band_weights = part[:, in_band]
            energy = float(np.sum(band_weights**2))
            expected_noise = len(band_weights) * float(np.sum(noise[in_band]))
            signal_share = 1.0 - expected_noise / energy if energy > 0 else 0.0
            shrink[:few][in_band] = math.sqrt(max(LEAST_ENERGY_SHARE, signal_share))
        factors.append(shrink)
    return tuple(factors)


def _shrunk_descent(task: AdditiveTask, design: AdditiveDesign, descent: Descent, steps: int) -> Descent:
    """Weights shrunk by the share of their band's energy that is noise: post-processing, which costs nothing."""
    weights = descent.weights.copy()
    for place, shrink in enumerate(_shrinkage(task, design, descent, steps)):
        few = design.ranks[place]
        weights[:, design.ends[place] : design.ends[place] + few] *= shrink[:few] ** 2
    return replace(descent, weights=weights)


def _start_weights(
    old: AdditiveDesign, weights: Floats, new: AdditiveDesign, shrink: tuple[Floats, ...] | None = None
) -> Floats:
    """The weights of the `new` design that give the shapes of the `old` one, shrunk.

    Features of the new design are multiplied by `shrink` once already, and the weights that start it by its square.
    """
    new_weights = np.zeros((len(weights), new.dimension))
    new_weights[:, 0] = weights[:, 0]
    for place, part in enumerate(old.parts(weights)):
        few = min(old.ranks[place], new.ranks[place])
        ratio = old.factors[place][:few] / new.factors[place][:few]
        if shrink is not None:
            ratio = ratio * shrink[place][:few] ** 2
        new_weights[:, new.ends[place] : new.ends[place] + few] = part[:, :few] * ratio
    return new_weights
