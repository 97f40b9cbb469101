"""Measurement and NoisyCount: noisy counts as they were released. Model: a distribution over records fitted to them.

All are public: whatever is computed from released values has no privacy cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Codes, Floats
from holdfast.errors import require
from holdfast.noise._source import Source


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """Counts of the cells of some columns plus noise of a known size in each. Public.

    Parameters
    ----------
    columns : sequence of str
        The columns.
    values : numpy.ndarray
        The noisy counts, in the shape of the joint count.
    noise_std : float
        The standard deviation of the noise in every cell.

    Examples
    --------
    >>> Measurement(columns=("sex",), values=np.array([98.0, 101.5]), noise_std=2.0).values.tolist()
    [98.0, 101.5]
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


@dataclass(frozen=True, kw_only=True)
class NoisyCount:
    """A number of rows plus noise of a known size, which is independent of the noise of every measurement. Public."""

    value: float
    noise_std: float
    laplace: bool
    """Whether its noise is Laplace's; else it is normal."""


class Model(Protocol):
    """A distribution over the cells of the declared columns."""

    @property
    def domain(self) -> Mapping[str, int]:
        """The columns in order, with their numbers of cells."""

    @property
    def total(self) -> float:
        """The number of records that the model describes."""

    def project(self, columns: Sequence[str]) -> Floats:
        """The expected joint count of some columns; it sums to `total`."""

    def sample(self, rows: int, source: Source) -> Codes:
        """Records as cell codes, one column per column of the domain, with as little sampling error as possible.

        Randomness comes from the source: secret in a release, seeded in an experiment.
        """


def on_simplex(values: Floats, *, total: float) -> Floats:
    """The nearest counts >= 0 that sum to the total (Duchi et al. 2008, figure 1).

    >>> on_simplex(np.array([4.0, 2.0, -3.0]), total=4.0).tolist()
    [3.0, 1.0, 0.0]
    """
    flat = np.sort(values.reshape(-1))[::-1]
    over = (np.cumsum(flat) - total) / np.arange(1, flat.size + 1)
    last = int(np.flatnonzero(flat > over)[-1])
    return np.asarray(np.maximum(values - over[last], 0.0))
