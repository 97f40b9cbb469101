"""Adult and Covertype as the accuracy bars take them: public ranges, one-hot columns, rows of norm 1."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from numpy.typing import NDArray
from studies.benchmarks.public_data import data_file

Floats = NDArray[np.float64]
TEST_ROWS = 116_203
"""Of Covertype, by a permutation of seed 0; Adult has its own test file."""
ADULT_RANGES = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_356),
    "hours_per_week": (1, 99),
}
ADULT_CATEGORIES = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
COVERTYPE_RANGES = (
    (1859, 3858),
    (0, 360),
    (0, 66),
    (0, 1397),
    (-173, 601),
    (0, 7117),
    (0, 254),
    (0, 254),
    (0, 254),
    (0, 7173),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Rows with a constant column, scaled to norm at most 1, and labels -1/+1."""

    name: str
    train: Floats
    train_labels: Floats
    test: Floats
    test_labels: Floats

    def accuracy(self, weights: Floats) -> float:
        """Share of test rows on the right side."""
        return float(np.mean((self.test @ weights > 0) == (self.test_labels > 0)))


def environment(folder: Path, packages: Sequence[str]) -> Path:
    """The interpreter of the peers' environment, made if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
    return python


def adult() -> Split:
    """32,561 rows, 108 columns: five numbers in [0, 1], eight one-hot categories, a constant."""
    files = [parquet.read_table(data_file(f"adult_{part}.parquet")) for part in ("train", "test")]
    known = {c: sorted(set().union(*(f[c].unique().to_pylist() for f in files))) for c in ADULT_CATEGORIES}
    parts = []
    for file in files:
        columns = [_unit(file[c].to_numpy(), *bounds) for c, bounds in ADULT_RANGES.items()]
        for name in ADULT_CATEGORIES:
            values = np.array(file[name].to_pylist())
            columns += [(values == level).astype(np.float64) for level in known[name]]
        labels = np.where(np.array(file["income"].to_pylist()) == ">50K", 1.0, -1.0)
        parts.append((_scaled(np.column_stack(columns)), labels))
    (train, train_labels), (test, test_labels) = parts
    return Split(name="Adult", train=train, train_labels=train_labels, test=test, test_labels=test_labels)


def covertype() -> Split:
    """464,809 rows, 55 columns: class 2 against the rest, ten numbers in [-1, 1], 44 bits, a constant."""
    file = parquet.read_table(data_file("covertype.parquet"))
    values = [file[name].to_numpy().astype(np.float64) for name in file.column_names]
    for place, (low, high) in enumerate(COVERTYPE_RANGES):
        values[place] = 2.0 * _unit(values[place], low, high) - 1.0
    rows, labels = _scaled(np.column_stack(values[:-1])), np.where(values[-1] == 2, 1.0, -1.0)
    order = np.random.default_rng(0).permutation(len(rows))
    test, train = order[:TEST_ROWS], order[TEST_ROWS:]
    return Split(
        name="Covertype",
        train=rows[train],
        train_labels=labels[train],
        test=rows[test],
        test_labels=labels[test],
    )


def _unit(values: NDArray[np.generic], low: float, high: float) -> Floats:
    return np.asarray(np.clip((values.astype(np.float64) - low) / (high - low), 0.0, 1.0))


def _scaled(rows: Floats) -> Floats:
    full = np.column_stack([rows, np.ones(len(rows))])
    return np.asarray(full / np.maximum(1.0, np.linalg.norm(full, axis=1))[:, None])
