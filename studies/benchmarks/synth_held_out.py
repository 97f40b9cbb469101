"""`auto` on tables and workloads that none of its constants were chosen on, beside `tree`, `gaussian` and independent.

Run with `python -m studies.benchmarks.synth_held_out [TASK ...]`; finished runs are kept in
`studies/benchmarks/results/synth_held_out_TASK.json` and not repeated; the table is
`studies/benchmarks/results/synth_held_out.md`. The schedule, the penalty, the trust and the rows' least gain were
chosen on Adult with the 64 triples of seed 0. Each task can run in a process of its own: runs are kept by task.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import math
import platform
import resource
import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
from studies.benchmarks.learning_data import COVERTYPE_RANGES
from studies.benchmarks.public_data import data_file
from studies.benchmarks.synth_data import adult_schema, adult_table, adult_workload

from holdfast.data import Categorical, Schema, open_table
from holdfast.data._table import Table
from holdfast.errors import AssumptionWarning, NotPrivateWarning
from holdfast.synth import ExactCounts, Synthesizer, Workload
from holdfast.synth._evaluation import evaluate

RESULTS = Path(__file__).resolve().parent / "results"
EPSILONS = (0.1, 1.0, 10.0)
METHODS = ("auto", "tree", "gaussian", "independent")
DELTA = 1e-9
SEED = 0
BINS = 16
COVERTYPE_ROWS = 50_000
LOCATION_COLUMNS = 20


def triples(schema: Schema, rows: int, seed: int, most: int = 64) -> Workload:
    """Random 3-way marginals of at most n cells."""
    sizes = {name: schema[name].cells for name in schema.names}
    small = [t for t in combinations(sizes, 3) if math.prod(sizes[name] for name in t) <= rows]
    chosen = np.random.RandomState(seed).choice(len(small), min(most, len(small)), replace=False)
    return Workload.of([small[place] for place in chosen])


def of_codes(columns: dict[str, tuple[Any, int]]) -> Table:
    """A table of cell codes with a public number of rows."""
    rows = len(next(iter(columns.values()))[0])
    schema = Schema(
        [Categorical(name, [str(cell) for cell in range(cells)]) for name, (_, cells) in columns.items()],
        adjacency="add_remove",
        n_public=rows,
    )
    return open_table(
        {name: codes.astype(np.int64).astype(str).astype(object) for name, (codes, _) in columns.items()},
        schema,
    )


def covertype() -> Table:
    """50,000 rows of seed 0; ten numbers in 16 bins of equal width between their public bounds, area and cover."""
    file = parquet.read_table(data_file("covertype.parquet"))
    picked = np.random.RandomState(0).choice(file.num_rows, COVERTYPE_ROWS, replace=False)
    columns: dict[str, tuple[Any, int]] = {}
    for place, (low, high) in enumerate(COVERTYPE_RANGES):
        values = file.column(place).to_numpy()[picked].astype(np.float64)
        bins = np.minimum(BINS - 1, np.floor((values - low) / (high - low) * BINS))
        columns[file.column_names[place]] = (bins, BINS)
    area = np.stack([file[f"Wilderness_Area{i}"].to_numpy()[picked] for i in range(1, 5)], axis=1)
    columns["Wilderness_Area"] = (area.argmax(axis=1), 4)
    columns["Cover_Type"] = (file["Cover_Type"].to_numpy()[picked] - 1, 7)
    return of_codes(columns)


def location() -> Table:
    """Location-30: 5,010 rows, its first 20 binary columns."""
    file = parquet.read_table(data_file("location30.parquet"))
    return of_codes(
        {f"f{place:03d}": (file[f"f{place:03d}"].to_numpy(), 2) for place in range(LOCATION_COLUMNS)}
    )


def task(name: str) -> tuple[Table, Workload]:
    """A table and a workload."""
    made: dict[str, Callable[[], tuple[Table, Workload]]] = {
        "adult_triples": lambda: (adult_table(), adult_workload(1)),
        "adult_pairs": lambda: (adult_table(), Workload.marginals(adult_schema(), 2)),
        "covertype": lambda: ((t := covertype()), triples(t.schema, COVERTYPE_ROWS, 0)),
        "location": lambda: ((t := location()), triples(t.schema, 5010, 0)),
    }
    return made[name]()


TOLD = {
    "adult_triples": "Adult, 64 other triples (RandomState(1))",
    "adult_pairs": "Adult, all 91 pairs",
    "covertype": "Covertype, 50,000 rows, 12 columns, 64 triples",
    "location": "Location-30, 5,010 rows, 20 binary columns, 64 triples",
}


def run(name: str) -> None:
    """All methods and budgets that are not kept yet."""
    store = RESULTS / f"synth_held_out_{name}.json"
    kept: dict[str, Any] = json.loads(store.read_text()) if store.exists() else {}
    table, workload = task(name)
    data = ExactCounts(table)
    for epsilon in EPSILONS:
        for method in METHODS:
            key = f"{epsilon:g} {method}"
            if key in kept:
                continue
            before = resource.getrusage(resource.RUSAGE_SELF)
            made = Synthesizer(epsilon, DELTA, method=method, workload=workload, random_state=SEED).fit(table)
            after = resource.getrusage(resource.RUSAGE_SELF)
            found = evaluate(lambda columns: data(*columns), made._rows, workload)
            assert made.certificate_ is not None
            kept[key] = {
                "tvd": found.average_total_variation,
                "max_error": found.max_error,
                "chosen": made.method_,
                "alpha": made.certificate_.alpha,
                "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            }
            store.write_text(json.dumps(kept, indent=0) + "\n")
            print(name, key, kept[key], flush=True)


def write() -> None:
    """The page of results."""
    import holdfast

    lines = [
        "# Held out: tables and workloads that nothing was tuned on",
        "",
        "`python -m studies.benchmarks.synth_held_out`: delta 1e-9, add_remove with a public "
        "number of rows, n rows out,",
        f"fixed defaults (a tenth of the budget goes into the certificate), one run each with seed {SEED}. Cells:",
        "average total variation / largest error, exact, of the released rows; in brackets the certificate, and CPU",
        "seconds.",
        f"{platform.machine()}, shared cores, Python {platform.python_version()}, numpy {np.__version__}, holdfast",
        f"{holdfast.__version__}, one BLAS thread.",
    ]
    for name, told in TOLD.items():
        store = RESULTS / f"synth_held_out_{name}.json"
        if not store.exists():
            continue
        kept = json.loads(store.read_text())
        lines += [
            "",
            f"## {told}",
            "",
            f"| epsilon | {' | '.join(METHODS)} |",
            "|---" * (1 + len(METHODS)) + "|",
        ]
        for epsilon in EPSILONS:
            cells = []
            for method in METHODS:
                one = kept.get(f"{epsilon:g} {method}")
                cells.append(
                    "not run"
                    if one is None
                    else f"{one['tvd']:.4f} / {one['max_error']:.4f} ({one['alpha']:.4f}; {one['cpu_s']:.0f} s)"
                )
            lines.append(f"| {epsilon:g} | {' | '.join(cells)} |")
    (RESULTS / "synth_held_out.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Run what was asked for, and write the page from all that is kept."""
    warnings.simplefilter("ignore", NotPrivateWarning)
    warnings.simplefilter("ignore", AssumptionWarning)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", choices=[[], *TOLD], metavar="TASK")
    for name in parser.parse_args().tasks or list(TOLD):
        run(name)
        write()


if __name__ == "__main__":
    main()
