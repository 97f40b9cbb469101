"""From parameters to an account; all of it public, all of it before any charge."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast.errors import ParameterError, require
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit
from holdfast.privacy.curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.synth.methods.method import SynthesisMethod


def limit_of(epsilon: float, delta: float) -> PrivacyCurve:
    """The promise asked for.

    >>> limit_of(1.0, 0.0)
    PureDP(epsilon=1)
    """
    require(0 < epsilon < float("inf"), "epsilon", epsilon, "> 0 and finite")
    require(0 <= delta < 1, "delta", delta, "in [0, 1)", "use 0 for pure privacy")
    return PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)


def open_account(
    limit: PrivacyCurve, method: SynthesisMethod, *, adjacency: Adjacency, unit: PrivacyUnit, seed: int | None
) -> Account:
    """An account of this limit, in the currency that suits the method."""
    pure = limit.as_pure() is not None
    if pure and not method.pure:
        raise ParameterError(
            f"delta must be > 0 for method={method.name!r}, got delta=0; use method='auto' for pure privacy"
        )
    currency = "pure" if pure else method.currency
    return Account(limit, adjacency=adjacency, unit=unit, currency=currency, seed=seed)


def seed_of(random_state: Any) -> int | None:
    """None for secure noise, else a whole number: the run can be repeated and is not private."""
    if random_state is None:
        return None
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    require(whole and random_state >= 0, "random_state", random_state, "None or a whole number >= 0")
    return int(random_state)


def require_currency(account: Account, method: SynthesisMethod) -> None:
    """Refuse an account that cannot pay for a method's selections, before its measurements are paid for."""
    if account.currency.name == "gdp" and method.currency != "gdp":
        raise ParameterError(
            f"currency must be 'zcdp' for method={method.name!r}, got an account of currency 'gdp', in which "
            "selections have no cost; open one of 'zcdp', or use method='gaussian'"
        )
