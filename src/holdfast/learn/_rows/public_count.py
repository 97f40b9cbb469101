"""The public number of rows or privacy units, and the assumption made where it had to be read from the data."""

from __future__ import annotations

from holdfast._assumption import READ_FROM_DATA, Assumption
from holdfast.data._table import Table
from holdfast.errors import ParameterError, require
from holdfast.privacy._adjacency import Adjacency

COUNT_READ = Assumption(
    kind=READ_FROM_DATA,
    subject="n_public",
    voids=True,
    text="the number of rows was read from the data and is treated as public; declare n_public",
)


def count_of_array(
    rows: int, n_public: int | None, adjacency: Adjacency
) -> tuple[int, tuple[Assumption, ...]]:
    """The public number of rows of an array, and an assumption if it was read from the data.

    >>> count_of_array(5, None, Adjacency.replace), count_of_array(5, 7, Adjacency.add_remove)
    ((5, ()), (7, ()))
    """
    if n_public is None:
        return rows, () if adjacency.count_is_public else (COUNT_READ,)
    require(n_public >= 1, "n_public", n_public, ">= 1")
    if adjacency.count_is_public and n_public != rows:
        raise ParameterError(
            f"n_public must be the number of rows under adjacency={adjacency.value!r}, got "
            f"n_public={n_public}; leave it out, or use adjacency='add_remove'"
        )
    return n_public, ()


def count_of_table(table: Table, n_public: int | None) -> tuple[int, tuple[Assumption, ...]]:
    """The public number of units of a table, and an assumption if it was read from the data."""
    if n_public is not None and table.n_public is None and not table.adjacency.count_is_public:
        return n_public, ()
    count, assumptions = table.public_count()
    require(n_public in (None, count), "n_public", n_public, "what the table declares", "leave it out")
    return count, assumptions
