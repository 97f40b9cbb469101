"""Each sentence that states a bound: its number, its scope and its confidence are those of the object that proves it.

Over drawn objects, and over every kind of release; and no other place writes such a number by itself.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.data import Categorical, Identifier, Numeric, Schema, open_table
from holdfast.learn import PrivateAdditiveRegressor, PrivateLinearRegression, PrivateLogisticRegression
from holdfast.ledger import Dataset, Ledger
from holdfast.privacy import (
    ZCDP,
    Account,
    Adjacency,
    ApproxDP,
    Gaussian,
    GaussianDP,
    Guarantee,
    PrivacyUnit,
    PureDP,
    TradeOff,
)
from holdfast.privacy._guarantee import Sureness, guess_bound
from holdfast.privacy._wording import (
    bound_text,
    confidence_percent,
    confidence_text,
    count_text,
    epsilon_text,
    least_rate_text,
    least_text,
    odds_text,
    rate_text,
    rounded_down,
    rounded_up,
)
from holdfast.release import Release
from holdfast.release._certificate import SHARE, Certificate
from holdfast.synth import CertificateRequest, Synthesizer
from holdfast.synth._certificate import OVERALL
from tests.studies.size import trials

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "NotPrivateWarning", "UselessReleaseWarning")
]
POSITIVE = st.floats(1e-9, 1e9)
SLACK = 1 + 1e-8
"""What computing in doubles may add."""


@given(POSITIVE, st.integers(1, 9))
def test_rounding_is_towards_caution_and_no_further_than_a_digit(value: float, digits: int) -> None:
    up, down = rounded_up(value, digits), rounded_down(value, digits)
    assert down / SLACK <= value <= up * SLACK
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    assert up - down <= step * 10 * SLACK
    assert rounded_up(up, digits) == up
    assert rounded_down(down, digits) == down


@given(POSITIVE)
def test_bounds_are_never_shown_below_themselves_and_what_is_left_never_above(value: float) -> None:
    assert float(epsilon_text(value)) * SLACK >= value >= float(least_text(value)) / SLACK
    assert float(bound_text(value)) >= value


@given(st.floats(0, 1))
def test_rates_and_confidences_are_cautious(rate: float) -> None:
    assert float(rate_text(rate)) * SLACK >= rate >= float(least_rate_text(rate)) / SLACK
    assert float(confidence_text(rate)) / SLACK <= rate
    assert float(confidence_percent(rate)) / 100 / SLACK <= rate
    assert (confidence_text(rate) == "1") == (rate >= 1)


@given(st.floats(1e-9, 0.5))
def test_odds_are_not_said_to_be_rarer_than_they_are(failure: float) -> None:
    (number,) = re.findall(r"in ([\d,]+)", odds_text(failure))
    assert 1 / float(number.replace(",", "")) * SLACK >= failure


@given(st.integers(0, 10**6), st.sampled_from(["group", "query", "value", "day"]))
def test_one_thing_is_not_several(number: int, noun: str) -> None:
    text = count_text(number, noun)
    assert text.startswith(f"{number:,} ")
    assert (text.split(" ")[1] == noun) == (number == 1)


# Certificates.

CLAIMS = st.builds(
    Certificate,
    name=st.sampled_from([OVERALL, "largest error in a x b"]),
    statement=st.sampled_from(["against the table", "x"]),
    alpha=st.floats(0, 1),
    confidence=st.floats(0.5, 1.0),
    unit=st.sampled_from([SHARE, "records", ""]),
    query_class=st.sampled_from(["all 12 queries of the 3 groups of the workload", "two counts"]),
)


@given(CLAIMS)
def test_a_claim_is_said_with_its_number_scope_and_confidence(claim: Certificate) -> None:
    text = claim.summary()
    assert text == f"{claim.name}: {claim.bound()} ({claim.statement})"
    (number, rest) = re.findall(r"at most ([\d.e-]+)(.*) for ", claim.bound())[0]
    shown = float(number) / (100 if claim.unit == SHARE else 1)
    assert shown * SLACK >= claim.alpha >= shown * 0.98 - 1e-12
    assert rest.strip() == claim.unit
    assert f"for {claim.query_class}, with confidence" in text
    (sure,) = re.findall(r"with confidence ([\d.]+)", text)
    assert float(sure) / SLACK <= claim.confidence <= float(sure) + 1.1e-6
    assert claim.vacuous == (claim.unit == SHARE and claim.alpha == 1)


# Promises.

CURVES = st.one_of(
    st.builds(PureDP, st.floats(0.01, 5)),
    st.builds(GaussianDP, st.floats(0.01, 3)),
    st.builds(ZCDP, st.floats(1e-4, 2)),
    st.builds(ApproxDP, st.floats(0.01, 5), st.floats(1e-9, 1e-5)),
)
UNITS = st.sampled_from([PrivacyUnit(), PrivacyUnit("patient", 1), PrivacyUnit("visit", 7)])


@settings(max_examples=trials(150), deadline=None)
@given(CURVES, st.sampled_from(list(Adjacency)), UNITS, st.sampled_from([None, 1e-5, 1e-6, 1e-9]))
def test_a_promise_is_said_with_its_numbers_its_neighbours_and_its_unit(
    curve: Any, adjacency: Adjacency, unit: PrivacyUnit, read_at: float | None
) -> None:
    promise = Guarantee(curve=curve, adjacency=adjacency, unit=unit, theorem="a proof", read_at=read_at)
    first, *lines = promise.summary().splitlines()
    assert unit.summary() in first
    assert f"adjacency {adjacency.value}" in first
    assert promise == Guarantee.from_json(promise.to_json())
    points = re.findall(r"epsilon ([\d.e+-]+|inf) at delta ([\d.e-]+)", promise.summary().replace(",", " "))
    assert points
    for epsilon, delta in points:
        exact = curve.epsilon(float(delta) * SLACK)
        assert float(epsilon) * SLACK >= exact
        assert float(epsilon) <= exact * 1.001 * SLACK or math.isinf(exact)
    own = curve.as_approximate()
    if own is None and read_at is not None:
        assert first.startswith(f"epsilon {epsilon_text(curve.epsilon(read_at))} at delta {read_at:g} ")
    elif own is None:
        assert first.startswith(repr(curve))
    else:
        assert float(first.split(" ")[1]) * SLACK >= float(own[0])
        assert float(own[1]) <= float(first.split(" ")[4]) <= float(own[1]) * (1 + 1e-5)
    sure = Sureness.of(curve)
    told = next(line for line in lines if "most telling result" in line)
    assert unit.summary() in told
    if sure.after(0.5) < 1:
        assert float(re.findall(r"becomes at most ([\d.]+) %", told)[0]) / 100 * SLACK >= 1 / (
            1 + math.exp(-sure.loss)
        )
        assert ("always" in told) == (sure.failure == 0)
    average = next(line for line in lines if "on average" in line)
    assert float(re.findall(r"at most ([\d.]+) %", average)[0]) / 100 * SLACK >= curve.trade_off().guess()
    assert guess_bound(curve) <= max(sure.after(0.5), 0.501) + 0.001 or sure.failure > 0


@given(st.floats(0.01, 3), st.sampled_from(["proved", "audited"]))
def test_a_trade_off_is_said_on_the_safe_side(mu: float, claim: str) -> None:
    proved = GaussianDP(mu).trade_off()
    line = TradeOff(
        false_alarm=proved.false_alarm,
        miss=proved.miss,
        claim=claim,  # type: ignore[arg-type]
        confidence=1.0 if claim == "proved" else 0.95,
    )
    sign = 1 if claim == "proved" else -1
    advantage, detection = (
        float(one) for one in re.findall(r"(?:at most|at least) ([\d.]+)", line.summary())
    )
    assert sign * (advantage - line.advantage()) >= -1e-9
    assert sign * (detection - line.detection_at(0.01)) >= -1e-9


# Every kind of release.

NUMBERS = Schema([Numeric("x", -1, 1), Numeric("y", -1, 1)], adjacency="replace")


def _numbers(rows: int = 400) -> Any:
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, rows)
    return open_table({"x": x, "y": 0.5 * x}, NUMBERS)


def _linear(epsilon: float, delta: float) -> Any:
    made = PrivateLinearRegression(epsilon=epsilon, delta=delta, random_state=1)
    return made.fit(_numbers(), target="y").release_


def _additive(epsilon: float, delta: float) -> Release[Any]:
    made = PrivateAdditiveRegressor(epsilon=epsilon, delta=delta, random_state=1)
    return made.fit(_numbers(), target="y").release_


def _classes(epsilon: float, delta: float) -> Release[Any]:
    schema = Schema([Numeric("x", -1, 1), Categorical("c", ["a", "b", "d"])], adjacency="zero_out")
    table = open_table({"x": np.linspace(-1, 1, 300), "c": ["a", "b", "d"] * 100}, schema)
    made = PrivateLogisticRegression(epsilon=epsilon, delta=delta, random_state=1).fit(table, target="c")
    return made.release_  # type: ignore[return-value]


def _synthetic(epsilon: float, delta: float) -> Release[Any]:
    schema = Schema(
        [Categorical("a", ["x", "y"]), Categorical("b", ["x", "y"]), Categorical("c", ["x", "y"])]
    )
    frame = {name: ["x", "y"] * 200 for name in "abc"}
    return Synthesizer(epsilon, delta, random_state=1).fit(frame, schema).release_


def _of_users(epsilon: float, delta: float) -> Release[Any]:
    schema = Schema(
        [Categorical("a", ["x", "y"]), Identifier("who")], unit=PrivacyUnit("who", 1), adjacency="replace"
    )
    frame = {"a": ["x", "y"] * 200, "who": [str(place // 2) for place in range(400)]}
    return (
        Synthesizer(epsilon, delta, certificate=CertificateRequest(user_cap=5), random_state=1)
        .fit(frame, schema)
        .release_
    )


def _counts(epsilon: float, delta: float) -> Release[Any]:
    limit = ApproxDP(epsilon, delta)
    account = Account(limit, currency="gdp", seed=1)
    mechanism = Gaussian.within(account.remaining(), l2_sensitivity=1.0)
    claim = Certificate(
        name="largest error",
        statement="of both",
        alpha=3 * float(mechanism.sigma),
        confidence=0.99,
        query_class="two counts",
        unit="records",
    )
    noisy = account.release(mechanism, [12.0, 30.0])
    return Release.of(account, noisy, method="two counts", certificates=[claim])


KINDS: dict[str, Callable[[float, float], Release[Any]]] = {
    "linear": _linear,
    "additive": _additive,
    "several classes": _classes,
    "synthetic": _synthetic,
    "synthetic, users": _of_users,
    "counts": _counts,
}


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("seed", range(2))
def test_every_kind_of_release_says_what_was_asked_and_what_is_proved(
    kind: str, seed: int, tmp_path: Path
) -> None:
    random = np.random.default_rng([seed, len(kind)])
    epsilon, delta = float(f"{random.uniform(0.5, 4):.3g}"), float(f"{10 ** -random.uniform(5, 8):.2g}")
    release = KINDS[kind](epsilon, delta)
    release.save(tmp_path / "r.holdfast")
    for one in (release, Release.load(tmp_path / "r.holdfast")):
        lines = one.summary().splitlines()
        first = next(line for line in lines if line.startswith("epsilon "))
        # What was asked for comes first, and the proof gives no more than that.
        assert first.startswith(f"epsilon {epsilon:g} at delta {delta:g} for ")
        assert one.guarantee.epsilon(delta) <= epsilon * SLACK
        assert one.guarantee.unit.summary() in first
        for claim in one.certificates:
            assert claim.summary() in lines
            assert claim.query_class in claim.summary()


def test_an_evaluation_keeps_the_scope_and_the_confidence_of_the_claim() -> None:
    for make in (_synthetic, _of_users):
        made = Synthesizer.from_release(make(2.0, 1e-6))
        overall = next(one for one in made.release_.certificates if one.name == OVERALL)
        report = made.evaluate()
        assert f"certificate: {overall.summary()}" in report.summary()
        assert report.to_json()["against_release"]["claim"] == overall.to_json()
        page = report.to_html()
        assert overall.query_class in page
        assert f"with confidence {confidence_text(overall.confidence)}" in page


@given(st.floats(0.01, 5), st.one_of(st.just(0.0), st.floats(1e-9, 1e-5)))
def test_limits_are_named_by_epsilon_and_delta_in_their_places(epsilon: float, delta: float) -> None:
    words = (PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)).words()
    ((shown, at),) = re.findall(r"^epsilon ([\d.e-]+) at delta ([\d.e-]+)$", words)
    assert float(shown) * SLACK >= epsilon >= float(shown) * 0.999
    assert float(at) == pytest.approx(delta, rel=1e-5)


@pytest.mark.parametrize(
    ("epsilon", "delta", "currency"), [(2.0, 1e-6, "zcdp"), (0.7, 1e-9, "gdp"), (3.0, 0.0, "pure")]
)
def test_a_ledger_says_its_limits_and_what_is_left(
    epsilon: float, delta: float, currency: str, tmp_path: Path
) -> None:
    limit = PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)
    part = PureDP(epsilon / 2) if delta == 0 else ApproxDP(epsilon / 2, delta)
    declared = Dataset.declare("d", limit=limit, adjacency="replace", unit=PrivacyUnit(), currency=currency)
    with Ledger.create(tmp_path / "l.db", datasets=[declared]) as ledger:
        ledger.account("d", name="first", limit=part)
        told = [entry.summary() for entry in ledger.history()]
        assert f"limit epsilon {epsilon:g} at delta {delta:g}" in told[1]
        assert f"limit epsilon {epsilon / 2:g} at delta {delta:g}" in told[2]
        standing = ledger.standing("d")
        words = standing.dataset.free_words(standing.free)
        left = standing.dataset.currency.promise(standing.free).epsilon(delta)
        (shown,) = re.findall(r"epsilon ([\d.e-]+) at", words)
        assert float(shown) <= left * SLACK
        assert float(shown) >= left * 0.998
        assert words in ledger.summary()
        # All that is left: read at the delta of the dataset, which names an epsilon.
        account = ledger.account("d", name="second")
        assert account.guarantee().headline().startswith(f"epsilon {epsilon_text(left)} at delta {delta:g} ")


# One place.

BOUNDS = ("confidence", "at most", "at least", "epsilon")
WRITTEN = re.compile(rf"(?:{'|'.join(BOUNDS)}) \(?\{{")
DIGITS = re.compile(r"\.\d+[fge]?")
ROUNDED = ("_guarantee.py", "_wording.py")
"""Where per cents are written of numbers that were rounded up before."""
NOT_PROVED = {
    "dossier/_charts/curves.py": "the epsilon of a grid, for a label",
    "dossier/_comparison/epsilons.py": "an epsilon that was tried",
}


def test_no_other_place_writes_the_digits_of_a_bound() -> None:
    """A number behind "confidence", "at most", "at least" or "epsilon" is not cut to digits where it is written."""
    root, found = Path(holdfast.__file__).parent, []
    for path in sorted(root.rglob("*.py")):
        if path.name in ROUNDED or path.relative_to(root).as_posix() in NOT_PROVED:
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if WRITTEN.search(text) else ():
            if not isinstance(node, ast.JoinedStr):
                continue
            for before, number in zip(node.values, node.values[1:], strict=False):
                if not isinstance(before, ast.Constant) or not isinstance(number, ast.FormattedValue):
                    continue
                said = str(before.value).rstrip(" (")
                form = "" if number.format_spec is None else ast.unparse(number.format_spec)
                written = ast.unparse(number.value)
                own = "confidence" in written and said.endswith("confidence")
                plain = "rounded_up" not in written and "_text(" not in written
                if said.endswith(BOUNDS) and plain and (DIGITS.search(form) or own):
                    found.append(f"{path.relative_to(root)}:{number.lineno}: {written}")
    assert not found
