from __future__ import annotations

import re

import numpy as np
import pytest

from holdfast.data import Categorical, Numeric, Schema
from holdfast.dossier import compare
from holdfast.dossier._comparison import compare_methods
from holdfast.dossier._stored_evidence import StoredAttack
from holdfast.errors import FormatError, NotPrivateWarning, ParameterError
from holdfast.privacy._tradeoff import TradeOff
from tests.dossier.dossier_samples import HOSTILE, counts, model


def test_releases_stand_side_by_side() -> None:
    both = compare({"spring": counts(), "autumn": model(["age", "sex"])})
    rows = dict(both.rows)
    assert rows["method"] == ("two counts", "PrivateLogisticRegression, output")
    assert rows["epsilon at delta 1e-06"] == ("1", "1")
    assert rows["weight of age"][0] == "-"
    assert "±" in rows["weight of age"][1]
    assert rows["two counts (alpha)"] == ("at most 3 for two counts, with confidence 0.95", "-")
    widths = {len(line) for line in both.summary().splitlines() if not line.startswith("note")}
    assert len(widths) == 1


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.warns(NotPrivateWarning):
        seeded = counts(seed=1, user="patient")
    comparison = compare({"a": counts(), "b": seeded})
    assert "different neighbours or units" in " ".join(comparison.notes)
    assert comparison.alarms == ("NOT PRIVATE, drawn from a seed: b",)
    assert '<p class="alarm">NOT PRIVATE, drawn from a seed: b</p>' in comparison.html()
    with pytest.raises(ParameterError, match="two or more"):
        compare({"a": counts()})


def test_hostile_names_stay_text() -> None:
    page = compare({HOSTILE: counts(name=HOSTILE), "b": model([HOSTILE])}).html()
    assert "<script" not in page
    assert "<img" not in page
    assert "script-src 'none'" in page.replace("&#39;", "'")
    assert not re.findall(r"<[^>]*(?:src|href)=", page)


def test_methods_on_own_data_are_marked_internal() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, 900)
    ill = np.where(age > 50, "yes", "no")
    schema = Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])])
    found = compare_methods(
        {"age": age, "ill": ill}, schema, target="ill", methods=["output"], epsilon=5.0, delta=1e-6, fits=2
    )
    assert found.audience == "internal"
    assert found.names == ("output", "without privacy", "majority class")
    accuracy = dict(found.rows)["accuracy"]
    assert float(accuracy[1]) > 0.9
    assert 0.4 < float(accuracy[2]) < 0.7
    assert "NOT PRIVATE" in found.summary()
    assert '<aside class="banner"' in found.html()  # the words alone stand in every style


def stored(**more: object) -> dict[str, object]:
    rates = {
        "0.01": {"value": 0.03, "low": 0.01, "high": 0.06},
        "0.001": {"value": 0.002, "low": 0.0, "high": 0.01},
    }
    return {
        "attack": "lira",
        "auc": 0.55,
        "tpr_at": rates,
        "roc": {"false_alarm": [0.001, 0.01], "found": [0.002, 0.03]},
        "p_value": 0.04,
        "verdict": "warning",
        "members": 90,
        "non_members": 80,
    } | more


def test_stored_attacks_come_back() -> None:
    one, two = StoredAttack.of({"attacks": [stored(), stored(attack="loss")]})
    assert (one.attack, two.attack, one.audience) == ("lira", "loss", "internal")
    assert one.tpr_at(0.01) == pytest.approx(0.03)
    assert isinstance(one.trade_off(), TradeOff)
    assert one.least_error == 0.04
    (curved,) = StoredAttack.of(stored(roc={"false_alarm": [0, 0.5, 1], "found": [0.1, 0.8, 1]}))
    assert curved.tpr_at(0.5) == pytest.approx(0.8)


@pytest.mark.parametrize(
    "data", [[], {}, {"attacks": [{}]}, 3, stored(auc=2.0), stored(tpr_at=[]), stored(roc=None)]
)
def test_anything_else_is_no_attack(data: object) -> None:
    with pytest.raises(FormatError):
        StoredAttack.of(data)
