"""PaidFit: which account pays for the fit of an estimator or a step, and for scores of the fitted model.

The caller passes the account to `fit`, and the fitted object stores it. Whatever fits several estimators in
scikit-learn (a search, a cross-validation, an ensemble, a calibration) makes copies of one by `clone`, and a copy is
marked as such. A copy is not given a whole account, which its first fit would spend: it needs a share of one. A copy
that is fitted without an account says in its release that the promise covers this one fit only. Scores of a fitted
model are paid from the share that paid for its fit.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

from sklearn.base import clone

from holdfast._assumption import CHOICE, READING_OF_ROWS, Assumption
from holdfast._caution import warn
from holdfast.data._table import Table
from holdfast.errors import BudgetWarning, ParameterError
from holdfast.privacy._account import Account
from holdfast.privacy._account.request import limit_of
from holdfast.privacy._account.shared import FitShare, FittedRows, SharedAccount
from holdfast.privacy._account.unpaid_steps import PAID
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.release import Release

ROWS_AS_COLLECTED = Assumption(
    kind=READING_OF_ROWS,
    subject="rows",
    text="rows as collected: nothing that read them came before, such as a scaling, an imputation or a choice of "
    "columns that was fitted to them, and none stands there twice",
)
"""The assumption behind every fit to an array, since an array does not show how it was made."""
ONE_OF_SEVERAL = Assumption(
    kind=CHOICE,
    voids=True,
    text="fitted without an account as a copy that scikit-learn made of an estimator, as searches, cross-validations "
    "and ensembles do: the promise covers this one fit, neither the others nor the scores that chose it",
)
SEVERAL_FITS = (
    "the same estimator, a copy of it, or the same table is fitted several times without an account: every fit spends "
    "its epsilon again, a cross-validation or grid search once per fit, and the promise of one release covers one fit "
    "only; pass account=... to fit, which keeps the sum"
)


class PaidFit:
    """Base class of estimators and steps, which pay for the rows they read and store who paid for the last fit."""

    payment: ClassVar[str] = PAID
    _is_copy: bool = False
    """Whether scikit-learn's `clone` made this object."""
    _payer: Account | None = None
    """The account, or the share of one, that paid for the last fit; neither copied nor stored in files."""
    _fitted_without_account: bool = False
    """Whether a fit has spent its own epsilon, without an account."""

    @property
    def fitted_release(self) -> Release[Any] | None:
        """The release of the last fit; None before a fit, and after one without privacy."""
        release: Release[Any] | None = vars(self).get("release_")
        return release

    @property
    def fitted_model(self) -> Any:
        """The model of the last fit, a `LinearModel` or an `AdditiveModel`; None before a fit, and for steps."""
        return vars(self).get("model_")

    def __sklearn_clone__(self) -> Self:
        copy: Self = super().__sklearn_clone__()  # type: ignore[misc]
        copy._is_copy = True
        return copy

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_payer"}

    def _share_of(self, account: Account, X: Any, *, closes: bool = True) -> Account:
        """The account itself, or the next share of one that several fits share.

        A step before the model of a pipeline does not close its share, because the model goes on to spend from it.
        """
        if isinstance(account, SharedAccount):
            # A Table is never cut into folds, an array may be a fold of a larger one.
            rows = FittedRows(X.n_public or 0) if isinstance(X, Table) else FittedRows.of(X)
            return account.next_fit(rows, closes=closes, is_copy=self._is_copy)
        if self._is_copy:
            raise ParameterError(
                "account must be shared where scikit-learn fits copies of an estimator, as in a search or "
                "cross-validation, or the first would spend all of it: shared = account.shared_by(settings x folds, "
                "and 1 for the refit), then cv=shared.folds(...) and account=shared; shared_by(1) for a single fit of "
                "a copy. Nothing was charged"
            )
        return account

    def _assumptions_without_account(self, X: Any) -> tuple[Assumption, ...]:
        """Assumptions for the release of a fit without an account, and a warning if this is not the first such fit."""
        repeated = self._fitted_without_account
        self._fitted_without_account = True
        if isinstance(X, Table):
            repeated = repeated or X.fitted_alone
            X.fitted_alone = True
        if repeated or self._is_copy:
            warn(SEVERAL_FITS, BudgetWarning)
        return (ONE_OF_SEVERAL,) if self._is_copy else ()

    def _record_payer(self, account: Account) -> None:
        """Store that this account paid for the fit, which is done."""
        self._payer = account
        if isinstance(account, FitShare):
            account.record_fit()

    @property
    def _score_share(self) -> FitShare | None:
        """The share of a shared account that pays for scores of this model; None where scores are not paid for."""
        payer = self._payer
        return payer if isinstance(payer, FitShare) and payer.pays_for_scores else None


def own_copy(estimator: Any) -> Any:
    """A copy of an estimator or Pipeline that is not marked as one, for searches of ours that pay for each fit."""
    copy = clone(estimator)
    for part in (copy, *(step for _, step in getattr(copy, "steps", ()))):
        if isinstance(part, PaidFit):
            part._is_copy = False
    return copy


def payer_of(fitted: Any) -> tuple[int, str] | None:
    """What paid for a fitted object: the identity of its account's journal, and the share's name; None if unknown."""
    payer = fitted._payer if isinstance(fitted, PaidFit) else None
    return None if payer is None else (id(payer.journal), payer.share)


def limit_to_spend(
    epsilon: float, delta: float | None, account: Account | None, *, count: int | None = None
) -> PrivacyCurve | None:
    """The budget of a fit; None for a fit without privacy. `count` is the public number of units, if it is known."""
    if account is not None:
        return account.remaining()
    return None if epsilon == math.inf else limit_of(epsilon, delta, count=count)
