"""PriceTrial: whether all that a run was charged for, composed again by itself, fits into what was promised.

Accounts count in a currency: a limit is translated into an amount, and charges are held against it. Here neither is
believed. The mechanisms of a run's charges are composed as curves, by numeric accounting, and the result is held
against the limit itself. It is exact up to the accountant's error, so no chance is spent.
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
from holdfast.refute._replay import Setup
from holdfast.refute._trial import Outcome, Test

SLACK = 1e-6
"""What the accountant may round up by."""


@dataclass(frozen=True, kw_only=True)
class PriceTrial:
    """One run of a case on a plain table."""

    case: Setup
    rows: int
    spends: bool = False
    test: Test = "analysis"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Delta at the promised epsilon over the promised delta, or of pure promises the epsilons."""
        world, account = self.case.plain(self.rows), self.case.open()
        account.watch(Witness(seed=int(source.words(1)[0] >> np.uint64(1)), identifiers=world.identifiers))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.case.run(world, account)
        uses: Counter[Mechanism] = Counter()
        for entry in account.journal.entries:
            uses[mechanism_from_json(entry.charge.mechanism)] += entry.charge.times
        whole = compose([mechanism.repeated(times) for mechanism, times in uses.items()])
        pure, point = account.limit.as_pure(), account.limit.as_approximate()
        if pure is not None:
            share = whole.epsilon(0.0) / float(pure)
        else:
            epsilon, delta = point if point is not None else (1.0, account.limit.delta(1.0))
            share = whole.delta(float(epsilon)) / float(delta)
        return Outcome(
            test="analysis",
            what=f"{self.case.name}: charges composed again, over the promise",
            statistic=share,
            bound=1.0 + SLACK,
            error=0.0,
            detail=f"{sum(uses.values())} uses of {len(uses)} mechanisms",
        )
