"""MixtureModel: equally likely components, each with independent columns; the answers to marginals are exact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.noise._uniform import permutation
from holdfast.synth._models.generator.heads import Heads, Singles
from holdfast.synth._models.product import round_to_counts


@dataclass(frozen=True, kw_only=True, eq=False)
class MixtureModel:
    """K components; in each the columns are independent (`holdfast.synth._models.model.Model`).

    >>> corners = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> model = MixtureModel(columns={"a": corners, "b": corners}, total=8.0)
    >>> model.project(("a", "b")).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """

    columns: Mapping[str, Floats]
    """For each column, its distribution in every component: (components, cells)."""
    total: float

    def __post_init__(self) -> None:
        require(math.isfinite(self.total) and self.total > 0, "total", self.total, "> 0 and finite")
        require(bool(self.columns), "columns", {}, "at least one column")
        shares = {}
        for name, values in self.columns.items():
            array = np.asarray(values, dtype=np.float64)
            good = array.ndim == 2 and bool(np.all(array >= 0)) and bool(np.all(array.sum(axis=1) > 0))
            require(good, "columns", name, "a row of weights >= 0 for each component, not all zero")
            shares[name] = array / array.sum(axis=1, keepdims=True)
        require(
            len({len(array) for array in shares.values()}) == 1,
            "columns",
            "of unequal length",
            "as many rows for each column as there are components",
        )
        object.__setattr__(self, "columns", shares)

    @classmethod
    def of_heads(
        cls, domain: Mapping[str, int], heads: Heads, probabilities: Singles, *, total: float
    ) -> MixtureModel:
        """From a generator's output; a column of one cell has no head."""
        places = heads.slices()
        alone = np.ones((len(probabilities), 1))
        columns = {
            name: probabilities[:, places[name]].astype(np.float64) if name in places else alone
            for name in domain
        }
        return cls(columns=columns, total=total)

    @property
    def domain(self) -> dict[str, int]:
        """Columns with their numbers of cells."""
        return {name: array.shape[1] for name, array in self.columns.items()}

    @property
    def components(self) -> int:
        """The number of components, K."""
        return len(next(iter(self.columns.values())))

    def project(self, columns: Sequence[str]) -> Floats:
        """The mean over the components of the outer product of their columns."""
        joint = np.full((self.components, 1), self.total / self.components)
        for name in columns[:-1]:
            joint = (joint[:, :, None] * self.columns[name][:, None, :]).reshape(len(joint), -1)
        last = self.columns[columns[-1]] if columns else np.ones((len(joint), 1))
        return np.asarray((joint.T @ last).reshape([self.columns[name].shape[1] for name in columns]))

    def sample(self, rows: int, source: Source) -> Codes:
        """Rows in which every component, and every column inside it, has its expected counts, up to one.

        Systematic sampling over components and inside each: the only sampling error left is in how the columns of a
        component are paired.
        """
        require(rows >= 0, "rows", rows, ">= 0")
        shares = round_to_counts(np.ones(self.components), rows, source)
        codes = np.empty((rows, len(self.columns)), dtype=np.int64)
        for place, column in enumerate(self.columns.values()):
            codes[:, place] = _sampled_column(column, shares, source)
        return codes[permutation(source, rows)]


def _sampled_column(column: Floats, shares: Codes, source: Source) -> Codes:
    """A value for each row, component after component: systematic sampling in each, then shuffled inside it."""
    component = np.repeat(np.arange(len(shares)), shares)
    ends = np.cumsum(column, axis=1)[component]
    # The i-th of m rows of a component takes the cell in which (i + u) / m falls; u is uniform for each component.
    first = np.cumsum(shares) - shares
    uniform = (source.words(len(shares)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    at = (np.arange(len(component)) - first[component] + uniform[component]) / shares[component]
    values = np.minimum((at[:, None] >= ends).sum(axis=1), column.shape[1] - 1)
    shuffled = permutation(source, len(values))
    return np.asarray(values[shuffled[np.argsort(component[shuffled], kind="stable")]])
