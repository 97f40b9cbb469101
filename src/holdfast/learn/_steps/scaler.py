"""PrivateScaler: means and spreads of declared columns with noise, and columns brought to one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from holdfast._arguments import Seed, checked
from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast.learn._parameters import POSITIVE, STEP, Parameter, with_parameters
from holdfast.learn._rows.declared_bounds import pairs_of_bounds
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._rows.input_matrix import step_output
from holdfast.learn._rows.summation import BLOCK
from holdfast.learn._steps.step import PrivateStep, lined_up, release_mean
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic

VARIANCE_FLOOR = 3.0
"""The least variance of a column, in standard deviations of its noise, so that noise is not scaled up."""
SHARE = 0.1


def box_sensitivity(adjacency: Adjacency, columns: int) -> float:
    """The L2 sensitivity of the sum of (u, u^2) over rows u in [-1, 1]^d.

    A row brings u^2 + u^4 <= 2 a column. One in the place of another: (u - v)^2 (1 + (u + v)^2) <= 4 a column, at
    u = 1, v = -1: with s = |u + v| and |u - v| <= 2 - s it is at most (2 - s)^2 (1 + s^2), which falls from 4 to 0 on
    [0, 2].

    >>> box_sensitivity(Adjacency.replace, 4), round(box_sensitivity(Adjacency.zero_out, 4), 6)
    (4.0, 2.828427)
    """
    return math.sqrt((4.0 if adjacency is Adjacency.replace else 2.0) * columns)


def box_sums(rows: Floats) -> Floats:
    """The sum of (u, u^2) over all rows, a block at a time; private."""
    total = np.zeros(2 * rows.shape[1])
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        total += np.concatenate([part.sum(axis=0), np.einsum("ij,ij->j", part, part)])
    return total


SCALER_PARAMETERS = {
    "bounds": Parameter(
        "pair, or one per column",
        "Declared: one pair (low, high) for all columns or one for each. Values outside are moved to the nearest "
        "bound, here and in `transform`.",
    ),
    "length": Parameter(
        "float, optional",
        "The typical Euclidean norm that rows are brought to, so that an estimator of that `row_norm` follows; None "
        "leaves columns with variance 1.",
        POSITIVE.optional(),
    ),
}


@checked
@with_parameters(STEP | SCALER_PARAMETERS)
class PrivateScaler(PrivateStep):
    """(x - mean) / spread for each column, from one noisy release of sums and sums of squares.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of the array.
    * Privacy: noise on the sums of columns within their bounds and of their squares, by the Gaussian mechanism or,
      without delta, by Laplace noise (Dwork et al. 2006); means, spreads and `transform` are post-processing.
    * Public: all parameters, the number of columns, and the number of rows except under "add_remove".
    * Assumed: `bounds` were declared without looking at the data, and nothing that learned from the rows came before.

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal([40.0, 30_000.0], [10.0, 8_000.0], size=(5_000, 2))
    >>> step = PrivateScaler([(0, 100), (0, 100_000)], epsilon=1.0, delta=1e-6).fit(rows)
    >>> bool(abs(step.mean_[0] - 40.0) < 2.0)
    True
    """

    FORMAT = "holdfast-scaler/1"
    THEOREM = "noise on sums of clipped columns and of their squares (Dwork et al. 2006); the rest is post-processing"
    PUBLIC = ("bounds", "length")
    LEARNED = ("mean_", "scale_", "noise_std_", "hidden_")

    def __init__(
        self,
        bounds: Sequence[float] | Sequence[Sequence[float]] = (-1.0, 1.0),
        *,
        epsilon: float = 1.0,
        delta: float | None = None,
        share: float = SHARE,
        length: float | None = 1.0,
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        arithmetic: Arithmetic = "strict",
        random_state: Seed | None = None,
    ) -> None:
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta
        self.share = share
        self.length = length
        self.adjacency = adjacency
        self.n_public = n_public
        self.arithmetic = arithmetic
        self.random_state = random_state

    def _rows(self, X: Floats) -> Floats:
        middle, half = self._box()
        return np.asarray(np.clip((X - middle) / half, -1.0, 1.0))

    def _box(self) -> tuple[Floats, Floats]:
        pairs = pairs_of_bounds(self.bounds, self.n_features_in_)
        # Halves first: the sum of two bounds may be too large for a float.
        return 0.5 * pairs[:, 0] + 0.5 * pairs[:, 1], 0.5 * (pairs[:, 1] - pairs[:, 0])

    def _learn(self, examples: ArrayExamples, account: Account) -> tuple[Assumption, ...]:
        columns = examples.dimension
        noisy, assumed = release_mean(
            examples,
            box_sums(examples.features),
            account,
            label="scaler",
            l2_sensitivity=box_sensitivity(account.adjacency, columns),
            row_size=math.sqrt(2.0 * columns),
            arithmetic=self.arithmetic,
        )
        middle, half = self._box()
        mean = np.clip(noisy.mean[:columns], -1.0, 1.0)
        floor = min(VARIANCE_FLOOR * noisy.deviation, 1.0)
        variance = noisy.mean[columns:] - mean**2
        self.hidden_ = variance < floor
        self.mean_ = middle + half * mean
        self.scale_ = half * np.sqrt(np.clip(variance, floor, 1.0))
        self.noise_std_ = half * noisy.deviation
        return assumed

    @property
    def _unit(self) -> float:
        return 1.0 if self.length is None else float(self.length) / math.sqrt(self.n_features_in_)

    def transform(self, X: Any) -> Floats:
        """The rows of `X` clipped to the bounds, centred and scaled."""
        X = self._input_matrix(X)
        pairs = pairs_of_bounds(self.bounds, self.n_features_in_)
        inside = np.clip(X, pairs[:, 0], pairs[:, 1])
        return np.asarray((inside - self.mean_) * (self._unit / self.scale_))

    def inverse_transform(self, X: Any) -> Floats:
        """The scaled rows `X` in the columns' own units."""
        check_is_fitted(self, "release_")
        rows = step_output(X, self.n_features_in_)
        return np.asarray(rows * (self.scale_ / self._unit) + self.mean_)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns as they came in: those of the fit, or `input_features`."""
        from sklearn.utils.validation import _check_feature_names_in

        return _check_feature_names_in(self, input_features)

    def summary(self) -> str:
        """Each column's noisy mean and spread, and the promise."""
        check_is_fitted(self, "release_")
        names = self.get_feature_names_out()
        rows = [
            [str(name), f"{mean:.4g}", "below the noise" if hidden else f"{scale:.4g}", f"{noise:.2g}"]
            for name, mean, scale, hidden, noise in zip(
                names, self.mean_, self.scale_, self.hidden_, self.noise_std_, strict=True
            )
        ]
        return "\n".join(
            [lined_up(["column", "mean", "spread", "noise in the mean"], rows), self.release_.summary()]
        )
