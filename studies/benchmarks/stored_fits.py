"""What a fit costs when its rows lie in a file: CPU seconds, memory, and the ratio to reading the bytes from memory.

    python -m studies.benchmarks.stored_fits [--rows 5000000] [--save]

Every fit runs in a process of its own, one thread for BLAS; CPU seconds are those of all its threads and of the system
on its behalf, imports apart. Memory is the peak of the resident set (VmHWM, Linux), imports and rows included. The
floor is what it takes to add up as many bytes of encoded rows as the passes meet, from memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from studies.benchmarks.public_data import data_file

RESULTS = Path(__file__).parent / "results" / "stored_fits.md"
COLUMNS, AT_ONCE, SEED = 20, 500_000, 0
REPEATS = 2
MUSTS = {"parquet": 14.0, "adult": 0.15, "mnist": 60.0, "protein": 5.0}
"""CPU seconds, and 1 GB for the first."""


def chunk(number: int, rows: int) -> tuple[Any, Any]:
    """Uniform numbers and a label that leans on two of them."""
    random = np.random.default_rng((SEED, number))
    x = random.uniform(size=(rows, COLUMNS))
    return x, np.where(x[:, 0] + x[:, 1] + random.uniform(size=rows) > 1.5, "yes", "no")


def sizes(rows: int) -> list[int]:
    return [min(AT_ONCE, rows - start) for start in range(0, rows, AT_ONCE)]


def write(folder: Path, rows: int) -> None:
    """A Parquet file and a DuckDB file of the same rows."""
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as parquet

    names = [f"x{place}" for place in range(COLUMNS)]
    fields = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.string())])
    with parquet.ParquetWriter(folder / "rows.parquet", fields) as writer:
        for number, size in enumerate(sizes(rows)):
            x, y = chunk(number, size)
            writer.write_table(pa.table([*x.T, y], schema=fields))
    with duckdb.connect(str(folder / "rows.db"), config={"threads": 1}) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM '{folder / 'rows.parquet'}'")


def declared() -> Any:
    from holdfast import Categorical, Numeric, Schema

    return Schema(
        [*(Numeric(f"x{place}", 0, 1) for place in range(COLUMNS)), Categorical("y", ["no", "yes"])]
    )


def stored(source: str, rows: int, **options: Any) -> Callable[[], Any]:
    from holdfast import PrivateLogisticRegression, open_table

    def fit() -> Any:
        with open_table(source, declared(), **options) as table:
            return PrivateLogisticRegression(1.0, 0.1 / rows, random_state=SEED).fit(table, target="y")

    return fit


def array_fit(x: Any, y: Any, **options: Any) -> Callable[[], Any]:
    from holdfast import PrivateLogisticRegression

    classes = np.unique(y).tolist()
    model = PrivateLogisticRegression(1.0, len(x) ** -1.5, classes=classes, adjacency="zero_out", **options)
    return lambda: model.fit(x, y)


def in_memory(rows: int) -> Callable[[], Any]:
    parts = [chunk(number, size) for number, size in enumerate(sizes(rows))]
    x = np.concatenate([part for part, _ in parts])
    return array_fit(2.0 * x - 1.0, np.concatenate([part for _, part in parts]))


def mnist() -> Callable[[], Any]:
    """All 784 pixels, in [0, 1], rows clipped to the norm 10 (about the median length)."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(data_file("mnist_train.parquet"))
    pixels = np.frombuffer(b"".join(table["image"].to_pylist()), dtype=np.uint8).reshape(-1, 784)
    return array_fit(pixels / 255.0, table["label"].to_numpy(), row_norm=10.0)


def adult() -> Callable[[], Any]:
    from studies.benchmarks.learning_data import adult as data

    found = data()
    return array_fit(found.train, found.train_labels, fit_intercept=False)


def protein() -> Callable[[], Any]:
    from studies.reproductions.seed_data import protein as data

    found = data(rows=72_875, test=72_876)
    return array_fit(found.train, found.train_labels)


CASES: dict[str, tuple[str, Callable[[Path, int], Callable[[], Any]]]] = {
    "parquet": ("from Parquet", lambda folder, rows: stored(str(folder / "rows.parquet"), rows)),
    "no copy": (
        "the same, `local_copy=False`",
        lambda folder, rows: stored(str(folder / "rows.parquet"), rows, local_copy=False),
    ),
    "duckdb": (
        "from a DuckDB file",
        lambda folder, rows: stored(f"duckdb:///{folder / 'rows.db'}?table=t", rows),
    ),
    "memory": ("from an array in memory", lambda folder, rows: in_memory(rows)),
    "adult": ("Adult, 108 features", lambda folder, rows: adult()),
    "protein": ("Protein, 75 features", lambda folder, rows: protein()),
    "mnist": ("MNIST, 784 pixels, 10 classes", lambda folder, rows: mnist()),
}


def peak_megabytes() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def floor(values: int, passes: int) -> float:
    """CPU seconds of adding up so many numbers, a block that lies in memory and not in a cache at a time."""
    block = np.ones(2**24)
    block.sum()
    began = time.process_time()
    for _ in range(4):
        block.sum()
    return (time.process_time() - began) / (4 * block.size) * values * passes


def measure(name: str, folder: Path, rows: int) -> None:
    """In a process of its own: fit, and print what it took."""
    warnings.simplefilter("ignore")
    fit = CASES[name][1](folder, rows)
    best, model = float("inf"), None
    for _ in range(REPEATS if name in ("adult", "protein", "memory") else 1):
        began = time.process_time()
        model = fit()
        best = min(best, time.process_time() - began)
    peak = peak_megabytes()
    assert model is not None
    parameters = model.release_.provenance.parameters
    passes = int(parameters["steps"]) + (parameters["preconditioner"] != "none")
    counted = {"adult": 32_561, "protein": 72_875, "mnist": 60_000}.get(name, rows)
    wide = model.coef_.shape[1] + bool(model.fit_intercept)
    told = {
        "seconds": best,
        "peak": peak,
        "method": model.method_,
        "passes": passes,
        "floor": floor(counted * wide, passes),
        "weights": model.coef_.ravel()[:3].tolist(),
        "rows": counted,
    }
    print(json.dumps(told))


def line(name: str, found: dict[str, Any]) -> str:
    must = MUSTS.get(name)
    ratio = found["seconds"] / found["floor"]
    return (
        f"| {CASES[name][0]} | {found['rows']:,} | {found['method']} | {found['passes']} | {found['seconds']:.2f} | "
        f"{'' if must is None else f'{must:g}'} | {found['peak']:.0f} | {found['floor']:.2f} | {ratio:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--save", action="store_true", help="write studies/benchmarks/results/stored_fits.md")
    parser.add_argument("--only", nargs="+", choices=tuple(CASES), default=tuple(CASES))
    parser.add_argument("--measure", nargs=2, metavar=("CASE", "FOLDER"), help="one case, in this process")
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if options.measure:
        measure(options.measure[0], Path(options.measure[1]), options.rows)
        return
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="holdfast-benchmark-") as made:
        write(Path(made), options.rows)
        for name in options.only:
            command = [sys.executable, "-m", "studies.benchmarks.stored_fits", "--rows", str(options.rows)]
            run = subprocess.run(
                [*command, "--measure", name, made], check=True, capture_output=True, text=True
            )
            found[name] = json.loads(run.stdout)
            print(line(name, found[name]), flush=True)
    same = "no copy" in found and found["no copy"]["weights"] == found["parquet"]["weights"]
    text = "\n".join(
        [
            "# Fits of stored rows: time and memory",
            "",
            f"Made by `python -m studies.benchmarks.stored_fits --rows {options.rows} --save`. "
            f"PrivateLogisticRegression, auto, epsilon 1; the first four rows are {COLUMNS} uniform numbers and a "
            f"label (NumPy seed {SEED}). CPU seconds of one process, the system's included. {platform.machine()}, "
            f"{os.cpu_count()} shared cores under other load, Python {platform.python_version()}, "
            f"NumPy {np.__version__}, PyArrow {version('pyarrow')}, DuckDB "
            f"{version('duckdb')}.",
            "",
            "| | rows | method | passes | CPU s | must | peak MB | floor, s | times the floor |",
            "|---|---:|---|---:|---:|---:|---:|---:|---:|",
            *(line(name, one) for name, one in found.items()),
            "",
            "The floor is what adding up the encoded rows takes, once for each pass, from memory. "
            + ("With and without the copy the weights are equal to the last bit. " if same else "")
            + "The must for the first row is 14 CPU s within 1 GB.",
            "",
        ]
    )
    if options.save:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
