"""FixedNumbers: a metaclass for objects whose parameters never change after they are made, as curves and mechanisms.

An array that a caller passes may change afterwards, and with it a promise that was already charged. So NumPy's numbers,
and arrays without a dimension, become Python's numbers before the constructor sees them.
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
    """Converts the numbers that a constructor gets to Python's, so that nobody else can change them.

    A class with a finite `LARGEST` refuses larger numbers: results of arithmetic that overflows cannot be trusted.
    """

    LARGEST: float = math.inf
    """The largest parameter; classes may declare a smaller one."""

    @property
    def __signature__(cls) -> Signature:
        """What the constructor takes, for `help` and `inspect.signature`."""
        kind: Any = cls
        if kind.__init__ is object.__init__:
            return Signature()
        constructor_signature = signature(kind.__init__)
        return constructor_signature.replace(
            parameters=[*constructor_signature.parameters.values()][1:], return_annotation=Signature.empty
        )

    if not TYPE_CHECKING:

        def __call__(cls, *positional, **named):
            """An object of numbers that nobody else holds."""
            positional = tuple(map(_python_number, positional))
            named = {name: _python_number(value) for name, value in named.items()}
            largest = cls.LARGEST
            parameters = [*(("parameter", value) for value in positional), *named.items()]
            for name, value in parameters if largest < math.inf else ():
                if isinstance(value, int | float | Fraction) and largest < abs(value) < math.inf:
                    raise ParameterError(
                        f"{name} must be at most {largest:g} in size, got a larger one for {cls.__name__}"
                    )
            try:
                return super().__call__(*positional, **named)
            except OverflowError:
                raise ParameterError(
                    f"the parameters of {cls.__name__} must be numbers that doubles can hold"
                ) from None


def _python_number(value: Any) -> Any:
    scalar = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if scalar else value
