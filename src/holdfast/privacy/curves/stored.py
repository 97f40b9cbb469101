"""Curves as files hold them: a kind, and its parameters as text where a float would lose digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import FormatError, HoldfastError

if TYPE_CHECKING:
    from holdfast.privacy.curves.curve import PrivacyCurve


_MOST_NESTED, _MOST_STEPS = 12, 2
"""Stored curves inside a curve, and steps to a neighbour's neighbour: each of the latter costs 34 times its curve."""


def _require_shallow(data: dict[str, Any]) -> None:
    """Refuse a stored curve whose evaluation would take for ever; looks without recursion."""
    level: list[tuple[Any, int, int]] = [(data, 1, 0)]
    while level:
        one, nested, steps = level.pop()
        if isinstance(one, dict):
            steps += one.get("kind") == "TwoSteps"
            if nested > _MOST_NESTED or steps > _MOST_STEPS:
                raise FormatError(
                    f"a stored curve holds at most {_MOST_NESTED} curves inside each other, {_MOST_STEPS} of them "
                    "for neighbours of neighbours"
                )
            level += [(part, nested + 1, steps) for part in one.values()]
        elif isinstance(one, list | tuple) and one and not isinstance(one[0], float):
            level += [(part, nested, steps) for part in one]


def curve_from_json(data: Any) -> PrivacyCurve:
    """The curve that `to_json` wrote; `FormatError` for anything else."""
    from holdfast.privacy.curves import CURVES

    kinds = {cls.STORED_AS or cls.__name__: cls for cls in CURVES}
    if not isinstance(data, dict) or data.get("kind") not in kinds:
        raise FormatError("a privacy curve needs a known 'kind': " + ", ".join(kinds))
    _require_shallow(data)
    try:
        return kinds[data["kind"]].from_json({name: value for name, value in data.items() if name != "kind"})
    except HoldfastError:
        raise
    except Exception as error:
        raise FormatError(f"the fields of a stored {data['kind']} do not make one") from error
