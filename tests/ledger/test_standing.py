from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from holdfast.errors import BudgetExceeded, ParameterError
from holdfast.ledger import Ledger
from holdfast.ledger._report import Standing
from holdfast.privacy import ZCDP, ApproxDP, Gaussian, Laplace, PrivacyCurve, PureDP

LIMITS: dict[str, PrivacyCurve] = {
    "pure": PureDP(2.0),
    "basic": ApproxDP(2.0, 1e-5),
    "zcdp": ApproxDP(2.0, 1e-6),
    "gdp": ApproxDP(2.0, 1e-6),
    "renyi": ApproxDP(2.0, 1e-6),
}
FIRST: dict[str, PrivacyCurve] = {
    "pure": PureDP(0.2),
    "basic": ApproxDP(0.2, 1e-6),
    "zcdp": ApproxDP(0.2, 1e-6),
    "gdp": ApproxDP(0.2, 1e-6),
    "renyi": ZCDP(0.001),
}


def opened(path: Path, currency: str) -> Ledger:
    ledger = Ledger.create(path)
    ledger.dataset("d", limit=LIMITS[currency], currency=currency)
    account = ledger.account("d", name="first", limit=FIRST[currency])
    mechanism = (
        Laplace(scale=50.0, l1_sensitivity=1.0)
        if currency in ("pure", "basic")
        else Gaussian(sigma=60.0, l2_sensitivity=1.0)
    )
    account.release(mechanism, [1])
    return ledger


def same(one: Standing, other: Standing) -> bool:
    """Exact amounts, and everything a page shows."""
    return all(
        getattr(one, name) == getattr(other, name) for name in ("spent", "held", "free", "reset")
    ) and (one.to_json() == other.to_json())


@pytest.mark.parametrize("currency", LIMITS)
def test_what_one_more_release_leaves_is_what_the_ledger_leaves(currency: str, tmp_path: Path) -> None:
    """Open the account that a row of the table speaks of, on a copy of the ledger, and read what remains."""
    with opened(tmp_path / "l.db", currency) as ledger:
        there = ledger.standing("d")
        rows = there.what_if()
    assert rows[0]["epsilon"] == 0
    assert 5 <= len(rows) <= 32
    for place in (1, len(rows) // 2, len(rows) - 1):
        row = rows[place]
        limit = ApproxDP(row["epsilon"], row["delta"]) if row["delta"] else PureDP(row["epsilon"])
        copy = tmp_path / f"{place}.db"
        shutil.copy(tmp_path / "l.db", copy)
        with Ledger.open(copy) as ledger:
            ledger.account("d", name="more", limit=limit)
            left = ledger.remaining("d")
            point = left.as_approximate()
            epsilon = left.epsilon(there.delta) if point is None else float(point[0])
            assert row["leaves"]["epsilon"] == pytest.approx(epsilon, rel=1e-5, abs=1e-9)
    beyond = 2 * rows[-1]["epsilon"] - rows[-2]["epsilon"]
    limit = PureDP(beyond) if currency == "pure" else ApproxDP(beyond, 1e-6)
    with Ledger.open(tmp_path / "l.db") as ledger, pytest.raises(BudgetExceeded):
        ledger.account("d", name="too much", limit=limit)


@pytest.mark.parametrize("currency", LIMITS)
def test_shares_are_those_of_the_ledger(currency: str, tmp_path: Path) -> None:
    with opened(tmp_path / "l.db", currency) as ledger:
        there = ledger.standing("d")
        promise = there.dataset.currency.promise
        assert repr(promise(there.free)) == repr(ledger.remaining("d"))
        assert repr(promise(there.spent)) == repr(ledger.spent("d"))
        assert same(ledger.standing("d", head=there.head), there)
        total = sum(part["share"] for part in there.to_json()["parts"])
        # Where deltas add up too, each part is read by its scarcest component.
        assert total == pytest.approx(100, abs=2.0 if currency == "basic" else 0.02)


def test_a_head_of_the_past_gives_the_numbers_of_the_past(tmp_path: Path) -> None:
    with opened(tmp_path / "l.db", "zcdp") as ledger:
        before = ledger.standing("d")
        ledger.account("d", name="second", limit=ApproxDP(1.0, 1e-6))
        after = ledger.standing("d")
        assert ledger.standing("d", head=before.head).to_json() == before.to_json()
        assert after.free.amounts < before.free.amounts
        with pytest.raises(ParameterError, match="older copy"):
            ledger.standing("d", head="0" * 64)


def test_a_reset_is_told_and_a_spent_dataset_offers_nothing(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.dataset("d", limit=ZCDP(0.5))
        account = ledger.account("d", name="all", limit=ZCDP(0.5))
        account.release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [1])
        assert ledger.standing("d").to_json()["what_if"] == []
        ledger.close_account("all")
        ledger.reset("d", reason="a new year", approver="R. Officer")
        told = ledger.standing("d").to_json()
        assert told["reset"]["approver"] == "R. Officer"
        assert told["what_if"]


def test_running_totals_and_a_replay_say_the_same(tmp_path: Path) -> None:
    with opened(tmp_path / "l.db", "gdp") as ledger:
        for step in range(4):
            if step == 1:
                ledger.account("d", name="held", limit=ApproxDP(0.5, 1e-6))
            if step == 2:
                ledger.close_account("first")
                ledger.close_account("held")
            if step == 3:
                ledger.reset("d", reason="a new year", approver="R. Officer")
                ledger.account("d", name="next", limit=ApproxDP(0.1, 1e-6))
            now = ledger.standing("d")
            assert same(ledger.standing("d", head=ledger.head), now)
            assert now.reset == (None if step < 3 else ledger.history()[now.number - 1])
