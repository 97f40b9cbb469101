"""The options of a permutation SGD run, all of them public, and checks of the arrays that it is given.

Options are checked once, before any row is read. Arrays are converted to the form that both implementations, C and
NumPy, read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.errors import DataError, ParameterError, require

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]
LOSSES: Mapping[str, int] = {"logistic": 0, "huber": 1, "squared": 2}
"""The losses, in the order of `enum hf_loss` in sgd.h."""
MAX_DIMENSION = 2**24


class Status(IntEnum):
    """How a call into the C code ended; numbered as `enum hf_status` in sgd.h."""

    OK = 0
    REJECTED = 1
    BAD_OPTION = 2
    NO_STEP = 3
    DIVERGED = 4


@dataclass(frozen=True, kw_only=True)
class StepSize:
    """The schedule eta_t = min(cap, scale / (offset + t)), t = 1, 2, ... counting batches.

    It covers the schedules with a sensitivity bound (Wu 2016, Algorithms 1 and 2, and Corollary 3.7).

    >>> StepSize(cap=0.5).first(3)
    array([0.5, 0.5, 0.5])
    >>> StepSize(cap=0.5, scale=1.0).first(4)
    array([0.5       , 0.5       , 0.33333333, 0.25      ])
    """

    cap: float = math.inf
    scale: float = math.inf
    offset: float = 0.0

    def __post_init__(self) -> None:
        require(self.cap > 0, "cap", self.cap, "> 0")
        require(self.scale > 0, "scale", self.scale, "> 0")
        require(math.isfinite(min(self.cap, self.scale)), "cap", self.cap, "finite when scale is infinite")
        require(0 <= self.offset < math.inf, "offset", self.offset, ">= 0 and finite")

    def first(self, count: int) -> FloatArray:
        """The first `count` steps, bit for bit the kernel's own: the sensitivity is computed from them."""
        t = np.arange(1, count + 1, dtype=np.float64)
        return np.minimum(self.cap, self.scale / (self.offset + t))


@dataclass(frozen=True, kw_only=True, eq=False)
class SgdOptions:
    """A permutation SGD run: loss, batch, bounds and steps, all public and fixed in advance.

    Rows are clipped to `row_norm`. The gradients of a batch are divided by `batch`, also in a last batch that has fewer
    rows. Labels of the two classification losses count by their sign (0/1 and -1/+1 both work);
    those of the squared loss are clipped to `label_bound`, and its gradient is bounded only on a
    ball, so `radius` is required. Steps come from `step_size`, or one by one from `steps`.
    `average_from=t` returns the mean of the iterates w_t, w_{t+1}, ...; 0 returns the last one.

    >>> SgdOptions(dimension=2, batch=10, loss="squared", step_size=StepSize(cap=0.1))
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: radius must be finite for the squared loss, got radius=inf; ...
    """

    dimension: int
    batch: int
    loss: str = "logistic"
    row_norm: float = 1.0
    penalty: float = 0.0
    radius: float = math.inf
    width: float = 0.1
    label_bound: float = 1.0
    step_size: StepSize | None = None
    steps: FloatArray | None = field(default=None)
    average_from: int = 0

    def __post_init__(self) -> None:
        require(1 <= self.dimension <= MAX_DIMENSION, "dimension", self.dimension, f"in [1, {MAX_DIMENSION}]")
        require(self.batch >= 1, "batch", self.batch, ">= 1")
        require(self.loss in LOSSES, "loss", self.loss, f"one of {sorted(LOSSES)}")
        require(1e-100 <= self.row_norm <= 1e100, "row_norm", self.row_norm, "in [1e-100, 1e100]")
        require(0 <= self.penalty < math.inf, "penalty", self.penalty, ">= 0 and finite")
        require(self.radius > 0, "radius", self.radius, "> 0", "use math.inf for no projection")
        require(0 < self.width < math.inf, "width", self.width, "> 0 and finite")
        require(0 < self.label_bound < math.inf, "label_bound", self.label_bound, "> 0 and finite")
        require(self.average_from >= 0, "average_from", self.average_from, ">= 0")
        require(
            self.loss != "squared" or math.isfinite(self.radius),
            "radius",
            self.radius,
            "finite for the squared loss",
            "its gradient is bounded only on a ball",
        )
        require(
            (self.step_size is None) != (self.steps is None),
            "step_size",
            self.step_size,
            "given exactly when steps is not",
        )
        if self.steps is not None:
            steps = np.array(self.steps, dtype=np.float64)
            steps.setflags(write=False)
            require(steps.ndim == 1, "steps", f"array of shape {steps.shape}", "one-dimensional")
            require(
                bool(np.all((steps > 0) & np.isfinite(steps))), "steps", "array", "> 0 and finite throughout"
            )
            object.__setattr__(self, "steps", steps)


class SgdRun(Protocol):
    """A run in progress. It takes rows in chunks, whose sizes change no bit of the result."""

    @property
    def steps_taken(self) -> int:
        """The number of batches that are complete."""
        ...

    @property
    def rejected_rows(self) -> int:
        """The number of rows that were not finite and counted as null records; private, never to be shown."""
        ...

    def feed(self, rows: ArrayLike, labels: ArrayLike, *, order: ArrayLike | None = None) -> Status:
        """Take rows one after the other, or in the order of these positions."""
        ...

    def end_pass(self) -> None:
        """Take the step of the batch that is incomplete, if it has a row."""
        ...

    def final(self) -> FloatArray:
        """End the pass; return the average of the iterates or the last one, without noise."""
        ...


def checked_block(rows: ArrayLike, labels: ArrayLike, dimension: int) -> tuple[FloatArray, FloatArray]:
    """Rows in float64 with the entries of each row adjacent in memory, and contiguous labels."""
    x = np.asarray(rows, dtype=np.float64)
    y = np.ascontiguousarray(labels, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != dimension or y.shape != x.shape[:1]:
        raise DataError(
            f"rows must have shape (n, {dimension}) and labels (n,), got {x.shape} and {y.shape}; "
            "dimension counts the intercept column too"
        )
    row_stride, entry_stride = x.strides
    adjacent = entry_stride == x.itemsize and row_stride >= 0 and row_stride % x.itemsize == 0
    return (x if adjacent and x.flags.aligned else np.ascontiguousarray(x)), y


def positions(order: ArrayLike, count: int) -> IndexArray:
    """The order as 64-bit positions, each checked to be that of a row."""
    index = np.ascontiguousarray(order, dtype=np.int64)
    if index.ndim != 1 or (index.size and not (index.min() >= 0 and index.max() < count)):
        raise ParameterError(f"order must be positions in [0, {count}), got an array of shape {index.shape}")
    return index


def first_weights(weights: ArrayLike | None, dimension: int) -> FloatArray:
    """The weights at which a run starts: those given, which are public, or zero."""
    start = np.zeros(dimension) if weights is None else np.array(weights, dtype=np.float64)
    if start.shape != (dimension,) or not np.all(np.isfinite(start)):
        raise ParameterError(f"weights must be {dimension} finite numbers, got shape {start.shape}")
    return start


def check_status(status: int, options: SgdOptions) -> Status:
    """The status; an error where the run cannot go on."""
    if status == Status.NO_STEP:
        count = 0 if options.steps is None else options.steps.size
        raise ParameterError(
            f"steps has {count} entries and one more batch came; give passes * ceil(n / batch)"
        )
    if status == Status.DIVERGED:
        raise ParameterError(
            "the iterates are no longer finite: the steps are too large; "
            "keep every step <= 1 / (smoothness + penalty), or set radius"
        )
    return Status(status)
