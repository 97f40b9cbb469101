"""Thresholds: from membership scores to decisions, without using the true membership of the judged records.

A threshold chosen on the very records it is used on measures overfitting of the attack, not of the model. It may come
from shadow models, from non-members set aside for calibration (for all classes at once or for each), or from the
knowledge that half of a pool are members (Micali 2022, algorithm 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast._arguments import Seed, checked
from holdfast._arrays import Bools, Floats
from holdfast.attack._attack import Attack
from holdfast.attack._membership_result import MembershipResult
from holdfast.attack._models.model_case import ModelCase
from holdfast.attack._models.shadow import observe_models, random_half
from holdfast.attack._records import Records
from holdfast.errors import require


@checked
@dataclass(frozen=True, kw_only=True)
class Threshold:
    """A score above which records are called members.

    Parameters
    ----------
    value : float
        The score.
    rule : str
        How it was chosen, for whoever reads a result.
    per_class : dict, optional
        Its own score for some labels; the others have `value`.

    Examples
    --------
    >>> Threshold(value=0.5, rule="by hand").members([0.4, 0.5, 0.6]).tolist()
    [False, False, True]
    """

    value: float
    rule: str
    per_class: Mapping[Any, float] = field(default_factory=dict)

    def members(self, scores: ArrayLike, labels: ArrayLike | None = None) -> Bools:
        """Which records are called members.

        Parameters
        ----------
        scores : array
            The attack's score of each record.
        labels : array, optional
            The label of each record, where thresholds are per class.

        Returns
        -------
        array of bool
            Whether each score is above its threshold.
        """
        values = np.asarray(scores, dtype=np.float64)
        if not self.per_class:
            return values > self.value
        require(labels is not None, "labels", None, "given, where thresholds are per class")
        own = np.array([self.per_class.get(label, self.value) for label in np.asarray(labels).tolist()])
        return np.asarray(values > own)

    def accuracy(self, result: MembershipResult) -> float:
        """Balanced accuracy on a result: half the detection plus half the records rightly cleared."""
        detection = float(np.mean(self.members(result.member_scores)))
        return 0.5 * (detection + 1.0 - float(np.mean(self.members(result.non_member_scores))))


def calibrated_threshold(
    scores: ArrayLike, *, false_alarm: float, labels: ArrayLike | None = None, floor: int = 1
) -> Threshold:
    """The threshold with at most this rate of false alarms, from the scores of calibration records that are no members.

    A non-member from the same source exceeds the k-th highest of n calibration scores with probability at most
    k/(n + 1), on average over calibrations; k is the largest that keeps the promise, and with too few records
    nobody is called a member. With `labels` each class that has `floor` records gets its own threshold.

    >>> calibrated_threshold(np.arange(99.0), false_alarm=0.05).value
    94.0
    >>> calibrated_threshold([0.0, 1.0], false_alarm=0.05).value
    inf
    """
    require(0 < false_alarm < 1, "false_alarm", false_alarm, "in (0, 1)")
    values = np.asarray(scores, dtype=np.float64)
    require(values.ndim == 1 and values.size >= 1, "scores", values.shape, "a list of one number or more")
    whole = _order_statistic(values, false_alarm)
    if labels is None:
        return Threshold(value=whole, rule=f"calibration set, {100 * false_alarm:g} % false alarms")
    names = np.asarray(labels)
    require(names.shape == values.shape, "labels", names.shape, "one per score")
    own = {
        name: _order_statistic(values[names == name], false_alarm)
        for name in np.unique(names).tolist()
        if np.sum(names == name) >= floor
    }
    return Threshold(
        value=whole, rule=f"calibration set per class, {100 * false_alarm:g} % false alarms", per_class=own
    )


def _order_statistic(values: Floats, false_alarm: float) -> float:
    highest = math.floor(false_alarm * (values.size + 1) * (1.0 + 1e-12))
    return math.inf if highest == 0 else float(np.sort(values)[values.size - highest])


def highest_half(scores: ArrayLike) -> Bools:
    """Which of 2N records, half of them members, have the N highest scores: these are called members (Micali 2022).

    Ties are broken by position.

    >>> highest_half([0.1, 0.9, 0.5, 0.7]).tolist()
    [False, True, False, True]
    """
    values = np.asarray(scores, dtype=np.float64)
    require(values.ndim == 1 and values.size >= 2, "scores", values.shape, "a list of two numbers or more")
    highest = np.zeros(values.size, dtype=bool)
    highest[np.argsort(-values, kind="stable")[: values.size // 2]] = True
    return highest


def least_error_threshold(members: ArrayLike, non_members: ArrayLike) -> float:
    """The threshold with the best balanced accuracy on these scores, to be used on others.

    >>> least_error_threshold([2.0, 3.0], [0.0, 1.0])
    1.0
    """
    inside, outside = np.sort(np.asarray(members, float)), np.sort(np.asarray(non_members, float))
    cuts = np.unique(np.concatenate([inside, outside]))
    detection = 1.0 - np.searchsorted(inside, cuts, side="right") / inside.size
    alarms = 1.0 - np.searchsorted(outside, cuts, side="right") / outside.size
    return float(cuts[np.argmax(detection - alarms)])


def shadow_threshold(
    attack: Attack,
    train: Any,
    reference: Any,
    *,
    models: int = 4,
    random_state: Seed | None = None,
    classes: tuple[Any, ...] | None = None,
    jobs: int | None = None,
    draw: Callable[[np.random.Generator, int], Bools] = random_half,
) -> Threshold:
    """The threshold that separates members from others best on shadow models trained on halves of `reference`."""
    records = Records.of(reference, "reference")
    needs_more = sorted({*attack.knows} - {"answers", "scores"})
    require(not needs_more, "attack", attack.name, "an attack that needs nothing but the model's outputs")
    included, observed = observe_models(
        train,
        records,
        lambda target, rows: attack(ModelCase(target=target, records=rows)),
        models=models,
        random_state=random_state,
        classes=classes,
        draw=draw,
        jobs=jobs,
    )
    scores = np.stack(observed)
    return Threshold(
        value=least_error_threshold(scores[included], scores[~included]), rule=f"{models} shadow models"
    )
