"""How often the intervals of statistics hold: `python -m studies.benchmarks.statistics_coverage`.

Each group of one table is a simulated table of n rows of its own, with noise of its own. Reported are, for each
question, n and epsilon: how often the interval holds the table's own value and the population's, in what share of the
tables it says something (is narrower than all that is possible), and its median width over that of an oracle that knows
n and the law of the noise. Figures go to studies/benchmarks/results/statistics_coverage.json.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.statistics import (
    Count,
    Mean,
    Proportion,
    Quantiles,
    Sum,
    TableQuestion,
    Variance,
    answer,
    by,
    column,
)

RESULTS = Path(__file__).parent / "results" / "statistics_coverage.json"
STEPS = 100


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Of one column: the share of tables whose interval holds, of those that say something, and the width."""

    table: float
    population: float | None
    informative: float
    width: float


def questions() -> list[TableQuestion]:
    """Each is asked alone, with all of epsilon."""
    return [
        Count(),
        Sum("x"),
        Mean("x"),
        Variance("x"),
        Proportion(column("x") > 35, name="high"),
        Quantiles("x", [0.5], steps=STEPS),
    ]


def simulated(tables: int, n: int, *, seed: int) -> np.ndarray:
    """Whole numbers from 0 to 100 by a rounded Beta(2, 5), a row for each table."""
    return np.rint(np.random.default_rng(seed).beta(2, 5, size=(tables, n)) * STEPS)


def coverage(
    numbers: np.ndarray, question: TableQuestion, *, n: int, epsilon: float, seed: int
) -> dict[str, Coverage]:
    """By the name of each column."""
    tables = len(numbers)
    labels = [str(place) for place in range(tables)]
    schema = Schema(
        [Categorical("table", labels), Numeric("x", 0, STEPS, integer=True)], adjacency="add_remove"
    )
    rows = {"table": np.repeat(labels, n), "x": numbers.ravel()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = answer(
            open_table(rows, schema), [by("table", question)], epsilon=epsilon, random_state=seed
        )
    return {estimate.name: _held(estimate, numbers) for estimate in answers.tables[0].columns}


def _held(estimate: Any, numbers: np.ndarray) -> Coverage:
    truth, population, possible = _truth(estimate.name, numbers)
    if estimate.name.startswith("quantile"):
        held = [
            _is_median(row, low, high)
            for row, low, high in zip(numbers, estimate.low, estimate.high, strict=True)
        ]
        inside = np.array(held)
    else:
        inside = (estimate.low - 1e-9 <= truth) & (truth <= estimate.high + 1e-9)
    beyond = None
    if estimate.population_low is not None and population is not None:
        beyond = float(
            np.mean(
                (estimate.population_low - 1e-9 <= population)
                & (population <= estimate.population_high + 1e-9)
            )
        )
    width = estimate.high - estimate.low
    return Coverage(
        table=float(inside.mean()),
        population=beyond,
        informative=float(np.mean(width < 0.999 * possible)) if possible else 1.0,
        width=float(np.median(width)),
    )


def _is_median(row: np.ndarray, low: float, high: float) -> bool:
    """Whether some median of the table is in the interval."""
    own = np.sort(row)
    return bool(low <= own[len(own) // 2] and own[(len(own) - 1) // 2] <= high)


def _truth(name: str, numbers: np.ndarray) -> tuple[np.ndarray, float | None, float | None]:
    """The tables' own values, the population's, and the width of all that is possible."""
    reference = np.rint(np.random.default_rng(0).beta(2, 5, size=2_000_000) * STEPS)
    own: dict[str, Any] = {
        "count": (np.full(len(numbers), numbers.shape[1]), None, None),
        "sum_x": (numbers.sum(axis=1), None, None),
        "mean_x": (numbers.mean(axis=1), float(reference.mean()), STEPS),
        "variance_x": (numbers.var(axis=1), None, STEPS**2 / 4),
        "high": ((numbers > 35).mean(axis=1), float((reference > 35).mean()), 1.0),
        "quantile_x_0.5": (np.median(numbers, axis=1), float(np.median(reference)), STEPS),
    }
    return own[name]  # type: ignore[no-any-return]


def oracle_width(name: str, n: int, epsilon: float) -> float | None:
    """The width of the 95 % interval of somebody who knows n and the law of the noise, but not the table."""
    draw = np.random.default_rng(1)
    noise = draw.laplace(scale=1 / epsilon, size=(200_000, 3))
    mean, high = 2 / 7, 0.344
    if name == "count":
        error = noise[:, 0]
    elif name == "sum_x":
        error = STEPS * noise[:, 0]
    elif name == "mean_x":
        error = STEPS * (noise[:, 0] * (1 - mean) - noise[:, 1] * mean) / n
    elif name == "high":
        error = (noise[:, 0] * (1 - high) - noise[:, 1] * high) / n
    elif name == "variance_x":
        v = 10 / (49 * 8)
        weights = np.array([mean**2 - v, mean**2 - mean - v, 1 - 2 * mean + mean**2 - v])
        error = STEPS**2 * (noise @ weights) / n
    else:
        return None
    return float(2 * np.quantile(np.abs(error), 0.95))


def main() -> None:
    """Every cell, 2,000 tables each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2000)
    tables = parser.parse_args().tables
    results = []
    for n in (20, 100, 10_000):
        for epsilon in (0.1, 1.0):
            for question in questions():
                found: dict[str, list[tuple[int, Coverage]]] = {}
                done, part = 0, tables if n < 1000 else 100
                while done < tables:
                    numbers = simulated(part, n, seed=done + n)
                    for name, result in coverage(numbers, question, n=n, epsilon=epsilon, seed=done).items():
                        found.setdefault(name, []).append((part, result))
                    done += part
                for name, parts in found.items():
                    mean = _mean(parts)
                    oracle = oracle_width(name, n, epsilon)
                    row = {"question": name, "n": n, "epsilon": epsilon, "tables": done, **asdict(mean)}
                    row["over_oracle"] = None if oracle is None else mean.width / oracle
                    results.append(row)
                    print(json.dumps(row))
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _mean(parts: list[tuple[int, Coverage]]) -> Coverage:
    weights = [size for size, _ in parts]

    def mean(field: str) -> float:
        return float(np.average([getattr(result, field) for _, result in parts], weights=weights))

    beyond = None if parts[0][1].population is None else mean("population")
    return Coverage(
        table=mean("table"), population=beyond, informative=mean("informative"), width=mean("width")
    )


if __name__ == "__main__":
    main()
