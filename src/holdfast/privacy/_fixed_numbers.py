"""A metaclass for objects whose parameters are fixed when they are made: curves and mechanisms.

An array that a caller handed in may change afterwards, and with it a promise that was already charged. So NumPy's
numbers, and arrays of no dimension, become Python's before the constructor sees them.
"""

from __future__ import annotations

import math
from abc import ABCMeta
from fractions import Fraction
from inspect import Signature, signature
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.errors import ParameterError


class FixedNumbers(ABCMeta):
    """For objects whose numbers are fixed when they are made: an array that a caller handed in may change afterwards.

    Arrays without a dimension and NumPy's numbers become Python's, whatever the constructor does with them. A class
    with a finite `LARGEST` refuses numbers above it: where arithmetic overflows, nothing that is computed can be
    trusted.
    """

    LARGEST: float = math.inf
    """The largest parameter of a class that says no other."""

    @property
    def __signature__(cls) -> Signature:
        """What the constructor takes, for `help` and `inspect.signature`."""
        kind: Any = cls
        if kind.__init__ is object.__init__:
            return Signature()
        own = signature(kind.__init__)
        return own.replace(parameters=[*own.parameters.values()][1:], return_annotation=Signature.empty)

    if not TYPE_CHECKING:

        def __call__(cls, *given, **named):
            """An object of numbers that nobody else holds."""
            given = tuple(map(_python_number, given))
            named = {name: _python_number(value) for name, value in named.items()}
            largest = cls.LARGEST
            parameters = [*(("parameter", value) for value in given), *named.items()]
            for name, value in parameters if largest < math.inf else ():
                if isinstance(value, int | float | Fraction) and largest < abs(value) < math.inf:
                    raise ParameterError(
                        f"{name} must be at most {largest:g} in size, got a larger one for {cls.__name__}"
                    )
            try:
                return super().__call__(*given, **named)
            except OverflowError:
                raise ParameterError(
                    f"the parameters of {cls.__name__} must be numbers that doubles can hold"
                ) from None


def _python_number(value: Any) -> Any:
    scalar = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if scalar else value
