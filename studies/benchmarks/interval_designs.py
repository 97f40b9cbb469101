"""Intervals on twelve drawn designs, through the front door: categories, users, odd units and skewed columns.

Run with `python -m studies.benchmarks.interval_designs --save`. A design is drawn from a seed that is part of this
file: which columns, in which units, how skewed, how many categories, whose rows. Each table is fitted as a user
would fit it, by an estimator, a schema and the method that gives intervals, with nothing else declared; what must be
covered is the coefficient that made the targets. `interval_runs.py` simulates many more tables of simpler designs,
as stacks.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies.benchmarks.intervals import commit

from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.data._engines import open_table
from holdfast.errors import NoIntervals
from holdfast.learn import PrivateLinearRegression, PrivateLogisticRegression
from holdfast.privacy import PrivacyUnit

Floats = NDArray[np.float64]
SEED, DESIGNS = 20_261_118, 12
RUNS, OF_USERS = 50, 15
"""Tables of a cell; fewer of users with several rows, whose tables take longer."""
CELLS = ((3_000, 4.0), (20_000, 2.0))
LEVEL = 0.95
RESULTS = Path(__file__).parent / "results"
STORE, PAGE = RESULTS / "interval_designs.json", RESULTS / "interval_designs.md"


@dataclass(frozen=True, kw_only=True)
class Column:
    """A number in some unit, skewed by a power; or categories with shares of their own."""

    name: str
    low: float = 0.0
    high: float = 1.0
    skew: float = 1.0
    shares: tuple[float, ...] = ()

    def drawn(self, random: np.random.Generator, count: int) -> tuple[Any, Floats]:
        """Values, and the features that a regression with an intercept has of them."""
        if not self.shares:
            share = random.uniform(size=count) ** self.skew
            return self.low + share * (self.high - self.low), (2.0 * share - 1.0)[:, None]
        codes = random.choice(len(self.shares), size=count, p=self.shares)
        return np.array(self.labels)[codes], (codes[:, None] == np.arange(1, len(self.shares))).astype(float)

    @property
    def labels(self) -> list[str]:
        """Of the categories."""
        return [f"{self.name}{place}" for place in range(len(self.shares))]

    @property
    def features(self) -> int:
        """How many coefficients it has."""
        return 1 if not self.shares else len(self.shares) - 1

    def declared(self) -> Numeric | Categorical:
        """As a schema says it."""
        return Categorical(self.name, self.labels) if self.shares else Numeric(self.name, self.low, self.high)

    def summary(self) -> str:
        """In a few words."""
        if self.shares:
            return f"{len(self.shares)} categories ({min(self.shares):.0%} at least)"
        return f"[{self.low:.3g}, {self.high:.3g}]" + (f" skewed {self.skew:.1f}" if self.skew > 1 else "")


@dataclass(frozen=True, kw_only=True)
class DrawnDesign:
    """One of the twelve."""

    number: int
    loss: str
    columns: tuple[Column, ...]
    coefficients: tuple[float, ...]
    """Of all features, the intercept last; of scores, or in units of a quarter of the target's range."""
    rows_of_user: int

    @property
    def schema(self) -> Schema:
        """What a user declares: columns, the target, and whose rows they are."""
        target = (
            Categorical("target", ["no", "yes"]) if self.loss == "logistic" else Numeric("target", 0, 8_000)
        )
        unit = PrivacyUnit() if self.rows_of_user == 1 else PrivacyUnit("user", max_rows=1)
        whose = [] if self.rows_of_user == 1 else [Identifier("user")]
        columns = [*(one.declared() for one in self.columns), target, *whose]
        return Schema(columns, unit=unit, adjacency="replace")

    @property
    def truth(self) -> Floats:
        """The coefficients in the target's units."""
        own = np.array(self.coefficients)
        return own if self.loss == "logistic" else 1_000.0 * own + np.append(np.zeros(own.size - 1), 4_000.0)

    def frame(self, random: np.random.Generator, count: int) -> dict[str, Any]:
        """A table of so many users, or rows: users with several rows have as many that are drawn alike."""
        rows = count * self.rows_of_user
        frame, parts = dict[str, Any](), list[Floats]()
        for column in self.columns:
            frame[column.name], features = column.drawn(random, rows)
            parts.append(features)
        score = np.column_stack([*parts, np.ones(rows)]) @ np.array(self.coefficients)
        if self.loss == "logistic":
            chance = 0.5 * (1.0 + np.tanh(0.5 * score))
            frame["target"] = np.where(random.uniform(size=rows) < chance, "yes", "no")
        else:  # within the declared bounds, whatever the row
            frame["target"] = 4_000.0 + 1_000.0 * (score + random.uniform(-1.0, 1.0, rows))
        if self.rows_of_user > 1:
            frame["user"] = np.repeat(np.arange(count), self.rows_of_user).astype(str)
        return frame

    def summary(self) -> str:
        """In one line."""
        whose = f", {self.rows_of_user} rows of each user" if self.rows_of_user > 1 else ""
        return f"{self.loss}: " + "; ".join(one.summary() for one in self.columns) + whose


def drawn_column(random: np.random.Generator, place: int) -> Column:
    """Every other one has categories; a third of the numbers are skewed; units go over nine orders of magnitude."""
    if random.uniform() < 0.5:
        shares = random.dirichlet(np.full(int(random.integers(1, 5)), 5.0))
        return Column(name=f"c{place}", shares=tuple(float(one) for one in shares / shares.sum()))
    width = 10.0 ** random.uniform(-3.0, 6.0)
    low = float(random.choice([0.0, -width / 2, 3.0 * width]))
    skew = float(random.choice([1.0, 1.0, random.uniform(2.0, 4.0)]))
    return Column(name=f"x{place}", low=low, high=low + width, skew=skew)


def drawn_designs(seed: int = SEED, count: int = DESIGNS) -> Iterator[DrawnDesign]:
    """Two to four columns each; one design in four has users with several rows; losses in turn.

    Targets of least squares stay within their bounds: the sizes of coefficients add up to less than 3.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    for number in range(count):
        columns = tuple(drawn_column(random, place) for place in range(int(random.integers(2, 5))))
        features = sum(one.features for one in columns)
        coefficients = random.normal(0.0, 0.6, size=features + 1)
        coefficients *= min(1.0, 2.9 / max(np.abs(coefficients).sum(), 1e-9))
        yield DrawnDesign(
            number=number,
            loss=("squared", "logistic")[number % 2],
            columns=columns,
            coefficients=tuple(coefficients.tolist()),
            rows_of_user=int(random.integers(2, 5)) if number % 4 == 2 else 1,
        )


def simulate_design(
    design: DrawnDesign, *, rows: int, epsilon: float, runs: int, seed: int = 0
) -> dict[str, Any]:
    """Fits as a user makes them: how many intervals were issued, which of them cover, and how wide they are."""
    covered, widths = list[Any](), list[Any]()
    kind: Any = PrivateLogisticRegression if design.loss == "logistic" else PrivateLinearRegression
    method = "newton" if design.loss == "logistic" else "ssp"
    for run in range(runs):
        random = np.random.Generator(np.random.PCG64([seed, design.number, rows, run]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = open_table(design.frame(random, rows), design.schema)
            model = kind(epsilon=epsilon, delta=rows**-1.5, method=method, random_state=run)
            model.fit(table, target="target")
        try:
            found = model.conf_int(LEVEL)
        except NoIntervals:
            continue
        covered.append((found.low <= design.truth) & (design.truth <= found.high))
        widths.append(found.high - found.low)
    result: dict[str, Any] = {"runs": runs, "issued": len(covered), "coverage": [], "width": []}
    if covered:
        result |= {
            "coverage": np.mean(covered, axis=0).round(4).tolist(),
            "width": np.mean(widths, axis=0).round(5).tolist(),
        }
    return result


def cells_of(design: DrawnDesign) -> Iterator[tuple[int, float, int]]:
    """Rows or users, epsilon, and how many tables."""
    for rows, epsilon in CELLS:
        yield rows, epsilon, OF_USERS if design.rows_of_user > 1 else RUNS


def floor_of(found: dict[str, Any], *, errors: float = 3.0) -> float:
    """The lowest coverage that chance explains: so many standard errors below the level."""
    return LEVEL - errors * math.sqrt(LEVEL * (1.0 - LEVEL) / max(1, found["issued"]))


def page(store: dict[str, Any]) -> str:
    """What was measured, as text."""
    cells = [found for found in store.values() if isinstance(found, dict) and "runs" in found]
    issued = [found for found in cells if found["issued"]]
    below = sum(min(found["coverage"]) < floor_of(found) for found in issued)
    numbers = sum(len(found["coverage"]) for found in issued)
    mean = sum(sum(found["coverage"]) for found in issued) / max(1, numbers)
    lines = [
        "# Intervals on drawn designs",
        "",
        f"Made by `python -m studies.benchmarks.interval_designs --save`: {DESIGNS} designs drawn with seed {SEED}, "
        f"{len(cells)} cells of {min(one['runs'] for one in cells)} to {max(one['runs'] for one in cells)} tables, "
        "delta = n^-1.5, adjacency replace, fitted through a schema with nothing "
        f"else declared. Commit {store.get('commit', '')}, {store.get('cpu', 0) / 60:.0f} CPU minutes.",
        "",
        "<!-- in short -->",
        f"Intervals were issued in {len(issued)} of {len(cells)} cells. Mean coverage over all coefficients is "
        f"{mean:.4f} (nominal {LEVEL:g}); cells whose worst coefficient is more than three standard errors below: "
        f"{below} of {len(issued)}.",
        "",
        "<!-- cells -->",
        "",
        "| design | n | epsilon | refused | worst coverage | floor | mean coverage | mean width |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for design in drawn_designs():
        for rows, epsilon, _ in cells_of(design):
            found = store.get(f"{design.number}|{rows}|{epsilon:g}")
            if found is None:
                continue
            shown = f"| {design.number + 1} | {rows:,} | {epsilon:g} | {1 - found['issued'] / found['runs']:.0%} |"
            if found["issued"]:
                shown += f" {min(found['coverage']):.3f} | {floor_of(found):.3f} | {np.mean(found['coverage']):.3f} |"
                shown += f" {np.mean(found['width']):.3g} |"
            else:
                shown += " | | | |"
            lines.append(shown)
    lines += ["", *(f"{one.number + 1}. {one.summary()}" for one in drawn_designs())]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="measure what is missing and write the page")
    told = parser.parse_args()
    store: dict[str, Any] = json.loads(STORE.read_text()) if STORE.exists() else {}
    if told.save:
        for design in drawn_designs():
            for rows, epsilon, runs in cells_of(design):
                key = f"{design.number}|{rows}|{epsilon:g}"
                if key in store:
                    continue
                started = time.process_time()
                store[key] = simulate_design(design, rows=rows, epsilon=epsilon, runs=runs)
                store["commit"], store["cpu"] = (
                    commit(),
                    store.get("cpu", 0.0) + time.process_time() - started,
                )
                STORE.write_text(json.dumps(store, indent=1) + "\n")
                print(key, store[key], flush=True)
        PAGE.write_text(page(store))
    print(page(store))


if __name__ == "__main__":
    main()
