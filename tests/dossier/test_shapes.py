"""The page of an additive model shows its shape functions, and says that there are no bands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holdfast import Categorical, Dossier, Numeric, PrivateAdditiveClassifier, Schema, open_table
from holdfast.dossier._shape_section import AdditiveUtility, additive_utility
from holdfast.dossier._utility import utility_of
from holdfast.errors import FormatError
from holdfast.release import Release
from tests.dossier.crawl import crawl

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")


@pytest.fixture(scope="module")
def release() -> Release[object]:
    random = np.random.default_rng(0)
    age, kind = random.uniform(0, 100, 20_000), random.choice(["<a>", "b"], 20_000)
    ill = np.where(age / 50 - 1 + (kind == "b") + random.logistic(size=20_000) > 0, "yes", "no")
    schema = Schema(
        [Numeric("age", 0, 100), Categorical("kind", ["<a>", "b"]), Categorical("ill", ["no", "yes"])],
        adjacency="zero_out",
    )
    table = open_table({"age": age, "kind": kind, "ill": ill}, schema)
    return PrivateAdditiveClassifier(20.0, 1e-6, random_state=1).fit(table, target="ill").release_


def test_the_section_holds_the_shapes(release: Release[object]) -> None:
    found = utility_of(release)
    assert isinstance(found, AdditiveUtility)
    assert {one.name for one in found.rows} == {"age", "kind"}
    assert [one.name for one in found.pairs] == ["age x kind"]
    age = next(one for one in found.rows if one.name == "age")
    assert age.values[-1] > age.values[0]
    assert AdditiveUtility.from_json(found.to_json()) == found


def test_the_page_draws_them(release: Release[object], tmp_path: Path) -> None:
    release.save(tmp_path / "model.holdfast")
    Dossier.of_files([tmp_path / "model.holdfast"]).save(tmp_path / "dossier.html")
    page = (tmp_path / "dossier.html").read_text(encoding="utf-8")
    assert "What age adds to the score" in page
    assert "There are no intervals around the shapes, in the estimator's own words: no bands:" in page
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    found = crawl(page)
    assert not found.problems
    assert found.numbers > 50


def test_a_shape_that_is_not_finite_has_no_page(release: Release[object]) -> None:
    value = dict(release.value)  # type: ignore[call-overload]
    value["shapes"] = np.full_like(value["shapes"], np.inf)
    with pytest.raises(FormatError, match="finite"):
        additive_utility(value)
