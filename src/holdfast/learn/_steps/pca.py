"""PrivatePCA: principal components of a noisy second moment (Dwork, Talwar, Thakurta and Zhang 2014)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from holdfast._arguments import Seed, checked
from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.errors import ParameterError, require
from holdfast.learn._parameters import COUNT, FLAG, STEP, Parameter, with_parameters
from holdfast.learn._rows.design import INTERCEPT_SHARE, design
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._rows.input_matrix import step_output
from holdfast.learn._rows.summation import BLOCK
from holdfast.learn._steps.step import PrivateStep, lined_up, names_after, release_mean
from holdfast.learn._whitening import from_upper_triangle, second_moment_sensitivity, upper_triangle
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic

SHARE = 0.3
MOST_COLUMNS = 5_000
"""The most columns: their second moment takes 200 MB, and its decomposition a minute."""


def moment_sensitivity(adjacency: Adjacency, row_norm: float, constant: float) -> float:
    """The sensitivity of the sum of (x x^T, sqrt(2) c x) over rows with |x| <= X, the matrix in Frobenius norm.

    One row more or less: sqrt(X^4 + 2 c^2 X^2). One in the place of another: these are the entries, but for a constant,
    of the second moment of (x, c), whose rows have norm sqrt(X^2 + c^2): sqrt(2) (X^2 + c^2), attained at
    <x, z> = -c^2 where c <= X.

    >>> [round(moment_sensitivity(near, 1.0, 0.5), 6) for near in (Adjacency.zero_out, Adjacency.replace)]
    [1.224745, 1.767767]
    """
    if adjacency is Adjacency.replace:
        return second_moment_sensitivity(adjacency, row_norm=math.hypot(row_norm, constant))
    return row_norm * math.sqrt(row_norm**2 + 2.0 * constant**2)


def moment_sums(rows: Floats, constant: float) -> Floats:
    """The sum of (x x^T, sqrt(2) c x), packed so that its length is the norm; private."""
    columns = rows.shape[1]
    gram, total = np.zeros((columns, columns)), np.zeros(columns)
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        gram += part.T @ part
        total += part.sum(axis=0)
    packed = upper_triangle(gram)
    return np.concatenate([packed, math.sqrt(2.0) * constant * total]) if constant else packed


PCA_PARAMETERS = {
    "n_components": Parameter("int", "How many directions.", COUNT),
    "center": Parameter(
        "bool", "Whether the mean is taken away; else the second moment itself is decomposed.", FLAG
    ),
    "whiten": Parameter("bool", "Whether each component is divided by its spread.", FLAG),
}


@checked
@with_parameters(STEP | PCA_PARAMETERS)
class PrivatePCA(PrivateStep):
    """Directions of the largest variance, from one noisy release of the mean and the second moment.

    `informative_` is how many variances stand out of the noise's own spectrum: components beyond it are directions of
    noise.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of the array.
    * Privacy: noise on the second moment of rows of norm at most `row_norm`, and on their sum where `center` is set
      (Dwork, Talwar, Thakurta and Zhang 2014; soundness, section 20); the decomposition is post-processing.
    * Public: all parameters, the number of columns, and the number of rows except under "add_remove".
    * Assumed: `row_norm` was chosen without looking at the data, and nothing that learned from the rows came before.

    Examples
    --------
    >>> random = np.random.default_rng(1)
    >>> rows = random.normal(size=(20_000, 1)) @ [[0.3, 0.3, 0.0]] + 0.01 * random.normal(size=(20_000, 3))
    >>> step = PrivatePCA(1, epsilon=1.0, delta=1e-6).fit(rows)
    >>> [round(abs(float(x)), 1) for x in step.components_[0]], step.informative_ >= 1
    ([0.7, 0.7, 0.0], True)
    """

    FORMAT = "holdfast-pca/1"
    THEOREM = "noise on the second moment of clipped rows (Dwork et al. 2014); the rest is post-processing"
    PUBLIC = ("n_components", "row_norm", "center", "whiten")
    LEARNED = (
        "components_",
        "mean_",
        "explained_variance_",
        "explained_variance_ratio_",
        "noise_norm_",
        "informative_",
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        epsilon: float = 1.0,
        delta: float | None = None,
        share: float = SHARE,
        row_norm: float = 1.0,
        center: bool = True,
        whiten: bool = False,
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        arithmetic: Arithmetic = "strict",
        random_state: Seed | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.share = share
        self.row_norm = row_norm
        self.center = center
        self.whiten = whiten
        self.adjacency = adjacency
        self.n_public = n_public
        self.arithmetic = arithmetic
        self.random_state = random_state

    @property
    def _constant(self) -> float:
        return INTERCEPT_SHARE * float(self.row_norm) if self.center else 0.0

    def _rows(self, X: Floats) -> Floats:
        columns = X.shape[1]
        if columns > MOST_COLUMNS:
            raise ParameterError(
                f"PrivatePCA takes at most {MOST_COLUMNS} columns, got {columns}; use RandomProjection"
            )
        require(
            self.n_components <= columns, "n_components", self.n_components, f"at most {columns}, the columns"
        )
        return design(X, row_norm=float(self.row_norm), constant=0.0)

    def _learn(self, examples: ArrayExamples, account: Account) -> tuple[Assumption, ...]:
        d, constant = examples.dimension, self._constant
        norm = float(self.row_norm) * (1.0 + NORM_SLACK)
        moved = moment_sensitivity(account.adjacency, norm, constant)
        noisy, assumed = release_mean(
            examples,
            moment_sums(examples.features, constant),
            account,
            label="second moment",
            l2_sensitivity=moved,
            row_size=norm * math.sqrt(norm**2 + 2.0 * constant**2),
            arithmetic=self.arithmetic,
        )
        packed = d * (d + 1) // 2
        moment = from_upper_triangle(noisy.mean[:packed], d)
        self.mean_ = noisy.mean[packed:] / (math.sqrt(2.0) * constant) if constant else np.zeros(d)
        size = float(np.linalg.norm(self.mean_))
        self.mean_ *= min(1.0, norm / size) if size else 1.0
        values, basis = np.linalg.eigh(moment - np.outer(self.mean_, self.mean_))
        values, basis = values[::-1], basis[:, ::-1]
        few = self.n_components
        # The sign of a component says nothing; its largest entry is made positive, as scikit-learn does.
        signs = np.sign(basis[np.argmax(np.abs(basis), axis=0), np.arange(d)])
        self.components_ = np.ascontiguousarray((basis * signs).T[:few])
        self.explained_variance_ = np.maximum(values[:few], 0.0)
        whole = float(np.maximum(values, 0.0).sum())
        self.explained_variance_ratio_ = self.explained_variance_ / whole if whole > 0 else np.zeros(few)
        # The spectral norm of symmetric noise of this deviation on the diagonal, 1 / sqrt(2) of it beside.
        self.noise_norm_ = math.sqrt(2.0 * d) * noisy.deviation
        self.informative_ = int(np.sum(values > self.noise_norm_))
        return assumed

    def transform(self, X: Any) -> Floats:
        """The rows of `X`, shortened and centred, along the components."""
        rows = design(self._input_matrix(X), row_norm=float(self.row_norm), constant=0.0)
        scores = (rows - self.mean_) @ self.components_.T
        return np.asarray(scores / self._spread() if self.whiten else scores)

    def inverse_transform(self, X: Any) -> Floats:
        """The rows that have the scores `X` and nothing beside the components."""
        check_is_fitted(self, "release_")
        scores = step_output(X, len(self.components_))
        return np.asarray(
            (scores * self._spread() if self.whiten else scores) @ self.components_ + self.mean_
        )

    def _spread(self) -> Floats:
        """Never below that of the noise."""
        return np.asarray(np.sqrt(np.maximum(self.explained_variance_, max(self.noise_norm_, 1e-300))))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """pca0, pca1, ..., whatever `input_features` are."""
        check_is_fitted(self, "release_")
        return names_after("pca", len(self.components_))

    def summary(self) -> str:
        """The variances, how much of them is noise, and the promise."""
        check_is_fitted(self, "release_")
        pairs = zip(self.explained_variance_, self.explained_variance_ratio_, strict=True)
        rows = [
            [
                f"pca{place}",
                f"{value:.4g}",
                f"{100 * ratio:.1f} %",
                "" if place < self.informative_ else "noise",
            ]
            for place, (value, ratio) in enumerate(pairs)
        ]
        noise = f"the noise alone has variances up to {self.noise_norm_:.3g}"
        return "\n".join(
            [lined_up(["component", "variance", "share", ""], rows), noise, self.release_.summary()]
        )
