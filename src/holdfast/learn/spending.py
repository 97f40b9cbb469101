"""What a method asks before it spends, and how much noise what remains of an account buys."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.errors import AdjacencyError, BudgetExceeded, ParameterError
from holdfast.learn.examples import Examples
from holdfast.learn.problem import Problem
from holdfast.privacy.account import Account
from holdfast.privacy.calibrate import calibrate
from holdfast.privacy.curve import PrivacyCurve
from holdfast.privacy.mechanism import Arithmetic, Mechanism
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.privacy.mechanisms.vector_laplace import VectorLaplace
from holdfast.privacy.rounding import as_written


def admit(
    examples: Examples, problem: Problem, account: Account, *, method: str, adjacencies: tuple[str, ...] = ()
) -> None:
    """Refuse, before anything is spent, rows and accounts that speak of different worlds."""
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


def noise_within(account: Account, *, l2_sensitivity: float, arithmetic: Arithmetic = "strict") -> Mechanism:
    """The mechanism that spends all that remains on one vector: Gaussian, or Gamma-norm noise in pure DP.

    >>> from holdfast.privacy import GaussianDP
    >>> float(noise_within(Account(GaussianDP(0.5)), l2_sensitivity=2.0).curve.mu)
    0.5
    """
    left = account.remaining()
    pure = left.as_pure()
    if pure is None:
        return Gaussian.within(
            left, l2_sensitivity=l2_sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
        )
    if pure <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    return VectorLaplace(
        epsilon=pure, l2_sensitivity=l2_sensitivity, adjacency=account.adjacency, arithmetic=arithmetic
    )


def largest_epsilon(account: Account, curve: Callable[[float], PrivacyCurve]) -> float:
    """The largest epsilon whose curve, from `curve(epsilon)`, fits into what remains; checked to fit."""
    left = account.remaining()
    noise = calibrate(lambda level: curve(1.0 / level), left)
    return 1.0 / noise


def noise_deviation(mechanism: Mechanism, *, dimension: int) -> float | None:
    """The standard deviation of one coordinate of a released vector, where the law has a simple one."""
    if isinstance(mechanism, Gaussian):
        return float(mechanism.sigma)
    if isinstance(mechanism, VectorLaplace):
        spread = float(as_written(mechanism.l2_sensitivity) / as_written(mechanism.epsilon))
        if mechanism.arithmetic == "idealised":
            # |noise| ~ Gamma(d): E|noise|^2 = d (d + 1) spread^2, shared by d coordinates.
            return spread * float(dimension + 1) ** 0.5
        return spread * float(2 * dimension) ** 0.5
    return None
