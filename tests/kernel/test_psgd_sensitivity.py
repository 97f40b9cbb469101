"""The recursion against its closed forms, the numbers of the soundness notes (section 1) and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast._kernel import SgdOptions, start
from holdfast._kernel.sensitivity import averaging_from, psgd_sensitivity, rounding_slack
from holdfast.errors import ParameterError


def decreasing(penalty: float, smoothness: float, count: int) -> Floats:
    return np.minimum(1 / (smoothness + penalty), 1 / (penalty * np.arange(1, count + 1)))


def strongly_convex(
    *, smoothness: float, penalty: float, change: float, m: int, b: int, k: int, average: bool = False
) -> float:
    count = k * math.ceil(m / b)
    return psgd_sensitivity(
        decreasing(penalty, smoothness, count),
        batch=b,
        passes=k,
        gradient_change=change,
        smoothness=smoothness,
        penalty=penalty,
        averaging_weights=averaging_from(1, steps=count) if average else None,
    )


@pytest.mark.parametrize("b", [1, 10, 50])
@pytest.mark.parametrize("k", [1, 5])
def test_a_the_batch_cancels(b: int, k: int) -> None:
    bound = strongly_convex(smoothness=0.0, penalty=0.1, change=0.1, m=1000, b=b, k=k)
    assert bound == pytest.approx(1e-3, rel=1e-9)  # printed: 1e-3 / b
    assert bound >= 1e-3 * (1 - 1e-15)


def test_b_averaging_costs_a_harmonic_number() -> None:
    bound = strongly_convex(smoothness=0.0, penalty=0.1, change=0.1, m=1000, b=1, k=1, average=True)
    assert bound == pytest.approx(sum(1 / t for t in range(1, 1001)) / 1000, rel=1e-9)
    assert bound == pytest.approx(7.4855e-3, rel=1e-4)


def test_c_a_short_last_batch_with_divisor_b() -> None:
    bound = strongly_convex(smoothness=0.0, penalty=0.1, change=0.1, m=1001, b=50, k=1)
    assert bound == pytest.approx(1 / (21 * 50), rel=1e-9)
    assert bound <= 1 / 1001


def test_d_e_f_g_the_printed_numbers() -> None:
    d = strongly_convex(smoothness=9.99, penalty=0.01, change=2, m=1000, b=50, k=20)
    assert d == pytest.approx(0.06659, abs=5e-6)
    assert d <= 20 * 2 / (0.01 * 400) / 50  # the closed bound 0.08... k G eta_T / b
    for b, k, ratio in ((1, 1, 6.96), (10, 5, 1.905)):
        last = strongly_convex(smoothness=0.9, penalty=0.1, change=2, m=10_000, b=b, k=k)
        mean = strongly_convex(smoothness=0.9, penalty=0.1, change=2, m=10_000, b=b, k=k, average=True)
        assert mean / last == pytest.approx(ratio, abs=5e-3)
    f = psgd_sensitivity(
        np.full(400 * 100, 0.1), batch=10, passes=400, gradient_change=2, smoothness=9.99, penalty=0.01
    )
    assert f == pytest.approx(0.2101, abs=5e-5)
    m, start_at = 10**6, 10**3.6
    g = psgd_sensitivity(
        2 / (np.arange(1, 2 * m + 1) + start_at), batch=1, passes=2, gradient_change=0.5, smoothness=1
    )
    assert g == pytest.approx(2.52122e-4, rel=1e-5)
    assert g > 2.51882e-4


@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 9), st.floats(1e-3, 1.9))
def test_closed_forms_for_constant_steps(k: int, batches: int, b: int, eta: float) -> None:
    steps = np.full(k * batches, eta)
    plain = psgd_sensitivity(steps, batch=b, passes=k, gradient_change=2.0, smoothness=1.0)
    assert plain == pytest.approx(k * 2.0 * eta / b, rel=1e-12)
    mean = psgd_sensitivity(
        steps,
        batch=b,
        passes=k,
        gradient_change=2.0,
        smoothness=1.0,
        averaging_weights=averaging_from(1, steps=steps.size),
    )
    assert mean <= plain * (1 + 1e-12)
    shrink = 1 - eta / 2 * 0.5
    damped = psgd_sensitivity(steps / 2, batch=b, passes=k, gradient_change=2.0, smoothness=0.5, penalty=0.5)
    closed = 2.0 * eta / 2 / b * (1 - shrink ** (k * batches)) / (1 - shrink**batches)
    assert damped == pytest.approx(closed, rel=1e-9)


@given(
    st.lists(st.floats(0.01, 3.0), min_size=1, max_size=12),
    st.integers(1, 3),
    st.floats(0, 1),
    st.floats(0, 1.5),
    st.integers(0, 2**31),
    st.booleans(),
)
def test_never_below_a_run_on_quadratics(
    etas: list[float], batch: int, penalty: float, smoothness: float, seed: int, average: bool
) -> None:
    """Gradients h w - g z with curvatures h in [0, smoothness]: any step size, also too large ones."""
    rng = np.random.default_rng(seed)
    steps, change = np.array(etas), 0.7
    weights = rng.random(steps.size) if average else None
    bound = psgd_sensitivity(
        steps,
        batch=batch,
        passes=1,
        gradient_change=change,
        smoothness=smoothness,
        penalty=penalty,
        averaging_weights=weights,
    )
    curvature = rng.choice([0.0, smoothness], size=steps.size)
    for place in range(steps.size):
        w, other = [0.0], [0.0]
        for t, eta in enumerate(etas):
            for path, z in ((w, 0.0), (other, change * (t == place))):
                path.append(
                    (1 - eta * penalty) * path[-1] - eta / batch * (batch * curvature[t] * path[-1] - z)
                )
        gap = np.abs(np.array(other[1:]) - np.array(w[1:]))
        observed = (
            float(weights @ (np.array(other[1:]) - np.array(w[1:]))) if weights is not None else gap[-1]
        )
        assert abs(observed) <= bound * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("average_from", [0, 1, 7])
@pytest.mark.parametrize("radius", [math.inf, 0.3])
@pytest.mark.parametrize("m", [60, 57])
def test_h_kernel_runs_stay_within(average_from: int, radius: float, m: int) -> None:
    rng = np.random.default_rng(m)
    penalty, b, k, d = 0.05, 8, 3, 3
    count = k * math.ceil(m / b)
    steps = decreasing(penalty, 0.25, count)
    options = SgdOptions(
        dimension=d, batch=b, penalty=penalty, steps=steps, average_from=average_from, radius=radius
    )
    bound = psgd_sensitivity(
        steps,
        batch=b,
        passes=k,
        gradient_change=2 * (1 + 1e-9),
        smoothness=0.25,
        penalty=penalty,
        averaging_weights=averaging_from(average_from, steps=count),
    ) + rounding_slack(
        steps, dimension=d, batch=b, lipschitz=1 + 1e-9, smoothness=0.25, penalty=penalty, radius=radius
    )
    orders = [rng.permutation(m) for _ in range(k)]  # a fresh permutation for each pass, the same for both

    def train(x: Floats, y: Floats) -> Floats:
        run = start(options)
        for order in orders:
            run.feed(x, y, order=order)
            run.end_pass()
        return run.final()

    x, y = rng.normal(size=(m, d)), np.sign(rng.normal(size=m))
    base = train(x, y)
    for place in rng.integers(0, m, size=12):
        for row, label in ((-x[place], y[place]), (rng.normal(size=d) * 9, -y[place])):
            changed, flipped = x.copy(), y.copy()
            changed[place], flipped[place] = row, label
            assert np.linalg.norm(train(changed, flipped) - base) <= bound


def overflowing_run(records: int, added: bool) -> float:
    """Test I: Huber(w - z) with L = smoothness = 1, batches of `records` where the divisor is 10."""
    penalty, b, batches, k, w = 0.02, 10, 5, 2, 0.0
    for t in range(k * batches):
        eta = min(1 / 1.02, 1 / (penalty * (t + 1)))
        z = np.zeros(records)
        if added and t % batches == 0:
            z = np.append(z, 10.0)
        w = (1 - eta * penalty) * w - eta / b * float(np.clip(w - z, -1, 1).sum())
    return w


@pytest.mark.parametrize(("records", "share"), [(20, 0.046), (25, 6.67), (40, 12.6)])
def test_i_batches_beyond_twice_b_break_the_bound(records: int, share: float) -> None:
    bound = psgd_sensitivity(
        decreasing(0.02, 1.0, 10), batch=10, passes=2, gradient_change=1.0, smoothness=1.0, penalty=0.02
    )
    moved = abs(overflowing_run(records, True) - overflowing_run(records, False))
    assert moved / bound == pytest.approx(share, rel=0.01)


def test_many_rows_of_one_unit_fill_the_worst_batches() -> None:
    steps = np.array([0.5, 1.0, 0.25, 0.125])

    def of(rows: int) -> float:
        return psgd_sensitivity(steps, batch=2, passes=2, gradient_change=2.0, smoothness=1.0, unit_rows=rows)

    assert of(1) == pytest.approx(1.0 + 0.25)
    assert of(2) == pytest.approx(2 * of(1))
    assert of(3) == pytest.approx(2 * (1.0 + 0.25) + (0.5 + 0.125))
    assert of(4) == pytest.approx(2 * steps.sum())
    with pytest.raises(ParameterError, match="unit_rows"):
        of(5)


def test_refusals() -> None:
    good = {"batch": 2, "passes": 1, "gradient_change": 1.0, "smoothness": 1.0}
    for name, bad in (
        ("batch", 0),
        ("passes", 2),
        ("gradient_change", -1.0),
        ("smoothness", math.nan),
        ("smoothness", math.inf),
    ):
        with pytest.raises(ParameterError, match=name):
            psgd_sensitivity([0.5], **(good | {name: bad}))  # type: ignore[arg-type]
    for steps in ([], [0.0], [-1.0], [math.nan], [math.inf], [[1.0]]):
        with pytest.raises(ParameterError, match="steps"):
            psgd_sensitivity(steps, **good)  # type: ignore[arg-type]
    for weights in ([1.0, 1.0], [-1.0], [math.inf]):
        with pytest.raises(ParameterError, match="averaging_weights"):
            psgd_sensitivity([0.5], averaging_weights=weights, **good)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="first"):
        averaging_from(3, steps=2)
