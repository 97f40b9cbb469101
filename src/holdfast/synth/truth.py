"""Truth: the exact answers of a workload on a private table, and the scores that selections see. Private."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from holdfast.privacy.account import Account
from holdfast.synth.counted import Counted
from holdfast.synth.layout import Layout
from holdfast.synth.spending import admit, refuse_users
from holdfast.synth.workload import Workload

Floats = NDArray[np.float64]
#: One unit changes the summed answer of a query with values in [0, 1] by at most 1, under every adjacency: adding,
#: removing or blanking a record by its value, replacing one by a difference of two values. The rest is for rounding in
#: the sums, which are floating point.
SCORE_SENSITIVITY = 1.0 + 2.0**-20


@dataclass(frozen=True, kw_only=True, eq=False)
class Truth:
    """Summed answers c_q(S) in counts, and the public number of units n that proportions are taken of.

    Under `add_remove` n is the declared count, whatever the table holds: scores are c_q(S) - n q(p), uncentred
    (soundness, section 9), and move by at most one.
    """

    layout: Layout
    counts: Floats = field(repr=False)
    size: float

    @classmethod
    def of(cls, data: Counted, workload: Workload, *, account: Account, method: str) -> Truth:
        """Refuse what does not fit together, before anything is spent; then count, once."""
        admit(data, account, method=method)
        refuse_users(data, method=method)
        workload.check(data.table.schema)
        layout = Layout(workload, data.domain)
        return cls(layout=layout, counts=layout.answers(data.counts), size=float(max(1, data.public_count)))

    def excess(self, answers: Floats) -> Floats:
        """c_q(S) - n q(p) for every query, from the answers of a distribution that sums to one."""
        return np.asarray(self.counts - self.size * answers)

    def signed(self, answers: Floats) -> Floats:
        """The same for every query and its negation, in this order."""
        gap = self.excess(answers)
        return np.concatenate([gap, -gap])

    def chosen(self, index: int) -> tuple[int, float]:
        """A signed query's number and sign."""
        return (index, 1.0) if index < self.layout.size else (index - self.layout.size, -1.0)
