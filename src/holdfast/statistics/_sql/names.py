"""Names in a query: which declared column an identifier means, and which number a literal is."""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING

from holdfast.errors import ParameterError
from holdfast.statistics._sql.query_error import query_error

if TYPE_CHECKING:
    from sqlglot import exp

    from holdfast.data._schema import Schema
    from holdfast.data._schema.kinds import Column


def declared_column(node: exp.Expression, schema: Schema) -> Column:
    """The column of the schema that is named: as it is written, else in other letters where only one is meant."""
    from sqlglot import exp

    if not isinstance(node, exp.Column):
        raise query_error(node, "it is no column of the table", "name a declared column")
    name = node.name
    names = [column.name for column in schema.columns]
    if name not in names:
        alike = [declared for declared in names if declared.lower() == name.lower()]
        if len(alike) != 1:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"declared are {names}"
            raise ParameterError(f"query must name columns of the schema, got {name!r}; {hint}")
        name = alike[0]
    return schema[name]


def number_literal(node: exp.Expression) -> float | None:
    """The number that is written, None for anything else."""
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return number_literal(node.this)
    if isinstance(node, exp.Neg):
        number = number_literal(node.this)
        return None if number is None else -number
    if isinstance(node, exp.Literal) and not node.is_string:
        number = float(node.this)
        return number if math.isfinite(number) else None
    return None


def text_literal(node: exp.Expression) -> str | None:
    """The text that is written, None for anything else."""
    from sqlglot import exp

    return str(node.this) if isinstance(node, exp.Literal) and node.is_string else None
