"""Bolt-on SGD inside PostgreSQL: what an epoch costs against a scan, and what privacy adds to it.

    python -m studies.benchmarks.postgres_sgd [--save] [--rows 200000]

The script starts a server of its own on the same machine (no network), builds and installs the extension, and makes two
tables of the same synthetic rows: one real[54] with a label, and 54 columns of real. Parallel plans are off, so that
the scan and the aggregate, which is never parallel, are alike. Every call is made in turn in each round and the best
counts. Ratios are of processor time, client and server together. SCS13 and BST14 draw noise in every step; noise is
drawn in the driver only, so they run over rows that were pulled once, and the pull is part of their time.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from studies.benchmarks.postgres import best
from tests.servers.postgres import Server, start

from holdfast._kernel import SgdOptions
from holdfast._kernel import start as start_kernel
from holdfast.data import Categorical, Encoder, Numeric, Schema, open_table
from holdfast.data._engines.postgres.epochs import AggregatePasses, train
from holdfast.data._engines.postgres.install import install
from holdfast.data._engines.postgres.session import Session
from holdfast.data._engines.postgres.source import Address
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._problem.problem import ClassLabels
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.learn.classics.bst14 import bst14
from holdfast.learn.methods.bolt_on import bolt_on
from holdfast.learn.methods.scs13 import scs13
from holdfast.privacy import Account, ApproxDP

D, SEED, PASSES, TURNS = 54, 1, 10, 40
INSIDE = "54 columns, encoded, secret order: bolt-on, b = 50"
PULLED = "pull 54 columns once, then bolt-on in memory, b = 50"
SHORT = 10
"""Scans, and passes over stored arrays, per call: one is short against a tick of the processor's clock."""
SECRET = "substr(sha256('\\x{0}'::bytea || tidsend(ctid)), 1, 16)"


def make(server: Server, rows: int) -> Schema:
    """The tables `wide` and `arrays`; the label leans on the first number."""
    numbers = ", ".join(f"(2 * random() - 1)::real AS x{i}" for i in range(D))
    listed = ", ".join(f"x{i}" for i in range(D))
    server.run(
        "ALTER ROLE reader SET max_parallel_workers_per_gather = 0",
        f"SELECT setseed(0.{SEED})",
        "CREATE TABLE wide AS SELECT *, CASE WHEN x0 + random() > 0.5 THEN 'yes' ELSE 'no' END AS y "
        f"FROM (SELECT {numbers} FROM generate_series(1, {rows})) AS q",
        f"CREATE TABLE arrays AS SELECT ARRAY[{listed}]::real[] AS x, CASE WHEN y = 'yes' THEN 1.0 ELSE -1.0 "
        "END::double precision AS y FROM wide",
        *(f"VACUUM ANALYZE {name}" for name in ("wide", "arrays")),
        *(f"GRANT SELECT ON {name} TO reader" for name in ("wide", "arrays")),
    )
    return Schema([*(Numeric(f"x{i}", -1, 1) for i in range(D)), Categorical("y", ["no", "yes"])])


def course(rows: int, batch: int, passes: int = 1) -> AggregatePasses:
    steps = passes * -(-rows // batch)
    options = SgdOptions(
        dimension=D, batch=batch, penalty=1e-3, steps=np.minimum(1.0, 1e3 / np.arange(1, steps + 1))
    )
    return AggregatePasses(options=options, passes=passes, records=rows)


def measure(server: Server, rows: int) -> list[str]:
    schema = make(server, rows)
    session = Session(Address.of(server.url()).url)

    def ask(made: str) -> Any:
        return session.answer(made, "train", copy=False)

    stored = "SELECT NULL::bytea AS key, x, y FROM public.arrays"
    secret = f"SELECT {SECRET.format('00' * 32)} AS key, x, y FROM public.arrays"
    fetched = session.answer("SELECT x, y FROM public.arrays", "pull")
    matrix = np.array(fetched.column("x").to_pylist(), dtype=np.float64)
    labels = fetched.column("y").to_numpy()

    def kernel(batch: int) -> np.ndarray[Any, Any]:
        run = start_kernel(course(rows, batch).options)
        run.feed(matrix, labels)
        return run.final()

    apart = max(
        float(np.abs(train(ask, lambda _: stored, course(rows, b), ordered=False) - kernel(b)).max())
        for b in (1, 10, 50)
    )
    examples: Callable[[str], TableExamples] = lambda way: TableExamples(  # noqa: E731
        table=open_table(server.url("wide", way=way), schema),
        encoder=Encoder(schema, [f"x{i}" for i in range(D)], intercept=False),
        target="y",
        coding=ClassLabels.of_column(schema["y"]),
        public_count=rows,
    )
    problem = Problem(loss=Logistic(), dimension=D, penalty=1e-3)
    inside = examples("extension")

    def private(name: str, method: Any, batch: int, passes: int = 1) -> Callable[[], object]:
        def work() -> object:
            account = Account(
                ApproxDP(0.1, rows**-1.5), adjacency="replace", currency="renyi" if name == "BST14" else "gdp"
            )
            kept = inside if name == "bolt-on" else examples("pull").for_many_passes()
            return method(kept, problem, account=account, passes=passes, batch=batch, arithmetic="idealised")

        return work

    scan = "scan: SELECT avg(x[1])"
    stored_names = {f"real[54] as stored, b = {b}": b for b in (1, 10, 50)}

    def scanned() -> object:
        return session.answer("SELECT avg(x[1]) AS made FROM public.arrays", "scan", copy=False)

    def as_stored(batch: int) -> object:
        return train(ask, lambda _: stored, course(rows, batch), ordered=False)

    both = best(
        server,
        {
            scan: lambda: [scanned() for _ in range(SHORT)],
            **{name: lambda b=b: [as_stored(b) for _ in range(SHORT)] for name, b in stored_names.items()},  # type: ignore[misc]
            "real[54] in a secret order, b = 50": lambda: train(ask, lambda _: secret, course(rows, 50)),
            f"the same, {PASSES} passes": lambda: train(ask, lambda _: secret, course(rows, 50, PASSES)),
            INSIDE: private("bolt-on", bolt_on, 50),
            f"{INSIDE}, {PASSES} passes": private("bolt-on", bolt_on, 50, PASSES),
            PULLED: private("pulled bolt-on", bolt_on, 50),
            f"{PULLED}, {PASSES} passes": private("pulled bolt-on", bolt_on, 50, PASSES),
            "pull 54 columns once, then SCS13, b = 50": private("SCS13", scs13, 50),
            "pull 54 columns once, then BST14, b = 50": private("BST14", bst14, 50),
            "the kernel over rows in memory, b = 50": lambda: kernel(50),
        },
    )
    alone = quickest({scan: scanned, **{name: lambda b=b: as_stored(b) for name, b in stored_names.items()}})  # type: ignore[misc]
    for name, clock in alone.items():
        both[name] = (both[name][0] / SHORT, clock)
    overheads = [overhead(inside, problem, rows, passes=passes) for passes in (1, PASSES)]
    inside.table.close()
    session.close()
    floor, clock_floor = both[scan]
    stored50 = both["real[54] as stored, b = 50"]
    secret50 = both["real[54] in a secret order, b = 50"]
    ways = [(both[name][0], both[f"{name}, {PASSES} passes"][0]) for name in (INSIDE, PULLED)]
    listed = [
        f"| {name} | {spent:.3f} | {spent / floor:.1f} | {clock:.3f} | {clock / clock_floor:.1f} |"
        for name, (spent, clock) in both.items()
    ]
    return [
        f"{rows:,} rows, d = {D}. The weights agree with the kernel's in memory to {apart:.0e}.",
        "",
        "| call | processor s | times the scan | clock s | times the scan |",
        "|---|---:|---:|---:|---:|",
        *listed,
        "",
        f"The aggregate at b = 50 takes {stored50[0] / floor:.2f} times the processor time of `SELECT avg(x[1])` "
        f"({stored50[1] / clock_floor:.2f} by the clock; the bar is 2).",
        "",
        f"As training uses it, in a secret order, it takes {secret50[0] / floor:.1f} times the scan over stored arrays "
        f"and {ways[0][0] / floor:.0f} times over columns that are clipped and encoded on the way. Pulling the columns "
        f"once and training in memory takes {ways[1][0] / ways[0][0]:.2f} times as long as training in the database "
        f"for one pass, and {ways[1][1] / ways[0][1]:.2f} times for {PASSES}.",
        "",
        "What privacy adds, by the clock within one call over the 54 columns, the least of three (sensitivity, "
        f"calibration, charge and strict noise, over the time in the database): "
        f"{100 * overheads[0]:.2f} % of one pass, {100 * overheads[1]:.2f} % of {PASSES} (the bar is 2 %).",
    ]


def quickest(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least time by the clock of each call alone, over many turns: on a busy machine some are undisturbed."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(TURNS):
        for name, call in calls.items():
            begun = time.perf_counter()
            call()
            found[name] = min(found[name], time.perf_counter() - begun)
    return found


def overhead(examples: TableExamples, problem: Problem, rows: int, *, passes: int) -> float:
    """The least share, over three calls, of everything but the passes."""
    table: Any = examples.table
    epochs, shares = table.epochs, []
    for _ in range(3):
        spent = []

        def timed(*given: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            made = epochs(*given, **named)
            spent.append(time.perf_counter() - begun)  # noqa: B023
            return made

        table.epochs = timed
        begun = time.perf_counter()
        account = Account(ApproxDP(0.1, rows**-1.5), adjacency="replace", currency="gdp")
        bolt_on(examples, problem, account=account, passes=passes, batch=50)
        shares.append((time.perf_counter() - begun - spent[0]) / spent[0])
    del table.epochs
    return min(shares)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--save", action="store_true", help="write studies/benchmarks/results/postgres_sgd.md"
    )
    parser.add_argument("--rows", type=int, default=200_000)
    options = parser.parse_args()
    server = start()
    try:
        install(server.url(user="postgres"))
        with server.admin() as admin:
            release = admin.execute("SHOW server_version").fetchone()[0].split()[0]
        lines = measure(server, options.rows)
    finally:
        server.stop()
    text = "\n".join(
        [
            "# PostgreSQL: epochs inside the database against a scan",
            "",
            "Made by `python -m studies.benchmarks.postgres_sgd --save`; all rows of the same "
            "run, called in turn, best of 3. "
            f"Data are synthetic (seed {SEED}), the server on the same machine, parallel plans off. The clock of the "
            f"first four calls is the best of {TURNS} turns.",
            "",
            f"Machine: {os.cpu_count()} shared cores, Python {platform.python_version()}, PostgreSQL {release}, "
            f"ADBC {version('adbc-driver-postgresql')}.",
            "",
            *lines,
            "",
        ]
    )
    print(text)
    if options.save:
        (Path(__file__).parent / "results" / "postgres_sgd.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
