"""The kinds of column a schema can declare, and the finite cells that counts are taken over.

Everything here is public: it is declared before the data are seen. What lies outside a declaration
is clipped or sent to a declared category, so that no value can raise an error (an error is an output).

A kind of your own is a class below `Numeric` or `Categorical` with a `kind` of its own. It may define `read`, which
gives what stands for one stored value; what it gives is then clipped or coded as the declaration says.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

from holdfast.errors import ParameterError, require
from holdfast.extensions import Registry

DEFAULT_BINS = 10
MOST_BINS = 100_000
#: An integer column with at most this many values has one cell per value unless bins are declared.
ONE_CELL_PER_VALUE = 100
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NULL_NUMERIC = ("low", "high", "midpoint", "category")
Reading = Callable[[Any, float, str | None], float | str | None]
"""(self, number, text) -> what stands for a stored value; as a number it may be NaN, as a text None."""


def _check_text(parameter: str, text: object) -> None:
    """Names and categories are non-empty texts that every engine and file format can hold."""
    good = isinstance(text, str) and "\0" not in text
    if isinstance(text, str) and good:
        good = not any(0xD800 <= ord(letter) <= 0xDFFF for letter in text)
    require(good, parameter, text, "a text without NUL characters and lone surrogates")


def _check_name(name: object) -> None:
    _check_text("name", name)
    require(name != "", "name", name, "a non-empty text")


@dataclass(frozen=True)
class Numeric:
    """A number known to matter only between two declared bounds; values outside are clipped to them.

    `bins` are the cells of counts: a number of equal-width bins, or the edges themselves (first `low`,
    last `high`). Cells are half-open on the right, the last one closed. Without `bins`, an integer column
    of at most 100 values has one cell per value, and any other has 10 bins.

    `integer=True` rounds to the nearest whole number (halves go up). `null` says what a missing value
    (null, NaN, or a text that is no number) becomes: `"low"`, `"high"`, `"midpoint"`, a number within the
    bounds, or `"category"`: a cell of its own in counts, an indicator in encoded rows.

    >>> Numeric("age", 17, 90, bins=[17, 30, 65, 90]).labels
    ('[17, 30)', '[30, 65)', '[65, 90]')
    >>> Numeric("children", 0, 3, integer=True, null="category").labels
    ('0', '1', '2', '3', '(missing)')
    """

    kind: ClassVar[str] = "numeric"
    read: ClassVar[Reading | None] = None
    name: str
    low: float
    high: float
    bins: int | Sequence[float] | None = None
    integer: bool = False
    null: str | float = "midpoint"
    taken_from_data: bool = False

    def __post_init__(self) -> None:
        _check_name(self.name)
        for parameter in ("low", "high"):
            bound = getattr(self, parameter)
            require(_is_finite(bound), parameter, bound, "a finite number")
            object.__setattr__(self, parameter, float(bound) + 0.0)  # + 0.0 turns -0.0 into 0.0
        require(self.low < self.high, "low", self.low, f"< high={self.high} in column {self.name!r}")
        require(math.isfinite(self.high - self.low), "high", self.high, "such that high - low is finite")
        for flag in ("integer", "taken_from_data"):
            require(isinstance(getattr(self, flag), bool), flag, getattr(self, flag), "true or false")
        if self.integer:
            whole = self.low.is_integer() and self.high.is_integer() and max(-self.low, self.high) <= 2.0**50
            require(
                whole, "low", self.low, f"whole, like high={self.high}, and below 2**50 when integer=True"
            )
        self._check_bins()
        if _is_number(self.null):
            require(_is_finite(self.null), "null", self.null, "a finite number")
            object.__setattr__(self, "null", float(self.null) + 0.0)
            inside = self.low <= float(self.null) <= self.high
            require(inside, "null", self.null, f"within [{self.low}, {self.high}]")
            require(
                not self.integer or float(self.null).is_integer(),
                "null",
                self.null,
                "whole when integer=True",
            )
        else:
            require(self.null in _NULL_NUMERIC, "null", self.null, f"a number or one of {_NULL_NUMERIC}")

    def _check_bins(self) -> None:
        asked: Any = self.bins
        if asked is None:
            return
        if isinstance(asked, numbers.Integral):
            good = asked is not True and 1 <= int(asked) <= MOST_BINS
            require(good, "bins", asked, f"a whole number from 1 to {MOST_BINS}, or edges")
            object.__setattr__(self, "bins", int(asked))
            inner = self.edges
            rising = all(a < b for a, b in pairwise(inner))
            require(rising, "bins", self.bins, "few enough for the edges to differ in float64")
            return
        edges = () if isinstance(asked, str) else tuple(asked)
        good = all(_is_finite(edge) for edge in edges) and 2 <= len(edges) <= MOST_BINS + 1
        require(good, "bins", self.bins, "a whole number, or at least two finite edges")
        edges = tuple(float(edge) + 0.0 for edge in edges)
        rising = all(a < b for a, b in pairwise(edges))
        ends = rising and edges[0] == self.low and edges[-1] == self.high
        require(ends, "bins", self.bins, f"edges rising from low={self.low} to high={self.high}")
        object.__setattr__(self, "bins", edges)

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The borders of the cells: cell i is [edges[i], edges[i+1]), the last one closed."""
        if isinstance(self.bins, tuple):
            return self.bins
        width = self.high - self.low
        if self.bins is None and self.integer and width < ONE_CELL_PER_VALUE:
            return tuple(self.low + step for step in range(int(width) + 2))
        bins = DEFAULT_BINS if self.bins is None else int(self.bins)  # type: ignore[arg-type]
        return (*(self.low + width * (step / bins) for step in range(bins)), self.high)

    @property
    def has_null_cell(self) -> bool:
        """Whether missing values have a cell of their own, the last one."""
        return self.null == "category"

    @property
    def cells(self) -> int:
        """How many cells a count of this column has."""
        return len(self.edges) - 1 + self.has_null_cell

    @property
    def fill(self) -> float:
        """The number that stands for a missing value."""
        if isinstance(self.null, float):
            return self.null
        middle = self.low + (self.high - self.low) / 2
        middle = math.floor(middle + 0.5) if self.integer else middle
        return {"low": self.low, "high": self.high}.get(str(self.null), float(middle))

    @property
    def _one_cell_per_value(self) -> bool:
        return self.edges[-1] > self.high

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The cells in words, in order."""
        edges = [f"{edge:.17g}" if float(f"{edge:g}") != edge else f"{edge:g}" for edge in self.edges]
        if self._one_cell_per_value:
            words = edges[:-1]
        else:
            words = [f"[{a}, {b})" for a, b in pairwise(edges)]
            words[-1] = words[-1][:-1] + "]"
        return (*words, "(missing)") if self.has_null_cell else tuple(words)

    @cached_property
    def midpoints(self) -> tuple[float, ...]:
        """One number for each cell: its middle (the value itself where a cell is one value)."""
        pairs = pairwise(self.edges)
        middles = [a if self._one_cell_per_value else a + (b - a) / 2 for a, b in pairs]
        return (*middles, self.fill) if self.has_null_cell else tuple(middles)

    def to_dict(self) -> dict[str, Any]:
        """The declaration as plain values, for files."""
        record: dict[str, Any] = {"name": self.name, "kind": self.kind, "low": self.low, "high": self.high}
        if self.bins is not None:
            record["bins"] = list(self.bins) if isinstance(self.bins, tuple) else self.bins
        return record | {"integer": self.integer, "null": self.null} | _mark(self.taken_from_data)

    def describe(self) -> str:
        """The declaration in words."""
        missing = {"category": "its own cell"}.get(str(self.null), f"{self.fill:g}")
        whole = ", whole numbers" if self.integer else ""
        bounds = f"number in [{self.low:g}, {self.high:g}]{whole}"
        return f"{self.name}: {bounds}, {self.cells} cells; missing -> {missing}"


@dataclass(frozen=True)
class Categorical:
    """One of a declared list of categories, compared as text.

    `other` names where a value outside the list goes: one of the categories, or a new name, which adds a
    cell. Without it, such a value counts as the **last** category. `null` names where a missing value goes,
    in the same way; without it, it goes where other values go.

    Whole numbers and truth values match the categories `"1"`, `"2"`, ... and `"true"`, `"false"`;
    dates match `"2024-01-31"`.

    >>> Categorical("sex", ["F", "M"]).cells
    2
    >>> Categorical("work", ["state", "private"], other="(other)", null="(missing)").labels
    ('state', 'private', '(other)', '(missing)')
    """

    kind: ClassVar[str] = "categorical"
    read: ClassVar[Reading | None] = None
    name: str
    categories: Sequence[str | int | bool]
    other: str | None = None
    null: str | None = None
    taken_from_data: bool = False

    def __post_init__(self) -> None:
        _check_name(self.name)
        listed = isinstance(self.categories, Sequence) and not isinstance(self.categories, str | bytes)
        require(listed, "categories", self.categories, "a list of texts", f"see column {self.name!r}")
        categories = tuple(_category_text(category) for category in self.categories)
        require(len(categories) > 0, "categories", list(categories), "non-empty", f"see column {self.name!r}")
        for category in categories:
            _check_text("category", category)
        if len(set(categories)) < len(categories):
            raise ParameterError(
                f"categories of column {self.name!r} must differ as text, got {len(categories)} of which "
                f"{len(set(categories))} differ; declare each one once"
            )
        object.__setattr__(self, "categories", categories)
        for parameter in ("other", "null"):
            if getattr(self, parameter) is not None:
                _check_text(parameter, getattr(self, parameter))
        flag = self.taken_from_data
        require(isinstance(flag, bool), "taken_from_data", flag, "true or false")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """All cells in order: the categories, then `other` and `null` where they are new names."""
        names = [str(category) for category in self.categories]
        for extra in (self.other, self.null):
            if extra is not None and extra not in names:
                names.append(extra)
        return tuple(names)

    @cached_property
    def values(self) -> tuple[str | int | bool, ...]:
        """All cells as data hold them: whole numbers or truth values where every label is one, else texts.

        >>> Categorical("ill", [0, 1]).values, Categorical("ill", ["no", "yes"]).values
        ((0, 1), ('no', 'yes'))
        """
        return typed_labels(self.labels)

    @property
    def cells(self) -> int:
        """How many cells a count of this column has."""
        return len(self.labels)

    @property
    def other_code(self) -> int:
        """The cell of a value that is not in the list."""
        return len(self.categories) - 1 if self.other is None else self.labels.index(self.other)

    @property
    def null_code(self) -> int:
        """The cell of a missing value."""
        return self.other_code if self.null is None else self.labels.index(self.null)

    def to_dict(self) -> dict[str, Any]:
        """The declaration as plain values, for files."""
        record: dict[str, Any] = {"name": self.name, "kind": self.kind, "categories": list(self.categories)}
        record |= {key: getattr(self, key) for key in ("other", "null") if getattr(self, key) is not None}
        return record | _mark(self.taken_from_data)

    def describe(self) -> str:
        """The declaration in words."""
        return (
            f"{self.name}: one of {len(self.categories)} categories, {self.cells} cells; "
            f"anything else -> {self.labels[self.other_code]!r}, missing -> {self.labels[self.null_code]!r}"
        )


@dataclass(frozen=True)
class Identifier:
    """A column that says whose row it is. It may order and group rows; it is never encoded or released.

    >>> Identifier("patient").describe()
    'patient: identifier, never encoded or released'
    """

    kind: ClassVar[str] = "identifier"
    name: str
    taken_from_data: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_name(self.name)

    def to_dict(self) -> dict[str, Any]:
        """The declaration as plain values, for files."""
        return {"name": self.name, "kind": self.kind}

    def describe(self) -> str:
        """The declaration in words."""
        return f"{self.name}: identifier, never encoded or released"


Column = Numeric | Categorical | Identifier
#: Column kinds by their name in files.
KINDS: dict[str, type[Numeric] | type[Categorical] | type[Identifier]] = {
    column.kind: column for column in (Numeric, Categorical, Identifier)
}
REGISTRY: Registry[Any] = Registry(
    group="holdfast.columns", noun="column kind", own=tuple(KINDS.values()), kind=(Numeric, Categorical),
    classes=True, label="kind", promise="reads each row by itself",
)  # fmt: skip


def typed_labels(labels: Sequence[str]) -> tuple[str | int | bool, ...]:
    """Labels as the values that they are written for: all whole numbers, both truth values, or else texts.

    >>> typed_labels(["3", "-1"]), typed_labels(["true", "false"]), typed_labels(["1", "01"])
    ((3, -1), (True, False), ('1', '01'))
    """
    if all(_WHOLE.fullmatch(label) for label in labels):
        return tuple(int(label) for label in labels)
    if set(labels) == {"true", "false"}:
        return tuple(label == "true" for label in labels)
    return tuple(labels)


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_finite(value: object) -> bool:
    """Whether it is a number that a double can hold; a whole number of a file may have hundreds of digits."""
    try:
        return _is_number(value) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def _category_text(category: object) -> str:
    """The text that data are compared with.

    >>> _category_text(True), _category_text(3)
    ('true', '3')
    """
    if isinstance(category, bool):
        return "true" if category else "false"
    good = isinstance(category, str | numbers.Integral)
    require(good, "category", category, "a text, a whole number or a truth value")
    return str(category)


def _mark(taken_from_data: bool) -> dict[str, Any]:
    return {"taken_from_data": True} if taken_from_data else {}
