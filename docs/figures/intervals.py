"""The figure of the page on intervals: coverage and width against epsilon, from the stored results of the benchmark."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

STORE = Path(__file__).resolve().parents[2] / "studies" / "benchmarks" / "results" / "intervals.json"
BLUE, ORANGE, GREEN, PINK, MUTED, RED = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#5b6875", "#d55e00"
ROWS = {500: PINK, 1_000: ORANGE, 2_000: GREEN, 5_000: BLUE, 20_000: MUTED}
FEW = 40
"""Intervals issued below which a coverage is not drawn: its standard error is over 3 points."""


def found(design: str, rows: int, *, least: int = FEW) -> list[tuple[float, dict[str, Any]]]:
    """By epsilon, where so many intervals were issued."""
    store = json.loads(STORE.read_text())
    cells = {}
    for key, cell in store.items():
        name, adjacency, n, epsilon, method = key.split("|")
        if (name, adjacency, int(n), method) == (design, "zero_out", rows, "wald") and cell[
            "issued"
        ] >= least:
            cells[float(epsilon)] = cell
    return sorted(cells.items())


def coverage() -> Figure:
    """The worst coefficient of each cell: coverage among intervals issued, width against the oracle, share refused."""
    figure, axes = plt.subplots(3, 2, figsize=(8.6, 7.4), sharex=True, sharey="row")
    for column, design in enumerate(("linear", "logistic")):
        for rows, colour in ROWS.items():
            cells = found(design, rows)
            epsilons = [epsilon for epsilon, _ in cells]
            label = f"{rows:,} rows"
            low = [min(cell["coverage"]) for _, cell in cells]
            errors = [3 * math.sqrt(0.95 * 0.05 / cell["issued"]) for _, cell in cells]
            axes[0, column].errorbar(
                epsilons, low, yerr=errors, color=colour, marker="o", ms=3, lw=1, label=label
            )
            axes[1, column].plot(
                epsilons, [max(cell["width"]) for _, cell in cells], color=colour, marker="o", ms=3
            )
            every = found(design, rows, least=0)
            share = [100 * (1 - cell["issued"] / cell["runs"]) for _, cell in every]
            axes[2, column].plot([epsilon for epsilon, _ in every], share, color=colour, marker="o", ms=3)
        axes[0, column].axhline(0.95, color=MUTED, lw=0.8, ls="--")
        axes[1, column].axhline(1.15, color=RED, lw=0.8, ls="--")
        axes[0, column].set(title=f"{design} regression", xscale="log", ylim=(0.88, 1.0))
        axes[2, column].set(xlabel="epsilon", xticks=[0.3, 0.5, 1, 2, 4], ylim=(-3, 103))
        axes[2, column].set_xticklabels(["0.3", "0.5", "1", "2", "4"])
        axes[2, column].minorticks_off()
    axes[0, 0].set_ylabel("coverage of 95 % intervals\n(bars: 3 standard errors)")
    axes[1, 0].set_ylabel("width / oracle's")
    axes[2, 0].set_ylabel("refused, %")
    axes[0, 0].legend(fontsize=8, ncols=2, loc="lower right")
    return figure
