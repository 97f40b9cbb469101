"""Synthesizer: frames in and out, what is promised, what is certified, and what is refused."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from holdfast.data import Categorical, Identifier, Numeric, Schema, open_table
from holdfast.errors import (
    AdjacencyError,
    AssumptionWarning,
    BudgetExceeded,
    FormatError,
    NotPrivateWarning,
    ParameterError,
)
from holdfast.privacy import ZCDP, ApproxDP
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.release import Release
from holdfast.synth import CertificateRequest, Synthesizer, Workload, Zeros
from holdfast.synth._certificate import largest_errors
from holdfast.synth._choice import find_synthesis_method
from holdfast.synth._evaluation import evaluate
from holdfast.synth._exact_counts import ExactCounts

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
SCHEMA = Schema(
    [
        Numeric("age", 0, 99, bins=5, integer=True),
        Numeric("dose", 0, 1, bins=4, null="category"),
        Categorical("sex", ["F", "M"]),
        Categorical("ward", [1, 2, 3], null="(missing)"),
    ]
)


def columns(rows: int = 500, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    sex = random.integers(0, 2, rows)
    dose = np.where(random.random(rows) < 0.1, np.nan, random.random(rows))
    return {
        "age": random.integers(0, 50, rows) + 50 * sex,
        "dose": dose,
        "sex": np.array(["F", "M"])[sex],
        "ward": random.integers(1, 4, rows),
    }


def fitted(**parameters: Any) -> Synthesizer:
    settings: dict[str, Any] = {
        "epsilon": 2.0,
        "delta": 1e-6,
        "method": "independent",
        "random_state": 0,
    } | parameters
    return Synthesizer(**settings).fit(columns(), SCHEMA)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (dict, dict),
        (pandas.DataFrame, pandas.DataFrame),
        (polars.DataFrame, polars.DataFrame),
        (pyarrow.table, pyarrow.Table),
    ],
)
def test_the_same_kind_of_frame_comes_out(make: Any, kind: Any) -> None:
    made = Synthesizer(2.0, 1e-6, method="independent", random_state=0).fit(make(columns()), SCHEMA)
    frame = made.sample()
    assert isinstance(frame, kind)
    asked = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pyarrow.Table, "dict": dict}
    assert all(isinstance(made.sample(frame=name), wanted) for name, wanted in asked.items())
    with pytest.warns(AssumptionWarning, match="a new draw"):
        assert isinstance(made.sample(9, frame="pandas"), pandas.DataFrame)
    names = list(frame) if kind is dict else list(getattr(frame, "column_names", None) or frame.columns)
    assert names == list(SCHEMA.names)
    values = made.release_.value["rows"]
    assert values["age"].type == pyarrow.int64()
    assert values["age"].null_count == values["sex"].null_count == 0
    assert 0 <= min(values["age"].to_pylist()) <= max(values["age"].to_pylist()) <= 99
    assert set(values["sex"].to_pylist()) <= {"F", "M"}
    assert values["dose"].null_count > 0


def test_the_release_is_saved_loaded_and_asked_again(tmp_path: Path) -> None:
    made = fitted(workload=Workload.of([("age", "sex"), ("sex", "ward")]))
    made.save(tmp_path / "clinic.holdfast")
    loaded = Release.load(tmp_path / "clinic.holdfast")
    assert loaded == made.release_
    back = Synthesizer.from_release(loaded)
    assert back.method_ == made.method_ == "independent"
    with pytest.raises(ParameterError, match=r"frame must be one of 'pandas', .*, got frame='numpy'"):
        back.sample(frame="numpy")
    assert back.sample().equals(made.release_.value["rows"])
    for ours, theirs in zip(made.answer().groups, back.answer().groups, strict=True):
        assert np.array_equal(ours.estimates, theirs.estimates)
        assert np.array_equal(ours.low, theirs.low)
    assert back.certificate_ == made.certificate_
    assert len(loaded.value["measurements"]) == 4
    assert "noisy tables" in back.summary()
    with pytest.warns(AssumptionWarning, match="a new draw"):
        assert back.sample(10).num_rows == 10
    with pytest.raises(FormatError, match="synthetic"):
        Synthesizer.from_release(Release(value=1, guarantee=loaded.guarantee, provenance=loaded.provenance))


def test_the_certificate_is_about_the_released_rows_and_says_so() -> None:
    made = fitted()
    assert made.certificate_ is not None
    assert made.certificate_.details["rows"] == 500
    with pytest.warns(AssumptionWarning, match="released rows only"):
        more = made.sample(700)
    assert len(more["age"]) == 700
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(made.sample(500)["age"]) == 500


def test_certified_rows_are_as_good_as_claimed() -> None:
    workload = Workload.marginals(SCHEMA, 3)
    table = open_table(columns(), SCHEMA)
    data = ExactCounts(table)
    held = 0
    for seed in range(50):
        made = Synthesizer(
            2.0,
            1e-6,
            method="independent",
            workload=workload,
            random_state=seed,
            certificate=CertificateRequest(share=0.3),
        ).fit(table)
        assert made.certificate_ is not None
        truth = evaluate(lambda names: data(*names), made._rows, workload).max_error
        assert truth == pytest.approx(largest_errors(data, made._rows, workload).max() / 500)
        held += truth <= made.certificate_.alpha
    # P[Binomial(50, 0.95) <= 42] < 0.005.
    assert held >= 43


def test_intervals_hold_the_table() -> None:
    asked = Workload.of([("age",), ("sex", "ward"), ("dose", "sex")])
    data = ExactCounts(open_table(columns(), SCHEMA))
    inside, total = 0, 0
    for seed in range(10):
        made = fitted(random_state=seed, workload=Workload.of([("sex", "ward"), ("age", "sex")]))
        answers = made.answer(asked)
        assert [answer.source for answer in answers.groups] == ["measurement", "certificate", "none"]
        for answer in answers.groups[:2]:
            truth = data(*answer.group.columns).reshape(-1) / 500
            inside += int(((answer.low <= truth) & (truth <= answer.high)).sum())
            total += truth.size
        assert (answers.groups[2].low == 0).all()
        assert (answers.groups[2].high == 1).all()
    assert inside / total >= 0.93
    long = answers.to_columns(lambda names: SCHEMA.shape(*names))
    assert len(long["query"]) == len(answers)
    assert "by certificate" in answers.summary()


def test_lower_marginals_are_claimed_where_that_is_asked() -> None:
    workload = Workload.of([("age", "sex", "ward")])
    asked = Workload.of([("sex", "age")])
    assert fitted(workload=workload).answer(asked).groups[0].source == "none"
    made = fitted(workload=workload, certificate=CertificateRequest(workload=workload.with_lower_marginals()))
    assert made.answer(asked).groups[0].source == "certificate"
    assert made.certificate_ is not None
    assert "7 groups" in made.certificate_.query_class
    back = Synthesizer.from_release(made.release_)
    assert back.answer(asked).groups[0].source == "certificate"


def test_measurements_answer_in_any_order_of_columns() -> None:
    made = fitted(workload=Workload.of([("sex", "ward")]))
    swapped = made.answer(Workload.of([("ward", "sex")])).groups[0]
    straight = made.answer(Workload.of([("sex", "ward")])).groups[0]
    assert swapped.source == straight.source == "certificate"
    assert np.array_equal(swapped.low.reshape(4, 2).T.reshape(-1), straight.low)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
def test_nothing_beyond_the_promise_is_spent(adjacency: str) -> None:
    made = fitted(adjacency=adjacency, workload=Workload.of([("age", "sex"), ("sex", "ward")]))
    curve = made.release_.guarantee.curve
    assert curve.delta(2.0) <= 1e-6
    assert made.release_.guarantee.adjacency.value == adjacency
    assert made.release_.provenance.arithmetic == "strict"


def test_a_private_number_of_rows_stays_private() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        made = fitted(adjacency="add_remove")
    assert made.release_.guarantee.assumptions == ()
    rows = made.release_.value["rows"].num_rows
    assert rows != 500 or made.release_.value["public_rows"] is None
    assert 450 <= rows <= 550


def test_the_number_of_rows_is_the_users() -> None:
    made = fitted(rows=123)
    assert len(made.sample()["age"]) == 123
    assert made.certificate_ is not None
    assert made.certificate_.details["rows"] == 123


def test_impossible_combinations_never_appear_in_certified_rows() -> None:
    zeros = Zeros.of_labels(SCHEMA, [{"sex": "M", "ward": ["1", "2"]}])
    made = fitted(constraints=[zeros])
    frame = made.sample()
    assert not ((frame["sex"] == "M") & np.isin(frame["ward"].astype(float), [1, 2])).any()
    with pytest.raises(ParameterError, match="leave a record"):
        fitted(constraints=[Zeros(("sex",), [(0,), (1,)])])


def test_a_seeded_run_can_be_repeated_and_says_that_it_is_not_private() -> None:
    with pytest.warns(NotPrivateWarning):
        first = fitted(random_state=5)
    assert first.release_.private is False
    assert "NOT PRIVATE" in first.summary()
    second = fitted(random_state=5)
    assert first.release_.value["rows"].equals(second.release_.value["rows"])
    assert not first.release_.value["rows"].equals(fitted(random_state=6).release_.value["rows"])


def test_an_account_is_spent_and_its_adjacency_and_unit_are_checked() -> None:
    table = open_table(columns(), SCHEMA)
    account = Account(ZCDP(0.5), seed=1)
    made = Synthesizer(method="independent").fit(table, account=account)
    assert float(account.remaining().as_zcdp() or 0) < 1e-9
    assert made.release_.guarantee.curve == ZCDP(0.5)
    with pytest.raises(BudgetExceeded, match="thousandth"):
        Synthesizer(method="independent").fit(table, account=account)
    with pytest.raises(AdjacencyError):
        Synthesizer(method="independent").fit(
            table, account=Account(ZCDP(0.5), adjacency="add_remove", seed=1)
        )
    with pytest.raises(ParameterError, match="random_state"):
        Synthesizer(random_state=1).fit(table, account=Account(ZCDP(0.5)))


def test_an_account_that_cannot_pay_for_selections_is_refused_before_it_is_spent() -> None:
    account = Account(ApproxDP(1.0, 1e-6), currency="gdp", seed=1)
    with pytest.raises(ParameterError, match="'zcdp'"):
        Synthesizer(method="adaptive").fit(open_table(columns(), SCHEMA), account=account)
    assert not account.journal.entries


def test_a_partly_spent_account_still_pays_for_the_certificate() -> None:
    from holdfast.privacy import Gaussian

    account = Account(ZCDP(1.0), seed=1)
    account.release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [1])
    made = Synthesizer(method="independent").fit(open_table(columns(), SCHEMA), account=account)
    assert made.certificate_ is not None


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": 0.5}, "delta must be < 1 / n"),
        ({"method": "magic"}, "method"),
        ({"rows": 0}, "rows"),
        ({"confidence": 1.0}, "confidence"),
        ({"random_state": -1}, "random_state"),
        ({"columns": ["age"], "workload": Workload.of([("sex",)])}, "about"),
        ({"workload": Workload.of([("height",)])}, "height"),
        ({"rows": 10**15}, "rows"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        fitted(**parameters)


def test_a_frame_needs_a_schema_and_a_table_has_one() -> None:
    with pytest.raises(ParameterError, match="schema"):
        Synthesizer().fit(columns())
    with pytest.raises(ParameterError, match="schema"):
        Synthesizer().fit(open_table(columns(), SCHEMA), SCHEMA)
    with pytest.raises(ParameterError, match="not fitted"):
        Synthesizer().sample()


def test_pure_privacy_has_a_pure_certificate() -> None:
    made = fitted(delta=0.0, workload=Workload.of([("age", "sex"), ("sex", "ward")]))
    assert made.release_.guarantee.curve.as_pure() == 2
    assert made.certificate_ is not None
    assert 0 < made.certificate_.alpha < 1


def test_no_certificate_where_none_is_paid_for() -> None:
    made = fitted(certificate=None)
    assert made.certificate_ is None
    assert made.release_.certificates == ()
    assert "no certificate" in made.summary()


def test_users_are_protected_as_a_whole() -> None:
    schema = Schema([*SCHEMA.columns, Identifier("who")], unit=PrivacyUnit.user("who", max_rows=5))
    frame = columns() | {"who": np.arange(500) // 5}
    one = Synthesizer(5.0, 1e-6, method="independent", random_state=0).fit(columns(), SCHEMA)
    many = Synthesizer(5.0, 1e-6, method="independent", random_state=0).fit(frame, schema)
    assert "who" not in many.sample()
    ratio = (
        many.release_.value["measurements"][0]["noise_std"]
        / one.release_.value["measurements"][0]["noise_std"]
    )
    assert ratio == pytest.approx(5.0, rel=1e-6)
    assert many.release_.guarantee.unit == schema.confirmed_unit


def test_estimates_cost_nothing_and_speak_before_the_run() -> None:
    made = Synthesizer(1.0, 1e-6)
    told = made.estimate(SCHEMA, rows=500)
    assert told.queries == Workload.marginals(SCHEMA, 3).size(SCHEMA)
    assert "nothing was spent" in told.summary()
    assert told.certificate_noise is not None
    assert made.estimate(columns(), SCHEMA).rows == 500
    assert Synthesizer(1.0, 0.0, certificate=None).estimate(SCHEMA).certificate_noise is None


def test_an_account_that_is_a_plan_is_refused_before_it_is_spent() -> None:
    from holdfast.privacy import Gaussian

    account = Account(ApproxDP(1.0, 1e-6), plan=[(Gaussian(sigma=10.0, l2_sensitivity=1.0), 1)])
    with pytest.raises(ParameterError):
        Synthesizer(method="independent").fit(open_table(columns(), SCHEMA), account=account)
    assert not account.journal.entries


def test_a_method_of_ones_own_is_given_as_an_object() -> None:
    named = Synthesizer(2.0, 1e-6, method="tree", random_state=1).fit(columns(), SCHEMA)
    entry = find_synthesis_method("tree")
    given = Synthesizer(2.0, 1e-6, method=entry, random_state=1).fit(columns(), SCHEMA)
    assert str(given.sample()) == str(named.sample())
    assert given.release_.guarantee == named.release_.guarantee
    own = replace(entry, name="mine")
    made = Synthesizer(2.0, 1e-6, method=own, random_state=1).fit(columns(), SCHEMA)
    assert made.method_ == "mine"
    assert made.choice_ is None
    assert str(made.sample()) == str(named.sample())
    assert "the method 'mine' is not registered" in " ".join(map(str, made.release_.guarantee.assumptions))
    told = Synthesizer(2.0, 1e-6, method=own).estimate(SCHEMA, rows=100)
    assert told.method == "mine"


def test_a_universe_that_a_method_cannot_hold_is_refused() -> None:
    small = replace(find_synthesis_method("independent"), name="small", most_cells=2)
    with pytest.raises(ParameterError, match="holds every possible record, at most 2"):
        Synthesizer(2.0, 1e-6, method=small).fit(columns(), SCHEMA)


@pytest.mark.filterwarnings("ignore::holdfast.errors.AssumptionWarning")
def test_every_new_draw_gives_other_rows(tmp_path: Path) -> None:
    made = fitted()
    made.save(tmp_path / "made.holdfast")
    for one in (made, Synthesizer.load(tmp_path / "made.holdfast")):
        first, second = (pyarrow.table(one.sample(200)) for _ in range(2))
        assert first.num_rows == second.num_rows == 200
        assert first["age"] != second["age"]
        assert pyarrow.table(one.sample())["age"] == pyarrow.table(made.sample())["age"]


@pytest.mark.filterwarnings("ignore::holdfast.errors.AssumptionWarning")
def test_numbers_of_rows_may_be_numpys() -> None:
    made = fitted(rows=np.int64(70))
    assert pyarrow.table(made.sample()).num_rows == 70
    assert pyarrow.table(made.sample(cast("int", np.int64(5)))).num_rows == 5
    for wrong in (True, 2.0, -1, "5"):
        with pytest.raises(ParameterError, match=r"rows must be a whole number (>= 0|or None), got rows="):
            made.sample(cast("int", wrong))


def test_the_objective_is_declared_and_kept() -> None:
    with pytest.raises(ParameterError, match="objective must be one of 'average', 'largest', got"):
        Synthesizer(objective="worst").fit(columns(), SCHEMA)
    pairs = Workload.marginals(SCHEMA, 2)
    chosen = {
        objective: Synthesizer(1.0, 1e-6, workload=pairs, objective=objective, random_state=1)
        .fit(columns(), SCHEMA)
        .method_
        for objective in ("average", "largest")
    }
    assert chosen == {"average": "query_gan", "largest": "query_gan"}
    few = Workload.of([("age", "sex"), ("sex", "ward")])
    asked = {
        objective: Synthesizer(1.0, 1e-6, workload=few, objective=objective)
        .estimate(columns(), SCHEMA)
        .method
        for objective in ("average", "largest")
    }
    assert asked == {"average": "adaptive", "largest": "gaussian"}


def test_the_choice_says_when_the_largest_error_is_far_from_what_one_measurement_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.synth._choice.SACRIFICE_RATIO", 1e-9)
    few = Workload.of([("age", "sex"), ("sex", "ward")])
    made = Synthesizer(1.0, 1e-6, workload=few, random_state=1).fit(columns(), SCHEMA)
    assert "objective='largest' aims at that" in made.summary()
    assert "objective='largest' aims at that" in Synthesizer.from_release(made.release_).summary()


def test_a_declared_target_is_not_forgotten() -> None:
    asked = Workload.marginals(SCHEMA, 3, target="sex")
    assert asked.apart_from("sex", SCHEMA.names) == ()
    weights = {group.columns: group.weight for group in Workload.marginals(SCHEMA, 2, target="sex").groups}
    assert sum(weight for names, weight in weights.items() if "sex" in names) == 3.0
    # age, dose and ward have 120 cells together; with sex and one of them there are at most 60.
    alone = Workload.marginals(SCHEMA, 3, target="sex", most_cells=25)
    assert alone.apart_from("sex", SCHEMA.names) == ()
    forgetful = Workload.of([("age", "ward"), ("sex", "dose")])
    with pytest.warns(AssumptionWarning, match="target 'sex' together with 'age', 'ward'"):
        Synthesizer(1.0, 1e-6, workload=forgetful, target="sex").estimate(columns(), SCHEMA)
    with pytest.raises(ParameterError, match="target must be one of the columns"):
        Synthesizer(1.0, 1e-6, target="salary").estimate(columns(), SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Synthesizer(1.0, 1e-6, target="sex").estimate(columns(), SCHEMA)
