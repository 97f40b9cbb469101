"""Slack is outermost: refused inside a curve, made here or read from a file. A file holds all fields, and no others."""

from __future__ import annotations

import pytest

from holdfast.errors import FormatError, ParameterError
from holdfast.privacy import ZCDP, PrivacyCurve, PureDP, WithSlack, compose
from holdfast.privacy._curves.composition import Composed
from holdfast.privacy._curves.group_replace import GroupReplace
from holdfast.privacy._curves.stored import curve_from_json

SLACK = WithSlack(PureDP(1.0), 0.01, 0.02)


def test_no_curve_is_made_with_slack_inside() -> None:
    with pytest.raises(ParameterError, match="outermost"):
        Composed(((SLACK, 2),))
    with pytest.raises(ParameterError, match="outermost"):
        GroupReplace(SLACK)


def test_a_stored_part_has_no_slack_either() -> None:
    inside = SLACK.to_json()
    for data in (
        {"kind": "Composed", "parts": [[inside, 2]]},
        {"kind": "GroupReplace", "curve": inside},
        {"kind": "SubsampledCurve", "curve": inside, "rate": 0.5},
    ):
        with pytest.raises(ParameterError, match="slack"):
            curve_from_json(data)


@pytest.mark.parametrize("curve", [SLACK, GroupReplace(PureDP(1.0)), compose([PureDP(1.0), ZCDP(0.1)])])
def test_a_stored_curve_has_its_fields_and_no_others(curve: PrivacyCurve) -> None:
    stored = curve.to_json()
    assert curve_from_json(stored) == curve
    for name in stored:
        with pytest.raises(FormatError):
            curve_from_json({key: value for key, value in stored.items() if key != name})
    with pytest.raises(FormatError, match="no others"):
        curve_from_json(stored | {"more": 1})
