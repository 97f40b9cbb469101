"""CSMIA and LOMIA: attacks by the model's confidence, and by its decisions alone (Mehnaz et al. 2022).

The model is asked about each person with every candidate. Case 1: one candidate alone gives the true response, and is
guessed. Case 2: several do; the one with the greatest confidence is guessed. Case 3: none does; the one with the least
confidence in the wrong answer. The label-only attack learns, from the people of case 1 and their guesses, a guess
about everybody. Neither needs people of the attacker's own.
"""

from __future__ import annotations

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.attack._attack import Attack
from holdfast.attack._attributes.attribute_case import AttributeCase


def confidence_score(case: AttributeCase) -> Floats:
    """Candidates that give the true response come first, by confidence; then the least confident of the others."""
    answers, decisions, truth = case.known_answers(), case.decisions(), _truth(case)
    sure = answers.max(axis=-1)
    right = decisions == truth[None, :, None]
    # With unknown columns confidences are added up over what those may be (Mehnaz et al. 2022, section 4.4).
    for_truth = np.where(right, sure, 0.0).mean(axis=0)
    return np.asarray(np.where(right.any(axis=0), 1.0 + for_truth, -sure.mean(axis=0)))


def label_only(case: AttributeCase) -> Floats:
    """What a learner makes of the people for whom one candidate alone gives the true response."""
    right = (case.decisions() == _truth(case)[None, :, None]).mean(axis=0) > 0.5
    alone = np.flatnonzero(right.sum(axis=1) == 1)
    chosen = right[alone].argmax(axis=1).astype(np.int64)
    if np.unique(chosen).size < 2:
        flat = np.zeros((case.count, case.kinds))
        flat[:, chosen[:1]] = 1.0
        return flat
    learner = case.learner().fit(case.known_features[alone], chosen, case.kinds)
    return learner.log_posterior(case.known_features)


def _truth(case: AttributeCase) -> Codes:
    codes = case.known_response().codes
    assert codes is not None
    return codes


CSMIA = Attack(
    name="csmia",
    kind="attribute",
    guess=confidence_score,
    paper="MDKDKBLB22",
    knows=("scores",),
    tasks=("classification",),
)
LOMIA = Attack(
    name="lomia",
    kind="attribute",
    guess=label_only,
    paper="MDKDKBLB22",
    knows=("answers",),
    tasks=("classification",),
)
