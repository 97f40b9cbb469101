"""The level of detail at which a model sees a column with a hierarchy, such as postcodes or only their areas."""

from __future__ import annotations

from holdfast.data._sensitivity import count_noise
from holdfast.data._table import Table
from holdfast.privacy._curves.curve import PrivacyCurve


def with_open_levels_chosen(
    table: Table, *, rows: int, limit: PrivacyCurve | None
) -> tuple[Table, dict[str, int] | None]:
    """The table with each hierarchy that left its level open at the finest useful level, and the levels by column.

    A finer level has more categories, each with a weight of its own that is learned from fewer rows. The noise in a
    weight is taken to be that in a count of its category's rows. The number of rows, the budget and the schema are
    public, so the choice reveals nothing about the data.
    """
    schema = table.schema
    if not schema.open_levels or table.reopen is None or limit is None:
        return table, None
    noise = count_noise(limit, table.adjacency, table.unit, tables=len(schema.names))
    levels = schema.visible_levels(rows=rows, noise=noise)
    return table.reopen(schema.at_levels(levels)), levels
