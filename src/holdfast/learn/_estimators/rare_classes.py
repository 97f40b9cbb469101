"""RareClass: whether the probabilities of an additive model of a rare class can be trusted, by public numbers alone.

Clipped and averaged gradient steps leave the scores of a rare class too low, and five noisy steps of calibration do not
correct that: the mean probability is then below the share of the class. It was measured over 250 fits of two generated
tables (six and fifteen features with smooth and step-like effects), from 1,000 to 640,000 records, shares of 0.2 to
40 %, epsilon 0.5, 1 and 4, delta 1e-6, neighbours by replacement. The mean probability over the true share was

    records x share x epsilon     25 to 400     500      800      1,000    1,600    2,000 to 4,000    more
    a share of 2 % and more       .29 to .58    .6       .7 to .8   .8      .9       .86 to .95        .94 to .98
    a share of 1 %                .27 to .56             .7               .75      .8                .84
    a share of 0.5 %              .19 to .46             .6                        .7                .72

Below 2 % more records do not mend it. Classes of a quarter of the records and more are not concerned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from holdfast.privacy._wording import epsilon_text
from holdfast.release import Release

RARE_SHARE = 0.25
"""A class with at least this share is not rare."""
LEAST_SHARE, LEAST_RECORDS = 0.02, 1_500
"""Where the share and records x share x epsilon are at least these, the mean probability was at least .8 of the true
share."""


@dataclass(frozen=True, kw_only=True)
class RareClass:
    """The rarest class of a fit: its declared or released share, the number of records, and the budget.

    >>> [RareClass(share=share, rows=40_000, epsilon=1.0).trustworthy for share in (0.005, 0.05)]
    [False, True]
    >>> RareClass(share=0.4, rows=100, epsilon=1.0).trustworthy
    True
    """

    share: float
    rows: float
    epsilon: float
    max_rows: int = 1
    """The most rows that one person may have; noise is proportional to it."""

    @classmethod
    def of_release(cls, release: Release[Any]) -> RareClass | None:
        """The rarest class of a released additive classifier; None for a regressor."""
        parameters = release.provenance.parameters
        share, rows = parameters.get("rarest_share"), parameters.get("records")
        if share is None or rows is None:
            return None
        guarantee = release.guarantee
        epsilon = guarantee.epsilon(max(float(rows), 2.0) ** -1.5)
        return cls(
            share=float(share), rows=float(rows), epsilon=float(epsilon), max_rows=guarantee.unit.max_rows
        )

    @property
    def records(self) -> float:
        """The number of records of the class, times epsilon, over the rows of a person."""
        return self.rows * self.share * self.epsilon / self.max_rows

    @property
    def trustworthy(self) -> bool:
        """Whether probabilities were near the truth in fits like this one."""
        if self.share >= RARE_SHARE or math.isinf(self.epsilon):
            return True
        return self.share >= LEAST_SHARE and self.records >= LEAST_RECORDS

    @property
    def why(self) -> str:
        """The numbers that say that probabilities cannot be trusted."""
        share = f"{100 * self.share:.2g} %"
        if self.share < LEAST_SHARE:
            return f"a class of about {share} is rarer than {100 * LEAST_SHARE:g} %"
        person = f" / {self.max_rows} rows of one person" if self.max_rows > 1 else ""
        return (
            f"{self.rows:,.0f} records x {share} x epsilon {epsilon_text(self.epsilon)}{person} = "
            f"{self.records:,.0f}, below {LEAST_RECORDS:,}"
        )

    def warning(self) -> str:
        """A warning for readers of the model; empty where its probabilities can be trusted."""
        if self.trustworthy:
            return ""
        return (
            f"the probabilities of this model cannot be trusted: {self.why}, and in such fits they said 0.05 to 0.8 of "
            "the true rate. They may rank records; a linear model (PrivateLogisticRegression) is the better choice"
        )
