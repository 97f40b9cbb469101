from __future__ import annotations

import math

import pytest

from holdfast.noise._source import Source
from holdfast.refute._trial import Neighbours


def run(*shares: float, least: float = 1 / 3):  # type: ignore[no-untyped-def]
    return Neighbours(what="", shares=lambda _: shares, least=least).run(Source(seed=0), error=0.1)


def test_the_largest_share_counts() -> None:
    assert not run(0.2, 1.0, 0.4).refuted
    assert run(0.2, 1.001).refuted
    assert run(0.2, 1.001).error == 0.0


@pytest.mark.parametrize("shares", [(0.2, 0.1), (0.0,), (), (0.9, math.nan)])
def test_a_blind_test_is_no_pass(shares: tuple[float, ...]) -> None:
    assert run(*shares).refuted
    assert not run(0.2, least=0.1).refuted
