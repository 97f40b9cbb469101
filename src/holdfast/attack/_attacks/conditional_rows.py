"""Attacks on an attribute with released rows: a learner fitted to the rows, to rows and own people, or the nearest row.

The attacker has records of their own (own people). Released rows are further training data for the same learner, and
the attack's gain is what they add. The nearest released row (Giomi et al. 2023, inference) finds copies of records that
a smooth learner overlooks.
"""

from __future__ import annotations

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._attributes.attribute_case import AttributeCase, RowsSeen
from holdfast.errors import ParameterError

_CHUNK = 256


def rows_conditional(case: AttributeCase) -> Floats:
    """The guess of a learner that is trained on the released rows alone."""
    rows = _rows(case)
    return case.learner().fit(rows.known, rows.codes, case.kinds).log_posterior(case.known_features)


def rows_and_own(case: AttributeCase) -> Floats:
    """The guess of a learner that is trained on the attacker's own people and the released rows together."""
    rows = _rows(case)
    # Mixed, so that the people left out to choose the learner's settings are of both kinds.
    order = np.random.default_rng(0).permutation(case.own + len(rows.codes))
    features = np.vstack([case.known_features[: case.own], rows.known])[order]
    codes = np.concatenate([case.own_values, rows.codes])[order]
    return case.learner().fit(features, codes, case.kinds).log_posterior(case.known_features)


def closest_released_row(case: AttributeCase) -> Floats:
    """The value of the released row that is closest in the known columns; of equally close rows the commonest value."""
    from scipy.spatial.distance import cdist

    rows = _rows(case)
    scores = np.zeros((case.count, case.kinds))
    values = np.eye(case.kinds, dtype=np.float32)[rows.codes]
    for start in range(0, case.count, _CHUNK):
        some = slice(start, start + _CHUNK)
        apart = cdist(case.known_features[some], rows.known, metric="cityblock")
        least = apart.min(axis=1, keepdims=True)
        close = (apart <= least + 1e-9).astype(np.float32) @ values
        # How close they are, and how many of them agree, says how sure.
        scores[some] = close / close.sum(axis=1, keepdims=True) / (0.1 + least)
    return scores


def _rows(case: AttributeCase) -> RowsSeen:
    if case.rows is None:
        raise ParameterError("this attack needs released rows")
    return case.rows


ROWS_AND_OWN = Attack(
    name="rows_and_own", kind="attribute", guess=rows_and_own, paper="GBWT23", knows=("rows",)
)
ROWS_CONDITIONAL = Attack(
    name="rows_conditional", kind="attribute", guess=rows_conditional, paper="GBWT23", knows=("rows",)
)
CLOSEST_ROW = Attack(
    name="closest_row", kind="attribute", guess=closest_released_row, paper="GBWT23", knows=("rows",)
)
