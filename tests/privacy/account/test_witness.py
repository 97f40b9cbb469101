"""What a witness sees, of whichever account; and that what it saw is never called private."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.errors import BudgetExceeded, NotPrivateWarning, ParameterError
from holdfast.ledger import Ledger
from holdfast.noise._uniform import permutation
from holdfast.privacy import ZCDP, Account, Gaussian, Laplace, PureDP, Witness
from holdfast.privacy._account import Draw, replay_tape
from holdfast.privacy._account.parallel import accounts_for_parts
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.privacy._account.witness import TapeEnded
from holdfast.release._release import Release

NOISE = Gaussian(sigma=10.0, l2_sensitivity=1.0)


def watched(limit: Any = None, **options: Any) -> tuple[Account, Witness]:
    account, witness = Account(ZCDP(1.0) if limit is None else limit, **options), Witness(seed=3)
    account.watch(witness)
    return account, witness


def values(witness: Witness) -> list[float]:
    return [float(np.ravel(step.value)[0]) for step in witness.seen.steps]


def test_releases_and_permits_are_seen_in_order() -> None:
    account, witness = watched()
    first = account.release(NOISE, [1.0])
    permit = account.permit(NOISE, times=2)
    second, third = permit.release([2.0]), permit.release([3.0])
    assert values(witness) == [1.0, 2.0, 3.0]
    assert [step.output for step in witness.seen.steps] == [first, second, third]
    assert [step.number for step in witness.seen.steps] == [0, 1, 2]
    assert witness.seen.order == ["charge", "draw", "charge", "draw", "draw"]
    assert [charge.times for charge in witness.seen.charges] == [1, 2]


def test_shares_parts_and_resumed_jobs_are_seen() -> None:
    account, witness = watched()
    for place, share in enumerate(account.split(0.25, 0.5)):
        share.release(NOISE, [float(place)])
    for place, part in enumerate(accounts_for_parts(account, parts=2, label="halves")):
        part.release(NOISE, [10.0 + place])
    assert values(witness) == [0.0, 1.0, 10.0, 11.0]
    account, witness = watched()
    job = ResumableAccount.of(account, "job")
    job.release(NOISE, [5.0])
    job.permit(NOISE, times=1).release([6.0])
    ResumableAccount.of(account, "job").release(NOISE, [7.0])  # given back, not drawn
    assert values(witness) == [5.0, 6.0]


@pytest.mark.parametrize("key", [None, "job"])
def test_a_resumed_account_can_be_watched_itself(key: str | None) -> None:
    job, witness = ResumableAccount.of(Account(ZCDP(1.0)), key), Witness()
    job.watch(witness)
    job.release(NOISE, [5.0])
    assert values(witness) == [5.0]
    assert job.journal.entries[0].charge.noise == "seeded"


def test_accounts_of_a_ledger_are_seen(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "study.ledger")
    ledger.dataset("clinic", limit=ZCDP(1.0), adjacency="replace")
    account, witness = ledger.account("clinic", limit=ZCDP(1.0), name="study"), Witness()
    account.watch(witness)
    account.release(NOISE, [4.0])
    assert values(witness) == [4.0]
    assert account.journal.entries[0].charge.noise == "seeded"


def test_what_a_witness_saw_is_not_private() -> None:
    account, witness = watched()
    drawn = account.release(NOISE, [4.25])
    with pytest.warns(NotPrivateWarning, match="not private"):
        release = Release.of(account, drawn, method="test")
    assert release.provenance.noise == "seeded"
    assert "4.25" not in repr(vars(release))
    assert witness.seen.steps[0].value == 4.25


def test_a_tape_takes_the_place_of_noise_and_coins_stay() -> None:
    account, witness = watched()
    outputs = [account.release(NOISE, [float(place)]) for place in range(3)]
    coins = permutation(account.source, 20).tolist()
    again, replay = Account(ZCDP(1.0)), Witness(seed=3, tape=replay_tape(outputs))
    again.watch(replay)
    assert [again.release(NOISE, [float(100 + place)]) for place in range(3)] == outputs
    assert values(replay) == [100.0, 101.0, 102.0]
    assert permutation(again.source, 20).tolist() == coins
    with pytest.raises(TapeEnded, match="step 4"):
        again.release(NOISE, [0.0])
    assert len(replay.seen.steps) == 3
    assert len(witness.seen.charges) == 3


def test_a_tape_may_be_any_rule() -> None:
    account, witness = (
        Account(PureDP(1.0)),
        Witness(tape=lambda step: np.full(np.shape(step.value), step.number)),
    )
    account.watch(witness)
    for _ in range(2):
        account.release(Laplace(scale=4.0, l1_sensitivity=1.0), [0.5])
    assert [step.output.tolist() for step in witness.seen.steps] == [[0], [1]]


def test_a_refused_charge_is_not_seen() -> None:
    account, witness = watched(PureDP(0.1))
    with pytest.raises(BudgetExceeded, match="nothing was charged"):
        account.release(Laplace(scale=1.0, l1_sensitivity=1.0), [0.5])
    assert witness.seen.order == []


def test_only_a_witness_can_watch() -> None:
    with pytest.raises(ParameterError, match="witness must be a Witness"):
        Account(ZCDP(1.0)).watch(np.random)  # type: ignore[arg-type]


def test_noise_and_coins_are_two_streams() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet, drawn = Witness(seed=5), Witness(seed=5)
        account = Account(ZCDP(1.0))
        account.watch(drawn)
        account.release(NOISE, [1.0])
    assert quiet.words(4).tolist() == drawn.words(4).tolist()
    assert isinstance(drawn.seen.steps[0], Draw)
