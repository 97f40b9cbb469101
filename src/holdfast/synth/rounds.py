"""How many rounds a game of selections should have, from public quantities."""

from __future__ import annotations

import math

from holdfast.privacy.account import Account
from holdfast.synth.budget import amount


def best_rounds(account: Account, *, count: float, log_universe: float, queries: int, most: int) -> int:
    """The minimiser of sqrt(2 ln|X| / T) + the error of a selection, at least 1 and at most `most`.

    In zCDP a selection errs by sqrt(T / (2 rho)) ln(2|Q|) / n, so T* = n sqrt(2 rho) sqrt(2 ln|X|) / ln(2|Q|)
    (soundness, section 9); in pure DP by 2 T ln(2|Q|) / (epsilon n), so
    T* = (n epsilon sqrt(2 ln|X|) / (4 ln(2|Q|)))^(2/3).

    >>> from holdfast.privacy import PureDP, ZCDP
    >>> best_rounds(Account(ZCDP(0.0244)), count=10_000, log_universe=5.545, queries=448, most=5000)
    1082
    >>> best_rounds(Account(PureDP(1.0)), count=10_000, log_universe=5.545, queries=448, most=5000)
    114
    """
    kind, left = amount(account)
    log_queries = math.log(2.0 * max(1, queries))
    if kind == "zcdp":
        made = count * math.sqrt(2.0 * left) * math.sqrt(2.0 * log_universe) / log_queries
    else:
        made = (count * left * math.sqrt(2.0 * log_universe) / (4.0 * log_queries)) ** (2.0 / 3.0)
    return max(1, min(most, round(made)))
