"""`where`: a condition of SQL as a condition on declared columns, typed and total.

Only comparisons of a declared column with constants are taken, since they cannot fail: a cast or a division that
raises for one row would tell that this row is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.data._conditions import Among, Compare, Condition, IsTrue, Operator
from holdfast.data._schema import Categorical, DateTime, Numeric
from holdfast.data._schema.calendar import number_of
from holdfast.statistics._sql.names import declared_column, number_literal, text_literal
from holdfast.statistics._sql.query_error import query_error

if TYPE_CHECKING:
    from sqlglot import exp

    from holdfast.data._schema import Schema

_TAKEN = (
    "compare one declared column with constants, as in age >= 18, ward in ('a', 'b'), cost between 1 and 9"
)


def where_condition(node: exp.Expression, schema: Schema) -> Condition:
    """The condition that this expression of SQL is; refused where the schema does not declare what it names."""
    condition = _condition(node, schema)
    condition.check(schema)
    return condition


def _condition(node: exp.Expression, schema: Schema) -> Condition:
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return _condition(node.this, schema)
    if isinstance(node, exp.And):
        return _condition(node.this, schema) & _condition(node.expression, schema)
    if isinstance(node, exp.Or):
        return _condition(node.this, schema) | _condition(node.expression, schema)
    if isinstance(node, exp.Not):
        if isinstance(node.this, exp.Is) and isinstance(node.this.expression, exp.Null):
            return _has_value(node.this.this, schema)
        return ~_condition(node.this, schema)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return _lacks_value(node.this, schema)
    if isinstance(node, exp.Between):
        low, high = node.args["low"], node.args["high"]
        return _compared(node.this, ">=", low, node, schema) & _compared(node.this, "<=", high, node, schema)
    if isinstance(node, exp.In) and node.expressions:
        return _in_list(node, schema)
    operator = _operators().get(type(node))
    if operator is not None:
        left, right = node.this, node.expression
        if not isinstance(left, exp.Column):
            left, right, operator = right, left, _MIRRORED[operator]
        return _compared(left, operator, right, node, schema)
    raise query_error(node, "a condition may not fail or look beyond its row", _TAKEN)


def _operators() -> dict[Any, Operator]:
    from sqlglot import exp

    return {exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.EQ: "=", exp.NEQ: "<>"}


_MIRRORED: dict[Operator, Operator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def _compared(
    left: exp.Expression, operator: Operator, right: exp.Expression, whole: exp.Expression, schema: Schema
) -> Condition:
    """One comparison of a column with a constant."""
    from sqlglot import exp

    if not isinstance(left, exp.Column):
        raise query_error(whole, "a column is compared with a constant", _TAKEN)
    column = declared_column(left, schema)
    number, text = number_literal(right), text_literal(right)
    if isinstance(column, Numeric):
        if isinstance(column, DateTime) and text is not None:
            number = number_of(text, column.unit)
        if number is None:
            raise query_error(
                whole, f"{column.name!r} is a number", f"compare it with one: {column.name} >= 18"
            )
        return Compare(column.name, operator, number)
    label = text if text is not None else None if number is None else f"{number:g}"
    if label is None or operator not in ("=", "<>"):
        raise query_error(
            whole,
            f"{column.name!r} has categories, which have no order",
            f"write {column.name} in ('...') with its labels",
        )
    among = Among(column.name, (label,))
    return among if operator == "=" else ~among


def _in_list(node: exp.In, schema: Schema) -> Condition:
    column = declared_column(node.this, schema)
    if isinstance(column, Numeric):
        conditions = [_compared(node.this, "=", entry, node, schema) for entry in node.expressions]
        condition = conditions[0]
        for other in conditions[1:]:
            condition = condition | other
        return condition
    labels = []
    for entry in node.expressions:
        number, text = number_literal(entry), text_literal(entry)
        if text is None and number is None:
            raise query_error(node, "a list holds constants", f"write {column.name} in ('a', 'b')")
        labels.append(text if text is not None else f"{number:g}")
    return Among(column.name, tuple(labels))


def _has_value(node: exp.Expression, schema: Schema) -> Condition:
    """`is not null`: of a number, that it can be compared at all."""
    column = declared_column(node, schema)
    if isinstance(column, Numeric):
        return IsTrue(Compare(column.name, ">=", column.low))
    return ~_lacks_value(node, schema)


def _lacks_value(node: exp.Expression, schema: Schema) -> Condition:
    """`is null`: of a number, that no comparison is true; else the category that is declared for missing values."""
    column = declared_column(node, schema)
    if isinstance(column, Categorical) and column.null in column.labels:
        return Among(column.name, (str(column.null),))
    if isinstance(column, Numeric):
        return ~_has_value(node, schema)
    raise query_error(
        f"{column.name} is null",
        "the schema declares no category for missing values of it",
        f'declare null = "(missing)" for {column.name!r}',
    )
