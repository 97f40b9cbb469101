"""Shape functions for people: as a table, as a picture, as the contributions to one row's score; and monotone ones.

All of it is computed from released numbers. No confidence bands are drawn: bands from the noise of each weight are too
narrow where columns are correlated, and bands of replicated fits miss what clipping and shrinkage do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._extras import import_optional
from holdfast._ranges import require_whole
from holdfast.data._batch import Batch
from holdfast.learn._additive.cells import ColumnCells, code_rows
from holdfast.learn._additive.model import AdditiveModel
from holdfast.learn._additive.pair_features import level_shares

MOST_BARS = 12
"""The most categories of a column that a picture shows."""
NO_BANDS = (
    "no bands: those from the noise of single weights do not cover where columns are correlated, and those of "
    "replicated parts or phases miss what clipping and shrinkage do to a shape (docs/intervals.md)"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """What one column adds to the scores at each cell, (cells, K), centred under the released shares."""

    cells: ColumnCells
    values: Floats
    shares: Floats

    @property
    def importance(self) -> float:
        """The standard deviation of what the column adds, under the released shares."""
        return float(np.sqrt(np.sum(self.shares @ self.values**2)))


@dataclass(frozen=True, kw_only=True, eq=False)
class PairShape:
    """What two columns add together, (levels, levels, K), beyond what each adds alone."""

    names: tuple[str, str]
    values: Floats
    shares: Floats
    ticks: tuple[tuple[str, ...], tuple[str, ...]]
    """The labels of the levels of both columns."""

    @property
    def importance(self) -> float:
        """The standard deviation, as if the two columns were independent."""
        return float(np.sqrt(np.sum(self.shares[:, :, None] * self.values**2)))


def shapes_of(model: AdditiveModel) -> list[Shape]:
    """The shape of every column, the most important first."""
    parts = zip(model.cells, model.split(model.shapes), model.split(model.shares), strict=True)
    shapes = [Shape(cells=cells, values=value - share @ value, shares=share) for cells, value, share in parts]
    return sorted(shapes, key=lambda shape: -shape.importance)


def pair_shapes_of(model: AdditiveModel) -> list[PairShape]:
    """The shape of every pair, the most important first."""
    levels, shares = model.split(np.asarray(model.levels)), model.split(model.shares)
    count = model.pair_levels
    tables = model.pair_shapes.reshape(-1, count, count, model.constant.size)
    shapes = []
    for (left, right), values in zip(model.pairs, tables, strict=True):
        left_shares, right_shares = (
            level_shares(levels[column], shares[column], count) for column in (left, right)
        )
        left_labels, right_labels = (
            _level_labels(model.cells[column], levels[column], count) for column in (left, right)
        )
        shapes.append(
            PairShape(
                names=(model.columns[left], model.columns[right]),
                values=values,
                shares=np.outer(left_shares, right_shares),
                ticks=(left_labels, right_labels),
            )
        )
    return sorted(shapes, key=lambda shape: -shape.importance)


def _level_labels(cells: ColumnCells, levels: NDArray[Any], count: int) -> tuple[str, ...]:
    """A label for each level: its first cell, and for categories the number of others."""
    labels = []
    for level in range(count):
        members = [cells.short_labels[place] for place in np.flatnonzero(levels == level)]
        others = "" if cells.numeric or len(members) < 2 else f" +{len(members) - 1}"
        labels.append(f"{members[0]}{others}" if members else "")
    return tuple(labels)


def shape_table(model: AdditiveModel, *, most: int = 20) -> str:
    """One line per column and pair: how much it moves the score, and where it is lowest and highest."""
    lines = [f"  {'':<34} {'spread':>8}   lowest at ... highest at"]
    for shape in shapes_of(model)[:most]:
        values = shape.values[:, 0] if shape.values.shape[1] == 1 else np.ptp(shape.values, axis=1)
        low, high = int(np.argmin(values)), int(np.argmax(values))
        labels = shape.cells.short_labels
        extremes = f"{labels[low][:18]} ({values[low]:+.3g}), {labels[high][:18]} ({values[high]:+.3g})"
        lines.append(f"  {shape.cells.name[:34]:<34} {shape.importance:>8.3g}   {extremes}")
    further_columns = len(model.columns) - most
    if further_columns > 0:
        lines.append(f"  ... and {further_columns} more columns")
    for pair in pair_shapes_of(model)[: most // 2]:
        lines.append(f"  {' x '.join(pair.names)[:34]:<34} {pair.importance:>8.3g}")
    further_pairs = len(model.pairs) - most // 2
    if further_pairs > 0:
        lines.append(f"  ... and {further_pairs} more pairs")
    return "\n".join(lines)


def explain_rows(model: AdditiveModel, batch: Batch, *, output: int = 0) -> list[dict[str, float]]:
    """For each row what the constant, every column and every pair add to its score; they sum to the score.

    Shapes are centred under the released shares, and what centring subtracts is added to the constant.
    """
    codes = code_rows(model.cells, batch)
    places = model.plan.places(codes)
    values = model.table[:, output][places]
    offsets = np.array(
        [
            share @ shape[:, output]
            for share, shape in zip(model.split(model.shares), model.split(model.shapes), strict=True)
        ]
    )
    mains = len(model.columns)
    values[:, :mains] -= offsets
    pair_names = (f"{model.columns[left]} x {model.columns[right]}" for left, right in model.pairs)
    names = [*model.columns, *pair_names]
    constant = float(model.constant[output] + offsets.sum())
    return [{"(constant)": constant} | dict(zip(names, row.tolist(), strict=True)) for row in values]


def isotonic(values: Floats, weights: Floats, direction: int) -> Floats:
    """The monotone values that are nearest in weighted squares; values that are out of order are pooled.

    >>> isotonic(np.array([1.0, 3.0, 2.0]), np.ones(3), 1).tolist()
    [1.0, 2.5, 2.5]
    """
    from sklearn.isotonic import isotonic_regression

    return np.asarray(isotonic_regression(values, sample_weight=weights + 1e-9, increasing=direction > 0))


def plot_shapes(model: AdditiveModel, *, most: int = 12, pairs: int = 3, output: int = 0) -> Any:
    """A figure of the most important shapes: numbers as steps, categories as bars, pairs as heat maps."""
    require_whole("most", most, least=1)
    require_whole("pairs", pairs)
    require_whole("output", output, most=np.size(model.constant) - 1)
    shapes, joint = shapes_of(model)[:most], pair_shapes_of(model)[:pairs]
    count = len(shapes) + len(joint)
    across = min(3, max(count, 1))
    down = -(-count // across)
    figure = import_optional("matplotlib.figure", instead="summary()").Figure(
        figsize=(3.4 * across, 2.6 * down), layout="constrained"
    )
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes in panels[count:]:
        axes.set_axis_off()
    for axes, shape in zip(panels, shapes, strict=False):
        _draw_shape(axes, shape, output)
    for axes, pair in zip(panels[len(shapes) :], joint, strict=False):
        values = pair.values[:, :, output]
        reach = max(float(np.abs(values).max()), 1e-12)
        axes.imshow(values.T, origin="lower", cmap="RdBu_r", vmin=-reach, vmax=reach, aspect="auto")
        axes.grid(visible=False)
        axes.set_title(" x ".join(pair.names), fontsize=9)
        tick_labels = [[_short_text(label, 14) for label in labels] for labels in pair.ticks]
        axes.set_xticks(range(len(values)), tick_labels[0], fontsize=7, rotation=40, ha="right")
        axes.set_yticks(range(len(values)), tick_labels[1], fontsize=7)
    return figure


def _short_text(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _draw_shape(axes: Any, shape: Shape, output: int) -> None:
    values, cells = shape.values[:, output], shape.cells
    zero = axes.axhline if cells.numeric else axes.axvline
    zero(0.0, color="0.8", linewidth=0.8)
    axes.set_title(cells.name, fontsize=9)
    axes.tick_params(labelsize=7)
    if cells.numeric:
        numbers = len(cells.middles)
        axes.step(cells.middles, values[:numbers], where="mid", color="#1f5a99")
        if cells.missing:
            axes.axhline(values[-1], color="#c8651b", linestyle=":", label="missing")
            axes.legend(fontsize=6)
        return
    # Of many categories those are shown that move the score most, up or down.
    order = np.sort(np.argsort(np.abs(values))[-MOST_BARS:])
    order = order[np.argsort(values[order])]
    if len(values) > MOST_BARS:
        axes.set_title(f"{cells.name}: {MOST_BARS} of {len(values)}", fontsize=9)
    axes.barh(range(len(order)), values[order], color="#1f5a99")
    axes.set_yticks(range(len(order)), [_short_text(cells.labels[place], 20) for place in order], fontsize=7)
