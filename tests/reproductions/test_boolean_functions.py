"""Influence, noise and attacks on Boolean functions: the theorems by enumeration, and where the text is wrong."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from studies.reproductions import boolean_functions as boolean
from studies.reproductions.boolean_functions import bayes_gain, influence, printed_gain, stable_influence

RANDOM = [
    np.random.default_rng(seed).choice([-1.0, 1.0], size=2**bits) for seed, bits in enumerate((3, 4, 5, 6))
]


def _enumerated(h: np.ndarray, i: int, rho: float) -> tuple[float, float]:
    """Algorithm 9 and the best attack, by running over every x and every z: nothing of the Fourier expansion."""
    bits = int(math.log2(h.size))
    chance: dict[tuple[int, float], dict[int, float]] = {}
    for x, z in product(range(h.size), repeat=2):
        if (x ^ z) >> i & 1:
            continue  # z has no bit i of its own
        wrong = (x ^ z).bit_count()
        p = ((1 - rho) / 2) ** wrong * ((1 + rho) / 2) ** (bits - 1 - wrong) / h.size
        seen = chance.setdefault((z & ~(1 << i), h[x]), {0: 0.0, 1: 0.0})
        seen[x >> i & 1] += p
    printed = 0.0
    for (z, y), each in chance.items():
        up, down = h[z], h[z | 1 << i]
        printed += each[1 if up != down and down == y else 0]
    return printed, sum(max(each.values()) for each in chance.values())


@pytest.mark.parametrize("h", RANDOM, ids=len)
@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
def test_gains_are_those_of_the_game_played_out(h: np.ndarray, rho: float) -> None:
    for i in (0, int(math.log2(h.size)) - 1):
        printed, best = _enumerated(h, i, rho)
        assert printed_gain(h, i, rho) == pytest.approx(printed, abs=1e-12)
        assert bayes_gain(h, i, rho) == pytest.approx(best, abs=1e-12)
        assert printed == pytest.approx(0.5 + stable_influence(h, i, rho) / 2, abs=1e-12)  # theorem 5.14
        assert best >= printed - 1e-12


@pytest.mark.parametrize("h", RANDOM, ids=len)
def test_without_noise_the_gain_is_the_influence_and_no_attack_has_more(h: np.ndarray) -> None:
    """Lemma 5.7."""
    for i in range(int(math.log2(h.size))):
        assert influence(h, i) == pytest.approx(stable_influence(h, i, 1.0))
        assert printed_gain(h, i) == pytest.approx(0.5 + influence(h, i) / 2)
        assert bayes_gain(h, i) == pytest.approx(printed_gain(h, i))


def test_the_numbers_of_remark_5_15_and_of_question_1() -> None:
    """The function is AND; its advantage is five times what is printed; and algorithm 9 is not nearly optimal."""
    both = boolean.conjunction(5)
    assert stable_influence(both, 0, 0.5) == pytest.approx((1.5 / 4) ** 4, abs=1e-12)
    assert stable_influence(both, 0, 0.5) == pytest.approx(0.019775, abs=5e-7)
    assert printed_gain(both, 0, 0.5) == pytest.approx(0.509888, abs=5e-7)
    assert bayes_gain(both, 0, 0.5) == pytest.approx(0.53125)
    assert 0.5**4 * 2.0**-5 == pytest.approx(0.001953, abs=5e-7)  # the printed advantage
    for bits, rho in ((7, 0.8), (9, 0.3)):
        h = boolean.unanswered(bits)
        assert bayes_gain(h, 0, rho) == pytest.approx(0.75)
        assert 0.75 - printed_gain(h, 0, rho) == pytest.approx((1 - rho ** (bits - 1)) / 8)
    assert printed_gain(boolean.unanswered(7), 0, 0.8) == pytest.approx(0.657768, abs=5e-7)


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_least_invertible_functions_are_constant_but_for_a_point(bits: int) -> None:
    """Lemmas 5.8 and 5.9, theorem 5.10, over all functions."""
    spectra = boolean.every_spectrum(bits)
    inside = (np.arange(2**bits)[:, None] >> np.arange(bits)) & 1
    influences = spectra @ inside
    least = 2.0 ** (1 - bits)
    assert not np.any((influences > 1e-9) & (influences < least - 1e-9))
    smallest = np.all(np.abs(influences - least) < 1e-9, axis=1)
    minority = np.minimum(*((boolean.every_function(bits) == v).sum(axis=1) for v in (1.0, -1.0)))
    assert np.array_equal(smallest, minority == 1)
    some = np.any(np.abs(influences - least) < 1e-9, axis=1)
    assert np.all(influences[some] > 1e-9)


def test_named_functions_have_their_influences() -> None:
    assert [influence(boolean.parity(5), i) for i in range(5)] == [1.0] * 5
    assert influence(boolean.dictator(4, 2), 2) == 1.0
    assert influence(boolean.dictator(4, 2), 1) == 0.0
    assert influence(boolean.majority(5), 0) == pytest.approx(math.comb(4, 2) / 16)
    assert bayes_gain(boolean.dictator(4, 2), 1, 0.5) == 0.5  # no influence, nothing found


@pytest.mark.parametrize("rho", [0.2, 0.9])
def test_influential_bits_interfere_in_every_function_of_four_bits(rho: float) -> None:
    """Theorem 5.16, and its extension to influences of 1 - delta (question 2)."""
    spectra = boolean.every_spectrum(4)
    sizes = boolean.degrees(4)
    inside = (np.arange(16)[:, None] >> np.arange(4)) & 1
    influences = spectra @ inside
    for i in range(4):
        stable = spectra[:, inside[:, i] == 1] @ rho ** (sizes[inside[:, i] == 1] - 1)
        exact = np.sum(influences > 1 - 1e-9, axis=1)
        few = exact >= 1
        assert np.all(stable[few] <= rho ** (exact[few] - 1) * influences[few, i] + 1e-9)
        for delta in (0.0, 0.125, 0.25):
            high = influences >= 1 - delta - 1e-9
            chosen = high[:, i] & (high.sum(axis=1) >= 2)
            bounds = {t: boolean.interference_bound(rho, t, delta) for t in (2, 3, 4)}
            allowed = np.array([bounds[int(t)] for t in high[chosen].sum(axis=1)])
            assert np.all(stable[chosen] <= allowed + 1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.4, 0.9])
def test_for_monotone_functions_noise_costs_the_best_attack_nothing(rho: float) -> None:
    for h in (boolean.majority(5), boolean.conjunction(5)):
        assert bayes_gain(h, 1, rho) == pytest.approx(0.5 + influence(h, 1) / 2)
        assert printed_gain(h, 1, rho) < bayes_gain(h, 1, rho)


def test_the_expansion_of_a_million_values() -> None:
    bits = 20
    h = np.random.default_rng(0).choice([-1.0, 1.0], size=2**bits)
    coefficients = boolean.fourier(h)
    assert np.sum(coefficients**2) == pytest.approx(1.0)  # Parseval
    assert np.allclose(boolean.walsh_hadamard(coefficients)[:50], h[:50])


def test_sampled_influences_lie_within_their_limits() -> None:
    h, rho, outside, bits = boolean.majority(5), 0.6, 0, 5
    true = [stable_influence(h, i, rho) for i in range(bits)]
    limit = boolean.sampled_limits(400, error=0.05, features=bits)[1]
    for seed in range(100):
        found = boolean.sampled_influences(h, samples=400, rho=rho, random=np.random.default_rng(seed))
        outside += any(abs(a - b) > limit for a, b in zip(found, true, strict=True))
    assert outside <= 5
    assert np.mean(found) == pytest.approx(np.mean(true), abs=0.05)


def test_what_is_no_boolean_function_is_refused() -> None:
    with pytest.raises(ValueError, match="2\\^n values"):
        boolean.fourier([1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="-1 and 1"):
        bayes_gain([1.0, 0.5], 0)
    with pytest.raises(ValueError, match="rho"):
        stable_influence(boolean.parity(2), 0, 1.5)
