"""recommend: which estimator suits a table, from public facts only, with the results on similar tables.

The evidence is a panel of tables to which linear and additive models were fitted at several budgets, and without
privacy (`recommend_panel.json`, written by `studies/benchmarks/recommend_panel.py`). The accuracy of a private linear
model depends on records times epsilon over features, and that of an additive model on records times epsilon. Two
tables are similar if both numbers are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from holdfast._arguments import checked
from holdfast.data._encode import Encoder
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._sensitivity import count_noise
from holdfast.data._table import Table
from holdfast.errors import ParameterError, require
from holdfast.learn._estimators.linear_model import LinearModel
from holdfast.learn._estimators.rare_classes import RareClass
from holdfast.privacy._account.request import default_delta, limit_of
from holdfast.release import Release
from holdfast.release._usefulness import Prospect, influence

PANEL_FILE = Path(__file__).with_name("recommend_panel.json")
NEAR_FACTOR = 8.0
"""Tables are similar if records times epsilon, and the same over features, differ by at most this factor."""
LEAST_TRIES = 3
"""With fewer similar tries the nearest ones are shown, and the summary says that they are far."""
GENERATED_TABLES = ("units", "1 % class", "n 200", "heavy tails")
"""Tables that are linear by construction: they show what privacy costs, not which model fits real tables better."""
LEAST_SIGNAL = 0.01
"""A try says nothing about the models where a linear one, without privacy, beats a constant by less than this."""
MOST_TRIED_CELLS = 20_000
"""Additive models with more cells were not tried."""
RARE_SHARE = 0.05
"""Classes rarer than this are judged by the area under the ROC curve, on tables with such classes alone."""


@dataclass(frozen=True, kw_only=True)
class PanelTry:
    """One table of the panel at one epsilon: the scores of several models, without privacy and with it."""

    table: str
    task: str
    measure: str
    rows: int
    features: int
    epsilon: float
    floor: float
    """The score of a constant prediction."""
    exact: float
    """The score of a linear model without privacy."""
    linear: float
    additive: float
    """The scores of the private models."""

    @property
    def signal_per_feature(self) -> float:
        """Records times epsilon, over features."""
        return self.rows * self.epsilon / self.features

    def distance(self, rows: int, features: int, epsilon: float) -> float:
        """How far this try is from a table: the logarithm of the larger factor between the two numbers of each."""
        signal_ratio = self.rows * self.epsilon / (rows * epsilon)
        ratio_per_feature = self.signal_per_feature * features / (rows * epsilon)
        return max(abs(math.log(signal_ratio)), abs(math.log(ratio_per_feature)))

    @property
    def share_left(self) -> float:
        """The share of what a linear model gains over a constant that is left with privacy."""
        return (self.linear - self.floor) / max(self.exact - self.floor, 1e-9)

    @property
    def decides(self) -> bool:
        """Whether it matters for other tables which of the two models is better on this one."""
        return self.table not in GENERATED_TABLES and self.exact - self.floor >= LEAST_SIGNAL

    def line(self) -> str:
        """The line of this try in a summary."""
        return (
            f"  {self.table}, {self.rows:,} records, {self.features} features, epsilon {self.epsilon:g}: "
            f"{self.measure} {self.linear:.3f} linear, {self.additive:.3f} additive, "
            f"{self.exact:.3f} linear without privacy"
        )


LINEAR = {"classes": "PrivateLogisticRegression", "number": "PrivateLinearRegression"}
ADDITIVE = {"classes": "PrivateAdditiveClassifier", "number": "PrivateAdditiveRegressor"}
"""The linear and the additive estimator for each kind of target."""


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """An estimator, why it is recommended, and the results on similar tables."""

    estimator: str
    why: str
    rows: int
    features: int
    epsilon: float
    alike: tuple[PanelTry, ...]
    near: bool
    """Whether the tries in `alike` are similar, or only the nearest."""
    prospects: tuple[Prospect, ...] = ()
    """Why nothing that is released within this budget can be of use, where rows and budget say so."""

    @property
    def range_left(self) -> tuple[float, float] | None:
        """The least and the largest share that privacy left of a linear model's gain, on similar tables if any."""
        if not self.near:
            return None
        shares = sorted(max(attempt.share_left, 0.0) for attempt in self.alike)
        return shares[0], shares[-1]

    def summary(self) -> str:
        """The recommendation, its reason, and a line for each of the nearest tries."""
        lines = [f"OF NO USE: {prospect.sentence()}" for prospect in self.prospects]
        lines.append(f"{self.estimator}: {self.why}")
        if self.range_left is not None:
            low, high = self.range_left
            lines.append(
                f"on {len(self.alike)} tries with about as many records per number, a private linear model kept "
                f"{100 * low:.0f} to {100 * high:.0f} % of what it finds without privacy:"
            )
        else:
            lines.append("no table of this size and budget was tried; the nearest:")
        return "\n".join([*lines, *(attempt.line() for attempt in self.alike[:5])])


@cache
def panel() -> tuple[PanelTry, ...]:
    """All tries: every table of the panel at every budget."""
    return tuple(PanelTry(**record) for record in json.loads(PANEL_FILE.read_text(encoding="utf-8"))["tried"])


@checked
def recommend(
    data: Schema | Table,
    *,
    target: str,
    epsilon: float,
    delta: float | None = None,
    rows: int | None = None,
    rarest: float | None = None,
) -> Recommendation:
    """Which estimator to fit to a table, from its schema, its size, the target and the budget; no row is read.

    Parameters
    ----------
    data : Schema or Table
        What is declared about the columns.
    target : str
        The name of the column to predict.
    epsilon : float
        The budget of the fit; > 0 and finite.
    delta : float, optional
        In [0, 1); by default what a fit takes for this number of rows.
    rows : int, optional
        The public number of rows. A `Table` whose neighbours have the same number of rows brings its own.
    rarest : float, optional
        The share of the rarest of two classes, as far as it is known without looking; in (0, 0.5]. Shapes are learnt
        from few records then: below a share of 2 %, or where records times share times epsilon are few, the
        probabilities of an additive model cannot be trusted.

    Returns
    -------
    Recommendation
        The estimator's name, the reason, and what happened on the tables most like this one. Where noise would hide
        as many rows as there are, its `summary()` begins with OF NO USE.

    Examples
    --------
    >>> schema = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"]), Categorical("ill", ["no", "yes"])])
    >>> recommend(schema, target="ill", epsilon=1.0, rows=1_000).estimator
    'PrivateAdditiveClassifier'
    >>> recommend(schema, target="ill", epsilon=1.0, delta=0.0, rows=1_000).estimator
    'PrivateLogisticRegression'
    """
    schema = data.schema if isinstance(data, Table) else data
    require(isinstance(schema, Schema), "data", type(data).__name__, "a Schema or a Table")
    schema.require_confirmed()
    if rows is None and isinstance(data, Table):
        rows, _ = data.public_count()
    whole = isinstance(rows, int) and not isinstance(rows, bool) and rows >= 1
    require(whole, "rows", rows, "a whole number >= 1", "give the public number of rows")
    require(0 < epsilon < math.inf, "epsilon", epsilon, "> 0 and finite")
    if delta is None:
        delta = default_delta(rows)
    require(0 <= delta < 1, "delta", delta, "in [0, 1)")
    require(rarest is None or 0 < rarest <= 0.5, "rarest", rarest, "in (0, 0.5], or None")
    if target not in schema.names:
        raise ParameterError(f"target must be a column of the schema, got target={target!r}")
    assert rows is not None
    limit = limit_of(epsilon, delta)
    if schema.open_levels:  # a fit would choose them alike
        adjacency = data.adjacency if isinstance(data, Table) else schema.adjacency or "replace"
        noise = count_noise(limit, adjacency, schema.confirmed_unit, tables=len(schema.names))
        schema = schema.at_levels(schema.visible_levels(rows=rows, noise=noise))
    task = "classes" if isinstance(schema[target], Categorical) else "number"
    features = _feature_count(schema, target)
    alike, near = _nearest_tries(task, rows, features, epsilon)
    obstacle = _additive_obstacle(schema, target, rows=rows, epsilon=epsilon, delta=delta, rarest=rarest)
    rare = task == "classes" and rarest is not None and rarest < RARE_SHARE
    additive, why = (False, obstacle) if obstacle else _additive_is_better(alike, rare=rare)
    prospect = influence(limit, rows, noun=schema.confirmed_unit.noun)
    return Recommendation(
        estimator=(ADDITIVE if additive else LINEAR)[task],
        why=why,
        rows=rows,
        features=features,
        epsilon=epsilon,
        alike=alike,
        near=near,
        prospects=(prospect,) if prospect.useless else (),
    )


def _additive_obstacle(
    schema: Schema, target: str, *, rows: int, epsilon: float, delta: float, rarest: float | None
) -> str:
    """Why an additive model is out of the question; empty where it is not."""
    if delta == 0:
        return "additive models need delta > 0"
    cells = _cell_count(schema, target)
    if cells > MOST_TRIED_CELLS:
        return f"its shapes would have {cells:,} cells, more than was tried"
    if isinstance(schema[target], Categorical) and rarest is not None:
        max_rows = schema.confirmed_unit.max_rows
        rare_class = RareClass(share=rarest, rows=rows, epsilon=epsilon, max_rows=max_rows)
        if not rare_class.trustworthy:
            return (
                f"{rare_class.why}: the probabilities of an additive model cannot be trusted there, which said 0.05 to "
                "0.8 of the true rate in such fits"
            )
    return ""


def _additive_is_better(alike: Sequence[PanelTry], *, rare: bool) -> tuple[bool, str]:
    """Whether the additive model won most of the tries that decide, and a sentence about these tries.

    For a `rare` class all tries with such classes decide, otherwise those on similar real tables.
    """
    tries = rare_class_tries() if rare else [attempt for attempt in alike if attempt.decides]
    additive_wins = sum(attempt.additive > attempt.linear for attempt in tries)
    additive = 2 * additive_wins > len(tries)
    other, wins = ("linear", additive_wins) if additive else ("additive", len(tries) - additive_wins)
    tables = "tables with a class that rare" if rare else "real tables"
    return additive, f"at least as good as the {other} model in {wins} of {len(tries)} tries on {tables}"


def rare_class_tries() -> list[PanelTry]:
    """The tries on tables with a class rarer than 5 %, generated tables included because there are few."""
    return [attempt for attempt in panel() if attempt.measure == "area"]


def _nearest_tries(task: str, rows: int, features: int, epsilon: float) -> tuple[tuple[PanelTry, ...], bool]:
    """The similar tries of the same task, nearest first, and True; or the three nearest ones, and False."""
    distances = [
        (attempt.distance(rows, features, epsilon), attempt) for attempt in panel() if attempt.task == task
    ]
    ranked = sorted(distances, key=lambda pair: pair[0])
    similar = tuple(attempt for distance, attempt in ranked if distance <= math.log(NEAR_FACTOR))
    if len(similar) >= LEAST_TRIES:
        return similar, True
    return tuple(attempt for _, attempt in ranked[:LEAST_TRIES]), False


def _feature_count(schema: Schema, target: str) -> int:
    """The number of features of a linear model."""
    names = [name for name in schema.names if name != target]
    require(bool(names), "data", "...", "a schema with a column beside the target")
    return Encoder(schema, names, intercept=True, row_norm=None).width


def _cell_count(schema: Schema, target: str) -> int:
    """The number of cells of all columns but the target."""
    columns = [schema[name] for name in schema.names if name != target]
    return sum(column.cells if isinstance(column, Categorical | Numeric) else 0 for column in columns)


def rare_class_advice(constant: Any) -> str:
    """Advice to take a linear model, for the summary of an additive model of two classes of which one seems rare.

    `constant` is the released score of a typical record. Empty where neither class seems rare, or where additive models
    did as well on such tables.
    """
    if len(constant) != 1 or abs(float(constant[0])) < math.log(1.0 / RARE_SHARE - 1.0):
        return ""
    tries = rare_class_tries()
    linear_wins = sum(attempt.linear > attempt.additive for attempt in tries)
    if 2 * linear_wins <= len(tries):
        return ""
    return (
        f"a class seems rarer than {100 * RARE_SHARE:.0f} %: on such tables a linear model (PrivateLogisticRegression) "
        f"was ahead in {linear_wins} of {len(tries)} tries (holdfast.learn.recommend)"
    )


def additive_advice(model: LinearModel, release: Release[Any] | None, rows: int | None) -> str:
    """Advice to take an additive model, for the summary of a linear model of a table; empty where there is none."""
    if model.schema is None or release is None or rows is None:
        return ""
    schema = Schema.from_dict(model.schema)
    targets = [name for name in schema.names if name not in (model.columns or ())]
    if len(targets) != 1 or release.guarantee.curve.as_pure() is not None:
        return ""
    delta = rows**-1.5
    epsilon = float(release.guarantee.epsilon(delta))
    if not 0 < epsilon < math.inf:
        return ""
    recommendation = recommend(schema, target=targets[0], epsilon=epsilon, delta=delta, rows=rows)
    if recommendation.estimator not in ADDITIVE.values() or not recommendation.near:
        return ""
    return (
        f"an additive model ({recommendation.estimator}) would likely do better: {recommendation.why} "
        "(holdfast.learn.recommend)"
    )
