"""How a reproduction shows its numbers: one look for all figures, means with their spread in tables."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures"
RESULTS = ROOT / "studies" / "reproductions" / "results"
# Okabe and Ito's palette: told apart by people with any colour vision.
BLUE, ORANGE, GREEN, PINK, RED = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00"
INK, MUTED = "#1c2733", "#5b6875"
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "holdfast",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e8ed",
    "axes.axisbelow": True,
    "legend.frameon": False,
}
LineStyle = tuple[str, Any, str]
Series = Mapping[float, Sequence[float]]
"""Results of several seeds at each place of the horizontal axis."""


@contextmanager
def panels(
    name: str, *, rows: int = 1, columns: int = 1, legend: int = 4, size: tuple[float, float], **options: Any
) -> Iterator[Any]:
    """A grid of axes that becomes `docs/figures/<name>.svg`, the same bytes for the same numbers."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, **options)
        yield axes
        handles: dict[str, Any] = {}
        for each in axes.flat:
            for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=legend, fontsize=8.5
        )
        figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)


def plot(axes: Any, label: str, series: Series, look: LineStyle) -> None:
    """Means as a line, the range of the seeds as a band."""
    at = sorted(series)
    colour, line, marker = look
    low, high = ([float(f(series[x])) for x in at] for f in (np.min, np.max))
    axes.fill_between(at, low, high, color=colour, alpha=0.13, linewidth=0)
    means = [float(np.mean(series[x])) for x in at]
    axes.plot(
        at, means, color=colour, linestyle=line, marker=marker, markersize=4, linewidth=1.5, label=label
    )


def ticks(axes: Any, at: Sequence[float], *, log: bool = True) -> None:
    """The places where something was measured, and no others."""
    if log:
        axes.set_xscale("log")
    axes.set_xticks(list(at), [f"{x:g}" for x in at])
    axes.minorticks_off()


def table(head: str, columns: Iterable[float], series: Mapping[str, Series], *, digits: int = 3) -> list[str]:
    """Mean ± standard deviation over the seeds, one line per series."""
    at = list(columns)
    lines = [f"| {head} | " + " | ".join(f"{x:g}" for x in at) + " |", "|---|" + "---:|" * len(at)]
    for name, values in series.items():
        cells = [cell(values[x], digits) if x in values else "" for x in at]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def cell(values: Sequence[float], digits: int) -> str:
    """A mean, with its standard deviation where there are several seeds."""
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {np.std(values):.{digits}f}"


def stamp(script: str, seed: int, seconds: float, *, seeds: int | None = None) -> str:
    """How the page was made."""
    repeated = "" if seeds is None else f", {seeds} repeats each"
    return (
        f"Made by `python -m reproductions.{script}`, seed {seed}{repeated}: {seconds:.0f} CPU seconds on one core, "
        f"Python {platform.python_version()}, NumPy {np.__version__}."
    )


def write(name: str, lines: Sequence[str]) -> None:
    """The page of results."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
