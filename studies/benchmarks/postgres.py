"""PostgreSQL: what pulling, counting and summing cost against a scan, as ratios within one run.

    python -m studies.benchmarks.postgres [--save] [--rows 200000]

The script starts a server of its own (PostgreSQL on the same machine: no network). Data are synthetic: ten numbers in
[0, 1], five categories of eight values and a label, from the server's own generator. Every call is made in turn in
each of the rounds, and the best of them counts. Ratios are of processor time, client and server together, which a
busy machine disturbs less than the clock; the floor is a scan that adds up the ten numbers.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from studies.benchmarks.public_data import package
from tests.servers.postgres import Server, start

from holdfast.data import Categorical, Encoder, Numeric, Order, Schema, Table, open_table
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._problem.problem import ClassLabels
from holdfast.learn._rows.engine_sums import GradientSum, GramSum, LabelledRows

if TYPE_CHECKING:
    import psutil
else:
    psutil = package("psutil")

NUMBERS, KINDS, CELLS = 10, 5, 8
ROUNDS = 3
SCANS = 10
"""Scans per call: one is shorter than a tick of the processor's clock."""
SEED = 1


def make(server: Server, rows: int) -> None:
    """The table `t`; the label leans on the first number."""
    numbers = ", ".join(f"random() AS x{i}" for i in range(NUMBERS))
    kinds = ", ".join(f"'k' || floor(random() * {CELLS})::int AS c{i}" for i in range(KINDS))
    server.run(
        f"SELECT setseed(0.{SEED})",
        f"CREATE TABLE t AS SELECT *, CASE WHEN x0 + random() > 1 THEN 'yes' ELSE 'no' END AS y "
        f"FROM (SELECT {numbers}, {kinds} FROM generate_series(1, {rows})) AS q",
        "VACUUM ANALYZE t",
        "GRANT SELECT ON t TO reader",
    )


def declared() -> Schema:
    numbers = [Numeric(f"x{i}", 0, 1, bins=CELLS) for i in range(NUMBERS)]
    kinds = [Categorical(f"c{i}", [f"k{cell}" for cell in range(CELLS)]) for i in range(KINDS)]
    return Schema([*numbers, *kinds, Categorical("y", ["no", "yes"])])


def statistics(schema: Schema) -> tuple[GradientSum, GradientSum, GramSum]:
    """Gradients with a diagonal and with a full whitening, and the second moment."""
    encoder = Encoder(schema, [name for name in schema.names if name != "y"], intercept=False)
    rows = LabelledRows(encoder=encoder, target="y", coding=ClassLabels.of_column(schema["y"]), intercept=0.5)
    coins = np.random.default_rng(SEED)
    d = rows.dimension
    root = coins.normal(size=(d, d)) / np.sqrt(d)
    made: Any = {"rows": rows, "loss": Logistic(), "weights": coins.normal(size=d), "clip": 1.0, "bound": 3.0}
    full = root @ root.T + np.eye(d)
    return (
        GradientSum(form=np.diag(full).copy(), **made),
        GradientSum(form=full, **made),
        GramSum(rows=rows, bound=3.0),
    )


def processor(server: Server) -> float:
    """Seconds of processor time of this process, the server, and its backends, ended ones included."""
    postmaster = psutil.Process(server.process.pid)
    ended = postmaster.cpu_times()
    total = time.process_time() + ended.user + ended.system + ended.children_user + ended.children_system
    for backend in postmaster.children():
        with suppress(psutil.NoSuchProcess):
            total += backend.cpu_times().user + backend.cpu_times().system
    return float(total)


def best(server: Server, calls: dict[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """The least seconds of each call, of processor time and of the clock, all of them once per round."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begun, spent = time.perf_counter(), processor(server)
            call()
            found[name].append((processor(server) - spent, time.perf_counter() - begun))
    return {name: (min(a for a, _ in each), min(b for _, b in each)) for name, each in found.items()}


def drained(table: Table, order: Order) -> int:
    with table:
        return sum(len(batch) for batch in table.batches(order=order))


def measure(server: Server, rows: int) -> list[str]:
    make(server, rows)
    schema = declared()
    url = server.url("t")
    pairs = [list(pair) for pair in combinations([f"x{i}" for i in range(3)] + ["c0", "c1", "c2"], 2)]
    diagonal, full, gram = statistics(schema)
    scan = "SELECT " + ", ".join(f"sum(x{i})" for i in range(NUMBERS)) + " FROM public.t"
    sql = open_table(url, schema, way="sql")
    copied = open_table(url, schema, way="pull", keep="memory")
    copied.count()
    arrays: dict[str, Any] = {name: [] for name in schema.names}
    for batch in copied.batches(order=Order.irrelevant()):
        for name in schema.names:
            column = schema[name]
            values = batch.column(name)
            arrays[name].append(
                values if isinstance(column, Numeric) else np.array(column.labels)[values.astype(int)]
            )
    memory = open_table({name: np.concatenate(parts) for name, parts in arrays.items()}, schema)
    for statistic in (diagonal, full, gram):
        np.testing.assert_allclose(sql.sums(statistic), memory.sums(statistic), rtol=1e-9, atol=1e-9)
    chunks = [full.rows.chunk(batch) for batch in memory.batches(order=Order.irrelevant())]
    ask: Any = sql
    both = best(
        server,
        {
            "scan: sum of ten numbers": lambda: [ask._session.answer(scan, "scan") for _ in range(SCANS)],
            "pull into memory, one pass": lambda: drained(
                open_table(url, schema, way="pull", keep="memory"), Order.irrelevant()
            ),
            "pull into a private file, one pass": lambda: drained(
                open_table(url, schema, way="pull", keep="file"), Order.irrelevant()
            ),
            "a shuffled pass over the copy": lambda: sum(
                len(batch) for batch in copied.batches(order=Order.permutation())
            ),
            "15 joint counts, one query": lambda: sql.counts(pairs),
            "15 joint counts, 15 queries": lambda: [sql.counts([pair]) for pair in pairs],
            "second moment in SQL": lambda: sql.sums(gram),
            "gradient in SQL, diagonal": lambda: sql.sums(diagonal),
            "gradient in SQL, full whitening": lambda: sql.sums(full),
            "gradient over encoded rows in memory, full": lambda: [full.total(*chunk) for chunk in chunks],
        },
    )
    sql.close()
    copied.close()
    scanned = "scan: sum of ten numbers"
    both[scanned] = (both[scanned][0] / SCANS, both[scanned][1] / SCANS)
    times = {name: spent for name, (spent, _) in both.items()}
    floor = times[scanned]
    width = diagonal.rows.dimension
    listed = [
        f"| {name} | {spent:.2f} | {1e6 * spent / rows:.2f} | {spent / floor:.1f} | {clock:.2f} |"
        for name, (spent, clock) in both.items()
    ]
    pull, step = times["pull into memory, one pass"], times["gradient in SQL, full whitening"]
    here = times["gradient over encoded rows in memory, full"]
    together = times["15 joint counts, one query"] / times["15 joint counts, 15 queries"]
    return [
        f"{rows:,} rows, {len(schema.names)} columns, {width} features; the sums agree with the memory engine's "
        "to 1e-9.",
        "",
        "| call | processor s | microseconds per row | times the scan | by the clock, s |",
        "|---|---:|---:|---:|---:|",
        *listed,
        "",
        f"One query for the 15 counts takes {together:.2f} of the time of 15 queries. A gradient in SQL takes "
        f"{step / here:.0f} times as long as over rows in memory; pulling once costs as much as {pull / step:.1f} "
        "gradients in SQL.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", action="store_true", help="write studies/benchmarks/results/postgres.md")
    parser.add_argument("--rows", type=int, default=200_000)
    options = parser.parse_args()
    server = start()
    try:
        with server.admin() as admin:
            release = admin.execute("SHOW server_version").fetchone()[0].split()[0]
        lines = measure(server, options.rows)
    finally:
        server.stop()
    text = "\n".join(
        [
            "# PostgreSQL: pulling, counting and summing against a scan",
            "",
            "Made by `python -m studies.benchmarks.postgres --save`; all rows of the same run, called in turn, best of "
            f"{ROUNDS}. Data are synthetic (seed {SEED}), the server on the same machine.",
            "",
            f"Machine: {os.cpu_count()} shared cores, Python {platform.python_version()}, PostgreSQL {release}, "
            f"ADBC {version('adbc-driver-postgresql')}, DuckDB {version('duckdb')}.",
            "",
            *lines,
            "",
        ]
    )
    print(text)
    if options.save:
        (Path(__file__).parent / "results" / "postgres.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
