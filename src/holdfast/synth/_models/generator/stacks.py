"""Stacks: blocks of `Targets` of similar size as one array, and the distance from them in JAX.

An accelerator is fast with few large matrix products, a processor with many that fit its cache. Blocks of similar size
are padded with zeros to the largest of them and stacked; padding has precision 0. The same code runs on both devices.
JAX is passed as an argument, so that this module can be imported without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.synth._models.generator.heads import Singles
from holdfast.synth._models.generator.targets import Block, Targets

Places = NDArray[np.int32]
MOST_VALUES = 2**17
"""The most values of a stack, per component: 500 components of a full stack are a quarter of a gigabyte."""
GROWTH = 1.5
"""Blocks whose sides differ by less than this factor share a stack."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Stack:
    """B blocks of D leading cells, L features of the column before the last and R of the last.

    Padded indices point one past the last feature, where `stack_distance` expects a zero.
    """

    prefix: Places
    """(B, D, columns of the prefix): the features whose product leads a cell."""
    left: Places
    right: Places
    wanted: Singles
    precision: Singles

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays that a compiled training step takes as arguments."""
        return self.prefix, self.left, self.right, self.wanted, self.precision


def block_stacks(targets: Targets) -> list[Stack]:
    """All blocks of the targets, those of similar size stacked."""
    classes: dict[tuple[int, ...], list[Block]] = {}
    for block in sorted(targets.blocks, key=lambda block: -block.wanted.size):
        sides = [_size_class(length) for length in block.wanted.shape[1:]]
        classes.setdefault((len(block.prefix), block.wanted.shape[0], *sides), []).append(block)
    stacks = []
    for blocks in classes.values():
        depth, left, _ = np.max([block.wanted.shape for block in blocks], axis=0)
        most = max(1, MOST_VALUES // int(depth * left))
        stacks += [
            _stack(blocks[first : first + most], targets.width) for first in range(0, len(blocks), most)
        ]
    return stacks


def _size_class(length: int) -> int:
    """The class of a length, where each class begins at GROWTH times the length of the one before."""
    return int(np.floor(np.log(length) / np.log(GROWTH) + 1e-9))


def _stack(blocks: Sequence[Block], width: int) -> Stack:
    shape = (len(blocks), *(int(side) for side in np.max([block.wanted.shape for block in blocks], axis=0)))
    count, depth, left, right = shape
    columns = len(blocks[0].prefix)
    stack = Stack(
        prefix=np.full((count, depth, columns), width, dtype=np.int32),
        left=np.full((count, left), width, dtype=np.int32),
        right=np.full((count, right), width, dtype=np.int32),
        wanted=np.zeros(shape, dtype=np.float32),
        precision=np.zeros(shape, dtype=np.float32),
    )
    for place, block in enumerate(blocks):
        cells, ahead, last = block.wanted.shape
        ranges = [np.arange(width)[part] for part in block.prefix]
        if ranges:
            grid = np.meshgrid(*ranges, indexing="ij")
            stack.prefix[place, :cells] = np.stack([axis.reshape(-1) for axis in grid], axis=1)
        stack.left[place, :ahead], stack.right[place, :last] = block.left, block.right
        stack.wanted[place, :cells, :ahead, :last] = block.wanted
        stack.precision[place, :cells, :ahead, :last] = block.precision
    return stack


def stack_distance(jnp: Any, features: Any, arrays: Sequence[Any]) -> Any:
    """Squared distances over sigma^2, summed; `features` is (features and a last row of zeros, components)."""
    prefix, left, right, wanted, precision = arrays
    # Without a prefix this is the empty product, 1.
    lead = jnp.prod(features[prefix], axis=2)
    weighted = lead[:, :, None, :] * features[left][:, None, :, :]
    joint = jnp.einsum("bdlk,brk->bdlr", weighted, features[right]) / features.shape[1]
    gap = joint - wanted
    return jnp.sum(precision * gap * gap)
