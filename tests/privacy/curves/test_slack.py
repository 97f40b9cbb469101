"""Slack is outermost: refused inside a curve, lifted from what files hold."""

from __future__ import annotations

import math

import pytest

from holdfast.errors import ParameterError
from holdfast.privacy import PureDP, WithSlack, compose
from holdfast.privacy._curves.composition import Composed
from holdfast.privacy._curves.group_replace import GroupReplace
from holdfast.privacy._curves.stored import curve_from_json

SLACK = WithSlack(PureDP(1.0), 0.01, 0.02)


def test_no_curve_is_made_with_slack_inside() -> None:
    with pytest.raises(ParameterError, match="outermost"):
        Composed(((SLACK, 2),))
    with pytest.raises(ParameterError, match="outermost"):
        GroupReplace(SLACK)


def test_slack_of_stored_parts_is_lifted() -> None:
    lifted = curve_from_json({"kind": "Composed", "parts": [[SLACK.to_json(), 2]]})
    whole = compose([SLACK], times=2)
    assert (lifted.total_variation, lifted.failure) == (whole.total_variation, whole.failure)
    assert lifted.delta(1.0) == whole.delta(1.0)
    steps = curve_from_json({"kind": "TwoSteps", "curve": SLACK.to_json()})
    assert (float(steps.total_variation), float(steps.failure)) == (0.01, 0.04)
    inside = GroupReplace(PureDP(1.0)).delta(0.5)
    assert steps.delta(0.5) == pytest.approx(min(1.0, inside + (1 + math.exp(0.5)) * 0.01 + 0.04))
