"""Freshness: sound noise passes with its stated error, and each way of being stale is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from holdfast.noise._source import Source
from holdfast.privacy import MECHANISMS, Gaussian, Laplace
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.refute._freshness import MechanismFreshness, p_values, smallest_p_value

NOISE = Gaussian(sigma=3.0, l2_sensitivity=1.0)
LEVEL = 1e-7


def p_value(
    mechanism: Mechanism, sample: Callable[[Any, Source], Any] | None = None, *, runs: int = 20
) -> float:
    trial = MechanismFreshness(mechanism=mechanism, sample=sample or mechanism.sample, runs=runs)
    found = trial.run(Source(seed=3), error=LEVEL).p_value
    assert found is not None
    return found


@pytest.mark.parametrize("kind", MECHANISMS, ids=lambda kind: kind.__name__)
def test_shipped_noise_is_fresh(kind: type[Mechanism]) -> None:
    assert p_value(kind.examples()[0]) > 1e-4


class Stale:
    """Noise that is not what it should be, in one of several ways."""

    def __init__(self, kind: str) -> None:
        self.kind, self.kept, self.number = kind, 0.0, 0

    def __call__(self, value: Any, source: Source) -> Any:
        self.number += 1
        drawn = NOISE.sample(np.asarray(value, dtype=float), source) - value
        if self.kind == "first":
            self.kept = drawn[0] if self.number == 1 else self.kept
            return value + self.kept
        if self.kind == "previous":
            self.kept, drawn = float(drawn[0]), self.kept if self.number % 2 == 0 else drawn
        if self.kind == "quiet":
            drawn = drawn / 1.2
        if self.kind == "one number":
            drawn = np.full(np.shape(value), drawn[0])
        if self.kind == "laplace":
            drawn = Laplace(scale=3.0 / 2**0.5, l1_sensitivity=1.0).sample(np.zeros(len(value)), source)
        return value + drawn


@pytest.mark.parametrize("kind", ["first", "previous", "quiet", "one number", "laplace"])
def test_stale_noise_is_seen(kind: str) -> None:
    # The shape alone tells Laplace noise of the same variance: at this level that takes more than 800 draws.
    assert p_value(NOISE, Stale(kind), runs=40 if kind == "laplace" else 20) < LEVEL


def test_p_values_are_p_values() -> None:
    """Of independent normal numbers, each test says p <= u with probability u at most."""
    random = np.random.default_rng(5)
    least: dict[str, list[float]] = {}
    for _ in range(200):
        runs = [[random.normal(size=3) for _ in range(4)] for _ in range(10)]
        for name, p in p_values(runs):
            least.setdefault(name, []).append(p)
        assert 0 <= smallest_p_value(runs)[1] <= 1
    for name, found in least.items():
        assert np.mean(np.array(found) <= 0.05) <= 0.05 + 4 * (0.05 * 0.95 / 200) ** 0.5, name
