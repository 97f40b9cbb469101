"""How far one privacy unit moves a count, a sum or a score.

Rows of one user are bounded by c = `unit.max_rows` before anything is computed
(`holdfast.data._bounded_users`). `zero_out` moves as much as `add_remove`: what a unit contributed is gone.
Results are rounded up, never down.
"""

from __future__ import annotations

import math
from fractions import Fraction

from holdfast._argument_kinds import LARGEST_FLOAT
from holdfast._arguments import checked
from holdfast.errors import AdjacencyError, require
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._rounding import round_up

_ROW = PrivacyUnit.row()


def _root_up(square: Fraction) -> float:
    """The square root, rounded up to a float64."""
    near = math.sqrt(round_up(square))
    while Fraction(near) ** 2 < square:
        near = math.nextafter(near, math.inf)
    return near


def _check_marginals(marginals: int) -> None:
    require(marginals >= 1, "marginals", marginals, ">= 1")


@checked
def counts_l1(adjacency: Adjacency | str, unit: PrivacyUnit = _ROW, *, marginals: int = 1) -> float:
    """L1 distance that one unit moves G = `marginals` tables of counts: c G, and twice that under `replace`.

    Parameters
    ----------
    adjacency : Adjacency or str
        The neighbour relation.
    unit : PrivacyUnit
        Who is protected, with at most c rows.
    marginals : int
        The number G of tables.

    Returns
    -------
    float
        The sensitivity.

    Examples
    --------
    >>> counts_l1("add_remove"), counts_l1("replace")
    (1.0, 2.0)
    >>> counts_l1("replace", PrivacyUnit.user("id", max_rows=3))
    6.0
    """
    _check_marginals(marginals)
    return float(Adjacency.of(adjacency).gradient_factor * unit.max_rows * marginals)


@checked
def counts_l2(
    adjacency: Adjacency | str, unit: PrivacyUnit = _ROW, *, marginals: int = 1, distinct_cells: bool = False
) -> float:
    """L2 distance that one unit moves G = `marginals` tables of counts.

    A unit's c rows may share a cell: c √G, and √2 times that under `replace`. Where they are known not to, c
    becomes √c.

    Parameters
    ----------
    adjacency : Adjacency or str
        The neighbour relation.
    unit : PrivacyUnit
        Who is protected, with at most c rows.
    marginals : int
        The number G of tables.
    distinct_cells : bool
        Whether no two rows of a unit are ever in one cell.

    Returns
    -------
    float
        The sensitivity.

    Examples
    --------
    >>> counts_l2("add_remove", PrivacyUnit.user("id", max_rows=4))
    4.0
    >>> counts_l2("zero_out", PrivacyUnit.user("id", max_rows=4), distinct_cells=True)
    2.0
    """
    _check_marginals(marginals)
    rows = unit.max_rows if distinct_cells else unit.max_rows**2
    return _root_up(Fraction(Adjacency.of(adjacency).gradient_factor * rows * marginals))


def count_noise(
    limit: PrivacyCurve, adjacency: Adjacency | str, unit: PrivacyUnit = _ROW, *, tables: int
) -> float:
    """Standard deviation of the noise in each cell when this number of tables is counted once, for the whole limit.

    A public number, for plans and for choices that must not look at the data; nothing is calibrated by it.

    >>> from holdfast.privacy import PureDP
    >>> round(count_noise(PureDP(1.0), "add_remove", tables=3), 4)
    4.2426
    """
    pure = limit.as_pure()
    if pure is None:
        return float(
            Gaussian.within(limit, l2_sensitivity=counts_l2(adjacency, unit, marginals=tables)).sigma
        )
    return math.sqrt(2) * counts_l1(adjacency, unit, marginals=tables) / float(pure)


@checked
def sum_l2(
    norm: float, adjacency: Adjacency | str, unit: PrivacyUnit = _ROW, *, clipped_per_unit: bool = False
) -> float:
    """L2 distance that one unit moves a sum of vectors of norm at most `norm` (rows, gradients).

    Each of the c rows is clipped: c times the norm, twice that under `replace`.

    Parameters
    ----------
    norm : float
        The largest norm of one vector.
    adjacency : Adjacency or str
        The neighbour relation.
    unit : PrivacyUnit
        Who is protected, with at most c rows.
    clipped_per_unit : bool
        Whether the *sum* over a unit's rows is clipped to the norm instead; then c is 1.

    Returns
    -------
    float
        The sensitivity.

    Examples
    --------
    >>> sum_l2(0.5, "replace", PrivacyUnit.user("id", max_rows=3))
    3.0
    """
    require(norm > 0 and math.isfinite(norm), "norm", norm, "a finite number > 0")
    rows = 1 if clipped_per_unit else unit.max_rows
    moved = Adjacency.of(adjacency).gradient_factor * rows * Fraction(norm)
    require(moved <= LARGEST_FLOAT, "norm", norm, "so small that the result is a finite double")
    return round_up(moved)


@checked
def row_steps(
    adjacency: Adjacency | str, unit: PrivacyUnit, *, row_adjacency: Adjacency | str, padded: bool = False
) -> int:
    """How many row-level steps lead from a table to its neighbour: h of group privacy.

    `replace` of a row can stand for a user only where users are padded to exactly c rows; under `add_remove` it
    can stand for nothing.

    Parameters
    ----------
    adjacency : Adjacency or str
        The neighbour relation between tables of units.
    unit : PrivacyUnit
        Who is protected, with at most c rows.
    row_adjacency : Adjacency or str
        The relation under which the row-level statement holds.
    padded : bool
        Whether every user has exactly c rows, null rows included.

    Returns
    -------
    int
        The number of steps.

    Examples
    --------
    >>> row_steps("replace", PrivacyUnit.user("id", max_rows=3), row_adjacency="add_remove")
    6
    """
    target, row_relation = Adjacency.of(adjacency), Adjacency.of(row_adjacency)
    user = unit.column is not None
    if target is Adjacency.replace and row_relation is not Adjacency.replace:
        return 2 * unit.max_rows
    padded_or_row = padded or not user or unit.max_rows == 1
    if target is row_relation and (target is not Adjacency.replace or padded_or_row):
        return unit.max_rows
    raise AdjacencyError(
        f"a row-level statement under {row_relation.value!r} says nothing about {unit.summary()} under "
        f"{target.value!r}; state it under 'add_remove'" + (", or pad the users" if user else "")
    )


def score(
    row_sensitivity: float,
    adjacency: Adjacency | str,
    unit: PrivacyUnit = _ROW,
    *,
    row_adjacency: Adjacency | str,
    padded: bool = False,
) -> float:
    """How far one unit moves the score of a candidate, from how far one row moves it.

    >>> score(1.0, "replace", PrivacyUnit.user("id", max_rows=3), row_adjacency="replace", padded=True)
    3.0
    """
    require(
        row_sensitivity > 0 and math.isfinite(row_sensitivity),
        "row_sensitivity",
        row_sensitivity,
        "finite, > 0",
    )
    steps = row_steps(adjacency, unit, row_adjacency=row_adjacency, padded=padded)
    return round_up(steps * Fraction(row_sensitivity))
