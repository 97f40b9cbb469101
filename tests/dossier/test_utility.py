from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.dossier import Dossier
from holdfast.dossier import _utility as room
from holdfast.dossier._utility import MOST_TABLE_ROWS
from holdfast.errors import NoIntervals
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn._estimators.intervals import SEVERAL_ROWS
from holdfast.privacy import Account, ApproxDP, Gaussian, GaussianDP, PrivacyUnit
from holdfast.release import Release
from tests.dossier.dossier_samples import HOSTILE, model


def utility(release: Release[Any]) -> Any:
    """Whichever kind of utility it is."""
    return room.utility_of(release)


def released(value: object) -> Release[object]:
    account = Account(GaussianDP(0.5))
    account.release(Gaussian(sigma=4.0, l2_sensitivity=1.0), [1])
    return Release.of(account, value, method="m")


SYNTHETIC = {
    "format": "holdfast-synthetic/1",
    "rows": pa.table({"age": [1, 2, 3], "sex": ["F", "M", "F"]}),
    "measurements": [
        {"columns": ["age", HOSTILE], "values": np.full((10, 2), 50.0), "noise_std": 4.0},
        {"columns": ["sex"], "values": np.zeros(2), "noise_std": 4.0},
    ],
}


def test_intervals_are_the_noise_around_the_weight() -> None:
    found = utility(model(["age", "sex"], noise=0.1))
    assert found.kind == "model"
    assert {row.name for row in found.rows} == {"age", "sex", "(intercept)"}
    assert all(row.reach == pytest.approx(0.196) for row in found.rows)
    sizes = [abs(row.weight) for row in found.rows]
    assert sizes == sorted(sizes, reverse=True)
    assert all(row.reach is None for row in utility(model(noise=None)).rows)


def test_long_models_are_cut_and_say_so() -> None:
    found = utility(model([f"c{k}" for k in range(200)]))
    assert len(found.rows) == MOST_TABLE_ROWS
    assert found.left_out == 201 - MOST_TABLE_ROWS
    page = re.sub(r"<[^>]*>", "", Dossier(model([f"c{k}" for k in range(200)])).html())
    assert f"{201 - MOST_TABLE_ROWS} more are in the release" in page


def test_a_synthetic_table_shows_its_error_by_marginal() -> None:
    found = utility(released(SYNTHETIC))
    assert (
        found.what == "a synthetic table of 3 rows and 2 columns with the 2 noisy marginals it was made from"
    )
    second, first = found.rows  # the worst first, and what nobody knows is the worst
    assert first.cells == 20
    assert first.within == pytest.approx(1.96 * 4, rel=1e-3)
    # Half of 20 cells times E|N(0, 16)| over 1,000 records.
    assert first.variation == pytest.approx(0.5 * 20 * 4 * np.sqrt(2 / np.pi) / 1000, rel=1e-3)
    assert second.variation is None
    page = Dossier(released(SYNTHETIC)).html()
    assert "What noise does to each marginal, the worst first" in page
    assert "not known" in page


def test_the_expected_variation_is_what_noise_does() -> None:
    rng = np.random.default_rng(0)
    drawn = [0.5 * np.abs(rng.normal(0, 4.0, 20)).sum() / 1000 for _ in range(4000)]
    assert utility(released(SYNTHETIC)).rows[1].variation == pytest.approx(np.mean(drawn), rel=0.02)


def test_a_marginal_that_was_measured_often_is_one_row_and_hides_nothing() -> None:
    """Columns in any order are one marginal: what all measurements say together, and the noisiest alone."""
    noise = {("age", "sex"): 4.0, ("sex", "age"): 3.0, ("age",): 2.0, ("sex",): 50.0}
    listed = [
        {"columns": names, "values": np.full((2, 5), 100.0), "noise_std": std} for names, std in noise.items()
    ]
    found = utility(released({**SYNTHETIC, "measurements": listed}))
    assert found.what.endswith("with the 3 noisy marginals it was made from, 4 measurements in all")
    rows = {row.name: row for row in found.rows}
    assert [*rows] == ["sex", "age x sex", "age"]  # the worst first
    both = rows["age x sex"]
    assert (both.times, both.cells) == (2, 10)
    assert both.within == pytest.approx(1.96 * 2.4, rel=1e-3)  # 1 / sqrt(1/16 + 1/9) = 2.4
    assert both.worst == pytest.approx(1.96 * 4.0, rel=1e-3)
    assert both.variation == pytest.approx(0.5 * 10 * 2.4 * np.sqrt(2 / np.pi) / 1000, rel=1e-3)


def test_what_is_left_out_is_no_worse_than_what_is_shown() -> None:
    listed = [
        {"columns": (f"c{k}",), "values": np.full(4, 100.0), "noise_std": 1.0 + k}
        for k in range(MOST_TABLE_ROWS + 9)
    ]
    found = utility(released({**SYNTHETIC, "measurements": listed}))
    assert found.left_out == 9
    assert found.rows[-1].within == pytest.approx(1.96 * 10.0, rel=1e-3)


def test_why_there_are_no_intervals_is_said_in_the_estimators_words() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 2)) / 3
    for scale, method, classes in ((1, "output", ["ill", "well"]), (2, "softmax", ["a", "b", "c"])):
        fitted = PrivateLogisticRegression(
            epsilon=4.0, delta=1e-6, row_norm=1.0, method=method, classes=classes
        ).fit(rows / scale, rng.choice(classes, 400))
        assert fitted.release_ is not None
        with pytest.raises(NoIntervals) as refused:
            fitted.conf_int()
        assert utility(fitted.release_).no_intervals == str(refused.value)


def test_a_unit_of_several_rows_has_no_intervals() -> None:
    account = Account(ApproxDP(1.0, 1e-6), currency="gdp", unit=PrivacyUnit.user("patient", max_rows=2))
    weights = account.release(Gaussian(sigma=10.0, l2_sensitivity=1.0), [1.0, 2.0])
    value = dict(model().value) | {
        "coef": weights[None, :1],
        "intercept": weights[1:],
        "feature_names": ("age",),
    }
    found = utility(Release.of(account, value, method="output"))
    assert found.no_intervals == SEVERAL_ROWS


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ({"a x b": np.zeros((2, 3))}, "tables", "1 table with 6 noisy numbers"),
        (np.zeros((4, 2)), "table", "an array of 4 x 2 numbers"),
        (pa.table({"a": [1, 2]}), "table", "a table of 2 rows and 1 columns"),
        (3.5, "other", "a float"),
        ({"format": 3, "measurements": "none"}, "other", "a dict"),
        ([1, 2], "other", "a list"),
    ],
)
def test_anything_can_be_described(value: object, kind: str, words: str, tmp_path: Path) -> None:
    found = utility(released(value))
    assert found.kind == kind
    assert words in found.what
    Dossier(released(value)).save(tmp_path / "page.html")
