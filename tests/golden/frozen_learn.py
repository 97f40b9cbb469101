"""Seeded fits: every method on every loss and adjacency, and every estimator on arrays and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np

from holdfast._arrays import Floats
from holdfast.data import Table, open_table
from holdfast.learn import (
    LEARNERS,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
    PrivateSearch,
)
from holdfast.privacy import Account, Adjacency, ApproxDP, PrivacyUnit, PureDP
from holdfast.refute._subjects.learners import option_choices
from tests.golden.frozen_common import Plain, clinic, clinic_schema, deep, outcome, pinned, promise, rows

COUNT, DIMENSION, BOUNDS = 240, 3, (-6.0, 6.0)
LIMITS = {"approx": ApproxDP(2.0, 1e-5), "pure": PureDP(2.0)}
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "adassp": ({"count_bound": 300}, {"arithmetic": "idealised"}),
    "bolt_on": (
        {"passes": 2, "batch": 10, "average": "uniform"},
        {"schedule": "constant", "step": 0.1, "passes": 1},
        {"schedule": "square_root", "passes": 3},
    ),
    "bst14": ({"passes": 2, "batch": 20}, {"arithmetic": "strict"}),
    "dp_sgd": ({"rate": 0.1, "steps": 20, "momentum": 0.5}, {"clip": 0.5, "steps": 10, "average": 0.0}),
    "frank_wolfe": (
        {"l1_radius": 2.0, "steps": 5},
        {"l1_radius": 2.0, "sampling": "disjoint", "steps": 4},
        {"l1_radius": 1.0, "arithmetic": "idealised"},
    ),
    "functional": ({"ridge": 0.1}, {"arithmetic": "idealised"}),
    "gibbs": ({"sampler": "proximal"}, {"diameter": 3.0}, {"arithmetic": "strict"}),
    "newton": ({"count_bound": 300}, {"arithmetic": "idealised"}),
    "noisy_gd": (
        {"preconditioner": "none", "steps": 8, "step": 1.0, "momentum": 0.5},
        {"share": 0.2, "ridge": 0.5, "steps": 5},
        {"clip": 0.5, "average": 0.5, "arithmetic": "idealised"},
    ),
    "objective": (
        {"penalty_factor": 20.0},
        {"preconditioner": "diagonal", "limit": "pure"},
        {"arithmetic": "idealised"},
    ),
    "output": ({"inexactness": 1e-6}, {"arithmetic": "idealised"}),
    "projected_histogram": ({"columns": 2, "bins": 3}, {"places": (0,), "arithmetic": "idealised"}),
    "ridge": ({"count_bound": 300}, {"arithmetic": "idealised"}),
    "scs13": ({"passes": 2, "batch": 20, "step": 0.5}, {"arithmetic": "strict"}),
    "softmax": ({"engine": "output"}, {"engine": "objective", "limit": "pure"}, {"arithmetic": "idealised"}),
    "ssp": ({"count_bound": 300}, {"arithmetic": "idealised"}),
}
"""Options of a method, beyond its defaults; `limit` is the account's. Of others, every choice that they declare."""


def problems() -> dict[str, Any]:
    """Every loss, penalised, over the whole space and over a ball."""
    losses = {
        "logistic": deep("Logistic")(),
        "hinge": deep("Hinge")(),
        "huber": deep("HuberHinge")(width=0.2),
        "squared": deep("Squared")(target_bound=1.0, prediction_bound=2.0),
        "softmax": deep("Softmax")(classes=3),
        "one vs all": deep("OneVsAll")(classes=3),
    }
    return {
        f"{name}{where}": deep("Problem")(loss=loss, dimension=DIMENSION, penalty=0.05, radius=radius)
        for where, radius in (("", math.inf), (" in a ball", 2.0))
        for name, loss in losses.items()
    }


def examples(problem: Any, adjacency: str, *, max_rows: int = 1) -> Any:
    """Rows with labels of the kind that the loss takes."""
    x, score = rows(COUNT, DIMENSION)
    several = problem.outputs == "several"
    labels = np.digitize(score, [-0.5, 1.0]).astype(float) if several else np.where(score > 0, 1.0, -1.0)
    unit = PrivacyUnit() if max_rows == 1 else PrivacyUnit.user("person", max_rows=max_rows)
    return deep("ArrayExamples")(
        features=x,
        labels=labels,
        adjacency=Adjacency.of(adjacency),
        public_count=COUNT // max_rows,
        unit=unit,
    )


def run(
    method: Any, problem: Any, adjacency: str, *, limit: str = "approx", max_rows: int = 1, **options: Any
) -> Any:
    """One fit: the weights, what is said of them, and what was charged."""
    data = examples(problem, adjacency, max_rows=max_rows)
    currency = "pure" if limit == "pure" else method.currency
    account = Account(LIMITS[limit], adjacency=adjacency, unit=data.unit, currency=currency, seed=0)
    fit = method.fit(data, problem, account=account, **options)
    charges = [(one.charge.mechanism, one.charge.times) for one in account.journal.entries]
    return {
        "weights": fit.weights,
        "noise_std": fit.noise_std,
        "parameters": dict(fit.parameters),
        "theorem": fit.theorem,
        "assumptions": [assumption.text for assumption in fit.assumptions],
        "charges": [dict(mechanism) | {"times": times} for mechanism, times in charges],
    }


def methods() -> Iterator[tuple[str, Plain]]:
    """Every method, loss and adjacency; pure limits, users of several rows and options on one loss each."""
    known = problems()
    for method in LEARNERS:
        taken = []
        for name, problem in known.items():
            if not method.takes(problem):
                continue
            for adjacency in method.adjacencies:
                made = outcome(run, method, problem, adjacency)
                yield f"method/{method.name}/{name}/{adjacency}", made
                taken += [problem] * isinstance(made, dict)
        adjacency, first, last = method.adjacencies[0], taken[0], taken[-1]
        yield f"method/{method.name}/pure", outcome(run, method, first, adjacency, limit="pure")
        yield f"method/{method.name}/users", outcome(run, method, last, adjacency, max_rows=2)
        for options in OPTIONS.get(method.name, tuple(option_choices(method))):
            yield f"method/{method.name}/{options}", outcome(run, method, first, adjacency, **options)


# Estimators.


def fitted(made: Any, *data: Any, **more: Any) -> Any:
    """Coefficients in the user's units, and everything that the release says."""
    made.fit(*data, **more)
    model = made.model_
    return {
        "method": made.method_,
        "coef": np.asarray(made.coef_),
        "intercept": np.asarray(made.intercept_),
        "noise_std": model.noise_std,
        "parameters": made.release_.provenance.parameters,
        "guarantee": promise(made.release_),
        "arithmetic": made.release_.provenance.arithmetic,
    }


def estimators(**own: Any) -> dict[str, tuple[Any, Any, str]]:
    """Each estimator with labels for arrays and its target column of the clinic."""
    _, score = rows(COUNT)
    two, three = (score > 0).astype(int), np.digitize(score, [-0.5, 1.0])
    bounds: dict[str, Any] = {"target_bounds": BOUNDS}
    return {
        "logistic": (PrivateLogisticRegression(classes=[0, 1], **own), two, "ill"),
        "softmax": (PrivateLogisticRegression(classes=[0, 1, 2], **own), three, "stage"),
        "svc": (PrivateLinearSVC(classes=[0, 1], **own), two, "ill"),
        "linear": (PrivateLinearRegression(radius=20.0, **bounds, **own), score, "dose"),
        "ridge": (PrivateRidge(**bounds, **own), score, "dose"),
        "lasso": (PrivateLasso(radius=10.0, **bounds, **own), score, "dose"),
    }


def tables() -> dict[str, Table]:
    """The clinic in memory, by row, by person and with a private count, and in DuckDB."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    people = clinic()
    connection.register("arrived", people)
    connection.execute("CREATE TABLE clinic AS SELECT * FROM arrived")
    return {
        "memory": open_table(people, clinic_schema()),
        "users": open_table(people, clinic_schema(users=True)),
        "add_remove": open_table(people, clinic_schema(adjacency="add_remove", n_public=400)),
        "duckdb": open_table(connection, clinic_schema(), table="clinic"),
    }


def automatic() -> Iterator[tuple[str, Plain]]:
    """method='auto' at three budgets, from arrays and from tables."""
    x, _ = rows(COUNT)
    opened = tables()
    for epsilon, delta in ((0.5, 1e-6), (4.0, 1e-6), (2.0, 0.0)):
        own = {"epsilon": epsilon, "delta": delta, "random_state": 0}
        for name, (made, labels, column) in estimators(**own).items():
            label = f"auto/{name}/{epsilon:g},{delta:g}"
            yield f"{label}/arrays", outcome(fitted, made, x, labels)
            for place, table in opened.items():
                fresh = estimators(**own)[name][0]
                fresh.set_params(
                    **({"classes": None} if hasattr(fresh, "classes") else {"target_bounds": None})
                )
                made_of = outcome(fitted, fresh, table, target=column)
                yield f"{label}/{place}", made_of


def named() -> Iterator[tuple[str, Plain]]:
    """Every estimator by the name of every method, in every adjacency."""
    x, _ = rows(COUNT)
    for method in LEARNERS:
        for adjacency in method.adjacencies:
            own = {"epsilon": 2.0, "delta": 1e-6, "method": method.name, "adjacency": adjacency}
            for name, (made, labels, _) in estimators(**own, n_public=COUNT, random_state=0).items():
                made_of = outcome(fitted, made, x, labels)
                if isinstance(made_of, dict):
                    made_of = {key: made_of[key] for key in ("coef", "intercept", "noise_std")}
                yield f"named/{name}/{method.name}/{adjacency}", made_of


def search() -> Iterator[tuple[str, Plain]]:
    """A private search over penalties."""
    x, score = rows(COUNT)

    def made() -> Any:
        asked = PrivateSearch(
            PrivateLogisticRegression(classes=[0, 1]), {"penalty": [0.01, 0.1]}, epsilon=4.0, random_state=0
        )
        asked.fit(x, (score > 0).astype(int))
        return {"best": asked.best_params_, "coef": np.asarray(asked.best_estimator_.coef_)}

    yield "search/penalty", outcome(made)


def texts() -> Iterator[tuple[str, Plain]]:
    """What estimators say of themselves."""
    x, _ = rows(COUNT)
    for name, (made, labels, _) in estimators(epsilon=1.0, delta=1e-6, random_state=0).items():

        def said(m: Any = made, y: Floats = labels) -> Any:
            m.fit(x, y)
            m.release_ = pinned(m.release_)
            return {"summary": m.summary(), "json": m.to_json()}

        yield f"text/{name}", outcome(said)


def learn() -> dict[str, Plain]:
    """All of it."""
    return {name: made for part in (methods, automatic, named, search, texts) for name, made in part()}
