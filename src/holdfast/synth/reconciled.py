"""ReconciledModel: rows drawn from a graphical model, then moved until they agree with more tables than it can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.source import Source
from holdfast.synth.graphical.model import GraphicalModel
from holdfast.synth.graphical.tables import Columns
from holdfast.synth.measurement import Measurement
from holdfast.synth.rows_fit import fit_rows

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
#: How much more than a Poisson count a cell is taken to differ from the model, in variance.
OVERDISPERSION = 10.0
#: Passes over all rows and columns; later ones gain little.
SWEEPS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class ReconciledModel:
    """A graphical model and better tables of some columns (`holdfast.synth.model.Model`).

    The tables need not agree with each other, and no junction tree could hold them all; whole rows can come close
    to all at once. `allowed` are masks of possible cells.
    """

    base: GraphicalModel
    tables: Mapping[Columns, Floats]
    allowed: Sequence[tuple[Columns, NDArray[np.bool_]]] = ()

    @property
    def domain(self) -> Mapping[str, int]:
        """Columns in order, with their numbers of cells."""
        return self.base.domain

    @property
    def total(self) -> float:
        """How many records it stands for."""
        return self.base.total

    def project(self, columns: Sequence[str]) -> Floats:
        """The better table where there is one of exactly these columns, else the graphical model's."""
        wanted = tuple(columns)
        for held, values in self.tables.items():
            if set(held) == set(wanted):
                return values.transpose([held.index(name) for name in wanted])
        return self.base.project(wanted)

    def sample(self, rows: int, source: Source) -> Codes:
        """Rows of the graphical model, fitted to the tables: no better start and no worse end."""
        drawn = self.base.sample(rows, source)
        if rows == 0 or not self.tables:
            return drawn
        wanted = [
            Measurement(columns=columns, values=values, noise_std=1.0)
            for columns, values in self.tables.items()
        ]
        return fit_rows(wanted, self.domain, rows, source, start=drawn, sweeps=SWEEPS, allowed=self.allowed)


def shrunk(noisy: Measurement, expected: Floats, total: float) -> Floats:
    """The noisy table, drawn towards the model's where the noise exceeds what a count of that size varies.

    Each cell is the posterior mean of a normal count around the model's, of variance `OVERDISPERSION` times it,
    seen through the noise; then no cell is below 0 and all sum to the total.

    >>> shrunk(Measurement(columns=("a",), values=[9.0, 1.0], noise_std=1.0), np.array([5.0, 5.0]), 10.0).round(2)
    array([8.92, 1.08])
    """
    varies = OVERDISPERSION * np.maximum(expected, 0.0)
    made = np.maximum(expected + (noisy.values - expected) * varies / (varies + noisy.noise_std**2), 0.0)
    return np.asarray(
        made * (total / made.sum()) if made.sum() > 0 else np.full(made.shape, total / made.size)
    )
