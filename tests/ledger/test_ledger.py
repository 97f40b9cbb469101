from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import pytest

from holdfast.errors import AdjacencyError, BudgetExceeded, LedgerError, ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import ZCDP, ApproxDP, Gaussian, GaussianDP, Laplace, PrivacyUnit, PureDP

HALF = Laplace(scale=2.0, l1_sensitivity=1.0)  # epsilon 0.5
TENTH = Laplace(scale=10.0, l1_sensitivity=1.0)  # epsilon 0.1


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    book = Ledger.create(tmp_path / "ledger.db", purpose="tests", approver="nobody")
    book.dataset("adult", limit=PureDP(1.0), purpose="a survey", approver="an officer", version="2025")
    return book


def test_ten_tenths_fit_and_the_eleventh_does_not(ledger: Ledger) -> None:
    account = ledger.account("adult")
    for _ in range(10):
        account.release(TENTH, [1.0])
    with pytest.raises(BudgetExceeded, match="nothing was charged"):
        account.release(TENTH, [1.0])
    assert account.spent() == PureDP(1)
    assert [e.kind for e in ledger.history()].count("refusal") == 1
    assert ledger.verify().ok


def test_open_accounts_hold_their_whole_limit_and_closed_ones_what_they_spent(ledger: Ledger) -> None:
    first = ledger.account("adult", name="first", limit=PureDP(0.75))
    first.release(HALF, [1.0])
    assert ledger.remaining("adult") == PureDP(Fraction(1, 4))
    with pytest.raises(BudgetExceeded, match="left"):
        ledger.account("adult", name="second", limit=PureDP(0.3))
    ledger.close_account("first", reason="done")
    assert ledger.remaining("adult") == PureDP(Fraction(1, 2))
    assert ledger.spent("adult") == PureDP(Fraction(1, 2))
    second = ledger.account("adult", name="second")  # everything that is left
    assert second.remaining() == PureDP(Fraction(1, 2))
    second.release(HALF, [1.0])
    with pytest.raises(BudgetExceeded):
        second.release(TENTH, [1.0])
    with pytest.raises(BudgetExceeded, match="nothing is left"):
        ledger.account("adult", name="third")
    assert ledger.verify().ok


def test_a_closed_account_pays_nothing_more(ledger: Ledger) -> None:
    account = ledger.account("adult", name="a", limit=PureDP(1.0))
    ledger.close_account("a")
    with pytest.raises(LedgerError, match="closed"):
        account.release(TENTH, [1.0])
    with pytest.raises(LedgerError, match="closed"):
        ledger.account("adult", name="a")
    with pytest.raises(LedgerError, match="no open account"):
        ledger.close_account("a")
    assert ledger.spent("adult") == PureDP(0)


def test_an_account_of_the_same_name_goes_on(ledger: Ledger) -> None:
    ledger.account("adult", name="job", limit=PureDP(0.5)).release(TENTH, [1.0])
    ledger.close()
    again = Ledger.open(ledger.path)
    account = again.account("adult", name="job", limit=PureDP(0.5))
    assert account.spent() == PureDP(Fraction(1, 10))
    assert again.account("adult", name="job").remaining() == PureDP(Fraction(2, 5))
    assert [e.kind for e in again.history()].count("account") == 1
    with pytest.raises(LedgerError, match="another"):
        again.account("adult", name="job", limit=PureDP(0.25))
    again.close()


def test_a_limit_is_translated_once_and_never_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.dataset("big", limit=ApproxDP(2.0, 1e-6), currency="zcdp")
    before = ledger.account("big", name="a", limit=ApproxDP(1.0, 1e-6)).guarantee().curve
    with monkeypatch.context() as changed:
        changed.setattr(
            "holdfast.privacy._account.currency._largest_parameter",
            lambda *_: pytest.fail("translated again"),
        )
        assert ledger.account("big", name="a", limit=ApproxDP(1.0, 1e-6)).guarantee().curve == before


def test_terms_are_the_datasets(ledger: Ledger) -> None:
    with pytest.raises(AdjacencyError):
        ledger.account("adult", adjacency="add_remove")
    with pytest.raises(AdjacencyError):
        ledger.account("adult", unit=PrivacyUnit("user", max_rows=3))
    with pytest.raises(ParameterError):
        ledger.account("adult", limit=ZCDP(0.1))  # not countable in pure epsilon
    account = ledger.account("adult", adjacency="replace", unit=PrivacyUnit())
    assert account.currency.name == "pure"
    with pytest.raises(ParameterError):
        account.release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [1.0])
    with pytest.raises(LedgerError, match="no dataset"):
        ledger.account("other")


def test_a_dataset_is_opened_once_and_looked_up_after(ledger: Ledger) -> None:
    assert ledger.dataset("adult").approver == "an officer"
    assert ledger.dataset("adult", limit=PureDP(1.0)).purpose == "a survey"
    for other in ({"limit": PureDP(2.0)}, {"limit": PureDP(1.0), "adjacency": "zero_out"}):
        with pytest.raises(LedgerError, match="another limit"):
            ledger.dataset("adult", **other)
    with pytest.raises(LedgerError, match="no dataset"):
        ledger.dataset("other")
    assert [e.kind for e in ledger.history()] == ["ledger", "dataset"]


def test_every_currency_that_adds_up_is_kept(ledger: Ledger) -> None:
    noise = Gaussian(sigma=10.0, l2_sensitivity=1.0)
    for name, currency, options in (
        ("z", "zcdp", {}),
        ("g", "gdp", {}),
        ("r", "renyi", {"order": 32.0}),
    ):
        ledger.dataset(name, limit=ApproxDP(1.0, 1e-6), currency=currency, **options)  # type: ignore[arg-type]
        account = ledger.account(name, limit=ApproxDP(0.5, 1e-6))
        account.release(noise, [1.0])
        assert account.currency == ledger.dataset(name).currency or account.currency.name == currency
        assert ledger.recompute(name).sound
    ledger.dataset("b", limit=ApproxDP(1.0, 1e-5), currency="basic")
    ledger.account("b").permit(noise, times=3, delta=1e-6)
    assert ledger.recompute("b").sound
    with pytest.raises(ParameterError):
        ledger.dataset("p", limit=ApproxDP(1.0, 1e-6), currency="plan")
    assert ledger.verify().ok


def test_a_reset_needs_a_reason_an_approver_and_closed_accounts(ledger: Ledger) -> None:
    account = ledger.account("adult", name="a")
    account.release(HALF, [1.0])
    for wrong in ({"reason": "", "approver": "me"}, {"reason": "new year", "approver": ""}):
        with pytest.raises(ParameterError):
            ledger.reset("adult", **wrong)
    with pytest.raises(LedgerError, match="close the open accounts"):
        ledger.reset("adult", reason="new year", approver="me")
    ledger.close_account("a")
    ledger.reset("adult", reason="new year", approver="the officer")
    assert ledger.remaining("adult") == PureDP(1)
    ledger.account("adult", name="b").release(HALF, [1.0])
    assert "RESET" in ledger.summary()
    assert "new year" in ledger.summary()
    assert "all periods together spent 100 %" in ledger.summary()
    assert ledger.recompute("adult").charges == 1
    assert ledger.verify().ok


def test_the_summary_says_who_what_and_how_much_is_left(ledger: Ledger) -> None:
    ledger.account("adult", name="first", limit=PureDP(0.75), purpose="look").release(HALF, [1.0])
    text = ledger.summary()
    for part in (
        "adult",
        "an officer",
        "a survey",
        "spent 50 %",
        "open accounts 25 %",
        "free 25 %",
        "first",
        "look",
    ):
        assert part in text
    assert "66.67 %" in text  # of the account's own limit


def test_history_can_be_narrowed(ledger: Ledger) -> None:
    ledger.dataset("other", limit=PureDP(1.0))
    ledger.account("adult", name="a", limit=PureDP(0.5)).release(TENTH, [1.0])
    ledger.account("other", name="b", limit=PureDP(0.5)).release(TENTH, [1.0])
    assert [e.kind for e in ledger.history(dataset="other")] == ["dataset", "account", "charge", "settle"]
    assert [e.kind for e in ledger.history(account="a")] == ["account", "charge", "settle"]
    assert all(str(e.number) in e.summary() for e in ledger.history())


def test_an_export_can_be_checked_with_ten_lines_of_python(ledger: Ledger, tmp_path: Path) -> None:
    ledger.account("adult").release(TENTH, [1.0])
    ledger.export(tmp_path / "export.jsonl")
    previous = "0" * 64
    lines = (tmp_path / "export.jsonl").read_text().splitlines()
    for line in lines:
        text = line[line.index('"entry":') + 8 : -1]
        assert hashlib.sha256(text.encode()).hexdigest() == json.loads(line)["hash"]
        assert json.loads(text)["previous"] == previous
        previous = json.loads(line)["hash"]
    assert previous == ledger.verify().head
    assert len(lines) == 5


def test_recompute_charges_the_recorded_mechanisms_again(ledger: Ledger) -> None:
    ledger.dataset("g", limit=GaussianDP(1.0))
    account = ledger.account("g", limit=GaussianDP(0.5))
    for sigma in (10.0, 10.0, 30.0):
        account.release(Gaussian(sigma=sigma, l2_sensitivity=1.0), [1.0])
    account.permit(Gaussian(sigma=100.0, l2_sensitivity=1.0), times=4)
    again = ledger.recompute("g")
    assert again.charges == 4
    assert again.recorded == again.recomputed
    assert again.recorded.amounts[0] == Fraction(2, 100) + Fraction(1, 900) + Fraction(4, 10_000)
    assert again.sound
    assert again.composed is not None
    assert again.composed.as_gdp() == again.recorded.amounts[0]
    assert "4 charges" in again.summary()
    assert ledger.recompute("adult").charges == 0


def test_names_and_texts_are_checked(ledger: Ledger) -> None:
    account = ledger.account("adult")
    for wrong in ("two\nlines", "x" * 2000, 3):
        with pytest.raises(ParameterError):
            ledger.account("adult", name="b", purpose=wrong)  # type: ignore[arg-type]
        with pytest.raises(ParameterError):
            account.release(TENTH, [1.0], key=wrong)  # type: ignore[arg-type]
    assert ledger.spent("adult") == PureDP(0)


def test_create_never_overwrites_and_open_never_creates(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger.open(path)
    assert not path.exists()
    Ledger.open_or_create(path).close()
    before = Ledger.open_or_create(path).id
    with pytest.raises(LedgerError, match="already"):
        Ledger.create(path)
    assert Ledger.open(path).id == before
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(LedgerError, match="cannot create"):
        Ledger.create(tmp_path / "no folder" / "b")


def test_a_shared_account_cannot_be_closed_under_a_charge(ledger: Ledger) -> None:
    """An entry that was charged before the closing stays charged, settled or not."""
    account = ledger.account("adult", name="a", limit=PureDP(0.5))
    permit = account.permit(TENTH, times=2)
    ledger.close_account("a")
    assert ledger.spent("adult") == PureDP(Fraction(1, 5))
    assert permit.release([1.0]).shape == (1,)  # paid for
    assert ledger.verify().ok


def test_what_a_piece_of_work_did_not_spend_goes_back(ledger: Ledger) -> None:
    with ledger.temporary_account(
        "adult", name="work", limit=PureDP(0.75), purpose="counts", approver="R."
    ) as account:
        account.release(HALF, [1.0])
        assert ledger.remaining("adult") == PureDP(Fraction(1, 4))
    assert ledger.remaining("adult") == PureDP(Fraction(1, 2))
    opened, closed = ledger.history(account="work")[0], ledger.history(account="work")[-1]
    assert (opened.body["purpose"], opened.body["approver"], closed.kind) == ("counts", "R.", "close")
    with (
        pytest.raises(AdjacencyError),
        ledger.temporary_account("adult", name="other", adjacency="add_remove"),
    ):
        pytest.fail("the terms are others")


def test_work_that_fails_gives_back_what_is_left_unless_it_can_go_on(ledger: Ledger) -> None:
    def interrupted(name: str, resumable: bool) -> None:
        with ledger.temporary_account("adult", name=name, limit=PureDP(0.25), resumable=resumable) as account:
            account.release(TENTH, [1.0])
            raise KeyboardInterrupt

    for name, resumable in (("once", False), ("again", True)):
        with pytest.raises(KeyboardInterrupt):
            interrupted(name, resumable)
    assert ledger.remaining("adult") == PureDP(Fraction(1) - Fraction("0.1") - Fraction("0.25"))
    with ledger.temporary_account("adult", name="again", resumable=True) as account:
        assert len(account.journal.entries) == 1
    with pytest.raises(LedgerError, match="closed"), ledger.temporary_account("adult", name="again"):
        pytest.fail("it is over")
