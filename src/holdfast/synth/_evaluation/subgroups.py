"""Errors inside subgroups: synthetic rows that are accurate on average may be wrong for a small group."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.errors import require
from holdfast.synth._evaluation.compared_rows import ComparedRows
from holdfast.synth._evaluation.marginals import TableError, marginal_error
from holdfast.synth._evaluation.prediction import Predictions

MOST_GROUPS = 30
MOST_PAIR_CELLS = 2**12
"""Inside a group, tables of two columns with more cells are left out: their errors would be mostly chance."""
SMALL_GROUP_ROWS = 100
"""A group of fewer real rows is marked as small: its errors are mostly chance."""


@dataclass(frozen=True, kw_only=True)
class SubgroupErrors:
    """One subgroup: its size, the errors of the other columns inside it, and what models score there."""

    by: str
    group: str
    rows: int
    share: float
    synthetic_share: float
    total_variation: float
    """The mean over the one-way tables of the other columns."""
    by_chance: float
    worst: str
    """The column with the largest error inside the group; empty where there is none."""
    worst_variation: float
    two_way: float = math.nan
    """The mean over the two-way tables of the other columns, in the sampled rows of the group."""
    two_way_by_chance: float = math.nan
    worst_pair: str = ""
    worst_pair_variation: float = math.nan
    """The error less what chance would show, since small groups differ in large tables by chance alone."""
    on_real: float = math.nan
    on_synthetic: float = math.nan

    @property
    def small(self) -> bool:
        """Whether there are too few real rows for reliable errors."""
        return self.rows < SMALL_GROUP_ROWS


@dataclass(frozen=True, kw_only=True)
class Subgroups:
    """The largest groups of one column, the largest first."""

    by: str
    groups: tuple[SubgroupErrors, ...]
    left_out: int = 0


def subgroups(
    real: ComparedRows, synthetic: ComparedRows, by: str, predicted: Predictions | None = None
) -> Subgroups:
    """The errors of the largest groups of a column, of all that contain a real or a synthetic row."""
    require(by in real.names, "by", by, f"one of the columns {list(real.names)}")
    sizes, synthetic_sizes = real.counts[by,], synthetic.counts[by,]
    held = [
        int(cell) for cell in np.argsort(-sizes, kind="stable") if sizes[cell] + synthetic_sizes[cell] > 0
    ]
    groups = [_group(real, synthetic, by, cell, predicted) for cell in held[:MOST_GROUPS]]
    return Subgroups(by=by, groups=tuple(groups), left_out=max(0, len(held) - MOST_GROUPS))


def _group(
    real: ComparedRows, synthetic: ComparedRows, by: str, cell: int, predicted: Predictions | None
) -> SubgroupErrors:
    sizes, synthetic_sizes = real.counts[by,], synthetic.counts[by,]
    errors = []
    for name in real.names:
        tables = (real.pair(by, name), synthetic.pair(by, name)) if name != by else (None, None)
        if tables[0] is not None and tables[1] is not None and sizes[cell] and synthetic_sizes[cell]:
            errors.append(marginal_error([name], tables[0][cell], tables[1][cell], real.schema))
    worst = max(errors, key=lambda error: error.total_variation, default=None)
    pairs = _pairs_inside(real, synthetic, by, cell)
    pair = max(pairs, key=lambda error: error.total_variation - error.by_chance, default=None)
    scores = (math.nan, math.nan)
    if predicted is not None:
        scores = predicted.inside(predicted.test_rows.code(by) == cell)
    return SubgroupErrors(
        by=by,
        group=real.schema[by].labels[cell],
        rows=int(sizes[cell]),
        share=float(sizes[cell] / real.rows),
        synthetic_share=float(synthetic_sizes[cell] / synthetic.rows),
        total_variation=_mean([error.total_variation for error in errors]),
        by_chance=_mean([error.by_chance for error in errors]),
        worst="" if worst is None else worst.name,
        worst_variation=math.nan if worst is None else worst.total_variation,
        two_way=_mean([error.total_variation for error in pairs]),
        two_way_by_chance=_mean([error.by_chance for error in pairs]),
        worst_pair="" if pair is None else pair.name,
        worst_pair_variation=math.nan if pair is None else pair.total_variation - pair.by_chance,
        on_real=scores[0],
        on_synthetic=scores[1],
    )


def _pairs_inside(real: ComparedRows, synthetic: ComparedRows, by: str, cell: int) -> list[TableError]:
    """The two-way tables of the other columns inside a group, from the sampled rows of both."""
    ours, theirs = (rows.codes[rows.code(by) == cell] for rows in (real, synthetic))
    if not len(ours) or not len(theirs):
        return []
    errors = []
    for pair in real.pairs:
        shape = real.schema.shape(*pair)
        if by in pair or math.prod(shape) > MOST_PAIR_CELLS:
            continue
        at = [real.names.index(name) for name in pair]
        tables = [_table(part[:, at[0]], part[:, at[1]], shape) for part in (ours, theirs)]
        errors.append(marginal_error(pair, tables[0], tables[1], real.schema))
    return errors


def _table(first: Codes, second: Codes, shape: tuple[int, ...]) -> Floats:
    """The joint count of two columns."""
    cells = first.astype(np.int64) * shape[1] + second
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape).astype(np.float64)


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else math.nan
