"""Fredrikson's attack: the candidate under which the model's answer fits the response best, weighed by its share.

For every candidate value v the model is asked about the person with v, and v gets the weight P(response | answer) times
its marginal share (Fredrikson et al. 2014, Algorithm 1). The attacker learns P(response | answer) from own people: a
normal law for numbers; for classes the model's own probability, or its confusion matrix where it shows decisions only.
Columns that the attacker does not know are drawn from own people, and the likelihood is averaged over the draws.

With the share of v among people with the same known columns in place of its marginal share it is the Bayes attack,
which is optimal where model and prior are true. The stacked attack gives these likelihoods, beside the known columns,
to the learner that the imputer uses.
"""

from __future__ import annotations

import math

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._attributes.attribute_case import AttributeCase

LARGEST_LOG_RATIO = 20.0
"""Log-likelihood ratios are cut here."""


def log_likelihood(case: AttributeCase) -> Floats:
    """log P(response | the model's answer for this candidate), one line per person, one column per candidate."""
    if "likelihood" not in case.cache:
        case.cache["likelihood"] = _likelihood(case)
    return case.cache["likelihood"]


def _likelihood(case: AttributeCase) -> Floats:
    answers = case.known_answers()
    if answers.ndim == 3:
        scores = _of_numbers(case)
    elif case.labels_only:
        scores = _of_decisions(case)
    else:
        codes = case.known_response().codes
        assert codes is not None
        scores = np.log(np.maximum(answers[:, np.arange(case.count), :, codes].transpose(1, 0, 2), 1e-12))
    # The likelihood is a mean over what the unknown columns may be.
    mixed = scores[0] if len(scores) == 1 else np.logaddexp.reduce(scores, axis=0) - math.log(len(scores))
    best = mixed.max(axis=1, keepdims=True)
    return np.asarray(np.maximum(mixed - best, -LARGEST_LOG_RATIO))


def _own_answers(case: AttributeCase) -> Floats:
    """The model's answers about the attacker's own people with their true values, for each draw."""
    return case.known_answers()[:, np.arange(case.own), case.own_values]


def _of_numbers(case: AttributeCase) -> Floats:
    from scipy.special import log_ndtr

    response, answers = case.known_response(), case.known_answers()
    assert response.numbers is not None
    residuals = response.numbers[: case.own] - _own_answers(case)
    spread = math.sqrt(float(np.mean(np.square(residuals)))) + 1e-9
    if response.known != "label":
        return np.asarray(-0.5 * np.square((response.numbers[:, None] - answers) / spread))
    assert response.low is not None
    assert response.high is not None
    upper = (response.high[:, None] - answers) / spread
    lower = (response.low[:, None] - answers) / spread
    # log(F(u) - F(l)), from the tail in which both are small.
    mirrored = lower > 0
    upper, lower = np.where(mirrored, -lower, upper), np.where(mirrored, -upper, lower)
    log_larger, log_smaller = log_ndtr(upper), log_ndtr(lower)
    return np.asarray(log_larger + np.log1p(-np.exp(np.minimum(log_smaller - log_larger, -1e-12))))


def _of_decisions(case: AttributeCase) -> Floats:
    """By the confusion matrix on own people, each cell begun with one half (Fredrikson et al. 2014)."""
    codes, decisions = case.known_response().codes, case.decisions()
    assert codes is not None
    classes = case.known_answers().shape[-1]
    own = decisions[:, np.arange(case.own), case.own_values]
    confusion = np.full((classes, classes), 0.5)
    np.add.at(confusion, (own, np.broadcast_to(codes[: case.own], own.shape)), 1.0 / len(own))
    share = np.log(confusion / confusion.sum(axis=1, keepdims=True))
    return np.asarray(share[decisions, codes[None, :, None]])


def fredrikson(case: AttributeCase) -> Floats:
    """How well the model's answer for a candidate fits the response, times the candidate's share."""
    return log_likelihood(case) + case.marginal


def bayes(case: AttributeCase) -> Floats:
    """The same fit times the share among people with the same known columns, as own people show it."""
    return log_likelihood(case) + case.imputation_without_response


def stacked_scores(case: AttributeCase) -> Floats:
    """The guess of the imputer's learner from known columns, response and the model's likelihoods together."""
    return case.learned_log_posterior(np.hstack([case.known_features, log_likelihood(case)]))


FREDRIKSON = Attack(
    name="fredrikson", kind="attribute", guess=fredrikson, paper="FLJLPR14", knows=("answers",)
)
BAYES = Attack(name="bayes", kind="attribute", guess=bayes, paper="FLJLPR14", knows=("answers",))
STACKED = Attack(name="stacked", kind="attribute", guess=stacked_scores, paper="JE22", knows=("answers",))
