"""What public numbers say of a release's worth: a law of privacy curves, said before, recorded, never of the data."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.errors import FormatError, UselessRelease, UselessReleaseWarning
from holdfast.learn import PrivateAdditiveClassifier, PrivateLogisticRegression, PrivateScaler, load_model
from holdfast.privacy import Account, ApproxDP, GaussianDP, PureDP
from holdfast.privacy._account.request import limit_of
from holdfast.release import Release
from holdfast.release._usefulness import MOST_UNITS, Prospect, announce, influence, units_hidden, useful_only
from holdfast.synth import Synthesizer

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
EPSILONS = st.floats(1e-4, 3.0)
Curve = GaussianDP | PureDP


@given(st.one_of(st.builds(GaussianDP, EPSILONS), st.builds(PureDP, EPSILONS)), st.integers(1, 2_000))
def test_what_is_called_useless_is_half_the_time_what_a_made_up_table_gives(curve: Curve, units: int) -> None:
    """All units together: n mu for Gaussian curves, n epsilon for pure ones, by group privacy."""
    said = influence(curve, units)
    all_changed = curve.group(units).delta(0.0) if units > 1 else curve.delta(0.0)
    assert said.useless == (units * curve.delta(0.0) <= 0.5) or math.isclose(said.hidden, units, rel_tol=1e-9)
    if said.useless:
        assert all_changed <= 0.5 + 1e-9
    if all_changed > 0.5 + 1e-9:
        assert not said.useless


@given(st.one_of(st.builds(GaussianDP, EPSILONS), st.builds(PureDP, EPSILONS)), st.integers(1, 10**6))
def test_more_units_and_weaker_promises_never_make_a_release_useless(curve: Curve, units: int) -> None:
    if influence(curve, units + 1).useless:
        assert influence(curve, units).useless
    assert units_hidden(curve.compose(curve)) <= units_hidden(curve)


def test_a_private_number_of_units_is_not_asked_for() -> None:
    assert not influence(PureDP(1e-6), None).useless
    assert influence(PureDP(1e-12), None).useless
    assert f"no table has {MOST_UNITS:,}" in influence(PureDP(1e-12), None).sentence()


@given(
    st.sampled_from(["influence", "weights", "counts", "certificate"]),
    st.one_of(st.just(math.inf), st.floats(0, 1e12)),
    st.integers(0, 10**9),
    st.sampled_from(["rows", "units"]),
)
def test_a_prospect_is_stored_and_says_its_numbers(
    quantity: Any, hidden: float, units: int, noun: str
) -> None:
    said = Prospect(quantity=quantity, hidden=hidden, units=units, noun=noun)
    assert Prospect.from_json(said.to_json()) == said
    assert f"{units:,}" in said.sentence()
    assert noun in said.sentence()
    assert math.isinf(hidden) or f"{math.floor(hidden):,}" in said.sentence()


def test_what_is_no_prospect_is_refused() -> None:
    for data in ({}, None, {"quantity": "luck", "hidden": 1.0, "units": 1, "noun": "rows"}):
        with pytest.raises(FormatError):
            Prospect.from_json(data)


def rows(number: int, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (number, 3))
    return X, (X[:, 0] > 0).astype(int)


ESTIMATORS: dict[str, Any] = {
    "auto": lambda epsilon: PrivateLogisticRegression(
        epsilon=epsilon, delta=1e-6, bounds=(-1, 1), classes=[0, 1], random_state=1
    ),
    "output": lambda epsilon: PrivateLogisticRegression(
        epsilon=epsilon, delta=1e-6, bounds=(-1, 1), classes=[0, 1], method="output", random_state=1
    ),
    "pure": lambda epsilon: PrivateLogisticRegression(
        epsilon=epsilon, delta=0.0, bounds=(-1, 1), classes=[0, 1], random_state=1
    ),
    "additive": lambda epsilon: PrivateAdditiveClassifier(
        epsilon=epsilon, delta=1e-6, bounds=(-1, 1), classes=[0, 1], random_state=1
    ),
}


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_an_estimator_warns_goes_on_and_records_it(name: str, tmp_path: Path) -> None:
    with pytest.warns(UselessReleaseWarning, match="cannot be of use"):
        model = ESTIMATORS[name](1e-3).fit(*rows(300))
    assert model.release_.prospects
    assert model.summary().startswith("OF NO USE: ")
    assert model.release_.summary().startswith("OF NO USE: ")
    model.release_.save(tmp_path / "m.holdfast")
    again = Release.load(tmp_path / "m.holdfast")
    assert again == model.release_
    assert again.useless == model.release_.useless
    assert load_model(tmp_path / "m.holdfast").summary().startswith("OF NO USE: ")


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_what_may_be_of_use_is_not_spoken_of(name: str) -> None:
    model = ESTIMATORS[name](2.0).fit(*rows(300))  # a warning would be an error here
    assert model.release_.useless == ()
    assert "OF NO USE" not in model.summary()


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_what_is_said_is_the_same_for_all_tables_of_that_size(name: str) -> None:
    texts = set()
    for seed in range(4):
        X, y = rows(300, seed)
        with pytest.warns(UselessReleaseWarning) as told:
            ESTIMATORS[name](1e-3).fit(
                X if seed % 2 else np.zeros_like(X), y if seed < 2 else np.zeros_like(y)
            )
        texts.add(str(next(one.message for one in told if one.category is UselessReleaseWarning)))
    assert len(texts) == 1


@pytest.mark.filterwarnings("ignore::holdfast.errors.AssumptionWarning")
def test_a_count_that_was_read_from_the_data_decides_nothing() -> None:
    """Under add_remove the number of rows is private: whether it is small must not be seen."""
    for number in (1, 5, 300):
        model = PrivateLogisticRegression(
            epsilon=1e-3, delta=1e-7, bounds=(-1, 1), classes=[0, 1], adjacency="add_remove", random_state=1
        ).fit(*rows(number))
        assert model.release_ is not None
        assert model.release_.prospects == ()
    with pytest.warns(UselessReleaseWarning):
        PrivateLogisticRegression(
            epsilon=1e-3,
            delta=1e-7,
            bounds=(-1, 1),
            classes=[0, 1],
            adjacency="add_remove",
            n_public=300,
            random_state=1,
        ).fit(*rows(300))


def test_a_step_says_it_too() -> None:
    with pytest.warns(UselessReleaseWarning):
        step = PrivateScaler(epsilon=1e-3, delta=1e-6, bounds=(-1, 1), random_state=1).fit(rows(300)[0])
    assert step.release_ is not None
    assert step.release_.useless


def people(number: int, **more: Any) -> Any:
    schema = Schema([Categorical("sex", ["F", "M"]), Categorical("ill", ["no", "yes"])], **more)
    return open_table({"sex": ["F", "M"] * (number // 2), "ill": ["no"] * number}, schema)


def test_a_synthesis_is_foreseen_and_its_summary_says_so() -> None:
    with pytest.warns(UselessReleaseWarning, match="certificate"):
        made = Synthesizer(0.02, 1e-6, random_state=1).fit(people(300))
    assert {one.quantity for one in made.release_.prospects} >= {"certificate"}
    assert made.summary().startswith("OF NO USE: ")
    told = Synthesizer(0.02, 1e-6).estimate(people(300))
    assert told.prospects == made.release_.prospects
    assert told.summary().startswith("OF NO USE: ")


def test_a_certificate_of_everything_is_said_afterwards_where_nothing_could_be_foreseen() -> None:
    for seed in range(20):
        made = Synthesizer(0.02, 1e-6, random_state=seed).fit(people(300, adjacency="add_remove"))
        assert made.release_.prospects == ()
        assert made.certificate_ is not None
        assert (made.certificate_.alpha >= 1) == bool(made.release_.useless)
        if made.release_.useless:
            assert made.summary().startswith("OF NO USE: largest error: at most 100 % of the rows")
            return
    raise AssertionError("no certificate of 100 % was drawn")


@given(st.floats(0.003, 3.0), st.integers(2, 200).map(lambda half: 2 * half))
def test_a_claim_that_is_foreseen_to_fail_does_so_every_other_time(epsilon: float, number: int) -> None:
    """Of rows without error the claim is noise and its quantile: all of it where the quantile alone is as large."""
    from holdfast.synth._certificate import certificate_noise, offset

    told = Synthesizer(epsilon, 1e-6).estimate(people(number)).prospects
    account = Account(limit_of(epsilon, 1e-6), currency="zcdp", seed=0)
    (check,) = account.split(0.1)
    (part,) = check.split(0.93)
    mechanism, std = certificate_noise(part, max_rows=1, adjacency=account.adjacency)
    reach = offset(mechanism, std, failure=0.05)
    if abs(reach - number) > 1e-3 * number:
        assert ("certificate" in {one.quantity for one in told}) == (reach >= number)


def test_a_refusal_comes_before_any_charge() -> None:
    account = Account(ApproxDP(1e-3, 1e-6), seed=1)
    model = PrivateLogisticRegression(bounds=(-1, 1), classes=[0, 1])
    with pytest.raises(UselessRelease, match="even-if-useless"), useful_only():
        model.fit(*rows(300), account=account)
    assert account.journal.entries == ()
    with useful_only(unless=True), pytest.warns(UselessReleaseWarning):
        model.fit(*rows(300), account=account)
    assert account.journal.entries


def test_useful_prospects_are_not_announced() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert announce([Prospect(quantity="influence", hidden=3.0, units=4)]) == ()


def test_the_unit_is_named_where_it_is_no_row() -> None:
    schema = Schema([Numeric("x", 0, 1), Categorical("y", ["a", "b"])], adjacency="zero_out")
    table = open_table({"x": [0.5] * 40, "y": ["a", "b"] * 20}, schema)
    with pytest.warns(UselessReleaseWarning, match="rows change, and the table has 40"):
        PrivateLogisticRegression(epsilon=0.01, delta=1e-6, random_state=0).fit(table, target="y")
