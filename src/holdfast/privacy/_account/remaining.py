"""What can be bought with the rest of an account: selections, noise for one vector, shares for parts of a job.

Everything is rounded so that the charge fits; what rounding leaves over is never spent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from holdfast.errors import BudgetExceeded, ParameterError, require
from holdfast.privacy._account.account import Account
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.finite_curve import BoundedRange
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.mechanism import Arithmetic, Mechanism
from holdfast.privacy._mechanisms.vector_laplace import VectorLaplace
from holdfast.privacy._rounding import as_written
from holdfast.privacy._safe_side import safe_side

SAFE_FACTOR = 1.0 - 1e-12
"""Floats are multiplied by this, which rounds them towards privacy by far more than their own error."""


def remaining_amount(account: Account) -> tuple[str, float]:
    """What is left, in the account's own currency: ("pure", epsilon) or ("zcdp", rho), rounded down."""
    left = account.remaining()
    name = account.currency.name
    remaining = {"pure": left.as_pure, "zcdp": left.as_zcdp}.get(name, lambda: None)()
    if remaining is None:
        raise ParameterError(
            f"an account of currency {name!r} cannot pay for selections; open one of 'zcdp' or 'pure'"
        )
    if remaining <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    return name, float(remaining) * SAFE_FACTOR


def selection_epsilon(account: Account, times: int) -> float:
    """The epsilon of each of `times` exponential mechanisms that together spend what is left.

    In zCDP sqrt(8 rho / T) (bounded range; soundness, section 0), in pure DP epsilon / T; in other currencies what the
    curve of a selection costs there.

    >>> from holdfast.privacy import ZCDP
    >>> round(selection_epsilon(Account(ZCDP(0.02)), 16), 9)
    0.1
    """
    require(times >= 1, "times", times, ">= 1")
    if account.currency.name not in ("zcdp", "pure"):
        return SAFE_FACTOR * largest_epsilon(account, lambda epsilon: BoundedRange(epsilon).repeat(times))
    name, left = remaining_amount(account)
    return SAFE_FACTOR * (math.sqrt(8.0 * left / times) if name == "zcdp" else left / times)


def is_pure(curve: PrivacyCurve) -> bool:
    """Whether what remains is pure, so that no Gaussian fits into it."""
    return curve.as_pure() is not None


@dataclass(frozen=True, kw_only=True)
class VectorNoise:
    """A mechanism for one vector, and the standard deviation of its noise in each coordinate."""

    mechanism: Mechanism
    deviation: float


def noise_within(
    account: Account, *, l2_sensitivity: float, dimension: int, arithmetic: Arithmetic = "strict"
) -> VectorNoise:
    """All that remains, spent on one vector: Gaussian noise, or Gamma-norm noise in pure DP.

    >>> from holdfast.privacy import GaussianDP
    >>> round(noise_within(Account(GaussianDP(0.5)), l2_sensitivity=2.0, dimension=3).deviation, 6)
    4.0
    """
    left = account.remaining()
    pure = left.as_pure()
    if pure is None:
        gaussian = Gaussian.within(
            left, l2_sensitivity=l2_sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
        )
        return VectorNoise(mechanism=gaussian, deviation=float(gaussian.sigma))
    if pure <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    spread = l2_sensitivity / float(pure)
    # Idealised: |noise| ~ Gamma(d), so E|noise|^2 = d (d + 1) spread^2; strict: Laplace of sqrt(d) spread.
    per_coordinate = (dimension + 1) if arithmetic == "idealised" else 2 * dimension
    return VectorNoise(
        mechanism=VectorLaplace(
            epsilon=pure, l2_sensitivity=l2_sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
        ),
        deviation=spread * float(per_coordinate) ** 0.5,
    )


def largest_epsilon(account: Account, curve: Callable[[float], PrivacyCurve]) -> float:
    """The largest epsilon such that `curve(epsilon)`, in the account's currency, fits into what remains.

    >>> from holdfast.privacy import ApproxDP, PureDP
    >>> largest_epsilon(Account(ApproxDP(2.0, 1e-5), currency="basic"), PureDP) <= 2.0
    True
    """
    left = account.currency.amounts(account.remaining())

    def excess(epsilon: float) -> float:
        amounts = account.currency.amounts(curve(epsilon))
        if left is None or amounts is None:
            raise ParameterError(
                f"an account of currency {account.currency.name!r} cannot pay for this; open one of 'pure', 'zcdp', "
                "'renyi' or 'basic'"
            )
        return 1.0 if any(a > b for a, b in zip(amounts, left, strict=True)) else -1.0

    low, high = 1.0, 1.0
    while excess(low) > 0:
        low /= 2.0
        if low < 1e-12:
            raise BudgetExceeded("next to nothing remains in the account; nothing was drawn")
    while excess(high) <= 0 and high < 1e6:
        high *= 2.0
    return safe_side(excess, unsafe=high, safe=min(low, high)) if excess(high) > 0 else high


def fractions_of_rest(account: Account, *shares: float) -> tuple[float, ...]:
    """Shares of what remains, as shares of the account's limit (which is what `split` takes), rounded down.

    >>> from holdfast.privacy import Gaussian, ZCDP
    >>> account = Account(ZCDP(1.0), seed=1)
    >>> _ = account.release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [3])
    >>> [round(share, 9) for share in fractions_of_rest(account, 0.5, 0.5)]
    [0.25, 0.25]
    """
    left = account.currency.amounts(account.remaining())
    limit = account.currency.amounts(account.promised)
    if left is None or limit is None:
        return tuple(shares)
    rest = min((a / b for a, b in zip(left, limit, strict=True) if b > 0), default=Fraction(0))
    return tuple(_product_below(rest, share) for share in _sum_at_most_one(shares))


def _sum_at_most_one(shares: Sequence[float]) -> Sequence[float]:
    # Both as floats and as written decimals, since `split` adds them as written: the float 0.3 is a little less than
    # 0.3.
    for exact in ([Fraction(share) for share in shares], [as_written(share) for share in shares]):
        if (total := sum(exact)) > 1:
            return [float(share / total) * (1 - 2.0**-50) for share in exact]
    return shares


def _product_below(rest: Fraction, share: float) -> float:
    """A double that is at most the product."""
    return float(rest * Fraction(share)) * (1 - 2.0**-50) if rest < 1 else share
