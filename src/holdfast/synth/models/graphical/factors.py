"""Joint tables as plain arrays whose axes are columns: put into the order of another table, and summed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = tuple[str, ...]
#: Products over fewer cells than this are taken as they come.
SMALL_CELLS = 2**15


def spread(values: Floats, columns: Sequence[str], onto: Sequence[str]) -> Floats:
    """A view with one axis per column of `onto`, of length 1 where the table has no such column.

    >>> spread(np.ones((2, 3)), ("b", "a"), ("a", "c", "b")).shape
    (3, 1, 2)
    """
    place = {name: axis for axis, name in enumerate(columns)}
    moved = values.transpose([place[name] for name in onto if name in place])
    return moved.reshape([values.shape[place[name]] if name in place else 1 for name in onto])


def sum_onto(values: Floats, columns: Sequence[str], onto: Sequence[str]) -> Floats:
    """The marginal table of some of the columns, in their order.

    >>> sum_onto(np.ones((2, 3)), ("a", "b"), ("b",)).tolist()
    [2.0, 2.0, 2.0]
    """
    gone = tuple(axis for axis, name in enumerate(columns) if name not in onto)
    left = [name for name in columns if name in onto]
    summed = values.sum(axis=gone) if gone else values
    return summed.transpose([left.index(name) for name in onto])


def product(tables: Sequence[tuple[Columns, Floats]], keep: Sequence[str]) -> Floats:
    """The product of tables, summed over every column that is not kept: one step of variable elimination.

    >>> a, b = np.array([[1.0, 2.0]]), np.array([3.0, 4.0])
    >>> product([(("x", "y"), a), (("y",), b)], ("x",)).tolist()
    [11.0]
    """
    number = {
        name: place for place, name in enumerate(dict.fromkeys(n for names, _ in tables for n in names))
    }
    operands: list[Any] = []
    for names, values in tables:
        operands += [values, [number[name] for name in names]]
    if len(tables) == 1 and set(keep) == set(tables[0][0]):
        return sum_onto(tables[0][1], tables[0][0], keep)
    # A search for the best order costs more than a small product itself.
    sizes = {name: size for names, values in tables for name, size in zip(names, values.shape, strict=True)}
    order: Any = "greedy" if math.prod(sizes.values()) > SMALL_CELLS else False
    return np.asarray(np.einsum(*operands, [number[name] for name in keep], optimize=order))


def shape_of(columns: Sequence[str], domain: Mapping[str, int]) -> tuple[int, ...]:
    """The number of cells of each column."""
    return tuple(domain[name] for name in columns)
