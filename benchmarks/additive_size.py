"""An additive fit of many rows from Parquet, its time and memory: `python -m benchmarks.additive_size [ROWS]`."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
from benchmarks.learning_data import data_folder


def write(path: Path, rows: int) -> None:
    """Adult's rows again and again, a row group at a time."""
    adult = parquet.read_table(data_folder() / "adult_train.parquet")
    with parquet.ParquetWriter(path, adult.schema) as writer:
        for start in range(0, rows, len(adult)):
            writer.write_table(adult.slice(0, min(len(adult), rows - start)))


def fit(path: str, rows: int) -> None:
    from holdfast import PrivateAdditiveClassifier, open_table
    from holdfast.data.datasets import adult as bundled

    started = time.process_time()
    with open_table(Path(path), bundled().schema) as table:
        PrivateAdditiveClassifier(1.0, min(1e-6, 0.1 / rows)).fit(table, target="income")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{rows:,} rows: {time.process_time() - started:.1f} CPU s, peak {peak:.0f} MB")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("rows", nargs="?", type=int, default=5_000_000)
    asked.add_argument("--fit", metavar="FILE", help="fit this file of so many rows, in this process")
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
        subprocess.run(
            [sys.executable, "-m", "benchmarks.additive_size", str(rows), "--fit", str(path)], check=True
        )


if __name__ == "__main__":
    main()
