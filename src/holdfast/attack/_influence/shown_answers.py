"""What the public sees of a model's answers: scores, scores rounded to a step, or decisions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._influence.columns import Domain, with_column
from holdfast.attack._influence.judged_people import count_of, unlabelled_records
from holdfast.attack._models.answers import answers_as_numbers, require_number_answers
from holdfast.attack._models.target import Target
from holdfast.errors import require

ShownForm = float | str
"""What is shown of an answer: "scores", "decision", or scores rounded to this step."""
Show = Callable[[Any], Floats]
"""From people to what is shown of the model's answers about them, one line each."""


def shown_answers(target: Target, form: ShownForm, features: Any) -> Floats:
    """What the public sees of the model's answer about each person, one line of numbers each."""
    if target.task == "classification":
        values = target.probabilities(unlabelled_records(features))
    else:
        values = answers_as_numbers(target.outputs(features))
        values = values[:, None] if values.ndim == 1 else values
        require_number_answers(values)
    require(len(values) == count_of(features), "the model's answer", values.shape, "one line for each row")
    if form == "scores":
        return values
    if form == "decision":
        return np.asarray(np.eye(values.shape[1])[np.argmax(values, axis=1)])
    return np.asarray(np.round(values / float(form)) * float(form))


def require_form(target: Target, form: ShownForm) -> None:
    """Refuse a form in which this model's answers cannot be shown."""
    if isinstance(form, str):
        require(form in ("scores", "decision"), "shows", form, "'scores', 'decision' or a step such as 0.1")
        require(
            form == "scores" or target.task == "classification",
            "shows",
            form,
            "'scores' or a step for numbers",
        )
    else:
        require(math.isfinite(form) and form > 0, "shows", form, "a step > 0")


def answers_by_value(show: Show, people: Any, domain: Domain) -> Floats:
    """What is shown about each person under each value of a column: (people, values, numbers shown)."""
    return np.stack([show(with_column(people, domain.name, value)) for value in domain.values], axis=1)


def closest_answers(show: Show, people: Any, domain: Domain, shown: Floats) -> Floats:
    """As `answers_by_value`, but for a cell of numbers the answer that is closest to `shown` among numbers in it."""
    closest = answers_by_value(show, people, domain)
    if len(domain.inner) != domain.size:
        return closest
    distance = np.max(np.abs(closest - shown[:, None, :]), axis=2)
    for values in zip(*domain.inner, strict=True):
        answers = np.stack([show(with_column(people, domain.name, value)) for value in values], axis=1)
        new_distance = np.max(np.abs(answers - shown[:, None, :]), axis=2)
        nearer = new_distance < distance
        closest, distance = np.where(nearer[:, :, None], answers, closest), np.minimum(new_distance, distance)
    return closest
