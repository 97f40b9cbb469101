"""Scores that a shared account pays for: noisy means of a score of each row in [0, 1].

The mean of such numbers has sensitivity 1/n, whatever the rows and the model are. R^2 has no such bound, and
scikit-learn's accuracy has it but no noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.errors import DataError, require
from holdfast.privacy._account.shared import FitShare


def row_scores(model: Any, X: Any, y: Any, *, unit: Any = None) -> Floats:
    """The score of each row: 1 for a right class and 0 for a wrong one, or 1 - e^2 for a number.

    The error e is over the declared range of the target and clipped to [-1, 1]. `unit` is the coding with that range,
    by default the model's own: models with different ranges must be compared in one.

    >>> from holdfast.learn import PrivateRidge
    >>> class Always5(PrivateRidge):
    ...     def predict(self, X): return np.full(len(X), 5.0)
    >>> row_scores(Always5(target_bounds=(0, 10)), np.zeros((3, 1)), [5, 10, 400]).tolist()
    [1.0, 0.75, 0.75]
    """
    predictions, targets = np.asarray(model.predict(X)), np.ravel(np.asarray(y))
    require(
        predictions.shape == targets.shape, "y", targets.shape, f"one for each of {len(predictions)} rows"
    )
    estimator = model[-1] if hasattr(model, "steps") else model
    if hasattr(estimator, "classes_"):
        return np.asarray(predictions.astype(object) == targets.astype(object), dtype=np.float64)
    coding = estimator._label_coding(None)[0] if unit is None else unit
    try:
        clipped_targets = np.clip(targets.astype(np.float64), coding.low, coding.high)
    except (TypeError, ValueError):
        raise DataError("y must hold numbers") from None
    error = np.clip((predictions - clipped_targets) / (coding.high - coding.low), -1.0, 1.0)
    return np.asarray(1.0 - error**2)


@checked
class PaidScore:
    """A base class with scikit-learn's `score`, for which a shared account pays where it paid for the fit."""

    _score_share: FitShare | None

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy or R^2, which is not private; where a shared account pays, the noisy mean of `row_scores`.

        An account pays for the score of each fold once. The refit on all rows is scored for its owner and not charged.
        """
        share = self._score_share
        if share is None:
            return float(super().score(X, y, sample_weight=sample_weight))  # type: ignore[misc]
        require(sample_weight is None, "sample_weight", "...", "None where an account pays for the score")
        return share.score(row_scores(self, X, y))
