"""The kinds of column a schema can declare, and the finite cells that counts are taken over.

Everything here is public: it is declared before the data are seen. What lies outside a declaration
is clipped or sent to a declared category, so that no value can raise an error (an error is an output).

Dates and hierarchies are kinds below these two, in files of their own; `kinds` lists them all. A kind of your
own is a class below `Numeric` or `Categorical` with a `kind` of its own. It may define `read`, which gives what
stands for one stored value; what it gives is then clipped or coded as the declaration says.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

from holdfast._arguments import checked
from holdfast.data._schema.amounts import form_of
from holdfast.data._schema.bins import check_bins, edge_words, geometric_edges, is_finite, is_real
from holdfast.data._schema.spelling import (
    check_spellings,
    check_type,
    checked_aliases,
    checked_markers,
    normalise_text,
)
from holdfast.errors import ParameterError, require

DEFAULT_BINS = 10
#: An integer column with at most this many values has one cell per value unless bins are declared.
ONE_CELL_PER_VALUE = 100
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NUL_OR_SURROGATE = re.compile("[\\0\\ud800-\\udfff]")
_NULL_NUMERIC = ("low", "high", "midpoint", "category")
_SPACINGS = ("equal", "log")
Reading = Callable[[Any, float, str | None], float | str | None]
"""(self, number, text) -> what stands for a stored value; as a number it may be NaN, as a text None."""


def check_text(parameter: str, text: object) -> None:
    """Names and categories are non-empty texts that every engine and file format can hold."""
    good = isinstance(text, str) and not _NUL_OR_SURROGATE.search(text)
    require(good, parameter, text, "a text without NUL characters and lone surrogates")


def check_name(name: object) -> None:
    """Column names are not empty."""
    check_text("name", name)
    require(name != "", "name", name, "a non-empty text")


@checked
@dataclass(frozen=True)
class Numeric:
    """A number known to matter only between two declared bounds; values outside are clipped to them.

    Parameters
    ----------
    name : str
        The name of the column.
    low, high : float
        The bounds; they are public and must not be read from the data.
    bins : int or sequence of float, optional
        The cells of counts: a number of bins of equal width, or the edges themselves (first `low`, last
        `high`). Cells are half-open on the right, the last one closed. Without `bins`, an integer column of at
        most 100 values has one cell for each, and any other has 10 bins.
    integer : bool
        Whether values are rounded to the nearest whole number (halves go up).
    null : str or float
        What a missing value (null, NaN, or a text that is no number) becomes: `"low"`, `"high"`, `"midpoint"`,
        a number within the bounds, or `"category"`: a cell of its own in counts, an indicator in encoded rows.
    taken_from_data : bool
        Whether the bounds were read from the data, as in a draft: then they are carried as an assumption.
    nulls : sequence of float or str
        Values that mean a missing one, such as -999.
    spacing : {'equal', 'log'}
        `"log"` makes bins of equal ratio, for amounts: between `low` and `high` if both are above 0, else from
        `smallest` on, with one cell for all that is smaller.
    smallest : float, optional
        The least amount that logarithmic bins tell apart.
    decimals : int, optional
        With how many digits behind the point synthetic values are written.
    dtype : str, optional
        How synthetic values are stored: an Arrow type such as `"int8"`.
    written_as : str, optional
        The number 1234.5 as a file writes it in texts, such as `"$1,234.50"` or `"1.234,50 EUR"`; numbers come
        back as plain ones.

    Examples
    --------
    >>> Numeric("price", 0, 1000, bins=4, spacing="log", smallest=1).labels
    ('[0, 1)', '[1, 10)', '[10, 100)', '[100, 1000]')
    >>> Numeric("age", 17, 90, bins=[17, 30, 65, 90]).labels
    ('[17, 30)', '[30, 65)', '[65, 90]')
    >>> Numeric("children", 0, 3, integer=True, null="category").labels
    ('0', '1', '2', '3', '(missing)')
    """

    kind: ClassVar[str] = "numeric"
    read: ClassVar[Reading | None] = None
    tried_with: ClassVar[Sequence[Mapping[str, Any]]] = ()
    """Of a kind in a file of its own: declarations, but for the name, on which its contract is tried."""
    name: str
    low: float
    high: float
    bins: int | Sequence[float] | None = None
    integer: bool = False
    null: str | float = "midpoint"
    taken_from_data: bool = False
    nulls: Sequence[float | str] = ()
    spacing: str = "equal"
    smallest: float | None = None
    decimals: int | None = None
    dtype: str | None = None
    written_as: str | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.written_as is not None:
            form_of(self.written_as)
        for parameter in ("low", "high"):
            bound = getattr(self, parameter)
            require(is_finite(bound), parameter, bound, "a finite number")
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
        if hasattr(self.bins, "tolist") and getattr(self.bins, "ndim", 0) > 0:
            object.__setattr__(self, "bins", tuple(self.bins.tolist()))  # type: ignore[union-attr]  # an array
        if (self.bins, self.spacing, self.smallest) != (None, "equal", None):
            check_bins(self)
        if len(self.nulls):
            object.__setattr__(self, "nulls", checked_markers(self.nulls, numbers=True))
        digits = self.decimals is None or (type(self.decimals) is int and 0 <= self.decimals <= 9)
        require(digits, "decimals", self.decimals, "a whole number from 0 to 9")
        if self.dtype is not None:
            check_type(self.dtype)
        if is_real(self.null):
            require(is_finite(self.null), "null", self.null, "a finite number")
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

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The borders of the cells: cell i is [edges[i], edges[i+1]), the last one closed."""
        if isinstance(self.bins, tuple):
            return self.bins
        width = self.high - self.low
        if self.spacing == "log":
            bins_or_edges: Any = self.bins or DEFAULT_BINS
            return geometric_edges(self.low, self.high, self.smallest, bins_or_edges)
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
    def declares_null(self) -> bool:
        """Whether somebody said which number stands for a missing one; `"midpoint"` is only where features are put."""
        return isinstance(self.null, float) or self.null in ("low", "high")

    @property
    def _one_cell_per_value(self) -> bool:
        return self.edges[-1] > self.high

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The cells in words, in order."""
        edges = [f"{edge:g}" for edge in self.edges]
        if any("e" in word or float(word) != edge for word, edge in zip(edges, self.edges, strict=True)):
            edges = edge_words(self.edges)
        if self._one_cell_per_value:
            labels = edges[:-1]
        else:
            labels = [f"[{a}, {b})" for a, b in pairwise(edges)]
            labels[-1] = labels[-1][:-1] + "]"
        return (*labels, "(missing)") if self.has_null_cell else tuple(labels)

    def stored_value(self, number: float) -> Any:
        """A number within the bounds as data hold it."""
        return number

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
        record |= {"integer": self.integer, "null": self.null} | _mark(self.taken_from_data)
        return record | declared_options(
            self, ("nulls", "spacing", "smallest", "decimals", "dtype", "written_as")
        )

    def describe(self) -> str:
        """The declaration in words."""
        missing = {"category": "its own cell"}.get(str(self.null), f"{self.fill:g}")
        whole = ", whole numbers" if self.integer else ", logarithmic" if self.spacing == "log" else ""
        bounds = f"number in [{self.low:g}, {self.high:g}]{whole}"
        return f"{self.name}: {bounds}, {self.cells} cells; missing -> {missing}"


@checked
@dataclass(frozen=True)
class Categorical:
    """One of a declared list of categories, compared as text.

    Whole numbers and truth values match the categories `"1"`, `"2"`, ... and `"true"`, `"false"`; where all
    categories are such, texts of a file that write them otherwise, `1.0` and `True`, match them as well.
    Dates match `"2024-01-31"`.

    Parameters
    ----------
    name : str
        The name of the column.
    categories : sequence of str, int or bool
        The declared categories; they are public and must not be read from the data.
    other : str, optional
        Where a value outside the list goes: one of the categories, or a new name, which adds a cell. Without
        it, such a value counts as the **last** category.
    null : str, optional
        Where a missing value goes, in the same way; without it, it goes where other values go.
    taken_from_data : bool
        Whether the list was read from the data, as in a draft: then it is carried as an assumption.
    aliases : mapping or sequence of pairs
        Other texts for a category.
    trim : bool
        Whether blanks around a text are ignored.
    fold : bool
        Whether the case of letters is ignored.
    nulls : sequence of str or int
        Texts that mean a missing value.
    ordered : bool
        Whether the categories are listed in their order.
    dtype : str, optional
        How synthetic values are stored: an Arrow type, or `"dictionary"` for a categorical.

    Examples
    --------
    >>> Categorical("sex", ["F", "M"]).cells
    2
    >>> Categorical("paid", ["no", "yes"], aliases={"Y": "yes"}, nulls=["?"], fold=True).spellings
    {'no': 0, 'yes': 1, 'y': 1, '?': 1}
    >>> Categorical("work", ["state", "private"], other="(other)", null="(missing)").labels
    ('state', 'private', '(other)', '(missing)')
    """

    kind: ClassVar[str] = "categorical"
    read: ClassVar[Reading | None] = None
    tried_with: ClassVar[Sequence[Mapping[str, Any]]] = ()
    """Of a kind in a file of its own: declarations, but for the name, on which its contract is tried."""
    name: str
    categories: Sequence[str | int | bool]
    other: str | None = None
    null: str | None = None
    taken_from_data: bool = False
    aliases: Mapping[str, str] | Sequence[tuple[str, str]] = ()
    trim: bool = False
    fold: bool = False
    nulls: Sequence[str | int] = ()
    ordered: bool = False
    dtype: str | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        listed = isinstance(self.categories, Sequence) and not isinstance(self.categories, str | bytes)
        require(listed, "categories", self.categories, "a list of texts", f"see column {self.name!r}")
        categories = tuple(_category_text(category) for category in self.categories)
        require(len(categories) > 0, "categories", list(categories), "non-empty", f"see column {self.name!r}")
        for category in categories:
            check_text("category", category)
        if len(set(categories)) < len(categories):
            raise ParameterError(
                f"categories of column {self.name!r} must differ as text, got {len(categories)} of which "
                f"{len(set(categories))} differ; declare each one once"
            )
        object.__setattr__(self, "categories", categories)
        for parameter in ("other", "null"):
            if getattr(self, parameter) is not None:
                check_text(parameter, getattr(self, parameter))
        for parameter in ("taken_from_data", "trim", "fold", "ordered"):
            flag = getattr(self, parameter)
            require(isinstance(flag, bool), parameter, flag, "true or false")
        if self.dtype is not None:
            check_type(self.dtype)
        if len(self.nulls):
            object.__setattr__(self, "nulls", checked_markers(self.nulls, numbers=False))
        if len(self.aliases):
            object.__setattr__(self, "aliases", checked_aliases(self.name, self.aliases, self.labels))
        if self.trim or self.fold or self.nulls or self.aliases:
            check_spellings(self)

    def meanings(self) -> list[tuple[str, int]]:
        """The declared texts and their cells: categories, aliases, null markers."""
        meanings = [
            (str(category), code) for category, code in zip(self.categories, self._codes(), strict=True)
        ]
        place = dict(zip(self.labels, range(self.cells), strict=True))
        meanings += [(alias, place[meant]) for alias, meant in dict(self.aliases).items()]
        # The markers go where missing values go; a marker that is a category as well would be two things.
        return meanings + [
            (marker, self.null_code if self.null_code >= len(self.declared_labels) else -1)
            for marker in map(str, self.nulls)
        ]

    def normal_text(self, text: str) -> str:
        """The text as it is compared: without blanks around it and in small letters, where that is declared."""
        return normalise_text(text, trim=self.trim, fold=self.fold) if self.trim or self.fold else text

    @cached_property
    def spellings(self) -> dict[str, int]:
        """Every text that stands for something, as it is compared, and its cell; other writings of numbers, too."""
        spellings = {
            self.normal_text(text): self.null_code if code < 0 else code for text, code in self.meanings()
        }
        if type(self) is Categorical:  # the numerals of a hierarchy are codes
            for writing, category in other_writings(self.declared_labels):
                spellings.setdefault(self.normal_text(writing), spellings[self.normal_text(category)])
        return spellings

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """The labels of the cells that are declared one by one: all but those for other and missing values."""
        return tuple(str(category) for category in self.categories)

    def _codes(self) -> Sequence[int]:
        """The cell of each category."""
        return range(len(self.categories))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """All cells in order: the categories, then `other` and `null` where they are new names."""
        names = list(self.declared_labels)
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
        return len(self.declared_labels) - 1 if self.other is None else self.labels.index(self.other)

    @property
    def null_code(self) -> int:
        """The cell of a missing value."""
        return self.other_code if self.null is None else self.labels.index(self.null)

    @cached_property
    def exhaustive_form(self) -> tuple[Categorical, tuple[int, ...], tuple[int, ...]]:
        """The column with a cell of its own for each value that it declares none for.

        Then the cell here of each of those cells, and which of them are for what is declared nowhere: values
        outside the list where there is no `other`, missing ones where there is no `null`.

        >>> wide, narrow, nowhere = Categorical("paid", ["no", "yes"], other="(other)").exhaustive_form
        >>> wide.cells, narrow, nowhere
        (4, (0, 1, 2, 2), (3,))
        """
        names: dict[str, str] = {}
        for place in ("other", "null"):
            if getattr(self, place) is None:
                names[place] = _unused_name(f"(no {place})", self)
        wide = replace(self, **names)  # type: ignore[arg-type]  # the two names of cells, which are texts
        known = {label: code for code, label in enumerate(self.labels)}
        known |= {names[place]: getattr(self, f"{place}_code") for place in names}
        narrow = tuple(known[label] for label in wide.labels)
        return wide, narrow, tuple(wide.labels.index(name) for name in names.values())

    def to_dict(self) -> dict[str, Any]:
        """The declaration as plain values, for files."""
        record: dict[str, Any] = {"name": self.name, "kind": self.kind, "categories": list(self.categories)}
        record |= {key: getattr(self, key) for key in ("other", "null") if getattr(self, key) is not None}
        record |= _mark(self.taken_from_data)
        return record | declared_options(self, ("aliases", "trim", "fold", "nulls", "ordered", "dtype"))

    def describe(self) -> str:
        """The declaration in words."""
        ordered = " in order" if self.ordered else ""
        return (
            f"{self.name}: one of {len(self.categories)} categories{ordered}, {self.cells} cells; "
            f"anything else -> {self.labels[self.other_code]!r}, missing -> {self.labels[self.null_code]!r}"
        )


def _unused_name(name: str, column: Categorical) -> str:
    """The name, longer where the column uses it already."""
    while name in column.labels or column.normal_text(name) in column.spellings:
        name += "_"
    return name


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


def other_writings(listed: Sequence[str]) -> list[tuple[str, str]]:
    """How programs write the same values into a text file, where all categories are whole numbers or truth values.

    >>> other_writings(["0", "1"]), other_writings(["1", "x"]), other_writings(["false", "true"])[:2]
    ([('0.0', '0'), ('1.0', '1')], [], [('False', 'false'), ('FALSE', 'false')])
    """
    if set(listed) == {"true", "false"}:
        return [(writing, text) for text in listed for writing in (text.title(), text.upper())]
    return [(f"{text}.0", text) for text in listed] if all(map(_WHOLE.fullmatch, listed)) else []


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


def declared_options(column: Any, names: Sequence[str]) -> dict[str, Any]:
    """Of these fields what was declared: a schema that declares none of them is written, and hashed, without them."""
    defaults = {field.name: field.default for field in fields(column)}
    options = {name: getattr(column, name) for name in names if getattr(column, name) != defaults[name]}
    return {
        name: dict(value) if name == "aliases" else list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
    }


def _mark(taken_from_data: bool) -> dict[str, Any]:
    return {"taken_from_data": True} if taken_from_data else {}
