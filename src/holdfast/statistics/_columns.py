"""`column`: how conditions on rows are written."""

from __future__ import annotations

from holdfast._arguments import checked
from holdfast.data._conditions import ColumnName


@checked
def column(name: str) -> ColumnName:
    """A declared column, to compare: what is true of a row makes it take part.

    Parameters
    ----------
    name : str
        A column of the schema.

    Returns
    -------
    ColumnName
        Compared with a number by `<`, `<=`, `>`, `>=`, `==` and `!=`, with categories by `==` and `isin`; conditions
        are put together by `&`, `|` and `~`. Of a missing number no comparison is true.

    Examples
    --------
    >>> ((column("age") >= 18) & column("ward").isin(["north", "south"])).describe()
    "(age >= 18 and ward in ('north', 'south'))"
    """
    return ColumnName(name)
