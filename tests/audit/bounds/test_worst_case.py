"""The exact worst case: closed form against the programme as written, and its laws."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.audit._bounds.worst_case import solve_programme, upper_tail, worst_case
from tests.paths import GOLDEN

NUMBERS = json.loads((GOLDEN / "audit_program.json").read_text())


@st.composite
def counts(draw: st.DrawFn, most: int = 40) -> tuple[int, int, int]:
    guesses = draw(st.integers(1, most))
    return guesses + draw(st.integers(0, 30)), guesses, draw(st.integers(0, guesses))


@pytest.mark.parametrize("case", NUMBERS, ids=lambda c: "-".join(str(v) for v in c.values()))
def test_agrees_with_the_solver(case: dict[str, float]) -> None:
    got = worst_case(
        int(case["guesses"]),
        int(case["correct"]),
        canaries=int(case["canaries"]),
        epsilon=case["epsilon"],
        delta=case["delta"],
    )
    assert got == pytest.approx(case["value"], abs=2e-7)


@given(counts(), st.floats(0, 5), st.floats(1e-6, 0.3))
def test_agrees_with_the_solver_everywhere(case: tuple[int, int, int], epsilon: float, delta: float) -> None:
    canaries, guesses, correct = case
    exact = worst_case(guesses, correct, canaries=canaries, epsilon=epsilon, delta=delta)
    assert exact == pytest.approx(
        solve_programme(guesses, correct, canaries=canaries, epsilon=epsilon, delta=delta), abs=1e-6
    )


@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.1])
def test_the_counterexample_to_the_closed_formula(delta: float) -> None:
    # Soundness, section 13: P[at least one of three right] = 7/8 + 7 delta / 8 is reached.
    assert worst_case(3, 1, canaries=3, epsilon=0.0, delta=delta) == pytest.approx(
        7 / 8 + 7 * delta / 8, abs=1e-9
    )


@given(counts(60), st.floats(0, 6))
def test_without_delta_it_is_the_binomial(case: tuple[int, int, int], epsilon: float) -> None:
    canaries, guesses, correct = case
    exact = worst_case(guesses, correct, canaries=canaries, epsilon=epsilon, delta=0.0)
    tail = float(upper_tail(guesses, correct, epsilon))
    assert tail <= exact <= tail * (1 + 1e-9)


@given(counts(60), st.floats(0, 5), st.floats(0, 2), st.floats(0, 0.1))
def test_more_privacy_loss_allows_more(
    case: tuple[int, int, int], epsilon: float, more: float, delta: float
) -> None:
    canaries, guesses, correct = case
    low = worst_case(guesses, correct, canaries=canaries, epsilon=epsilon, delta=delta)
    assert low <= worst_case(guesses, correct, canaries=canaries, epsilon=epsilon + more, delta=delta) * (
        1 + 1e-9
    )
    assert low <= worst_case(guesses, correct, canaries=canaries, epsilon=epsilon, delta=delta + 0.01) * (
        1 + 1e-9
    )


def test_a_mechanism_that_reveals_all_reaches_its_share() -> None:
    # With probability delta reveal everything, else randomised response: (epsilon, delta)-DP.
    for delta in (1e-4, 1e-2):
        own = delta + (1 - delta) * float(upper_tail(50, 45, 1.0))
        assert worst_case(50, 45, canaries=50, epsilon=1.0, delta=delta) >= own - 1e-9


def test_delta_counts_where_the_tail_underflows() -> None:
    # 4000 right guesses at epsilon 0 have a tail of 2^-4000, but a leak of probability delta remains.
    value = worst_case(4000, 4000, canaries=4000, epsilon=0.0, delta=1e-9)
    assert value == pytest.approx(4000 * 1e-9 / 4000, rel=1e-6)
    assert worst_case(4000, 3999, canaries=4000, epsilon=0.0, delta=1e-9) >= value
    assert worst_case(5000, 1, canaries=5000, epsilon=30.0, delta=1e-9) == 1.0
    values = [
        worst_case(5000, v, canaries=10_000, epsilon=e, delta=1e-9)
        for v in (1, 2500, 4999)
        for e in (0.0, 30.0)
    ]
    assert all(0 < v <= 1 for v in values)


@given(st.integers(900, 1100), st.floats(1e-9, 1e-3))
def test_no_jump_where_the_tail_becomes_tiny(correct: int, delta: float) -> None:
    # Around 1e-280 the closed form hands over to its limit.
    steps = [
        worst_case(1100, min(correct + k, 1100), canaries=1100, epsilon=0.0, delta=delta) for k in (0, 1)
    ]
    assert steps[1] <= steps[0] * (1 + 1e-9)
    assert steps[1] >= steps[0] * 0.5 or steps[0] > 10 * delta
