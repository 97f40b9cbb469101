"""Neighbours: how far one privacy unit really moves what is computed.

Brute force, not proof: values on many neighbouring tables, random and built to be bad, with the same coins,
against the sensitivity that the noise is scaled to. One distance above it refutes the proof. For a worst
case that is known the distance must also come near, else the bound is vacuous or the test is blind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from holdfast.audit.trial import Outcome
from holdfast.noise.source import Source

NEAR = 1.0 / 3.0
"""The share of the claimed sensitivity that a known worst case must reach (soundness notes, section 17)."""


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Observed distances over claimed sensitivities; `shares` yields one share for each pair tried.

    The largest must be at most 1, and at least `least`: a pair nearer than that is reported as refuted
    too, with the statistic `least / share`, because the test would then see no fault.
    """

    what: str
    shares: Callable[[Source], Iterable[float]]
    least: float = NEAR
    spends: bool = False

    def run(self, source: Source, *, error: float) -> Outcome:
        """Try every pair."""
        shares = [float(share) for share in self.shares(source)]
        largest = math.nan if not shares or any(math.isnan(s) for s in shares) else max(shares)
        detail = f"largest of {len(shares)} pairs, observed / claimed"
        if largest < self.least:
            return Outcome(
                test="neighbours", what=self.what, statistic=self.least / max(largest, 1e-300), bound=1.0,
                error=0.0, detail=f"no pair comes within {self.least:.2f} of the claim: the test is blind",
            )  # fmt: skip
        return Outcome(
            test="neighbours", what=self.what, statistic=largest, bound=1.0, error=0.0, detail=detail
        )
