"""A warning for limits that protect nobody, given by fits, syntheses and ledgers when a limit is declared."""

from __future__ import annotations

import math

from holdfast._caution import warn
from holdfast.errors import BudgetWarning
from holdfast.privacy._curves.curve import PrivacyCurve

RARE_PRIOR = 1e-3
"""An attacker's probability that a record is in the data, before the release."""
SURE_POSTERIOR = 0.9
"""The attacker's probability after the release."""
TOO_OFTEN = 0.01
"""How often the release may make that change, at most."""
SURPRISING_LOSS = math.log(SURE_POSTERIOR / (1.0 - SURE_POSTERIOR)) - math.log(
    RARE_PRIOR / (1.0 - RARE_PRIOR)
)
"""The privacy loss of that change: the growth of the log odds, about 9.1."""


def weak_limit(limit: PrivacyCurve) -> str:
    """Why a limit protects nobody, as a sentence; empty if it may protect somebody.

    >>> from holdfast.privacy import ApproxDP, PureDP
    >>> weak_limit(ApproxDP(8.0, 1e-6)), weak_limit(PureDP(1.0))
    ('', '')
    >>> weak_limit(ApproxDP(100.0, 0.5))[:53]
    'this limit protects nobody: it lets somebody who gave'
    >>> weak_limit(ApproxDP(1.0, 0.5)) == weak_limit(ApproxDP(8.0, 1e-6))
    False
    """
    if float(limit.delta(SURPRISING_LOSS)) <= TOO_OFTEN:
        return ""
    return (
        f"this limit protects nobody: it lets somebody who gave a record {RARE_PRIOR:.1%} become "
        f"{SURE_POSTERIOR:.0%} sure of it, more often than once in {1 / TOO_OFTEN:.0f} times; an epsilon of at most 2 "
        "and a delta far below one over the number of people are usual"
    )


def warn_weak_limit(limit: PrivacyCurve) -> None:
    """Warn if a limit protects nobody, once for each line that calls."""
    reason = weak_limit(limit)
    if reason:
        warn(reason, BudgetWarning)
