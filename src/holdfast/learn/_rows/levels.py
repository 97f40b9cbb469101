"""How finely a model sees a column whose hierarchy was left open: postcodes, or only their areas."""

from __future__ import annotations

from holdfast.data._sensitivity import count_noise
from holdfast.data._table import Table
from holdfast.privacy._curves.curve import PrivacyCurve


def at_learned_levels(
    table: Table, *, rows: int, limit: PrivacyCurve | None
) -> tuple[Table, dict[str, int] | None]:
    """The table with open hierarchies at the finest level that is worth its weights, and which these are.

    Each name is a weight, learned from the rows of its own cell and as noisy as a count of them in which every column
    is counted once. Rows, budget and declarations are public, so the choice says nothing about the data.
    """
    schema = table.schema
    if not schema.open_levels or table.reopen is None or limit is None:
        return table, None
    noise = count_noise(limit, table.adjacency, table.unit, tables=len(schema.names))
    levels = schema.visible_levels(rows=rows, noise=noise)
    return table.reopen(schema.at_levels(levels)), levels
