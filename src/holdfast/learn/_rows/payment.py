"""Who pays for a fit. An account is passed in by the caller, and the fitted object knows by itself who paid for it.

Nothing here looks at who calls, and no list of objects is kept beside them. What scikit-learn does with an estimator is
told by the estimator: whatever fits several (a search, a cross-validation, an ensemble, a calibration) asks it for
copies by `clone`, and a copy knows that it is one. It is not given a whole account, which its first fit would spend;
without an account its release says that the promise covers this one fit. A score is paid by the share that paid for the
fit.
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

ROWS_AS_COLLECTED = Assumption(
    kind=READING_OF_ROWS,
    subject="rows",
    text="rows as collected: nothing that read them came before, such as a scaling, an imputation or a choice of "
    "columns that was fitted to them, and none stands there twice",
)
"""Of every array: where it came from cannot be seen in it."""
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
    """An estimator or a step that pays for what it reads, and knows by itself who paid for its last fit."""

    payment: ClassVar[str] = PAID
    _is_copy: bool = False
    """Whether scikit-learn's `clone` made it."""
    _payer: Account | None = None
    """The account, or the share of one, that paid for the last fit; what was copied or stored does not know it."""
    _paid_alone: bool = False
    """Whether the last fit paid for itself, without an account."""

    def __sklearn_clone__(self) -> Self:
        copy: Self = super().__sklearn_clone__()  # type: ignore[misc]
        copy._is_copy = True
        return copy

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_payer"}

    def _share_of(self, account: Account, X: Any, *, closes: bool = True) -> Account:
        """What this fit may spend: all that an account has, or one share where several fits share it.

        A step before the model of a pipeline does not close its share, which the model goes on with.
        """
        if isinstance(account, SharedAccount):
            # Folds are cut from arrays, never from a Table.
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

    def _chosen_alone(self, X: Any) -> tuple[Assumption, ...]:
        """What the release of a fit without an account leaves out; whoever fits again is warned that this adds up."""
        again = self._paid_alone
        self._paid_alone = True
        if isinstance(X, Table):
            again = again or X.fitted_alone
            X.fitted_alone = True
        if again or self._is_copy:
            warn(SEVERAL_FITS, BudgetWarning)
        return (ONE_OF_SEVERAL,) if self._is_copy else ()

    def _paid_by(self, account: Account) -> None:
        """The fit is done, and this account paid for it."""
        self._payer = account
        if isinstance(account, FitShare):
            account.finished()

    @property
    def _score_share(self) -> FitShare | None:
        """The share that pays for a score of this model; None where its owner alone may ask for one."""
        payer = self._payer
        return payer if isinstance(payer, FitShare) and payer.pays_for_scores else None


def own_copy(estimator: Any) -> Any:
    """A copy of an estimator or Pipeline for whoever pays for each of its fits."""
    copy = clone(estimator)
    for part in (copy, *(step for _, step in getattr(copy, "steps", ()))):
        if isinstance(part, PaidFit):
            part._is_copy = False
    return copy


def payer_of(fitted: Any) -> tuple[int, str] | None:
    """The journal, as a number that no other has, and the share that paid for a fitted object; None: not known."""
    payer = fitted._payer if isinstance(fitted, PaidFit) else None
    return None if payer is None else (id(payer.journal), payer.share)


def limit_to_spend(
    epsilon: float, delta: float | None, account: Account | None, *, count: int | None = None
) -> PrivacyCurve | None:
    """What a fit may spend; None for a fit without privacy. `count` is a public number of units, where it is known."""
    if account is not None:
        return account.remaining()
    return None if epsilon == math.inf else limit_of(epsilon, delta, count=count)
