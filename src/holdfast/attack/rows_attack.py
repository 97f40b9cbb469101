"""RowsAttack: a membership attack by someone who has the released rows and nothing of the generator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.attack.seen import Seen
from holdfast.errors import ParameterError, require

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsCase:
    """What the attacker has: released rows, records to judge, and perhaps other people's records for reference."""

    rows: Seen
    records: Seen
    reference: Seen | None = None

    def others(self) -> Seen:
        """The reference, for an attack that needs it."""
        if self.reference is None:
            raise ParameterError("this attack needs reference=: records that are known not to be members")
        return self.reference


@dataclass(frozen=True, kw_only=True)
class RowsAttack:
    """An entry of ROWS_ATTACKS."""

    name: str
    score: Callable[[RowsCase], Floats]
    """One number per record of the case, larger for members."""
    paper: str
    needs_reference: bool = False
    note: str | None = None
    """What must be said wherever its figures are shown."""

    def scores(self, case: RowsCase) -> Floats:
        """The scores, checked."""
        values = np.asarray(self.score(case), dtype=np.float64)
        require(values.shape == (case.records.count,), "scores", values.shape, "one number per record")
        require(bool(np.all(np.isfinite(values))), "scores", "...", "finite")
        return values
