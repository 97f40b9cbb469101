"""The values of one column by its declaration: clipped numbers, and cells of categories and of binned numbers.

* A number is clipped to the column's bounds, infinities too; what is missing is filled as the column says.
* A `DateTime` comes from dates, timestamps (UTC) and texts (`moments`), an amount from texts that are written as
  `written_as` declares; markers of missing values are missing.
* A text matches a category by its spelling; a number of any type matches a category that is a numeral of the same
  value.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data._mixed import MixedColumn
from holdfast.data._moments import column_numbers
from holdfast.data._readings import NUMERAL, numbers, plain_array, texts
from holdfast.data._schema import Categorical, DateTime, Numeric
from holdfast.data._storage_kinds import Kind, kind_of


def numeric_values(column: Numeric, values: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The column's values, clipped and filled, and where they were missing."""
    special = isinstance(column, DateTime) or column.written_as is not None
    raw = column_numbers(column, values) if special else numbers(values)
    for marker in column.nulls:  # those that are texts are no numbers, and missing already
        raw[raw == marker] = np.nan
    missing = np.isnan(raw)
    raw[missing] = column.fill
    clipped = np.clip(raw, column.low, column.high) + 0.0  # + 0.0 turns -0.0 into 0.0
    return (np.floor(clipped + 0.5) if column.integer else clipped), missing


def numeric_cells(
    column: Numeric, clipped: NDArray[np.float64], missing: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The cell of each value: how many inner edges are not above it."""
    cells = np.searchsorted(np.asarray(column.edges[1:-1]), clipped, side="right").astype(np.int64)
    if column.has_null_cell:
        cells[missing] = column.cells - 1
    return cells


def categorical_cells(column: Categorical, values: Any) -> NDArray[np.int64]:
    """The cell of each value: its category, or where `other` and `null` say."""
    if isinstance(values, MixedColumn):
        cells = _text_cells(column, values.texts, whole=False)
        for chosen, alternative in (
            (values.whole, _text_cells(column, values.texts, whole=True)),
            (values.by_value, _numeral_cells(column, values.numbers)),
        ):
            cells[chosen] = alternative[chosen]
        return cells
    values = plain_array(values)
    kind = kind_of(values.type)
    if kind in (Kind.floating, Kind.decimal):
        return _numeral_cells(column, numbers(values))
    return _text_cells(column, texts(values), whole=kind is Kind.integer)


def declared_cells(column: Categorical, values: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """The cell of each value, and which values the column declares no cell for; None where there is none.

    >>> import pyarrow as pa
    >>> cells, mask = declared_cells(Categorical("ill", ["no", "yes"]), pa.array(["no", None, "maybe", "yes"]))
    >>> cells.tolist(), mask.tolist()
    ([0, 1, 1, 1], [False, True, True, False])
    """
    if column.null is not None and column.other is not None:
        return categorical_cells(column, values), None
    wide, narrow, cells_of_none = column.exhaustive_form
    cells = categorical_cells(wide, values)
    absent = np.isin(cells, cells_of_none)
    return np.asarray(narrow)[cells], absent if absent.any() else None


def _text_cells(column: Categorical, texts: Any, *, whole: bool) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = category_texts(column, whole=whole)
    if column.trim or column.fold:
        coded = texts.dictionary_encode()
        compared = [column.normal_text(word) for word in coded.dictionary.to_pylist()]
        texts = pa.array(compared, pa.large_string()).take(coded.indices)
    position = pc.index_in(texts, value_set=pa.array(list(known), pa.large_string()))
    codes = np.array([*known.values(), column.other_code], dtype=np.int64)
    cells = codes[np.array(pc.fill_null(position, len(known)).to_numpy(zero_copy_only=False), dtype=np.int64)]
    cells[texts.is_null().to_numpy(zero_copy_only=False)] = column.null_code
    return cells


def category_texts(column: Categorical, *, whole: bool) -> dict[str, int]:
    """The texts that stand for a cell, as they are compared; a whole number also for a category that is its numeral.

    >>> category_texts(Categorical("grade", ["1.0", "2", "x"]), whole=True)
    {'1.0': 0, '2': 1, 'x': 2, '1': 0}
    """
    codes = dict(column.spellings)
    if whole:
        for category, code in list(codes.items()):
            if re.fullmatch(NUMERAL, category, flags=re.ASCII):
                number = Fraction(category)
                if number.denominator == 1:
                    codes.setdefault(str(number), code)
    return codes


def category_numbers(column: Categorical) -> list[tuple[int, float]]:
    """Code and number of each category that is a numeral; of equal numbers the one written shortest as such, or first.

    >>> category_numbers(Categorical("grade", ["01", "1", "2.50"]))
    [(1, 1.0), (2, 2.5)]
    """
    codes: dict[float, int] = {}
    for category, code in column.spellings.items():
        if re.fullmatch(NUMERAL, category, flags=re.ASCII):
            number = float(category)
            if number not in codes or category == f"{number:.15g}":
                codes[number] = code
    return [(code, number) for number, code in codes.items()]


def _numeral_cells(column: Categorical, raw: NDArray[np.float64]) -> NDArray[np.int64]:
    cells = np.full(len(raw), column.other_code, dtype=np.int64)
    for code, number in category_numbers(column):
        cells[raw == number] = code
    cells[np.isnan(raw)] = column.null_code
    return cells
