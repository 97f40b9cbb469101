"""SparseRows: rows that are mostly 0, in compressed form, and sums over them; compiled code only (lookup.c).

One-hot columns then cost one look-up each, not one product per category. Everything here is computed from the rows
without noise: private until a mechanism has released it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._kernel import implementation_module
from holdfast._kernel.lookup import MOST_CODES, Codes

MOST_NONZERO_SHARE = 0.25
"""The largest share of entries that differ from 0; above it, products of whole matrices are faster."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseRows:
    """A matrix of which only the entries that differ from 0 are stored, row after row.

    The entries of row i are `value[first[i]:first[i + 1]]`, and `column` says in which column each of them stands.
    """

    columns: int
    first: NDArray[np.int64]
    column: Codes
    value: Floats

    @classmethod
    def of_blocks(cls, blocks: list[Floats], columns: int) -> SparseRows | None:
        """The rows of dense blocks; None where too few entries are 0, or without the compiled kernel."""
        if implementation_module()[0] != "c" or columns > MOST_CODES:
            return None
        from holdfast._kernel import native_lookup

        capacity = int(MOST_NONZERO_SHARE * sum(map(len, blocks)) * columns)
        entries = native_lookup.nonzero_entries(blocks, columns, capacity)
        if entries is None:
            return None
        first, column, value = entries
        return cls(columns=columns, first=first, column=column, value=value)

    def products(self, weights: Floats) -> Floats:
        """<x, w> for each row x."""
        return self._row_values(weights)

    def quadratic_forms(self, form: Floats) -> Floats:
        """x^T F x for each row x; `form` is the matrix F, or the diagonal of a diagonal one."""
        return self._row_values(form) if form.ndim == 2 else self.squares()._row_values(form)

    def squares(self) -> SparseRows:
        """The rows with every entry squared."""
        return replace(self, value=self.value * self.value)

    def weighted_sum(self, weights: Floats, *, block: int) -> Floats:
        """The sum of a x over all rows, a their weights: first within blocks of `block` rows, then over the blocks."""
        from holdfast._kernel import native_lookup

        return native_lookup.sparse_sum(self, weights, block, gram=False)

    def gram(self, scales: Floats, *, block: int) -> Floats:
        """The sum of t^2 x x^T over all rows, t their scales, in the same order."""
        from holdfast._kernel import native_lookup

        upper = native_lookup.sparse_sum(self, scales, block, gram=True)
        return np.asarray(upper + np.triu(upper, 1).T)

    def _row_values(self, numbers: Floats) -> Floats:
        from holdfast._kernel import native_lookup

        return native_lookup.sparse_row_values(self, numbers)
