"""Declared data: schemas, tables wherever they live, and how far one privacy unit moves what is computed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.data.bundled import adult, adult_schema
    from holdfast.data.columns import Categorical, Identifier, Numeric
    from holdfast.data.draft import draft_schema
    from holdfast.data.encode import Encoder, clip_rows
    from holdfast.data.engines import ENGINES
    from holdfast.data.order import Order
    from holdfast.data.rows import Batch
    from holdfast.data.schema import Schema
    from holdfast.data.statistics import RowSum, SecondMoment
    from holdfast.data.table import Partition, Statistic, Table, open_table

__all__ = [
    "ENGINES",
    "Batch",
    "Categorical",
    "Encoder",
    "Identifier",
    "Numeric",
    "Order",
    "Partition",
    "RowSum",
    "Schema",
    "SecondMoment",
    "Statistic",
    "Table",
    "adult",
    "adult_schema",
    "clip_rows",
    "draft_schema",
    "open_table",
]

_HOME = {
    "ENGINES": "engines",
    "Batch": "rows",
    "Categorical": "columns",
    "Encoder": "encode",
    "Identifier": "columns",
    "Numeric": "columns",
    "Order": "order",
    "Partition": "table",
    "RowSum": "statistics",
    "Schema": "schema",
    "SecondMoment": "statistics",
    "Statistic": "table",
    "Table": "table",
    "adult": "bundled",
    "adult_schema": "bundled",
    "clip_rows": "encode",
    "draft_schema": "draft",
    "open_table": "table",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
