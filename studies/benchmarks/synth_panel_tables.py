"""The tables and workloads of the synthesis panel: from HOLDFAST_DATA, or drawn here.

Bins of numbers are quantiles of the table, for every method alike: the panel compares methods, and its releases are
nobody's. Latent tables are x = sign(W z + b + noise) with standard normal W, z and noise.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow.csv as csv
import pyarrow.parquet as parquet
from numpy.typing import NDArray
from studies.benchmarks.public_data import data_file
from studies.benchmarks.synth_data import adult_schema, adult_table, adult_workload
from studies.benchmarks.synth_held_out import COVERTYPE_ROWS, covertype, of_codes, triples

from holdfast.data._table import Table
from holdfast.synth import Workload

Codes = NDArray[np.int64]
FACTORS, LATENT_ROWS = 8, 20_000
MOST_LABELS, BINS = 12, 8
NIST_COLUMNS = 18


def latent(columns: int, seed: int = 0, factors: int = FACTORS) -> Table:
    """20,000 rows of bits that depend on so many hidden numbers."""
    random = np.random.default_rng(seed)
    weights, shift = random.normal(size=(factors, columns)), random.normal(size=columns) * 0.5
    hidden = random.normal(size=(LATENT_ROWS, factors)) @ weights
    bits = hidden + shift + random.normal(size=(LATENT_ROWS, columns)) > 0
    return of_codes({f"x{place:03d}": (bits[:, place], 2) for place in range(columns)})


def mnist() -> Table:
    """60,000 digits as 7 x 7 bits: whether the mean of 4 x 4 pixels is at least 64."""
    images = parquet.read_table(data_file("mnist_train.parquet"))["image"].combine_chunks()
    pixels = np.frombuffer(b"".join(images.to_pylist()), dtype=np.uint8).reshape(-1, 7, 4, 7, 4)
    bits = pixels.mean(axis=(2, 4)).reshape(len(pixels), 49) >= 64
    return of_codes({f"p{place:02d}": (bits[:, place], 2) for place in range(49)})


def protein() -> Table:
    """KDD Cup 2004: its first 40 features in four bins of equal size each."""
    file = parquet.read_table(data_file("kddcup04_protein.parquet"))
    return of_codes(
        {f"f{place:02d}": (_quantiles(file[f"f{place:02d}"].to_numpy(), 4), 4) for place in range(1, 41)}
    )


def location(columns: int) -> Table:
    """Location-30: 5,010 rows, its first binary columns."""
    file = parquet.read_table(data_file("location30.parquet"))
    return of_codes({f"f{place:03d}": (file[f"f{place:03d}"].to_numpy(), 2) for place in range(columns)})


def gss() -> Table:
    """The 12 columns of the General Social Survey's table; numbers in eight bins."""
    file = parquet.read_table(data_file("gss.parquet"))
    return of_codes({name: _coded(file[name].to_pylist()) for name in file.column_names})


def nist() -> Table:
    """The first 18 columns of the national excerpt; what has more than twelve labels in eight bins."""
    file = csv.read_csv(data_file("nist_acs") / "national" / "national2019.csv")
    return of_codes({name: _coded(file[name].to_pylist()) for name in file.column_names[:NIST_COLUMNS]})


def _coded(values: list[Any]) -> tuple[Codes, int]:
    labels, codes = np.unique(np.array([str(value) for value in values]), return_inverse=True)
    if len(labels) <= MOST_LABELS:
        return codes.astype(np.int64), len(labels)
    try:
        numbers = np.array([float(value) if value not in (None, "N", "") else -1.0 for value in values])
    except ValueError:
        numbers = codes.astype(np.float64)
    return _quantiles(numbers, BINS), BINS


def _quantiles(values: NDArray[Any], bins: int) -> Codes:
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)[1:-1]))
    return np.searchsorted(edges, values, side="right").astype(np.int64)


def pairs(table: Table) -> tuple[Table, Workload]:
    return table, Workload.marginals(table.schema, 2)


def some_triples(table: Table, count: int) -> tuple[Table, Workload]:
    every = list(combinations(table.schema.names, 3))
    chosen = np.random.RandomState(0).choice(len(every), min(count, len(every)), replace=False)
    return table, Workload.of([every[place] for place in chosen])


TASKS: dict[str, Callable[[], tuple[Table, Workload]]] = {
    "adult_64_triples": lambda: (adult_table(), adult_workload()),
    "adult_pairs": lambda: (adult_table(), Workload.marginals(adult_schema(), 2)),
    "covertype": lambda: ((t := covertype()), triples(t.schema, COVERTYPE_ROWS, 0)),
    "location_20": lambda: pairs(location(20)),
    "location_60": lambda: pairs(location(60)),
    "nist": lambda: pairs(nist()),
    "gss": lambda: pairs(gss()),
    "mnist": lambda: pairs(mnist()),
    "protein": lambda: pairs(protein()),
    "latent_16_triples": lambda: some_triples(latent(16), 64),
    "latent_16": lambda: pairs(latent(16)),
    "latent_60": lambda: pairs(latent(60)),
    "latent_100": lambda: pairs(latent(100)),
    "latent_60_triples": lambda: some_triples(latent(60), 500),
    "latent_16_500": lambda: some_triples(latent(16, seed=1, factors=10), 500),
    "latent_100_triples": lambda: some_triples(latent(100, seed=2, factors=5), 500),
}
TUNE = (
    "adult_64_triples",
    "location_20",
    "latent_16_triples",
    "mnist",
    "gss",
    "latent_60",
    "latent_60_triples",
)
"""What constants and rules may be chosen on; all others judge. Named before the panel ran, after the generator's
constants had been chosen on `latent_60`; `latent_100` had been looked at by then, and is drawn by the same law as
`latent_60`, so it is a weak judge. `auto` without `SMALL_TABLE_CELLS` lost 1.65 on `location_60` at epsilon 0.1, which
was seen; the constant was then chosen on tuning tables alone, at epsilons below the panel's. The bound on cells in
`auto` was placed knowing the sizes of all tables, not their errors."""
