"""An additive fit of many rows, time and memory: `python -m studies.benchmarks.additive_size [ROWS] [--save]`."""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
from studies.benchmarks.public_data import data_file

RESULTS = Path(__file__).parent / "results" / "additive_size.md"


def write(path: Path, rows: int) -> None:
    """Adult's rows again and again, a row group at a time."""
    adult = parquet.read_table(data_file("adult_train.parquet"))
    with parquet.ParquetWriter(path, adult.schema) as writer:
        for start in range(0, rows, len(adult)):
            writer.write_table(adult.slice(0, min(len(adult), rows - start)))


def fit(path: str, rows: int) -> None:
    from holdfast import PrivateAdditiveClassifier, open_table
    from holdfast.data._datasets import adult as bundled

    started = time.process_time()
    with open_table(Path(path), bundled().schema) as table:
        PrivateAdditiveClassifier(1.0, min(1e-6, 0.1 / rows)).fit(table, target="income")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{rows:,} rows: {time.process_time() - started:.1f} CPU s, peak {peak:.0f} MB")


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("rows", nargs="?", type=int, default=5_000_000)
    asked.add_argument("--fit", metavar="FILE", help="fit this file of so many rows, in this process")
    asked.add_argument(
        "--save", action="store_true", help="write studies/benchmarks/results/additive_size.md"
    )
    told = asked.parse_args()
    if told.fit:
        fit(told.fit, told.rows)
        return
    rows = told.rows
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, rows)
        # A process of its own: writing the file must not count.
        command = [sys.executable, "-m", "studies.benchmarks.additive_size", str(rows), "--fit", str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    print(done.stdout, end="")
    if told.save:
        RESULTS.write_text(
            "# An additive fit of many rows\n\n"
            f"Made by `python -m studies.benchmarks.additive_size {rows} --save`: Adult's rows "
            "again and again, from a Parquet "
            f"file, epsilon 1. Commit {commit()}; {platform.machine()}, {os.cpu_count()} shared cores under load, "
            f"Python {platform.python_version()}. CPU time of the fit; peak of the process.\n\n- {done.stdout}",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
