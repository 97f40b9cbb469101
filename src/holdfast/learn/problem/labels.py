"""How labels become the numbers that losses take. Everything here is declared, or an assumption."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.data.rows import Batch
from holdfast.data.schema import Categorical, Numeric
from holdfast.errors import DataError, ParameterError, require

Floats = NDArray[np.float64]


class LabelCoding(Protocol):
    """What a loss is told about a label."""

    def encode(self, y: Any) -> Floats:
        """Labels from an array."""

    def encode_column(self, batch: Batch, name: str) -> Floats:
        """Labels from a column of a table."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassLabels:
    """One of a public list of classes: -1 and +1 if there are two, else their places in the list.

    >>> ClassLabels(classes=np.array(["no", "yes"])).encode(["yes", "no"]).tolist()
    [1.0, -1.0]
    """

    classes: NDArray[Any]

    def __post_init__(self) -> None:
        known = len(self.classes)
        if len(np.unique(self.classes)) < known:
            raise ParameterError(f"classes must differ, got {known} of which some are equal")
        if known < 2:
            raise ParameterError(
                "a classifier needs at least two classes, got one class; declare them: classes=[...]"
            )

    @property
    def names(self) -> tuple[Any, ...]:
        """The classes as plain values."""
        return tuple(self.classes.tolist())

    @property
    def binary(self) -> bool:
        """Whether there are two."""
        return len(self.classes) == 2

    def encode(self, y: Any) -> Floats:
        """The labels; one that is not in the list is an error, which is not private (no label is named)."""
        y = np.asarray(y)
        order = np.argsort(self.classes)
        ranked = self.classes[order]
        place = np.minimum(np.searchsorted(ranked, y), len(ranked) - 1)
        if not bool(np.all(ranked[place] == y)):
            raise DataError(
                f"labels must be among the {len(self.classes)} declared classes, and some are not; "
                "declare them all, or leave those rows out"
            )
        return self._labels(order[place])

    def encode_column(self, batch: Batch, name: str) -> Floats:
        """The labels of a column whose cells are the classes."""
        return self._labels(batch.codes(name))

    def _labels(self, codes: NDArray[Any]) -> Floats:
        return 2.0 * codes - 1.0 if self.binary else codes.astype(np.float64)

    @classmethod
    def of_column(cls, column: Numeric | Categorical, classes: Any = None) -> ClassLabels:
        """The cells of a schema's column; `classes` may only repeat them."""
        declared = column.midpoints if isinstance(column, Numeric) else column.labels
        if isinstance(column, Numeric) and not column._one_cell_per_value:
            raise ParameterError(
                f"target must be categorical, or whole numbers of few values, got column {column.name!r}; "
                "use a regression, or declare its classes"
            )
        if classes is not None and list(classes) != list(declared):
            raise ParameterError(
                f"classes contradict the schema, which declares {len(declared)} of column {column.name!r}; "
                "leave classes out"
            )
        return cls(classes=np.asarray(declared))


@dataclass(frozen=True, kw_only=True)
class NumberLabels:
    """A number between public bounds, clipped to them; losses see (y - centre) / scale, within [-1, 1].

    Without an intercept nothing could undo a shift, so the centre is 0.

    >>> NumberLabels(low=0.0, high=10.0, centred=True).encode([5.0, 10.0, 99.0]).tolist()
    [0.0, 1.0, 1.0]
    """

    low: float
    high: float
    centred: bool

    def __post_init__(self) -> None:
        finite = math.isfinite(self.low) and math.isfinite(self.high - self.low)
        require(
            finite and self.low < self.high,
            "target_bounds",
            (self.low, self.high),
            "finite, the first smaller",
        )

    @property
    def centre(self) -> float:
        """What is subtracted."""
        return self.low + (self.high - self.low) / 2 if self.centred else 0.0

    @property
    def scale(self) -> float:
        """What is divided by."""
        return (self.high - self.low) / 2 if self.centred else max(abs(self.low), abs(self.high))

    def encode(self, y: Any) -> Floats:
        """Clipped and scaled."""
        values = np.clip(np.asarray(y, dtype=np.float64), self.low, self.high)
        return np.clip((values - self.centre) / self.scale, -1.0, 1.0)

    def encode_column(self, batch: Batch, name: str) -> Floats:
        """Clipped and scaled, from a column of a table."""
        return self.encode(batch.column(name))
