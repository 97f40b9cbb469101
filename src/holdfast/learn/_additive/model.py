"""AdditiveModel: released shape functions as tables, and everything that is needed to use them without holdfast."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._kernel.lookup import CellPlan
from holdfast._stored_fields import require_fields, require_format
from holdfast.data._batch import Batch
from holdfast.data._schema import Schema
from holdfast.errors import FormatError, require
from holdfast.learn._additive.cells import COARSE_GRID, ColumnCells, cells_of_columns, code_rows
from holdfast.learn._problem.problem import POSITIVE, are_sorted

FORMAT = "holdfast-additive-model/1"
RULE = "score = constant + each column's shape at the row's cell + each pair's shape at the levels of its two cells"


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveModel:
    """A fitted additive model with K scores. Everything in it is released.

    `shapes` (cells, K) has the values of all columns' cells, one column after the other, and `pair_shapes` (pairs x
    levels^2, K) those of all pairs. `pairs` names columns by their places. `levels` is the level that each cell has in
    pairs, and `shares` the released share of rows in each cell, by which shapes are centred and drawn.
    """

    model: str
    schema: Mapping[str, Any]
    columns: tuple[str, ...]
    constant: Floats
    shapes: Floats
    pairs: tuple[tuple[int, int], ...]
    pair_shapes: Floats
    levels: NDArray[np.int64]
    shares: Floats
    pair_levels: int = 6
    classes: tuple[Any, ...] | None = None
    from_arrays: bool = False
    monotone: Mapping[str, int] | None = None
    grid: int = COARSE_GRID

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "pairs", tuple((int(a), int(b)) for a, b in self.pairs))
        object.__setattr__(self, "classes", None if self.classes is None else tuple(self.classes))
        for name in ("constant", "shapes", "pair_shapes", "shares"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        outputs, cells = self.constant.size, sum(self.cell_counts)
        require(self.shapes.shape == (cells, outputs), "shapes", self.shapes.shape, "(cells, outputs)")
        pair_cells = len(self.pairs) * self.pair_levels**2
        require(
            self.pair_shapes.shape == (pair_cells, outputs),
            "pair_shapes",
            self.pair_shapes.shape,
            "(levels^2 a pair, outputs)",
        )
        require(self.shares.shape == (cells,) == np.shape(self.levels), "shares", "...", "one per cell")

    @property
    def positive(self) -> Any:
        """The class of two that a score above 0 stands for; None where there are not two."""
        return self.classes[1] if self.classes is not None and len(self.classes) == 2 else None

    @cached_property
    def declared_schema(self) -> Schema:
        """The schema of the rows that were fitted."""
        return Schema.from_dict(dict(self.schema))

    @cached_property
    def cells(self) -> tuple[ColumnCells, ...]:
        """The cells of each column."""
        return cells_of_columns([self.declared_schema[name] for name in self.columns], self.grid)

    @property
    def cell_counts(self) -> tuple[int, ...]:
        """The number of cells of each column."""
        return tuple(column.count for column in self.cells)

    @cached_property
    def plan(self) -> CellPlan:
        """The plan by which the kernel looks up the cells of a row."""
        levels = tuple(part.astype(np.uint8) for part in self.split(np.asarray(self.levels)))
        return CellPlan(
            cells=self.cell_counts,
            outputs=self.constant.size,
            pairs=self.pairs,
            levels=self.pair_levels,
            level_of=levels,
        )

    def split(self, flat: NDArray[Any]) -> list[NDArray[Any]]:
        """An array over the cells of all columns, split by columns."""
        return np.split(flat, np.cumsum(self.cell_counts)[:-1])

    @cached_property
    def table(self) -> Floats:
        """Shapes and pair shapes as the kernel reads them."""
        values = np.concatenate([self.shapes, self.pair_shapes])
        return np.ascontiguousarray(np.column_stack([values, np.zeros(len(values))]))

    def scores(self, batch: Batch) -> Floats:
        """The scores of each row of a batch, (rows, K)."""
        return self.plan.scores(code_rows(self.cells, batch), self.table, self.constant)

    def value(self) -> dict[str, Any]:
        """What a release stores."""
        return {"format": FORMAT, "rule": RULE} | {
            name: getattr(self, name) for name in self.__dataclass_fields__
        }

    @classmethod
    def of_value(cls, value: Any) -> AdditiveModel:
        """The model of a release's value; `FormatError` for a release of something else."""
        require_format("model", value, FORMAT)
        names = list(cls.__dataclass_fields__)
        stored = require_fields("model", value, ("format", "rule", *names))
        if stored["classes"] is not None and not are_sorted(stored["classes"]):
            raise FormatError("the stored model must list its classes in sorted order, and does not")
        try:
            return cls(**{name: stored[name] for name in names})
        except FormatError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError("a field of the stored model is missing or of the wrong kind") from error

    def to_json(self, **fields: Any) -> str:
        """Plain JSON of cells, shapes and the rule that uses them, and of other `fields`; usable without holdfast."""
        shapes = [
            {
                "column": cells.name,
                "edges": cells.edges.tolist() if cells.numeric else None,
                "labels": list(cells.labels),
                "shape": shape.tolist(),
                "levels": level.tolist(),
            }
            for cells, shape, level in zip(
                self.cells, self.split(self.shapes), self.split(np.asarray(self.levels)), strict=True
            )
        ]
        pairs = [
            {"columns": [self.columns[a], self.columns[b]], "shape": part.tolist()}
            for (a, b), part in zip(
                self.pairs, self.pair_shapes.reshape(-1, self.pair_levels**2, self.constant.size), strict=True
            )
        ]
        return json.dumps(
            {
                "format": FORMAT,
                "rule": RULE,
                "model": self.model,
                "constant": self.constant.tolist(),
                "classes": self.classes,
                "columns": shapes,
                "pairs": pairs,
            }
            | ({} if self.positive is None else {POSITIVE: self.positive})
            | fields,
            indent=1,
            allow_nan=False,
            default=lambda value: value.item(),
        )


def holds_additive(value: Any) -> bool:
    """Whether a release's value is an additive model."""
    return isinstance(value, Mapping) and value.get("format") == FORMAT
