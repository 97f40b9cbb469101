"""One account for many fits: the cross-validations and searches of scikit-learn, every fit and every score paid.

Three things make the promise of such a search true, and each is refused where it cannot be seen. Every fit, the refit
among them, spends an equal share and no more. Folds are cut without looking at rows: a stratified fold, scikit-learn's
default for classes, moves other people's rows when one label changes, and a fit that hides one row hides nobody then.
And the scores that choose the winner are released with noise, from a share of their own: the better of two settings
by exact scores on real rows is a statement about these rows that nothing paid for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._assumption import CHOICE, Assumption
from holdfast.errors import BudgetExceeded, LedgerError, ParameterError, require
from holdfast.noise._uniform import permutation
from holdfast.privacy._account.account import Account
from holdfast.privacy._account.journal import Process
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._account.request import require_something_left
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._rounding import as_written

CHOSEN_BY_PAID_SCORES = Assumption(
    kind=CHOICE,
    text="settings were compared by the paid scores of this account, by no other answer about the rows",
)
ONE_PROCESS = (
    "the shares of an account are handed out by the process that shared it, never by a copy; nothing was charged here. "
    "Use n_jobs=1, or threads: with joblib.parallel_config(backend='threading'): search.fit(...)"
)
OWN_SCORE = ("_PassthroughScorer", "_passthrough_scorer")
"""What scikit-learn calls the scorer that asks the estimator for its own score."""


class Turn(threading.local):
    """What a thread is at in a model selection."""

    open: FitShare | None = None
    """The share of a pipeline whose steps have spent some of it; its model closes it."""
    unscored: bool = False
    """Whether the last fit waits for its score."""


class SharedAccount(Account):
    """An account that a declared number of fits spend, in equal shares; made by `Account.shared_by`."""

    fits: int
    scores: Fraction

    @classmethod
    def of(cls, account: Account, fits: int, *, scores: float) -> SharedAccount:
        """The account, for so many fits; `scores` is the part of it that pays for their scores."""
        whole = isinstance(fits, int | np.integer) and not isinstance(fits, bool)
        require(
            whole and fits >= 1, "fits", fits, "a whole number >= 1", "settings x folds, and 1 for the refit"
        )
        require(0 < scores < 1, "scores", scores, "in (0, 1)")
        if type(account) is not Account:
            raise ParameterError(
                f"only a whole account or a share of one is shared by fits, got a {type(account).__name__}"
            )
        account._fractions((1.0,))  # refuses a plan
        made = object.__new__(cls)
        made.__dict__.update(account.__dict__)
        made.fits, made.scores = int(fits), as_written(scores)
        made._taken, made._scored, made._cut = 0, 0, False
        made._turn, made._counting = Turn(), threading.Lock()
        made._process, made._thread = Process(), threading.get_ident()
        return made

    _taken: int
    _scored: int
    _cut: bool
    """Whether folds were cut for it."""
    _turn: Turn
    _counting: threading.Lock
    _process: Process
    _thread: int

    def next_fit(self, *, closes: bool, selecting: bool, scorer: Any = None) -> FitShare:
        """The share of the fit that begins, or that goes on, if earlier steps of its pipeline have begun it.

        `closes` says that nothing comes after in this fit, `selecting` that a search or cross-validation calls, and
        `scorer` what it scores by. A thread fits and scores one model after the other.
        """
        if not self._process.here:
            raise LedgerError(ONE_PROCESS)
        if selecting:
            self._require_paid_selection(scorer)
        share = self._turn.open
        if share is None:
            with self._counting:
                if self._taken == self.fits:
                    raise BudgetExceeded(
                        f"all {self.fits} fits that this account was shared by are paid; nothing was drawn. A search "
                        "fits settings x folds times, and once more where it refits: shared_by(that number)"
                    )
                share = FitShare.of(self)
                self._taken += 1
        self._turn.open = None if closes else share
        return share

    def folds(self, splits: Any = 5) -> Folds:
        """What to give scikit-learn as `cv`: folds of a random order, or those of a splitter that sees no row."""
        if not self.adjacency.count_is_public:
            raise ParameterError(
                f"folds need a public number of rows, got adjacency={self.adjacency.value!r}, where one row more "
                "moves the ends of all folds; use PrivateSearch, which assigns rows one by one"
            )
        return Folds(self, splits)

    def _require_paid_selection(self, scorer: Any) -> None:
        if not self._cut:
            raise ParameterError(
                "cv must be account.folds(...) of the shared account; scikit-learn's default for classes looks at the "
                "labels, and one label moves other rows between its folds. Nothing was charged"
            )
        # Of one thread an unpaid score is seen at its next fit. Of several threads each might have no next one.
        unseen = threading.get_ident() != self._thread and not _is_own_score(scorer)
        if self._turn.unscored or unseen:
            raise ParameterError(
                "scoring must be None in a search or cross-validation with an account: the estimator's own score is "
                "paid and noisy, any other tells about real rows for nothing. No further fit was charged"
            )

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(ONE_PROCESS)


def _is_own_score(scorer: Any) -> bool:
    """Whether scikit-learn was told no scoring, or none is asked for: the estimator's own score is paid.

    >>> from sklearn.metrics import get_scorer
    >>> _is_own_score(None), _is_own_score(get_scorer("accuracy"))
    (True, False)
    """
    if scorer is None:
        return True
    listed = getattr(scorer, "_scorers", scorer)
    several = listed.values() if isinstance(listed, Mapping) else [listed]
    return all(getattr(one, "__name__", type(one).__name__) in OWN_SCORE for one in several)


class FitShare(Account):
    """What one fit of several may spend. A release that it paid for states the promise of all of them together."""

    whole: SharedAccount
    _scoring: Account

    @classmethod
    def of(cls, whole: SharedAccount) -> FitShare:
        """The next share: of the part for fits, and of the part for scores."""
        made = object.__new__(cls)
        made.__dict__.update(whole._child((1 - whole.scores) / whole.fits, whole._places).__dict__)
        made.whole = whole
        made._scoring = whole._child(whole.scores / whole.fits, whole._places)
        return made

    def finished(self, *, to_be_scored: bool) -> None:
        """A step or a model was fitted; after the model of a cross-validation its score comes, from this account."""
        self.whole._turn.unscored = to_be_scored and self.whole._turn.open is not self

    def score(self, values: NDArray[np.float64]) -> float:
        """The mean of one number in [0, 1] per row, with noise; paid once for each fit.

        Rows may be replaced or blanked, not added: their number is public, and one of them moves the sum by 1.
        """
        require(self.adjacency.count_is_public and values.size >= 1, "rows", values.size, "1 or more, public")
        # Multiples of 2^-20 add up exactly in any order, so one row moves the sum by 1 and not by a rounding more.
        kept = np.floor(np.clip(np.nan_to_num(values), 0.0, 1.0) * 2.0**20) * 2.0**-20
        require_something_left(self._scoring)
        noise = noise_within(self._scoring, l2_sensitivity=1.0, dimension=1)
        noisy = self._scoring.release(noise.mechanism, np.array([kept.sum()]), label="score of a fit")
        with self.whole._counting:
            self.whole._scored += 1
        self.whole._turn.unscored = False
        return float(noisy[0]) / values.size

    @property
    def share(self) -> str:
        """That of the whole: all its fits and scores are the history of a release."""
        return self.whole.share

    @property
    def told(self) -> Mapping[str, Any]:  # type: ignore[override] # a number of fits grows, a plain account says nothing
        """How many fits and scores were paid so far, for the release."""
        whole = self.whole
        return {"fits": whole.fits, "fits_paid": whole._taken, "scores_paid": whole._scored}

    def guarantee(self, *, assumptions: Sequence[Assumption] = ()) -> Guarantee:
        """What all fits and scores of the account satisfy together: one is seldom published without the others."""
        return self.whole.guarantee(assumptions=(*assumptions, CHOSEN_BY_PAID_SCORES))


class Folds:
    """A splitter for scikit-learn that never sees a row: only how many there are."""

    def __init__(self, account: SharedAccount, splits: Any) -> None:
        whole = isinstance(splits, int | np.integer) and not isinstance(splits, bool)
        require(
            (whole and splits >= 2) or hasattr(splits, "get_n_splits"),
            "folds",
            splits,
            "a whole number >= 2, or a splitter such as ShuffleSplit(3)",
        )
        self.account, self.splits = account, splits

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds."""
        return int(self.splits if not hasattr(self.splits, "get_n_splits") else self.splits.get_n_splits())

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Rows to fit and rows to score, by their places."""
        self.account._cut = True
        rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        if hasattr(self.splits, "get_n_splits"):
            try:
                yield from self.splits.split(np.zeros((rows, 1)))
            except (TypeError, ValueError):
                raise ParameterError(
                    f"folds must be cut without labels and groups, got {type(self.splits).__name__}, which did not "
                    "work without; use a number, KFold or ShuffleSplit"
                ) from None
            return
        require(self.splits <= rows, "folds", self.splits, f"at most the number of rows, {rows}")
        order = permutation(self.account.source, rows)
        for held in np.array_split(order, self.splits):
            kept = np.ones(rows, dtype=bool)
            kept[held] = False
            yield np.flatnonzero(kept), np.sort(held)
