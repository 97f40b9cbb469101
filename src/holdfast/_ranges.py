"""Ranges that many parameters share: numbers, whole numbers, arrays, labels, paths, and one of a few values.

Each function raises a `ParameterError` that names the parameter, the value and the range. Of arrays it names no value.
"""

from __future__ import annotations

import math
import os
import typing
from collections.abc import Iterable
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._argument_kinds import (
    SCALAR_KINDS,
    alternatives_text,
    is_integral,
    is_list,
    is_real_number,
    refusal,
    type_text,
    value_text,
)
from holdfast.errors import ParameterError, require

MOST_DRAWS = 2**40
"""How many random numbers may be drawn at once, at most."""
LONGEST_FILE_NAME = 255
"""The most bytes of a file's name."""


def require_number(
    name: str, value: object, *, least: float = -math.inf, most: float = math.inf, way_out: str = ""
) -> None:
    """Refuse all but a number, not nan, between the two ends.

    >>> require_number("confidence", 1.5, least=0, most=1)
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: confidence must be between 0 and 1, got confidence=1.5
    """
    if not is_real_number(value):
        raise refusal(name, value, SCALAR_KINDS[float])
    number = typing.cast("float", value)
    if least > -math.inf and most < math.inf:
        require(least <= number <= most, name, value, f"between {least:g} and {most:g}", way_out)
    elif most < math.inf:
        require(number <= most, name, value, f"at most {most:g}", way_out)
    else:
        require(number >= least, name, value, f"at least {least:g}", way_out)


def require_whole(
    name: str, value: object, *, least: int = 0, most: int | None = None, way_out: str = ""
) -> None:
    """Refuse all but a whole number between the two ends.

    >>> require_whole("rows", 0, least=1)
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: rows must be a whole number of at least 1, got rows=0
    """
    if not is_integral(value):
        raise refusal(name, value, SCALAR_KINDS[int], "")
    number = typing.cast("int", value)
    if most is None:
        require(number >= least, name, value, f"a whole number of at least {least:,}", way_out)
    else:
        require(least <= number <= most, name, value, f"a whole number from {least:,} to {most:,}", way_out)


def require_numbers(name: str, value: object, *, dimensions: int | None = None) -> NDArray[np.float64]:
    """Numbers as an array of doubles; none of them is ever part of the message.

    >>> require_numbers("rows", [[1, 2], [3]])
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: rows must be numbers in an array or a list, got a list
    """
    numbers = None
    if (
        is_real_number(value)
        or isinstance(value, np.ndarray)
        or is_list(value)
        or hasattr(value, "__array__")
    ):
        try:
            array = np.asarray(value)
            is_text = array.dtype.kind in "USmMcV" or (
                array.dtype == object and any(map(_is_not_real, array.flat))
            )
            numbers = None if is_text else array.astype(np.float64)
        except (ValueError, TypeError, OverflowError):
            numbers = None
    if numbers is None:
        raise ParameterError(f"{name} must be numbers in an array or a list, got {type_text(value)}")
    if dimensions is not None and numbers.ndim != dimensions:
        raise ParameterError(f"{name} must have {dimensions} dimensions, got {numbers.ndim}")
    return numbers


def _is_not_real(value: object) -> bool:
    return not isinstance(value, Real)


def as_labels(name: str, value: object) -> NDArray[Any]:
    """Labels of any type as an array in one dimension."""
    try:
        labels = np.asarray(value)
    except ValueError:  # lists of several lengths
        labels = np.zeros((0, 0))
    if labels.ndim != 1:
        raise ParameterError(
            f"{name} must be a list or an array of labels, one for each row, got {type_text(value)}"
        )
    return labels


def require_place(name: str, path: str | os.PathLike[str]) -> None:
    """Refuse a path at which no file can be written: a folder, or a path in a folder that does not exist."""
    location = Path(path)
    if len(os.fsencode(location.name)) > LONGEST_FILE_NAME:
        raise ParameterError(
            f"{name} must have a file name of at most {LONGEST_FILE_NAME} bytes; choose a shorter one"
        )
    if location.is_dir():
        raise ParameterError(
            f"{name} must be a file, got {name}={str(location)!r}, which is a folder; add a file name"
        )
    if not location.parent.is_dir():
        raise ParameterError(
            f"{name} must lie in a folder that exists, got {name}={str(location)!r}; make the folder first"
        )


def require_one_of(name: str, value: object, options: Iterable[object], way_out: str = "") -> None:
    """Refuse all but one of a few values.

    >>> require_one_of("task", "regresion", ("classification", "regression"))
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: task must be 'classification' or 'regression', got task='regresion'
    """
    options = tuple(options)
    if not any(type(value) is type(option) and value == option for option in options):
        raise ParameterError(
            f"{name} must be {alternatives_text(options)}, got {name}={value_text(value)}"
            + (f"; {way_out}" if way_out else "")
        )
