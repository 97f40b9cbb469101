"""Sign canaries on an accelerator: bits made there, products there, only vectors travel.

For `studies.benchmarks.audit_scale_gpu`. JAX is imported when the first product is asked for (extra `gan`); without an
accelerator it computes on the CPU, which is how the tests check it. The bits are those of `RademacherCanaries`, so
what was planted on one machine can be scored on another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast._arrays import Floats
from holdfast._extras import import_optional
from holdfast.audit._canaries.design import (
    ROWS_AT_ONCE,
    SPLITMIX_LAST_SHIFT,
    SPLITMIX_ROUNDS,
    SPLITMIX_STEP,
    Block,
    as_vector,
    stream_key,
)
from holdfast.audit._canaries.random_directions import SIGNS_STREAM, RademacherCanaries
from holdfast.errors import require

GROUP = 1024
"""Canaries whose packed bits are in device memory at a time: 13 MB at 100,000 dimensions."""


@dataclass(frozen=True, kw_only=True)
class DeviceCanaries:
    """`RademacherCanaries` whose products run on JAX's default device, in single precision.

    Everything but `project` and `combine` is answered by the canaries on the host.
    """

    host: RademacherCanaries

    def __post_init__(self) -> None:
        require(self.host.count <= 2**24, "count", self.host.count, "<= 2^24 in single precision")

    @property
    def count(self) -> int:
        """The number of canaries."""
        return self.host.count

    @property
    def dimension(self) -> int:
        """The length of each."""
        return self.host.dimension

    @property
    def row_norm(self) -> float:
        """The length of none exceeds this."""
        return self.host.row_norm

    @property
    def public(self) -> Mapping[str, int | float | str]:
        """The host's: they are the same canaries."""
        return self.host.public

    def rows(self, indices: ArrayLike) -> Floats:
        """Some canaries, one in each row."""
        return self.host.rows(indices)

    def blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[Block]:
        """All canaries in order, a few rows at a time."""
        return self.host.blocks(rows)

    def project(self, direction: ArrayLike) -> Floats:
        """The m inner products."""
        vector = np.zeros(64 * self.host.words_per_row, np.float32)
        vector[: self.dimension] = as_vector(direction, self.dimension, "direction")
        with self._device.wide():
            signed = self._device.project(vector)
        return self.host.entry * np.asarray(signed, np.float64)[: self.count]

    def combine(self, weights: ArrayLike) -> Floats:
        """The weighted sum; exact up to one rounding with weights 0 and 1."""
        weight = np.zeros(-(-self.count // GROUP) * GROUP, np.float32)
        weight[: self.count] = as_vector(weights, self.count, "weights")
        with self._device.wide():
            signed = self._device.combine(weight)
        return self.host.entry * np.asarray(signed, np.float64)[: self.dimension]

    @cached_property
    def _device(self) -> SimpleNamespace:
        """The two compiled products."""
        jax, jnp = import_optional("jax"), import_optional("jax.numpy")
        width, key = self.host.words_per_row, stream_key(self.host.seed, SIGNS_STREAM)
        groups = -(-self.count // GROUP)

        def bits(group: Any) -> Any:
            """The packed words of one group: `design.words`, on the device."""
            index = jnp.arange(1, GROUP * width + 1, dtype=jnp.uint64)
            state = (group.astype(jnp.uint64) * jnp.uint64(GROUP * width) + index) * jnp.uint64(SPLITMIX_STEP)
            state = state + jnp.uint64(key)
            for shift, factor in SPLITMIX_ROUNDS:
                state = (state ^ (state >> jnp.uint64(shift))) * jnp.uint64(factor)
            return (state ^ (state >> jnp.uint64(SPLITMIX_LAST_SHIFT))).reshape(GROUP, width)

        def signs(words: Any) -> Any:
            """A set bit is a minus sign; XLA fuses this into the sum that follows."""
            words = jax.lax.optimization_barrier(words)  # mixed once, not once for each of its 64 bits
            halves = jax.lax.bitcast_convert_type(words, jnp.uint32)  # low half first
            minus = (halves[..., None] >> jnp.arange(32, dtype=jnp.uint32)) & jnp.uint32(1)
            return 1.0 - 2.0 * minus.reshape(GROUP, 64 * width).astype(jnp.float32)

        def project(vector: Any) -> Any:
            # A product and a sum, not a matrix product: the signs never reach the device's memory.
            return jax.lax.map(
                lambda g: jnp.sum(signs(bits(g)) * vector, axis=1), jnp.arange(groups)
            ).reshape(-1)

        def combine(weight: Any) -> Any:
            def add(total: Any, item: tuple[Any, Any]) -> tuple[Any, None]:
                return total + jnp.sum(signs(bits(item[0])) * item[1][:, None], axis=0), None

            start = jnp.zeros(64 * width, jnp.float32)
            return jax.lax.scan(add, start, (jnp.arange(groups), weight.reshape(groups, GROUP)))[0]

        # Words of 64 bits, for these calls only; newer versions have the switch at the top.
        owner = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
        return SimpleNamespace(
            project=jax.jit(project), combine=jax.jit(combine), wide=lambda: owner.enable_x64(True)
        )
