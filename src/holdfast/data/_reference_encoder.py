"""ReferenceEncoder: categories as differences from a first one, which an intercept stands for.

A full set of one-hot columns adds up to the constant column, so that a regression with an intercept has no unique
solution. Therefore the first category of a column gets no feature, and its rows have zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._batch import Batch
from holdfast.data._encode import Encoder
from holdfast.data._schema import Numeric, Schema


class ReferenceEncoder(Encoder):
    """An `Encoder` in which the columns of `reference` have no feature for their first category.

    A column of a single category has none at all.

    >>> from holdfast.data._schema import Categorical
    >>> schema = Schema([Categorical("ward", ["A", "B", "C"]), Categorical("country", ["X"])])
    >>> encoder = ReferenceEncoder(schema, intercept=False, reference=("ward", "country"), row_norm=None)
    >>> encoder.get_feature_names_out().tolist(), encoder.transform({"ward": ["A", "C"], "country": ["X"] * 2}).tolist()
    (['ward=B', 'ward=C'], [[0.0, 0.0], [0.0, 1.0]])
    """

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[str] | None = None,
        *,
        scale: Literal["symmetric", "unit"] = "symmetric",
        intercept: bool = True,
        row_norm: float | None = 1.0,
        reference: Sequence[str] = (),
    ) -> None:
        super().__init__(schema, columns, scale=scale, intercept=intercept, row_norm=row_norm)
        self.reference = reference

    @property
    def width(self) -> int:
        """The number of features."""
        return super().width - len(self.reference)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The names of the features."""
        left_out = {f"{name}={self.schema[name].labels[0]}" for name in self.reference}
        names = [name for name in super().get_feature_names_out().tolist() if name not in left_out]
        return np.array(names, dtype=object)

    def _fill(self, matrix: Floats, place: int, name: str, batch: Batch) -> int:
        column = self.schema[name]
        if name not in self.reference or isinstance(column, Numeric):
            return super()._fill(matrix, place, name, batch)
        codes = batch.values[name].astype(np.int64)
        others = codes > 0
        matrix[np.flatnonzero(others), place + codes[others] - 1] = 1.0
        return column.cells - 1
