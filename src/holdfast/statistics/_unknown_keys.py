"""UnknownKeys: groups that no schema declares, found privately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast._arguments import checked
from holdfast.data._conditions import Condition
from holdfast.data._key_counts import require_key_columns
from holdfast.errors import AdjacencyError, require
from holdfast.privacy._adjacency import Adjacency
from holdfast.statistics._table_facts import TableFacts

MOST_KEYS = 2**16


@checked
@dataclass(frozen=True)
class UnknownKeys:
    """The texts of one or several identifiers, of which enough units have the same: groups that are not declared.

    Stands in `by` in place of a column. With a count (`DistinctUnits()`, or `Count()` where a unit is a row), keys and
    counts are one release: those whose noisy count reaches a threshold. Without, keys alone are released, which finds
    more of them where units have several. Other questions about the keys are paid for besides.

    A key is compared byte by byte. Rows without one, or with one of more than 1,000 bytes, have no key.

    Parameters
    ----------
    columns : str or sequence of str
        Identifiers of the schema: their values are not public.
    typical : int, optional
        How many keys a unit typically has, a public guess that decides by which rule keys are found. Without it, a
        fiftieth of the share pays to learn whether more units have fewer than eight keys or not.
    most : int
        Where units have many keys: those with more of them than this are left out.
    other : str, optional
        What the group of all other rows is called; by default there is none.
    where : Condition, optional
        Of which rows keys are looked for; by default all.
    share : float, optional
        Which part of the budget finds the keys; by default as much as each other list of keys and all other questions
        together get.

    Examples
    --------
    >>> UnknownKeys("word").columns
    ('word',)
    """

    columns: str | Sequence[str]
    typical: int | None = None
    most: int = 500
    other: str | None = None
    where: Condition | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        names = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
        object.__setattr__(self, "columns", names)
        require(0 < len(set(names)) == len(names), "columns", names, "one or more different columns")
        require(self.typical is None or self.typical >= 1, "typical", self.typical, "a whole number >= 1")
        require(1 <= self.most <= MOST_KEYS, "most", self.most, f"from 1 to {MOST_KEYS}")
        require(self.share is None or 0 < self.share <= 1, "share", self.share, "in (0, 1]")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        assert not isinstance(self.columns, str)
        return tuple(self.columns)

    def check(self, facts: TableFacts) -> None:
        """Refuse, before anything is spent, what the schema does not declare, by the public `facts` of a table."""
        require_key_columns(self.names, facts.schema)
        if self.where is not None:
            self.where.check(facts.schema)
        if facts.adjacency is Adjacency.zero_out:
            raise AdjacencyError(
                "unknown keys are found under adjacency add_remove and replace, not under 'zero_out'; declare another"
            )
