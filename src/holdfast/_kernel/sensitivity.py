"""The L2 sensitivity of permutation SGD: how far its result can change when one record changes.

The noise of every bolt-on method is calibrated to it. It follows from a backward recursion over the steps.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from holdfast._kernel.options import FloatArray
from holdfast.errors import require

_MACHINE_EPSILON = 2.0**-52


def psgd_sensitivity(
    steps: ArrayLike,
    *,
    batch: int,
    passes: int,
    gradient_change: float,
    smoothness: float,
    penalty: float = 0.0,
    averaging_weights: ArrayLike | None = None,
    unit_rows: int = 1,
) -> float:
    """A bound on the L2 distance between two runs that differ in one record, rounded up.

    `steps` are all step sizes, one for each batch of each pass. `gradient_change` bounds the distance between the
    gradients of the two records' losses at one point (2 L under `replace`, L under `zero_out`); `smoothness` is that of
    the losses without the penalty. `averaging_weights` are the weights of the iterates in the result; without them
    the last iterate is the result. A privacy unit owns at most `unit_rows` records.

    The bound holds for convex losses, where both runs take the records in the same order, no batch has more than
    `batch` records, and gradients are divided by `batch` also in a shorter one (soundness notes, section 1). With steps
    of 1 / (penalty t), larger batches do *not* reduce the sensitivity:

    >>> def one_pass(batch):
    ...     steps = 1 / (0.1 * np.arange(1, 1000 // batch + 1))
    ...     return psgd_sensitivity(
    ...         steps, batch=batch, passes=1, gradient_change=0.1, smoothness=0.0, penalty=0.1
    ...     )
    >>> round(one_pass(1), 9), round(one_pass(50), 9)
    (0.001, 0.001)
    """
    eta = np.asarray(steps, dtype=np.float64)
    require(eta.ndim == 1 and eta.size >= 1, "steps", eta.shape, "a non-empty vector of step sizes")
    require(bool(np.all((eta > 0) & np.isfinite(eta))), "steps", "...", "> 0 and finite throughout")
    require(batch >= 1, "batch", batch, ">= 1")
    divides = passes >= 1 and eta.size % passes == 0
    require(divides, "passes", passes, f"a divisor of the {eta.size} steps")
    for name, bound in (
        ("gradient_change", gradient_change),
        ("smoothness", smoothness),
        ("penalty", penalty),
    ):
        require(0 <= bound < math.inf, name, bound, ">= 0 and finite")
    rows_per_pass = batch * (eta.size // passes)
    require(
        1 <= unit_rows <= rows_per_pass,
        "unit_rows",
        unit_rows,
        f"in [1, {rows_per_pass}], the records of one pass",
    )
    # A step multiplies the difference of two iterates by (1 - eta penalty) I - eta H, where 0 <= H <= smoothness: its
    # norm is largest at one of the two ends. For eta <= 1 / (smoothness + penalty) it is 1 - eta penalty; larger steps
    # may enlarge the difference.
    factor = np.maximum(np.abs(1.0 - eta * penalty), np.abs(1.0 - eta * (penalty + smoothness)))
    # Soundness notes, section 1: a_t = (G eta_t / b) A_t; each pass contributes its largest a_t.
    change_by_step = gradient_change * eta / batch * _remaining_effect(factor, averaging_weights)
    change_by_pass = -np.sort(-change_by_step.reshape(passes, -1), axis=1)
    # Section 18: at worst the records of a unit fill whole batches, those of the largest changes first.
    full_batches, rest = divmod(unit_rows, batch)
    total = batch * float(change_by_pass[:, :full_batches].sum())
    total += rest * float(change_by_pass[:, full_batches].sum()) if rest else 0.0
    # Rounding: sums and products of non-negative numbers have a relative error of a few units for each step.
    return total * (1.0 + (4.0 * eta.size + 16.0) * _MACHINE_EPSILON)


def _remaining_effect(factor: FloatArray, averaging_weights: ArrayLike | None) -> FloatArray:
    """A_t = weight_t + factor_{t+1} A_{t+1}: how much of a change of size 1 in step t is left in the result."""
    if averaging_weights is None:
        return np.concatenate([np.cumprod(factor[:0:-1])[::-1], [1.0]])
    weight = np.asarray(averaging_weights, dtype=np.float64)
    require(
        weight.shape == factor.shape,
        "averaging_weights",
        weight.shape,
        f"one for each of {factor.size} steps",
    )
    require(bool(np.all((weight >= 0) & np.isfinite(weight))), "averaging_weights", "...", ">= 0 and finite")
    effect, following = np.empty_like(factor), 0.0
    later_factors = np.append(factor[1:], 0.0).tolist()
    for t, (weight_of_step, shrink) in enumerate(
        zip(weight[::-1].tolist(), later_factors[::-1], strict=True)
    ):
        following = weight_of_step + shrink * following
        effect[factor.size - 1 - t] = following
    return effect


def averaging_from(first: int, *, steps: int) -> FloatArray:
    """The weights of the iterates in the mean of iterates `first`, `first` + 1, ...; 0 stands for the last one alone.

    >>> averaging_from(3, steps=4).tolist(), averaging_from(0, steps=4).tolist()
    ([0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.0, 1.0])
    """
    require(0 <= first <= steps, "first", first, f"in [0, {steps}]")
    start = first if first else steps
    weights = np.zeros(steps)
    weights[start - 1 :] = 1.0 / (steps - start + 1)
    return weights


def rounding_slack(
    steps: ArrayLike,
    *,
    dimension: int,
    batch: int,
    lipschitz: float,
    smoothness: float,
    penalty: float = 0.0,
    radius: float = math.inf,
    start_norm: float = 0.0,
) -> float:
    """How much float64 rounding inside the kernel may add to the distance of two runs (soundness notes, section 16).

    Iterates are projected onto a ball of this `radius`; without one, they stay within a norm of `start_norm` plus
    min(lipschitz / penalty, lipschitz * sum of steps).

    >>> rounding_slack(np.ones(100), dimension=10, batch=50, lipschitz=1.0, smoothness=0.25) < 1e-9
    True
    """
    eta = np.asarray(steps, dtype=np.float64)
    total = float(eta.sum())
    path_length = lipschitz * total if penalty == 0 else min(lipschitz / penalty, lipschitz * total)
    reach = min(radius, start_norm + path_length)
    per_step = (dimension + 8) * reach * eta.size
    return 2.0**-51 * (per_step + total * (dimension * smoothness * reach + (batch + 16) * lipschitz))
