"""AuditResult: verdicts that are entitled to be given, curves that contradict only what they may."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.audit import (
    AnytimeGuesses,
    AuditResult,
    ErrorRates,
    FixedGuesses,
    GaussianGuesses,
    GuessPath,
    RefutedCurve,
    Trainings,
)
from holdfast.audit._bounds import one_run
from holdfast.audit._result import describe_scores
from holdfast.errors import AdjacencyError, FormatError, ParameterError
from holdfast.privacy import Adjacency, ApproxDP, GaussianDP, Guarantee, PrivacyUnit, PureDP

LEAK = ErrorRates(false_alarms=3, without=500, misses=8, with_canary=500)
FINDINGS: list[Any] = [
    FixedGuesses(canaries=1000, guesses=100, correct=95),
    GuessPath(canaries=120, right="1" * 100 + "01" * 10),
    GuessPath(canaries=120, right="1" * 100 + "01" * 10, rule="geometric"),
    GuessPath(canaries=120, right="1" * 100 + "01" * 10, rule="uncorrected", every=2),
    GaussianGuesses(canaries=1000, guesses=100, correct=95),
    Trainings(errors=LEAK),
    Trainings(errors=LEAK, bound="gaussian"),
    Trainings(errors=LEAK, bound="bayesian"),
    AnytimeGuesses(right="1" * 90 + "0" * 5),
]


def result(finding: Any, **more: Any) -> AuditResult:
    fields: dict[str, Any] = {"delta": 1e-5, "coins": "holdfast"} | more
    return AuditResult(finding=finding, **fields)


@pytest.mark.parametrize(
    "finding", FINDINGS, ids=lambda f: f"{f.kind}-{getattr(f, 'rule', getattr(f, 'bound', ''))}"
)
def test_every_finding(finding: Any) -> None:
    audit = result(finding, planted="canaries in random directions", scores={"auc": 0.9})
    bound = audit.epsilon_estimate()
    assert bound > 0.5
    assert audit.epsilon_lower() == (bound if audit.valid else 0.0)
    assert audit.epsilon_estimate(0.999) <= bound
    assert result(finding, coins="foreign").epsilon_lower() == 0.0
    assert audit.verdict(PureDP(0.01)) == ("refuted" if audit.refutes_claims else "warning")
    assert audit.verdict(PureDP(20.0)) == "consistent"
    assert result(finding, coins="foreign").verdict(PureDP(0.01)) == "warning"
    # The curve says the same as the verdict about a claim far on either side.
    assert audit.trade_off().claim == "audited"
    assert audit.trade_off().confidence == 0.95
    assert audit.trade_off().contradicts(PureDP(0.01).trade_off())
    assert not audit.trade_off().contradicts(PureDP(20.0).trade_off())
    again = AuditResult.from_json(json.loads(json.dumps(audit.to_json())))
    assert again == audit
    assert again.epsilon_estimate() == bound
    assert "membership guesses right" in audit.summary()
    assert "refuted" in audit.summary(PureDP(0.01)) or not audit.refutes_claims
    data = audit.plot_data()
    assert len(data["confidence"]) == len(data["epsilon_lower"])
    assert data["epsilon_estimate"] == sorted(data["epsilon_estimate"], reverse=True)


def test_the_uncorrected_maximum_says_so() -> None:
    audit = result(FINDINGS[3])
    assert not audit.valid
    assert "NOT A VALID BOUND" in audit.summary()
    assert not result(FINDINGS[7]).valid  # nor is a credible bound a confidence bound


def test_the_error_is_shared_among_all_that_was_tried() -> None:
    alone, shared = result(FINDINGS[0]), result(FINDINGS[0], corrected_over=20)
    exact = one_run.epsilon_lower(100, 95, canaries=1000, delta=1e-5, confidence=1 - 0.05 / 20)
    assert shared.epsilon_lower() == pytest.approx(exact, abs=1e-9)
    assert shared.epsilon_lower() < alone.epsilon_lower()
    claim = ApproxDP((shared.epsilon_lower() + alone.epsilon_lower()) / 2, 1e-5)
    assert (alone.verdict(claim), shared.verdict(claim)) == ("refuted", "consistent")
    assert "shared among 20" in shared.summary()


def test_only_the_same_neighbours_are_compared() -> None:
    def guarantee(adjacency: Adjacency) -> Guarantee:
        return Guarantee(curve=PureDP(0.1), adjacency=adjacency, unit=PrivacyUnit(), theorem="stated")

    audit = result(FINDINGS[0])
    assert audit.verdict(guarantee(Adjacency.add_remove)) == "refuted"
    with pytest.raises(AdjacencyError, match="'replace'"):
        audit.verdict(guarantee(Adjacency.replace))


@given(st.floats(0.1, 6), st.floats(0.1, 6), st.sampled_from([0.0, 1e-5]))
def test_a_refuted_curve_contradicts_what_implies_it(audited: float, proved: float, delta: float) -> None:
    curve = RefutedCurve.approximate(audited, delta, confidence=0.95)
    if abs(audited - proved) > 1e-4:
        assert curve.contradicts(PureDP(proved).trade_off()) == (proved < audited)
    # A Gaussian proof crosses the curve somewhere without claiming what was refuted.
    gaussian = GaussianDP(proved / 3)
    if delta > 0 and gaussian.epsilon(delta) > audited * 1.001:
        assert not curve.contradicts(gaussian.trade_off())


@given(st.floats(0.1, 3), st.floats(0.1, 3))
def test_a_refuted_gaussian_contradicts_smaller_ones(audited: float, proved: float) -> None:
    curve = RefutedCurve.gaussian(audited, confidence=0.95)
    if abs(audited - proved) > 0.05 * audited:
        assert curve.contradicts(GaussianDP(proved).trade_off()) == (proved < audited)


def test_nothing_found_contradicts_nothing() -> None:
    for finding in (
        FixedGuesses(canaries=100, guesses=100, correct=50),
        GaussianGuesses(canaries=100, guesses=100, correct=50),
        Trainings(errors=ErrorRates(false_alarms=50, without=100, misses=50, with_canary=100)),
    ):
        audit = result(finding)
        assert audit.epsilon_lower() == 0.0
        assert audit.verdict(PureDP(0.0)) == "consistent"
        assert not audit.trade_off().contradicts(PureDP(0.0).trade_off())


def test_multi_run_claims_are_judged_at_the_point_that_was_measured() -> None:
    # The claim is above the measured point although its epsilon at the audit's delta is large.
    audit = result(Trainings(errors=LEAK), delta=1e-9)
    assert audit.verdict(GaussianDP(1.0)) == "refuted"
    assert audit.verdict(GaussianDP(6.0)) == "consistent"


def test_within_one_training_delta_is_zero() -> None:
    within = AnytimeGuesses(right="1" * 50, trainings=False)
    assert result(within, delta=0.0).epsilon_lower() > 0
    with pytest.raises(ParameterError, match="delta"):
        result(within).epsilon_lower()


def test_scores_in_numbers() -> None:
    rng = np.random.default_rng(2)
    member = rng.random(400) < 0.5
    facts = describe_scores(rng.standard_normal(400) + member, member)
    assert 0.65 < facts["auc"] < 0.85
    assert facts["in_median"] > facts["out_median"]
    assert facts["in_count"] + facts["out_count"] == 400
    assert "auc" not in describe_scores([1.0], [True])


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {
            "finding": {"kind": "no such"},
            "delta": 0,
            "coins": "holdfast",
            "corrected_over": 1,
            "adjacency": "add_remove",
            "planted": "",
            "scores": {},
        },
        {
            "finding": {"kind": "one-run", "canaries": 1, "guesses": 2, "correct": 0},
            "delta": 0,
            "coins": "holdfast",
            "corrected_over": 1,
            "adjacency": "add_remove",
            "planted": "",
            "scores": {},
        },
    ],
)
def test_broken_files_are_refused(data: Any) -> None:
    with pytest.raises(FormatError):
        AuditResult.from_json(data)


def test_bad_results_are_refused() -> None:
    with pytest.raises(ParameterError, match="coins"):
        AuditResult(finding=FINDINGS[0], coins="mine")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="corrected_over"):
        result(FINDINGS[0], corrected_over=0)


@pytest.mark.parametrize(
    "finding", FINDINGS, ids=lambda f: f"{f.kind}-{getattr(f, 'rule', getattr(f, 'bound', ''))}"
)
@pytest.mark.parametrize("claimed", [0.3, 1.5, 2.5])
def test_a_claim_is_refuted_from_its_p_value_on(finding: Any, claimed: float) -> None:
    audit, claim = result(finding), ApproxDP(claimed, 1e-5)
    p_value = audit.p_value(claim)
    assert 0 < p_value <= 1
    if 1e-9 < p_value < 0.35:
        assert audit.verdict(claim, 1 - p_value * 0.99) == "consistent"
        assert audit.verdict(claim, 1 - p_value * 1.01) != "consistent"
    # What refutes a claim refutes a stricter one.
    assert audit.p_value(ApproxDP(claimed / 2, 1e-5)) <= p_value * (1 + 1e-6)
    assert result(finding, corrected_over=3).p_value(claim) == pytest.approx(min(1.0, 3 * p_value))


def test_a_stored_audit_says_what_rows_went_in() -> None:
    """And all else, and nothing more."""
    for rows in ("public", "generated", "real"):
        stored = result(FINDINGS[0], rows=rows).to_json()
        assert AuditResult.from_json(stored).rows == rows
    for name in stored:
        with pytest.raises(FormatError, match=name):
            AuditResult.from_json({key: value for key, value in stored.items() if key != name})
    with pytest.raises(FormatError, match="no others"):
        AuditResult.from_json(stored | {"more": 1})
    with pytest.raises(FormatError):
        AuditResult.from_json(stored | {"rows": "mine"})
    with pytest.raises(FormatError):
        AuditResult.from_json(stored | {"basis": {}})
