"""Curves as files hold them: a kind, and its parameters as text where a float would lose digits."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from holdfast.errors import FormatError, HoldfastError

if TYPE_CHECKING:
    from holdfast.privacy.curves.curve import PrivacyCurve


def plain_curve(value: Any) -> Any:
    """A parameter as JSON holds it: fractions as text, so that nothing is lost."""
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else value


def number(value: Any) -> Any:
    """The inverse of `plain_curve`."""
    return Fraction(value) if isinstance(value, str) and "/" in value else value


def curve_from_json(data: Any) -> PrivacyCurve:
    """The curve that `to_json` wrote; `FormatError` for anything else."""
    from holdfast.privacy.curves import CURVES

    kinds = {cls.STORED_AS or cls.__name__: cls for cls in CURVES}
    if not isinstance(data, dict) or data.get("kind") not in kinds:
        raise FormatError("a privacy curve needs a known 'kind': " + ", ".join(kinds))
    try:
        return kinds[data["kind"]].from_json({name: value for name, value in data.items() if name != "kind"})
    except HoldfastError:
        raise
    except Exception as error:
        raise FormatError(f"the fields of a stored {data['kind']} do not make one") from error
