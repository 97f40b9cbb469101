"""What the page says about audits: their power, whose promise they are held against, and what else was run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from holdfast.audit import AuditResult, ErrorRates, FixedGuesses, PowerBasis, Trainings
from holdfast.audit._findings import AnytimeGuesses, GaussianGuesses, GuessPath, with_every_guess_right
from holdfast.dossier import Dossier, verify_dossier
from holdfast.dossier._evidence import MOST_DRAWN_ATTACKS, MOST_DRAWN_AUDITS
from holdfast.dossier._page import record_of, render
from holdfast.errors import ParameterError
from holdfast.privacy import Account, Adjacency, Gaussian, GaussianDP
from holdfast.privacy._tradeoff import TradeOff
from holdfast.release import Release
from tests.dossier.dossier_samples import FakeAttack, audit, counts

PROMISE = GaussianDP(0.5)


def released(mu: float = 0.5, method: str = "a count") -> Release[Any]:
    account = Account(GaussianDP(mu))
    return Release.of(
        account, account.release(Gaussian(sigma=1 / mu, l2_sensitivity=1.0), [3.0]), method=method
    )


def trained(false_alarms: int, misses: int, *, interference: float = 0.0, **more: Any) -> AuditResult:
    """Five hundred trainings with and without."""
    errors = ErrorRates(false_alarms=false_alarms, without=500, misses=misses, with_canary=500)
    fields: dict[str, Any] = {
        "finding": Trainings(errors=errors),
        "delta": 1e-5,
        "coins": "holdfast",
        "planted": "a record",
        "adjacency": "replace",
        "rows": "public",
        "basis": PowerBasis(claim=PROMISE, interference=interference),
    } | more
    return AuditResult(**fields)


def shown(page: Dossier) -> Any:
    return page.to_json()["tried"]


def test_a_test_earns_a_tile_and_states_what_it_would_have_noticed() -> None:
    page = Dossier(released(), audits=[trained(200, 200)])
    (one,) = shown(page)
    assert one["state"] == "consistent"
    assert one["numbers"]["can_fail"]
    assert 1.2 < one["numbers"]["kappa"] < 2.5
    assert one["numbers"]["no_noise"] == 1.0
    html = page.html()
    assert "too little noise would have been noticed" in html
    assert "It tests the program on public rows, not this run on its own rows" in html
    assert "none that could have failed was run" not in html


def test_what_cannot_fail_is_not_a_test_and_earns_no_tile() -> None:
    page = Dossier(released(), audits=[trained(250, 250, interference=float("inf"))])
    (one,) = shown(page)
    assert one["state"] == "not a test"
    html = page.html()
    assert "cannot fail: not a test" in html
    assert "too little noise would have been noticed" not in html
    assert any("none that could have failed was run" in text for text in page.to_json()["not_tested"])


def test_unknown_power_earns_no_tile_either() -> None:
    page = Dossier(counts(), audits=[audit()])
    assert shown(page)[0]["numbers"]["no_noise"] is None
    assert "not counted as a test" in page.html()
    assert "too little noise would have been noticed" not in page.html()


def test_what_contradicts_could_fail_whatever_its_design_says() -> None:
    page = Dossier(released(), audits=[trained(5, 5, interference=float("inf"))])
    assert shown(page)[0]["state"] == "refuted"
    assert len(page.contradictions) == 1


def test_an_audit_of_one_release_is_held_against_its_own_promise() -> None:
    # Too much for mu = 0.5, not for both releases together, mu = 2.06.
    seen = trained(125, 125)
    alone, both = (
        Dossier(released(), audits=[seen]),
        Dossier([released(), released(2.0, "more")], audits=[seen]),
    )
    assert [len(page.contradictions) for page in (alone, both)] == [1, 1]
    strange = trained(125, 125, basis=PowerBasis(claim=GaussianDP(0.01), interference=0.0))
    assert Dossier([released(), released(2.0, "more")], audits=[strange]).contradictions == ()


@pytest.mark.parametrize("hidden", [0, 1, 40])
def test_what_is_not_shown_shares_the_error(hidden: int) -> None:
    result = AuditResult(
        finding=FixedGuesses(canaries=1000, guesses=100, correct=82),
        delta=1e-6,
        coins="holdfast",
        planted="1000 records",
        adjacency=Adjacency.of("replace"),
        rows="public",
    )
    page = Dossier(counts(), audits=[result], also_run=hidden)
    assert len(page.contradictions) == (hidden == 0)
    assert shown(page)[0]["numbers"]["confidence"] == pytest.approx(1 - 0.05 / (1 + hidden))
    assert (
        shown(page)[0]["numbers"]["epsilon_lower"] <= result.epsilon_lower(1 - 0.05 / (1 + hidden)) * 1.00001
    )
    with pytest.raises(ParameterError, match="also_run"):
        Dossier(counts(), also_run=-1)


def test_three_attacks_are_drawn_and_all_are_in_the_table() -> None:
    class Strong(FakeAttack):
        def trade_off(self) -> Any:
            x = np.linspace(0, 1, 51)
            return TradeOff(x, (1 - x) ** (1.0 + 0.3 * float(self.attack)), claim="measured")

    attacks = [Strong(attack=f"0.{k}") for k in (3, 9, 1, 7, 5)] + [
        FakeAttack(attack="weak", state="refuted")
    ]
    made = Dossier(counts(), attacks, [audit(50 + k) for k in range(4)], audience="internal").record.picture
    drawn = [line.name for line in made.linear.series]
    assert drawn == [line.name for line in made.log.series]
    # What refutes is always drawn; then the strongest.
    assert drawn[3:] == ["attack: weak", "attack: 0.9", "attack: 0.7"]
    assert len(drawn) == 1 + MOST_DRAWN_AUDITS + MOST_DRAWN_ATTACKS
    assert len(made.rows) == 1 + 4 + 6
    assert made.left_out == (4 - MOST_DRAWN_AUDITS) + (6 - MOST_DRAWN_ATTACKS)


def test_a_page_says_what_an_audit_could_have_shown() -> None:
    """An epsilon of zero is the least that a bound can be: what it would have shown stands beside it."""
    made = Dossier(released(), audits=[trained(250, 250)])
    numbers = shown(made)[0]["numbers"]
    assert numbers["epsilon_lower"] == 0
    assert numbers["promised"] == pytest.approx(PROMISE.epsilon(1e-5), rel=1e-5)
    assert numbers["most"] == pytest.approx(trained(0, 0).epsilon_lower(0.95), rel=1e-5)
    page = " ".join(re.sub(r"<[^>]+>", "", made.html()).split())
    assert "which shows no leak; it is the least that a bound can be" in page
    assert f"with every guess right it would have shown at least {numbers['most']:.4g}" in page
    perfect = shown(Dossier(released(), audits=[trained(0, 0)]))[0]["numbers"]
    assert perfect["most"] == perfect["epsilon_lower"]


@pytest.mark.parametrize(
    "finding",
    [
        FixedGuesses(canaries=100, guesses=40, correct=20),
        GuessPath(canaries=100, right="0110" * 10),
        AnytimeGuesses(right="01" * 40),
        Trainings(errors=ErrorRates(false_alarms=9, without=40, misses=8, with_canary=40)),
        GaussianGuesses(canaries=100, guesses=40, correct=20),
    ],
)
def test_no_audit_shows_more_than_with_every_guess_right(finding: Any) -> None:
    best = with_every_guess_right(finding)
    if best is None:
        assert isinstance(finding, GaussianGuesses)
        return
    assert best.correct == best.guesses == finding.guesses
    assert best.epsilon_lower(delta=1e-6 if finding.kind != "sequential" else 0.0, confidence=0.95) > (
        finding.epsilon_lower(delta=1e-6 if finding.kind != "sequential" else 0.0, confidence=0.95)
    )


def test_attacks_and_audits_share_one_error() -> None:
    class Weak(FakeAttack):
        def p_value(self, claim: Any, /) -> float:
            return 0.03

    weak = Weak(state="refuted")
    assert len(Dossier(counts(), [weak], audience="internal").contradictions) == 1
    beside = Dossier(counts(), [weak], [audit()], audience="internal")
    assert beside.contradictions == ()
    assert [one["state"] for one in shown(beside)] == ["consistent", "warning"]
    # Holm: beside a strong contradiction the weak one counts alone.
    both = Dossier(counts(), [weak], [audit(95)], audience="internal")
    assert len(both.contradictions) == 2


def test_real_rows_stay_inside_also_where_the_record_is_edited(tmp_path: Any) -> None:
    for rows in ("public", "generated"):
        assert Dossier(counts(), audits=[audit(rows=rows)]).audience == "public"
    with pytest.raises(ParameterError, match="real rows"):
        Dossier(counts(), audits=[audit(rows="real")])
    inside = Dossier(counts(), audits=[audit(rows="real")], audience="internal")
    forged = replace(inside.record, audience="public")
    (tmp_path / "page.html").write_text(render(forged), encoding="utf-8")
    release = tmp_path / "release.holdfast"
    counts_release = inside.releases[0]
    counts_release.save(release)
    found = verify_dossier(tmp_path / "page.html", releases=[release])
    assert any("real rows" in problem for problem in found.problems)
    assert record_of((tmp_path / "page.html").read_text(encoding="utf-8"))["audience"] == "public"


def test_an_estimate_is_shown_as_one() -> None:
    errors = ErrorRates(false_alarms=9, without=500, misses=9, with_canary=500)
    made = trained(0, 0, finding=Trainings(errors=errors, bound="gaussian"))
    page = Dossier(released(8.0), audits=[made])
    assert shown(page)[0]["numbers"]["epsilon_lower"] is None
    assert "an estimate, not a bound" in page.html()


def test_an_attribute_attack_is_a_point_in_the_picture_of_the_proof() -> None:
    from tests.attack.attributes.attribute_people import risk_of, schema, table, true_model

    rows = table(300, seed=1)
    report = risk_of(
        true_model(),
        rows[:100],
        fresh=rows[100:],
        sensitive="s",
        target="y",
        schema=schema(),
        own=(50,),
        surest=10,
        random_state=0,
    )
    page = Dossier(released(), attacks=list(report), audience="internal")
    record = page.to_json()
    assert not [text for text in record["not_tested"] if "inversion" in text]
    assert [one["state"] for one in record["tried"]] == ["consistent"]
    assert "inversion: s" in str(record["picture"]["rows"])
    assert "Epsilon does not limit" in page.html()
    with pytest.raises(ValueError, match="attack results"):
        Dossier(released(), attacks=list(report))
