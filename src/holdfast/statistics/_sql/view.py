"""`having`, `order by` and `limit`: how an answer is shown. They look at noisy numbers only, so they cost nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError
from holdfast.statistics._sql.names import number_literal, text_literal
from holdfast.statistics._sql.query_error import query_error

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class AnswerView:
    """Which groups are shown, in which order, with which columns."""

    columns: tuple[str, ...]
    """Keys and statistics in the order of the query; a statistic stands for its number and both ends."""
    having: exp.Expression | None
    order: tuple[tuple[str, bool], ...]
    """Columns, and whether the largest comes first."""
    limit: int | None
    names: Mapping[str, str]
    """The column that an expression of the query is in, by the expression's text."""

    def shown(self, answers: pa.Table) -> pa.Table:
        """The part of an answer that the query shows."""
        frame = {name: np.asarray(answers[name].to_pandas()) for name in answers.column_names}
        rows = np.arange(answers.num_rows)
        if self.having is not None:
            rows = rows[self._truth(self.having, frame)]
        for name, descending in reversed(self.order):
            rows = rows[_order(frame[name][rows], descending=descending)]
        if self.limit is not None:
            rows = rows[: self.limit]
        ends = ("", "_low", "_high")
        names = [
            f"{name}{end}"
            for name in self.columns
            for end in ends
            if f"{name}{end}" in frame and (end == "" or name not in self._keys(frame))
        ]
        return answers.select(names).take(rows)

    def _keys(self, frame: Mapping[str, Any]) -> set[str]:
        return {name for name in self.columns if f"{name}_low" not in frame}

    def _truth(self, node: exp.Expression, frame: Mapping[str, Any]) -> Flags:
        from sqlglot import exp

        if isinstance(node, exp.Paren):
            return self._truth(node.this, frame)
        if isinstance(node, exp.And):
            return self._truth(node.this, frame) & self._truth(node.expression, frame)
        if isinstance(node, exp.Or):
            return self._truth(node.this, frame) | self._truth(node.expression, frame)
        if isinstance(node, exp.Not):
            return ~self._truth(node.this, frame)
        if isinstance(node, exp.Between):
            value = self._value(node.this, frame)
            low, high = (self._value(node.args[end], frame) for end in ("low", "high"))
            return np.asarray((value >= low) & (value <= high))
        comparisons: dict[Any, Any] = {
            exp.LT: np.less,
            exp.LTE: np.less_equal,
            exp.GT: np.greater,
            exp.GTE: np.greater_equal,
            exp.EQ: np.equal,
            exp.NEQ: np.not_equal,
        }
        compare = comparisons.get(type(node))
        if compare is None:
            raise _refused(node)
        left, right = self._value(node.this, frame), self._value(node.expression, frame)
        return np.broadcast_to(np.asarray(compare(left, right), dtype=np.bool_), _rows(frame))

    def _value(self, node: exp.Expression, frame: Mapping[str, Any]) -> Any:
        name = self.names.get(node.sql(dialect="duckdb").lower())
        if name is not None:
            return frame[name]
        number, text = number_literal(node), text_literal(node)
        if number is None and text is None:
            raise _refused(node)
        return number if number is not None else text

    def check(self, frame: Mapping[str, Any]) -> None:
        """Refuse a condition that cannot be applied, before anything is spent; `frame` has the columns of an answer."""
        if self.having is not None:
            self._truth(self.having, frame)


def _rows(frame: Mapping[str, Any]) -> tuple[int, ...]:
    return np.shape(next(iter(frame.values())))


def _refused(node: exp.Expression) -> ParameterError:
    return query_error(
        node,
        "having compares keys and statistics of the query with constants",
        "write having count(*) > 10",
    )


def _order(values: NDArray[Any], *, descending: bool) -> NDArray[np.intp]:
    """Stable places in order, nothing learnt last."""
    if values.dtype.kind == "f":
        keys = np.where(np.isnan(values), np.inf, -values if descending else values)
        return np.argsort(keys, kind="stable")
    ranks = np.unique(values.astype(str), return_inverse=True)[1]
    return np.argsort(-ranks if descending else ranks, kind="stable")
