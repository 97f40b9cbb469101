"""CountedRows: what a release says about n, its number of rows, and about rows without a value of the target.

A row without a target is a null record: the model learns nothing from it. It still counts in n, because whether a row
has a target is private, while n is declared or the same in all neighbouring tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from holdfast.data._schema import Categorical, Numeric
from holdfast.data._table import Table
from holdfast.privacy._adjacency import PrivacyUnit

COUNT_PARAMETER, LEFT_OUT_PARAMETER = "counted", "left_out_without"
"""The names under which a release stores the number n and the target's name."""


def target_may_be_missing(column: Numeric | Categorical) -> bool:
    """Whether the schema allows rows without a value of this column, the target.

    >>> target_may_be_missing(Numeric("income", 0, 9)), target_may_be_missing(Numeric("income", 0, 9, null="low"))
    (True, False)
    >>> target_may_be_missing(Categorical("ill", ["no", "yes"], other="no", null="no"))
    False
    >>> target_may_be_missing(Categorical("ill", ["no", "yes"], null="no"))  # of a text that is neither
    True
    """
    if isinstance(column, Numeric):
        return not column.declares_null
    return column.other is None or column.null is None


@dataclass(frozen=True, kw_only=True)
class CountedRows:
    """The number n of rows or users that a fit counts, and the target if rows may have no value of it.

    `count` is None where n was read from the data: it is private then, and no release says it.

    >>> counted = CountedRows(count=9276, unit="rows", target="income")
    >>> print(counted.summary())
    n = 9,276 rows, those without a declared value of 'income' among them: left out of the fit, how many is private
    """

    count: int | None
    unit: str
    target: str | None = None

    @classmethod
    def of_table(cls, table: Table, target: str, count: int | None) -> Self:
        """The rows of a table, or its users where each user is a privacy unit."""
        target_or_none = target if target_may_be_missing(table.schema[target]) else None
        return cls(count=count, unit=_units(table.unit), target=target_or_none)

    @classmethod
    def of_parameters(cls, parameters: Mapping[str, Any], unit: PrivacyUnit) -> Self | None:
        """From the parameters of a release; None where they say nothing about it."""
        count, left_out = parameters.get(COUNT_PARAMETER), parameters.get(LEFT_OUT_PARAMETER)
        if count is None and left_out is None:
            return None
        return cls(count=count, unit=_units(unit), target=left_out)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a release that say so; those that are None are left out."""
        return {COUNT_PARAMETER: self.count, LEFT_OUT_PARAMETER: self.target}

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
