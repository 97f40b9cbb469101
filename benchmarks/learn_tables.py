"""Adult and Covertype as the learning benchmarks take them: clipped rows with a constant column, labels -1 and +1.

The folder is HOLDFAST_DATA, else ../shared/data beside the repository. Ranges are the published ones.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ADULT_NUMBERS = {
    "age": (17, 90), "education_num": (1, 16), "capital_gain": (0, 99_999), "capital_loss": (0, 4_356),
    "hours_per_week": (1, 99),
}  # fmt: skip
ADULT_CATEGORIES = (
    "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "native_country",
)  # fmt: skip
COVERTYPE_LOW = (1859, 0, 0, 0, -173, 0, 0, 0, 0, 0)
COVERTYPE_HIGH = (3858, 360, 66, 1397, 601, 7117, 254, 254, 254, 7173)
COVERTYPE_TEST = 116_203


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Training and test rows."""

    name: str
    rows: Floats
    labels: Floats
    test_rows: Floats
    test_labels: Floats

    def accuracy(self, weights: Floats) -> float:
        """The share of test rows on the right side."""
        return float(np.mean((self.test_rows @ weights > 0) == (self.test_labels > 0)))

    def first(self, rows: int) -> Split:
        """The same with fewer training rows."""
        return Split(
            name=f"{self.name}, first {rows} training rows", rows=self.rows[:rows], labels=self.labels[:rows],
            test_rows=self.test_rows, test_labels=self.test_labels,
        )  # fmt: skip


def folder() -> Path:
    """Where the Parquet files are."""
    return Path(os.environ.get("HOLDFAST_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def _read(name: str) -> dict[str, NDArray[Any]]:
    import pyarrow.parquet as parquet

    table = parquet.read_table(folder() / f"{name}.parquet")
    return {column: table[column].to_numpy() for column in table.column_names}


def _clipped(columns: list[Floats]) -> Floats:
    rows = np.column_stack([*columns, np.ones(len(columns[0]))])
    return rows / np.maximum(1.0, np.linalg.norm(rows, axis=1))[:, None]


def adult() -> Split:
    """32,561 and 16,281 rows, d = 108; income above 50K."""
    parts = [_read("adult_train"), _read("adult_test")]
    categories = {
        name: sorted({str(v) for part in parts for v in np.unique(part[name].astype(str))})
        for name in ADULT_CATEGORIES
    }
    made = []
    for part in parts:
        columns = [
            np.clip((part[name].astype(np.float64) - low) / (high - low), 0.0, 1.0)
            for name, (low, high) in ADULT_NUMBERS.items()
        ]
        columns += [
            (part[name].astype(str) == value).astype(np.float64)
            for name in categories
            for value in categories[name]
        ]
        made += [_clipped(columns), np.where(part["income"].astype(str) == ">50K", 1.0, -1.0)]
    return Split(name="Adult", rows=made[0], labels=made[1], test_rows=made[2], test_labels=made[3])


def covertype() -> Split:
    """464,809 and 116,203 rows, d = 55; class 2 against the rest, split by seed 0."""
    part = _read("covertype")
    labels = np.where(part.pop("Cover_Type") == 2, 1.0, -1.0)
    columns = [values.astype(np.float64) for values in part.values()]
    for place, (low, high) in enumerate(zip(COVERTYPE_LOW, COVERTYPE_HIGH, strict=True)):
        columns[place] = 2.0 * np.clip((columns[place] - low) / (high - low), 0.0, 1.0) - 1.0
    rows = _clipped(columns)
    order = np.random.default_rng(0).permutation(len(rows))
    test, train = order[:COVERTYPE_TEST], order[COVERTYPE_TEST:]
    return Split(
        name="Covertype",
        rows=rows[train],
        labels=labels[train],
        test_rows=rows[test],
        test_labels=labels[test],
    )


TABLES = {"adult": adult, "covertype": covertype}
