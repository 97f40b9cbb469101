"""invertibility(): which columns of a person can be guessed from the model's output and the person's other columns.

For each column two adversaries guess: both know all other columns and have people of their own to learn from; one also
gets the model's output for the person and may query the model. This measures the model itself: privacy of the training
data does not limit it, and a model that was never fitted to these people gives as much away.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from holdfast._arguments import Seed, checked
from holdfast._arrays import Codes, Floats
from holdfast.attack._influence.columns import Column, Domain, published_columns
from holdfast.attack._influence.finite_domain import (
    SAME_OUTPUT_DISTANCE,
    best_guess,
    influences,
    output_codes,
    possible_values,
)
from holdfast.attack._influence.judged_people import perturb_people, read_people, select_people, split_people
from holdfast.attack._influence.prior import conditional_prior
from holdfast.attack._influence.ranking import ColumnInvertibility, InvertibilityReport
from holdfast.attack._influence.shown_answers import (
    Show,
    ShownForm,
    answers_by_value,
    closest_answers,
    require_form,
    shown_answers,
)
from holdfast.attack._influence.two_worlds import BlackBoxGame
from holdfast.attack._models.target import Target
from holdfast.data._schema import Schema
from holdfast.errors import ParameterError, require

PERSON_DRAWS = 24
"""How often a person's other columns are drawn, where the attacker's knowledge of them is uncertain."""


@checked
def invertibility(
    model: Any,
    people: Any,
    *,
    columns: Sequence[Column] | None = None,
    shows: ShownForm = "scores",
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
        schema.require_confirmed()
    target = Target.of(model)
    require_form(target, shows)
    require(0.0 <= knowledge <= 1.0, "knowledge", knowledge, "in [0, 1]")
    if knowledge < 1.0 and shows == "scores":
        raise ParameterError("shows must be 'decision' or a step where knowledge < 1, got shows='scores'")
    random = np.random.default_rng(random_state)
    people, schema = read_people(people, target, schema)
    reference = None if reference is None else read_people(reference, target, schema)[0]
    judged, own = split_people(people, reference, random)
    names = published_columns(judged) if columns is None else list(columns)
    require(len(names) >= 1, "columns", names, "one or more")
    # Half of the error is for advantages and half for influences, each shared among the columns.
    shared_confidence = 1.0 - (1.0 - confidence) / (2 * len(names))
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
    shows: ShownForm,
    judged: Any,
    own: Any,
    domain: Domain,
    *,
    schema: Schema | None,
    knowledge: float = 1.0,
    confidence: float = 0.95,
    random: np.random.Generator,
) -> ColumnInvertibility:
    """How well one column is guessed, played for all judged people who have one of its values."""
    with_value = np.flatnonzero(domain.codes >= 0)
    require(
        with_value.size >= 1, "people", domain.name, "some with a value of the declared ones in this column"
    )
    people = select_people(judged, with_value)
    show = partial(shown_answers, target, shows)
    prior = conditional_prior(own, people, domain, schema=schema)
    game = inversion_game(
        domain, codes=domain.codes[with_value], prior=prior, own=own, knowledge=knowledge, random=random
    )
    advantage = game.play(show, people, confidence=confidence)
    codes = output_codes(answers_by_value(show, people, domain))
    return ColumnInvertibility(
        column=domain.name,
        labels=domain.labels,
        influence=float(np.mean(influences(codes))),
        people=with_value.size,
        advantage=advantage,
        confidence=confidence,
    )


def inversion_game(
    domain: Domain, *, codes: Codes, prior: Floats, own: Any, knowledge: float, random: np.random.Generator
) -> BlackBoxGame:
    """Definitions 5.6 and 5.13 (Wu 2016) for any finite domain and prior: from x without x_i and h(x), guess x_i.

    The advice is the people as the attacker knows them, and what is shown of the model's answers about them.
    """
    any_value = np.ones(prior.shape, dtype=bool)

    def known_people(people: Any) -> Any:
        return people if knowledge == 1.0 else perturb_people(people, own, domain.name, knowledge, random)

    def guess(show: Show, people: Any, shown: Floats) -> Codes:
        if knowledge == 1.0:
            return best_guess(possible_values(closest_answers(show, people, domain, shown), shown), prior)
        # P(value, answer | what is known): people are drawn from what is known as that was drawn from the people.
        agreements = np.full(prior.shape, 0.5)
        for _ in range(PERSON_DRAWS):
            drawn_people = perturb_people(people, own, domain.name, knowledge, random)
            answers = answers_by_value(show, drawn_people, domain)
            agreements += np.max(np.abs(answers - shown[:, None, :]), axis=2) <= SAME_OUTPUT_DISTANCE
        return best_guess(any_value, prior * agreements / (PERSON_DRAWS + 1.0))

    def adversary(show: Show, people: Any) -> Codes:
        shown = show(people)
        return guess(show, known_people(people), shown)

    return BlackBoxGame(
        goal=lambda people: codes,
        advice=lambda data, people: people,
        adversary=adversary,
        simulated=lambda people: best_guess(any_value, prior),
    )
