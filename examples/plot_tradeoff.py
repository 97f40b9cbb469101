"""What a proof forbids, and what one attack reaches.

A count is released with Gaussian noise, again and again, in two worlds that differ in one person. The
attacker says "the person is there" when the count is high. No threshold gets below the proved curve, up to
the error of measuring it in finitely many runs, which the bars show (95 % for each rate).

    python examples/plot_tradeoff.py [PICTURE]

The run is seeded: the picture shows simulated releases of an invented count, nobody's data.
"""

# ruff: noqa: RUF001  Greek letters in labels are meant.

from __future__ import annotations

import sys
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from holdfast.privacy import Account, Adjacency, Gaussian, GaussianDP, TradeOff

RUNS = 5000


def attack(mechanism: Gaussian, *, seed: int) -> TradeOff:
    """The miss and false-alarm rates of "the released count is at least t", for every t."""
    permit = Account(GaussianDP(100), adjacency=Adjacency.add_remove, seed=seed).permit(mechanism, times=2)
    # Each coordinate stands for one release of the count, 120 people without the person and 121 with.
    without, with_person = (permit.release(np.full(RUNS, count)) for count in (120, 121))
    thresholds = np.unique(np.concatenate([without, with_person]))[::-1]
    false_alarm = [np.mean(without >= t) for t in thresholds]
    miss = [np.mean(with_person < t) for t in thresholds]
    return TradeOff([0.0, *false_alarm], [1.0, *miss], claim="measured")


def bars(rates: Any) -> Any:
    """How far below and above each measured rate the true one may be (Clopper and Pearson)."""
    from scipy.special import betaincinv

    hits = np.rint(np.asarray(rates) * RUNS)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), RUNS - hits + 1, 0.025), 0.0)
    high = np.where(hits < RUNS, betaincinv(hits + 1, np.maximum(RUNS - hits, 1), 0.975), 1.0)
    return np.array([rates - low, high - rates])


def picture(seed: int = 1) -> Any:
    """Proof and attack in one plot."""
    mechanism = Gaussian(sigma=1.5, l2_sensitivity=1.0, adjacency=Adjacency.add_remove)
    proved = mechanism.curve.trade_off()
    measured = attack(mechanism, seed=seed)
    figure, axes = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
    axes.fill_between(proved.false_alarm, 0, proved.miss, color="#0072b2", alpha=0.15, linewidth=0)
    axes.plot(proved.false_alarm, proved.miss, color="#0072b2", label="proved: no test is below")
    reached = (measured.false_alarm > 0.005) & (measured.miss > 0.005)
    at, miss = measured.false_alarm[reached], measured.miss[reached]
    axes.errorbar(
        at,
        miss,
        xerr=bars(at),
        yerr=bars(miss),
        fmt="o",
        markersize=4,
        color="#d55e00",
        elinewidth=1.2,
        label=f"measured in {RUNS} releases per world",
    )
    axes.plot([0, 1], [1, 0], color="#5b6875", linewidth=1, linestyle=":", label="blind guessing")
    axes.set(xlabel="false alarms", ylabel="misses", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_title(
        f"σ = {mechanism.sigma:g}: right at most {100 * proved.guess():.1f} % of the time", loc="left"
    )
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else "plot_tradeoff.svg"
    picture().savefig(target)
    print(f"picture: {target}")
