"""Model: a released distribution over records. Post-processing of released values, so free of privacy cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.source import Source

Floats = NDArray[np.float64]
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
