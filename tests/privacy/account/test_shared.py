"""Shared accounts: equal shares, every one of them counted, and folds that see no row."""

from __future__ import annotations

import copy
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold

from holdfast.errors import BudgetExceeded, BudgetWarning, HoldfastError, LedgerError, ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import Account, ApproxDP, Gaussian, GaussianDP, PureDP
from holdfast.privacy._account import Witness
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.privacy._account.shared import (
    CHOSEN_BY_PAID_SCORES,
    FIRST_OF_SEVERAL,
    STEP_BETWEEN,
    FitShare,
    FittedRows,
    SharedAccount,
    unscored_fits,
)
from holdfast.release import Release

LIMIT = GaussianDP(1.0)
ROWS = FittedRows(9, columns=1)


def whole(**told: Any) -> Account:
    return Account(LIMIT, adjacency="replace", seed=1, **told)


def spend(share: Account) -> None:
    share.release(noise_within(share, l2_sensitivity=1.0, dimension=1).mechanism, [3.0])


@pytest.mark.parametrize("limit", [LIMIT, PureDP(1.0)])
def test_all_fits_and_scores_together_spend_the_account_and_no_more(limit: Any) -> None:
    account = Account(limit, adjacency="replace", seed=1)
    shared = account.shared_by(7, scores=0.3)
    left = [account.remaining().delta(0.0)]
    for _ in range(7):
        share = shared.next_fit(ROWS)
        spend(share)
        left.append(account.remaining().delta(0.0))
        assert left[-1] < left[-2]  # charged: nothing is fitted for nothing
        share.score(np.ones(100))
        assert share.release_parameters == {
            "fits": 7,
            "fits_paid": len(left) - 1,
            "scores_paid": len(left) - 1,
        }
    assert left[-1] < 0.6 * left[0]
    assert account.remaining().delta(0.0) < 1e-3 * left[0]
    with pytest.raises(BudgetExceeded, match="all 7 fits"):
        shared.next_fit(ROWS)


def test_a_release_states_the_promise_of_all_fits_and_says_how_many_were_paid() -> None:
    account = whole()
    shared = account.shared_by(4)
    share = shared.next_fit(ROWS)
    spend(share)
    with pytest.warns(Warning, match="seed"):
        made = Release.of(share, {"w": 1.0}, method="one of four")
    assert made.guarantee.curve.epsilon(1e-6) == account.promised.epsilon(1e-6)
    assert share.limit.epsilon(1e-6) < made.guarantee.curve.epsilon(1e-6)
    assert made.provenance.parameters == {"fits": 4, "fits_paid": 1, "scores_paid": 0}
    assert made.guarantee.assumptions == (FIRST_OF_SEVERAL,)  # its score, and three fits, are still to come
    assert FIRST_OF_SEVERAL.voids
    assert "fits_paid=1" in made.summary()


def test_a_score_is_noisy_paid_once_and_bounded_by_one_row() -> None:
    shared = whole().shared_by(2)
    share = shared.next_fit(ROWS)
    score = share.score(np.ones(50))
    assert score != 1.0
    with pytest.raises(BudgetExceeded, match="return_train_score=False"):
        share.score(np.ones(50))
    entry = shared.journal.entries[-1].charge
    assert entry.mechanism["l2_sensitivity"] == 1.0
    assert entry.label == "score of a fit"


def test_whatever_a_model_says_of_a_row_counts_for_at_most_one() -> None:
    """The sum that is released is over numbers in [0, 1], exact in float64 in every order."""
    account, seen = whole(), Witness(seed=1)
    account.watch(seen)
    wild = np.array([np.nan, np.inf, -5.0, 0.3, 1.0, 1e300])
    shared = account.shared_by(3)
    for values in (wild, wild[::-1], np.full(6, 1 / 3)):
        shared.next_fit(ROWS).score(values)
    first, second, third = (float(step.value[0]) for step in seen.seen.steps)
    assert first == second
    assert 0 <= first <= 6
    assert float(third * 2**20).is_integer()


def test_the_steps_of_a_pipeline_share_one_share_which_the_model_closes() -> None:
    shared = whole().shared_by(2)
    step = shared.next_fit(ROWS, closes=False)
    assert shared.next_fit(ROWS) is step
    assert shared.next_fit(ROWS) is not step


@pytest.mark.parametrize("rows", [10, 11])
def test_folds_are_cut_without_a_look_at_rows(rows: int) -> None:
    shared = whole().shared_by(4)
    folds = shared.folds(3)
    assert folds.get_n_splits() == 3
    cut = list(folds.split(np.zeros((rows, 2)), None))
    assert sorted(np.concatenate([held for _, held in cut]).tolist()) == list(range(rows))
    for kept, held in cut:
        assert sorted([*kept, *held]) == list(range(rows))
    labels = np.arange(rows) % 2
    for splitter in (StratifiedKFold(2), GroupKFold(2)):
        with pytest.raises(ParameterError, match="without labels and groups"):
            list(shared.folds(splitter).split(np.zeros((rows, 2)), labels, groups=labels))
    assert len(list(shared.folds(ShuffleSplit(5)).split(np.zeros((rows, 2)), labels))) == 5


def test_copies_without_the_folds_of_the_account_are_refused() -> None:
    shared = whole().shared_by(4)
    with pytest.raises(ParameterError, match=r"cv must be account\.folds"):
        shared.next_fit(ROWS, is_copy=True)
    assert shared._handed_out == 0
    list(shared.folds(2).split(np.zeros((9, 1))))
    assert isinstance(shared.next_fit(FittedRows(5, columns=1), is_copy=True), FitShare)
    assert isinstance(
        whole().shared_by(1).next_fit(ROWS, is_copy=True), FitShare
    )  # nothing to compare it with


def chosen(share: FitShare) -> Any:
    """What a release says of the choice."""
    return share.guarantee().assumptions


def ended(shared: SharedAccount, *, rows: int = 5, scored: bool) -> FitShare:
    share = shared.next_fit(FittedRows(rows, columns=1), is_copy=True)
    spend(share)
    share.record_fit()
    if scored:
        share.score(np.ones(4))
    return share


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_a_release_says_how_many_of_its_rivals_were_not_scored(scored: list[bool]) -> None:
    """For any order of paid and unpaid scores: the refit is clean if and only if every fit before it was scored."""
    shared = whole().shared_by(len(scored) + 1)
    list(shared.folds(2).split(np.zeros((9, 1))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for place, paid in enumerate(scored):
            share = ended(shared, scored=paid)
            missing = scored[:place].count(False)
            assert chosen(share) == ((unscored_fits(missing),) if missing else (FIRST_OF_SEVERAL,))
        last = ended(shared, rows=9, scored=False)
    missing = scored.count(False)
    assert chosen(last) == ((unscored_fits(missing),) if missing else (CHOSEN_BY_PAID_SCORES,))
    assert last.pays_for_scores is not any(scored)
    assert unscored_fits(1).voids
    assert not CHOSEN_BY_PAID_SCORES.voids
    assert bool(missing) == any(issubclass(one.category, BudgetWarning) for one in caught)


def test_the_fit_of_all_rows_is_scored_by_its_owner_and_no_other() -> None:
    shared = whole().shared_by(5)
    list(shared.folds(2).split(np.zeros((9, 1))))
    list(shared.folds(2).split(np.zeros((5, 1))))  # folds within a fold: their refit is a fit of a fold
    early = shared.next_fit(FittedRows(9, columns=1))
    assert early.pays_for_scores  # no fold was scored yet, so this is no refit
    assert chosen(early) == (FIRST_OF_SEVERAL,)
    shared.next_fit(FittedRows(4, columns=1)).score(np.ones(5))
    assert shared.next_fit(FittedRows(5, columns=1)).pays_for_scores
    assert not shared.next_fit(FittedRows(9, columns=1)).pays_for_scores
    assert (
        whole().shared_by(1).next_fit(ROWS).pays_for_scores
    )  # no folds, so nothing says that it is the last


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (np.zeros((9, 3)), 2),
        (pd.DataFrame({"a": [0.0] * 9, "b": 0.0}), 2),
        (pd.DataFrame({"a": [0.0] * 9}), 2),
    ],
)
def test_columns_that_change_after_the_folds_are_said(rows: Any, columns: int) -> None:
    """A choice of columns changes their number, and what comes out of a frame as an array has lost their names."""
    shared = whole().shared_by(2)
    list(shared.folds(2).split(rows))
    clean = shared.next_fit(FittedRows.of(rows[:5]))
    assert STEP_BETWEEN not in clean.guarantee().assumptions
    with pytest.warns(BudgetWarning, match="hand the pipeline over"):
        changed = shared.next_fit(FittedRows.of(np.zeros((5, columns))))
    assert STEP_BETWEEN in changed.guarantee().assumptions
    assert STEP_BETWEEN.voids


def test_a_step_that_paid_may_change_columns_and_says_how_many_come_next() -> None:
    shared = whole().shared_by(2)
    list(shared.folds(2).split(np.zeros((9, 4))))
    step = shared.next_fit(FittedRows(5, columns=4), closes=False)
    step.pass_on(2)
    assert STEP_BETWEEN not in shared.next_fit(FittedRows(5, columns=2)).guarantee().assumptions
    step = shared.next_fit(FittedRows(5, columns=4), closes=False)
    step.pass_on(2)
    with pytest.warns(BudgetWarning):  # another step came after it
        assert STEP_BETWEEN in shared.next_fit(FittedRows(5, columns=1)).guarantee().assumptions


def test_exchanged_labels_of_the_same_rows_are_refused() -> None:
    """As a permutation test does: one person would stand in two rows."""
    folds, rows, labels = whole().shared_by(4).folds(2), np.zeros((8, 1)), np.arange(8)
    list(folds.split(rows, labels))
    list(folds.split(rows, labels))
    list(folds.split(rows[:4], labels[:4]))
    list(folds.split(rows, labels))
    with pytest.raises(ParameterError, match="permutation test"):
        list(folds.split(rows, labels[::-1]))


def in_threads(work: Callable[[], object], threads: int) -> list[object]:
    """What each of so many threads, all of them begun, gives or raises."""
    begun, found = threading.Barrier(threads), []

    def one() -> None:
        begun.wait()
        try:
            found.append(work())
        except HoldfastError as error:
            found.append(error)

    workers = [threading.Thread(target=one) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found


def test_of_many_threads_as_many_are_given_a_share_as_there_are_and_each_its_own() -> None:
    account, stepped = whole(), threading.Barrier(5)
    shared = account.shared_by(5)

    def fit_and_score() -> str:
        step = shared.next_fit(ROWS, closes=False)
        stepped.wait()
        share = shared.next_fit(ROWS)
        assert share is step  # the pipeline of this thread, whatever others fit meanwhile
        spend(share)
        share.score(np.ones(40))
        return share._caps[-1][0]

    assert len({str(one) for one in in_threads(fit_and_score, 5)}) == 5
    refused = in_threads(lambda: shared.next_fit(ROWS), 3)
    assert all(isinstance(one, BudgetExceeded) for one in refused)
    assert len(account.journal.entries) == 10
    assert (shared._handed_out, shared._scores_paid) == (5, 5)


def test_no_copy_and_no_fork_is_given_a_share() -> None:
    shared = whole().shared_by(4)
    with pytest.raises(TypeError, match=r"n_jobs=1, or threads: with joblib\.parallel_config"):
        copy.deepcopy(shared)
    from holdfast.privacy._account import journal

    before, journal._PROCESS_MARK[0] = journal._PROCESS_MARK[0], object()
    try:
        with pytest.raises(LedgerError, match="n_jobs=1"):
            shared.next_fit(ROWS)
    finally:
        journal._PROCESS_MARK[0] = before


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ({"fits": 0}, "fits"),
        ({"fits": True}, "fits"),
        ({"fits": 2.5}, "fits"),
        ({"fits": 3, "scores": 0.0}, "scores"),
        ({"fits": 3, "scores": 1.0}, "scores"),
    ],
)
def test_bad_shares_are_refused(told: Any, match: str) -> None:
    with pytest.raises(HoldfastError, match=match):
        whole().shared_by(told.pop("fits"), **told)


def test_accounts_that_cannot_be_shared_say_why() -> None:
    plan = Account(
        ApproxDP(1.0, 1e-6), currency="plan", plan=[(Gaussian(sigma=9.0, l2_sensitivity=1.0), 1)], seed=1
    )
    with pytest.raises(HoldfastError, match="a plan is not split"):
        plan.shared_by(3)
    with pytest.raises(ParameterError, match="ResumableAccount"):
        ResumableAccount.of(whole(), "job").shared_by(3)
    with pytest.raises(ParameterError, match="PrivateSearch"):
        Account(LIMIT, adjacency="add_remove", seed=1).shared_by(3).folds(2)
    for bad in (1, True, "five"):
        with pytest.raises(ParameterError, match="folds"):
            whole().shared_by(3).folds(bad)


def test_a_script_that_runs_again_finds_its_shares_spent(tmp_path: Any) -> None:
    """In a ledger the shares have the names of before, and what they spent they have spent."""
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.dataset("d", limit=ApproxDP(2.0, 1e-6), currency="gdp", adjacency="replace")
        account = ledger.account("d", name="search", limit=ApproxDP(1.0, 1e-6))
        spend(account.shared_by(2).next_fit(ROWS))
        again = ledger.account("d", name="search", limit=ApproxDP(1.0, 1e-6)).shared_by(2)
        assert again.next_fit(ROWS).remaining().delta(0.0) < 1e-5
