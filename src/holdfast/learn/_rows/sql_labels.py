"""SQL expressions for labels and for derivatives of losses; `_problem` computes the same for arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.data._sql.dialect import Dialect
from holdfast.data._sql.sums import TINY, CodedRow
from holdfast.learn._problem.problem import ClassLabels, LabelCoding, NumberLabels, ShiftedNumbers

Slope = Callable[[Any, str, str, Dialect], str]


def within(expression: str, low: float, high: float, dialect: Dialect) -> str:
    """The number of an expression clipped to two bounds."""
    return f"least(greatest({expression}, {dialect.number(low)}), {dialect.number(high)})"


def _class_label(coding: Any, name: str, row: CodedRow) -> str | None:
    """+1 where the cell is the positive class, else -1; None for several classes."""
    if not coding.binary:
        return None
    tests = " OR ".join(f"{row.cell(name)} = {cell}" for cell in coding.positive_cells)
    return f"CASE WHEN {tests} THEN {row.dialect.number(1.0)} ELSE {row.dialect.number(-1.0)} END"


def _number_label(coding: Any, name: str, row: CodedRow) -> str:
    """(y - centre) / scale, and 0 where the quotient would be too small a number for SQL."""
    dialect = row.dialect
    apart = f"({within(row.value(name), coding.low, coding.high, dialect)} - {dialect.number(coding.centre)})"
    quotient = within(f"{apart} / {dialect.number(coding.scale)}", -1.0, 1.0, dialect)
    tiny = dialect.number(coding.scale * TINY)
    return f"CASE WHEN abs({apart}) < {tiny} THEN {dialect.number(0.0)} ELSE {quotient} END"


def _shifted_number(coding: Any, name: str, row: CodedRow) -> str:
    """The number clipped to its bound, less the shift."""
    label = within(_number_label(coding.numbers, name, row), -coding.bound, coding.bound, row.dialect)
    return f"({label} - {row.dialect.number(coding.shift)})"


_LABELS: dict[type[Any], Callable[[Any, str, CodedRow], str | None]] = {
    ClassLabels: _class_label,
    NumberLabels: _number_label,
    ShiftedNumbers: _shifted_number,
}


def sql_label(coding: LabelCoding, name: str, row: CodedRow) -> str | None:
    """The label of a row as an SQL expression; None where there is none for this kind of target."""
    expression_for = _LABELS.get(type(coding))
    return None if expression_for is None else expression_for(coding, name, row)


def _logistic_slope(loss: Any, z: str, y: str, dialect: Dialect) -> str:
    half, unity = dialect.number(0.5), dialect.number(1.0)
    return f"-({half} * {y} * ({unity} - tanh({half} * {y} * {z})))"


def _huber_slope(loss: Any, z: str, y: str, dialect: Dialect) -> str:
    ramp = f"({dialect.number(1.0 + loss.width)} - {y} * {z}) / {dialect.number(2.0 * loss.width)}"
    return f"-({y} * {within(ramp, 0.0, 1.0, dialect)})"


def _hinge_slope(loss: Any, z: str, y: str, dialect: Dialect) -> str:
    return f"CASE WHEN {y} * {z} < {dialect.number(1.0)} THEN -{y} ELSE {dialect.number(0.0)} END"


def _squared_slope(loss: Any, z: str, y: str, dialect: Dialect) -> str:
    return f"{z} - {within(y, -loss.target_bound, loss.target_bound, dialect)}"


#: The derivative phi'(z, y) of each loss as a function that makes its SQL expression, by the name of the loss.
SLOPES: dict[str, Slope] = {
    "logistic": _logistic_slope,
    "huber": _huber_slope,
    "hinge": _hinge_slope,
    "squared": _squared_slope,
}
