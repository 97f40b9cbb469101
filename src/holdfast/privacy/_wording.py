"""Texts of bounds, as every summary and page writes them; bounds are rounded for texts here and nowhere else.

An upper bound is rounded up and a lower bound down, so that no text claims more than the object that proves it.
Rounding errors of doubles (at most one part in 10^9) do not count: an epsilon of 1.0000000000000042 is written as 1.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

_SLACK = 1e-9
STORED_DIGITS = 6
"""The digits with which records store numbers."""
SHOWN_DIGITS = 4


def rounded_up(value: float, digits: int) -> float:
    """The least number of so many digits that is not below the value.

    >>> rounded_up(0.87250049, 4), rounded_up(1.0000000000000042, 4), rounded_up(-0.5, 4)
    (0.8726, 1.0, -0.5)
    """
    return _round_to_digits(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int) -> float:
    """The largest number of so many digits that is not above the value.

    >>> rounded_down(0.87259, 4), rounded_down(0.9999999999999999, 4)
    (0.8725, 1.0)
    """
    return _round_to_digits(value, digits, ROUND_FLOOR)


def _round_to_digits(value: float, digits: int, how: str) -> float:
    if not math.isfinite(value) or value == 0:
        return value
    slack = abs(value) * _SLACK
    exact = Decimal(value - slack if how == ROUND_CEILING else value + slack)
    nearest = Decimal(f"{value:.{digits - 1}e}")
    if abs(nearest - Decimal(value)) <= Decimal(slack):
        return float(nearest)
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), how))


def epsilon_text(epsilon: float) -> str:
    """An upper bound on epsilon, in four digits.

    >>> epsilon_text(0.87243), epsilon_text(1.0000000000000042), epsilon_text(0.0), epsilon_text(math.inf)
    ('0.8725', '1', '0', 'inf')
    """
    return f"{rounded_up(epsilon, SHOWN_DIGITS):.4g}"


def least_text(value: float) -> str:
    """A lower bound, or what is left of something, in four digits.

    >>> least_text(1.23459), least_text(0.0)
    ('1.234', '0')
    """
    return f"{rounded_down(value, SHOWN_DIGITS):.4g}"


def point_text(epsilon: str, delta: float) -> str:
    """A point of a privacy curve, as every text names it.

    >>> point_text(epsilon_text(1.0), 1e-6), point_text(epsilon_text(0.5), 0.0)
    ('epsilon 1 at delta 1e-06', 'epsilon 0.5 at delta 0')
    """
    return f"epsilon {epsilon} at delta {rounded_up(delta, STORED_DIGITS):g}"


def bound_text(value: float, *, times: int = 1) -> str:
    """An upper bound in three digits, more only before the point; the exact one is in the record.

    >>> bound_text(0.0327053), bound_text(85.75), bound_text(1234.01), bound_text(0.07, times=100), bound_text(0)
    ('0.0328', '85.8', '1235', '7', '0')
    """
    exact = times * Decimal(repr(float(value)))  # as it is written: 0.02 is not a little more than 0.02
    if not exact:
        return "0"
    last = exact.adjusted() - 2
    shown = exact.quantize(Decimal(1).scaleb(last if last > 12 else min(last, 0)), ROUND_CEILING)
    return f"{float(shown):.15g}"


def up_to(probability: float) -> float:
    """An upper bound on a probability, to a tenth of a per cent.

    >>> up_to(0.54701)
    0.548
    """
    return min(1.0, math.ceil(1000 * probability - 1e-9) / 1000)


def rate_text(rate: float) -> str:
    """An upper bound on a rate, in four places behind the point.

    >>> rate_text(0.01234001), rate_text(1.0)
    ('0.0124', '1.0000')
    """
    return f"{min(1.0, math.ceil(1e4 * rate * (1 - _SLACK)) / 1e4):.4f}"


def least_rate_text(rate: float) -> str:
    """A lower bound on a rate, in four places behind the point.

    >>> least_rate_text(0.01239)
    '0.0123'
    """
    return f"{math.floor(1e4 * rate * (1 + _SLACK)) / 1e4:.4f}"


def confidence_text(confidence: float) -> str:
    """A confidence that is not exceeded: 1 is said of what is certain, and of nothing else.

    >>> confidence_text(0.95), confidence_text(0.9449999999999999), confidence_text(0.99999999), confidence_text(1.0)
    ('0.95', '0.945', '0.999999', '1')
    """
    if confidence >= 1:
        return "1"
    return f"{min(rounded_down(confidence, STORED_DIGITS), 1 - 1e-6):.6g}"


def confidence_percent(confidence: float) -> str:
    """The same in per cent.

    >>> confidence_percent(0.945), confidence_percent(0.999)
    ('94.5', '99.9')
    """
    return f"{100 * float(confidence_text(confidence)):.6g}"


def odds_text(failure: float) -> str:
    """A small probability as a frequency.

    >>> odds_text(1e-6)
    'one time in 1,000,000'
    """
    return f"one time in {math.floor(1 / failure * (1 + _SLACK)):,}"


def count_text(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it is one.

    >>> count_text(1, "group"), count_text(7164, "query"), count_text(0, "value")
    ('1 group', '7,164 queries', '0 values')
    """
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeou" else f"{noun}s"
    return f"{number:,} {plural}"
