"""TableFacts: the public facts about a table that sensitivities, plans and answers depend on."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.data._schema import Schema
from holdfast.data._table import Table
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit


@dataclass(frozen=True, kw_only=True)
class TableFacts:
    """Schema, neighbours, unit, and the public number of units where there is one."""

    schema: Schema
    adjacency: Adjacency
    unit: PrivacyUnit
    n_public: int | None = None

    @classmethod
    def of(cls, table: Table) -> TableFacts:
        """What is public about this table; nothing of it is read."""
        return cls(schema=table.schema, adjacency=table.adjacency, unit=table.unit, n_public=table.n_public)

    @property
    def users(self) -> bool:
        """Whether a unit may own several rows."""
        return self.unit.column is not None
