"""Mechanism: a law and its proof in one object, so that they cannot drift apart.

`OnGrid` is what integer noise on a declared grid shares: whole steps, and what rounding adds to the
sensitivity.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._argument_kinds import ArgumentKind, type_text
from holdfast._arguments import NUMBERS, checked
from holdfast._stored_fields import require_known, stored_fields
from holdfast.errors import AdjacencyError, ParameterError, require
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._fixed_numbers import FixedNumbers
from holdfast.privacy._grid import (
    difference,
    exact_sum,
    in_64_bits,
    multiples,
    nearest_steps,
    nearest_whole,
    whole_numbers,
)
from holdfast.privacy._rounding import Number, as_written
from holdfast.privacy._stored_numbers import number_of_stored, stored_number

Arithmetic = Literal["strict", "idealised"]


def _is_value(value: object) -> bool:
    numbers = isinstance(value, np.ndarray) and value.size > 0 and NUMBERS.accepts(value)
    return numbers or hasattr(value, "minimise") or hasattr(value, "draw")


Value = Annotated[Any, ArgumentKind(_is_value, "finite numbers in an array, or a risk", secret=True)]
"""What a mechanism is given: numbers, or a risk that draws or minimises."""


LARGEST_OUTPUT = 1e300
"""The largest output: no mechanism releases larger numbers."""


def _is_output(value: object) -> bool:
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        size: Any = abs(value)
        return bool(size <= LARGEST_OUTPUT)
    return _is_value(value)


Output = Annotated[Any, ArgumentKind(_is_output, "a finite number or an array of them", secret=True)]
"""What a mechanism gives: numbers in an array, or one number of a selection."""


@checked
@dataclass(frozen=True, kw_only=True)
class Mechanism(metaclass=FixedNumbers):
    """One noisy release: what it adds, what that proves, and how it is drawn.

    Law and proof stand in one object, so that they cannot drift apart; `Account.release` charges one and draws
    it.

    Parameters
    ----------
    adjacency : Adjacency, optional
        Under which neighbours the sensitivity was derived; an account of another adjacency refuses the
        mechanism.
    arithmetic : {'strict', 'idealised'}
        'strict' draws exactly, on a public grid; 'idealised' is floating point analysed as if it were real
        numbers, for steps inside training only.

    Formal guarantees
    -----------------
    * Neighbours: those in `admissible`; `require_adjacency` refuses others.
    * Privacy: `curve`, proved by `theorem` for values that are at most one sensitivity apart.
    * Public: every parameter, and what the class lists in `public`.
    * Assumed: that the declared sensitivity bounds how far one unit moves the value; nothing checks that.
    """

    adjacency: Adjacency | None = None
    arithmetic: Arithmetic = "strict"

    theorem: ClassVar[str]
    """The statement the curve rests on."""
    public: ClassVar[tuple[str, ...]] = ()
    """What the proof takes as public, besides the parameters."""
    admissible: ClassVar[frozenset[Adjacency]] = frozenset(Adjacency)
    """The neighbour relations for which the theorem is proved."""
    secret_sample: ClassVar[bool] = False
    """Whether the value comes from a sample whose coins the theorem needs to be secret."""

    @property
    def sampling_rate(self) -> float:
        """With which probability a row takes part; 1 where all do."""
        return 1.0

    @property
    def sample_size(self) -> int | None:
        """How many rows take part, where their number is fixed."""
        return None

    def __post_init__(self) -> None:
        if self.adjacency is not None:
            object.__setattr__(self, "adjacency", Adjacency.of(self.adjacency))
        require(
            self.arithmetic in ("strict", "idealised"),
            "arithmetic",
            self.arithmetic,
            "'strict' or 'idealised'",
        )
        for field in fields(self):
            _require_fixed(field.name, str(field.type), getattr(self, field.name))
        self.validate()
        if self.adjacency is not None:
            self.require_adjacency(self.adjacency)

    @abstractmethod
    def validate(self) -> None:
        """Refuse parameters outside their range."""

    @property
    @abstractmethod
    def curve(self) -> PrivacyCurve:
        """What one release proves."""

    def curve_of_uses(self, times: int) -> PrivacyCurve:
        """What so many `times` the release prove; under `replace` each may point in a direction of its own."""
        single = self.curve.either_way() if Adjacency.replace in self.admissible else self.curve
        return single.repeat(times)

    @abstractmethod
    def sample(self, value: Value, source: Source) -> Any:
        """Draw one release of `value` from this `source` of randomness; only an account calls this."""

    @abstractmethod
    def worst_pair(self) -> tuple[Any, Any]:
        """Two values, one sensitivity apart, that are as easy to tell apart as any: for refutations."""

    @abstractmethod
    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The declared law: P[the first number of a release of `value` is at most `at`], for each `at`.

        Written from the docstring's law, not from the sampler's code: the refutations compare the two.
        """

    @abstractmethod
    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """How far the `first` value is from the `second`, in units of the declared sensitivity: 1 is the bound.

        `at` is a release, for values that are functions and are compared where it lies; others do not need it.
        """

    @abstractmethod
    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """ln of how much likelier the whole release `output` is for the first value than for the second.

        By the declared law, as `cdf` is. Where a sample was drawn, it is the ratio given the sample.
        """

    @property
    def independent_coordinates(self) -> bool:
        """Whether the numbers of a release are drawn independently of each other; then `cdf` speaks of each of them."""
        return False

    def centre(self, value: Value, output: Output) -> Any:
        """The array around which `output`, a release of `value`, was drawn: what `cdf` takes in its place."""
        return value

    def probes(self) -> tuple[Any, ...]:
        """Values at which draws are compared with `cdf`; a vector longer than the pair's has equal entries."""
        return self.worst_pair()

    @classmethod
    @abstractmethod
    def examples(cls) -> tuple[Self, ...]:
        """Instances on which the contract suite and the refutations run."""

    def check(self, value: Any) -> Any:
        """The `value` as numbers, before anything is charged; only a shape is refused, since that is public."""
        return vector(value)

    def require_adjacency(self, adjacency: Adjacency) -> None:
        """Refuse an account whose `adjacency` is another than the proof's."""
        if adjacency not in self.admissible:
            names = ", ".join(sorted(a.value for a in self.admissible))
            raise AdjacencyError(
                f"{self.name} is proved for adjacency {names}, not for {adjacency.value!r}; "
                "open the account with one of these, or use privacy.to_replace on its curve"
            )
        if self.adjacency is not None and self.adjacency is not adjacency:
            raise AdjacencyError(
                f"{self.name} declares adjacency={self.adjacency.value!r} for its sensitivity, the account "
                f"has {adjacency.value!r}; derive the sensitivity for the account's adjacency"
            )

    @property
    def name(self) -> str:
        """The name under which ledgers store it."""
        return type(self).__name__

    def to_json(self) -> dict[str, Any]:
        """Every parameter that has a value, so that a better accountant can recompute the cost later."""
        return {"mechanism": self.name} | {
            f.name: _stored_field(getattr(self, f.name))
            for f in fields(self)
            if getattr(self, f.name) is not None
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The mechanism of the parameters in `data`, as `to_json` wrote them."""
        data = stored_fields(cls.__name__, data)
        require_known(cls.__name__, data, [field.name for field in fields(cls)], also=("mechanism",))
        needed = [field.name for field in fields(cls) if field.default is not None]
        return cls(
            **{
                name: number_of_stored(data[name])
                for name in dict.fromkeys([*needed, *data])
                if name != "mechanism"
            }
        )


def qualified_name(kind: type) -> str:
    """Under which ledgers store a mechanism that is none of holdfast's: no class of another module is called so."""
    return f"{kind.__module__}:{kind.__qualname__}"


def _require_fixed(name: str, declared: str, value: Value) -> None:
    """Refuse a parameter that is not a plain number, since it could change after it was charged."""
    if value is None or not {"Number", "int", "float"} & set(declared.split(" | ")):
        return
    number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    require(number, name, type(value).__name__, "a whole number, a float or a Fraction")


def _stored_field(value: Value) -> Any:
    return value.value if isinstance(value, Enum) else stored_number(value)


@checked
@dataclass(frozen=True, kw_only=True)
class OnGrid(Mechanism):
    """Values are whole numbers, unless `grid` declares a step: then real values are rounded to it.

    Where whole numbers are declared, what is handed in is rounded to the nearest one, a half upwards, and the
    sensitivity is that of the rounded value.
    The parameters stay in the value's units; rounding the centre adds to the sensitivity, by an amount that
    depends on the number of coordinates, which is why a grid needs the `dimension`.
    """

    dimension: int | None = None
    grid: Number | None = None

    public: ClassVar[tuple[str, ...]] = ("the grid", "the shape of the value")

    @property
    @abstractmethod
    def sensitivity(self) -> Number:
        """How far one unit moves the value, in the mechanism's norm and the value's units."""

    @abstractmethod
    def rounding(self, dimension: int) -> Fraction:
        """How many steps rounding the centre can add to that, for this `dimension`."""

    def validate(self) -> None:
        """A positive grid, and a dimension where there is one."""
        is_valid = self.dimension is None or (isinstance(self.dimension, int) and self.dimension >= 1)
        require(is_valid, "dimension", self.dimension, "a whole number >= 1")
        require(self.grid is None or 0 < self.grid < float("inf"), "grid", self.grid, "> 0 and finite")
        require(self.grid is None or self.dimension is not None, "dimension", None, "given when a grid is")

    @property
    @abstractmethod
    def noise_width(self) -> Fraction:
        """The scale of the noise in steps, within what can be drawn."""

    @property
    def step(self) -> Fraction:
        """The distance between grid points."""
        return Fraction(1) if self.grid is None else as_written(self.grid)

    @property
    def shift(self) -> Fraction:
        """The sensitivity in steps, after rounding."""
        shift = as_written(self.sensitivity) / self.step
        return shift if self.grid is None else shift + self.rounding(self.dimension or 1)

    @property
    def whole_shift(self) -> int:
        """In one dimension shifts are whole numbers of steps."""
        return max(1, int(self.shift))

    def check(self, value: Any) -> NDArray[Any]:
        """Whole numbers where no grid is declared: others become the nearest; the declared dimension."""
        array: NDArray[Any] = super().check(value)
        if self.grid is None:
            array = nearest_whole(array)
        fits = self.dimension is None or array.size == self.dimension
        require(fits, "value.size", array.size, f"the declared {self.dimension}")
        self.noise_width  # noqa: B018 - refused here, before anything is charged
        return array

    def add_noise(self, value: Value, noise: NDArray[np.int64]) -> NDArray[Any]:
        """Round the `value` to the grid, move by the `noise` in whole steps."""
        require(noise.size == value.size, "noise.size", noise.size, f"that of value, {value.size}")
        steps = noise.reshape(value.shape)
        if self.grid is None:
            return in_64_bits(exact_sum(value, steps))
        return multiples(exact_sum(nearest_steps(value, self.step), steps), self.step)

    def steps_from(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The last grid point that is not above `at`, in steps from the centre of `value`.

        Near a point counts as it.
        """
        step = float(self.step)
        steps = at / step
        return np.asarray(
            np.floor(steps + np.abs(steps) * 2.0**-50) - nearest_steps(value, self.step).flat[0]
        )

    def steps_between(self, value: Value, output: Output) -> NDArray[np.float64]:
        """How many steps each number of a release, `output`, lies from the rounded centre of its `value`."""
        return difference(nearest_steps(np.asarray(output), self.step), nearest_steps(value, self.step))

    def worst_pair(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Two values that are the whole sensitivity apart."""
        dtype = np.int64 if self.grid is None else np.float64
        return np.zeros(1, dtype), np.array([self.sensitivity]).astype(dtype)


def euclidean(first: Value, second: Value) -> float:
    """The length of the difference, of integers too; numbers whose squares overflow are no exception.

    >>> euclidean(np.array([3, 0]), np.array([0, 4]))
    5.0
    """
    change = np.abs(difference(first, second))
    largest = float(change.max(initial=0.0))
    return largest * float(np.linalg.norm(change / largest)) if 0 < largest < np.inf else largest


def index_cdf(probabilities: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The law of an index as a cumulative distribution function.

    >>> index_cdf(np.array([0.25, 0.75]), np.array([-1.0, 0.0, 0.5, 1.0])).tolist()
    [0.0, 0.25, 0.25, 1.0]
    """
    below = np.concatenate([[0.0], np.cumsum(probabilities / np.sum(probabilities))])
    below[-1] = 1.0
    return np.asarray(below[np.clip(np.floor(at).astype(np.int64) + 1, 0, probabilities.size)])


def vector(value: Value) -> NDArray[Any]:
    """The value as an array of real numbers, by a rule under which no value is refused and none shows how it was held.

    One record can turn whole numbers into doubles, or a number into a missing one: what was released, or an error,
    would tell. So every number counts as the exact number that it is, whatever holds it; one beyond 2^1000, or
    infinite, counts as that; and what is missing or no number counts as 0. Only the shape is public, and refused
    where it is none.
    """
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        raise ParameterError("value must be an array of real numbers, got lists of several lengths") from None
    if array.ndim == 0 and array.dtype == object and not _is_entry(value):
        raise ParameterError(f"value must be an array of real numbers, got {type_text(value)}")
    require(array.size > 0, "value.size", array.size, "> 0")
    if isinstance(value, list | tuple) and not _holds_as_given(array):
        array = np.array(value, dtype=object)  # NumPy would round whole numbers, or make text of numbers
    if array.dtype.kind in "bi" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            doubles = array.astype(np.float64)
        finite = np.clip(np.where(np.isnan(doubles), 0.0, doubles), -LARGEST, LARGEST)
        return np.asarray(finite)  # of one number NumPy makes no array
    return _exact_numbers(array)


LARGEST = 2.0**1000
"""Numbers beyond it count as it. Moving all of them there moves no two apart."""


_MISSING = frozenset({"NoneType", "NAType", "NaTType"})
"""The types of what stands for a missing number, here and in pandas."""


def _is_entry(value: object) -> bool:
    """Whether this is one number, one text or one missing number, and not something that holds numbers."""
    return (
        isinstance(value, str | bytes)
        or hasattr(type(value), "__float__")
        or hasattr(type(value), "__index__")
        or type(value).__name__ in _MISSING
    )


def _holds_as_given(array: NDArray[Any]) -> bool:
    """Whether an array that NumPy made of a list has the numbers of the list."""
    if array.dtype.kind == "f":
        return not np.any(np.abs(array) > 2.0**53)
    return array.dtype.kind in "biu"


def _exact_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in 64 bits or as Python's; where others are among them, all as fractions."""
    largest = int(LARGEST)
    numbers = [max(-largest, min(largest, _exact_number(entry))) for entry in array.flat]
    if all(isinstance(number, int) for number in numbers):
        return whole_numbers(np.array(numbers, dtype=object).reshape(array.shape))
    return np.array([Fraction(number) for number in numbers], dtype=object).reshape(array.shape)


def _exact_number(entry: Any) -> int | Fraction:
    """The number that this is; 0 where it is none."""
    if isinstance(entry, int | np.integer):
        return int(entry)
    if isinstance(entry, Fraction):
        return entry
    try:
        number = float(entry)
    except (TypeError, ValueError, OverflowError):
        return 0
    if math.isnan(number):
        return 0
    return Fraction(max(-LARGEST, min(LARGEST, number)))
