"""What the schema of a model says that its reader must know first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.data._schema import Schema


def schema_lines(schema: Mapping[str, Any] | None) -> list[str]:
    r"""What was taken from the data, and which columns are no features; for the first lines of a summary.

    >>> from holdfast.data import Identifier, Numeric
    >>> schema = Schema([Numeric("age", 0, 100, taken_from_data=True), Identifier("pid")])
    >>> print("\n".join(schema_lines(schema.to_dict())))
    assumes: bounds of age were taken from the data: the promise does not cover what they show
    no features, because they are identifiers: pid
    """
    if schema is None:
        return []
    declared = Schema.from_dict(schema)
    assumed = [f"assumes: {assumption.text}" for assumption in declared.assumptions]
    return assumed + ([declared.no_features] if declared.identifiers else [])
