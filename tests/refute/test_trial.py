from __future__ import annotations

import json
import math

import pytest

from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.refute._trial import Analysis, Outcome


def outcome(statistic: float, bound: float) -> Outcome:
    return Outcome(test="law", what="x", statistic=statistic, bound=bound, error=1e-9)


def test_refuted_only_above_the_bound() -> None:
    assert not outcome(1.0, 1.0).refuted
    assert outcome(1.0000001, 1.0).refuted
    assert outcome(math.nan, 1.0).refuted  # what cannot be computed is not taken for a pass
    assert "REFUTED" in outcome(2.0, 1.0).summary()
    assert "survived" in outcome(0.5, 1.0).summary()


def test_is_stored_as_plain_data() -> None:
    stored = json.loads(json.dumps(outcome(2.0, 1.0).to_json()))
    assert stored["refuted"] is True
    assert stored["test"] == "law"


def test_refuses_what_is_no_test_and_no_error() -> None:
    with pytest.raises(ParameterError, match="test"):
        Outcome(test="luck", what="", statistic=0.0, bound=1.0, error=0.0)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="error"):
        Outcome(test="law", what="", statistic=0.0, bound=1.0, error=1.0)


def test_an_analysis_spends_no_error() -> None:
    found = Analysis(what="two", value=lambda: 2.0, claimed=1.0).run(Source(seed=0), error=0.5)
    assert found.refuted
    assert found.error == 0.0
