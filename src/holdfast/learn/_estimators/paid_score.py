"""Scores of a model on each row, in [0, 1], for searches that pay for scores with an account.

The mean of such numbers has sensitivity 1/n, whatever the rows and the model. R^2 has no such bound; scikit-learn's
accuracy has it, but no noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.errors import DataError, require
from holdfast.privacy._account.shared import FitShare


def row_scores(model: Any, X: Any, y: Any, *, unit: Any = None) -> NDArray[np.float64]:
    """1 for a class that is right, 0 for a wrong one; for numbers 1 - e^2, e the error over the range of the target.

    Errors are cut at the range that was declared, so that each lies in [0, 1]. `unit` is that range where it is not
    the model's own: models with several are compared in one.

    >>> from holdfast.learn import PrivateRidge
    >>> class Always5(PrivateRidge):
    ...     def predict(self, X): return np.full(len(X), 5.0)
    >>> row_scores(Always5(target_bounds=(0, 10)), np.zeros((3, 1)), [5, 10, 400]).tolist()
    [1.0, 0.75, 0.75]
    """
    predicted, given = np.asarray(model.predict(X)), np.ravel(np.asarray(y))
    require(predicted.shape == given.shape, "y", given.shape, f"one for each of {len(predicted)} rows")
    last = model[-1] if hasattr(model, "steps") else model
    if hasattr(last, "classes_"):
        return np.asarray(predicted.astype(object) == given.astype(object), dtype=np.float64)
    coding = last._targets(None)[0] if unit is None else unit
    try:
        wanted = np.clip(given.astype(np.float64), coding.low, coding.high)
    except (TypeError, ValueError):
        raise DataError("y must hold numbers") from None
    error = np.clip((predicted - wanted) / (coding.high - coding.low), -1.0, 1.0)
    return np.asarray(1.0 - error**2)


@checked
class PaidScore:
    """`score` as scikit-learn has it; of a fit that a shared account paid for paid too, noisy and in [0, 1]."""

    _score_share: FitShare | None

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy or R^2, not private. Where a shared account pays for it: the noisy mean of `row_scores`, once.

        The fit of all rows, after those of the folds, is scored by its owner alone, who is not charged.
        """
        share = self._score_share
        if share is None:
            return float(super().score(X, y, sample_weight=sample_weight))  # type: ignore[misc]
        require(sample_weight is None, "sample_weight", "...", "None where an account pays for the score")
        return share.score(row_scores(self, X, y))
