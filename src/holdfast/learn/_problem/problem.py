"""Problem: the objective, the constants that a proof may use, and the coding of labels as numbers; all of it public."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.data._batch import Batch
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.data._schema import Categorical, Numeric
from holdfast.errors import DataError, ParameterError, require
from holdfast.learn._problem.losses import Loss
from holdfast.privacy._adjacency import Adjacency

MOST_CLASSES = 1_000
"""A pass over n rows takes n of them in numbers: with 200,000 classes a step on 1,000 rows took 1.6 GB and seconds."""


@checked
@dataclass(frozen=True, kw_only=True)
class Problem:
    """(1/n) sum of losses + (penalty / 2) |w|^2, over |w| <= radius: what a method minimises, all of it public.

    No method penalises the weight of the constant column: `penalties` leaves it out, and methods whose proof needs a
    penalty on every weight count that one from a centre that they pay for (soundness, section 0). `outputs` says how
    many predictions.

    Parameters
    ----------
    loss : Loss
        Of a prediction and a label, such as `holdfast.learn._problem.losses.Logistic()`.
    dimension : int
        The number of columns, the constant column included; >= 1.
    penalty : float
        lambda, >= 0 and finite.
    radius : float
        Weights are confined to this Euclidean norm; `math.inf` for no bound.
    row_norm : float
        Rows, with their constant column, have at most this Euclidean norm.
    constant : float
        What the last column is in every row that is not null; 0 where it is a column like the others.
    active : int, optional
        How many numbers of a row may differ from 0, where not all: one for each declared column, and the constant.

    Examples
    --------
    >>> from holdfast.learn._problem.losses import Logistic
    >>> Problem(loss=Logistic(), dimension=3).gradient_change("replace") > 2
    True
    """

    loss: Loss
    dimension: int
    penalty: float = 0.0
    radius: float = math.inf
    row_norm: float = 1.0
    constant: float = 0.0
    active: int | None = None

    def __post_init__(self) -> None:
        require(self.dimension >= 1, "dimension", self.dimension, ">= 1")
        require(0 <= self.penalty < math.inf, "penalty", self.penalty, ">= 0 and finite")
        require(self.radius > 0, "radius", self.radius, "> 0", "use math.inf for no projection")
        require(0 < self.row_norm < math.inf, "row_norm", self.row_norm, "> 0 and finite")
        require(self.active is None or self.active >= 1, "active", self.active, ">= 1, or None for all")

    @property
    def active_columns(self) -> int:
        """How many numbers of a row may differ from 0."""
        return self.dimension if self.active is None else min(self.active, self.dimension)

    @property
    def has_intercept(self) -> bool:
        """Whether the last column is constant."""
        return self.constant > 0

    @property
    def penalised(self) -> NDArray[np.float64]:
        """1 for each column whose weight is penalised, 0 for the constant column.

        >>> from holdfast.learn._problem.losses import Logistic
        >>> Problem(loss=Logistic(), dimension=3, penalty=0.1, constant=0.5).penalised.tolist()
        [1.0, 1.0, 0.0]
        """
        mask = np.ones(self.dimension)
        mask[-1] = 0.0 if self.has_intercept else 1.0
        return mask

    @property
    def penalties(self) -> NDArray[np.float64]:
        """The penalty on the weight of each column."""
        return self.penalty * self.penalised

    @property
    def outputs(self) -> str:
        """Whether the loss takes "one" prediction, or "several", one for each class."""
        return "several" if self.loss.predictions > 1 else "one"

    @property
    def predictions(self) -> int:
        """The number of predictions: 1, or the number of classes."""
        return self.loss.predictions

    @property
    def weights(self) -> int:
        """The number of weights: d for each prediction."""
        return self.predictions * self.dimension

    def slopes(self, z: NDArray[np.float64], labels: NDArray[np.float64]) -> NDArray[np.float64]:
        """The slopes of the loss at predictions `z` of shape (rows, predictions), for `labels`; in the same shape."""
        fitting = z.size == self.predictions * len(labels) and labels.ndim == 1
        require(fitting, "z.shape", z.shape, f"{self.predictions} predictions for each of the labels")
        return self.loss.slopes(z if self.outputs == "several" else z[:, 0], labels).reshape(z.shape)

    def of_weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The `weights` in the shape that a method releases: a vector for one prediction, a row for each of several."""
        shape = (self.predictions, self.dimension) if self.outputs == "several" else (self.dimension,)
        require(weights.size == math.prod(shape), "weights.size", weights.size, f"that of shape {shape}")
        return np.asarray(weights).reshape(shape)

    @property
    def unconstrained(self) -> bool:
        """Whether neither a penalty nor a radius is asked for."""
        return self.penalty == 0 and math.isinf(self.radius)

    @property
    def norm_bound(self) -> float:
        """The row norm with the slack of clipping."""
        return self.row_norm * (1.0 + NORM_SLACK)

    @property
    def lipschitz(self) -> float:
        """L of the data loss: the penalty cancels when two records are compared at one point."""
        # The slack once more: a bound on predictions inside the slope is for the declared norm.
        return self.norm_bound * self.loss.slope * (1.0 + NORM_SLACK)

    @property
    def smoothness(self) -> float:
        """beta_0 of the data loss, without the penalty."""
        return self.norm_bound**2 * self.loss.curvature

    def gradient_change(self, adjacency: Adjacency | str) -> float:
        """G_delta: the sensitivity of a sum of gradients to one record, in this `adjacency` (soundness, section 0)."""
        return Adjacency.of(adjacency).gradient_factor * self.lipschitz

    def require(self, needs: Iterable[str], *, method: str) -> None:
        """Refuse a problem that lacks what the proof of a method needs.

        Parameters
        ----------
        needs : iterable of str
            Of "lipschitz", "smooth" and "strongly_convex"; other needs are not the problem's.
        method : str
            The method's name, for the message.
        """
        checks = {
            "lipschitz": self.require_lipschitz,
            "smooth": self.require_smooth,
            "strongly_convex": self.require_strongly_convex,
        }
        for need in needs:
            if need in checks:
                checks[need](method)

    def require_lipschitz(self, method: str) -> None:
        """Refuse, in the name of `method`, a loss whose gradient has no bound."""
        if not math.isfinite(self.lipschitz):
            free = math.isinf(self.radius)
            instead = "give radius=..." if free else "give the loss prediction_bound=row_norm * radius"
            raise ParameterError(
                f"{method} needs a loss with a bounded gradient; the {self.loss.name} loss has one only with a "
                f"finite radius, got radius={self.radius!r}; {instead}"
            )
        bound = self.loss.largest_prediction
        if bound < self.row_norm * self.radius * (1.0 - 1e-12) and math.isfinite(bound):
            raise ParameterError(
                f"prediction_bound must be >= row_norm * radius = {self.row_norm * self.radius!r} for {method}, "
                f"got prediction_bound={bound!r}; its Lipschitz constant holds on the ball only"
            )

    def require_smooth(self, method: str) -> None:
        """Refuse, in the name of `method`, a loss without a second derivative."""
        if not math.isfinite(self.smoothness):
            raise ParameterError(
                f"{method} needs a smooth loss, the {self.loss.name} loss is not; use the Huber-smoothed hinge"
            )

    def require_strongly_convex(self, method: str) -> None:
        """Refuse, in the name of `method`, a problem without a penalty."""
        if self.penalty <= 0:
            raise ParameterError(
                f"penalty must be > 0 for {method}, got penalty={self.penalty!r}; "
                "give penalty=..., or use method='auto'"
            )


# Labels, as numbers that losses take. Everything here is declared, or an assumption.


POSITIVE = "positive_class"
"""The parameter of a release that names it."""


def are_sorted(classes: Iterable[Any]) -> bool:
    """Whether classes are in the order of scikit-learn's `classes_`, each once.

    >>> are_sorted(["no", "yes"]), are_sorted([1, 0]), are_sorted([False, True])
    (True, False, True)
    """
    listed = list(classes)
    return bool(np.unique(np.asarray(listed)).tolist() == listed)


class LabelCoding(Protocol):
    """How labels are encoded as numbers for a loss."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of a release that describe the labels."""

    @property
    def names(self) -> tuple[Any, ...] | None:
        """The classes as plain values; None where labels are numbers."""

    @property
    def predictions(self) -> int:
        """The number of predictions for these labels: one, or one for each class."""

    def encode(self, y: Any) -> Floats:
        """Labels from an array."""

    def encode_column(self, batch: Batch, name: str) -> Floats:
        """Labels from a column of a table; NaN where a row has none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassLabels:
    """One of a public list of classes: -1 and +1 if there are two, else their places in the list.

    The list is sorted as scikit-learn sorts `classes_`, in whatever order it was declared, so that every scorer finds
    the probability of a class where it looks for it. Of two classes the last is the positive one.

    >>> ClassLabels(classes=np.array(["yes", "no"])).encode(["yes", "no"]).tolist()
    [1.0, -1.0]
    """

    classes: NDArray[Any]
    places: NDArray[np.int64] | None = None
    """Of a table's column: the place of each of its cells in `classes`, -1 for a cell that is no class."""

    def __post_init__(self) -> None:
        known = len(self.classes)
        ordered = np.unique(self.classes)
        if len(ordered) < known:
            raise ParameterError(f"classes must differ, got {known} of which some are equal")
        if known < 2:
            raise ParameterError(
                "a classifier needs at least two classes, got one class; declare them: classes=[...]"
            )
        if known > MOST_CLASSES:
            raise ParameterError(
                f"a classifier has at most {MOST_CLASSES:,} classes, got more: it holds a score of each row for "
                "each of them; declare fewer categories of the target, such as the groups that they belong to"
            )
        object.__setattr__(self, "classes", ordered)

    @property
    def names(self) -> tuple[Any, ...]:
        """The classes as plain values."""
        return tuple(self.classes.tolist())

    @property
    def parameters(self) -> dict[str, Any]:
        """What a release says of the classes: of two, which one scores and coefficients speak for."""
        return {POSITIVE: self.names[-1]} if self.binary else {}

    @property
    def binary(self) -> bool:
        """Whether there are two."""
        return len(self.classes) == 2

    @property
    def predictions(self) -> int:
        """One for two classes, else one for each."""
        return 1 if self.binary else len(self.classes)

    @property
    def positive_cells(self) -> tuple[int, ...]:
        """The cells of a table's column that are the positive class of two."""
        return () if self.places is None else tuple(np.flatnonzero(self.places == 1).tolist())

    def encode(self, y: Any) -> Floats:
        """The labels; one that is not in the list is an error, which is not private (no label is named)."""
        y = np.asarray(y)
        places = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        if not bool(np.all(self.classes[places] == y)):
            raise DataError(
                f"labels must be among the {len(self.classes)} declared classes, and some are not; "
                "declare them all, or leave those rows out"
            )
        return self._labels(places)

    def encode_column(self, batch: Batch, name: str) -> Floats:
        """The labels of a column whose cells are the classes; NaN where a row has none of them."""
        codes = batch.codes(name)
        places = codes if self.places is None else self.places[codes]
        absent = batch.without_value(name)
        return np.where(
            (places < 0) if absent is None else absent | (places < 0), np.nan, self._labels(places)
        )

    def _labels(self, places: NDArray[Any]) -> Floats:
        return 2.0 * places - 1.0 if self.binary else places.astype(np.float64)

    @classmethod
    def of_column(cls, column: Numeric | Categorical, classes: Any = None) -> ClassLabels:
        """The cells of a schema's column; `classes` may only repeat them, in any order.

        >>> labels = ClassLabels.of_column(Categorical("ill", ["yes", "no"]))
        >>> labels.names, labels.places.tolist(), labels.positive_cells
        (('no', 'yes'), [1, 0], (0,))
        """
        if isinstance(column, Numeric) and not column._one_cell_per_value:
            raise ParameterError(
                f"target must be categorical, or whole numbers of few values, got column {column.name!r}; "
                "use a regression, or declare its classes"
            )
        # The cell of missing numbers stands for no number.
        declared: Sequence[Any] = (
            column.midpoints[: len(column.edges) - 1] if isinstance(column, Numeric) else column.values
        )
        if classes is not None and not _repeats(classes, declared, column.labels[: len(declared)]):
            raise ParameterError(
                f"classes contradict the schema, which declares {len(declared)} of column {column.name!r}; "
                "leave classes out"
            )
        places = np.full(column.cells, -1, dtype=np.int64)
        places[: len(declared)] = np.unique(np.asarray(declared), return_inverse=True)[1]
        return cls(classes=np.asarray(declared), places=places)


def _repeats(classes: Any, *declared: Any) -> bool:
    """Whether the classes are these values, or those, in any order.

    >>> _repeats([1, 0], (0, 1), ("0", "1")), _repeats(["1", "0"], (0, 1), ("0", "1")), _repeats([0], (0, 1))
    (True, True, False)
    """
    given = np.asarray(classes, dtype=object).ravel().tolist()
    return any(len(given) == len(values) and set(given) == set(values) for values in declared)


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
    def parameters(self) -> dict[str, Any]:
        """Nothing: the bounds are in the schema, or among the estimator's own."""
        return {}

    @property
    def names(self) -> None:
        """Numbers have none."""
        return None

    @property
    def predictions(self) -> int:
        """The number itself."""
        return 1

    @property
    def centre(self) -> float:
        """The number that is subtracted from targets."""
        return self.low + (self.high - self.low) / 2 if self.centred else 0.0

    @property
    def scale(self) -> float:
        """The number by which targets are divided."""
        return (self.high - self.low) / 2 if self.centred else max(abs(self.low), abs(self.high))

    def encode(self, y: Any) -> Floats:
        """Clipped and scaled."""
        values = np.clip(np.asarray(y, dtype=np.float64), self.low, self.high)
        return np.clip((values - self.centre) / self.scale, -1.0, 1.0)

    def encode_column(self, batch: Batch, name: str) -> Floats:
        """Clipped and scaled, from a column of a table; NaN where a row has no number."""
        labels, absent = self.encode(batch.column(name)), batch.without_value(name)
        return labels if absent is None else np.where(absent, np.nan, labels)


@dataclass(frozen=True, kw_only=True)
class ShiftedNumbers:
    """The same numbers within a bound, and a public number taken from each.

    >>> ShiftedNumbers(
    ...     numbers=NumberLabels(low=0.0, high=10.0, centred=True), bound=0.5, shift=0.25
    ... ).encode([5.0, 99.0]).tolist()
    [-0.25, 0.25]
    """

    numbers: NumberLabels
    bound: float
    shift: float

    @property
    def parameters(self) -> dict[str, Any]:
        """As of the numbers; the shift is among those of the method that paid for it."""
        return self.numbers.parameters

    @property
    def names(self) -> None:
        """Numbers have none."""
        return None

    @property
    def predictions(self) -> int:
        """The number itself."""
        return 1

    def encode(self, y: Any) -> Floats:
        """Clipped and shifted."""
        return self._shift_labels(self.numbers.encode(y))

    def encode_column(self, batch: Batch, name: str) -> Floats:
        """Clipped and shifted, from a column of a table; NaN where a row has no number."""
        return self._shift_labels(self.numbers.encode_column(batch, name))

    def _shift_labels(self, labels: Floats) -> Floats:
        return np.clip(labels, -self.bound, self.bound) - self.shift
