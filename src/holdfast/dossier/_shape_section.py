"""The shape functions of an additive model as a section of the record, read off the released model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from holdfast.dossier._section import Section
from holdfast.errors import FormatError

ADDITIVE_MODEL_FORMAT = "holdfast-additive-model/1"
MOST_DRAWN_SHAPES, MOST_DRAWN_PAIRS = 12, 4


@dataclass(frozen=True, kw_only=True)
class ShapeCurve(Section):
    """One shape function: what a column adds to the score at each cell, for one class or the number."""

    name: str
    spread: float
    numeric: bool
    places: tuple[float, ...]
    labels: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ShapeMap(Section):
    """One pair of columns: what they add together, level by level, the second column's levels side by side."""

    name: str
    spread: float
    left: tuple[str, ...]
    right: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class AdditiveUtility(Section):
    """An additive model by its shape functions, the most important first."""

    kind: Literal["additive"] = "additive"
    what: str
    predicts: tuple[str, ...]
    rows: tuple[ShapeCurve, ...]
    pairs: tuple[ShapeMap, ...]
    left_out: int
    no_bands: str
    """Why no bands are drawn around the shapes."""


def additive_utility(value: Any) -> AdditiveUtility | None:
    """An additive model: its most important shapes and pairs; with several classes, those of the last class."""
    if not isinstance(value, Mapping) or value.get("format") != ADDITIVE_MODEL_FORMAT:
        return None
    from holdfast.learn._additive.model import AdditiveModel
    from holdfast.learn._additive.shapes import NO_BANDS, pair_shapes_of, shapes_of

    model = AdditiveModel.of_value(value)
    if not np.isfinite(model.table).all():
        raise FormatError("a released shape is not finite; such a model has no page")
    shapes, pair_shapes = shapes_of(model), pair_shapes_of(model)
    output = model.constant.size - 1
    line_ends = [len(shape.cells.middles) if shape.cells.numeric else None for shape in shapes]
    rows = tuple(
        ShapeCurve(
            name=shape.cells.name,
            spread=_four_digits(shape.importance),
            numeric=shape.cells.numeric,
            places=tuple(
                _four_digits(place) for place in (shape.cells.middles if shape.cells.numeric else ())
            ),
            labels=() if shape.cells.numeric else shape.cells.labels,
            values=tuple(_four_digits(v) for v in shape.values[:end, output]),
        )
        for shape, end in zip(shapes[:MOST_DRAWN_SHAPES], line_ends, strict=False)
    )
    pairs = tuple(
        ShapeMap(
            name=" x ".join(pair.names),
            spread=_four_digits(pair.importance),
            left=pair.ticks[0],
            right=pair.ticks[1],
            values=tuple(_four_digits(v) for v in pair.values[:, :, output].ravel()),
        )
        for pair in pair_shapes[:MOST_DRAWN_PAIRS]
    )
    classes = tuple(str(name) for name in model.classes or ())
    return AdditiveUtility(
        what=f"an additive model ({model.model}) with {len(shapes)} shape functions and {len(pair_shapes)} pairs",
        predicts=classes,
        rows=rows,
        pairs=pairs,
        left_out=len(shapes) - len(rows) + len(pair_shapes) - len(pairs),
        no_bands=NO_BANDS,
    )


def _four_digits(value: float) -> float:
    return float(f"{value:.4g}")
