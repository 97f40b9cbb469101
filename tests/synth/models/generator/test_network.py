"""The network form: the same distance as NumPy's, a derivative that descends, and an error that names the extra."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from holdfast.errors import MissingExtra, ParameterError
from holdfast.noise._source import Source
from holdfast.synth._models.generator import network
from holdfast.synth._models.generator.heads import Heads
from holdfast.synth._models.generator.network import NetworkMixture, device_targets, distance
from holdfast.synth._models.generator.stacks import block_stacks
from holdfast.synth._models.generator.targets import Targets
from holdfast.synth._models.generator.training import (
    LogitMixture,
    new_generator,
    require_generator,
    train_generator,
)
from holdfast.synth._models.model import Measurement
from holdfast.synth._workload.residual_basis import helmert

DOMAIN = {"a": 2, "b": 3, "c": 3, "d": 4, "e": 3}
HEADS = Heads.of(DOMAIN)


def noisy(size: int = 3, seed: int = 0) -> list[Measurement]:
    """Residuals of all sets of up to so many columns: noise about zero."""
    random = np.random.default_rng(seed)
    return [
        Measurement(
            columns=chosen,
            values=random.normal(0, 3, [DOMAIN[name] - 1 for name in chosen]),
            noise_std=1.0 + place % 3,
        )
        for ways in range(1, size + 1)
        for place, chosen in enumerate(combinations(DOMAIN, ways))
    ]


def targets(measured: Sequence[Measurement]) -> Targets:
    return Targets(HEADS, measured, helmert, total=100.0)


def small(**options: object) -> NetworkMixture:
    return NetworkMixture(HEADS, components=7, source=Source(seed=1), noise=4, hidden=(8,), **options)  # type: ignore[arg-type]


def test_the_distance_and_its_derivative_are_numpys() -> None:
    """Blocks of unlike size are filled up, and what was filled up counts nothing."""
    import jax

    aims = targets(noisy(4))
    probabilities = LogitMixture(HEADS, components=7, source=Source(seed=3)).probabilities()
    both = jax.jit(jax.value_and_grad(lambda now, held: distance(HEADS, now, held)))
    value, slope = both(probabilities, device_targets(aims))
    assert float(value) == pytest.approx(aims.distance(probabilities), rel=1e-5)
    assert np.allclose(np.asarray(slope), aims.gradient(probabilities)[1], rtol=1e-4, atol=1e-5)
    assert sum(one.wanted.shape[0] for one in block_stacks(aims)) == len(aims.blocks)


def test_stacks_are_cut_where_they_grow_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    aims = targets(noisy())
    monkeypatch.setattr("holdfast.synth._models.generator.stacks.MOST_VALUES", 1)
    assert all(one.wanted.shape[0] == 1 for one in block_stacks(aims))


def test_it_begins_with_the_columns_and_descends() -> None:
    columns = {name: np.arange(1, cells + 1) / sum(range(1, cells + 1)) for name, cells in DOMAIN.items()}
    made = small(columns=columns)
    for name, at in HEADS.slices().items():
        assert np.allclose(made.probabilities()[:, at].mean(axis=0), columns[name], atol=0.15)
    aims = targets(noisy(2))
    before = aims.distance(made.probabilities())
    for _ in range(30):
        made.step(aims)
    assert aims.distance(made.probabilities()) < 0.9 * before
    assert np.array_equal(small(columns=columns).probabilities(), small(columns=columns).probabilities()), (
        "a seed repeats"
    )


def test_thinning_stops_it_as_it_stops_the_mixture() -> None:
    pytest.importorskip("jax")
    measured = noisy(2)
    made, stopping = train_generator(
        lambda _: small(), measured, targets, thinned=(noisy(2, 1), noisy(2, 2)), most_steps=20
    )
    assert made.probabilities().shape == (7, HEADS.width)
    assert stopping.steps <= 20


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optax", None)
    with pytest.raises(MissingExtra, match=r"holdfast\[gan\]"):
        require_generator("network")
    require_generator("mixture")
    with pytest.raises(ParameterError, match="generator must be"):
        require_generator("tree")
    assert isinstance(new_generator("mixture", HEADS, components=2, source=Source(seed=1)), LogitMixture)


def test_jax_is_not_imported_until_a_network_is_made() -> None:
    code = (
        "import sys, holdfast.synth.methods; assert 'jax' not in sys.modules and 'optax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert network.__doc__
