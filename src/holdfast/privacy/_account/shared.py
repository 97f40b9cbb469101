"""One account for many fits: the cross-validations and searches of scikit-learn, every fit and every score paid.

Shares are passed, and whoever is handed one pays: nothing here looks at who calls. Every fit, the refit among them,
spends an equal share and no more. Folds are cut without looking at rows: a stratified fold, scikit-learn's default for
classes, moves other people's rows when one label changes, and a fit that hides one row hides nobody then. And the
scores that choose the winner are released with noise, from the share of the model that is scored: the better of two
settings by exact scores on real rows is a statement about these rows that nothing paid for. The account counts both, so
a release whose rivals were not scored by it says so, whatever compared them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._assumption import CHOICE, Assumption
from holdfast._caution import warn
from holdfast.errors import BudgetExceeded, BudgetWarning, LedgerError, ParameterError, require
from holdfast.noise._uniform import permutation
from holdfast.privacy._account.account import Account
from holdfast.privacy._account.journal import Process
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._account.request import require_something_left
from holdfast.privacy._account.unpaid_steps import STEPS, require_paid_steps
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._rounding import as_written

CHOSEN_BY_PAID_SCORES = Assumption(
    kind=CHOICE,
    text="settings were compared by the paid scores of this account, by no other answer about the rows",
)
FIRST_OF_SEVERAL = Assumption(
    kind=CHOICE,
    voids=True,
    text="one of several fits of a shared account, released before the account knew its score: whoever prefers it to "
    "the others by anything but their paid scores has told about the rows for nothing, and the promise does not hold",
)
STEP_BETWEEN = Assumption(
    kind=STEPS,
    voids=True,
    text="the columns that were fitted are not those that the folds were cut from, so a step changed them in between, "
    "and the account does not know that it paid; hand the pipeline over, shared.folds(3, estimator=pipeline), which "
    "looks at its steps",
)
ONE_PROCESS = (
    "the shares of an account are handed out by the process that shared it, never by a copy; nothing was charged here. "
    "Use n_jobs=1, or threads: with joblib.parallel_config(backend='threading'): search.fit(...)"
)


@dataclass(frozen=True)
class FittedRows:
    """What is public of rows that are fitted, or cut into folds: how many there are, and of which columns.

    Examples
    --------
    >>> FittedRows.of(np.zeros((5, 2)))
    FittedRows(count=5, columns=2, names=None)
    """

    count: int
    columns: int | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any) -> FittedRows:
        """Of a data frame, a matrix or nested lists."""
        shape = getattr(X, "shape", None)
        count = int(shape[0]) if shape else len(X)
        listed = getattr(X, "column_names", getattr(X, "columns", None))
        if listed is not None:
            names = tuple(str(name) for name in listed)
            return cls(count, len(names), names)
        return cls(count, int(shape[1]) if shape and len(shape) == 2 else None)


class Turn(threading.local):
    """What a thread is at: it fits and scores one model after the other."""

    share: FitShare | None = None
    """The share of a pipeline whose steps have spent some of it; its model closes it."""
    last: FitShare | None = None
    """That of the last model."""


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
        shared = object.__new__(cls)
        shared.__dict__.update(account.__dict__)
        shared.fits, shared.scores = int(fits), as_written(scores)
        shared._taken, shared._fitted, shared._scored = 0, 0, 0
        shared._folded, shared._steps = None, None
        shared._turn, shared._counting = Turn(), threading.Lock()
        shared._process = Process()
        return shared

    _taken: int
    """Shares that were handed out."""
    _fitted: int
    """Fits that came to their end."""
    _scored: int
    """Scores that were paid."""
    _folded: FittedRows | None
    """The largest table that folds were cut from; None before any were."""
    _steps: tuple[Assumption, ...] | None
    """What the steps of the pipeline rest on that was handed to `folds`; None where none was."""
    _turn: Turn
    _counting: threading.Lock
    _process: Process

    def next_fit(self, rows: FittedRows, *, closes: bool = True, is_copy: bool = False) -> FitShare:
        """The share of the fit that begins, or that goes on, if earlier steps of its pipeline have begun it.

        `closes` says that nothing comes after in this fit, `is_copy` that scikit-learn made the estimator, as
        whatever fits several does. A thread fits and scores one model after the other.
        """
        if not self._process.here:
            raise LedgerError(ONE_PROCESS)
        share = self._turn.share
        if share is None:
            if is_copy and self.fits > 1 and self._folded is None:
                raise ParameterError(
                    "cv must be account.folds(...) of the shared account where scikit-learn fits copies of an "
                    "estimator; its own default for classes looks at the labels, and one label moves other rows "
                    "between its folds. Nothing was charged"
                )
            with self._counting:
                if self._taken == self.fits:
                    raise BudgetExceeded(
                        f"all {self.fits} fits that this account was shared by are paid; nothing was drawn. A search "
                        "fits settings x folds times, and once more where it refits: shared_by(that number)"
                    )
                share = FitShare.of(self, rows, last=self._taken == self.fits - 1)
                self._taken += 1
            last = self._turn.last
            # Other threads may be about to score what they have fitted; once all rows are fitted, nobody is.
            if self.fits_without_score and (share._of_all_rows or (last is not None and not last._is_scored)):
                warn(unscored_fits(self.fits_without_score).text, BudgetWarning)
        share.receive(rows)
        self._turn.share = None if closes else share
        return share

    @property
    def fits_without_score(self) -> int:
        """How many fits came to their end and were not scored by this account."""
        return self._fitted - self._scored

    def folds(self, splits: Any = 5, *, estimator: Any = None) -> Folds:
        """What to give scikit-learn as `cv`: folds of a random order, or those of a splitter that sees no row.

        Parameters
        ----------
        splits : how many folds, or a splitter such as `KFold(3)` or `ShuffleSplit(3)`. One that asks for labels or
            groups is refused.
        estimator : the pipeline that is searched, where there is one. Each of its steps must pay, be public or be
            stateless, or is refused by name before anything is spent. Without it the account sees no steps, and a
            release says so where it can know that there were some.

        Examples
        --------
        >>> from holdfast.privacy import PureDP
        >>> shared = Account(PureDP(1.0)).shared_by(3)
        >>> [len(held) for _, held in shared.folds(3).split(np.zeros((9, 2)))]
        [3, 3, 3]
        """
        if not self.adjacency.count_is_public:
            raise ParameterError(
                f"folds need a public number of rows, got adjacency={self.adjacency.value!r}, where one row more "
                "moves the ends of all folds; use PrivateSearch, which assigns rows one by one"
            )
        folds = Folds(self, splits)
        if estimator is not None:
            self._steps = require_paid_steps(estimator)
        return folds

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(ONE_PROCESS)


def unscored_fits(number: int) -> Assumption:
    """What stands on a release beside fits that were not scored by their account, whatever compared them."""
    several = (
        f"{number} earlier fits of this account were" if number > 1 else "an earlier fit of this account was"
    )
    return Assumption(
        kind=CHOICE,
        voids=True,
        text=f"{several} not scored by it: if this fit was preferred by another score, a calibration, a threshold or a "
        "look at real rows, nothing paid for that, and the promise does not hold; leave scoring=None in a search, and "
        "give fits that nobody compares accounts of their own, account.split(...)",
    )


class FitShare(Account):
    """What one fit of several may spend. A release that it paid for states the promise of all of them together."""

    whole: SharedAccount
    _scoring: Account
    _next: FittedRows | None
    """What the next step or the model should be given, if nothing unknown comes in between; None: not known."""
    _last: bool
    _of_all_rows: bool
    """Whether it is a fit of all rows that folds were cut from."""
    _refit: bool
    """Whether it is one after scores of folds: no fold is left to score it."""
    _step_between: bool
    _is_fitted: bool
    _is_scored: bool

    @classmethod
    def of(cls, whole: SharedAccount, rows: FittedRows, *, last: bool) -> FitShare:
        """The next share: of the part for fits, and of the part for scores."""
        share = object.__new__(cls)
        share.__dict__.update(whole._child((1 - whole.scores) / whole.fits, whole._places).__dict__)
        share.whole = whole
        share._scoring = whole._child(whole.scores / whole.fits, whole._places)
        share._next = whole._folded if whole._steps is None else None
        share._last = last
        share._of_all_rows = whole._folded is not None and rows.count == whole._folded.count
        share._refit = share._of_all_rows and whole._scored > 0
        share._step_between = share._is_fitted = share._is_scored = False
        return share

    def receive(self, rows: FittedRows) -> None:
        """Rows as a step or the model was given them, held against what was expected."""
        due = self._next
        if due is not None and (due.columns != rows.columns or due.names not in (None, rows.names)):
            self._step_between = True
            warn(STEP_BETWEEN.text, BudgetWarning)

    def pass_on(self, columns: int) -> None:
        """A step that paid makes so many columns of what it was given, whatever their names."""
        if self._next is not None:
            self._next = FittedRows(self._next.count, columns)

    def record_fit(self) -> None:
        """The model of this share was fitted, its steps before."""
        if self.whole._turn.share is not self and not self._is_fitted:
            self._is_fitted, self.whole._turn.last = True, self
            with self.whole._counting:
                self.whole._fitted += 1

    @property
    def pays_for_scores(self) -> bool:
        """Whether a search may ask for the score: of the refit, which has no fold left, only its owner does."""
        return not self._refit

    def score(self, values: NDArray[np.float64]) -> float:
        """The mean of one number in [0, 1] per row, with noise; paid once for each fit.

        Rows may be replaced or blanked, not added: their number is public, and one of them moves the sum by 1.
        """
        require(self.adjacency.count_is_public and values.size >= 1, "rows", values.size, "1 or more, public")
        if self._is_scored:
            raise BudgetExceeded(
                "the score of this fit was paid for and given, once; nothing was drawn. In a search set "
                "return_train_score=False; for your own eyes score its predictions, as accuracy_score(y, "
                "model.predict(X)), which is not private"
            )
        self.record_fit()
        # Multiples of 2^-20 add up exactly in any order, so one row moves the sum by 1 and not by a rounding more.
        rounded = np.floor(np.clip(np.nan_to_num(values), 0.0, 1.0) * 2.0**20) * 2.0**-20
        require_something_left(self._scoring)
        noise = noise_within(self._scoring, l2_sensitivity=1.0, dimension=1)
        noisy = self._scoring.release(noise.mechanism, np.array([rounded.sum()]), label="score of a fit")
        self._is_scored = True
        with self.whole._counting:
            self.whole._scored += 1
        return float(noisy[0]) / values.size

    @property
    def share(self) -> str:
        """That of the whole: all its fits and scores are the history of a release."""
        return self.whole.share

    @property
    def release_parameters(self) -> Mapping[str, Any]:  # type: ignore[override] # the number of fits grows
        """How many fits and scores were paid so far, for the release."""
        whole = self.whole
        return {"fits": whole.fits, "fits_paid": whole._taken, "scores_paid": whole._scored}

    def guarantee(self, *, assumptions: Sequence[Assumption] = ()) -> Guarantee:
        """What all fits and scores of the account satisfy together: one is seldom published without the others."""
        return self.whole.guarantee(assumptions=(*assumptions, *self._choice(), *self._between()))

    def _choice(self) -> tuple[Assumption, ...]:
        """How this fit came to be preferred to the others of the account, as far as the account knows."""
        if self.whole.fits == 1:
            return ()
        rivals = self.whole.fits_without_score - (self._is_fitted and not self._is_scored)
        if rivals > 0:
            return (unscored_fits(rivals),)
        return (CHOSEN_BY_PAID_SCORES,) if self._refit or self._last else (FIRST_OF_SEVERAL,)

    def _between(self) -> tuple[Assumption, ...]:
        """What the steps before this fit rest on, as far as the account knows."""
        return (*(self.whole._steps or ()), *((STEP_BETWEEN,) if self._step_between else ()))


class Folds:
    """A splitter for scikit-learn that never sees a row: only how many there are, and of which columns."""

    def __init__(self, account: SharedAccount, splits: Any) -> None:
        whole = isinstance(splits, int | np.integer) and not isinstance(splits, bool)
        require(
            (whole and splits >= 2) or hasattr(splits, "get_n_splits"),
            "folds",
            splits,
            "a whole number >= 2, or a splitter such as ShuffleSplit(3)",
        )
        self.account, self.splits = account, splits
        self._given: tuple[Any, Any] | None = None
        """Rows and labels of the last call."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds."""
        return int(self.splits if not hasattr(self.splits, "get_n_splits") else self.splits.get_n_splits())

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Rows to fit and rows to score, by their places."""
        if self._given is not None and self._given[0] is X and self._given[1] is not y:
            raise ParameterError(
                "y must be the labels of the same rows in every call, got others: where labels are exchanged, as in a "
                "permutation test, one person stands in two rows, and no share pays for that. Nothing further was "
                "charged"
            )
        self._given = (X, y)
        table, known = FittedRows.of(X), self.account._folded
        if known is None or table.count > known.count:
            self.account._folded = table
        rows = table.count
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
