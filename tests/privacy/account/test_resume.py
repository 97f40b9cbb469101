"""Killed and resumed: the same values, paid once; other rows never get an old certificate."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.data import Categorical, Schema, open_table
from holdfast.errors import BudgetExceeded, LedgerError, NotPrivateWarning, ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import ZCDP, ApproxDP, Gaussian
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import fractions_of_rest
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.synth import Synthesizer
from holdfast.synth._certificate import certify
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._workload import Workload

SCHEMA = Schema([Categorical(name, ["0", "1", "2"]) for name in "abc"])
FRAME = {
    name: np.random.default_rng(place).integers(0, 3, 300).astype(str) for place, name in enumerate("abc")
}


PAIRS = Workload.of([("a", "b"), ("b", "c")])


class Killed(BaseException):
    """The end of a process."""


def open_ledger(path: Path) -> Ledger:
    if path.exists():
        return Ledger.open(path)
    ledger = Ledger.create(path)
    ledger.dataset("clinic", limit=ApproxDP(1.0, 1e-6), currency="zcdp")
    return ledger


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_a_killed_run_that_is_resumed_pays_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    path, drawn = tmp_path / "budget.db", 0
    sample = Gaussian.sample

    def dies(self: Gaussian, value: Any, source: Any) -> Any:
        nonlocal drawn
        drawn += 1
        if drawn == stop_after:
            raise Killed
        return sample(self, value, source)

    made = Synthesizer(method="independent", key="job-1", workload=PAIRS)
    with open_ledger(path) as ledger:
        account = ledger.account("clinic", name="synth", seed=None)
        monkeypatch.setattr(Gaussian, "sample", dies)
        # A process that is killed settles nothing: its charge stays, its value was never drawn.
        monkeypatch.setattr(
            type(account.journal), "settle", _settled_unless_abandoned(type(account.journal).settle)
        )
        with pytest.raises(Killed):
            made.fit(open_table(FRAME, SCHEMA), account=account)
        monkeypatch.undo()
        before = account.spent()
    with open_ledger(path) as ledger:
        account = ledger.account("clinic", name="synth")
        charges = len(account.journal.entries)
        made.fit(open_table(FRAME, SCHEMA), account=account)
        after = len(account.journal.entries)
    with open_ledger(path) as ledger:
        account = ledger.account("clinic", name="synth")
        again = Synthesizer(method="independent", key="job-1", workload=PAIRS).fit(
            open_table(FRAME, SCHEMA), account=account
        )
        assert len(account.journal.entries) == after
        assert again.sample().equals(made.sample())
        assert again.certificate_ == made.certificate_
    assert charges == stop_after
    # One charge for the counts, one for the largest error, one for the groups' maxima.
    assert after == 3
    assert before.as_zcdp() is not None


def _settled_unless_abandoned(settle: Any) -> Any:
    def wrapped(self: Any, number: int, state: str, payload: str | None) -> Any:
        return None if state == "abandoned" else settle(self, number, state, payload)

    return wrapped


def test_without_a_key_a_second_run_pays_again_or_is_refused() -> None:
    account = Account(ApproxDP(1.0, 1e-6), currency="zcdp", seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        Synthesizer(method="independent").fit(open_table(FRAME, SCHEMA), account=account)
        with pytest.raises(BudgetExceeded):
            Synthesizer(method="independent").fit(open_table(FRAME, SCHEMA), account=account)


def test_what_remains_is_what_remained_then() -> None:
    account, noise = Account(ZCDP(1.0), seed=1), Gaussian(sigma=1.0, l2_sensitivity=1.0)
    first = ResumableAccount.of(account, "job")
    readings = [first.remaining().as_zcdp()]
    for _ in range(2):
        first.release(noise, [1])
        readings.append(first.remaining().as_zcdp())
    second = ResumableAccount.of(account, "job")
    assert second.remaining().as_zcdp() == readings[0]
    second.release(noise, [1])
    assert second.remaining().as_zcdp() == readings[1]
    other = ResumableAccount.of(account, "another")
    assert other.remaining().as_zcdp() == 0


def test_a_permit_is_drawn_use_by_use() -> None:
    account, noise = Account(ZCDP(1.0), seed=1), Gaussian(sigma=2.0, l2_sensitivity=1.0)
    first = ResumableAccount.of(account, "job").permit(noise, times=3)
    values = [float(first.release([1.0])[0]) for _ in range(2)]
    second = ResumableAccount.of(account, "job").permit(noise, times=3)
    assert [float(second.release([1.0])[0]) for _ in range(2)] == values
    second.release([1.0])
    with pytest.raises(BudgetExceeded):
        second.release([1.0])
    assert account.spent().as_zcdp() == ZCDP(3 / 8).as_zcdp()
    with pytest.raises(BudgetExceeded):
        ResumableAccount.of(account, "other").permit(noise, times=100)


def test_a_value_that_is_refused_takes_no_use_of_a_permit() -> None:
    account, noise = Account(ZCDP(1.0), seed=1), Gaussian(sigma=2.0, l2_sensitivity=1.0)
    permit = ResumableAccount.of(account, "job").permit(noise, times=1)
    with pytest.raises(ParameterError):
        permit.release([[1.0], [2.0, 3.0]])
    assert account.spent().as_zcdp() == 0
    permit.release([1.0])


def _keys(account: Account) -> list[str | None]:
    return [entry.charge.key for entry in account.journal.entries]


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        (None, ["1", "2", "0/1", "0/2", "1/1", "1/named", None]),
        (
            "job",
            [
                "job/0",
                "job/1",
                "job/0/0",
                "job/0/1",
                "job/1/0",
                "job/1/named",
                "job/2",
            ],
        ),
    ],
    ids=["without a key", "with a key"],
)
def test_the_keys_that_ledgers_hold_are_as_they_were(key: str | None, keys: list[str | None]) -> None:
    account, noise = Account(ZCDP(10.0), seed=1), Gaussian(sigma=2.0, l2_sensitivity=1.0)
    job = ResumableAccount.of(account, key)
    job.release(noise, [1])
    job.release(noise, [1])
    left, right = job.split(0.5, 0.5)
    left.release(noise, [1])
    left.release(noise, [1])
    right.release(noise, [1])
    right.release(noise, [1], key="named")
    job.permit(noise, times=1).release([1])
    assert _keys(account) == keys


def test_without_a_key_the_account_is_one_job() -> None:
    account, noise = Account(ZCDP(1.0), seed=1), Gaussian(sigma=1.0, l2_sensitivity=1.0)
    drawn = ResumableAccount.of(account, None).release(noise, [1])
    second = ResumableAccount.of(account, None)
    assert second.remaining() == ZCDP(1.0)
    assert second.release(noise, [1]) == drawn
    assert second.remaining() == account.remaining() == ZCDP(0.5)
    assert second.source is account.source


def test_a_permit_without_a_key_is_paid_again_and_only_if_it_fits() -> None:
    account, noise = Account(ZCDP(1.0), seed=1), Gaussian(sigma=1.0, l2_sensitivity=1.0)
    for _ in range(2):
        job = ResumableAccount.of(account, None)
        assert job.remaining() == ZCDP(1.0)  # as the first run saw it
        job.permit(noise, times=1).release([1])
    assert account.remaining() == ZCDP(0.0)
    with pytest.raises(BudgetExceeded):
        ResumableAccount.of(account, None).permit(noise, times=1)


def test_a_certificate_is_resumed_without_a_key_too() -> None:
    data, workload = ExactCounts(open_table(FRAME, SCHEMA)), PAIRS
    account = Account(ApproxDP(1.0, 1e-6), currency="zcdp", seed=1)
    rows = CodedRows(domain=SCHEMA.domain, codes=np.zeros((10, 3), dtype=np.int64))
    made = [certify(data, rows, workload, account=ResumableAccount.of(account, None)) for _ in range(2)]
    assert made[0] == made[1]
    assert len(account.journal.entries) == 2


def test_a_resumed_job_that_asks_something_else_is_refused() -> None:
    account = Account(ZCDP(1.0), seed=1)
    ResumableAccount.of(account, "job").release(Gaussian(sigma=2.0, l2_sensitivity=1.0), [1])
    with pytest.raises(LedgerError):
        ResumableAccount.of(account, "job").release(Gaussian(sigma=3.0, l2_sensitivity=1.0), [1])


def test_other_rows_never_get_an_old_certificate() -> None:
    data, workload = ExactCounts(open_table(FRAME, SCHEMA)), Workload.of([("a", "b")])
    account = Account(ApproxDP(1.0, 1e-6), currency="zcdp", seed=1)
    domain = SCHEMA.domain
    first, second = (CodedRows(domain=domain, codes=np.full((10, 3), code)) for code in (0, 1))
    certify(data, first, workload, account=ResumableAccount.of(account, "job"))
    with pytest.raises(BudgetExceeded):
        certify(data, second, workload, account=ResumableAccount.of(account, "job"))


def test_shares_are_of_what_is_left() -> None:
    account = Account(ZCDP(1.0), seed=1)
    account.release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [1])
    work, check = account.split(*fractions_of_rest(account, 0.9, 0.1))
    assert float(work.remaining().as_zcdp() or 0) == pytest.approx(0.45)
    assert float(check.remaining().as_zcdp() or 0) == pytest.approx(0.05)


def test_a_key_is_bound_to_what_its_job_asks() -> None:
    account, noise = Account(ZCDP(1.0), seed=1), Gaussian(sigma=2.0, l2_sensitivity=1.0)
    first = ResumableAccount.of(account, "job", about="aa").release(noise, [3])
    assert ResumableAccount.of(account, "job", about="aa").release(noise, [3]) == first
    with pytest.raises(ParameterError, match="belongs to a job with another"):
        ResumableAccount.of(account, "job", about="bb")
    ResumableAccount.of(account, "other", about="bb").release(noise, [3])
    assert [entry.charge.key for entry in account.journal.entries] == ["job#aa/0", "other#bb/0"]


def test_a_key_that_a_job_used_without_saying_what_it_asks_is_refused_to_one_that_does() -> None:
    account, noise = Account(ZCDP(1.0), seed=1), Gaussian(sigma=2.0, l2_sensitivity=1.0)
    ResumableAccount.of(account, "job").release(noise, [3])
    with pytest.raises(ParameterError, match="belongs to a job with another"):
        ResumableAccount.of(account, "job", about="aa")
    assert [entry.charge.key for entry in account.journal.entries] == ["job/0"]
