"""Columns ranked by what a model gives away: nothing where there is no influence, all where it shows through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from holdfast import PrivateLogisticRegression, open_table
from holdfast.attack import Retraining, Target, invertibility, publishing_options
from holdfast.attack._influence.columns import Domain, with_column
from holdfast.data import Categorical, Numeric, Schema
from holdfast.errors import NotPrivateWarning, ParameterError

SCHEMA = Schema(
    [
        Categorical("gene", ["GG", "AG", "AA"]),
        Numeric("age", 0, 100, bins=10),
        Categorical("sex", ["F", "M"]),
        Categorical("ill", ["no", "yes"]),
    ]
)


def _people(count: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    gene = random.choice(["GG", "AG", "AA"], count, p=[0.5, 0.3, 0.2])
    age, sex = random.uniform(0, 100, count), random.choice(["F", "M"], count)
    odds = 2.0 * (gene == "AA") - 1.0 * (gene == "GG") + 0.03 * (age - 50)
    ill = np.where(odds + random.logistic(size=count) > 0, "yes", "no")
    return pd.DataFrame({"gene": gene, "age": age, "sex": sex, "ill": ill})


def _fitted(frame: pd.DataFrame) -> Any:
    shape = ColumnTransformer([("texts", OneHotEncoder(), ["gene"]), ("numbers", "passthrough", ["age"])])
    return make_pipeline(shape, LogisticRegression(max_iter=500)).fit(
        frame[["gene", "age", "sex"]], frame["ill"]
    )


def test_scores_give_away_what_the_model_uses_and_nothing_else() -> None:
    model, people = _fitted(_people(2000, 1)), _people(1200, 2).drop(columns="ill")
    report = invertibility(model, people, schema=SCHEMA, random_state=0)
    assert [found.column for found in report][-1] == "sex"
    gene, sex = report["gene"], report["sex"]
    assert gene.advantage.gain == 1.0
    assert gene.influence == 1.0
    assert gene.advantage.limits[0] > 0.4
    assert sex.influence == 0.0
    assert sex.advantage.value == 0.0  # no influence: the guesses of both worlds are the same
    assert "age is the column" in report.summary()
    assert "epsilon does not limit this" in report.summary()
    assert report.to_json()["audience"] == report.audience == "internal"


def test_decisions_give_away_less_and_noise_in_the_knowledge_still_less() -> None:
    model, people = _fitted(_people(2000, 1)), _people(1600, 3).drop(columns="ill")
    settings: dict[str, Any] = {"schema": SCHEMA, "columns": ["gene"], "random_state": 0}
    scores = invertibility(model, people, **settings)["gene"].advantage.value
    decisions = invertibility(model, people, shows="decision", **settings)["gene"].advantage.value
    noisy = invertibility(model, people, shows="decision", knowledge=0.3, **settings)["gene"].advantage.value
    assert scores > decisions + 0.1
    assert decisions > noisy > 0.0


@pytest.mark.parametrize("knowledge", [1.0, 0.5])
def test_a_model_without_influence_finds_nothing_whatever_the_seed(knowledge: float) -> None:
    beyond, games = 0, 40 if knowledge == 1.0 else 10
    for seed in range(games):
        people = _people(200, seed).drop(columns="ill")
        silent = invertibility(
            Target.of(lambda frame: np.clip(frame["age"].to_numpy() / 100, 0, 1), classes=["no", "yes"]),
            people,
            shows="decision",
            columns=["gene", "sex"],
            schema=SCHEMA,
            knowledge=knowledge,
            random_state=seed,
        )
        assert all(found.influence == 0.0 for found in silent)
        beyond += any(found.advantage.limits[0] > 0 for found in silent)
    assert beyond == 0 if knowledge == 1.0 else beyond <= 2


def test_influence_lies_within_its_limits() -> None:
    """A model that shows the gene to people below 40 only: the influence is the share of them."""
    outside = 0
    for seed in range(60):
        people = _people(300, 100 + seed).drop(columns="ill")
        found = invertibility(
            Target.of(
                lambda frame: np.where((frame["age"] < 40) & (frame["gene"] == "AA"), 0.9, 0.1),
                classes=["no", "yes"],
            ),
            people,
            columns=["gene"],
            schema=SCHEMA,
            random_state=seed,
        )["gene"]
        low, high = found.influence_limits
        outside += not low <= 0.4 / 2 <= high  # two distinct outputs of three values
    assert outside <= 3


def test_a_private_release_on_an_arrow_table_with_its_schema() -> None:
    train = pa.Table.from_pandas(_people(3000, 4), preserve_index=False)
    private = PrivateLogisticRegression(epsilon=4.0, delta=1e-6, random_state=0)
    with pytest.warns(NotPrivateWarning):
        model = private.fit(open_table(train, SCHEMA), target="ill")
    people = pa.Table.from_pandas(_people(800, 5).drop(columns="ill"), preserve_index=False)
    report = invertibility(model, people, schema=SCHEMA, random_state=1)
    assert report["gene"].advantage.limits[0] > 0.3
    assert report["age"].labels[0] == "5"
    assert report.plot().axes[0].get_xlabel().startswith("share")


def test_what_is_published_and_what_it_costs() -> None:
    model, held = _fitted(_people(2000, 1)), _people(1600, 6)
    found = publishing_options(
        model,
        held.drop(columns="ill"),
        held["ill"].to_numpy(),
        sensitive="gene",
        schema=SCHEMA,
        random_state=0,
    )
    names = [
        "scores",
        "scores to 0.01",
        "scores to 0.1",
        "decisions only",
        "gene in 2 groups",
        "gene dropped",
    ]
    assert [option.name for option in found] == names
    advantage = {option.name: option.invertibility.advantage.value for option in found}
    assert advantage["scores"] >= advantage["scores to 0.1"] > advantage["decisions only"] > 0
    assert advantage["scores"] > advantage["gene in 2 groups"] > 0
    assert advantage["gene dropped"] == 0.0
    assert found["gene dropped"].loss > found["gene in 2 groups"].loss > found["scores"].loss
    assert found["decisions only"].right == found["scores"].right
    assert "'gene dropped' leaves +0.000" in found.summary()
    assert found.to_json()["options"][0]["option"] == "scores"
    assert found.plot().axes[0].get_ylabel() == "advantage in guessing gene"


def test_coarser_models_can_be_trained_again() -> None:
    train, held = _people(2000, 1), _people(1000, 6)
    features = train[["gene", "age", "sex"]]

    def fit(rows: Any, labels: Any) -> Any:
        return _fitted(pd.DataFrame(rows).assign(ill=labels))

    found = publishing_options(
        fit(features, train["ill"]),
        held.drop(columns="ill"),
        held["ill"].to_numpy(),
        sensitive="gene",
        steps=(),
        schema=SCHEMA,
        retraining=Retraining(train=fit, features=features, labels=train["ill"]),
        random_state=0,
    )
    assert found["gene dropped"].invertibility.advantage.value == 0.0
    assert found["gene in 2 groups"].invertibility.advantage.value > 0.1


def test_regressions_show_numbers() -> None:
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 3, 600), random.normal(size=600)])
    y = X[:, 0] + X[:, 1] + 0.1 * random.normal(size=600)
    found = publishing_options(lambda X: X[:, 0] + X[:, 1], X, y, sensitive=0, steps=(5.0,), random_state=0)
    assert [option.name for option in found] == ["scores", "scores to 5", "0 in 2 groups", "0 dropped"]
    assert found["scores"].right > 0.98
    assert found["scores"].invertibility.advantage.value > found["scores to 5"].invertibility.advantage.value


def test_domains_and_columns_of_every_container() -> None:
    frame = _people(50, 0)
    table, matrix = pa.Table.from_pandas(frame, preserve_index=False), np.arange(6.0).reshape(3, 2)
    assert set(with_column(frame, "gene", "AA")["gene"]) == {"AA"}
    assert with_column(table, "age", 3.5)["age"].to_pylist() == [3.5] * 50
    assert with_column(matrix, 1, 9.0)[:, 1].tolist() == [9.0] * 3
    assert Domain.of(table, "gene", SCHEMA).values == ("GG", "AG", "AA")
    assert Domain.of(frame, "age").size == 5
    assert Domain.of(frame, "sex").labels == ("F", "M")
    odd = pd.DataFrame({"gene": ["GG", "never declared"]})
    declared = Schema([Categorical("gene", ["GG", "AG"], other="(other)")])
    assert Domain.of(odd, "gene", declared).codes.tolist() == [0, -1]


def test_bad_input_is_refused_before_anything_is_asked() -> None:
    people = _people(20, 0).drop(columns="ill")
    model = _fitted(_people(200, 1))
    for wrong, word in (
        ({"shows": "logits"}, "shows"),
        ({"shows": -1.0}, "shows"),
        ({"knowledge": 2.0}, "knowledge"),
        ({"knowledge": 0.5}, "shows"),
        ({"columns": ["agee"]}, "columns"),
    ):
        with pytest.raises(ParameterError, match=word):
            invertibility(model, people, **wrong)
    with pytest.raises(ParameterError, match="labels"):
        publishing_options(model, people, [1, 2], sensitive="gene")
    many = pd.DataFrame({"name": [f"n{j}" for j in range(80)]})
    with pytest.raises(ParameterError, match="at most 50"):
        Domain.of(many, "name")


def test_a_table_brings_its_schema_and_loses_what_the_model_does_not_read() -> None:
    random = np.random.default_rng(3)
    sex, age = random.integers(0, 2, 400), random.integers(20, 60, 400)
    ill = (2.0 * sex + random.logistic(size=400) > 1.0).astype(int)
    held = open_table(
        {"sex": sex, "age": age, "ill": ill},
        Schema(
            [Categorical("sex", [0, 1]), Numeric("age", 20, 60, integer=True), Categorical("ill", [0, 1])]
        ),
    )
    frame = pd.DataFrame({"sex": sex, "age": age})
    model = LogisticRegression(max_iter=1000).fit(frame, ill)

    wrapped = _Wrapped(model)
    report = invertibility(wrapped, held, random_state=0)
    assert {found.column for found in report} == {"sex", "age"}  # not ill, which the model predicts
    assert report["sex"].advantage.value > 0.1
    options = publishing_options(wrapped, held, "ill", sensitive="sex", random_state=0)
    assert options["sex dropped"].invertibility.advantage.value == 0.0
    with pytest.raises(ValueError, match="labels must be one of sex, age, ill"):
        publishing_options(wrapped, held, "pay", sensitive="sex")


class _Wrapped:
    """A fitted model that takes Arrow tables."""

    def __init__(self, model: Any) -> None:
        self.model, self.classes_ = model, np.array(["0", "1"])
        self.feature_names_in_ = model.feature_names_in_

    def predict_proba(self, people: Any) -> Any:
        return self.model.predict_proba(people.to_pandas().astype(float)[list(self.feature_names_in_)])


def test_numbers_are_tried_all_over_their_cells_and_gaps_have_no_value() -> None:
    """Somebody at the border of a cell is found; merging cells never gives more away than all that is shown."""
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"age": random.uniform(0, 100, 600), "sex": random.integers(0, 2, 600).astype(float)}
    )
    ill = (random.random(600) < 0.2 + 0.006 * frame["age"]).astype(int)
    gaps = frame.copy()
    gaps.loc[:59, "age"] = np.nan

    model = Target.of(
        lambda people: 0.2 + 0.006 * np.nan_to_num(people["age"].to_numpy(), nan=50.0), classes=[0, 1]
    )

    declared = Schema([Numeric("age", 0, 100, bins=5, null="category"), Categorical("sex", [0, 1])])
    for schema in (None, declared):
        told: dict[str, Any] = {"schema": schema, "random_state": 0}
        whole = publishing_options(model, frame, ill.to_numpy(), sensitive="age", **told)
        assert whole["scores"].invertibility.advantage.gain > 0.9
        merged = whole["age in 3 groups"].invertibility.advantage.value
        assert merged <= whole["scores"].invertibility.advantage.value + 0.01
        found = invertibility(model, gaps, columns=["age"], **told)["age"]
        assert len(found.labels) == 5
        assert found.people < 300  # those without an age are not judged
    uneven = Schema([Numeric("age", 0, 100, bins=[0, 10, 20, 40, 100])])  # 30 is nearer to 15 than to 70
    found = invertibility(model, frame, columns=["age"], schema=uneven, random_state=0)["age"]
    assert found.advantage.gain > 0.93
