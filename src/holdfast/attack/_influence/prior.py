"""What an attacker can guess about a column without the model: a prior learned from people of their own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.attack._influence.columns import Domain, column_of, encoded_without
from holdfast.attack._influence.judged_people import count_of, join_people, select_people
from holdfast.data._schema import Schema

MOST_PRIOR_STEPS = 200
"""The most steps of the logistic regression that learns the prior."""
MARGINAL_SHARE = 0.001
"""The share of the marginal in the prior: a value that the attacker never met may be the only one that is possible."""


def conditional_prior(own: Any, people: Any, domain: Domain, *, schema: Schema | None) -> Floats:
    """P(value | other columns) for each person, learned from the attacker's own people and never from those judged."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    codes = cells_among(own, domain, schema)
    usable = np.flatnonzero(codes >= 0)
    counts = np.bincount(codes[usable], minlength=domain.size) + 0.5
    marginal = np.tile(counts / counts.sum(), (count_of(people), 1))
    if np.unique(codes[usable]).size < 2:
        return marginal
    features = encoded_without(join_people(select_people(own, usable), people), domain.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # more steps would not change the guesses
        learner = LogisticRegression(max_iter=MOST_PRIOR_STEPS).fit(features[: usable.size], codes[usable])
    probabilities = np.full((len(features) - usable.size, domain.size), 0.0)
    probabilities[:, learner.classes_] = learner.predict_proba(features[usable.size :])
    return np.asarray((1.0 - MARGINAL_SHARE) * probabilities + MARGINAL_SHARE * marginal)


def cells_among(people: Any, domain: Domain, schema: Schema | None = None) -> Codes:
    """For each person the place of their value among the values of the domain; -1 where it is none of them."""
    if schema is not None and isinstance(domain.name, str) and domain.name in schema:
        return Domain.of(people, domain.name, schema).codes
    values = column_of(people, domain.name)
    if all(isinstance(value, int | float) for value in domain.values):
        numbers = values.astype(np.float64)
        distances = np.abs(numbers[:, None] - np.array(domain.values, dtype=np.float64))
        nearest = np.argmin(np.nan_to_num(distances), axis=1)
        return np.where(np.isfinite(numbers), nearest, -1).astype(np.int64)
    places = {str(value): place for place, value in enumerate(domain.values)}
    return np.array([places.get(str(value), -1) for value in values.tolist()], dtype=np.int64)
