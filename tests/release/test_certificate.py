from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import FormatError, ParameterError
from holdfast.privacy._wording import bound_text
from holdfast.release._certificate import SHARE, Certificate


def certificate(**changes: Any) -> Certificate:
    fields: dict[str, Any] = {
        "name": "largest error",
        "statement": "by the law of the noise",
        "alpha": 0.5,
        "confidence": 0.9,
        "query_class": "all counts",
    }
    return Certificate(**fields | changes)


@given(st.floats(0, 1e300), st.floats(1e-300, 1), st.text(), st.dictionaries(st.text(), st.integers()))
def test_what_is_stored_is_read_back(
    alpha: float, confidence: float, text: str, details: dict[str, int]
) -> None:
    claim = certificate(alpha=alpha, confidence=confidence, statement=text, details=details)
    assert Certificate.from_json(json.loads(json.dumps(claim.to_json()))) == claim


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": -1.0},
        {"alpha": math.inf},
        {"alpha": math.nan},
        {"alpha": "1"},
        {"alpha": True},
        {"confidence": 0.0},
        {"confidence": 1.1},
        {"confidence": None},
        {"name": ""},
        {"details": 3},
    ],
)
def test_claims_outside_their_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        certificate(**wrong)


def test_a_stored_claim_that_is_none_is_a_format_error() -> None:
    stored = certificate().to_json()
    broken: Any
    for broken in ({}, [], None, 3, stored | {"alpha": -1}, stored | {"confidence": "high"}):
        with pytest.raises(FormatError):
            Certificate.from_json(broken)


@given(st.floats(0, 1e300))
def test_a_bound_is_shown_rounded_up_and_no_further_than_a_hundredth(alpha: float) -> None:
    shown = float(bound_text(alpha))
    assert alpha <= shown <= alpha * 1.01 + 1e-320
    assert bound_text(shown) == bound_text(alpha)
    share = certificate(alpha=alpha, unit=SHARE).amount()
    assert float(share.split()[0]) >= 100 * alpha * (1 - 1e-12)


def test_the_summary_says_how_far_off_for_what_and_how_sure() -> None:
    text = certificate().summary()
    assert all(part in text for part in ("0.5", "0.9", "all counts", "largest error"))
