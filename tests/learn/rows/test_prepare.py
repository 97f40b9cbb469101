"""Rows as a linear model sees them: no longer than declared, whatever they were."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from holdfast.data._clipped_rows import NORM_SLACK, clip_rows
from holdfast.errors import DataError
from holdfast.learn._rows.design import BLOCK_ROWS as BLOCK
from holdfast.learn._rows.design import design, design_norm, intercept_value

anything = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(arrays(np.float64, (5, 3), elements=anything), st.floats(1e-120, 1e120), st.booleans())
def test_no_row_is_longer_than_declared(rows: np.ndarray, row_norm: float, flag: bool) -> None:
    constant = intercept_value(row_norm, fit_intercept=flag)
    made = design(rows, row_norm=row_norm, constant=constant)
    lengths = [math.hypot(*row) for row in (made / row_norm).tolist()]
    assert max(lengths) <= design_norm(row_norm, fit_intercept=flag) / row_norm * (1 + NORM_SLACK)


@given(arrays(np.float64, (4, 2), elements=st.floats(-3, 3)))
def test_it_is_the_clipping_of_the_data_room(rows: np.ndarray) -> None:
    np.testing.assert_allclose(
        design(rows, row_norm=1.0, constant=0.0), clip_rows(rows, 1.0), rtol=1e-9, atol=1e-15
    )


def test_blocks_and_sparse_rows_make_no_difference() -> None:
    rows = np.random.default_rng(0).normal(size=(2 * BLOCK + 7, 3))
    made = design(rows, row_norm=1.5, constant=0.75)
    np.testing.assert_array_equal(made, design(csr_array(rows), row_norm=1.5, constant=0.75))
    np.testing.assert_array_equal(made[BLOCK:], design(rows[BLOCK:], row_norm=1.5, constant=0.75))
    assert (made[:, 3] == 0.75).all()
    assert np.linalg.norm(made[:, :3], axis=1).max() <= 1.5 * (1 + NORM_SLACK)


def test_what_is_not_finite_is_refused() -> None:
    with pytest.raises(DataError, match="finite"):
        design(np.array([[0.1], [np.inf]]), row_norm=1.0, constant=0.0)
    with pytest.raises(DataError, match="finite"):
        design(np.array([[0.1], [np.nan]]), row_norm=1.0, constant=0.0)


def test_the_constant_costs_what_the_page_says() -> None:
    assert design_norm(2.0, fit_intercept=True) == pytest.approx(2.0 * math.sqrt(1.25))
    assert design_norm(2.0, fit_intercept=False) == 2.0
