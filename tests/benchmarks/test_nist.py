"""The scoreboard at a tenth of its rows, with a scorer that is faked: NIST's needs an environment of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from studies.benchmarks import nist, nist_data
from studies.benchmarks.nist_data import AGE, NoisyAges

from holdfast.privacy import ApproxDP
from holdfast.synth._rows.impossible_rows import require_possible

RULES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "MSP": lambda row: (row["MSP"] == "N") == (row[AGE] < 15),
    "PINCP_DECILE": lambda row: (row["PINCP_DECILE"] == "N") == (row[AGE] < 15),
    "EDU": lambda row: (row["EDU"] == "N") == (row[AGE] < 3),
    "DVET": lambda row: row["DVET"] == "N" or row[AGE] >= 15,
    "OWN_RENT": lambda row: (row["OWN_RENT"] == 0) == (row["HOUSING_TYPE"] != 1),
}
"""The dictionary once more, in other words."""


@pytest.fixture
def data(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (data_folder / "nist_acs").is_dir():
        pytest.skip("the folder of benchmark data has no nist_acs")
    monkeypatch.setenv("HOLDFAST_DATA", str(data_folder))


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_a_tenth_of_the_table_is_synthesised_and_nothing_impossible_comes_out(data: None) -> None:
    made = nist.synthesised("ten", 1.0, "entry", 0, every=10)
    rows = made.rows.to_pylist()
    assert len(rows) == 2726
    assert set(rows[0]) == set(nist_data.TEN)
    assert made.epsilon <= 1.0
    assert 0 < made.alpha < 0.2
    for name, holds in RULES.items():
        assert all(holds(row) for row in rows), name
    assert min(row[AGE] for row in rows) >= 0
    assert max(row[AGE] for row in rows) <= 99


def test_what_is_declared_comes_from_the_dictionary(data: None) -> None:
    names = nist_data.columns_of("eighteen")
    assert len(names) == 18
    schema = nist_data.schema_of(names, nist.DECLARED)
    zeros = nist_data.impossible(schema)
    require_possible(zeros, {name: schema[name].cells for name in names})
    assert {one.columns for one in zeros} >= {("AGEP", "MSP"), ("NOC", "NPF"), ("HOUSING_TYPE", "OWN_RENT")}
    limits = {epsilon: nist_data.measured(schema, ApproxDP(epsilon, 1e-5), 27_253) for epsilon in (1, 10)}
    assert {len(group.columns) for group in limits[1].groups} == {2}
    assert limits[10] == nist_data.workload(schema)


def scorers_bins(ages: pd.Series) -> pd.Series:
    """As `sdnist.report.dataset.binning.percentile_rank_target` has it."""
    return ages.rank(pct=True).apply(lambda share: int(20 * share) if share < 1 else 19)


def test_bins_of_age_are_the_scorers_where_there_is_no_noise() -> None:
    ages = pd.Series(np.random.default_rng(0).integers(0, 96, 5000))
    exact = NoisyAges(counts=np.bincount(ages, minlength=100).astype(float))
    found = exact.edges()
    assert {3, 5, 15, 16, 0, 99} <= set(found)
    cell = np.searchsorted(found, ages, side="right")
    assert (
        pd.DataFrame({"ours": cell, "theirs": scorers_bins(ages)}).groupby("ours").theirs.nunique().max() == 1
    )


def test_years_are_drawn_inside_their_bin_as_the_histogram_has_them() -> None:
    counts = np.zeros(100)
    counts[[21, 23]] = 30.0, 10.0
    edges = (0, 20, 24, 99)
    ages = np.array([20] * 400 + [5] * 10 + [99] * 10, dtype=np.int64)
    drawn = NoisyAges(counts=counts).drawn(ages, edges, seed=1)
    inside = [np.searchsorted(edges[:-1], some, side="right") for some in (ages, drawn)]
    assert np.array_equal(inside[0], inside[1])
    assert np.bincount(drawn[:400], minlength=24)[[20, 21, 22, 23]].tolist() == [0, 300, 0, 100]
    assert drawn.max() <= 99


def found(score: float) -> dict[str, Any]:
    """What the worker says of one file."""
    return {
        "k_marginal": int(score),
        "k_marginal_exact": score,
        "rows": 27_253,
        "propensity_mse": 0.001,
        "inconsistent": {"Age": 0, "Work": 0, "Housing": 0},
        "pearson": {"largest": 0.1, "mean": 0.01},
        "kendall": {"largest": 0.1, "mean": 0.01},
        "version": "sdnist 0",
        "puma": {"worst": 800, "best": 950},
    }


def test_runs_are_kept_resumed_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def scorer(python: Path, *words: str) -> dict[str, Any]:
        asked.append(Path(words[0]).stem)
        return {"20": 977, "90": 996, "version": "sdnist 0"} if words[0] == "subsamples" else found(980.5)

    rows = pa.table({"AGEP": [1, 2]})
    monkeypatch.setattr(nist, "STORE", tmp_path / "nist.json")
    monkeypatch.setattr(nist, "asked_scorer", scorer)
    monkeypatch.setattr(nist, "columns_of", lambda part: ("AGEP",))
    monkeypatch.setattr(nist, "folder", lambda: tmp_path)
    monkeypatch.setattr(
        nist,
        "synthesised",
        lambda *key: nist.SyntheticTable(
            rows=rows, alpha=0.004, cpu_s=2.0, method="measure_first", epsilon=1.0
        ),
    )
    keys = [("ten", 1.0, "entry", seed) for seed in range(2)]
    nist.run(tmp_path, keys, None)
    assert asked == ["subsamples", "holdfast_ten_1_entry_0", "holdfast_ten_1_entry_1"]
    nist.run(tmp_path, [*keys, ("ten", 1.0, "entry", 2)], None)
    assert asked[3:] == ["holdfast_ten_1_entry_2"]
    assert len(json.loads((tmp_path / "nist.json").read_text())) == 4
    text = nist.page(nist.kept())
    assert "The mean of 3 runs is 980.0" in text
    assert "979 is reached, 985 is missed by 5.0" in text
    assert "| 0.0040 | 2.0 |" in text


def test_the_page_says_what_is_missed() -> None:
    kept = {
        "ten 1 entry 0": found(970.2) | {"alpha": 0.004, "cpu_s": 2.0, "method": "m", "commit": "c"},
        "eighteen 1 entry 0": found(900.9) | {"alpha": 0.01, "cpu_s": 9.0, "method": "m", "commit": "c"},
    }
    text = nist.page(kept)
    assert "979 is missed, 985 is missed by 15.0" in text
    assert "where we lose" in text
    assert "not computed" in text
