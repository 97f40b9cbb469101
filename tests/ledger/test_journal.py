from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import AlreadyReleased, BudgetExceeded, LedgerError, ParameterError
from holdfast.ledger import Ledger
from holdfast.ledger._amounts import cost_of
from holdfast.ledger._journal import LedgerJournal, stored_form
from holdfast.noise._source import Source
from holdfast.privacy import Account, Gaussian, Laplace, PureDP
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._account.journal import Charge, MemoryJournal, add_up, shares_above

TENTH = Laplace(scale=10.0, l1_sensitivity=1.0)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    book = Ledger.create(tmp_path / "ledger.db")
    book.dataset("d", limit=PureDP(1.0))
    return book


def kinds(ledger: Ledger) -> list[str]:
    return [str(entry.kind) for entry in ledger.history()][3:]


def test_the_charge_is_on_the_disk_before_the_noise_is_drawn(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = ledger.account("d")
    seen: list[list[str]] = []
    real = Laplace.sample

    def spy(self: Laplace, value: Any, source: Source) -> Any:
        with Ledger.open(ledger.path) as another:
            seen.append(kinds(another))
        return real(self, value, source)

    monkeypatch.setattr(Laplace, "sample", spy)
    account.release(TENTH, [1.0])
    assert seen == [["charge"]]
    assert kinds(ledger) == ["charge", "settle"]


def test_a_sampler_that_fails_stays_charged(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    account = ledger.account("d")

    def fail(self: Laplace, value: Any, source: Source) -> Any:
        raise RuntimeError("no noise today")

    monkeypatch.setattr(Laplace, "sample", fail)
    with pytest.raises(RuntimeError, match="no noise"):
        account.release(TENTH, [1.0], key="k")
    assert account.spent() == PureDP(Fraction(1, 10))
    assert ledger.history()[-1].body["state"] == "abandoned"
    with pytest.raises(AlreadyReleased):
        account.release(TENTH, [1.0], key="k")


def test_a_key_pays_once_and_gives_the_same_value(ledger: Ledger) -> None:
    account = ledger.account("d", name="a")
    first = account.release(TENTH, [1.0, 2.0], key="job/1")
    assert np.array_equal(first, account.release(TENTH, [1.0, 2.0], key="job/1"))
    ledger.close()
    with Ledger.open(ledger.path) as again:
        resumed = again.account("d", name="a")
        assert np.array_equal(first, resumed.release(TENTH, [5.0, 5.0], key="job/1"))
        assert resumed.spent() == PureDP(Fraction(1, 10))
        with pytest.raises(LedgerError, match="another mechanism"):
            resumed.release(Laplace(scale=20.0, l1_sensitivity=1.0), [1.0], key="job/1")


def test_keys_are_of_one_account(ledger: Ledger) -> None:
    one, two = (ledger.account("d", limit=PureDP(0.5)) for _ in range(2))
    assert not np.array_equal(
        one.release(TENTH, np.zeros(8), key="k"), two.release(TENTH, np.zeros(8), key="k")
    )
    assert kinds(ledger).count("charge") == 2


def test_without_a_key_no_value_is_kept(ledger: Ledger) -> None:
    ledger.account("d").release(TENTH, [123456.0])
    with ledger._store.reading() as chain:
        assert chain.row_counts()["payloads"] == 0
    assert "123456" not in "".join(entry.text for entry in ledger.history())


def test_a_keyed_permit_is_drawn_from_by_one_process(ledger: Ledger) -> None:
    account = ledger.account("d", name="a")
    one, two = (account.permit(TENTH, times=3, key="loop") for _ in range(2))
    assert account.spent() == PureDP(Fraction(3, 10))
    one.release([1.0])
    with pytest.raises(AlreadyReleased):
        two.release([1.0])
    with pytest.raises(AlreadyReleased):
        account.permit(TENTH, times=3, key="loop")


def test_shares_are_capped_by_themselves_and_by_the_account(ledger: Ledger) -> None:
    account = ledger.account("d", limit=PureDP(0.5))
    small, large = account.split(0.2, 0.8)
    small.release(TENTH, [1.0])
    with pytest.raises(BudgetExceeded, match="share"):
        small.release(TENTH, [1.0])
    half = large.split(0.5)[0]
    for _ in range(2):
        half.release(TENTH, [1.0])
    with pytest.raises(BudgetExceeded):
        half.release(TENTH, [1.0])
    for _ in range(2):
        account.release(TENTH, [1.0])
    with pytest.raises(BudgetExceeded):
        large.release(TENTH, [1.0])
    assert account.spent() == PureDP(Fraction(1, 2))
    assert ledger.verify().ok


def test_the_recorded_limit_counts_whoever_asks(ledger: Ledger) -> None:
    account = ledger.account("d", limit=PureDP(0.1))
    account._caps = (("", Cost((Fraction(100),))),)
    with pytest.raises(BudgetExceeded):
        account.release(Laplace(scale=5.0, l1_sensitivity=1.0), [1.0])


def test_refusals_are_recorded_and_a_later_charge_still_fits(ledger: Ledger) -> None:
    account = ledger.account("d")
    large = Laplace(scale=0.5, l1_sensitivity=1.0)
    for _ in range(3):
        with pytest.raises(BudgetExceeded):
            account.release(large, [1.0])
        account.release(TENTH, [1.0])
    assert kinds(ledger) == ["refusal", "charge", "settle"] * 3
    assert ledger.verify().ok


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(["", "0/", "1/", "0/0/"]), st.integers(1, 12)), max_size=25))
def test_memory_and_ledger_agree_on_every_history(steps: list[tuple[str, int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, Ledger.create(Path(folder) / "l") as book:
        book.dataset("d", limit=PureDP(1.0))
        accounts: dict[bool, dict[str, Account]] = {}
        for kept in (False, True):
            whole = book.account("d") if kept else Account(PureDP(1.0))
            left, right = whole.split(0.5, 0.5)
            accounts[kept] = {"": whole, "0/": left, "1/": right, "0/0/": left.split(0.4)[0]}
        for share, part in steps:
            outcomes = []
            for kept in (False, True):
                try:
                    accounts[kept][share].release(Laplace(scale=float(part), l1_sensitivity=1.0), [0.0])
                    outcomes.append("charged")
                except BudgetExceeded as error:
                    outcomes.append(str(error))
            assert outcomes[0] == outcomes[1]
        for share in ("", "0/", "1/", "0/0/"):
            assert accounts[False][share].spent() == accounts[True][share].spent()
            assert accounts[False][share].remaining() == accounts[True][share].remaining()
        assert book.verify().ok


def test_totals_of_many_denominators_stay_short_and_never_round_down() -> None:
    draw = random.Random(3)
    total, exact = None, Fraction(0)
    for _ in range(300):
        cost = Fraction(1, draw.randrange(10**15, 10**16))
        exact += cost
        total = add_up(total, Cost((cost,)))
    assert total is not None
    assert total.amounts[0].denominator.bit_length() <= 2048
    assert exact <= total.amounts[0] <= exact + Fraction(300, 2**1024)
    assert exact.denominator.bit_length() > 2048  # or the test would say nothing


@given(st.lists(st.integers(0, 9), max_size=4))
def test_every_share_above_pays(places: list[int]) -> None:
    share = "".join(f"{place}/" for place in places)
    assert shares_above(share) == tuple("".join(f"{p}/" for p in places[:n]) for n in range(len(places) + 1))


def charge(**changes: Any) -> Charge:
    fields: dict[str, Any] = {
        "mechanism": {"mechanism": "M"},
        "curve": {"kind": "C"},
        "times": 1,
        "cost": Cost((Fraction(1),)),
        "arithmetic": "strict",
        "noise": "secure",
    }
    return Charge(**fields | changes)


def test_negative_or_endless_amounts_never_reach_the_file() -> None:
    for amount in (Fraction(-1), Fraction(1, 10**4100)):
        with pytest.raises((LedgerError, ValueError)):
            stored_form(charge(cost=Cost((amount,))))
    for text in ("1e9999999", "-1", "1/0", "0.5", "", "1/", "\u0661"):
        with pytest.raises(LedgerError):
            cost_of([text, "0", "0"])
    for data in ("123", [], ["1", "0"], [1, 0, 0], None):
        with pytest.raises(LedgerError):
            cost_of(data)


def test_long_curves_are_named_by_their_hash_and_infinities_are_kept() -> None:
    long = stored_form(charge(curve={"kind": "RenyiDP", "orders": list(range(50_000))}))
    assert set(long.curve) == {"kind", "sha256"}
    assert (
        stored_form(charge(curve={"kind": "RenyiDP", "epsilons": [1.0, math.inf]})).curve["epsilons"][1]
        == math.inf
    )


def test_a_journal_cannot_settle_for_another_account(ledger: Ledger) -> None:
    one, two = (ledger.account("d", limit=PureDP(0.5)) for _ in range(2))
    one.permit(TENTH, times=1)
    number = next(e.number for e in ledger.history() if e.kind == "charge")
    assert isinstance(two.journal, LedgerJournal)
    with pytest.raises(LedgerError, match="no charge of account"):
        two.journal.settle(number, "abandoned", None)


def test_an_unstorable_label_is_refused_before_anything_is_charged(ledger: Ledger) -> None:
    account = ledger.account("d")
    with pytest.raises(ParameterError, match="label"):
        account.release(TENTH, [1.0], label="\ud800")
    assert kinds(ledger) == []


def test_idealised_and_strict_are_recorded(ledger: Ledger) -> None:
    ledger.dataset("g", limit=PureDP(1.0), currency="pure")
    account = ledger.account("d", seed=3)
    account.release(TENTH, [1.0])
    (entry,) = account.journal.entries
    assert (entry.charge.arithmetic, entry.charge.noise, entry.state) == ("strict", "seeded", "released")
    assert entry.charge.mechanism == TENTH.to_json()
    assert isinstance(Account(PureDP(1.0)).journal, MemoryJournal)
    assert Gaussian(sigma=1.0, l2_sensitivity=1.0, arithmetic="idealised").arithmetic == "idealised"
