"""Numbers in JSON: fractions are stored as text, so that no digit is lost."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def stored_number(value: Any) -> Any:
    """A parameter as JSON holds it: fractions as text, so that nothing is lost."""
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else value


def number_of_stored(value: Any) -> Any:
    """The inverse of `stored_number`."""
    return Fraction(value) if isinstance(value, str) and "/" in value else value
