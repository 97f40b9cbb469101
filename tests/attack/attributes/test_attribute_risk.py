"""attribute_risk: two worlds, both games, what is known of the response, several columns, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdfast.attack import AttackReport, AttributeResult, Target
from holdfast.attack._attributes.attribute_result import UNLIMITED
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.privacy import Adjacency, GaussianDP, Guarantee, PrivacyUnit, PureDP
from holdfast.privacy._tradeoff import TradeOff
from tests.attack.attack_models import Quick
from tests.attack.attributes.attribute_people import ByHeartOf, risk_of, schema, table, true_model
from tests.studies.size import Study, trials

QUICK: dict[str, Any] = {"sensitive": "s", "target": "y", "own": (50, 200), "surest": 20, "random_state": 0}
COIN = TradeOff([0.0, 1.0], [1.0, 0.0], claim="proved")


def _risk(
    model: Any, rows: Any, *, numbers: bool = False, third: int | None = None, **more: Any
) -> AttributeResult:
    cut = len(rows) // 3 if third is None else third
    made = risk_of(model, rows[:cut], fresh=rows[cut:], schema=schema(numbers=numbers), **(QUICK | more))
    return made.results[0]


def test_the_advantage_vanishes_with_people_of_ones_own() -> None:
    """The true law as a model: with few own people it helps, with many it says nothing new (soundness, section 27)."""
    gains = {20: [], 2000: []}  # type: dict[int, list[float]]
    for seed in range(12):
        rows = table(6000, seed=seed, effect=1.0)
        risk = _risk(true_model(1.0), rows, own=(20, 2000), random_state=seed, attacks=["bayes"], people=1500)
        for size, found in gains.items():
            found.append(risk.gain(size=size).value)
    assert np.mean(gains[20]) > 0.015
    assert np.mean(gains[2000]) < 0.5 * np.mean(gains[20])
    assert np.mean(gains[2000]) < 0.01


def test_attack_and_imputer_have_the_same_people() -> None:
    risk = _risk(true_model(), table(1500, seed=1))
    assert risk.sizes == (50, 200)
    assert set(risk.imputer) == set(risk.attacks["bayes"]) == {50, 200}
    wide = _risk(true_model(), table(1500, seed=1), own=(50, 10_000))
    assert wide.sizes == (50, 500)  # no more than a third of all


def test_no_gain_on_people_a_model_was_not_trained_on(study: Study) -> None:
    """Called members, never seen by the model: in 95 % of runs the limits of the gap hold zero."""
    runs, missed, alarms = trials(200), 0, 0
    for seed in range(runs):
        rows = table(900, seed=seed)
        elsewhere = table(300, seed=10_000 + seed)
        model = Quick().fit(elsewhere[:, :3], elsewhere[:, 3])
        risk = _risk(model, rows, attacks=["bayes"], own=(50,), random_state=seed)
        gap = risk.gap()
        missed += not gap.low <= 0.0 <= gap.high
        alarms += gap.p_value <= 0.05
    study.alarms(missed, rate=0.05, runs=runs, chance=0.01)
    study.alarms(alarms, rate=0.05, runs=runs, chance=0.01)


def test_the_game_with_coins_fits_a_model_of_the_members_alone() -> None:
    rows, fitted = table(900, seed=2, effect=0.0, beside=0.0), []

    def train(members: Any) -> Any:
        fitted.append(members)
        return Target.of(ByHeartOf(members), classes=[0.0, 1.0])

    report = risk_of(None, rows, train=train, schema=schema(), proved=PureDP(0.1), **QUICK)
    risk = report["s"]
    assert len(fitted[0]) == 300
    assert risk.game == "flipped"
    assert risk.gap().members > 0.95 > 0.65 > risk.gap().fresh
    assert risk.verdict() == "warning"  # one model never refutes
    assert risk.p_value() < 1e-9
    assert "depend on each other" in risk.summary()


def test_an_estimator_is_fitted_anew() -> None:
    risk = risk_of(Quick(), table(600, seed=3), schema=schema(), **QUICK)["s"]
    assert risk.game == "flipped"
    assert risk.sizes == (50, 200)


def test_a_bound_needs_the_curve_of_the_right_neighbours() -> None:
    rows = table(900, seed=4)
    promise = Guarantee(
        curve=GaussianDP(0.5), adjacency=Adjacency.add_remove, unit=PrivacyUnit(), theorem="as it may be"
    )
    replaced = _risk(true_model(), rows, proved=promise)
    added = _risk(true_model(), rows, proved=promise, adjacency="add_remove")
    fresh = replaced.gap().fresh
    assert replaced.bound() == pytest.approx(GaussianDP(1.0).trade_off().detection_at(fresh), abs=1e-3)
    assert added.bound() == pytest.approx(GaussianDP(0.5).trade_off().detection_at(fresh), abs=1e-3)
    users = Guarantee(
        curve=GaussianDP(0.5),
        adjacency=Adjacency.replace,
        unit=PrivacyUnit(column="who", max_rows=3),
        theorem="x",
    )
    silent = _risk(true_model(), rows, proved=users)
    assert silent.bound() is None
    assert "single rows" in silent.summary()
    assert silent.verdict() == "unclaimed"


@pytest.mark.parametrize("known", ["exact", "approximate", "label"])
def test_a_response_that_is_known_less_well_helps_less(known: Any) -> None:
    rows = table(2400, seed=5, numbers=True, effect=1.2, beside=0.0)
    blurred: dict[str, Any] = {"response_error": 4.0} if known == "approximate" else {}
    found = _risk(true_model(1.2, numbers=True), rows, numbers=True, response=known, **blurred)
    exact = _risk(true_model(1.2, numbers=True), rows, numbers=True)
    # The response is normal around +-1.2 with deviation 1: the exact one is right in Phi(1.2) = 0.885 of cases.
    assert exact.outcome().accuracy() == pytest.approx(0.885, abs=0.03)
    assert found.outcome().accuracy() <= exact.outcome().accuracy() + 0.01
    if known == "approximate":  # Phi(1.2 / sqrt(17)) = 0.61
        assert found.outcome().accuracy() == pytest.approx(0.61, abs=0.06)


def test_decisions_alone_are_read_by_their_confusion() -> None:
    rows = table(1500, seed=6, beside=0.0)
    risk = _risk(true_model(), rows, response="label")
    assert risk.skipped["csmia"].startswith("the model shows decisions only")
    assert risk.outcome("fredrikson").accuracy() == pytest.approx(0.86, abs=0.04)


def test_unknown_columns_are_averaged_over() -> None:
    rows = table(1500, seed=7, beside=0.0)
    knows_little = _risk(true_model(), rows, knows=["b"])
    assert knows_little.knows == ("b",)
    assert knows_little.outcome("bayes").accuracy() > 0.75
    assert "linear" in knows_little.skipped["linear_weights"]


def test_several_columns_in_turn_and_at_once() -> None:
    random = np.random.default_rng(8)
    genes, ages = random.integers(0, 3, size=(2, 2400))
    people = {"gene": genes, "age": ages, "dose": 2.0 * genes - 3.0 * ages + 0.3 * random.normal(size=2400)}
    cut = {name: column[:800] for name, column in people.items()}
    others = {name: column[800:] for name, column in people.items()}

    def model(X: Any) -> Any:
        return 2.0 * np.asarray(X["gene"]).astype(float) - 3.0 * np.asarray(X["age"]).astype(float)

    report = risk_of(
        model,
        cut,
        fresh=others,
        sensitive=["gene", "age", ("gene", "age")],
        target="dose",
        own=(200,),
        surest=20,
        random_state=0,
    )
    assert [risk.sensitive for risk in report] == ["gene", "age", "gene and age"]
    assert report["gene"].outcome().accuracy() > 0.99
    assert report["gene and age"].kinds == 9
    assert report["gene and age"].outcome().accuracy() > 0.9
    assert report["gene and age"].outcome("imputer").accuracy() < report["gene and age"].outcome().accuracy()
    every = risk_of(
        model, cut, fresh=others, sensitive="all", target="dose", own=(50,), surest=20, random_state=0
    )
    assert {risk.sensitive for risk in every} == {"gene", "age"}


def test_numbers_are_guessed_up_to_tenths() -> None:
    rows = table(900, seed=9)
    assert _risk(true_model(), rows, sensitive="b").kinds == 10
    mostly_zero = rows.copy()
    mostly_zero[:, 2] = np.where(np.arange(900) % 20 == 0, 3.0, 0.0)
    assert _risk(true_model(), mostly_zero, sensitive="b").kinds == 2


def test_a_number_that_is_missing_is_a_value_of_its_own() -> None:
    """Without a schema numbers are guessed up to tenths, however skew they are, and a gap is an eleventh value."""
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(9)
    pay = np.exp(random.normal(size=900)).round(3)
    pay[random.random(900) < 0.1] = np.nan
    frame = pd.DataFrame({"pay": pay, "a": random.normal(size=900)})
    frame["y"] = (np.nan_to_num(pay) > 1.0).astype(int)
    risk = risk_of(
        Target.of(lambda X: 0.1 + 0.8 * (np.nan_to_num(np.asarray(X["pay"])) > 1.0), classes=[0, 1]),
        frame[:300],
        fresh=frame[300:],
        sensitive="pay",
        target="y",
        own=(200,),
        surest=20,
        random_state=0,
    )["pay"]
    assert risk.kinds == 11
    assert 0.12 < risk.outcome().accuracy() < 0.35  # one of five or six that are left


def test_rows_are_attacked_too() -> None:
    rows = table(1500, seed=10)
    made = dict(zip(schema().names, table(900, seed=11).T, strict=True))
    risk = _risk(made, rows, target=None)
    assert risk.headline == "rows_and_own"
    assert "singling out" in risk.summary()  # and so on the internal page
    assert set(risk.skipped) == {"bayes", "fredrikson", "stacked", "csmia", "lomia", "linear_weights"}
    assert "y" in risk.knows
    with_train = risk_of(
        None,
        rows,
        train=lambda X: dict(zip(schema().names, X.T, strict=True)),
        schema=schema(),
        sensitive="s",
        own=(50,),
        surest=20,
        random_state=0,
    )
    assert with_train["s"].outcome("closest_row").member_accuracy() == 1.0
    assert with_train["s"].widest_gap()[0] == "closest_row"  # a smooth learner overlooks copies
    assert "members stand out most by closest_row" in with_train.summary()
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows[:, :3].round(1), columns=["s", "a", "b"])
    bare = risk_of(
        frame[:500],
        frame[:500],
        fresh=frame[500:],
        sensitive=["s", "b"],
        own=(50,),
        surest=20,
        random_state=0,
    )
    assert "by closest_row" in bare.summary()
    assert bare.disclosure is not None  # without a schema, too


def test_groups_are_named_where_the_release_adds_risk() -> None:
    random = np.random.default_rng(12)
    count = 9000
    s, group = random.integers(0, 2, size=count), (random.random(count) < 0.15).astype(int)
    y = np.where(
        group == 1, 1 - s, s
    )  # a rule of its own for a few, which an imputer of straight lines misses
    people = {"s": s, "group": np.array(["a", "b"])[group], "y": y}
    declared = Schema(
        [Categorical(name, list(map(str, sorted(set(values))))) for name, values in people.items()]
    )

    def model(X: Any) -> Any:
        told = np.asarray(X["s"]).astype(float)
        return 0.1 + 0.8 * np.where(np.asarray(X["group"]) == "b", 1.0 - told, told)

    cut, others = ({k: v[part] for k, v in people.items()} for part in (slice(0, 3000), slice(3000, None)))
    risk = risk_of(
        Target.of(model, classes=[0, 1]),
        cut,
        fresh=others,
        sensitive="s",
        target="y",
        schema=declared,
        own=(1000,),
        surest=50,
        random_state=0,
    )["s"]
    assert [one.group for one in risk.groups if one.at_risk] == ["group=b"]
    assert "group=b" in risk.summary()


def test_what_is_said_and_stored_is_for_the_owner(tmp_path: Any) -> None:
    report = risk_of(
        true_model(),
        table(300, seed=1),
        fresh=table(600, seed=2),
        schema=schema(),
        proved=GaussianDP(1.0),
        **QUICK,
    )
    risk = report["s"]
    assert isinstance(report, AttackReport)
    assert report.kind == "attribute"
    assert report.audience == risk.audience == "internal"
    assert UNLIMITED in report.summary()
    assert UNLIMITED.startswith("epsilon does not limit this")
    assert "do not publish" in report.summary()
    stored = risk.to_json()
    assert stored["attribute"]["gap"]["bound"] == risk.bound()
    assert risk.auc == pytest.approx(0.5 + 0.5 * risk.gap().value)
    assert risk.trade_off().miss_at(risk.gap().fresh) == pytest.approx(1 - risk.gap().members)
    for one in (risk, report):
        one.plot().savefig(tmp_path / "risk.svg")
        assert (tmp_path / "risk.svg").read_text().count("<path") > 10
    with pytest.raises(ValueError, match="no result for 'a'"):
        report["a"]
    with pytest.raises(ValueError, match="no outcome of 'nobody'"):
        risk.outcome("nobody")


def test_another_learner_serves_both_worlds() -> None:
    from sklearn.naive_bayes import GaussianNB

    risk = _risk(true_model(), table(900, seed=3), learner=GaussianNB())
    assert risk.outcome("imputer").accuracy() > 0.6
    with pytest.raises(ValueError, match="learner must be None or a scikit-learn classifier"):
        _risk(true_model(), table(900, seed=3), learner=3)


def test_a_data_frame_is_handed_on_as_it_is() -> None:
    pd = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"s": random.choice(["x", "y"], 900), "n": random.normal(size=900), "c": random.integers(0, 3, 900)}
    )
    frame["out"] = np.where((frame.s == "x") ^ (random.random(900) < 0.1), "hi", "lo")
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["s", "c"]), remainder="passthrough"), LogisticRegression()
    ).fit(frame[["s", "n", "c"]].iloc[:300], frame.out.iloc[:300])
    report = risk_of(
        model,
        frame.iloc[:300],
        fresh=frame.iloc[300:],
        sensitive="s",
        target="out",
        own=(50,),
        surest=20,
        random_state=0,
    )
    assert report["s"].outcome("csmia").accuracy() == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sensitive": "nothing"}, "sensitive must name columns"),
        ({"sensitive": "y"}, "not the one that it predicts"),
        ({"knows": ["z"]}, "knows must be made of columns"),
        ({"target": "z"}, "target must be one of"),
        ({"target": None}, "target must be given"),
        ({"attacks": ["bayse"]}, "did you mean 'bayes'"),
        ({"attacks": ["closest_row"]}, "no attack can be made"),
        ({"own": (3,)}, "own must be"),
        ({"surest": 0}, "surest must be"),
        ({"confidence": 1.0}, "confidence must be"),
        ({"response": "approximate"}, "'exact' or 'label' for classes"),
        ({"response_error": 1.0}, "None unless response='approximate'"),
        ({"train": lambda rows: rows}, "train must be None with fresh="),
        ({"people": 0}, "people must be"),
        ({"adjacency": "neighbours"}, "adjacency must be one of"),
    ],
)
def test_what_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _risk(true_model(), table(300, seed=1), **change)


def test_a_model_that_cannot_be_fitted_needs_fresh_people() -> None:
    with pytest.raises(ValueError, match="fresh must be given"):
        risk_of(true_model(), table(300, seed=1), schema=schema(), **QUICK)
    with pytest.raises(ValueError, match="30 people or more"):
        risk_of(true_model(), table(30, seed=1), fresh=table(12, seed=2), schema=schema(), **QUICK)


def test_a_schema_with_declared_bins_names_the_label() -> None:
    declared = schema(numbers=True)
    assert isinstance(declared["y"], Numeric)
    assert declared["y"].cells == 4
