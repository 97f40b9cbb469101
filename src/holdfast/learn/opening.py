"""From an estimator's parameters to an account and a method; all of it public, all of it before any charge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.errors import BudgetExceeded, ParameterError, require
from holdfast.learn.method import Method
from holdfast.learn.methods import METHODS
from holdfast.learn.problem import Problem
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit
from holdfast.privacy.curve import ApproxDP, PrivacyCurve, PureDP

LEAST_LEFT = 1e-3


def find_method(name: str) -> Method:
    """The method of that name.

    >>> find_method("output").paper
    'CMS11'
    """
    known = {method.name: method for method in METHODS}
    require(name in known, "method", name, "'auto' or one of " + ", ".join(sorted(known)))
    return known[name]


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

    def open(self, method: Method, *, adjacency: Adjacency, unit: PrivacyUnit, seed: int | None) -> Account:
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


def default_penalty(problem: Problem, *, left: PrivacyCurve, public_count: int) -> float:
    """A rule in public quantities, for a method that needs a penalty where none is given.

    Noise on a minimiser costs about (row_norm / (penalty n epsilon))^2 and the penalty itself costs in
    proportion to it; the sum is least where penalty = row_norm^2 (n epsilon)^(-2/3), up to a constant.
    """
    effective = max(public_count * left.epsilon(0.1 / public_count), 1.0)
    return problem.row_norm**2 * math.pow(effective, -2.0 / 3.0)


def seed_of(random_state: Any) -> int | None:
    """None for secure noise, else a whole number: the run can be repeated and is not private."""
    if random_state is None:
        return None
    if isinstance(random_state, int | np.integer):
        require(bool(random_state >= 0), "random_state", random_state, "None or a whole number >= 0")
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """As a provenance holds them: what is infinite or absent is left out."""
    return {
        name: value
        for name, value in parameters.items()
        if value is not None and not (isinstance(value, float) and not math.isfinite(value))
    }
