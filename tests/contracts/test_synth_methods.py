"""Every entry of METHODS and CLASSICS keeps the contract of `holdfast.testing`; a new one is picked up by itself."""

from __future__ import annotations

import pytest

from holdfast.synth import SYNTHESISERS
from holdfast.testing._contract import Check
from holdfast.testing._synthesisers import synthesiser_checks

CHECKS = [
    pytest.param(check, id=f"{method.name}-{check.name}")
    for method in SYNTHESISERS
    for check in synthesiser_checks(method)
]


@pytest.mark.parametrize("check", CHECKS)
def test_method(check: Check) -> None:
    check()
