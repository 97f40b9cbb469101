"""One account for many fits: the cross-validations and searches of scikit-learn, every fit and every score paid.

The account passes a share to each fit, and whoever gets a share pays; nothing here looks at who calls. Every fit, the
refit among them, may spend an equal share and no more. Folds are cut without looking at the rows: in a stratified fold,
scikit-learn's default for classes, one changed label moves other people's rows, and a fit that hides one row then hides
nobody. The scores that choose the winner are released with noise, from the share of the model that is scored, since an
exact comparison of two settings on real rows would tell something about these rows that nothing paid for. The account
counts fits and scores, so a release whose rivals were not scored by the account says so, whatever compared them.
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
    """The public facts of rows that are fitted or cut into folds: their number and their columns.

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
        """The facts of a data frame, a matrix or nested lists."""
        shape = getattr(X, "shape", None)
        count = int(shape[0]) if shape else len(X)
        column_names = getattr(X, "column_names", getattr(X, "columns", None))
        if column_names is not None:
            names = tuple(str(name) for name in column_names)
            return cls(count, len(names), names)
        return cls(count, int(shape[1]) if shape and len(shape) == 2 else None)


class ThreadState(threading.local):
    """The shares that a thread works on; it fits and scores one model after the other."""

    share: FitShare | None = None
    """The share of a pipeline whose steps have spent some of it and whose model is still to be fitted."""
    last: FitShare | None = None
    """The share of the model that was fitted last."""


class SharedAccount(Account):
    """An account that a declared number of fits spend, in equal shares; made by `Account.shared_by`."""

    fits: int
    scores: Fraction

    @classmethod
    def of(cls, account: Account, fits: int, *, scores: float) -> SharedAccount:
        """The account, for so many fits; `scores` is the part of it that pays for their scores."""
        is_whole_number = isinstance(fits, int | np.integer) and not isinstance(fits, bool)
        require(
            is_whole_number and fits >= 1,
            "fits",
            fits,
            "a whole number >= 1",
            "settings x folds, and 1 for the refit",
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
        shared._handed_out, shared._fits_completed, shared._scores_paid = 0, 0, 0
        shared._folded_rows, shared._step_assumptions = None, None
        shared._thread, shared._counting = ThreadState(), threading.Lock()
        shared._process = Process()
        return shared

    _handed_out: int
    """How many shares were handed out."""
    _fits_completed: int
    """How many fits were completed."""
    _scores_paid: int
    """How many scores were paid."""
    _folded_rows: FittedRows | None
    """The largest table that folds were cut from; None before any were."""
    _step_assumptions: tuple[Assumption, ...] | None
    """The assumptions of the steps of the pipeline that was passed to `folds`; None if none was passed."""
    _thread: ThreadState
    _counting: threading.Lock
    _process: Process

    def next_fit(self, rows: FittedRows, *, closes: bool = True, is_copy: bool = False) -> FitShare:
        """The share of the fit that begins, or of the one whose earlier steps have begun it.

        `closes` says that this step is the last of the fit, `is_copy` that scikit-learn made the estimator, as it does
        when it fits several.
        """
        if not self._process.here:
            raise LedgerError(ONE_PROCESS)
        share = self._thread.share
        if share is None:
            if is_copy and self.fits > 1 and self._folded_rows is None:
                raise ParameterError(
                    "cv must be account.folds(...) of the shared account where scikit-learn fits copies of an "
                    "estimator; its own default for classes looks at the labels, and one label moves other rows "
                    "between its folds. Nothing was charged"
                )
            with self._counting:
                if self._handed_out == self.fits:
                    raise BudgetExceeded(
                        f"all {self.fits} fits that this account was shared by are paid; nothing was drawn. A search "
                        "fits settings x folds times, and once more where it refits: shared_by(that number)"
                    )
                share = FitShare.of(self, rows, last=self._handed_out == self.fits - 1)
                self._handed_out += 1
            last = self._thread.last
            # Other threads may still be about to score what they have fitted, but not once all rows are fitted.
            if self.fits_without_score and (share._of_all_rows or (last is not None and not last._is_scored)):
                warn(unscored_fits(self.fits_without_score).text, BudgetWarning)
        share.receive(rows)
        self._thread.share = None if closes else share
        return share

    @property
    def fits_without_score(self) -> int:
        """How many completed fits were not scored by this account."""
        return self._fits_completed - self._scores_paid

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
            self._step_assumptions = require_paid_steps(estimator)
        return folds

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(ONE_PROCESS)


def unscored_fits(number: int) -> Assumption:
    """The assumption of a release that has rivals which their account did not score, whatever compared them."""
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
    """The share that one of several fits may spend. Its release states the promise of all fits together."""

    whole: SharedAccount
    _scoring: Account
    _expected_rows: FittedRows | None
    """The rows that the next step or the model should get, unless an unknown step comes between; None if not known."""
    _last: bool
    _of_all_rows: bool
    """Whether it is a fit of all the rows that folds were cut from."""
    _refit: bool
    """Whether it follows scores of folds, so that no fold is left to score it."""
    _step_between: bool
    _is_fitted: bool
    _is_scored: bool

    @classmethod
    def of(cls, whole: SharedAccount, rows: FittedRows, *, last: bool) -> FitShare:
        """The next share, with its part for the fit and its part for the score."""
        share = object.__new__(cls)
        share.__dict__.update(whole._child((1 - whole.scores) / whole.fits, whole._share_numbers).__dict__)
        share.whole = whole
        share._scoring = whole._child(whole.scores / whole.fits, whole._share_numbers)
        share._expected_rows = whole._folded_rows if whole._step_assumptions is None else None
        share._last = last
        share._of_all_rows = whole._folded_rows is not None and rows.count == whole._folded_rows.count
        share._refit = share._of_all_rows and whole._scores_paid > 0
        share._step_between = share._is_fitted = share._is_scored = False
        return share

    def receive(self, rows: FittedRows) -> None:
        """Compare the rows that a step or the model was given with those that were expected."""
        expected = self._expected_rows
        if expected is not None and (
            expected.columns != rows.columns or expected.names not in (None, rows.names)
        ):
            self._step_between = True
            warn(STEP_BETWEEN.text, BudgetWarning)

    def pass_on(self, columns: int) -> None:
        """Expect so many columns, whatever their names, after a step that paid."""
        if self._expected_rows is not None:
            self._expected_rows = FittedRows(self._expected_rows.count, columns)

    def record_fit(self) -> None:
        """Count this fit as completed: the model of this share was fitted after its steps."""
        if self.whole._thread.share is not self and not self._is_fitted:
            self._is_fitted, self.whole._thread.last = True, self
            with self.whole._counting:
                self.whole._fits_completed += 1

    @property
    def pays_for_scores(self) -> bool:
        """Whether a search may ask for the score; the refit has no fold left to be scored on."""
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
            self.whole._scores_paid += 1
        return float(noisy[0]) / values.size

    @property
    def share(self) -> str:
        """The share of the whole account, since all its fits and scores are the history of a release."""
        return self.whole.share

    @property
    def release_parameters(self) -> Mapping[str, Any]:  # type: ignore[override] # the number of fits grows
        """The numbers of fits and scores that were paid so far, for the release."""
        whole = self.whole
        return {"fits": whole.fits, "fits_paid": whole._handed_out, "scores_paid": whole._scores_paid}

    def guarantee(self, *, assumptions: Sequence[Assumption] = ()) -> Guarantee:
        """The guarantee of all fits and scores of the account together; one is seldom published alone."""
        return self.whole.guarantee(
            assumptions=(*assumptions, *self._choice_assumptions(), *self._step_assumptions_of_fit())
        )

    def _choice_assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions about how this fit was preferred to the others, as far as the account knows."""
        if self.whole.fits == 1:
            return ()
        rivals = self.whole.fits_without_score - (self._is_fitted and not self._is_scored)
        if rivals > 0:
            return (unscored_fits(rivals),)
        return (CHOSEN_BY_PAID_SCORES,) if self._refit or self._last else (FIRST_OF_SEVERAL,)

    def _step_assumptions_of_fit(self) -> tuple[Assumption, ...]:
        """The assumptions of the steps before this fit, as far as the account knows."""
        return (*(self.whole._step_assumptions or ()), *((STEP_BETWEEN,) if self._step_between else ()))


class Folds:
    """A splitter for scikit-learn that sees the number of rows and their columns, and no row."""

    def __init__(self, account: SharedAccount, splits: Any) -> None:
        is_whole_number = isinstance(splits, int | np.integer) and not isinstance(splits, bool)
        require(
            (is_whole_number and splits >= 2) or hasattr(splits, "get_n_splits"),
            "folds",
            splits,
            "a whole number >= 2, or a splitter such as ShuffleSplit(3)",
        )
        self.account, self.splits = account, splits
        self._last_arguments: tuple[Any, Any] | None = None
        """The rows and labels of the last call."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return int(self.splits if not hasattr(self.splits, "get_n_splits") else self.splits.get_n_splits())

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """For each fold the indices of the rows to fit and of the rows to score."""
        if (
            self._last_arguments is not None
            and self._last_arguments[0] is X
            and self._last_arguments[1] is not y
        ):
            raise ParameterError(
                "y must be the labels of the same rows in every call, got others: where labels are exchanged, as in a "
                "permutation test, one person stands in two rows, and no share pays for that. Nothing further was "
                "charged"
            )
        self._last_arguments = (X, y)
        table, largest = FittedRows.of(X), self.account._folded_rows
        if largest is None or table.count > largest.count:
            self.account._folded_rows = table
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
        for scored_rows in np.array_split(order, self.splits):
            is_fitted = np.ones(rows, dtype=bool)
            is_fitted[scored_rows] = False
            yield np.flatnonzero(is_fitted), np.sort(scored_rows)
