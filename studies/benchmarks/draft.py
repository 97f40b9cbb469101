"""How long a draft takes and how much memory: a survey of many columns, and many visits, as Parquet and as CSV.

Run with `python -m studies.benchmarks.draft [--rows N] [--save]`. Both tables are drawn from a fixed seed into a
temporary folder. The command `holdfast schema draft` is run on each file in a process of its own; CPU seconds (all
threads, with the start of Python) and the largest resident set are what the operating system says of that process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

RESULT = Path(__file__).resolve().parent / "results" / "draft.md"
SURVEY_ROWS, VISIT_ROWS = 30_000, 2_000_000
#: CPU seconds, and megabytes where memory is bounded; a CSV file may take twice as much.
ALLOWED = {"survey": (1.5, None), "visits": (8.0, 500)}


def survey(rows: int = SURVEY_ROWS) -> pa.Table:
    """25 columns as in census microdata: codes, amounts, weights, dates, texts, with values missing."""
    draw = np.random.default_rng(11)

    def codes(values: list[str]) -> Any:
        return pa.array(draw.choice(values, rows))

    def amounts(middle: float) -> Any:
        return np.round(np.exp(draw.normal(middle, 1.2, rows)), 2)

    days = np.datetime64("2019-01-01") + draw.integers(0, 1500, rows)
    columns: dict[str, Any] = {"SERIALNO": [f"2019HU{place:07d}" for place in range(rows)]}
    columns |= {"household": draw.integers(10_000, 22_000, rows), "age": draw.integers(0, 95, rows)}
    columns |= {f"item{place}": draw.poisson(3 + place, rows) for place in range(5)}
    columns |= {f"amount{place}": amounts(5 + place) for place in range(3)}
    columns |= {"weight": draw.integers(1, 900, rows), "score": draw.normal(size=rows)}
    columns |= {
        "race": codes([str(code) for code in range(1, 10)]),
        "state": codes([f"{s:02d}" for s in range(1, 51)]),
    }
    columns |= {"postcode": codes([f"{place:05d}" for place in range(1000, 99000, 97)])}
    columns |= {"industry": codes([f"{place}" for place in range(1110, 9990, 40)])}
    columns |= {
        "diagnosis": codes([f"{a}{n:02d}.{m}" for a in "CEIJK" for n in range(10, 90, 4) for m in range(5)])
    }
    columns |= {"sex": codes(["F", "M"]), "answer": codes(["yes", "no", "Refused", "n/a"])}
    columns |= {"grade": codes(["low", "medium", "high"]), "day": pa.array(days.astype("datetime64[D]"))}
    columns |= {"comment": [f"case {place % 977} of {place}, as written by hand" for place in range(rows)]}
    columns |= {"written": ["{2}.{1}.{0}".format(*str(day).split("-")) for day in days]}
    columns |= {"wage": pa.array([None if one < 0.2 else float(int(one * 9e4)) for one in draw.random(rows)])}
    return pa.table(columns)


def visits(rows: int = VISIT_ROWS) -> pa.Table:
    """7 columns: a number of its own for every row, patients who come back, a moment, an amount, two codes, a text."""
    draw = np.random.default_rng(12)
    moments = np.datetime64("2015-01-01T00:00:00") + draw.integers(0, 250_000_000, rows)
    wards = np.array(["surgery", "cardiology", "oncology", "neurology", "paediatrics"])
    letters = np.array([f"{letter}{number}" for letter in "ABCDEFGHIJ" for number in range(10, 90)])
    return pa.table(
        {
            "visit_id": np.arange(rows),
            "patient": draw.integers(1, rows // 8, rows),
            "admitted": pa.array(moments.astype("datetime64[s]")),
            "cost": np.round(np.exp(draw.normal(6, 1.5, rows)), 2),
            "stay": draw.poisson(4, rows),
            "icd": pa.array(letters[draw.integers(0, len(letters), rows)]),
            "ward": pa.array(wards[draw.integers(0, len(wards), rows)]),
        }
    )


def drawn(name: str, path: Path, rows: int) -> None:
    """Write one of the tables."""
    table = survey() if name == "survey" else visits(rows)
    (parquet.write_table if path.suffix == ".parquet" else csv.write_csv)(table, path)


def measured(path: Path) -> tuple[float, float]:
    """CPU seconds and megabytes of one draft."""
    command = [
        sys.executable,
        "-m",
        "holdfast",
        "schema",
        "draft",
        str(path),
        "-o",
        str(path.with_suffix(".toml")),
        "--force",
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"the draft of {path.name} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Draw, measure and print; `--save` writes the page of results."""
    parser = argparse.ArgumentParser(description="CPU seconds and memory of schema drafts.")
    parser.add_argument("--rows", type=int, default=VISIT_ROWS, help="rows of the second table")
    parser.add_argument("--save", action="store_true", help="write studies/benchmarks/results/draft.md")
    options = parser.parse_args()
    lines = [
        "| table | file | CPU s | allowed | peak MB | allowed |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, columns in (("survey", SURVEY_ROWS, 25), ("visits", options.rows, 7)):
            seconds, memory = ALLOWED[name]
            for ending, factor in (("parquet", 1), ("csv", 2)):
                path = Path(folder) / f"{name}.{ending}"
                # In another process: the memory of whoever starts a process counts as that process's own.
                work = multiprocessing.get_context("spawn").Process(target=drawn, args=(name, path, rows))
                work.start()
                work.join()
                spent, peak = measured(path)
                allowed = "" if memory is None else f"{factor * memory}"
                lines.append(
                    f"| {name}, {rows:,} x {columns} | {ending} | {spent:.2f} | {factor * seconds:g} "
                    f"| {peak:.0f} | {allowed} |"
                )
                print(lines[-1], flush=True)
    page = "\n".join(
        [
            "# Drafts: CPU seconds and memory",
            "",
            *lines,
            "",
            f"On {platform.machine()}, Python {platform.python_version()}.",
        ]
    )
    if options.save:
        RESULT.write_text(page + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
