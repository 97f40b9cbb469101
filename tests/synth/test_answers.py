"""Intervals over a private number of rows: Fieller's set, exact; and what they rest on (soundness, section 23)."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, Identifier, Schema
from holdfast.errors import ParameterError
from holdfast.privacy import ZCDP, Account, PrivacyUnit
from holdfast.synth import CertificateRequest, Synthesizer, Workload
from holdfast.synth._answers import fieller_set, noise_quantile, ratio_quantile
from tests.studies.size import Study, trials

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
DRAWS = 200_000
#: Two-sided normal quantiles at 95 %, and at 97.5 % for two intervals that hold together.
ALONE, TOGETHER = (NormalDist().inv_cdf(1 - share / 2) for share in (0.05, 0.025))


def test_fieller_is_exact_and_shorter_than_two_intervals() -> None:
    """100 of 1000, both with noise of 10: coverage .950 and width .0394; Bonferroni .986 and .0493."""
    rng = np.random.default_rng(0)
    counts, rows = rng.normal(100, 10, DRAWS), rng.normal(1000, 10, DRAWS)
    found = [
        fieller_set(counts[i : i + 1], float(rows[i]), count_std=10.0, rows_std=10.0, quantile=ALONE)
        for i in range(20_000)
    ]
    low, high = (np.array([float(one[side][0]) for one in found]) for side in (0, 1))
    covered = (low <= 0.1) & (0.1 <= high)
    assert float(covered.mean()) == pytest.approx(0.950, abs=0.005)
    assert float((high - low).mean()) == pytest.approx(0.0394, abs=1e-4)
    # The set holds what the pivot says, so its coverage is that of the pivot: on all draws, to a thousandth.
    pivot = np.abs(counts - 0.1 * rows) <= ALONE * math.sqrt(10**2 + 0.1**2 * 10**2)
    assert np.array_equal(pivot[:20_000], covered)
    assert float(pivot.mean()) == pytest.approx(0.950, abs=1.5e-3)
    least, most = ((counts - sign * 10 * TOGETHER) / (rows + sign * 10 * TOGETHER) for sign in (1, -1))
    assert float(((least <= 0.1) & (0.1 <= most)).mean()) == pytest.approx(0.986, abs=1e-3)
    assert float((most - least).mean()) == pytest.approx(0.0493, abs=1e-4)


@given(
    count=st.floats(-100, 1100),
    rows=st.floats(-50, 1000),
    count_std=st.floats(0.1, 50),
    rows_std=st.floats(0.1, 50),
    share=st.floats(0, 1),
)
@settings(max_examples=300, deadline=None)
def test_a_share_is_inside_exactly_where_the_pivot_is_small(
    count: float, rows: float, count_std: float, rows_std: float, share: float
) -> None:
    low, high = fieller_set(np.array([count]), rows, count_std=count_std, rows_std=rows_std, quantile=ALONE)
    if rows <= ALONE * rows_std:
        assert (low[0], high[0]) == (0.0, 1.0)
        return

    def gap(one: float) -> float:
        return abs(count - one * rows) / (ALONE * math.hypot(count_std, one * rows_std))

    if gap(share) < 1 - 1e-9:
        assert low[0] - 1e-9 <= share <= high[0] + 1e-9
    elif gap(share) > 1 + 1e-9:
        assert not low[0] + 1e-9 < share < high[0] - 1e-9
    for end in (float(low[0]), float(high[0])):
        assert end in (0.0, 1.0) or gap(end) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("confidence", [0.55, 0.8, 0.95, 0.999])
def test_no_sum_of_two_laplace_noises_is_beyond_its_quantile_too_often(confidence: float) -> None:
    width = ratio_quantile(confidence, pure=True)
    assert width >= noise_quantile(confidence, pure=True)
    rng = np.random.default_rng(1)
    noises = rng.laplace(0, 1 / math.sqrt(2), (2, DRAWS))
    for share in (0.0, 0.1, 0.3, 0.5):
        mixed = math.sqrt(share) * noises[0] + math.sqrt(1 - share) * noises[1]
        beyond = float(np.mean(np.abs(mixed) > width))
        assert beyond <= 1 - confidence + 4 * math.sqrt(confidence * (1 - confidence) / DRAWS)


TENTH = {"a": (np.arange(1000) % 10 == 0).astype(int)}
ONE = Schema([Categorical("a", [0, 1])])


@pytest.mark.parametrize("delta", [0.0, 1e-6], ids=["pure", "delta"])
@pytest.mark.parametrize("users", [False, True], ids=["rows", "users"])
def test_a_measured_marginal_has_an_interval_where_the_number_of_rows_is_private(
    delta: float, users: bool, study: Study
) -> None:
    """It covers the true share as often as it says, query by query."""
    rows: dict[str, Any] = dict(TENTH)
    schema = ONE
    if users:
        rows["who"] = [str(i // 2) for i in range(1000)]
        unit = PrivacyUnit.user("who", max_rows=2)
        schema = Schema([*ONE.columns, Identifier("who")], unit=unit)
    runs, missed = trials(600), 0
    for seed in range(runs):
        made = Synthesizer(
            epsilon=0.5,
            delta=delta,
            method="independent",
            adjacency="add_remove",
            confidence=0.8,
            random_state=seed,
            certificate=CertificateRequest(share=0.5),
        ).fit(rows, schema)
        one = made.answer().groups[0]
        assert one.source == "measurement"
        missed += not one.low[1] <= 0.1 <= one.high[1]
    study.alarms(missed, rate=0.2, runs=runs, chance=1e-4)


def test_without_a_certificate_nothing_is_known_of_a_private_number_of_rows() -> None:
    made = Synthesizer(
        epsilon=1.0,
        delta=1e-6,
        method="independent",
        adjacency="add_remove",
        certificate=None,
        random_state=1,
    ).fit(TENTH, ONE)
    assert made.answer().groups[0].source == "none"


def test_an_interval_is_everything_where_the_table_may_be_empty() -> None:
    made = Synthesizer(
        epsilon=0.01, delta=1e-6, method="independent", adjacency="add_remove", random_state=1
    ).fit({"a": [0, 1]}, ONE)
    one = made.answer().groups[0]
    assert (one.low.tolist(), one.high.tolist()) == ([0, 0], [1, 1])


# n_public, and delta.


@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
@pytest.mark.parametrize("users", [False, True], ids=["rows", "users"])
def test_a_declared_number_must_be_the_public_one(adjacency: str, users: bool) -> None:
    """Of rows, or of users: never of the rows of users, which is private."""
    rows: dict[str, Any] = dict(TENTH)
    schema, units = ONE, 1000
    if users:
        rows["who"], units = [str(i // 2) for i in range(1000)], 500
        schema = Schema([*ONE.columns, Identifier("who")], unit=PrivacyUnit.user("who", max_rows=2))
    account = Account(ZCDP(0.5), adjacency=adjacency, unit=schema.confirmed_unit, seed=1)
    for wrong in {800, 1000, 500} - {units}:
        with pytest.raises(ParameterError, match=f"n_public must be the number of units, {units}"):
            Synthesizer(adjacency=adjacency, n_public=wrong).fit(rows, schema, account=account)
    assert not account.journal.entries
    Synthesizer(adjacency=adjacency, n_public=units).fit(rows, schema, account=account)


@pytest.mark.parametrize("method", ["auto", "independent", "tree", "gaussian", "adaptive"])
@pytest.mark.parametrize("users", [False, True], ids=["rows", "users"])
def test_delta_has_a_ceiling_where_nothing_bounds_the_number_of_rows(method: str, users: bool) -> None:
    """The same for every table, so that a refusal tells nothing."""
    rows: dict[str, Any] = dict(TENTH)
    schema = ONE
    if users:
        rows["who"] = [str(i // 2) for i in range(1000)]
        schema = Schema([*ONE.columns, Identifier("who")], unit=PrivacyUnit.user("who", max_rows=2))
    for count in (3, 1000):
        few = {name: values[:count] for name, values in rows.items()}
        for delta in (0.3, 1e-3, 1.1e-6):
            with pytest.raises(
                ParameterError, match="delta must be <= 1e-06 where the number of units is private"
            ):
                Synthesizer(epsilon=1.0, delta=delta, method=method, adjacency="add_remove").fit(few, schema)
    made = Synthesizer(
        epsilon=1.0, delta=1e-4, method="independent", adjacency="add_remove", n_public=1000, random_state=1
    ).fit(rows, schema)
    assert len(made.answer(Workload.of([("a",)]))) == 2
