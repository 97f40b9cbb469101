"""How many answers fit into one budget, in each currency.

Laplace answers at epsilon 0.05 are drawn from accounts with the limit (3, 1e-6) until the account refuses. An
account that adds up epsilon refuses first. A plan that is fixed in advance is composed numerically and goes
furthest, and may not be changed after a look at the answers.

    python examples/plot_account.py [PICTURE]

Nothing here is drawn from data, and no seed is needed: only the numbers of charges are shown.
"""

# ruff: noqa: RUF001  Greek letters in labels are meant.

from __future__ import annotations

import sys
from typing import Any

import matplotlib.pyplot as plt

from holdfast.errors import BudgetExceeded
from holdfast.privacy import Account, ApproxDP, Laplace

LIMIT = ApproxDP(3.0, 1e-6)
ANSWER = Laplace(scale=20.0, l1_sensitivity=1.0)


def answers(currency: str) -> int:
    """How many answers an account of this currency gives before it refuses."""
    account = Account(LIMIT, currency=currency)
    given = 0
    while True:
        try:
            account.release(ANSWER, 0)
        except BudgetExceeded:
            return given
        given += 1


def planned() -> int:
    """The longest plan of such answers within the limit, by doubling and halving."""
    low, high = 1, 2
    while ANSWER.curve.repeat(high).within(LIMIT):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ANSWER.curve.repeat(middle).within(LIMIT) else (low, middle)
    return low


def picture() -> Any:
    """One bar per currency."""
    bars = {
        "basic: ε and δ add up": answers("basic"),
        "gdp: μ² adds up": answers("gdp"),
        "zcdp: ρ adds up": answers("zcdp"),
        "renyi: one order adds up": answers("renyi"),
        "plan: fixed in advance": planned(),
    }
    colours = ["#d55e00", "#e69f00", "#56b4e9", "#009e73", "#0072b2"]
    figure, axes = plt.subplots(figsize=(7.2, 3.2), layout="constrained")
    drawn = axes.barh(list(bars), list(bars.values()), color=colours, height=0.62)
    axes.bar_label(drawn, padding=4)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set(xlabel="answers before the account refuses", xlim=(0, 1.12 * max(bars.values())))
    axes.set_title(f"Laplace answers at ε = 0.05 within ε = {LIMIT.epsilon(1e-6):g}, δ = 1e-6", loc="left")
    return figure


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else "plot_account.svg"
    picture().savefig(target)
    print(f"picture: {target}")
