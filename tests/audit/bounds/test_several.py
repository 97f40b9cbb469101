"""Holm's rule over everything that was run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.audit._bounds.several import holm, shared_confidence
from holdfast.errors import ParameterError

P_VALUES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)


@given(P_VALUES, st.integers(0, 20))
def test_holm_lies_between_bonferroni_and_no_correction(values: list[float], more: int) -> None:
    run = len(values) + more
    rejected = holm(values, error=0.05, run=run)
    assert all(kept or p > 0.05 / run for p, kept in zip(values, rejected, strict=True))
    assert all(p <= 0.05 for p, kept in zip(values, rejected, strict=True) if kept)
    assert rejected == holm([*values, *[1.0] * more], error=0.05, run=run)[: len(values)]
    # What was run beside it never helps, and a smaller p-value is never worse.
    assert all(a >= b for a, b in zip(rejected, holm(values, error=0.05, run=run + 1), strict=True))
    order = np.argsort(values, kind="stable")
    assert sorted(np.array(rejected)[order].tolist(), reverse=True) == np.array(rejected)[order].tolist()


def test_sound_mechanisms_are_seldom_accused() -> None:
    random = np.random.default_rng(4)
    pages = random.random((2000, 20))
    assert np.mean([any(holm(page.tolist(), error=0.05, run=20)) for page in pages]) < 0.07
    assert np.mean(pages.min(axis=1) <= 0.05) > 0.6  # without it, on 64 % of pages


def test_bounds_share_the_error_evenly() -> None:
    assert shared_confidence(0.95, 1) == 0.95
    assert shared_confidence(0.95, 20) == pytest.approx(0.9975)
    with pytest.raises(ParameterError, match="run"):
        holm([0.1, 0.2], error=0.05, run=1)
