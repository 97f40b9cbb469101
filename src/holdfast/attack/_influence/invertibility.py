"""invertibility(): which columns of a person can be guessed from the model's output and the person's other columns.

For each column two adversaries guess: both know all other columns and have people of their own to learn from; one also
gets the model's output for the person and may query the model. This measures the model itself: privacy of the training
data does not limit it, and a model that was never fitted to these people gives as much away.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._argument_kinds import type_text
from holdfast._arguments import Seed, checked
from holdfast._arrays import Codes, Floats
from holdfast.attack._influence.columns import (
    Column,
    Domain,
    column_of,
    encoded_without,
    published_columns,
    with_column,
)
from holdfast.attack._influence.finite_domain import best_guess, influences, output_codes, values_left
from holdfast.attack._influence.ranking import ColumnInvertibility, InvertibilityReport
from holdfast.attack._influence.two_worlds import BlackBoxGame
from holdfast.attack._models.answers import answers_as_numbers, require_number_answers
from holdfast.attack._models.target import Target, columns_read
from holdfast.attack._records import Records, arrow_of, as_array, has_columns
from holdfast.data._schema import Schema
from holdfast.data._table import Table
from holdfast.errors import DataError, ParameterError, require

Shown = float | str
"""What the public sees of an answer: "scores", "decision", or scores rounded to this step."""
PERSON_DRAWS = 24
"""Draws of what a person may be like, where the attacker's knowledge is noisy."""
MOST_STEPS = 200
"""Steps of the logistic regression that learns the prior."""
OWN_SHARE = 0.5
"""The share of people that becomes the attacker's own, where no others are given."""


@checked
def invertibility(
    model: Any,
    people: Any,
    *,
    columns: Sequence[Column] | None = None,
    shows: Shown = "scores",
    reference: Any = None,
    schema: Schema | None = None,
    knowledge: float = 1.0,
    confidence: float = 0.95,
    random_state: Seed | None = None,
) -> InvertibilityReport:
    """Columns ranked by how much what the model shows helps to guess them. For the owner only.

    Parameters
    ----------
    model : object
        An estimator, a callable that predicts numbers, a release, or what `Target.of` makes of a callable that gives
        probabilities.
    people : table
        Features that `model` takes, as an array, data frame or Arrow table; or a holdfast `Table`, of which the columns
        that the model reads are taken, and its schema.
    columns : sequence, optional
        The columns to rank, by default all.
    shows : str or float
        What the public sees: "scores", "decision", or a step that scores are rounded to.
    reference : table, optional
        Other people, the attacker's own, from which it learns what is usual; by default a random half of `people`, the
        other half is judged.
    schema : Schema, optional
        The values of columns; without it those that occur are taken, and fifths of numbers.
    knowledge : float
        The chance that the attacker has a column right (else it holds somebody else's value). Below 1 the attack
        averages over what the person may be like; it then needs answers that are rounded or decisions.
    confidence : float
        Of the limits of `influence` and `advantage`, for all columns together.
    random_state : int, optional
        Of who is judged.

    Returns
    -------
    InvertibilityReport
        The columns, the most exposed first.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> X = np.column_stack([draw.integers(0, 2, 800), draw.integers(0, 3, 800)]).astype(float)
    >>> model = Target.of(lambda X: 0.2 + 0.6 * X[:, 0], classes=["no", "yes"])
    >>> report = invertibility(model, X, random_state=0)
    >>> [(entry.column, round(entry.advantage.value, 1)) for entry in report]
    [(0, 0.5), (1, 0.0)]
    """
    if schema is not None:
        schema.confirmed()
    target = Target.of(model)
    require_form(target, shows)
    require(0.0 <= knowledge <= 1.0, "knowledge", knowledge, "in [0, 1]")
    if knowledge < 1.0 and shows == "scores":
        raise ParameterError("shows must be 'decision' or a step where knowledge < 1, got shows='scores'")
    random = np.random.default_rng(random_state)
    people, schema = read_people(people, target, schema)
    reference = None if reference is None else read_people(reference, target, schema)[0]
    judged, own = divided_people(people, reference, random)
    names = published_columns(judged) if columns is None else list(columns)
    require(len(names) >= 1, "columns", names, "one or more")
    shared_confidence = 1.0 - (1.0 - confidence) / (
        2 * len(names)
    )  # half of the error for advantages, half for influences
    ranked = []
    for name in names:
        domain = Domain.of(judged, name, schema)
        if domain.size >= 2:
            ranked.append(
                column_invertibility(
                    target,
                    shows,
                    judged,
                    own,
                    domain,
                    schema=schema,
                    knowledge=knowledge,
                    confidence=shared_confidence,
                    random=random,
                )
            )
    require(len(ranked) >= 1, "columns", names, "some with two values or more")
    ranked.sort(key=lambda entry: -entry.advantage.value)
    return InvertibilityReport(columns=tuple(ranked), shows=shows, knowledge=knowledge, confidence=confidence)


def column_invertibility(
    target: Target,
    shows: Shown,
    judged: Any,
    own: Any,
    domain: Domain,
    *,
    schema: Schema | None,
    knowledge: float = 1.0,
    confidence: float = 0.95,
    random: np.random.Generator,
) -> ColumnInvertibility:
    """One column, played for everybody who has one of its values."""
    keep = np.flatnonzero(domain.codes >= 0)
    require(keep.size >= 1, "people", domain.name, "some with a value of the declared ones in this column")
    people = selected_people(judged, keep)
    show = partial(released_lines, target, shows)
    prior = conditional_prior(own, people, domain, schema=schema)
    game = inversion_game(
        domain, codes=domain.codes[keep], prior=prior, own=own, knowledge=knowledge, random=random
    )
    advantage = game.play(show, people, confidence=confidence)
    codes = output_codes(every_output(show, people, domain))
    return ColumnInvertibility(
        column=domain.name,
        labels=domain.labels,
        influence=float(np.mean(influences(codes))),
        people=keep.size,
        advantage=advantage,
        confidence=confidence,
    )


def inversion_game(
    domain: Domain, *, codes: Codes, prior: Floats, own: Any, knowledge: float, random: np.random.Generator
) -> BlackBoxGame:
    """Definitions 5.6 and 5.13 (Wu 2016) for any finite domain and prior: from x without x_i and h(x), guess x_i."""

    def adversary(ask: Callable[[Any], Floats], advice_and_shown: Any) -> Codes:
        people, value_text = advice_and_shown
        if knowledge == 1.0:
            return best_guess(
                values_left(closest_outputs(ask, people, domain, value_text), value_text), prior
            )
        # P(v, y | z): what the person may be like is drawn from z in the way in which z was drawn from the person.
        agree = np.full(prior.shape, 0.5)
        for _ in range(PERSON_DRAWS):
            alike = perturbed_people(people, own, domain.name, knowledge, random)
            outputs = every_output(ask, alike, domain)
            agree += np.max(np.abs(outputs - value_text[:, None, :]), axis=2) <= 1e-9
        return best_guess(np.ones(prior.shape, dtype=bool), prior * agree / (PERSON_DRAWS + 1.0))

    def advice(ask: Callable[[Any], Floats], people: Any) -> tuple[Any, Floats]:
        value_text = ask(people)
        return (
            people if knowledge == 1.0 else perturbed_people(people, own, domain.name, knowledge, random)
        ), value_text

    return BlackBoxGame(
        goal=lambda people: codes,
        advice=lambda data, people: people,
        adversary=lambda ask, people: adversary(ask, advice(ask, people)),
        simulated=lambda people: best_guess(np.ones(prior.shape, dtype=bool), prior),
    )


# What is shown of an answer.
def released_lines(target: Target, form: Shown, features: Any) -> Floats:
    """One line of numbers per person, as the public sees them."""
    if target.task == "classification":
        values = target.probabilities(_records(features))
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


def require_form(target: Target, form: Shown) -> None:
    """Refuse what cannot be shown."""
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


def every_output(show: Callable[[Any], Floats], people: Any, domain: Domain) -> Floats:
    """What is shown for each person with each value put in: (people, values, numbers shown)."""
    return np.stack([show(with_column(people, domain.name, value)) for value in domain.values], axis=1)


def closest_outputs(show: Callable[[Any], Floats], people: Any, domain: Domain, value_text: Floats) -> Floats:
    """As `every_output`; of a cell of numbers, what is shown for the value in it that fits best what was seen."""
    best = every_output(show, people, domain)
    if len(domain.inner) != domain.size:
        return best
    distance = np.max(np.abs(best - value_text[:, None, :]), axis=2)
    for values in zip(*domain.inner, strict=True):
        tried = np.stack([show(with_column(people, domain.name, value)) for value in values], axis=1)
        new_distance = np.max(np.abs(tried - value_text[:, None, :]), axis=2)
        nearer = new_distance < distance
        best, distance = np.where(nearer[:, :, None], tried, best), np.minimum(new_distance, distance)
    return best


# What the attacker knows without the model.
def conditional_prior(own: Any, people: Any, domain: Domain, *, schema: Schema | None) -> Floats:
    """P(value | other columns) for each person, learned from the attacker's own people; never from those judged."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    known = cells_among(own, domain, schema)
    usable = np.flatnonzero(known >= 0)
    counts = np.bincount(known[usable], minlength=domain.size) + 0.5
    marginal = np.tile(counts / counts.sum(), (count_of(people), 1))
    if np.unique(known[usable]).size < 2:
        return marginal
    features = encoded_without(_joined_people(selected_people(own, usable), people), domain.name)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # after so many steps the guesses no longer change
        learner = LogisticRegression(max_iter=MOST_STEPS).fit(features[: usable.size], known[usable])
    probabilities = np.full((len(features) - usable.size, domain.size), 0.0)
    probabilities[:, learner.classes_] = learner.predict_proba(features[usable.size :])
    # A value that the attacker has never met keeps a little: some sum must remain where it is the only one left.
    return np.asarray(0.999 * probabilities + 0.001 * marginal)


def cells_among(own: Any, domain: Domain, schema: Schema | None = None) -> Codes:
    """The cells of any people among the values of the domain; -1 where they have none of them."""
    if schema is not None and isinstance(domain.name, str) and domain.name in schema:
        return Domain.of(own, domain.name, schema).codes
    values = column_of(own, domain.name)
    if all(isinstance(value, int | float) for value in domain.values):
        numbers = values.astype(np.float64)
        away = np.abs(numbers[:, None] - np.array(domain.values, dtype=np.float64))
        return np.where(np.isfinite(numbers), np.argmin(np.nan_to_num(away), axis=1), -1).astype(np.int64)
    places = {str(value): place for place, value in enumerate(domain.values)}
    return np.array([places.get(str(value), -1) for value in values.tolist()], dtype=np.int64)


def perturbed_people(
    people: Any, own: Any, target: Column, knowledge: float, random: np.random.Generator
) -> Any:
    """Each other column of each person is right with this chance, else it is that of somebody of the attacker's own."""
    count, own_count = count_of(people), count_of(own)
    for name in published_columns(people):
        if name == target:
            continue
        wrong = random.random(count) >= knowledge
        values = np.array(column_of(people, name))
        values[wrong] = column_of(own, name)[random.integers(0, own_count, int(wrong.sum()))]
        people = with_column(people, name, values)
    return people


def read_people(people: Any, target: Target, schema: Schema | None) -> tuple[Any, Schema | None]:
    """Features as the model takes them, and how to read them; a holdfast table brings its schema along."""
    if not isinstance(people, Table):
        people = as_array(people)
        return people if hasattr(people, "shape") else np.asarray(people), schema
    held, read = arrow_of(people)[0], columns_read(target.model)
    names = [name for name in people.schema.names if not read or name in read]
    return held.select(names), schema or people.schema


def divided_people(people: Any, reference: Any, random: np.random.Generator) -> tuple[Any, Any]:
    """Who is judged, and the attacker's own people."""
    count = count_of(people)
    if reference is not None:
        return people, reference
    require(count >= 4, "people", count, "4 or more, or give reference=")
    order = random.permutation(count)
    cut = int(count * OWN_SHARE)
    return selected_people(people, order[cut:]), selected_people(people, order[:cut])


def _records(people: Any) -> Records:
    rows = people if has_columns(people) else np.asarray(people)
    if not has_columns(rows):
        raise DataError(
            f"people must be a data frame, an Arrow table or an array of rows, got {type_text(people)}"
        )
    return Records(features=rows, labels=np.zeros(rows.shape[0], dtype=np.int8))


def count_of(people: Any) -> int:
    """The number of people."""
    return _records(people).labels.size


def selected_people(people: Any, rows: NDArray[Any]) -> Any:
    """Some people, in the container they came in."""
    return _records(people).take(rows).features


def _joined_people(first: Any, second: Any) -> Any:
    return _records(first).join(_records(second)).features
