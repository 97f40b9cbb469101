"""Every transformer of scikit-learn as a step: it reads nothing, or is refused by name before anything is spent."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.utils import all_estimators, get_tags

from holdfast import Account, ApproxDP, Numeric, Schema
from holdfast.data import Encoder
from holdfast.errors import HoldfastError, ParameterError
from holdfast.learn import (
    PrivateLogisticRegression,
    PrivatePCA,
    PrivateScaler,
    PrivateSearch,
    RandomProjection,
    load_model,
    pipeline_release,
)
from holdfast.privacy._account.unpaid_steps import require_paid_steps

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
X = np.random.default_rng(1).uniform(0.0, 0.7, size=(400, 2))
Y = (X[:, 0] > 0.35).astype(int)
NEEDED: dict[str, Any] = {
    "estimator": LogisticRegression(),
    "estimators": [("a", LogisticRegression())],
    "transformers": [("a", StandardScaler(), [0])],
    "transformer_list": [("a", StandardScaler())],
    "dictionary": np.eye(2),
}
"""What transformers must be given that cannot be made without."""


def built(kind: type[Any]) -> Any:
    parameters = kind._get_param_names()
    try:
        return kind()
    except TypeError:
        return kind(**{name: value for name, value in NEEDED.items() if name in parameters})


@cache
def transformers() -> tuple[Any, ...]:
    """Those of scikit-learn. They are listed when a test asks: the list imports all of the library."""
    return tuple(built(kind) for _, kind in all_estimators("transformer"))


HOLDERS = (ColumnTransformer, FeatureUnion)


def reads_nothing(step: Any) -> bool:
    """By scikit-learn's own tags; one of them makes several rows of one."""
    return (
        not get_tags(step).requires_fit
        and type(step).__name__ != "PatchExtractor"
        and not isinstance(step, HOLDERS)
    )


def model() -> PrivateLogisticRegression:
    return PrivateLogisticRegression(classes=[0, 1], bounds=(-1, 1), method="output", penalty=0.1)


def doors(step: Any) -> list[Any]:
    """All places that are handed a pipeline, as functions that do something with one of this step and a model."""
    account = Account(ApproxDP(4.0, 1e-5), currency="gdp", seed=1)
    pipeline = Pipeline([("first", clone(step)), ("model", model())])

    def searched() -> None:
        PrivateSearch(pipeline, {"model__penalty": [0.1, 1.0]}).fit(X, Y, account=account)

    def released() -> None:
        fitted = Pipeline([("first", clone(step)), ("model", model().fit(X, Y))])
        pipeline_release(fitted)

    def folded() -> None:
        account.shared_by(3).folds(2, estimator=pipeline)

    def refused_for_nothing() -> None:
        assert account.journal.entries == ()

    return [searched, released, folded, refused_for_nothing]


def test_a_step_that_reads_rows_is_refused_by_name_at_every_door() -> None:
    assert len(transformers()) > 60
    assert 5 <= sum(reads_nothing(step) for step in transformers()) <= 20
    for step in transformers():
        *all_doors, nothing_charged = doors(step)
        if reads_nothing(step):
            all_doors[2]()
            continue
        inner = "StandardScaler" if isinstance(step, HOLDERS) else type(step).__name__
        for door in all_doors:
            with pytest.raises(ParameterError, match=rf"step 'first.*{inner}.*Nothing was charged"):
                door()
        nothing_charged()


def rows_for(step: Any) -> Any:
    """Rows as the transformer takes them."""
    if isinstance(step, HashingVectorizer):
        return np.array([f"a text of {place} words and {place**2} more" for place in range(20)])
    if isinstance(step, FeatureHasher):
        return np.array([{"a": float(place), f"b{place % 3}": 1.0} for place in range(20)])
    return X[:20]


def dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


def test_a_step_that_is_accepted_treats_each_row_alone() -> None:
    """Whatever it was fitted to, and whichever rows stand beside: then one person changes one row and no other."""
    for step in filter(reads_nothing, transformers()):
        rows = rows_for(step)
        whole = dense(clone(step).fit(rows).transform(rows))
        other = dense(clone(step).fit(rows[::-1][:7]).transform(rows))
        assert len(whole) == len(rows), step
        np.testing.assert_array_equal(whole, other)
        for place in range(len(rows)):
            alone = dense(clone(step).fit(rows).transform(rows[place : place + 1]))
            np.testing.assert_array_equal(alone[0], whole[place])


def test_nested_steps_are_refused_by_their_path() -> None:
    scaled = ColumnTransformer([("numbers", make_pipeline("passthrough", StandardScaler()), [0])])
    for step, path in (
        (scaled, "first.numbers.standardscaler"),
        (FeatureUnion([("a", Normalizer()), ("b", scaled)]), "first.b.numbers.standardscaler"),
        (
            ColumnTransformer([("a", "drop", [0])], remainder=StandardScaler()),
            "first.remainder",
        ),
        (ColumnTransformer([("a", Normalizer(), make_column_selector())]), "function of the rows"),
        (StandardScaler, "first"),
    ):
        with pytest.raises(ParameterError, match=path):
            require_paid_steps(Pipeline([("first", step), ("model", model())]))
    fine = ColumnTransformer([("a", Normalizer(), [0]), ("b", "passthrough", [1])], remainder="drop")
    assert require_paid_steps(make_pipeline(fine, None, FeatureUnion([("a", fine)]), model())) == ()


@pytest.mark.parametrize("step", [PrivateScaler(), PrivatePCA(), RandomProjection(2)])
def test_our_own_steps_say_that_they_pay_or_read_nothing(step: Any) -> None:
    assert require_paid_steps(make_pipeline(step, model())) == ()
    assert require_paid_steps(make_pipeline(Encoder(Schema([Numeric("a", 0, 1)])), model())) == ()


class Declared(OneHotEncoder):  # type: ignore[misc]
    """Its categories are public."""

    payment: ClassVar[str] = "public"


class Stranger(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Stateless by its tags."""

    def transform(self, rows: Any) -> Any:
        return np.asarray(rows) - np.mean(rows)  # and not true

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (Declared(categories=[[0.0], [0.0]]), "as its class says"),
        (Stranger(), "treats each row by itself"),
        (FunctionTransformer(lambda rows: rows - rows.mean(axis=0)), "treats each row by itself"),
        (FunctionTransformer(np.matmul), "treats each row by itself"),
        (FunctionTransformer(np.log1p), None),
        (FunctionTransformer(), None),
    ],
)
def test_what_a_stranger_declares_is_written_on_the_release_and_voids_it(step: Any, says: str | None) -> None:
    pipeline = make_pipeline(step, model())
    assumed = require_paid_steps(pipeline)
    assert [assumption.voids for assumption in assumed] == ([] if says is None else [True])
    assert says is None or says in assumed[0].text
    shared = Account(ApproxDP(4.0, 1e-5), currency="gdp", seed=1).shared_by(1)
    shared.folds(2, estimator=pipeline)
    fitted: Any = model().fit(X, Y, account=shared)
    assert set(assumed) <= set(fitted.release_.guarantee.assumptions)


@pytest.mark.parametrize(
    "given", [3, StandardScaler(), LogisticRegression(), make_pipeline(StandardScaler())]
)
def test_what_does_not_end_in_a_private_model_is_refused(given: Any) -> None:
    with pytest.raises(ParameterError, match="must be one of holdfast's"):
        require_paid_steps(given)


@pytest.mark.parametrize(
    "step",
    [Normalizer(norm="max"), FunctionTransformer(np.sqrt), FunctionTransformer(), "passthrough"],
    ids=str,
)
def test_stateless_steps_are_searched_stored_and_read_back(step: Any, tmp_path: Any) -> None:
    pipeline = Pipeline([("first", step), ("model", model())])
    search = PrivateSearch(pipeline, {"model__penalty": [0.1, 1.0]}, epsilon=4.0, delta=1e-5).fit(X, Y)
    search.release_.save(tmp_path / "search.holdfast")
    fitted = search.best_estimator_
    pipeline_release(fitted).save(tmp_path / "pipeline.holdfast")
    for name in ("search", "pipeline"):
        again = load_model(tmp_path / f"{name}.holdfast")
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(lambda rows: rows),
        FunctionTransformer(np.matmul),
        ColumnTransformer([("a", Normalizer(), [0])]),
    ],
    ids=["function", "of matrices", "columns"],
)
def test_a_step_that_no_file_holds_is_refused_before_anything_is_spent(step: Any) -> None:
    searched, released, _, nothing_charged = doors(step)
    for door in (searched, released):
        with pytest.raises(ParameterError, match="cannot be written down"):
            door()
    nothing_charged()


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "StandardScaler", "parameters": {}},
        {"kind": "FunctionTransformer", "parameters": {"func": "load"}},
        {"kind": "FunctionTransformer", "parameters": {"func": "matmul"}},
        {"kind": "FunctionTransformer", "parameters": {"func": "__import__"}},
        {"parameters": {}},
    ],
)
def test_a_file_names_no_code(value: dict[str, Any]) -> None:
    import dataclasses

    from holdfast.learn._estimators import model_of_release

    release = pipeline_release(make_pipeline(Normalizer(), model()).fit(X, Y))
    steps = [{"format": "holdfast-stateless/1"} | value, release.value["steps"][-1]]
    with pytest.raises(HoldfastError):
        model_of_release(dataclasses.replace(release, value=release.value | {"steps": steps}))
