"""What a method asks before it spends, and how much noise what remains of an account buys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.errors import AdjacencyError, BudgetExceeded, ParameterError
from holdfast.learn.examples import Examples
from holdfast.learn.problem import Problem
from holdfast.privacy.account import Account
from holdfast.privacy.curve import PrivacyCurve
from holdfast.privacy.mechanism import Arithmetic, Mechanism
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.privacy.mechanisms.vector_laplace import VectorLaplace
from holdfast.privacy.rounding import safe_side


def admit(
    examples: Examples,
    problem: Problem,
    account: Account,
    *,
    method: str,
    adjacencies: tuple[str, ...] = (),
    outputs: tuple[str, ...] = ("one",),
) -> None:
    """Refuse, before anything is spent, rows and accounts of different worlds, and losses of a wrong kind."""
    if problem.outputs not in outputs:
        raise ParameterError(
            f"{method} takes a loss of {' or '.join(outputs)} prediction{'s' * (outputs == ('several',))}, got the "
            f"{problem.loss.name} loss; use method='softmax' for several classes"
        )
    if examples.adjacency is not account.adjacency:
        raise AdjacencyError(
            f"the rows declare adjacency={examples.adjacency.value!r}, the account "
            f"{account.adjacency.value!r}; open the account with the adjacency of the rows"
        )
    if examples.unit != account.unit:
        raise AdjacencyError(
            f"the rows protect {examples.unit.summary()}, the account {account.unit.summary()}; "
            "open the account with the privacy unit of the rows"
        )
    if adjacencies and account.adjacency.value not in adjacencies:
        raise AdjacencyError(
            f"{method} is proved for adjacency {', '.join(adjacencies)}, got "
            f"adjacency={account.adjacency.value!r}; use one of these, or method='noisy_gd'"
        )
    if examples.dimension != problem.dimension:
        raise ParameterError(
            f"dimension must be the number of columns, {examples.dimension}, got dimension={problem.dimension}"
        )


def refuse_users(examples: Examples, *, method: str) -> None:
    """Refuse units that own several rows (soundness, section 18): for methods whose proof counts single rows."""
    if examples.unit.max_rows > 1:
        raise ParameterError(
            f"{method} protects single rows, got a unit of max_rows={examples.unit.max_rows}; average each "
            "user's rows into one, or use method='ridge' or 'functional', which multiply their sensitivity"
        )


def is_pure(curve: PrivacyCurve) -> bool:
    """Whether what remains is pure, so that no Gaussian fits into it."""
    return curve.as_pure() is not None


@dataclass(frozen=True, kw_only=True)
class VectorNoise:
    """A mechanism for one vector, and the standard deviation that its noise has in each coordinate."""

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
        asked = account.currency.amounts(curve(epsilon))
        if left is None or asked is None:
            raise ParameterError(
                f"an account of currency {account.currency.name!r} cannot pay for this; open one of 'pure', 'zcdp', "
                "'renyi' or 'basic'"
            )
        return 1.0 if any(a > b for a, b in zip(asked, left, strict=True)) else -1.0

    low, high = 1.0, 1.0
    while excess(low) > 0:
        low /= 2.0
        if low < 1e-12:
            raise BudgetExceeded("next to nothing remains in the account; nothing was drawn")
    while excess(high) <= 0 and high < 1e6:
        high *= 2.0
    return safe_side(excess, unsafe=high, safe=min(low, high)) if excess(high) > 0 else high
