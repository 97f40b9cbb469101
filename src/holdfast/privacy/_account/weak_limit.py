"""Limits that protect nobody: said where a limit is declared, by one function for fits, syntheses and ledgers."""

from __future__ import annotations

import math

from holdfast._caution import warn
from holdfast.errors import BudgetWarning
from holdfast.privacy._curves.curve import PrivacyCurve

RARE = 1e-3
"""What somebody gives a record for being in the data before looking."""
SURE = 0.9
"""What the same person is then sure of."""
OFTEN = 0.01
"""How often that may happen."""
SURPRISE = math.log(SURE / (1.0 - SURE)) - math.log(RARE / (1.0 - RARE))
"""The logarithm of how much more likely that makes the record: about 9.1."""


def weak_limit(limit: PrivacyCurve) -> str:
    """Why a limit protects nobody, as a sentence; empty where it may protect somebody.

    >>> from holdfast.privacy import ApproxDP, PureDP
    >>> weak_limit(ApproxDP(8.0, 1e-6)), weak_limit(PureDP(1.0))
    ('', '')
    >>> weak_limit(ApproxDP(100.0, 0.5))[:53]
    'this limit protects nobody: it lets somebody who gave'
    >>> weak_limit(ApproxDP(1.0, 0.5)) == weak_limit(ApproxDP(8.0, 1e-6))
    False
    """
    if float(limit.delta(SURPRISE)) <= OFTEN:
        return ""
    return (
        f"this limit protects nobody: it lets somebody who gave a record {RARE:.1%} become {SURE:.0%} sure of it, more "
        f"often than once in {1 / OFTEN:.0f} times; an epsilon of at most 2 and a delta far below one over the number "
        "of people are usual"
    )


def warn_weak_limit(limit: PrivacyCurve) -> None:
    """Warn of one, once in each place."""
    said = weak_limit(limit)
    if said:
        warn(said, BudgetWarning)
