"""Do bands by replication cover the shapes of an additive model? Two that need no theory, on tables of known shapes.

Run with `python -m studies.benchmarks.additive_bands --save`. *Parts*: rows in five parts of their own, each fitted
with the whole budget (a row is in one part), band = mean of five shapes and Student's quantile with four degrees.
*Phases*: the whole table fitted five times with a fifth of mu^2 each. Both are 95 % bands at single points; covered
must be the true centred shape.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from holdfast import Account, PrivateAdditiveRegressor
from holdfast.learn._additive.shapes import shapes_of
from holdfast.learn._risk.descent import gaussian_square
from holdfast.privacy import ApproxDP, GaussianDP

Floats = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"
ROWS, TABLES, PARTS, EPSILONS = 20_000, 12, 5, (1.0, 4.0)
SHAPES: tuple[Callable[[Floats], Floats], ...] = (
    lambda x: np.sin(math.pi * x),
    lambda x: x**2,
    lambda x: 0.8 * np.abs(x),
    lambda x: 0.5 * x,
    lambda x: np.zeros_like(x),
)


def table(seed: int) -> tuple[Floats, Floats]:
    """Five columns on [-1, 1], uniform, correlated by .5; noise .3; targets within [-3, 3]."""
    random = np.random.default_rng(seed)
    normal = math.sqrt(0.5) * (random.normal(size=(ROWS, 5)) + random.normal(size=(ROWS, 1)))
    rows = 2.0 * norm.cdf(normal) - 1.0
    score = np.sum([shape(rows[:, place]) for place, shape in enumerate(SHAPES)], axis=0)
    return rows, score + 0.3 * random.normal(size=ROWS)


def shapes(rows: Floats, labels: Floats, mu_square: float) -> Floats:
    """Released shapes at 41 places of each column, centred there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        account = Account(GaussianDP(math.sqrt(mu_square)), adjacency="zero_out")
        model = PrivateAdditiveRegressor(
            bounds=(-1, 1), target_bounds=(-3, 3), adjacency="zero_out", interactions=False
        )
        fitted = model.fit(rows, labels, account=account)
    found = {one.cells.name: one for one in shapes_of(fitted.model_)}
    places = np.linspace(-0.975, 0.975, 41)
    made = []
    for column in range(5):
        one = found[f"x{column}"]
        middles = np.asarray(one.cells.middles)
        values = np.interp(places, middles, one.values[: middles.size, 0])
        made.append(values - values.mean())
    return np.array(made)


def truth() -> Floats:
    places = np.linspace(-0.975, 0.975, 41)
    values = np.array([shape(places) for shape in SHAPES])
    return np.asarray(values - values.mean(axis=1, keepdims=True))


def measure(epsilon: float) -> dict[str, Any]:
    square = float(gaussian_square(ApproxDP(epsilon, ROWS**-1.5)))
    covered: dict[str, list[Floats]] = {"parts": [], "phases": []}
    reach = float(t.ppf(0.975, PARTS - 1)) / math.sqrt(PARTS)
    for seed in range(TABLES):
        rows, labels = table(seed)
        ways = {
            "parts": [shapes(rows[k::PARTS], labels[k::PARTS], square) for k in range(PARTS)],
            "phases": [shapes(rows, labels, square / PARTS) for _ in range(PARTS)],
        }
        for way, made in ways.items():
            mean, spread = np.mean(made, axis=0), np.std(made, axis=0, ddof=1)
            covered[way].append(np.abs(mean - truth()) <= reach * spread)
    return {
        way: {
            "all": round(float(np.mean(found)), 4),
            "columns": np.mean(found, axis=(0, 2)).round(4).tolist(),
        }
        for way, found in covered.items()
    }


def page(store: dict[str, Any]) -> str:
    lines = [
        "# Bands for shapes of additive models",
        "",
        f"Made by `python -m studies.benchmarks.additive_bands --save`: {TABLES} tables of "
        f"{ROWS:,} rows, five correlated "
        "columns of known shape, secure noise, `zero_out`, delta = n^-1.5. "
        f"Commit {store['commit']}; {platform.machine()}, Python {platform.python_version()}. "
        "Share of points of the true shapes inside 95 % bands, over all columns and in the worst one.",
        "",
        "| epsilon | replicated parts | worst column | replicated phases | worst column |",
        "|---|---|---|---|---|",
    ]
    for epsilon in EPSILONS:
        parts, phases = (store[f"{epsilon:g}"][way] for way in ("parts", "phases"))
        lines.append(
            f"| {epsilon:g} | {parts['all']:.3f} | {min(parts['columns']):.3f} | {phases['all']:.3f} | "
            f"{min(phases['columns']):.3f} |"
        )
    least = min(min(store[f"{e:g}"][way]["columns"]) for e in EPSILONS for way in ("parts", "phases"))
    fails = (
        "Neither covers in the worst column: replication shows how far noise and sampling move a shape, and not how "
        "far clipping, whitening with a floor and too few steps pull it. So no bands are drawn."
    )
    lines += ["", fails if least < 0.9 else "Both cover."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="measure and write the page")
    if parser.parse_args().save:
        made = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
        store = {f"{epsilon:g}": measure(epsilon) for epsilon in EPSILONS} | {"commit": made.stdout.strip()}
        (RESULTS / "additive_bands.json").write_text(json.dumps(store, indent=1) + "\n")
    store = json.loads((RESULTS / "additive_bands.json").read_text())
    (RESULTS / "additive_bands.md").write_text(page(store))
    print(page(store))


if __name__ == "__main__":
    main()
