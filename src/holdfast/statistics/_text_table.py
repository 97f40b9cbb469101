"""An answer as text: a row a group, each number with its interval behind it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def text_table(answers: pa.Table, *, most_rows: int) -> str:
    """Columns in line, numbers to the right, as `12.3 [10.1, 14.5]`.

    >>> import pyarrow as pa
    >>> print(text_table(pa.table({"ward": ["a"], "n": [9.0], "n_low": [7.5], "n_high": [10.5]}), most_rows=9))
    ward  n
    a     9.0 [7.5, 10.5]
    """
    names = [name for name in answers.column_names if not _is_end(name, answers.column_names)]
    columns = [[name, *_cells(answers, name, most_rows)] for name in names]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in zip(*columns, strict=True)
    ]
    more = answers.num_rows - most_rows
    return "\n".join([*lines, *([f"... and {more:,} more groups"] if more > 0 else [])])


def _is_end(name: str, names: list[str]) -> bool:
    return any(name.endswith(end) and name.removesuffix(end) in names for end in ("_low", "_high"))


def _cells(answers: pa.Table, name: str, most_rows: int) -> list[str]:
    values = answers[name].slice(0, most_rows).to_pylist()
    if f"{name}_low" not in answers.column_names:
        return ["" if value is None else str(value) for value in values]
    lows, highs = (answers[f"{name}{end}"].slice(0, most_rows).to_pylist() for end in ("_low", "_high"))
    return [_number(*ends) for ends in zip(values, lows, highs, strict=True)]


def _number(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return ""
    if math.isnan(value) or low is None or high is None:
        return "nothing learnt"
    digits = _digits(high - low)
    return f"{value:,.{digits}f} [{low:,.{digits}f}, {high:,.{digits}f}]"


def _digits(width: float) -> int:
    """So many digits that an interval of this width shows two."""
    if not (math.isfinite(width) and width > 0):
        return 2
    return max(0, min(8, 1 - math.floor(math.log10(width))))
