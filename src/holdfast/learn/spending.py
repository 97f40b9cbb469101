"""What a method asks before it spends, and how much noise what remains of an account buys."""

from __future__ import annotations

from holdfast.errors import AdjacencyError, ParameterError
from holdfast.learn.problem import Problem
from holdfast.learn.rows.examples import Examples
from holdfast.privacy.account import Account


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
