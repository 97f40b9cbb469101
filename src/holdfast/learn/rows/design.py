"""The rows that a linear model sees: clipped to the declared norm, with a constant column for the intercept.

Labels and slopes of losses in SQL: what `target` and `losses` compute for arrays, as expressions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data.encode import clip_rows
from holdfast.data.sql.dialect import Dialect
from holdfast.data.sql.sums import TINY, CodedRow
from holdfast.learn.problem.labels import ClassLabels, LabelCoding, NumberLabels

Slope = Callable[[Any, str, str, Dialect], str]


def within(expression: str, low: float, high: float, dialect: Dialect) -> str:
    """The number clipped to two bounds."""
    return f"least(greatest({expression}, {dialect.number(low)}), {dialect.number(high)})"


def _class_label(coding: Any, name: str, row: CodedRow) -> str | None:
    """-1 or +1 from the cell; None for several classes."""
    return f"CAST(2 * {row.cell(name)} - 1 AS {row.dialect.double})" if coding.binary else None


def _number_label(coding: Any, name: str, row: CodedRow) -> str:
    """(y - centre) / scale, 0 where the quotient would be tiny."""
    dialect = row.dialect
    apart = f"({within(row.value(name), coding.low, coding.high, dialect)} - {dialect.number(coding.centre)})"
    quotient = within(f"{apart} / {dialect.number(coding.scale)}", -1.0, 1.0, dialect)
    tiny = dialect.number(coding.scale * TINY)
    return f"CASE WHEN abs({apart}) < {tiny} THEN {dialect.number(0.0)} ELSE {quotient} END"


_LABELS: dict[type[Any], Callable[[Any, str, CodedRow], str | None]] = {
    ClassLabels: _class_label,
    NumberLabels: _number_label,
}


def sql_label(coding: LabelCoding, name: str, row: CodedRow) -> str | None:
    """The label of a row; None where SQL has none for this kind of target."""
    spelled = _LABELS.get(type(coding))
    return None if spelled is None else spelled(coding, name, row)


def _logistic(loss: Any, z: str, y: str, dialect: Dialect) -> str:
    half, one = dialect.number(0.5), dialect.number(1.0)
    return f"-({half} * {y} * ({one} - tanh({half} * {y} * {z})))"


def _huber(loss: Any, z: str, y: str, dialect: Dialect) -> str:
    ramp = f"({dialect.number(1.0 + loss.width)} - {y} * {z}) / {dialect.number(2.0 * loss.width)}"
    return f"-({y} * {within(ramp, 0.0, 1.0, dialect)})"


def _hinge(loss: Any, z: str, y: str, dialect: Dialect) -> str:
    return f"CASE WHEN {y} * {z} < {dialect.number(1.0)} THEN -{y} ELSE {dialect.number(0.0)} END"


def _squared(loss: Any, z: str, y: str, dialect: Dialect) -> str:
    return f"{z} - {within(y, -loss.target_bound, loss.target_bound, dialect)}"


#: phi'(z, y) by the name of the loss.
SLOPES: dict[str, Slope] = {"logistic": _logistic, "huber": _huber, "hinge": _hinge, "squared": _squared}
Floats = NDArray[np.float64]
INTERCEPT_SHARE = 0.5
"""The constant column, as a share of the row norm: it adds 12 % to the norm that sensitivities use."""
BLOCK = 4_096
"""Rows clipped at a time."""


def intercept_value(row_norm: float, *, fit_intercept: bool) -> float:
    """The value of the constant column, in proportion to the row norm so that units do not matter; 0 for none."""
    return INTERCEPT_SHARE * row_norm if fit_intercept else 0.0


def design_norm(row_norm: float, *, fit_intercept: bool) -> float:
    """The norm of a row with its constant, which counts (soundness, section 0); rounded up.

    >>> design_norm(1.0, fit_intercept=True) >= math.sqrt(1.25)
    True
    """
    constant = intercept_value(row_norm, fit_intercept=fit_intercept)
    return math.nextafter(math.hypot(row_norm, constant), math.inf) if constant else row_norm


def with_intercept(rows: Floats, constant: float) -> Floats:
    """The rows with a last column of this value; as they are if it is 0.

    >>> with_intercept(np.array([[1.0]]), 0.5).tolist()
    [[1.0, 0.5]]
    """
    if not constant:
        return rows
    return np.hstack([rows, np.full((rows.shape[0], 1), constant)])


def design(X: Any, *, row_norm: float, constant: float) -> Floats:
    """Rows of a dense or sparse matrix, clipped and with the constant, in one array and little else in memory.

    >>> design(np.array([[0.0, 4.0], [0.3, 0.4]]), row_norm=1.0, constant=0.5).tolist()
    [[0.0, 1.0, 0.5], [0.3, 0.4, 0.5]]
    """
    rows, columns = X.shape
    made = np.empty((rows, columns + (constant != 0)))
    made[:, columns:] = constant
    for start in range(0, rows, BLOCK):
        part = X[start : start + BLOCK]
        part = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
        made[start : start + BLOCK, :columns] = part
        long = ~_within(part, row_norm)
        if long.any():
            made[start : start + BLOCK, :columns][long] = clip_rows(part[long], row_norm)
    return made


def _within(rows: Floats, row_norm: float) -> NDArray[np.bool_]:
    """Rows that are certainly no longer than row_norm (1 + 1e-9); only the others need care."""
    if not 1e-100 < row_norm < 1e100:
        return np.zeros(len(rows), dtype=np.bool_)
    # A tenth of the slack in the norm; the sum of squares is off by less than 1e-10 up to a million columns.
    with np.errstate(over="ignore"):
        return np.asarray(np.einsum("ij,ij->i", rows, rows) <= row_norm**2 * (1.0 + 2e-10))
