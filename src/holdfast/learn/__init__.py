"""Private learning: methods with proofs, behind scikit-learn's faces.

Contents
--------
Fit a model
    `PrivateLogisticRegression`, `PrivateLinearSVC`; `PrivateLinearRegression`, `PrivateRidge`, `PrivateLasso`,
    `PrivateHuberRegression`; `PrivateAdditiveClassifier` and `PrivateAdditiveRegressor`, sums of shape functions.
    `recommend` says which of them suits a table, and reads no row for that.
Prepare columns
    `PrivateScaler` and `PrivatePCA` learn from rows and pay for it; `RandomProjection` looks at no row.
Choose settings
    `PrivateSearch` takes the best of several settings within one budget.
Keep and load
    `release_.save(path)` writes a fitted model, `pipeline_release` makes one release of a whole Pipeline, and
    `load_model` reads either.
Choose or write a method
    `LEARNERS` are the methods by which linear models are fitted; a `Learner` of your own is one more of them. It
    minimises a `Problem`.

Public and private
------------------
Every parameter of an estimator is public: bounds, classes, norms, penalties, grids of a search, seeds of a
projection. So are the schema of a table and, except under `add_remove`, the number of rows. None of them may be
chosen by looking at the rows; what was read from them all the same is an assumption that the release prints.
Private are rows, labels, how many rows were clipped, losses on the training rows, and each intermediate result
that an account has not released. What `fit` leaves in attributes that end in `_` is released, and so public, with
the promise in `release_.guarantee`. `predict` and its like use released weights: predictions tell about the rows
that they are made for, which the promise does not cover. Scores on rows are computed without noise and are private,
unless a shared account pays for them.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
