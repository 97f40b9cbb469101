"""Methods side by side on the owner's own data: fits with seeded noise, scored exactly. Internal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast.data._schema import Schema
from holdfast.dossier._comparison.held_out import HeldOut, Scores, constant_name
from holdfast.dossier._comparison.releases import Comparison
from holdfast.errors import require

NOT_PRIVATE_ALARMS = (
    "NOT PRIVATE: seeded noise, exact scores on held-out records. Nothing was charged, and nothing here may leave.",
)
CHOICE_NOTES = (
    "choosing a method by this table is itself a use of the data that no budget covers; try data that are public "
    "(holdfast plan --public-data), or pay for the choice (holdfast.learn.PrivateSearch)",
)


@checked
def compare_methods(
    columns: Any,
    schema: Schema,
    *,
    target: str,
    methods: Sequence[str],
    epsilon: float,
    delta: float,
    fits: int = 3,
    holdout: float = 0.3,
) -> Comparison:
    """What each method is worth on held-out rows, beside no privacy and a model without features.

    Classes are measured by accuracy, AUC and log loss, numbers by R2 and root mean squared error.

    Parameters
    ----------
    columns : mapping of arrays, data frame or Arrow table
        The rows. They are used without any privacy.
    schema : Schema
        What is public about them.
    target : str
        The column to predict: a logistic regression for classes, a linear model for numbers.
    methods : sequence of str
        Names of methods of linear models, and 'additive' for the additive model.
    epsilon, delta : float
        The promise at which they are tried.
    fits : int
        How many fits each method gets, with seeds of their own.
    holdout : float
        The share of rows, or of users where they are the unit, that is held out.

    Returns
    -------
    Comparison
        Internal: nothing in it is noised.

    Examples
    --------
    >>> from holdfast.data import Categorical, Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])])
    >>> rows = {"age": [20.0, 40.0, 60.0, 80.0] * 100, "ill": ["no", "no", "yes", "yes"] * 100}
    >>> table = compare_methods(
    ...     rows, schema, target="ill", methods=["output"], epsilon=2.0, delta=1e-6, fits=1
    ... )
    >>> table.names, table.audience
    (('output', 'without privacy', 'majority class'), 'internal')
    """
    require(fits >= 1, "fits", fits, ">= 1")
    require(bool(methods), "methods", methods, "one or more names")
    held_out = HeldOut.of(columns, schema, target, holdout=holdout)
    scores = {
        method: [held_out.scores(method, epsilon=epsilon, delta=delta, seed=seed) for seed in range(fits)]
        for method in methods
    }
    scores["without privacy"] = [held_out.scores("auto", epsilon=math.inf, delta=delta, seed=0)]
    scores[constant_name(schema[target])] = [held_out.constant()]
    main_measure = held_out.measures[0]
    mean_rows = [
        (measure, tuple(score_text(_mean(scores_of_fits, measure)) for scores_of_fits in scores.values()))
        for measure in held_out.measures
    ]
    spreads = tuple(_spread_text(scores_of_fits, main_measure) for scores_of_fits in scores.values())
    return Comparison(
        title=f"Methods side by side: {target} at epsilon {epsilon:g}, delta {delta:g}",
        names=tuple(scores),
        rows=(
            *mean_rows,
            (f"spread of {main_measure}", spreads),
            ("fits", tuple(str(len(scores_of_fits)) for scores_of_fits in scores.values())),
            ("held-out records", (str(len(held_out.labels)),) * len(scores)),
        ),
        alarms=NOT_PRIVATE_ALARMS,
        notes=CHOICE_NOTES,
        audience="internal",
    )


def _mean(scores_of_fits: Sequence[Scores], measure: str) -> float:
    return float(np.mean([scores[measure] for scores in scores_of_fits]))


def _spread_text(scores_of_fits: Sequence[Scores], measure: str) -> str:
    """The standard deviation over fits; a dash where there is one fit only."""
    if len(scores_of_fits) < 2:
        return "-"
    return score_text(float(np.std([scores[measure] for scores in scores_of_fits])))


def score_text(value: float) -> str:
    """Four places of a share, four digits of something large; a dash where there is none.

    >>> score_text(0.84321), score_text(-12.345), score_text(24531.7), score_text(float("nan"))
    ('0.8432', '-12.35', '24,532', '-')
    """
    if math.isnan(value):
        return "-"
    if abs(value) < 10:
        return f"{value:.4f}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
