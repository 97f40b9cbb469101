"""Exact limits of a binomial rate (Clopper and Pearson 1934), rounded outwards."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=65_536)
def clopper_pearson_upper(successes: int, trials: int, *, error: float) -> float:
    """The exact upper limit of a binomial rate, exceeded by the truth with probability at most `error`.

    >>> round(clopper_pearson_upper(0, 1000, error=0.025), 6)
    0.003682
    """
    from scipy.special import betaincinv

    if successes >= trials:
        return 1.0
    limit = float(betaincinv(successes + 1, trials - successes, 1.0 - error))
    return min(1.0, limit * (1.0 + 1e-10))


def clopper_pearson_lower(successes: int, trials: int, *, error: float) -> float:
    """The exact lower limit: the truth is below it with probability at most `error`.

    >>> round(clopper_pearson_lower(1000, 1000, error=0.025), 6)
    0.996318
    >>> clopper_pearson_lower(0, 1000, error=0.025)
    0.0
    """
    return max(0.0, 1.0 - clopper_pearson_upper(trials - successes, trials, error=error))
