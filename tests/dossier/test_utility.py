from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.dossier import Dossier
from holdfast.dossier import utility as room
from holdfast.dossier.utility import MOST_ROWS
from holdfast.privacy import Account, Gaussian, GaussianDP
from holdfast.release import Release
from tests.dossier.dossier_samples import HOSTILE, model


def utility(release: Release[Any]) -> Any:
    """Whichever kind of utility it is."""
    return room.utility(release)


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
    assert len(found.rows) == MOST_ROWS
    assert found.left_out == 201 - MOST_ROWS
    page = re.sub(r"<[^>]*>", "", Dossier(model([f"c{k}" for k in range(200)])).html())
    assert f"{201 - MOST_ROWS} more are in the release" in page


def test_a_synthetic_table_shows_its_error_by_marginal() -> None:
    found = utility(released(SYNTHETIC))
    assert (
        found.what == "a synthetic table of 3 rows and 2 columns with the 2 noisy marginals it was made from"
    )
    first, second = found.rows
    assert first.cells == 20
    assert first.within == pytest.approx(1.96 * 4, rel=1e-3)
    # Half of 20 cells times E|N(0, 16)| over 1,000 records.
    assert first.variation == pytest.approx(0.5 * 20 * 4 * np.sqrt(2 / np.pi) / 1000, rel=1e-3)
    assert second.variation is None
    page = Dossier(released(SYNTHETIC)).html()
    assert "Error by marginal" in page
    assert "not known" in page


def test_the_expected_variation_is_what_noise_does() -> None:
    rng = np.random.default_rng(0)
    drawn = [0.5 * np.abs(rng.normal(0, 4.0, 20)).sum() / 1000 for _ in range(4000)]
    assert utility(released(SYNTHETIC)).rows[0].variation == pytest.approx(np.mean(drawn), rel=0.02)


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
