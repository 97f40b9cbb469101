"""What `recommend` rests on: linear and additive models on the learning panel, at several budgets and without privacy.

Made-up tables of the additive models' benchmark whose law is not linear join it: the panel has few small tables.

Run with `python -m studies.benchmarks.recommend_panel [--table T ...] [--save]`. With `--save` the result is written
into the package (`src/holdfast/learn/_estimators/recommend_panel.json`), with the commit that made it. Splits are
those of the learning panel, fits are seeded, delta is n^-1.5 under zero_out; scores are means over repetitions.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import math
import subprocess
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from studies.benchmarks.additive_made import MADE
from studies.benchmarks.learn_panel import score
from studies.benchmarks.learn_panel_tables import TABLES, PanelTable, load
from studies.benchmarks.public_data import package

from holdfast.data._engines import open_table
from holdfast.errors import DataError
from holdfast.learn import (
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateLinearRegression,
    PrivateLogisticRegression,
)
from holdfast.learn._estimators.recommend import PANEL_FILE, PanelTry, _feature_count

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = package("pandas")

EPSILONS = (0.1, 1.0, 4.0)
REPETITIONS = 2
NEARLY_NONE = 1e5
"""The epsilon that stands in for none where the exact solver refuses."""
LEFT_OUT = {
    "MNIST": "shapes of 784 columns and ten classes take minutes",
    "d 800": "shapes of 800 columns take minutes",
}

MADE_UP = ("4 % class", "claims", "2,000 rows", "2,000 rows, a number", "gaps")


def table_of(name: str) -> PanelTable:
    """Of the panel, or made up; repetitions split both at random."""
    if name not in MADE_UP:
        return load(name)
    made = MADE[name]()
    frame = pd.concat([made.train, made.test], ignore_index=True)
    return PanelTable(
        name=name,
        target=made.target,
        schema=made.schema,
        frame=frame,
        train=len(made.train),
        test=len(made.test),
    )


def floor_of(table: PanelTable, train: Any, test: Any) -> float:
    """What a constant reaches: the commonest class, one half of the area, or R2 of the training mean."""
    if table.metric == "area":
        return 0.5
    wanted = test[table.target]
    if table.classes is None:
        return float(1.0 - np.mean((wanted - train[table.target].mean()) ** 2) / np.var(wanted))
    return float(np.mean(wanted == train[table.target].mode()[0]))


def tried(name: str) -> list[dict[str, Any]]:
    """Every budget on one table."""
    table = table_of(name)
    numbers = table.classes is None
    linear: Any = PrivateLinearRegression if numbers else PrivateLogisticRegression
    additive: Any = PrivateAdditiveRegressor if numbers else PrivateAdditiveClassifier
    found: dict[float, list[list[float]]] = {epsilon: [] for epsilon in EPSILONS}
    for repetition in range(REPETITIONS):
        train, test = table.split(repetition)
        opened = open_table(train, table.schema)
        delta = len(train) ** -1.5
        ground = floor_of(table, train, test)
        try:
            best = linear(epsilon=math.inf, delta=delta).fit(opened, target=table.target)
        except DataError:  # a declared class has no record among those to train on
            best = linear(epsilon=NEARLY_NONE, delta=delta, random_state=0).fit(opened, target=table.target)
        exact = score(table, best, test)
        for epsilon in EPSILONS:
            private = [
                score(
                    table,
                    kind(epsilon=epsilon, delta=delta, random_state=repetition).fit(
                        opened, target=table.target
                    ),
                    test,
                )
                for kind in (linear, additive)
            ]
            found[epsilon].append([ground, exact, *private])
            print(name, epsilon, [round(value, 4) for value in found[epsilon][-1]], flush=True)
    made: list[dict[str, Any]] = []
    for epsilon, runs in found.items():
        ground, exact, one, other = (round(float(value), 4) for value in np.mean(runs, axis=0))
        made.append(
            {
                "table": name,
                "task": "number" if numbers else "classes",
                "measure": table.metric,
                "rows": table.train,
                "features": _feature_count(table.schema, table.target),
                "epsilon": epsilon,
                "floor": ground,
                "exact": exact,
                "linear": one,
                "additive": other,
            }
        )
    return [vars(PanelTry(**cell)) for cell in made]


def commit() -> str:
    """The commit of a clean source tree; a result of edited sources is not kept."""
    edited = subprocess.run(
        ["git", "status", "--porcelain", "src", "studies/benchmarks"],
        capture_output=True,
        text=True,
        check=True,
    )
    if [line for line in edited.stdout.splitlines() if not line.endswith(PANEL_FILE.name)]:
        raise SystemExit("commit the sources first: a result names the commit that made it")
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()


def main() -> None:
    """Run, and keep what was asked to be kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", action="append", help="only these; all by default")
    parser.add_argument("--save", action="store_true", help="write the package's file")
    options = parser.parse_args()
    made_on = commit() if options.save else ""
    names = [name for name in (options.table or (*TABLES, *MADE_UP)) if name not in LEFT_OUT]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = [cell for name in names for cell in tried(name)]
    if options.save:
        text = ",\n".join("  " + json.dumps(cell) for cell in cells)
        head = {"commit": made_on, "repetitions": REPETITIONS, "left_out": LEFT_OUT}
        Path(PANEL_FILE).write_text(
            json.dumps(head)[:-1] + ', "tried": [\n' + text + "\n]}\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
