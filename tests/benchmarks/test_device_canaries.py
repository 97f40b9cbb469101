"""The accelerator's products are those of the same canaries on the host; without JAX the way out is named."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from studies.benchmarks.device_canaries import DeviceCanaries

from holdfast.audit._canaries import RademacherCanaries
from holdfast.errors import MissingExtra


@pytest.mark.parametrize(("count", "dimension"), [(5, 7), (1500, 300), (70, 4100)])
def test_products_are_those_of_the_host(count: int, dimension: int) -> None:
    pytest.importorskip("jax", reason="an optional extra (gan) that the test environment may lack")
    host = RademacherCanaries(count=count, dimension=dimension, seed=3, row_norm=2.0)
    device, rng = DeviceCanaries(host=host), np.random.default_rng(1)
    direction, weights, coins = rng.normal(size=dimension), rng.normal(size=count), rng.random(count) < 0.5
    assert np.allclose(device.project(direction), host.project(direction), rtol=0, atol=1e-4)
    assert np.allclose(device.combine(weights), host.combine(weights), rtol=0, atol=1e-4)
    assert np.array_equal(device.combine(coins), host.combine(coins))  # whole numbers, one rounding


def test_everything_else_is_the_hosts() -> None:
    host = RademacherCanaries(count=5, dimension=7, seed=3)
    device = DeviceCanaries(host=host)
    assert (device.count, device.dimension, device.row_norm) == (5, 7, 1.0)
    assert device.public == host.public
    assert np.array_equal(device.rows([1, 3]), host.rows([1, 3]))
    assert np.array_equal(next(device.blocks(2))[1], host.rows([0, 1]))


def test_without_jax_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    device = DeviceCanaries(host=RademacherCanaries(count=5, dimension=7, seed=3))
    with pytest.raises(MissingExtra, match="gan"):
        device.project(np.zeros(7))
