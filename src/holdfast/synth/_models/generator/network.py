"""NetworkMixture: a small network from fixed Gaussian noise to the heads, trained in JAX on a CPU or a GPU.

The input noise of every component is drawn once and stays fixed, so the network describes a mixture of K products,
whose marginals are exact. The logits of `LogitMixture` are learnt one by one; here, components with similar input noise
learn together (Liu, Vietri and Wu 2021). Needs the extra `gan`; everything here reads released values only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._extras import import_optional
from holdfast.errors import require
from holdfast.noise._idealised import normal
from holdfast.noise._source import Source
from holdfast.synth._models.generator.heads import Heads, Singles
from holdfast.synth._models.generator.stacks import block_stacks, stack_distance
from holdfast.synth._models.generator.targets import Objective, Targets

NOISE_WIDTH = 64
HIDDEN_WIDTHS = (256, 256)
NETWORK_RATE = 0.001
FIRST_LOGITS = 0.3
"""Standard deviation of the first logits, as in `LogitMixture`."""


class NetworkMixture:
    """Noise, two hidden layers and a softmax for each column (`generator.training.Generator`)."""

    def __init__(
        self,
        heads: Heads,
        *,
        components: int = 500,
        rate: float = NETWORK_RATE,
        source: Source,
        columns: Mapping[str, Floats] | None = None,
        noise: int = NOISE_WIDTH,
        hidden: tuple[int, ...] = HIDDEN_WIDTHS,
    ) -> None:
        """`columns` are initial distributions: the first biases of the last layer."""
        require(components >= 1, "components", components, ">= 1")
        require(0 < rate < math.inf, "rate", rate, "> 0 and finite")
        _, jnp, optax = _libraries()
        self.heads = heads
        self._held: tuple[Targets | None, Any] = (None, None)
        self._noise = jnp.asarray(_draw_noise(source, components, noise))
        layers = []
        widths = (noise, *hidden, heads.width)
        for place, (before, after) in enumerate(pairwise(widths)):
            # Rectified units halve the variance (He et al. 2015); the last layer starts small.
            spread = FIRST_LOGITS / math.sqrt(before) if place == len(hidden) else math.sqrt(2.0 / before)
            layers.append((spread * _draw_noise(source, before, after), np.zeros(after, dtype=np.float32)))
        if columns is not None:
            for name, at in heads.slices().items():
                layers[-1][1][at] = np.log(columns[name])
        self._layers = [(jnp.asarray(weights), jnp.asarray(bias)) for weights, bias in layers]
        self._state = optax.adam(rate).init(self._layers)
        self._forward, self._step_to_target, self._step_along_slope = _compile(heads, float(rate))

    def probabilities(self) -> Singles:
        """The network's output for its fixed noise."""
        return np.asarray(self._forward(self._layers, self._noise))

    def step(self, targets: Objective) -> None:
        """One step of Adam on all layers; an objective that is not `Targets` gives its derivative in probabilities."""
        if not isinstance(targets, Targets):
            slope = targets.gradient(self.probabilities())[1]
            self._layers, self._state = self._step_along_slope(self._layers, self._state, self._noise, slope)
            return
        if self._held[0] is not targets:
            self._held = (targets, device_targets(targets))
        self._layers, self._state = self._step_to_target(
            self._layers, self._state, self._noise, self._held[1]
        )


def device_targets(targets: Targets) -> Any:
    """The targets as arrays on the device, as a compiled step takes them."""
    _, jnp, _ = _libraries()
    maps = {size: jnp.asarray(places) for size, places in targets.maps.items()}
    alone = (jnp.asarray(targets.wanted), jnp.asarray(targets.precision))
    return maps, alone, [tuple(map(jnp.asarray, stack.arrays)) for stack in block_stacks(targets)]


def distance(heads: Heads, probabilities: Any, target: Any) -> Any:
    """`Targets.distance`, in JAX: differentiable, and compiled with whatever calls it."""
    _, jnp, _ = _libraries()
    maps, (wanted, precision), stacks = target
    features = heads.by_size(
        probabilities,
        lambda block: jnp.einsum("fd,kdm->kfm", maps[block.shape[1]], block),
        join=jnp.concatenate,
    ).T
    gap = features.mean(axis=1) - wanted
    loss = jnp.sum(precision * gap * gap)
    behind = jnp.concatenate([features, jnp.zeros((1, features.shape[1]), features.dtype)])
    return loss + sum(stack_distance(jnp, behind, stack) for stack in stacks)


def softmax_heads(heads: Heads, logits: Any) -> Any:
    """Every column's distribution, in JAX."""
    jax, jnp, _ = _libraries()
    return heads.by_size(logits, lambda block: jax.nn.softmax(block, axis=1), join=jnp.concatenate)


@lru_cache(maxsize=8)
def _compile(heads: Heads, rate: float) -> tuple[Any, Any, Any]:
    """The forward pass, one step of Adam towards targets, and one along a slope in the probabilities."""
    jax, _, optax = _libraries()
    optimiser = optax.adam(rate)

    def forward(layers: Any, noise: Any) -> Any:
        value = noise
        for weights, bias in layers[:-1]:
            value = jax.nn.relu(value @ weights + bias)
        weights, bias = layers[-1]
        return softmax_heads(heads, value @ weights + bias)

    def update(layers: Any, state: Any, slope: Any) -> Any:
        change, state = optimiser.update(slope, state, layers)
        return optax.apply_updates(layers, change), state

    def step_to_target(layers: Any, state: Any, noise: Any, target: Any) -> Any:
        slope = jax.grad(lambda now: distance(heads, forward(now, noise), target))(layers)
        return update(layers, state, slope)

    def step_along_slope(layers: Any, state: Any, noise: Any, slope: Any) -> Any:
        back = jax.grad(lambda now: (forward(now, noise) * slope).sum())(layers)
        return update(layers, state, back)

    return jax.jit(forward), jax.jit(step_to_target), jax.jit(step_along_slope)


def require_network() -> None:
    """Raise an error where the extra `gan` is not installed."""
    _libraries()


def _libraries() -> tuple[Any, Any, Any]:
    """jax, jax.numpy and optax."""
    instead = "the generator's other form, a mixture of products, needs NumPy only"
    return (
        import_optional("jax", instead=instead),
        import_optional("jax.numpy", instead=instead),
        import_optional("optax", instead=instead),
    )


def _draw_noise(source: Source, rows: int, columns: int) -> Singles:
    return normal(source, size=rows * columns).reshape(rows, columns).astype(np.float32)
