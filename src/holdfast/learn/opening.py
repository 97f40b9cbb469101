"""From an estimator's parameters to an account and a method; all of it public, all of it before any charge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.errors import BudgetExceeded, ParameterError, require
from holdfast.learn.methods.method import Learner
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit
from holdfast.privacy.curves.curve import ApproxDP, PrivacyCurve, PureDP

LEAST_LEFT = 1e-3


@dataclass(frozen=True, kw_only=True)
class Budget:
    """(epsilon, delta) for one fit; epsilon = inf is a fit without privacy."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        require(self.epsilon > 0, "epsilon", self.epsilon, "> 0", "use math.inf for a fit without privacy")
        require(0 <= self.delta < 1, "delta", self.delta, "in [0, 1)", "use 0 for pure privacy")

    @property
    def limit(self) -> PrivacyCurve:
        """The promise asked for."""
        return PureDP(self.epsilon) if self.delta == 0 else ApproxDP(self.epsilon, self.delta)

    def open(self, method: Learner, *, adjacency: Adjacency, unit: PrivacyUnit, seed: int | None) -> Account:
        """An account of this limit, in the currency that suits the method."""
        if self.delta == 0 and not method.pure:
            raise ParameterError(
                f"delta must be > 0 for method={method.name!r}, got delta={self.delta}; "
                "use method='output' or 'bolt_on' for pure privacy"
            )
        currency = "pure" if self.delta == 0 else method.currency
        return Account(self.limit, adjacency=adjacency, unit=unit, currency=currency, seed=seed)


def require_small_delta(limit: PrivacyCurve, public_count: int) -> None:
    """Refuse delta >= 1/n: it would permit the release of a random row as it is (soundness, section 0)."""
    point = limit.as_approximate()
    delta = 0.0 if point is None else float(point[1])
    require(
        delta * public_count < 1, "delta", delta, f"< 1 / n = {1 / public_count:g}", "use a smaller delta"
    )


def require_something_left(account: Account) -> None:
    """Refuse an account that is spent but for a rounding error: what it buys is noise and nothing else."""
    if account.remaining().delta(0.0) <= LEAST_LEFT * account.guarantee().curve.delta(0.0):
        raise BudgetExceeded("less than a thousandth of the account's limit remains; nothing was drawn")


def seed_of(random_state: Any) -> int | None:
    """None for secure noise, else a whole number: the run can be repeated and is not private."""
    if random_state is None:
        return None
    if isinstance(random_state, int | np.integer):
        require(bool(random_state >= 0), "random_state", random_state, "None or a whole number >= 0")
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))
