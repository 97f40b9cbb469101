"""RandomProjection: fewer columns by a public random matrix, as a step of a pipeline before a private estimator.

The matrix is drawn from a seed and looks at no row, so it costs nothing and nothing need be proved about it: what
follows clips the projected rows and pays for what it does with them. After the clip it could lengthen rows again.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast._arguments import Seed, check_settings, checked
from holdfast.errors import ParameterError, require
from holdfast.learn._rows.input_matrix import input_matrix
from holdfast.learn._rows.numbers_only import numbers_only
from holdfast.privacy._account.unpaid_steps import PUBLIC

MOST_ENTRIES = 2**27
"""Of the matrix: a gigabyte."""


@checked
class RandomProjection(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """X -> X A / sqrt(components), A with independent standard normal entries (Johnson and Lindenstrauss 1984).

    Lengths are kept in expectation. `fit` reads how many columns there are, and nothing else, so it costs nothing.

    Parameters
    ----------
    components : int
        How many columns the projected rows have; >= 1.
    seed : int
        From which the matrix is drawn. It is public: it is stored with whatever uses the projection, or predictions
        could not be repeated.

    Examples
    --------
    >>> step = RandomProjection(components=50, seed=1).fit(np.zeros((1, 784)))
    >>> step.transform(np.eye(784)[:3]).shape
    (3, 50)
    """

    payment: ClassVar[str] = PUBLIC

    def __init__(self, components: int = 50, *, seed: Seed = 0) -> None:
        self.components = components
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the matrix for as many columns as `X` has; neither its values nor `y` are looked at."""
        check_settings(self)
        whole = isinstance(self.components, int | np.integer) and not isinstance(self.components, bool)
        require(whole and self.components >= 1, "components", self.components, "a whole number >= 1")
        known = isinstance(self.seed, int | np.integer) and not isinstance(self.seed, bool)
        require(known and self.seed >= 0, "seed", self.seed, "a whole number >= 0")
        with numbers_only(X):
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        columns = int(X.shape[1])
        if columns * self.components > MOST_ENTRIES:
            raise ParameterError(
                f"components must be at most {MOST_ENTRIES // columns} for {columns} columns, "
                f"got components={self.components}"
            )
        random = np.random.Generator(np.random.PCG64(self.seed))
        self.matrix_ = random.standard_normal((columns, self.components)) / math.sqrt(self.components)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The projected rows of `X`."""
        check_is_fitted(self)
        X = input_matrix(self, X, accept_sparse="csr")
        return np.asarray(X @ self.matrix_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """projection0, projection1, ..., whatever `input_features` are."""
        check_is_fitted(self)
        return np.asarray([f"projection{place}" for place in range(self.components)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
