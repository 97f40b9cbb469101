"""Reading stored curves: a kind, and its parameters, as text where a float would lose digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import FormatError, HoldfastError, require

if TYPE_CHECKING:
    from holdfast.privacy._curves.curve import PrivacyCurve


def _require_shallow(data: Any, nested: int = 0, steps: int = 0) -> None:
    """Refuse a stored curve that takes too long to evaluate: a `GroupReplace` evaluates its curve 66 times."""
    steps += isinstance(data, dict) and data.get("kind") == "GroupReplace"
    require(nested <= 24 and steps <= 2, "nested", nested, "at most 24, and GroupReplace at most 2")
    for inner in data.values() if isinstance(data, dict) else data:
        if isinstance(inner, dict | list | tuple):
            _require_shallow(inner, nested + 1, steps)


def curve_from_json(data: Any) -> PrivacyCurve:
    """The curve that `to_json` wrote; `FormatError` for anything else."""
    from holdfast.privacy._curves import CURVES

    kinds = {cls.__name__: cls for cls in CURVES}
    if not isinstance(data, dict) or data.get("kind") not in kinds:
        raise FormatError("a privacy curve needs a known 'kind': " + ", ".join(kinds))
    _require_shallow(data)
    try:
        return kinds[data["kind"]].from_json({name: value for name, value in data.items() if name != "kind"})
    except HoldfastError:
        raise
    except Exception as error:
        raise FormatError(f"the fields of a stored {data['kind']} do not make one") from error
