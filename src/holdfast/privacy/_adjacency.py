"""Adjacency: which tables are neighbours. PrivacyUnit: whose data differ between neighbours.

Every guarantee and every account names its adjacency, and two different ones are never composed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from holdfast._arguments import checked
from holdfast.errors import AdjacencyError, ParameterError, require


class Adjacency(Enum):
    """Which tables count as neighbours.

    A promise compares neighbours, so a sensitivity that was derived under one relation is no good under
    another: accounts refuse mechanisms that declare a different one.

    Parameters
    ----------
    value : str
        'replace': the same number of units, one of them changed; the count is public.
        'zero_out': the same number, one replaced by a null unit that contributes 0; the count is public.
        'add_remove': one unit more or less; the count is private.

    Examples
    --------
    >>> Adjacency("replace").count_is_public, Adjacency("add_remove").count_is_public
    (True, False)
    """

    replace = "replace"
    zero_out = "zero_out"
    add_remove = "add_remove"

    @classmethod
    def _missing_(cls, value: object) -> Any:
        names = ", ".join(member.value for member in cls)
        got = f", got adjacency={value!r}" if isinstance(value, str) else f", got {type(value).__name__}"
        raise ParameterError(f"adjacency must be one of {names}{got}")

    @classmethod
    def of(cls, value: Adjacency | str) -> Adjacency:
        """The adjacency of that name.

        >>> Adjacency.of("zero_out")
        <Adjacency.zero_out: 'zero_out'>
        """
        return cls(value)

    @property
    def count_is_public(self) -> bool:
        """Whether the number of units is the same in all neighbours."""
        return self is not Adjacency.add_remove

    @property
    def gradient_factor(self) -> int:
        """G_delta / L: how far one unit moves a sum of vectors of norm at most L, over L."""
        return 2 if self is Adjacency.replace else 1


@checked
def resolve_adjacency(argument: Adjacency | str | None, declared: Adjacency | str | None) -> Adjacency:
    """The adjacency by the one rule: the argument, else that of the schema, else `replace`; a conflict is an error.

    Parameters
    ----------
    argument : Adjacency or str, optional
        What the caller asked for.
    declared : Adjacency or str, optional
        What the schema declares.

    Returns
    -------
    Adjacency
        The relation that holds.

    Raises
    ------
    AdjacencyError
        If both are given and differ.

    Examples
    --------
    >>> resolve_adjacency(None, None).value
    'replace'
    >>> resolve_adjacency(None, "add_remove").value
    'add_remove'
    """
    if argument is None:
        return Adjacency.replace if declared is None else Adjacency.of(declared)
    adjacency = Adjacency.of(argument)
    if declared is not None and adjacency is not Adjacency.of(declared):
        raise AdjacencyError(
            f"adjacency={adjacency.value!r} contradicts the schema, which declares "
            f"{Adjacency.of(declared).value!r}; drop the argument or change the schema"
        )
    return adjacency


@checked
@dataclass(frozen=True)
class PrivacyUnit:
    """What is protected: one row, or all rows of one user up to a bound.

    Parameters
    ----------
    column : str, optional
        The column whose values name the users; by default every row is a unit of its own.
    max_rows : int
        The largest number of rows of one user that are ever used; the others are dropped before anything is
        computed.

    Examples
    --------
    >>> PrivacyUnit().summary()
    'one row'
    >>> PrivacyUnit("patient", max_rows=10).summary()
    'one patient, with at most 10 rows'
    """

    column: str | None = None
    max_rows: int = 1

    def __post_init__(self) -> None:
        require(
            isinstance(self.max_rows, int) and self.max_rows >= 1,
            "max_rows",
            self.max_rows,
            "a whole number >= 1",
        )
        has_name = self.column is None or (isinstance(self.column, str) and bool(self.column.strip()))
        require(has_name, "column", self.column, "None (a row is the unit) or the name of the user column")
        if self.column is None:
            require(
                self.max_rows == 1,
                "max_rows",
                self.max_rows,
                "1 when the unit is a row",
                "name the user column: PrivacyUnit('user_id', max_rows=...)",
            )

    @classmethod
    def row(cls) -> PrivacyUnit:
        """One row is one unit."""
        return cls()

    @classmethod
    def user(cls, column: str, *, max_rows: int) -> PrivacyUnit:
        """All rows that share a value of `column`; at most `max_rows` of them are ever used."""
        return cls(column, max_rows)

    def summary(self) -> str:
        """The unit in words."""
        if self.column is None:
            return "one row"
        return f"one {self.column}, with at most {self._rows_text}"

    @property
    def noun(self) -> str:
        """The noun for several units.

        >>> PrivacyUnit().noun, PrivacyUnit("patient").noun
        ('rows', 'units')
        """
        return "rows" if self.column is None else "units"

    def kept_rows_text(self) -> str:
        """A clause about the rows that are used, where rows beyond the bound are dropped; empty if a row is the unit.

        >>> "compared with the table" + PrivacyUnit("patient", max_rows=10).kept_rows_text()
        'compared with the table after at most 10 rows per patient were kept, each kept row counting 1'
        """
        if self.column is None:
            return ""
        if self.max_rows == 1:
            return f" after at most 1 row per {self.column} was kept, each {self.column} counting 1"
        return f" after at most {self._rows_text} per {self.column} were kept, each kept row counting 1"

    def left_out_text(self) -> str:
        """A clause about the rows beyond the bound, which no claim covers; empty if a row is the unit.

        >>> PrivacyUnit("patient", max_rows=10).left_out_text()
        '; rows beyond 10 per patient are not covered'
        """
        return (
            "" if self.column is None else f"; rows beyond {self.max_rows} per {self.column} are not covered"
        )

    @property
    def _rows_text(self) -> str:
        return f"{self.max_rows} row{'s' * (self.max_rows > 1)}"
