"""A tenth of the trials has bounds of its own, and committed results say what they were made on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from tests.studies import results
from tests.studies.size import Study, most, trials


@pytest.mark.parametrize(("value", "expected"), [("", 7), ("0", 7), ("1", 61)])
def test_trials(monkeypatch: pytest.MonkeyPatch, value: str, expected: int) -> None:
    monkeypatch.setenv("HOLDFAST_DEEP", value)
    assert trials(61) == expected


@given(st.integers(1, 3000), st.floats(0.001, 0.999), st.floats(1e-4, 0.2))
def test_most_is_the_exact_quantile(runs: int, rate: float, chance: float) -> None:
    allowed = most(rate, runs, chance=chance)
    assert binom.sf(allowed, runs, rate) <= chance * (1 + 1e-9)
    assert allowed == 0 or binom.sf(allowed - 1, runs, rate) > chance * (1 - 1e-9)


def test_alarms_beyond_the_quantile_fail() -> None:
    kept: list[object] = []
    study = Study(lambda name, value: kept.append((name, value)))
    study.alarms(16, rate=0.05, runs=200, chance=0.03)
    assert kept == [("study", {"trials": 200, "alarms": 16, "allowed": 16, "rate": 0.05})]
    with pytest.raises(AssertionError, match="17 alarms in 200 trials"):
        study.alarms(17, rate=0.05, runs=200, chance=0.03)


@pytest.mark.parametrize("path", sorted(results.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_results_name_their_commit_and_their_tests(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    text = (results.ROOT / content["tests"]).read_text(encoding="utf-8")
    for name, study in content["studies"].items():
        assert f"def {name.split('[')[0].split('::')[-1]}(" in text, f"run make deep: {name} is gone"
        assert re.fullmatch(r"[0-9a-f]{40}", study["commit"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", study["date"])
        assert study["machine"]
        assert study["found"]
