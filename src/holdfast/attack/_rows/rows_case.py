"""RowsCase: what a membership attacker has who sees released rows only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.attack._attack import Kind, Knowledge
from holdfast.attack._membership_case import MembershipCase
from holdfast.attack._rows.released_rows import ReleasedRows
from holdfast.errors import ParameterError


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class RowsCase(MembershipCase):
    """What the attacker has: released rows, records to judge, and perhaps other people's records.

    Parameters
    ----------
    rows : ReleasedRows
        What was released.
    records : ReleasedRows
        The records to judge.
    population : ReleasedRows, optional
        Records that are known not to be members.

    Examples
    --------
    >>> from holdfast.attack import ATTACKS, ReleasedRows
    >>> def people(*numbers):
    ...     return ReleasedRows(numbers=np.array([numbers]).T, cells=np.zeros((len(numbers), 1), dtype=np.int64))
    >>> case = RowsCase(rows=people(1.0, 5.0), records=people(1.0, 2.0))
    >>> nearest = next(attack for attack in ATTACKS if attack.name == "nearest_row")
    >>> nearest(case).tolist()
    [-0.0, -1.0]
    """

    rows: ReleasedRows
    records: ReleasedRows
    population: ReleasedRows | None = None
    kind: ClassVar[Kind] = "rows"

    @property
    def count(self) -> int:
        """The number of records to judge."""
        return self.records.count

    def lacks(self, knowledge: Knowledge) -> str | None:
        """Why the attacker does not have this knowledge, with the way out; None if it is there."""
        if knowledge == "population" and self.population is None:
            return "no population: give reference="
        return None

    def setting_aside(self, judged: NDArray[np.bool_], aside: NDArray[np.intp]) -> Self:
        """The same case with the records of the mask `judged` to judge, and those of `aside` for a population."""
        return replace(self, records=self.records.take(judged), population=self.records.take(aside))

    def known_population(self) -> ReleasedRows:
        """The population, for an attack that needs it."""
        if self.population is None:
            raise ParameterError(
                "this attack needs records that are known not to be members: say population in `knows`, and give "
                "reference="
            )
        return self.population
