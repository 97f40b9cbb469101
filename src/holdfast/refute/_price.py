"""PriceTrial: whether the mechanisms that a run was charged for compose to no more than the account's limit.

An account translates its limit into an amount of its currency and subtracts charges from it. This trial trusts neither
step. It composes the mechanisms of a run's charges as privacy curves, by numeric accounting, and compares the result
with the limit itself. The result is exact up to the accountant's error, so the trial spends no chance.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np

from holdfast.noise._source import Source
from holdfast.privacy._account.witness import Witness
from holdfast.privacy._curves.composition import compose
from holdfast.privacy._mechanisms import mechanism_from_json
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.refute._replay import ReplayCase
from holdfast.refute._trial import Outcome, Test

ACCOUNTING_SLACK = 1e-6
"""By how much, relatively, the accountant may round up."""


@dataclass(frozen=True, kw_only=True)
class PriceTrial:
    """One run of a case on a plain table."""

    case: ReplayCase
    rows: int
    spends: bool = False
    test: Test = "analysis"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Compare delta at the promised epsilon with the promised delta; for a pure promise, the epsilons."""
        world, account = self.case.plain(self.rows), self.case.open_account()
        account.watch(Witness(seed=int(source.words(1)[0] >> np.uint64(1)), identifiers=world.identifiers))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.case.run(world, account)
        uses: Counter[Mechanism] = Counter()
        for entry in account.journal.entries:
            uses[mechanism_from_json(entry.charge.mechanism)] += entry.charge.times
        composed = compose([mechanism.curve_of_uses(times) for mechanism, times in uses.items()])
        pure, approximate = account.limit.as_pure(), account.limit.as_approximate()
        if pure is not None:
            share = composed.epsilon(0.0) / float(pure)
        else:
            epsilon, delta = approximate if approximate is not None else (1.0, account.limit.delta(1.0))
            share = composed.delta(float(epsilon)) / float(delta)
        return Outcome(
            test="analysis",
            what=f"{self.case.name}: charges composed again, over the promise",
            statistic=share,
            bound=1.0 + ACCOUNTING_SLACK,
            error=0.0,
            detail=f"{sum(uses.values())} uses of {len(uses)} mechanisms",
        )
