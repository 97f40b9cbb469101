"""Model: a released distribution over records. Post-processing of released values, so free of privacy cost.

Measurement: a noisy joint count, as it was released.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.source import Source

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """Counts of the cells of some columns plus noise of a known size in each. Public.

    `values` has the shape of the joint count. `noise_std` is the standard deviation of the noise in every cell.
    """

    columns: Sequence[str]
    values: Floats
    noise_std: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))
        require(self.values.ndim == len(self.columns), "values", self.values.shape, "one axis per column")
        require(math.isfinite(self.noise_std) and self.noise_std > 0, "noise_std", self.noise_std, "> 0")

    @property
    def total(self) -> float:
        """The noisy number of records that this table implies."""
        return float(self.values.sum())


Codes = NDArray[np.int64]


class Model(Protocol):
    """A distribution over the cells of the declared columns."""

    @property
    def domain(self) -> Mapping[str, int]:
        """Columns in order, with their numbers of cells."""

    @property
    def total(self) -> float:
        """How many records it stands for."""

    def project(self, columns: Sequence[str]) -> Floats:
        """The expected joint count of some columns; it sums to `total`."""

    def sample(self, rows: int, source: Source) -> Codes:
        """Records as cell codes, one column per column of the domain, with as little sampling error as it can.

        Coins come from the source: secret in a release, seeded in an experiment.
        """
