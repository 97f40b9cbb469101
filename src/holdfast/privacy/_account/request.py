"""From (epsilon, delta) to an account, and the checks of data and account before anything is spent.

Everything here uses public numbers only and comes before any charge. Learners, synthesisers and plans share these
checks and their messages.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Protocol

import numpy as np

from holdfast.errors import AdjacencyError, BudgetExceeded, ParameterError, require
from holdfast.privacy._account.account import Account
from holdfast.privacy._account.weak_limit import warn_weak_limit
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP

MOST_DELTA = 1e-6
"""The largest delta if the number of units is not public; it is below 1/n for tables of fewer than a million units."""


LEAST_SHARE_LEFT = 1e-3
"""With less than this share of its limit left, an account buys noise and nothing else."""


class Admissible(Protocol):
    """Rows or counts that declare a privacy unit and a neighbour relation."""

    @property
    def adjacency(self) -> Adjacency:
        """The declared neighbours."""

    @property
    def unit(self) -> PrivacyUnit:
        """Who is protected."""


class Payable(Protocol):
    """What an account must know of a method."""

    @property
    def name(self) -> str:
        """The name by which users choose it."""

    @property
    def pure(self) -> bool:
        """Whether it works with pure privacy, without delta."""

    @property
    def instead_of_pure(self) -> str:
        """What to do if delta must be 0 and the method needs one."""

    @property
    def currency(self) -> str:
        """The currency of an account that is opened for it, if delta > 0."""

    @property
    def adjacencies(self) -> tuple[str, ...]:
        """The neighbour relations for which it is proved."""

    @property
    def single_rows(self) -> str:
        """Empty, or what to do if a unit owns several rows and the method's proof does not cover that."""


def default_delta(count: int | None = None) -> float:
    """The delta of a promise that names none: 1e-6, and for more than 100,000 units a power of ten below 1 / (10 n).

    `count` is a public number of units, if there is one. Fits, syntheses, plans and ledgers all use this default.

    >>> default_delta(), default_delta(300), default_delta(2_000_000)
    (1e-06, 1e-06, 1e-08)
    """
    if count is None or count <= 1.0 / (10.0 * MOST_DELTA):
        return MOST_DELTA
    return float(f"1e-{len(str(10 * count - 1))}")


def limit_of(epsilon: float, delta: float | None, *, count: int | None = None) -> PrivacyCurve:
    """The promise asked for; a delta of None is the default for that public number of units.

    >>> limit_of(1.0, 0.0), limit_of(1.0, None)
    (PureDP(epsilon=1), ApproxDP(epsilon=1, delta=1e-06))
    """
    if delta is None:
        delta = default_delta(count)
    require(_is_number(epsilon) and 0 < epsilon < float("inf"), "epsilon", epsilon, "> 0 and finite")
    require(_is_number(delta) and 0 <= delta < 1, "delta", delta, "in [0, 1)", "use 0 for pure privacy")
    return PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)


def open_account(
    limit: PrivacyCurve, method: Payable, *, adjacency: Adjacency, unit: PrivacyUnit, seed: int | None
) -> Account:
    """An account of this limit, in the currency that suits the method."""
    pure = limit.as_pure() is not None
    if pure and not method.pure:
        raise ParameterError(
            f"delta must be > 0 for method {method.name!r}, got delta=0; {method.instead_of_pure}"
        )
    currency = "pure" if pure else method.currency
    warn_weak_limit(limit)
    return Account(limit, adjacency=adjacency, unit=unit, currency=currency, seed=seed)


def admit(data: Admissible, account: Account, method: Payable) -> None:
    """Refuse, before anything is spent, data and accounts that do not fit each other or the method."""
    if data.adjacency is not account.adjacency:
        raise AdjacencyError(
            f"the rows declare adjacency={data.adjacency.value!r}, the account {account.adjacency.value!r}; "
            "open the account with the adjacency of the rows"
        )
    if data.unit != account.unit:
        raise AdjacencyError(
            f"the rows protect {data.unit.summary()}, the account {account.unit.summary()}; "
            "open the account with the privacy unit of the rows"
        )
    if account.adjacency.value not in method.adjacencies:
        raise AdjacencyError(
            f"{method.name} is proved for adjacency {', '.join(method.adjacencies)}, got "
            f"adjacency={account.adjacency.value!r}; use one of these, or another method"
        )
    if method.single_rows:
        refuse_users(data, what=method.name, instead=method.single_rows)


def refuse_users(data: Admissible, *, what: str, instead: str) -> None:
    """Refuse units that own several rows (soundness, section 18): for proofs that count single rows."""
    if data.unit.max_rows > 1:
        raise ParameterError(
            f"{what} protects single rows, got a unit of max_rows={data.unit.max_rows}; {instead}"
        )


def require_small_delta(limit: PrivacyCurve, public_count: int | None) -> None:
    """Refuse delta >= 1/n: it would permit the release of a random row as it is (soundness, section 0).

    Where the number of units is private (None), comparing with it would be a release, so the same ceiling holds for
    every table: `MOST_DELTA`. For a larger delta a number must be declared that it can be compared with.
    """
    point = limit.as_approximate()
    delta = 0.0 if point is None else float(point[1])
    if public_count is None:
        require(
            delta <= MOST_DELTA,
            "delta",
            delta,
            f"<= {MOST_DELTA:g} where the number of units is private",
            "use a smaller delta, or declare n_public",
        )
        return
    largest = 1 / max(public_count, 1)
    require(delta == 0 or delta < largest, "delta", delta, f"< 1 / n = {largest:g}", "use a smaller delta")


def require_something_left(account: Account, *, least: float = 0.0) -> None:
    """Refuse an account that is spent but for a rounding error: what it buys is noise and nothing else.

    `least` is an advantage below which no use is made of what is left, whatever the limit was.
    """
    left = account.remaining().delta(0.0)
    if left <= max(least, LEAST_SHARE_LEFT * account.promised.delta(0.0)):
        raise BudgetExceeded("less than a thousandth of the account's limit remains; nothing was drawn")


def seed_of(random_state: Any) -> int | None:
    """None for secure noise, else a whole number: the run can be repeated and is not private."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    is_whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    require(is_whole and random_state >= 0, "random_state", random_state, "None or a whole number >= 0")
    return int(random_state)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
