"""Every entry of METHODS keeps the contract of `holdfast.testing`; a new synthesiser is picked up by itself."""

from __future__ import annotations

import pytest

from holdfast.synth import METHODS
from holdfast.testing.contract import Check
from holdfast.testing.synthesisers import synthesiser_checks

CHECKS = [
    pytest.param(check, id=f"{method.name}-{check.name}")
    for method in METHODS
    for check in synthesiser_checks(method)
]


@pytest.mark.parametrize("check", CHECKS)
def test_method(check: Check) -> None:
    check()
