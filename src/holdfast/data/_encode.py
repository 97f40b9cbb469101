"""Encoder: rows of numbers from a schema alone, of a norm that is declared and verified.

Nothing is learned from data: scaling uses the declared bounds, categories come from the schema, and each row
is clipped to `row_norm` in float64. Whoever computes sensitivities uses `row_norm_bound`, which adds a slack
for rounding that is checked on every row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from holdfast._arguments import check_settings, checked
from holdfast._arrays import Codes, Floats
from holdfast._caution import warn
from holdfast.data._arrow_columns import arrow_column
from holdfast.data._batch import Batch, encode_batch
from holdfast.data._clipped_rows import NORM_SLACK, clip_in_place, require_norm
from holdfast.data._given_rows import given_columns
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.errors import AssumptionWarning, DataError, ParameterError, require
from holdfast.privacy._account.unpaid_steps import PUBLIC

_SCALES = ("symmetric", "unit")


@checked
class Encoder(TransformerMixin, BaseEstimator):
    """Feature rows from declared columns: scaled numbers, one-hot categories, an intercept, a bounded norm.

    `fit` learns nothing. A missing number that is a category of its own becomes 0 with an indicator feature.

    Parameters
    ----------
    schema : Schema
        The declared columns.
    columns : sequence of str, optional
        Those to encode, in order; all by default.
    scale : {'symmetric', 'unit'}
        `"symmetric"` maps [low, high] to [-1, 1], `"unit"` to [0, 1].
    intercept : bool
        Whether a last feature is constantly 1 before clipping. It counts in the norm.
    row_norm : float, optional
        Rows are clipped to this Euclidean norm. None clips nothing: the norm is then bounded by the square root
        of the number of columns (plus one for the intercept).

    Examples
    --------
    >>> from holdfast.data import Categorical, Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"])])
    >>> encoder = Encoder(schema, row_norm=None)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'sex=F', 'sex=M', '(intercept)']
    >>> encoder.transform({"age": [75, 250], "sex": ["M", "F"]}).tolist()
    [[0.5, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0]]
    """

    payment: ClassVar[str] = PUBLIC

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[str] | None = None,
        *,
        scale: Literal["symmetric", "unit"] = "symmetric",
        intercept: bool = True,
        row_norm: float | None = 1.0,
    ) -> None:
        self.schema = schema
        self.columns = columns
        self.scale = scale
        self.intercept = intercept
        self.row_norm = row_norm

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def columns_(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.schema.names if self.columns is None else tuple(self.columns)

    @property
    def width(self) -> int:
        """The number of features."""
        columns = [self.schema[name] for name in self.columns_]
        wide = (1 + c.has_null_cell if isinstance(c, Numeric) else c.cells for c in columns)
        return sum(wide) + bool(self.intercept)

    @property
    def row_norm_bound(self) -> float:
        """No row that `transform` returns is longer than this; use it in every sensitivity."""
        natural = math.sqrt(len(self.columns_) + bool(self.intercept))
        return (natural if self.row_norm is None else self.row_norm) * (1 + NORM_SLACK)

    def fit(self, X: Any = None, y: Any = None) -> Encoder:
        """Check the parameters.

        Of `X` and `y` nothing is looked at. Rows of users become single rows, and that is said.
        """
        check_settings(self)
        unit = self.schema.confirmed_unit
        if X is not None and unit.column is not None:
            warn(
                f"the schema protects {unit.summary()}, and encoded rows do not say whose they are: a "
                "model fitted to them promises about single rows; fit the table instead, "
                "model.fit(open_table(...), target=...)",
                AssumptionWarning,
            )
        require(self.scale in _SCALES, "scale", self.scale, f"one of {_SCALES}")
        norm = self.row_norm
        require(
            norm is None or (norm > 0 and math.isfinite(norm)),
            "row_norm",
            norm,
            "None or a finite number > 0",
        )
        self.schema.select(*self.columns_)
        if not self.columns_ and not self.intercept:
            raise ParameterError("columns must not be empty without an intercept, got columns=()")
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features; `input_features` is there for scikit-learn and not used."""
        names: list[str] = []
        for name in self.columns_:
            column = self.schema[name]
            if isinstance(column, Numeric):
                names += [name, f"{name}=(missing)"] if column.has_null_cell else [name]
            else:
                names += [f"{name}={label}" for label in column.labels]
        return np.array(names + ["(intercept)"] * bool(self.intercept), dtype=object)

    def transform(self, X: Any) -> Floats:
        """The feature rows of `X`: a data frame, Arrow table, mapping, `Batch` or array (columns in order)."""
        return self.encode(X if isinstance(X, Batch) else self.read(X))

    def encode(self, batch: Batch, *, into: Floats | None = None) -> Floats:
        """The feature rows of a batch, in an array of their own or in `into`; the null rows that pad users are 0."""
        self.fit()
        shape = (len(batch), self.width)
        require(into is None or into.shape == shape, "into.shape", getattr(into, "shape", None), f"{shape}")
        matrix = np.zeros(shape) if into is None else into
        if into is not None:
            matrix[:] = 0.0
        place = 0
        for name in self.columns_:
            place += self._fill(matrix, place, name, batch)
        if self.intercept:
            matrix[:, place] = 1.0
        if self.row_norm is None:
            require_norm(matrix, self.row_norm_bound)
        else:
            clip_in_place(matrix, self.row_norm)
        if batch.present is not None:
            matrix[~batch.present] = 0.0
        return matrix

    def _fill(self, matrix: Floats, place: int, name: str, batch: Batch) -> int:
        """Write the features of a column from this place on, into zeros; how many they are."""
        column = self.schema[name]
        values = batch.values[name]
        if not isinstance(column, Numeric):
            matrix[np.arange(len(values)), place + values.astype(np.int64)] = 1.0
            return column.cells
        share = np.clip((values - column.low) / (column.high - column.low), 0.0, 1.0)
        number = share if self.scale == "unit" else 2 * share - 1
        if not column.has_null_cell:
            matrix[:, place] = number
            return 1
        missing = batch.missing[name]
        matrix[:, place], matrix[:, place + 1] = np.where(missing, 0.0, number), missing
        return 2

    def read(self, X: Any) -> Batch:
        """The rows `X` as the schema reads them, before they become features."""
        from holdfast.data._arrow_columns import arrow_columns

        chosen = self.schema.require_confirmed().select(*self.columns_)
        X = given_columns(_as_rows(X), self.columns_, known=self.schema.names)
        columns = arrow_columns(X, list(self.columns_))
        rows = len(next(iter(columns.values()))) if columns else 0
        return encode_batch(chosen, columns, rows)


def _as_rows(X: Any) -> Any:
    """What is no frame, but holds one: a relation of DuckDB. A Table has no rows to show, and says what to do."""
    if type(X).__module__.partition(".")[0] in ("duckdb", "_duckdb") and hasattr(X, "to_arrow_table"):
        return X.to_arrow_table()
    if hasattr(X, "batches") and hasattr(X, "schema"):
        raise DataError(
            "X must be rows (a data frame, an Arrow table, a mapping, a DuckDB relation), got a Table, which gives "
            "rows to private methods only: fit it as model.fit(table, target=...), without a Pipeline, and predict for "
            "rows that were read, as in duckdb.connect(path).table(name) or pandas.read_sql(query, connection)"
        )
    return X


def cells_of(column: Numeric | Categorical, values: Any) -> Codes:
    """The cell of each value: one label, whether it is a text in a file or a number in a frame.

    >>> cells_of(Categorical("ill", [0, 1]), ["1", "0"]).tolist(), cells_of(Categorical("ill", [0, 1]), [1, 0]).tolist()
    ([1, 0], [1, 0])
    """
    stored = arrow_column(values)
    return encode_batch(Schema([column]), {column.name: stored}, len(stored)).codes(column.name)


def with_value(column: Numeric | Categorical, values: Any) -> NDArray[np.bool_]:
    """Which values are targets: those that are there and declared, or for which the column declares one.

    >>> with_value(Numeric("income", 0, 9), ["1", "N", None]).tolist()
    [True, False, False]
    """
    stored = arrow_column(values)
    absent = encode_batch(Schema([column]), {column.name: stored}, len(stored)).without_value(column.name)
    return np.ones(len(stored), dtype=np.bool_) if absent is None else ~absent
