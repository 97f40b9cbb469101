"""Many canaries, one training: what a number of correct membership guesses says about epsilon.

Steinke, Nasr and Jagielski 2023. Each of m canaries is included by its own fair coin; the auditor looks
at the output, guesses r of the coins ("in" or "out", one- or two-sided) and v guesses are right. The
neighbours are `add_remove` (with a null record in place of the absent canary, `zero_out`).

Conditions, for every function here: the coins are fair, independent of each other and of everything
else in the run; guesses are functions of the output, of the canaries and of fresh auditor coins; the
number of guesses is fixed in advance (for delta = 0 it may depend on the scores, never on the coins).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from holdfast.audit._bounds.worst_case import ROUNDING, keep_probability, log_mass, upper_tail, worst_case
from holdfast.errors import require
from holdfast.privacy._safe_side import safe_side

Method = Literal["exact", "formula", "hoeffding"]
_SCAN_STEP = 0.01
"""Step of the scan of the closed formula, which is not known to be monotone in epsilon."""


def p_value(
    guesses: int, correct: int, *, canaries: int, epsilon: float, delta: float = 0.0, method: Method = "exact"
) -> float:
    """The largest probability of so many correct guesses under (epsilon, delta)-DP, rounded up.

    `exact` is the linear programme (`worst_case`). `formula` is the closed bound of Steinke et al.,
    theorem 5.2; it is not a bound for every count, so it is refused where the binomial tail exceeds 1/2.
    `hoeffding`, for delta = 0, is what can be done by hand: exp(-2 r (v/r - q)^2), a baseline.

    >>> round(p_value(100, 90, canaries=1000, epsilon=1.5, delta=1e-5), 4)
    0.0175
    """
    _check(guesses, correct, canaries=canaries, delta=delta)
    require(epsilon >= 0 and math.isfinite(epsilon), "epsilon", epsilon, ">= 0 and finite")
    if method == "exact":
        return worst_case(guesses, correct, canaries=canaries, epsilon=epsilon, delta=delta)
    if method == "hoeffding":
        return _hoeffding(guesses, correct, epsilon=epsilon, delta=delta)
    require(method == "formula", "method", method, "'exact', 'formula' or 'hoeffding'")
    tail = float(upper_tail(guesses, correct, epsilon))
    require(
        tail <= 0.5,
        "method",
        method,
        "'exact' where the binomial tail exceeds 1/2",
        "the closed formula is no upper bound there",
    )
    return _formula(guesses, correct, canaries=canaries, epsilon=epsilon, delta=delta)


def epsilon_lower(
    guesses: int,
    correct: int,
    *,
    canaries: int,
    delta: float = 0.0,
    confidence: float = 0.95,
    method: Method = "exact",
) -> float:
    """The largest epsilon such that it and every smaller one is refuted at this delta; 0 if none is.

    A Gaussian mechanism is not epsilon-DP for any epsilon: pass the delta of its claim.

    >>> round(epsilon_lower(100, 90, canaries=1000), 4)
    1.6308
    >>> round(epsilon_lower(100, 90, canaries=1000, delta=1e-5), 4)
    1.6302
    >>> epsilon_lower(100, 50, canaries=100)
    0.0
    >>> round(epsilon_lower(100, 90, canaries=1000, method="hoeffding"), 4)
    1.2518
    """
    _check(guesses, correct, canaries=canaries, delta=delta)
    beta = error_of(confidence)
    if method == "hoeffding":
        _require_pure(delta)
        # exp(-2 r (v/r - q)^2) <= beta up to q = v/r - sqrt(ln(1/beta) / (2 r)).
        q = correct / max(guesses, 1) - math.sqrt(math.log(1.0 / beta) / (2.0 * max(guesses, 1)))
        return max(0.0, (math.log(q) - math.log1p(-q)) * (1.0 - 1e-12)) if q > 0.5 else 0.0

    def excess(epsilon: float) -> float:
        if method == "exact":
            return worst_case(guesses, correct, canaries=canaries, epsilon=epsilon, delta=delta) - beta
        return _formula(guesses, correct, canaries=canaries, epsilon=epsilon, delta=delta) - beta

    if guesses == 0 or excess(0.0) > 0.0:
        return 0.0
    if method == "exact":  # non-decreasing in epsilon: more privacy loss allowed, more mechanisms
        low, high = 0.0, _search_end(guesses, correct, beta)
        return safe_side(excess, unsafe=high * (1.0 + 1e-9), safe=low, tolerance=1e-10) if high > 0 else 0.0
    require(method == "formula", "method", method, "'exact', 'formula' or 'hoeffding'")
    require(beta <= 0.5, "confidence", confidence, ">= 0.5 for the closed formula", "use method='exact'")
    step = 0
    while excess(_SCAN_STEP * (step + 1)) <= 0.0:
        step += 1
    return safe_side(excess, unsafe=_SCAN_STEP * (step + 1), safe=_SCAN_STEP * step, tolerance=1e-10)


def _search_end(guesses: int, correct: int, beta: float) -> float:
    """An upper end for the search: where the binomial tail alone reaches beta."""
    from scipy.special import betaincinv

    if correct == 0:
        return 0.0
    q = float(betaincinv(correct, guesses - correct + 1, beta))
    return max(0.0, math.log(q) - math.log1p(-q)) + 1e-9 if q < 1.0 else 700.0


def _hoeffding(r: int, v: int, *, epsilon: float, delta: float) -> float:
    _require_pure(delta)
    above = v / r - keep_probability(epsilon) if r else 0.0
    return min(1.0, math.exp(-2.0 * r * above**2) * (1.0 + ROUNDING)) if above > 0 else 1.0


def _require_pure(delta: float) -> None:
    require(delta == 0, "delta", delta, "0 for method='hoeffding'", "use method='exact'")


def _formula(r: int, v: int, *, canaries: int, epsilon: float, delta: float) -> float:
    tail = float(upper_tail(r, v, epsilon))
    if v == 0 or delta == 0.0:
        return min(1.0, tail * (1.0 + ROUNDING))
    # Steinke et al., theorem 5.2: 2 m delta max_i P[v - i <= Bin(r, q) < v] / i.
    below = np.cumsum(np.exp(log_mass(r, epsilon)[:v])[::-1])
    largest = float(np.max(below / np.arange(1, v + 1)))
    return min(1.0, (tail + 2.0 * canaries * delta * largest) * (1.0 + ROUNDING))


def error_of(confidence: float) -> float:
    """The admissible error, 1 - confidence; rounded so that 0.95 means 0.05."""
    require(0 < confidence < 1, "confidence", confidence, "in (0, 1)")
    return round(1.0 - confidence, 15)


def _check(guesses: int, correct: int, *, canaries: int, delta: float) -> None:
    require(canaries >= 1, "canaries", canaries, ">= 1")
    require(0 <= guesses <= canaries, "guesses", guesses, f"in [0, canaries={canaries}]")
    require(0 <= correct <= guesses, "correct", correct, f"in [0, guesses={guesses}]")
    require(0 <= delta < 1, "delta", delta, "in [0, 1)")
