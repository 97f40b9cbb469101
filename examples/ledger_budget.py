"""A budget that outlives the process: two teams, one data set, one limit.

A ledger is opened with a limit for everything ever released about a data set. Two teams open accounts on it,
spend, are refused, and close; what was not spent goes back. The picture shows who held what after each step.

    python examples/ledger_budget.py [PICTURE]

Noise is secure. The values are invented, and the ledger lives in a temporary folder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from holdfast import Ledger
from holdfast.errors import BudgetExceeded
from holdfast.privacy import ZCDP, Exponential, Gaussian

LIMIT = ZCDP(0.5)


def story(path: Path) -> tuple[list[tuple[str, float, float]], str]:
    """After each step: what was done, what is spent and what is free (shares of the limit); the summary."""
    steps: list[tuple[str, float, float]] = []
    with Ledger.create(path, purpose="an example") as ledger:

        def note(what: str) -> None:
            spent, free = (
                float(c.as_zcdp() or 0) for c in (ledger.spent("clinic"), ledger.remaining("clinic"))
            )
            steps.append((what, spent / float(LIMIT.rho), free / float(LIMIT.rho)))

        ledger.dataset("clinic", limit=LIMIT, approver="the privacy officer", purpose="yearly statistics")
        note("limit set")
        tables = ledger.account("clinic", name="tables", limit=ZCDP(0.2), purpose="published tables")
        note("tables: opens 40 %")
        tables.release(Gaussian(sigma=5.0, l2_sensitivity=2.0), [120, 61, 9])
        note("tables: noisy counts")
        ranking = ledger.account(
            "clinic", name="ranking", limit=ZCDP(0.25), purpose="most frequent diagnosis"
        )
        note("ranking: opens 50 %")
        ranking.release(Exponential(epsilon=1.0, sensitivity=1.0), [44, 40, 12])
        note("ranking: one choice")
        try:
            ranking.release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [3])
        except BudgetExceeded:
            note("ranking: refused")
        ledger.close_account("ranking", reason="done")
        note("ranking: closes")
        ledger.verify().require()
        return steps, ledger.summary()


def picture() -> Any:
    """Spent, held and free after each step."""
    with tempfile.TemporaryDirectory() as folder:
        steps, _ = story(Path(folder) / "clinic.ledger")
    names = [what for what, _, _ in steps]
    spent = [100 * used for _, used, _ in steps]
    held = [100 * (1 - used - free) for _, used, free in steps]
    figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
    axes.barh(names, spent, color="#d55e00", label="spent, for ever", height=0.65)
    axes.barh(
        names,
        held,
        left=spent,
        color="#f0c27a",
        label="held by open accounts",
        height=0.65,
        hatch="///",
        edgecolor="white",
        linewidth=0,
    )
    taken = [s + h for s, h in zip(spent, held, strict=True)]
    axes.barh(names, [100 - t for t in taken], left=taken, color="#dde8f0", label="free", height=0.65)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set(xlabel="share of the limit (%)", xlim=(0, 100))
    axes.set_title("One data set, two teams, one limit", loc="left")
    axes.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.4, -0.18))
    return figure


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(story(Path(scratch) / "clinic.ledger")[1])
    target = sys.argv[1] if len(sys.argv) > 1 else "ledger_budget.svg"
    picture().savefig(target)
    print(f"picture: {target}")
