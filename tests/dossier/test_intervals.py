"""The page of a linear model has intervals, or says why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast import Dossier, PrivateLinearRegression
from holdfast.dossier import verify_dossier
from holdfast.dossier._interval_section import InferredUtility
from holdfast.dossier._utility import utility_of
from tests.dossier.crawl import crawl

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]


def fitted(epsilon: float, method: str = "ssp") -> Any:
    random = np.random.default_rng(0)
    rows = random.uniform(-0.7, 0.7, size=(2_000, 2))
    model = PrivateLinearRegression(
        epsilon, method=method, target_bounds=(-1, 1), adjacency="zero_out", random_state=0
    )
    return model.fit(rows, rows @ [0.8, 0.0] + random.uniform(-0.2, 0.2, size=2_000))


@pytest.mark.parametrize(
    ("epsilon", "method", "words"),
    [
        (4.0, "ssp", "covers sampling error and privacy noise together"),
        (0.02, "ssp", "noise swamps the information"),
        (1.0, "adassp", "No intervals that cover sampling error"),
    ],
)
def test_a_page_has_intervals_or_says_why_not(
    epsilon: float, method: str, words: str, tmp_path: Path
) -> None:
    model = fitted(epsilon, method)
    model.release_.save(tmp_path / "model.holdfast")
    Dossier.of_files([tmp_path / "model.holdfast"]).save(tmp_path / "dossier.html")
    page = (tmp_path / "dossier.html").read_text(encoding="utf-8")
    assert words in page
    assert not crawl(page).problems
    verified = verify_dossier(tmp_path / "dossier.html", releases=[tmp_path / "model.holdfast"])
    assert not verified.problems, verified.summary()


def test_the_section_is_what_conf_int_says() -> None:
    model = fitted(4.0)
    found = utility_of(model.release_)
    assert isinstance(found, InferredUtility)
    assert InferredUtility.from_json(found.to_json()) == found
    intervals = model.conf_int()
    for row in found.rows:
        low, high = intervals[row.name]
        assert row.low == pytest.approx(low, rel=1e-4)
        assert row.high == pytest.approx(high, rel=1e-4)
