"""One run of the synthesis benchmark each, in a process of its own.

Run with `python -m studies.benchmarks.synth_runs KIND METHOD EPSILON SEED`; `studies.benchmarks.synth` starts them
and puts their results together.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import AssumptionWarning, NotPrivateWarning

DELTA = 1e-9
TARGET = "income>50K"
SCALE_COLUMNS = 30


def quiet() -> None:
    """Seeded runs are what a benchmark is about."""
    warnings.simplefilter("ignore", NotPrivateWarning)
    warnings.simplefilter("ignore", AssumptionWarning)


def spent() -> dict[str, float]:
    """CPU seconds and peak megabytes of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def errors(method: str, epsilon: float, seed: int) -> dict[str, Any]:
    """A release of Adult: exact errors, the certificate, time and memory."""
    from studies.benchmarks.synth_data import adult_table, adult_workload

    from holdfast.synth import ExactCounts, Synthesizer
    from holdfast.synth._evaluation import evaluate

    table, workload = adult_table(), adult_workload()
    before = spent()
    start = time.perf_counter()
    made = Synthesizer(epsilon, DELTA, method=method, workload=workload, random_state=seed).fit(table)
    wall = time.perf_counter() - start
    after = spent()
    data = ExactCounts(table)
    found = evaluate(lambda columns: data(*columns), made._rows, workload)
    assert made.certificate_ is not None
    return {
        "chosen": made.method_,
        "tvd": found.average_total_variation,
        "tvd_max": float(found.total_variation.max()),
        "max_error": found.max_error,
        "alpha": made.certificate_.alpha,
        "wall_s": wall,
        "certificate_std": made.certificate_.details["noise_std"],
        "cpu_s": after["cpu_s"] - before["cpu_s"],
        "peak_mb": after["peak_mb"],
    }


def line(name: str, epsilon: float, seed: int) -> dict[str, Any]:
    """A reference line, with the whole budget."""
    from studies.benchmarks.synth_data import adult_table, adult_workload

    from holdfast.synth._evaluation import reference_lines

    start, before = time.perf_counter(), spent()["cpu_s"]
    (found,) = reference_lines(
        adult_table(), adult_workload(), epsilon=epsilon, delta=DELTA, random_state=seed, options=(name,)
    )
    return {
        "tvd": found.average_total_variation,
        "tvd_max": float(found.total_variation.max()),
        "max_error": found.max_error,
        "wall_s": time.perf_counter() - start,
        "cpu_s": spent()["cpu_s"] - before,
        "peak_mb": spent()["peak_mb"],
    }


def downstream(method: str, epsilon: float, seed: int) -> dict[str, Any]:
    """Train on synthetic rows of two thirds of Adult, test on the last third: income, by boosted trees and a line."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from studies.benchmarks.synth_data import adult_schema, adult_table

    from holdfast.data import Schema, open_table
    from holdfast.synth import Synthesizer, Workload

    batch = next(adult_table().batches(rows=10**6, order=_stored_order()))
    names = list(adult_schema().names)
    codes = np.stack([batch.codes(name) for name in names], axis=1)
    order = np.random.default_rng(0).permutation(len(codes))
    test, train = codes[order[: len(codes) // 3]], codes[order[len(codes) // 3 :]]
    start = time.perf_counter()
    if method != "real rows":
        schema = Schema(adult_schema().columns, adjacency="add_remove", n_public=len(train))
        frame = {name: train[:, place] for place, name in enumerate(names)}
        # Pairs, and every triple with the target in it.
        pairs = Workload.marginals(schema, 2, most_cells=20_000)
        triples = [g for g in Workload.marginals(schema, 3, most_cells=20_000).groups if TARGET in g.columns]
        made = Synthesizer(
            epsilon, DELTA, method=method, workload=Workload([*pairs.groups, *triples]), random_state=seed
        ).fit(open_table(frame, schema))
        train = made._rows.codes
    place = names.index(TARGET)
    rest = [column for column in range(len(names)) if column != place]
    sizes = [np.arange(adult_schema()[names[column]].cells) for column in rest]
    one_hot = OneHotEncoder(categories=sizes)
    found: dict[str, Any] = {"wall_s": time.perf_counter() - start}
    learners = {
        "boosting": HistGradientBoostingClassifier(random_state=0),
        "line": make_pipeline(one_hot, LogisticRegression(max_iter=300, C=0.1)),
    }
    for name, learner in learners.items():
        learner.fit(train[:, rest], train[:, place])
        scores = learner.predict_proba(test[:, rest])[:, 1]
        found[f"{name}_accuracy"] = float(np.mean((scores > 0.5) == test[:, place]))
        found[f"{name}_auc"] = float(roc_auc_score(test[:, place], scores))
    return found | spent()


def _stored_order() -> Any:
    from holdfast.data import Order

    return Order.irrelevant()


def scale(method: str, epsilon: float, seed: int) -> dict[str, Any]:
    """So many rows (in place of the seed) of 30 columns in a Parquet file, counted by DuckDB and never loaded."""
    import duckdb

    from holdfast.data import Categorical, Schema, open_table
    from holdfast.synth import Synthesizer, Workload

    rows = seed
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        # Columns 3i, 3i + 1 and 3i + 2 share a hidden number, and neighbours of such triples share half of it.
        sizes = [(4, 8, 16)[column % 3] for column in range(SCALE_COLUMNS)]

        def number(block: int) -> str:
            return f"hash(i * 1000 + {block}) % 64"

        def shared(block: int) -> str:
            return f"({number(block)} + CASE WHEN {number(block + 100)} < 32 THEN {number(block + 1)} ELSE 0 END)"

        def cell(column: int, cells: int) -> str:
            own = f"CASE WHEN hash(i * 1000 + {column + 200}) % 10 < 3 THEN hash(i * 1000 + {column + 300}) ELSE 0 END"
            return f"(({shared(column // 3)} // {128 // cells} + {own}) % {cells})::INTEGER AS c{column}"

        listed = ", ".join(cell(column, cells) for column, cells in enumerate(sizes))
        duckdb.sql(f"COPY (SELECT {listed} FROM range({rows}) AS r(i)) TO '{path}'")
        schema = Schema(
            [
                Categorical(f"c{column}", [str(cell) for cell in range(cells)])
                for column, cells in enumerate(sizes)
            ],
            adjacency="add_remove",
            n_public=rows,
        )
        before = spent()
        start = time.perf_counter()
        with open_table(path, schema, memory_limit="400MB", threads=2) as table:
            workload = Workload.marginals(schema, 2)
            made = Synthesizer(epsilon, DELTA, method=method, workload=workload, random_state=0).fit(table)
            wall = time.perf_counter() - start
        assert made.certificate_ is not None
        return {
            "chosen": made.method_,
            "alpha": made.certificate_.alpha,
            "groups": len(workload.groups),
            "wall_s": wall,
            "file_mb": path.stat().st_size / 2**20,
            "cpu_s": spent()["cpu_s"] - before["cpu_s"],
            "peak_mb": spent()["peak_mb"],
            "start_mb": before["peak_mb"],
        }


RUNS = {"errors": errors, "line": line, "downstream": downstream, "scale": scale}


def main() -> None:
    """Print what one run found, as JSON."""
    quiet()
    kind, method, epsilon, seed = sys.argv[1:]
    print(json.dumps(RUNS[kind](method, float(epsilon), int(seed))))


if __name__ == "__main__":
    main()
