"""recommend: which estimator suits a table, from public facts only, with the results on similar tables.

The evidence is a panel of tables on which linear and additive models were fitted at several budgets, and without
privacy (`recommend_panel.json`, written by `studies/benchmarks/recommend_panel.py`). The accuracy of a private linear
model depends on records times epsilon over features, that of shapes on records times epsilon. Tables are similar if
both numbers are.
"""

from __future__ import annotations

import json
import math
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
"""Tables are alike whose records times epsilon, and the same per number, differ by at most this factor."""
LEAST_TRIES = 3
"""With fewer alike, the nearest ones are shown, and it is said that they are far."""
GENERATED_TABLES = ("units", "1 % class", "n 200", "heavy tails")
"""Tables whose law is linear by construction: they say what privacy leaves, not which model fits the world better."""
LEAST_SIGNAL = 0.01
"""Where a linear model is no better than a constant by this much, without privacy, a comparison says nothing."""
MANY_CELLS = 20_000
"""Shapes beyond this number of cells were not tried."""
RARE_SHARE = 0.05
"""Classes rarer than this are measured by the area under the ROC curve, and decide by themselves which model."""


@dataclass(frozen=True, kw_only=True)
class PanelTry:
    """One table of the panel at one epsilon: scores without privacy and with it."""

    table: str
    task: str
    measure: str
    rows: int
    features: int
    epsilon: float
    floor: float
    """What a constant prediction reaches."""
    exact: float
    """A linear model without privacy."""
    linear: float
    additive: float

    @property
    def signal_per_feature(self) -> float:
        """Records times epsilon, over features."""
        return self.rows * self.epsilon / self.features

    def distance(self, rows: int, features: int, epsilon: float) -> float:
        """The logarithm of the factor between the two tables, the larger of both."""
        signal, per_number = (
            self.rows * self.epsilon / (rows * epsilon),
            self.signal_per_feature * features / (rows * epsilon),
        )
        return max(abs(math.log(signal)), abs(math.log(per_number)))

    @property
    def share_left(self) -> float:
        """Of what a linear model finds without privacy, the share that the private one finds."""
        return (self.linear - self.floor) / max(self.exact - self.floor, 1e-9)

    @property
    def decides(self) -> bool:
        """Whether the better of the two models on this table says something about others."""
        return self.table not in GENERATED_TABLES and self.exact - self.floor >= LEAST_SIGNAL

    def line(self) -> str:
        """One line for the summary."""
        return (
            f"  {self.table}, {self.rows:,} records, {self.features} features, epsilon {self.epsilon:g}: "
            f"{self.measure} {self.linear:.3f} linear, {self.additive:.3f} additive, "
            f"{self.exact:.3f} linear without privacy"
        )


LINEAR = {"classes": "PrivateLogisticRegression", "number": "PrivateLinearRegression"}
ADDITIVE = {"classes": "PrivateAdditiveClassifier", "number": "PrivateAdditiveRegressor"}
"""Estimators by what the target is."""


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """An estimator, why, and what it did on tables like this one."""

    estimator: str
    why: str
    rows: int
    features: int
    epsilon: float
    alike: tuple[PanelTry, ...]
    near: bool
    """Whether the tables shown are alike, or only the nearest that were tried."""
    prospects: tuple[Prospect, ...] = ()
    """Why nothing released within this budget can be of use, where rows and budget say so."""

    @property
    def range_left(self) -> tuple[float, float] | None:
        """The range, over tables like this one, of what privacy left of a linear model; None where none is alike."""
        if not self.near:
            return None
        shares = sorted(max(attempt.share_left, 0.0) for attempt in self.alike)
        return shares[0], shares[-1]

    def summary(self) -> str:
        """A few lines for a reader."""
        head = [f"OF NO USE: {prospect.sentence()}" for prospect in self.prospects]
        head.append(f"{self.estimator}: {self.why}")
        if self.range_left is not None:
            low, high = self.range_left
            head.append(
                f"on {len(self.alike)} tries with about as many records per number, a private linear model kept "
                f"{100 * low:.0f} to {100 * high:.0f} % of what it finds without privacy:"
            )
        else:
            head.append("no table of this size and budget was tried; the nearest:")
        return "\n".join([*head, *(attempt.line() for attempt in self.alike[:5])])


@cache
def panel() -> tuple[PanelTry, ...]:
    """All tables and budgets that were tried."""
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
    schema.confirmed()
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
    if schema.open_levels:  # as a fit would take them
        adjacency = data.adjacency if isinstance(data, Table) else schema.adjacency or "replace"
        noise = count_noise(
            limit_of(epsilon, delta), adjacency, schema.confirmed_unit, tables=len(schema.names)
        )
        schema = schema.at_levels(schema.visible_levels(rows=rows, noise=noise))
    column, features, cells = schema[target], _features(schema, target), _cells(schema, target)
    task = "classes" if isinstance(column, Categorical) else "number"
    alike, near = _alike(task, rows, features, epsilon)
    linear, additive = LINEAR[task], ADDITIVE[task]
    unit = schema.confirmed_unit
    hopeless = influence(limit_of(epsilon, delta), rows, noun=unit.noun)
    common = {
        "rows": rows,
        "features": features,
        "epsilon": epsilon,
        "alike": alike,
        "near": near,
        "prospects": (hopeless,) if hopeless.useless else (),
    }
    if delta == 0:
        return Recommendation(estimator=linear, why="additive models need delta > 0", **common)  # type: ignore[arg-type]
    if cells > MANY_CELLS:
        why = f"its shapes would have {cells:,} cells, more than was tried"
        return Recommendation(estimator=linear, why=why, **common)  # type: ignore[arg-type]
    if task == "classes" and rarest is not None:
        rare_class = RareClass(
            share=rarest, rows=rows, epsilon=epsilon, max_rows=schema.confirmed_unit.max_rows
        )
        if not rare_class.trustworthy:
            why = (
                f"{rare_class.why}: the probabilities of an additive model cannot be trusted there, which said 0.05 to "
                "0.8 of the true rate in such fits"
            )
            return Recommendation(estimator=linear, why=why, **common)  # type: ignore[arg-type]
    rare = task == "classes" and rarest is not None and rarest < RARE_SHARE
    decide = rare_tries() if rare else [attempt for attempt in alike if attempt.decides]
    better = sum(attempt.additive > attempt.linear for attempt in decide)
    chosen, other = (additive, "linear") if 2 * better > len(decide) else (linear, "additive")
    wins, kind = max(better, len(decide) - better), "tables with a class that rare" if rare else "real tables"
    why = f"at least as good as the {other} model in {wins} of {len(decide)} tries on {kind}"
    return Recommendation(estimator=chosen, why=why, **common)  # type: ignore[arg-type]


def rare_tries() -> list[PanelTry]:
    """Those on tables with a class rarer than 5 %, generated ones too: there are few."""
    return [attempt for attempt in panel() if attempt.measure == "area"]


def _alike(task: str, rows: int, features: int, epsilon: float) -> tuple[tuple[PanelTry, ...], bool]:
    """Tries of the same task in the order of their distance; those alike, or the three nearest."""
    known = [
        (attempt.distance(rows, features, epsilon), attempt) for attempt in panel() if attempt.task == task
    ]
    ranked = sorted(known, key=lambda pair: pair[0])
    alike = tuple(attempt for far, attempt in ranked if far <= math.log(NEAR_FACTOR))
    return (
        (alike, True)
        if len(alike) >= LEAST_TRIES
        else (tuple(attempt for _, attempt in ranked[:LEAST_TRIES]), False)
    )


def _features(schema: Schema, target: str) -> int:
    names = [name for name in schema.names if name != target]
    require(bool(names), "data", "...", "a schema with a column beside the target")
    return Encoder(schema, names, intercept=True, row_norm=None).width


def _cells(schema: Schema, target: str) -> int:
    features = [schema[name] for name in schema.names if name != target]
    return sum(column.cells if isinstance(column, Categorical | Numeric) else 0 for column in features)


def rare_class_advice(constant: Any) -> str:
    """One sentence for the summary of an additive model of two classes; empty where neither seems rare, or shapes won.

    `constant` is the released score of a typical record.
    """
    if len(constant) != 1 or abs(float(constant[0])) < math.log(1.0 / RARE_SHARE - 1.0):
        return ""
    tries = rare_tries()
    ahead = sum(attempt.linear > attempt.additive for attempt in tries)
    if 2 * ahead <= len(tries):
        return ""
    return (
        f"a class seems rarer than {100 * RARE_SHARE:.0f} %: on such tables a linear model (PrivateLogisticRegression) "
        f"was ahead in {ahead} of {len(tries)} tries (holdfast.learn.recommend)"
    )


def advice(model: LinearModel, release: Release[Any] | None, rows: int | None) -> str:
    """One sentence for the summary of a linear model of a table; empty where there is none to give."""
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
