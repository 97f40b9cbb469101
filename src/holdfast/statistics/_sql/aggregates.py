"""Aggregates: `count`, `sum`, `avg` and their kin as questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.data._conditions import Condition, IsTrue
from holdfast.data._schema import Categorical, Numeric
from holdfast.errors import ParameterError
from holdfast.statistics._questions.count import Count, DistinctUnits
from holdfast.statistics._questions.mean import Mean, Proportion, Variance
from holdfast.statistics._questions.quantiles import Maximum, Median, Minimum, single_quantile
from holdfast.statistics._questions.question import TableQuestion
from holdfast.statistics._questions.total import Sum
from holdfast.statistics._sql.conditions import where_condition
from holdfast.statistics._sql.names import declared_column, number_literal
from holdfast.statistics._sql.query_error import query_error

if TYPE_CHECKING:
    from sqlglot import exp

    from holdfast.data._schema import Schema

AGGREGATES_TAKEN = (
    "count(*), count(x), count(distinct person), sum(x), avg(x), var_pop(x), median(x), quantile(x, 0.9), min(x), "
    "max(x)"
)


@dataclass(frozen=True, kw_only=True)
class AggregateCall:
    """One aggregate of a query: what it is called, on what, of which rows."""

    node: exp.Expression
    where: Condition | None
    name: str | None
    schema: Schema

    def number(self) -> str:
        """The declared number that is aggregated."""
        column = declared_column(self.node.this, self.schema)
        if not isinstance(column, Numeric):
            raise query_error(
                self.node,
                f"{column.name!r} has categories",
                f"write count(*) with group by {column.name}",
            )
        return column.name

    def among(self, condition: Condition) -> Condition:
        """The rows of this call of which a further condition is true."""
        return condition if self.where is None else self.where & condition


def question_of(
    node: exp.Expression, schema: Schema, *, where: Condition | None, name: str | None
) -> TableQuestion:
    """The question that an aggregate asks, of the rows of which `where` is true."""
    from sqlglot import exp

    if isinstance(node, exp.Filter):
        condition = where_condition(node.expression.this, schema)
        where = condition if where is None else where & condition
        node = node.this
    call = AggregateCall(node=node, where=where, name=name, schema=schema)
    build = _builders().get(type(node))
    if build is None:
        raise query_error(node, "no such statistic is answered", f"ask one of {AGGREGATES_TAKEN}")
    return build(call)


def is_aggregate(node: exp.Expression) -> bool:
    """Whether this is an aggregate, answered or not."""
    from sqlglot import exp

    return isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.Anonymous)


def _builders() -> dict[Any, Callable[[AggregateCall], TableQuestion]]:
    from sqlglot import exp

    return {
        exp.Count: _count,
        exp.Sum: _sum,
        exp.Avg: _mean,
        exp.Variance: _variance,
        exp.VariancePop: _variance,
        exp.Median: lambda call: _with_options(Median, call),
        exp.Min: lambda call: _with_options(Minimum, call),
        exp.Max: lambda call: _with_options(Maximum, call),
        exp.Quantile: _quantile,
        exp.PercentileCont: _quantile,
        exp.PercentileDisc: _quantile,
        exp.ApproxQuantile: _quantile,
        exp.WithinGroup: _quantile_within_group,
    }


def _count(call: AggregateCall) -> TableQuestion:
    """All rows, or those with a value, or those of which a condition is true, or all people."""
    from sqlglot import exp

    argument = call.node.this
    if argument is None or isinstance(argument, exp.Star | exp.Literal):
        return Count(where=call.where, name=call.name)
    condition = _indicated(argument, call)
    if condition is not None:
        return Count(where=call.among(condition), name=call.name)
    if isinstance(argument, exp.Distinct):
        return _count_distinct(argument, call)
    column = declared_column(argument, call.schema)
    present = exp.Not(this=exp.Is(this=argument, expression=exp.Null()))
    categorical = isinstance(column, Categorical) and column.null not in column.labels
    where = call.where if categorical else call.among(where_condition(present, call.schema))
    return Count(where=where, name=call.name or f"count_{column.name}")


def _count_distinct(argument: exp.Distinct, call: AggregateCall) -> TableQuestion:
    """`count(distinct person)`, where the schema says that this column names the person."""
    columns = argument.expressions
    unit = call.schema.confirmed_unit.column
    if len(columns) == 1 and unit is not None and columns[0].name.lower() == unit.lower():
        return DistinctUnits(where=call.where, name=call.name)
    raise query_error(
        call.node,
        "distinct values of a column that is no unit are not counted",
        f"write count(distinct {unit})" if unit else "count rows: count(*), or group by the column",
    )


def _mean(call: AggregateCall) -> TableQuestion:
    condition = _indicated(call.node.this, call)
    if condition is not None:
        return Proportion(IsTrue(condition), where=call.where, name=call.name)
    return Mean(call.number(), where=call.where, name=call.name)


def _variance(call: AggregateCall) -> TableQuestion:
    return Variance(call.number(), where=call.where, name=call.name)


def _sum(call: AggregateCall) -> TableQuestion:
    condition = _indicated(call.node.this, call)
    if condition is not None:
        return Count(where=call.among(condition), name=call.name)
    return Sum(call.number(), where=call.where, name=call.name)


def _with_options(question: Callable[..., TableQuestion], call: AggregateCall) -> TableQuestion:
    names = {} if call.name is None else {"name": call.name}
    return question(call.number(), where=call.where, **names)


def _quantile(call: AggregateCall) -> TableQuestion:
    """`quantile(x, 0.9)`."""
    share = _share(call.node.args.get("quantile") or call.node.expression, call)
    names = {} if call.name is None else {"name": call.name}
    return single_quantile(call.number(), share, where=call.where, **names)


def _quantile_within_group(call: AggregateCall) -> TableQuestion:
    """`percentile_cont(0.9) within group (order by x)`."""
    from sqlglot import exp

    order = call.node.expression
    if not isinstance(call.node.this, exp.PercentileCont | exp.PercentileDisc) or len(order.expressions) != 1:
        raise query_error(call.node, "no such statistic is answered", "write quantile(x, 0.9)")
    ordered, share = order.expressions[0], _share(call.node.this.this, call)
    if ordered.args.get("desc"):
        share = 1.0 - share
    inner = AggregateCall(
        node=exp.Quantile(this=ordered.this), where=call.where, name=call.name, schema=call.schema
    )
    names = {} if call.name is None else {"name": call.name}
    return single_quantile(inner.number(), share, where=call.where, **names)


def _share(node: exp.Expression | None, call: AggregateCall) -> float:
    number = None if node is None else number_literal(node)
    if number is None or not 0 <= number <= 1:
        raise query_error(call.node, "a quantile is that of a number in [0, 1]", "write quantile(x, 0.9)")
    return number


def _indicated(argument: exp.Expression, call: AggregateCall) -> Condition | None:
    """The condition of `case when c then 1 [else 0 | else null] end`; None for anything else."""
    from sqlglot import exp

    if not isinstance(argument, exp.Case):
        return None
    branches, otherwise = argument.args["ifs"], argument.args.get("default")
    zero = otherwise is not None and number_literal(otherwise) == 0
    nothing = otherwise is None or isinstance(otherwise, exp.Null)
    fitting: dict[Any, bool] = {exp.Count: nothing, exp.Sum: zero or nothing, exp.Avg: zero}
    fits = fitting.get(type(call.node), False)
    if len(branches) != 1 or number_literal(branches[0].args["true"]) != 1 or not fits:
        raise query_error(
            argument,
            "of case only counting is taken",
            "write count(*) filter (where ...), or avg(case when ... then 1 else 0 end)",
        )
    return where_condition(branches[0].this, call.schema)


def require_aggregates(questions: int, node: exp.Expression) -> None:
    """Refuse a query that asks for no statistic."""
    if questions == 0:
        raise ParameterError(
            f"query must ask for at least one statistic, got {node.sql()!r}; rows are never shown: "
            f"ask one of {AGGREGATES_TAKEN}"
        )
