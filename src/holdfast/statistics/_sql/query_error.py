"""Refusals of SQL: what of a query is not answered, why, and what works instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import ParameterError

if TYPE_CHECKING:
    from sqlglot import exp

MOST_LETTERS_SHOWN = 80


def query_error(node: exp.Expression | str, why: str, instead: str) -> ParameterError:
    """The error for a part of a query: its own text, the reason, and the nearest form that works."""
    text = node if isinstance(node, str) else node.sql(dialect="duckdb")
    short = text if len(text) <= MOST_LETTERS_SHOWN else f"{text[: MOST_LETTERS_SHOWN - 3]}..."
    return ParameterError(f"query must not have {short!r}: {why}; {instead}")
