"""CountedRows: which rows the number n of a fit counts, and whether some of them may lack a target.

A row without a target is a null record: it adds nothing to what is learned, and counts in n all the same, because n is
declared, or the same in all neighbouring tables, and whether a row has a target is private.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from holdfast.data._schema import Categorical, Numeric
from holdfast.data._table import Table
from holdfast.privacy._adjacency import PrivacyUnit

COUNT, LEFT_OUT = "counted", "left_out_without"
"""The parameters of a release that say so."""


def may_lack(column: Numeric | Categorical) -> bool:
    """Whether a row may have no value of this column as a target, by the declaration alone.

    >>> may_lack(Numeric("income", 0, 9)), may_lack(Numeric("income", 0, 9, null="low"))
    (True, False)
    >>> may_lack(Categorical("ill", ["no", "yes"], other="no", null="no"))
    False
    """
    if isinstance(column, Numeric):
        return not column.declares_null
    return column.other is None or column.null is None


@dataclass(frozen=True, kw_only=True)
class CountedRows:
    """`count` privacy units of a table; `target` is the column in which their rows may have no value, if there is one.

    Without a `count` it was read from the data, and no release says it.

    >>> counted = CountedRows(count=9276, unit="rows", target="income")
    >>> print(counted.summary())
    n = 9,276 rows, those without a declared value of 'income' among them: left out of the fit, how many is private
    """

    count: int | None
    unit: str
    target: str | None = None

    @classmethod
    def of_table(cls, table: Table, target: str, count: int | None) -> Self:
        """The rows, or the users, of a table."""
        lacking = target if may_lack(table.schema[target]) else None
        return cls(count=count, unit=_units(table.unit), target=lacking)

    @classmethod
    def of_parameters(cls, parameters: Mapping[str, Any], unit: PrivacyUnit) -> Self | None:
        """As a release holds them; None where it says nothing about them."""
        count, left_out = parameters.get(COUNT), parameters.get(LEFT_OUT)
        if count is None and left_out is None:
            return None
        return cls(count=count, unit=_units(unit), target=left_out)

    @property
    def parameters(self) -> dict[str, Any]:
        """For a release; None is left out."""
        return {COUNT: self.count, LEFT_OUT: self.target}

    def summary(self) -> str:
        """The sentence about n."""
        counted = f"n = {self.count:,} {self.unit}" if self.count is not None else f"n counts all {self.unit}"
        if self.target is None:
            return counted
        if self.unit == "rows":
            which = f"those without a declared value of {self.target!r} among them: left out of the fit"
        else:
            which = (
                f"those of whom no row has a declared value of {self.target!r} among them: rows without one are "
                "left out of the fit"
            )
        return f"{counted}, {which}, how many is private"


def _units(unit: PrivacyUnit) -> str:
    return "rows" if unit.column is None else f"users ({unit.column})"
