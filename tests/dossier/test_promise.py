from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from holdfast._assumption import Assumption
from holdfast.dossier import Dossier, Sureness
from holdfast.dossier._page import render
from holdfast.dossier._promise import joint_guarantee
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import ZCDP, Account, ApproxDP, Gaussian, GaussianDP, PrivacyCurve, PrivacyUnit, PureDP
from holdfast.release import Release

FAILURES = st.sampled_from([1e-2, 1e-4, 1e-6, 1e-9])


@given(st.floats(0.05, 4.0), FAILURES)
def test_the_bound_holds_for_the_gaussian_law_and_is_not_far_off(mu: float, failure: float) -> None:
    loss = Sureness.of(GaussianDP(mu), failure=failure).loss

    def either(level: float) -> float:  # P(|L| > level) for L ~ N(mu^2/2, mu^2)
        return float(ndtr(-(level - mu**2 / 2) / mu) + ndtr(-(level + mu**2 / 2) / mu))

    assert either(loss) <= failure
    assert either(0.8 * loss) > failure  # no more than a quarter too large


@given(st.floats(0.01, 5.0))
def test_pure_privacy_bounds_every_outcome(epsilon: float) -> None:
    bound = Sureness.of(PureDP(epsilon))
    assert bound.failure == 0
    exact = 1 / (1 + math.exp(-epsilon))
    assert exact <= bound.after(0.5) <= exact + 0.001 + 1e-9


@given(st.floats(0.01, 3.0), st.sampled_from([1e-9, 1e-7]))
def test_an_outright_failure_is_counted(epsilon: float, delta: float) -> None:
    """Randomised response that reveals everything with probability delta."""
    assert Sureness.of(ApproxDP(epsilon, delta), failure=delta / 2).after(0.5) == 1.0
    bound = Sureness.of(ApproxDP(epsilon, delta), failure=10 * delta)
    assert epsilon < bound.loss < epsilon + 0.4


@given(st.floats(1e-9, 0.09))
def test_the_usual_exception_is_rare_and_above_the_curves_own(delta: float) -> None:
    bound = Sureness.of(ApproxDP(1.0, delta))
    assert 1e-6 <= bound.failure <= 0.1
    assert bound.failure <= max(1e-6, 20.1 * delta)
    assert math.isfinite(bound.loss)
    assert Sureness.of(ApproxDP(1.0, 0.2)).after(0.5) == 1.0  # nothing that could be called an exception


@given(st.sampled_from([PureDP(0.7), GaussianDP(0.8), ZCDP(0.1)]), st.floats(0.01, 0.98))
def test_whoever_was_surer_stays_surer(curve: PrivacyCurve, prior: float) -> None:
    bound = Sureness.of(curve)
    assert prior <= bound.after(prior) <= bound.after(prior + 0.01) <= 1.0


@given(st.floats(0.1, 2.0), FAILURES)
def test_a_rarer_exception_allows_more(mu: float, failure: float) -> None:
    curve = GaussianDP(mu)
    assert Sureness.of(curve, failure=failure / 10).loss >= Sureness.of(curve, failure=failure).loss * (
        1 - 1e-9
    )


@pytest.mark.parametrize("failure", [0.0, 1.0, -1e-6])
def test_bad_failures_are_refused(failure: float) -> None:
    with pytest.raises(ParameterError, match="failure"):
        Sureness.of(GaussianDP(1.0), failure=failure)


# Several releases together.

NOISE = Gaussian(sigma=4.0, l2_sensitivity=1.0)


def of(account: Account, **more: object) -> Release[object]:
    return Release.of(account, account.release(NOISE, [1]), method="m", **more)  # type: ignore[arg-type]


def test_releases_from_memory_compose() -> None:
    one, two = (of(Account(GaussianDP(0.3))) for _ in range(2))
    assert joint_guarantee([one, two]).curve.as_gdp() == pytest.approx(2 * 0.3**2)
    assert joint_guarantee([one]) == one.guarantee


def test_several_releases_are_told_in_their_order(tmp_path: Path) -> None:
    """By the day, then by the entry that paid; a release of a charge that is already counted adds nothing."""
    with Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.dataset("clinic", limit=GaussianDP(2.0))
        files = []
        for name, mu in (("first", 0.3), ("second", 0.4), ("not shown", 0.1)):
            account = ledger.account("clinic", name=name, limit=GaussianDP(mu), approver="M. Head")
            noisy = account.release(Gaussian(sigma=1 / mu, l2_sensitivity=1.0), [3.0, 4.0])
            for part in ("whole", "part"):
                if (name, part) in (("first", "part"), ("not shown", "part")):
                    continue
                files.append(tmp_path / f"{name} {part}.holdfast")
                Release.of(account, noisy if part == "whole" else noisy[:1], method=name).save(files[-1])
        kept = [files[2], files[1], files[0]]  # the second account's part and whole, then the first
        record = Dossier.of_files(kept, ledger=ledger).record
    told = record.story
    assert [record.releases[one.place].name for one in told] == [
        "first whole.holdfast",
        "second part.holdfast",
        "second whole.holdfast",
    ]
    assert [one.adds for one in told] == [True, True, False]
    curves = [GaussianDP(0.3), GaussianDP(0.5), GaussianDP(0.5)]
    assert [one.so_far.epsilon for one in told] == pytest.approx([c.epsilon(1e-6) for c in curves], rel=1e-5)
    assert [one.sure_so_far for one in told] == [Sureness.of(c).after(0.5) for c in curves]
    assert told[-1].so_far == record.promise.at
    assert told[-1].sure_so_far == record.promise.sure.half
    assert {one.takes for one in record.payments} == {"2.25 %", "4 %"}  # mu squared, of 4
    assert record.budgets[0].elsewhere == 1
    page = " ".join(re.sub(r"<[^>]+>", "", render(record)).split())
    assert "also closed 1 release of these data that is not on this page" in page
    assert Dossier.of_files(kept[:1]).record.story == ()


def test_releases_of_one_account_share_its_limit(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.dataset("d", limit=ZCDP(4.0))
        account = ledger.account("d", name="a", limit=ZCDP(1.0))
        early, late = of(account), of(account)
        other = of(ledger.account("d", name="b", limit=ZCDP(0.5)))
        left, right = (of(share) for share in ledger.account("d", name="c", limit=ZCDP(1.0)).split(0.5, 0.5))
    # The limit of the account covers both of its releases, in whichever order they are given.
    assert (
        joint_guarantee([early, late]).curve == joint_guarantee([late, early]).curve == late.guarantee.curve
    )
    assert joint_guarantee([early, other, late]).curve.as_zcdp() == 1.5
    assert joint_guarantee([left, right]).curve.as_zcdp() == 1


def test_assumptions_of_all_are_kept(tmp_path: Path) -> None:
    a, b, c = (Assumption(kind=kind, text="x") for kind in "abc")
    one = of(Account(GaussianDP(0.3)), assumptions=[a, b])
    two = of(Account(GaussianDP(0.3)), assumptions=[b, c])
    assert joint_guarantee([one, two]).assumptions == (a, b, c)


def test_different_units_do_not_mix() -> None:
    one = of(Account(GaussianDP(0.3)))
    two = of(Account(GaussianDP(0.3), unit=PrivacyUnit.user("patient", max_rows=3)))
    with pytest.raises(AdjacencyError):
        joint_guarantee([one, two])
