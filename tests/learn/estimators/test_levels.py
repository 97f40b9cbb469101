"""Models of tables with hierarchies: a level that public numbers choose, or the one that is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.data import Categorical, Hierarchy, Numeric, Schema, open_table
from holdfast.errors import AssumptionWarning, ParameterError
from holdfast.learn import (
    PrivateAdditiveClassifier,
    PrivateLogisticRegression,
    PrivateSearch,
    load_model,
    recommend,
)
from holdfast.privacy import Account, ApproxDP

pytestmark = pytest.mark.filterwarnings("ignore:this release was drawn from a seed")
CODES = [f"{code:03d}" for code in range(0, 1000, 2)]
SCHEMA = Schema(
    [Hierarchy("code", CODES, coarser=[2, 1]), Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])],
    adjacency="replace",
)


def rows(count: int, *, one_place: bool = False) -> dict[str, Any]:
    """People of a region in which one half is ill; of one code only, or of all."""
    random = np.random.default_rng(5)
    codes = np.array(CODES)[
        np.zeros(count, dtype=int) if one_place else random.integers(len(CODES), size=count)
    ]
    ill = random.uniform(size=count) < np.where(codes < "500", 0.9, 0.1)
    return {"code": codes, "age": random.uniform(0, 100, count), "ill": np.where(ill, "yes", "no")}


def level_of(model: Any) -> int | None:
    declared = Schema.from_dict(model.model_.schema)["code"]
    assert isinstance(declared, Hierarchy)
    return declared.level


@pytest.mark.filterwarnings("ignore::holdfast.errors.ProbabilityWarning")
@pytest.mark.parametrize("estimator", [PrivateLogisticRegression, PrivateAdditiveClassifier])
def test_the_level_follows_from_public_numbers_alone(estimator: Any) -> None:
    """Whatever the rows hold: the budget, the declared column and how many rows there are decide."""
    for count, epsilon, level in ((400, 1.0, 2), (6_000, 1.0, 1), (400, 1000.0, 0)):
        for one_place in (False, True):
            table = open_table(rows(count, one_place=one_place), SCHEMA)
            model = estimator(epsilon, 1e-6, random_state=1).fit(table, target="ill")
            assert level_of(model) == level
            assert model.release_.provenance.parameters["levels"] == {"code": level}
            assert f"'code' is taken at level {level} with {(500, 100, 10)[level]} names" in model.summary()


def test_a_coarse_model_reads_fine_codes_and_is_told_so_after_loading(tmp_path: Path) -> None:
    people = rows(2_000)
    model = PrivateLogisticRegression(1.0, random_state=1).fit(open_table(people, SCHEMA), target="ill")
    assert level_of(model) == 2
    assert model.score({name: people[name] for name in ("code", "age")}, people["ill"]) > 0.85
    assert model.release_ is not None
    model.release_.save(tmp_path / "model.holdfast")
    loaded = load_model(tmp_path / "model.holdfast")
    assert (
        "level 2 with 10 names of 500, 100, 10: the finest whose cells stand above the noise"
        in loaded.summary()
    )
    coarse = {"code": ["0*", "9*"], "age": [50.0, 50.0]}
    for codes in (["0*", "9*"], ["002", "998"]):
        assert loaded.predict(coarse | {"code": codes}).tolist() == ["yes", "no"]


def test_a_named_level_is_kept() -> None:
    table = open_table(rows(400), SCHEMA.at_levels({"code": 1}))
    model = PrivateLogisticRegression(1.0, random_state=1).fit(table, target="ill")
    assert level_of(model) == 1
    assert model.release_ is not None
    assert "levels" not in model.release_.provenance.parameters
    assert "'code' is taken at level 1 with 100 names\n" in model.summary()
    with pytest.raises(ParameterError, match=r"a hierarchy of the schema, which has \['code'\]"):
        SCHEMA.at_levels({"age": 1})
    with pytest.raises(ParameterError, match="level must be a whole number from 0"):
        SCHEMA.at_levels({"code": 3})


def test_what_an_account_has_left_decides() -> None:
    """And a search over candidates takes one level for all of them."""
    account = Account(ApproxDP(1000.0, 1e-6), adjacency="replace", seed=1)
    model = PrivateLogisticRegression().fit(open_table(rows(400), SCHEMA), target="ill", account=account)
    assert level_of(model) == 0
    search = PrivateSearch(PrivateLogisticRegression(), {"penalty": [0.01, 0.1]}, epsilon=1.0, random_state=1)
    search.fit(open_table(rows(400), SCHEMA), target="ill")
    assert level_of(search.best_estimator_) == 2


def test_a_count_that_was_read_is_said_once() -> None:
    private = Schema(SCHEMA.columns, adjacency="add_remove")
    with pytest.warns(AssumptionWarning, match="number of privacy units was read") as told:
        model = PrivateLogisticRegression(1.0, random_state=1).fit(
            open_table(rows(400), private), target="ill"
        )
    assert sum("number of privacy units" in str(one.message) for one in told) == 1
    assert model.release_ is not None
    assert sum("number of privacy units" in one.text for one in model.release_.guarantee.assumptions) == 1


def test_advice_counts_the_features_that_a_fit_would_have() -> None:
    assert recommend(SCHEMA, target="ill", epsilon=1.0, rows=400).features == 10 + 2
    assert recommend(SCHEMA, target="ill", epsilon=1.0, rows=10**7).features == 500 + 2


def test_from_a_shell(tmp_path: Path) -> None:
    import pandas as pd

    pd.DataFrame(rows(400)).to_csv(tmp_path / "people.csv", index=False)
    SCHEMA.save(tmp_path / "people.toml")
    asked = [str(tmp_path / "people.csv"), "--schema", str(tmp_path / "people.toml"), "--epsilon", "1"]
    fit = ["fit", *asked, "--target", "ill", "-o", str(tmp_path / "m.holdfast"), "--force"]
    done = CliRunner().invoke(app, fit)
    assert done.exit_code == 0
    assert "level 2 with 10 names of 500, 100, 10" in done.output
    assert "taken at level 1 with 100 names" in CliRunner().invoke(app, [*fit, "--level", "code=1"]).output
    for wrong in ("code", "code=x", "=1", "age=1", "code=9"):
        refused = CliRunner().invoke(app, [*fit, "--level", wrong])
        assert (refused.exit_code, "level" in refused.output) == (2, True), wrong
    estimate = ["synth", *asked, "--estimate", "--columns", "code,ill", "--json"]
    groups = [CliRunner().invoke(app, [*estimate, "--level", f"code={level}"]).output for level in (0, 2)]
    assert [one.count('"largest_group": 1000') for one in groups] == [1, 0]
