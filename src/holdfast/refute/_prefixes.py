"""Prefix: a rule that sets the outputs of a run's earlier steps, to values that noise would hardly ever draw.

The theorem behind replays asks for every prefix of outputs, not only for likely ones (soundness, section 22): a
sensitivity that holds near the origin and fails where the weights are huge is refuted only there. A prefix looks at a
step's number, mechanism and shape, never at its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.noise._source import Source
from holdfast.privacy._account.witness import Draw

Kind = Literal["drawn", "zero", "constant", "alternating", "classes", "random"]
MAGNITUDES = (1.0, 1e4)


@dataclass(frozen=True, kw_only=True)
class Prefix:
    """A rule for outputs; with the kind `drawn` the noise is left as it is."""

    kind: Kind
    size: float = 0.0
    seed: int = 0
    after: int = 0
    """How many outputs are zero before the rule begins."""

    @property
    def tape(self) -> Any:
        """The outputs as a witness takes them; None where noise is drawn."""
        return None if self.kind == "drawn" else self._output

    def _output(self, step: Draw) -> Any:
        random = np.random.Generator(np.random.PCG64([self.seed, step.number]))
        array = _output_like(step)
        if array.ndim == 0:  # an index
            count = int(np.size(step.value))
            chosen = {"zero": 0, "constant": count - 1, "alternating": step.number % count}
            return chosen.get(self.kind, int(random.integers(count)))
        if array.dtype == np.int64 and hasattr(step.mechanism, "categories"):
            return random.integers(step.mechanism.categories, size=array.shape)
        signs = {
            "zero": np.zeros(array.shape),
            "constant": np.ones(array.shape),
            "alternating": np.full(array.shape, 1.0 if step.number % 2 else -1.0),
            "classes": _against_first_class(array.shape),
        }.get(self.kind)
        if self.after > step.number:
            return np.zeros(array.shape, dtype=array.dtype)
        outputs = self.size * (random.normal(size=array.shape) if signs is None else signs)
        return outputs.astype(array.dtype)


def _against_first_class(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Weights with a row for each class; a step against them makes all other classes beat the first."""
    signs = np.ones(shape)
    if signs.ndim == 2:
        signs[1:] = -1.0 / np.arange(1, shape[0])[:, None]
    return signs


_OUTPUTS_LIKE: dict[tuple[type, Any, str], NDArray[Any]] = {}


def _output_like(step: Draw) -> NDArray[Any]:
    """An output of the shape and dtype that the mechanism releases for such a value, found once by a draw."""
    if hasattr(step.value, "dimension"):
        return np.zeros(step.value.dimension)
    value = np.asarray(step.value)
    key = type(step.mechanism), value.shape, value.dtype.str
    if key not in _OUTPUTS_LIKE:
        _OUTPUTS_LIKE[key] = np.asarray(step.mechanism.sample(np.zeros_like(value), Source(seed=0)))
    return _OUTPUTS_LIKE[key]


def hostile_prefixes() -> Iterator[Prefix]:
    """Zeros, a constant, an alternating and a random output, small and huge."""
    yield Prefix(kind="zero")
    for sign in (1.0, -1.0):
        yield Prefix(kind="constant", size=sign * MAGNITUDES[-1], after=1)
    for size in MAGNITUDES:
        for sign in (1.0, -1.0):
            yield Prefix(kind="constant", size=sign * size)
        yield Prefix(kind="alternating", size=size)
    yield Prefix(kind="random", size=MAGNITUDES[-1], seed=1)
