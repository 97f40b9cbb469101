"""Reading, counting and shuffling: the memory engine against DuckDB, as ratios within one run.

Run with `python -m studies.benchmarks.data [ROWS]`. Peak memory is the growth of this process over its size before
the table was opened; DuckDB is given a memory limit of 400 MB and two threads.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as parquet

from holdfast.data import Categorical, Identifier, Numeric, Order, Schema, open_table
from holdfast.privacy._adjacency import PrivacyUnit


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        numbers = ", ".join(f"(hash(i, {j}) % 1000) / 1000.0::DOUBLE AS x{j}" for j in range(8))
        duckdb.sql(
            f"COPY (SELECT i AS id, i // 5 AS who, {numbers}, chr(97 + (hash(i) % 4)::INTEGER) AS k "
            f"FROM range({rows}) AS r(i)) TO '{path}'"
        )
        columns = [Numeric(f"x{j}", 0, 1, bins=8) for j in range(8)]
        kinds = Categorical("k", ["a", "b", "c", "d"])
        schema = Schema([*columns, kinds, Identifier("id"), Identifier("who")])
        names = list(schema.names)
        pairs = [[a, b] for i, a in enumerate(names) for b in names[i + 1 :]]
        before = peak_megabytes()
        stored = open_table(path, schema, memory_limit="400MB", threads=2)
        plain = timed(lambda: [len(batch) for batch in stored.batches(order=Order.irrelevant())])
        shuffled = timed(lambda: [len(batch) for batch in stored.batches(order=Order.permutation())])
        counts = timed(lambda: stored.counts(pairs))
        bounded = Schema(schema.columns, unit=PrivacyUnit.user("who", max_rows=3))
        users = open_table(path, bounded, memory_limit="400MB", threads=2)
        kept = timed(lambda: users.counts([["k"]]))
        growth = peak_megabytes() - before
        print(f"DuckDB over Parquet, {rows:,} rows x {len(names)} columns, peak +{growth:.0f} MB")
        print(f"  stored order {plain:.2f} s; shuffled {shuffled:.2f} s ({shuffled / plain:.1f}x)")
        print(f"  {len(pairs)} joint counts {counts:.2f} s; users bounded to 3 rows and counted {kept:.2f} s")
        loaded = parquet.read_table(path)
        opening = timed(lambda: open_table(loaded, schema))
        held = open_table(loaded, schema)
        plain = timed(lambda: [len(batch) for batch in held.batches(order=Order.irrelevant())])
        shuffled = timed(lambda: [len(batch) for batch in held.batches(order=Order.permutation())])
        counts = timed(lambda: held.counts(pairs))
        print(f"memory, the same rows: opening {opening:.2f} s, peak +{peak_megabytes() - before:.0f} MB")
        print(f"  stored order {plain:.2f} s; shuffled {shuffled:.2f} s; joint counts {counts:.2f} s")


if __name__ == "__main__":
    main()
