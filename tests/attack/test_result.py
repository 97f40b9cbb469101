from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.attack import AttackReport, DisclosureResult, MembershipResult
from holdfast.attack._proof import proved_curve
from holdfast.attack._report import NOTICE
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy import Adjacency, ApproxDP, Guarantee, PrivacyUnit, PureDP, TradeOff

scores = st.lists(st.floats(-10, 10), min_size=1, max_size=40)


def _result(**changed: Any) -> MembershipResult:
    random = np.random.default_rng(1)
    given = {"member_scores": random.normal(2.5, 1, 500), "non_member_scores": random.normal(0, 1, 500)}
    return MembershipResult(attack="loss", **(given | changed))


def _guarantee(adjacency: Adjacency, epsilon: float) -> Guarantee:
    return Guarantee(curve=PureDP(epsilon), adjacency=adjacency, unit=PrivacyUnit(), theorem="a test")


@given(scores, scores)
def test_the_measured_curve_is_one_that_tests_reach(inside: list[float], outside: list[float]) -> None:
    result = MembershipResult(attack="x", member_scores=np.array(inside), non_member_scores=np.array(outside))
    curve = result.trade_off()
    assert curve.claim == "measured"
    for rate in (0.0, 0.01, 0.3):
        assert result.tpr_at(rate) <= curve.detection_at(rate) + 1e-12
    assert 0.0 <= result.advantage <= 1.0
    assert result.labels.sum() == len(inside)
    assert result.audience == "internal"


def test_a_given_game_never_refutes_whatever_it_shows() -> None:
    result = _result(proved=PureDP(0.1).trade_off())
    assert result.verdict() == "warning"
    assert "may simply differ" in result.summary()
    assert NOTICE in result.summary()
    with pytest.raises(ParameterError, match="audited"):
        _result(audited=TradeOff([0, 1], [0.1, 0], claim="audited", confidence=0.95))


def test_flipped_coins_and_an_audited_curve_refute() -> None:
    audited = TradeOff([0.0, 0.01, 1.0], [1.0, 0.5, 0.0], claim="audited", confidence=0.95)
    result = _result(game="flipped", audited=audited, proved=PureDP(0.5).trade_off())
    assert result.verdict() == "refuted"
    assert result.verdict(PureDP(10.0)) == "consistent"
    without = _result(game="flipped", proved=PureDP(0.5).trade_off())
    assert without.verdict() == "warning"
    assert "depend on each other" in without.summary()


def test_no_proof_no_verdict() -> None:
    assert _result().verdict() == "unclaimed"
    assert _result().verdict(PureDP(20.0)) == "consistent"


def test_the_error_is_shared_among_the_attacks_tried() -> None:
    """A lead that one attack alone may report is not enough for the best of very many."""
    random = np.random.default_rng(0)
    members, others = random.normal(0.45, 1, 300), random.normal(0, 1, 300)
    alone = MembershipResult(attack="x", member_scores=members, non_member_scores=others)
    coin = TradeOff([0, 1], [1, 0], claim="proved")
    assert alone.verdict(coin) == "warning"
    many = MembershipResult(attack="x", member_scores=members, non_member_scores=others, tried=10**6)
    assert many.verdict(coin) == "consistent"


def test_a_promise_about_removal_counts_twice_for_people_who_replace_each_other() -> None:
    kept, removed = (_guarantee(a, 1.0) for a in (Adjacency.replace, Adjacency.add_remove))
    assert proved_curve(kept).detection_at(0.01) == pytest.approx(np.e * 0.01)
    assert proved_curve(removed).detection_at(0.01) == pytest.approx(np.e**2 * 0.01, rel=1e-6)
    assert proved_curve(removed, Adjacency.add_remove).detection_at(0.01) == pytest.approx(np.e * 0.01)
    with pytest.raises(AdjacencyError, match="replace"):
        proved_curve(kept, Adjacency.add_remove)


def test_the_mirrored_test_is_held_against_the_proof_too() -> None:
    """Nobody can be pointed at as a member, but a third of the others can be cleared with certainty."""
    members, others = np.ones(900), np.r_[np.ones(600), np.zeros(300)]
    result = MembershipResult(attack="x", member_scores=members, non_member_scores=others)
    assert result.tpr_at(0.01) == 0.0
    assert result.verdict(ApproxDP(0.1, 1e-6)) == "warning"
    one_sided = TradeOff(
        [0.0, 2 / 3, 1.0], [1.0, 0.0, 0.0], claim="proved"
    )  # allows just that and nothing else
    assert result.verdict(one_sided) == "consistent"


def test_the_most_exposed_are_marked_as_sensitive() -> None:
    shown = MembershipResult(
        attack="x", member_scores=np.array([1.0, 5.0, 3.0]), non_member_scores=np.zeros(1)
    ).most_exposed(2)
    assert shown.rows == (1, 2)
    assert shown.sensitive
    assert shown.audience == "internal"
    assert shown.summary().startswith("SENSITIVE")


def test_figures_without_anybodys_score() -> None:
    plain = json.loads(json.dumps(_result(proved=PureDP(1.0).trade_off()).to_json()))
    assert plain["audience"] == "internal"
    assert set(plain["tpr_at"]) == {"0.01", "0.001"}
    assert "scores" not in json.dumps(plain)


@given(scores, scores)
def test_the_stored_roc_has_about_a_hundred_points_that_were_reached(
    inside: list[float], outside: list[float]
) -> None:
    result = MembershipResult(attack="x", member_scores=np.array(inside), non_member_scores=np.array(outside))
    stored, whole = result.to_json()["roc"], set(zip(*(axis.tolist() for axis in result.roc()), strict=True))
    points = list(zip(stored["false_alarm"], stored["found"], strict=True))
    assert set(points) <= whole
    assert points == sorted(points)
    assert points[-1] == (1.0, 1.0)
    assert len(points) <= 102


def test_the_stored_roc_keeps_the_left_edge() -> None:
    random = np.random.default_rng(0)
    result = _result(member_scores=random.normal(1, 1, 20_000), non_member_scores=random.normal(0, 1, 20_000))
    stored = result.to_json()["roc"]
    assert 60 <= len(stored["found"]) <= 102
    curve = TradeOff(stored["false_alarm"], 1.0 - np.array(stored["found"]), claim="measured")
    for rate in (1e-4, 1e-3, 1e-2, 0.1, 0.5):
        assert (
            result.tpr_at(rate) * 0.9 - 1e-3 <= curve.detection_at(rate) <= result.tpr_at(rate) * 1.05 + 1e-3
        )


def test_bad_scores_are_refused_without_being_shown() -> None:
    with pytest.raises(ParameterError, match="finite") as caught:
        _result(member_scores=np.array([1.0, np.nan, 123.456]))
    assert "123" not in str(caught.value)
    with pytest.raises(ParameterError, match="proved"):
        _result(proved=_result().trade_off())


def test_a_report_picks_the_best_and_the_gravest(tmp_path: Path) -> None:
    weak = _result(member_scores=np.random.default_rng(2).normal(0, 1, 500), proved=PureDP(1.0).trade_off())
    report = AttackReport(
        kind="model", results=(weak, _result(proved=PureDP(1.0).trade_off())), skipped={"lira": "no train"}
    )
    assert report.best() is report.results[1]
    assert report.verdict() == "warning"
    assert report.verdict(PureDP(30.0)) == "consistent"
    assert "not made: lira (no train)" in report.summary()
    with pytest.raises(ParameterError, match="no train"):
        report["lira"]
    report.plot().savefig(tmp_path / "roc.svg")
    assert (tmp_path / "roc.svg").stat().st_size > 5000


def test_a_report_holds_results_of_one_kind() -> None:
    disclosed = DisclosureResult(attack="linkability", members=(6, 10), control=(2, 10), blind=(1, 10))
    assert AttackReport(kind="disclosure", results=(disclosed,)).verdict(PureDP(0.1)) == "unclaimed"
    mixed: Any = (_result(), disclosed)
    with pytest.raises(ParameterError, match="results must be of one kind"):
        AttackReport(kind="model", results=mixed)
    with pytest.raises(ParameterError, match="one or more"):
        AttackReport(kind="model", results=())


def test_every_kind_of_report_is_stored_alike() -> None:
    disclosed = DisclosureResult(attack="linkability", members=(6, 10), control=(2, 10), blind=(1, 10))
    for kind, result in (("model", _result()), ("rows", _result()), ("disclosure", disclosed)):
        one_kind: Any = kind
        stored = AttackReport(kind=one_kind, results=(result,)).to_json()
        assert stored["kind"] == kind
        assert set(stored) == {
            *("kind", "audience", "verdict", "models", "attacks", "skipped", "notes", "disclosure")
        }
