"""What a synthesiser asks before it spends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import AdjacencyError, BudgetExceeded, ParameterError, require
from holdfast.privacy.account import Account
from holdfast.privacy.curves.curve import PrivacyCurve

if TYPE_CHECKING:
    from holdfast.synth.exact_counts import ExactCounts

LEAST_LEFT = 1e-3
#: No use is made of an advantage below this: crumbs that an account's rounding left in its dataset.
LEAST = 1e-5


def admit(data: ExactCounts, account: Account, *, method: str, adjacencies: tuple[str, ...] = ()) -> None:
    """Refuse, before anything is spent, tables and accounts that speak of different worlds."""
    if data.adjacency is not account.adjacency:
        raise AdjacencyError(
            f"the table declares adjacency={data.adjacency.value!r}, the account {account.adjacency.value!r}; "
            "open the account with the adjacency of the table"
        )
    if data.unit != account.unit:
        raise AdjacencyError(
            f"the table protects {data.unit.summary()}, the account {account.unit.summary()}; "
            "open the account with the privacy unit of the table"
        )
    if adjacencies and account.adjacency.value not in adjacencies:
        raise AdjacencyError(
            f"{method} is proved for adjacency {', '.join(adjacencies)}, got "
            f"adjacency={account.adjacency.value!r}; use one of these, or another method"
        )


def refuse_users(data: ExactCounts, *, method: str) -> None:
    """Refuse units that own several rows (soundness, section 18): for methods whose proof counts single rows."""
    if data.unit.max_rows > 1:
        raise ParameterError(
            f"{method} protects single rows, got a unit of max_rows={data.unit.max_rows}; keep one row of each "
            "user, or use method='adaptive', which multiplies its sensitivity"
        )


def require_small_delta(limit: PrivacyCurve, public_count: int) -> None:
    """Refuse delta >= 1/n: it would permit the release of a random row as it is (soundness, section 0)."""
    point = limit.as_approximate()
    delta = 0.0 if point is None else float(point[1])
    largest = 1 / max(public_count, 1)
    require(delta == 0 or delta < largest, "delta", delta, f"< 1 / n = {largest:g}", "use a smaller delta")


def require_something_left(account: Account) -> None:
    """Refuse an account that is spent but for a rounding error: what it buys is noise and nothing else."""
    left = account.remaining().delta(0.0)
    if left <= max(LEAST, LEAST_LEFT * account.guarantee().curve.delta(0.0)):
        raise BudgetExceeded("less than a thousandth of the account's limit remains; nothing was drawn")
