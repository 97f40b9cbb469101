"""The tables that the reproductions train on: read, scaled by public constants, split by a fixed seed.

The folder is HOLDFAST_DATA (docs/data.md). Every split and projection is drawn from
a seed that has nothing to do with the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies.benchmarks.public_data import data_file

Floats = NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[2]
SPLIT_SEED = 7
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
"""Of the ten quantitative columns, as the data set's description prints them."""
PIMA_RANGES = ((0, 8), (70, 170), (50, 90), (0, 45), (0, 200), (20, 45), (0, 1), (21, 50))
"""Where adults usually lie; values beyond are clipped. No range is published with the data."""
ROOT_DOSE = (0.0, 12.0)
"""Of the square root of the weekly dose in mg: the scale on which the dosing literature regresses."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Rows of norm at most 1; labels -1 and 1, class codes, or numbers in [-1, 1]."""

    name: str
    train: Floats
    train_labels: Floats
    test: Floats
    test_labels: Floats

    @property
    def shape(self) -> str:
        """In words."""
        return (
            f"{len(self.train):,} rows to train on, {len(self.test):,} to test on, d = {self.train.shape[1]}"
        )


def read(name: str, columns: Sequence[str] | None = None) -> Any:
    """A file of the data folder as a pyarrow table; leaves with a message where there is none."""
    import pyarrow.parquet as parquet

    path = data_file(f"{name}.parquet")
    return parquet.read_table(path, columns=None if columns is None else list(columns))


def matrix(table: Any, columns: Sequence[str]) -> Floats:
    """Columns of numbers side by side."""
    return np.column_stack([np.asarray(table[name], dtype=np.float64) for name in columns])


def within_unit_ball(rows: Floats) -> Floats:
    """Each row divided by its norm: all lie on the unit sphere, as in the thesis."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def with_intercept(rows: Floats) -> Floats:
    """A column of ones, before scaling: its weight is penalised and counts in the norm."""
    return np.column_stack([rows, np.ones(len(rows))])


def to_unit_interval(rows: Floats, ranges: Sequence[tuple[float, float]]) -> Floats:
    """Declared ranges to [-1, 1], values outside clipped."""
    low, high = np.array(ranges, dtype=np.float64).T
    return np.asarray(np.clip(2.0 * (rows - low) / (high - low) - 1.0, -1.0, 1.0))


def on_sphere(split: Split) -> Split:
    """The same split with every row divided by its norm."""
    return replace(split, train=within_unit_ball(split.train), test=within_unit_ball(split.test))


def divide(
    name: str, rows: Floats, labels: Floats, *, train: int, test: int, seed: int = SPLIT_SEED
) -> Split:
    """A random split of the size asked for."""
    order = np.random.default_rng(seed).permutation(len(rows))
    first, second = order[:train], order[train : train + test]
    return Split(
        name=name,
        train=rows[first],
        train_labels=labels[first],
        test=rows[second],
        test_labels=labels[second],
    )


def mnist(*, rows: int, test: int = 10_000, dimension: int = 50, seed: int = SPLIT_SEED) -> Split:
    """Pixels through one Gaussian random projection, rows on the unit sphere, labels 0 to 9."""
    generator = np.random.default_rng(seed)
    projection = generator.standard_normal((784, dimension)) / np.sqrt(dimension)

    def part(name: str, count: int) -> tuple[Floats, Floats]:
        table = read(name)
        labels = np.asarray(table["label"], dtype=np.float64)
        chosen = generator.permutation(len(labels))[:count]
        images = np.frombuffer(b"".join(table["image"].to_pylist()), "uint8").reshape(-1, 784)[chosen]
        return within_unit_ball(images / 255.0 @ projection), labels[chosen]

    train, train_labels = part("mnist_train", rows)
    held, held_labels = part("mnist_test", test)
    return Split(
        name="MNIST, 50-d", train=train, train_labels=train_labels, test=held, test_labels=held_labels
    )


def protein(*, rows: int, test: int) -> Split:
    """Homologous or not. No ranges are published: columns are scaled by the half that is not trained on."""
    table = read("kddcup04_protein")
    raw = matrix(table, [f"f{j:02d}" for j in range(1, 75)])
    labels = 2.0 * np.asarray(table["label"], dtype=np.float64) - 1.0
    order = np.random.default_rng(SPLIT_SEED).permutation(len(raw))
    half = (len(raw) + 1) // 2
    ours, theirs = order[:half], order[half:]
    centre, spread = raw[theirs].mean(axis=0), raw[theirs].std(axis=0)
    scaled = within_unit_ball(with_intercept(np.clip((raw - centre) / spread, -5.0, 5.0)))
    return Split(
        name="Protein",
        train=scaled[ours[:rows]],
        train_labels=labels[ours[:rows]],
        test=scaled[theirs[:test]],
        test_labels=labels[theirs[:test]],
    )


def covertype(*, rows: int, test: int) -> Split:
    """Class 2 against the rest; quantitative columns by their published ranges."""
    table = read("covertype")
    names = [name for name in table.column_names if name != "Cover_Type"]
    raw = matrix(table, names)
    scaled = np.column_stack([to_unit_interval(raw[:, :10], COVERTYPE_RANGES), raw[:, 10:]])
    labels = np.where(np.asarray(table["Cover_Type"]) == 2, 1.0, -1.0)
    return divide("Covertype", within_unit_ball(with_intercept(scaled)), labels, train=rows, test=test)


def pima(seed: int = SPLIT_SEED) -> Split:
    """Diabetes or not; eight columns by declared ranges; four fifths to train on."""
    table = read("pima_diabetes")
    names = [name for name in table.column_names if name != "label"]
    scaled = within_unit_ball(with_intercept(to_unit_interval(matrix(table, names), PIMA_RANGES)))
    labels = 2.0 * np.asarray(table["label"], dtype=np.float64) - 1.0
    return divide("Pima", scaled, labels, train=614, test=154, seed=seed)


def warfarin(seed: int = SPLIT_SEED) -> Split:
    """The square root of the weekly dose, in [-1, 1], from age, size, race, two drugs and two genes."""
    table = read("warfarin_iwpc_clean").to_pandas()
    needed = ["age_decade", "height_cm", "weight_kg", "cyp2c9", "vkorc1_1639_imputed"]
    table = table.dropna(subset=needed)
    numbers = to_unit_interval(table[needed[:3]].to_numpy(np.float64), ((1, 9), (125, 205), (30, 200)))
    flags = table[["amiodarone", "enzyme_inducer"]].to_numpy(np.float64)
    groups = {
        "race": ("Asian", "Black or African American"),
        "cyp2c9": ("*1/*2", "*1/*3", "*2/*2", "*2/*3", "*3/*3"),
        "vkorc1_1639_imputed": ("A/G", "A/A"),
    }
    indicators = [
        (table[name] == level).to_numpy(np.float64) for name, each in groups.items() for level in each
    ]
    rows = with_intercept(np.column_stack([numbers, flags, *indicators]))
    # Nine columns at most are not 0 in a row, each at most 1: a public bound, not the largest norm seen.
    rows = rows / np.sqrt(9.0)
    dose = to_unit_interval(np.sqrt(table[["dose_mg_per_week"]].to_numpy(np.float64)), (ROOT_DOSE,))[:, 0]
    train = int(0.8 * len(rows))
    return divide("Warfarin", rows, dose, train=train, test=len(rows) - train, seed=seed)
