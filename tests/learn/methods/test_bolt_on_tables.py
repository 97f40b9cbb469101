"""Finding L5: `bolt_on` without a penalty learns something, on every table that has something to learn.

How long it runs follows from a bound (docs/decisions/learning-penalty.md). Adult was looked at while the rule was
written; the other tables were held out. Numbers are scaled by the table's own ranges, taken as public here.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest

from holdfast._arrays import Floats
from holdfast.learn import PrivateLogisticRegression
from tests.studies.size import Study, trials

WORTH = 0.02
"""What the fit without privacy must be ahead of the majority for a table to have something to learn."""
CASES = (
    ("adult_train.parquet", "income", ("fnlwgt",)),
    ("adult_discrete.parquet", "income>50K", ()),
    ("covertype.parquet", "Cover_Type", ()),
    ("gss.parquet", "hapmar", ()),
    ("gss.parquet", "pornlaw", ()),
    ("gss.parquet", "xmovie", ()),
    ("kddcup04_protein.parquet", "label", ("block_id", "example_id")),
    ("mnist_train.parquet", "label", ()),
    ("nist_acs/national/national2019.csv", "MSP", ()),
    ("nist_acs/national/national2019.csv", "OWN_RENT", ()),
    ("nist_acs/national/national2019.csv", "SEX", ()),
)
INFORMED = ("adult_train.parquet",)
FEW = 60
"""Values beyond which a column that looks like numbers is scaled instead of listed."""

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]


@cache
def _columns(path: Path) -> dict[str, Any]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}
    table = parquet.read_table(path)
    return {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}


def _features(name: str, values: Any) -> Iterable[Floats]:
    """Pixels, a number in [0, 1], or a column for each value."""
    if name == "image":
        yield from (np.frombuffer(b"".join(values), "uint8").reshape(len(values), -1) / 255.0).T
        return
    number = values.dtype.kind in "iuf"
    known = np.unique(values.astype(str)) if not number else ()
    if number or len(known) > FEW:
        found = np.array([float(one) if _is_number(one) else math.nan for one in values])
        low, high = np.nanmin(found), np.nanmax(found)
        yield np.nan_to_num((found - low) / max(high - low, 1e-9))
    else:
        yield from ((values.astype(str) == one).astype(float) for one in known)


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


@pytest.mark.share(3)
@pytest.mark.parametrize(("file", "target", "left_out"), CASES, ids=[f"{c[0]}-{c[1]}" for c in CASES])
def test_bolt_on_beats_the_majority_wherever_there_is_something_to_learn(
    data_folder: Path, study: Study, file: str, target: str, left_out: tuple[str, ...]
) -> None:
    """The most frequent value of the target against the rest; for digits, odd against even."""
    columns = _columns(data_folder / file)
    order = np.random.default_rng(0).permutation(len(columns[target]))[: trials(150_000)]
    kept = {name: values[order] for name, values in columns.items() if name not in left_out}
    answers = kept.pop(target)
    if "image" in kept:
        labels = answers.astype(int) % 2
    else:
        levels, counts = np.unique(answers.astype(str), return_counts=True)
        labels = (answers.astype(str) == levels[np.argmax(counts)]).astype(int)
    rows = np.column_stack([one for name, values in kept.items() for one in _features(name, values)])
    test, train = np.arange(len(labels) // 5), np.arange(len(labels) // 5, len(labels))

    def accuracy(**told: Any) -> float:
        model = PrivateLogisticRegression(delta=1e-7, classes=[0, 1], **told)
        return float(model.fit(rows[train], labels[train]).score(rows[test], labels[test]))

    majority = float(max(labels[test].mean(), 1.0 - labels[test].mean()))
    exact = accuracy(epsilon=math.inf, penalty=1e-6)
    reached = {
        epsilon: float(
            np.mean([accuracy(epsilon=epsilon, method="bolt_on", random_state=s) for s in range(trials(10))])
        )
        for epsilon in (1.0, 4.0)
    }
    study.note(
        informed_the_rule=str(file in INFORMED),
        rows=len(train),
        columns=rows.shape[1],
        majority=round(majority, 4),
        without_privacy=round(exact, 4),
        epsilon_1=round(reached[1.0], 4),
        epsilon_4=round(reached[4.0], 4),
    )
    if exact >= majority + WORTH:
        assert reached[4.0] > majority
