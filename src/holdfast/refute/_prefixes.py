"""Prefix: outputs that no noise would have drawn, for replays under every past and not only under likely ones.

The theorem asks for every prefix (soundness, section 22): a sensitivity that holds near the origin and fails where the
weights are huge is refuted only there. A prefix looks at a step's number, mechanism and shape, never at its value.
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
    """A rule for outputs: `drawn` leaves the noise as it is."""

    kind: Kind
    size: float = 0.0
    seed: int = 0
    after: int = 0
    """So many outputs are zero before."""

    @property
    def tape(self) -> Any:
        """For a witness; None where noise is drawn."""
        return None if self.kind == "drawn" else self._output

    def _output(self, step: Draw) -> Any:
        random = np.random.Generator(np.random.PCG64([self.seed, step.number]))
        array = _form(step)
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
            "classes": _against_the_first(array.shape),
        }.get(self.kind)
        if self.after > step.number:
            return np.zeros(array.shape, dtype=array.dtype)
        made = self.size * (random.normal(size=array.shape) if signs is None else signs)
        return made.astype(array.dtype)


def _against_the_first(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """One row for each class: descending along these, all other classes beat the first, the second most of all."""
    signs = np.ones(shape)
    if signs.ndim == 2:
        signs[1:] = -1.0 / np.arange(1, shape[0])[:, None]
    return signs


_FORMS: dict[tuple[type, Any, str], NDArray[Any]] = {}


def _form(step: Draw) -> NDArray[Any]:
    """An array as the mechanism releases it, or a single number: its shape and kind, found out once by a draw."""
    if hasattr(step.value, "dimension"):
        return np.zeros(step.value.dimension)
    value = np.asarray(step.value)
    key = type(step.mechanism), value.shape, value.dtype.str
    if key not in _FORMS:
        _FORMS[key] = np.asarray(step.mechanism.sample(np.zeros_like(value), Source(seed=0)))
    return _FORMS[key]


def hostile() -> Iterator[Prefix]:
    """Nothing, the same huge number again and again, to and fro, anywhere."""
    yield Prefix(kind="zero")
    for sign in (1.0, -1.0):
        yield Prefix(kind="constant", size=sign * MAGNITUDES[-1], after=1)
    for size in MAGNITUDES:
        for sign in (1.0, -1.0):
            yield Prefix(kind="constant", size=sign * size)
        yield Prefix(kind="alternating", size=size)
    yield Prefix(kind="random", size=MAGNITUDES[-1], seed=1)
