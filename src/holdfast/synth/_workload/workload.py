"""Workload: the queries that a release is meant to answer, declared before anything is spent.

A query is a function q from records to [0, 1]; its answer on a table is the sum, or the mean, of q over the
records. Every query depends on the cells of a few columns only, so its answer is a linear function of the joint
count of these columns, and nothing else of the data is read. Queries over the same columns form a group; kinds of
groups other than marginals are in `query_classes`.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._plain_data import parse_json
from holdfast._ranges import require_whole
from holdfast._regular_file import read_regular
from holdfast.data._schema import Schema
from holdfast.errors import FormatError, ParameterError, require

Shape = tuple[int, ...]
Columns = tuple[str, ...]
#: The most cells of a marginal in a default workload.
MOST_MARGINAL_CELLS = 100_000
MOST_LISTED_BYTES = 2**20
"""Of a file that lists marginals or impossible rows by hand."""


@checked
@dataclass(frozen=True)
class Group(ABC):
    """Queries over the same columns; `weight` is their importance in a workload."""

    columns: Sequence[str]
    weight: float = 1.0

    by_rows: ClassVar[bool] = False
    """Whether answers are sums over rows, so that no joint count is read (`OneLayer`)."""

    def __post_init__(self) -> None:
        require(not isinstance(self.columns, str), "columns", self.columns, "a list of names")
        object.__setattr__(self, "columns", tuple(self.columns))
        require(len(set(self.columns)) == len(self.columns), "columns", self.columns, "names given once each")
        require(math.isfinite(self.weight) and self.weight > 0, "weight", self.weight, "a finite number > 0")

    @property
    def name(self) -> str:
        """The columns, as a reader would write them."""
        return " x ".join(self.columns) or "total"

    @abstractmethod
    def size(self, shape: Shape) -> int:
        """How many queries there are, where the columns have the cells of `shape`."""

    @abstractmethod
    def answers(self, counts: Floats) -> Floats:
        """The summed answers, from a joint count (or a joint distribution) of the columns, `counts`."""

    @abstractmethod
    def weighted_sum(self, weights: Floats, shape: Shape) -> Floats:
        """The sum of all queries with these `weights`, as its value in every cell of `shape`.

        The adjoint of `answers`.
        """

    def query(self, index: int, shape: Shape) -> Floats:
        """The query of this `index` as its value in every cell of `shape`."""
        size = self.size(shape)
        require_whole("index", index, most=size - 1)
        alone = np.zeros(size)
        alone[index] = 1.0
        return self.weighted_sum(alone, shape)

    @abstractmethod
    def column_norm(self, shape: Shape) -> float:
        """The L2 norm of all answers of the worst record, with cells of `shape`.

        The group's L2 sensitivity to add one.
        """

    @abstractmethod
    def describe(self, index: int, shape: Shape) -> str:
        """The query of this `index` in words, with cells of `shape`: cells only, never a data value."""


@checked
@dataclass(frozen=True)
class Marginal(Group):
    """Every cell of the joint count of some columns.

    Parameters
    ----------
    columns : sequence of str
        The columns.
    weight : float
        How much the group counts in the workload.

    Examples
    --------
    >>> Marginal(("sex", "income")).size((2, 2))
    4
    """

    def size(self, shape: Shape) -> int:
        """One query per cell."""
        return math.prod(shape)

    def answers(self, counts: Floats) -> Floats:
        """The counts themselves."""
        return np.asarray(counts, dtype=np.float64).reshape(-1)

    def weighted_sum(self, weights: Floats, shape: Shape) -> Floats:
        """The weights, cell by cell."""
        require(
            np.size(weights) == math.prod(shape), "weights", np.size(weights), f"one for each cell of {shape}"
        )
        return np.asarray(weights, dtype=np.float64).reshape(shape)

    def column_norm(self, shape: Shape) -> float:
        """A record is in one cell."""
        return 1.0

    def describe(self, index: int, shape: Shape) -> str:
        """The cell's coordinates."""
        return cells_in_words(self.columns, index, shape)


def cells_in_words(columns: Sequence[str], index: int, shape: Shape) -> str:
    """A cell by its coordinates.

    >>> cells_in_words(("age", "sex"), 3, (4, 2))
    'age=1, sex=1'
    """
    require_whole("index", index, most=math.prod(shape) - 1)
    cell = np.unravel_index(int(index), shape)
    return ", ".join(f"{name}={int(place)}" for name, place in zip(columns, cell, strict=True))


@checked
@dataclass(frozen=True)
class Workload:
    """Groups of queries, each over a few columns.

    Parameters
    ----------
    groups : sequence of groups
        `Marginal`, `Thresholds`, `Ranges`, `Predicates`, `Conjunctions`, `OneLayer`, or a group of your own.

    Examples
    --------
    >>> work = Workload.of([("age", "sex"), ("income",)])
    >>> [group.name for group in work.groups]
    ['age x sex', 'income']
    """

    groups: Sequence[Group]

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(self.groups))
        require(bool(self.groups), "groups", [], "at least one group of queries")

    @classmethod
    def of(cls, sets: Iterable[Sequence[str] | Group], *, weights: Sequence[float] | None = None) -> Workload:
        """Marginals of the columns in each of `sets`, or groups as they are, with these `weights`."""
        listed = list(sets)
        given = [1.0] * len(listed) if weights is None else list(weights)
        require(len(given) == len(listed), "weights", len(given), f"one for each of the {len(listed)} groups")
        return cls(
            [
                entry if isinstance(entry, Group) else Marginal(entry, weight)
                for entry, weight in zip(listed, given, strict=True)
            ]
        )

    @classmethod
    def marginals(
        cls,
        schema: Schema,
        k: int = 3,
        *,
        columns: Sequence[str] | None = None,
        most_cells: int = MOST_MARGINAL_CELLS,
        target: str | None = None,
    ) -> Workload:
        """All marginals of k columns (fewer, where there are fewer) with at most `most_cells` cells.

        Marginals that contain the `target` weigh as much together as all others, and a column whose marginals with
        the target are all too large gets a marginal of the two alone.

        >>> from holdfast.data import Categorical, Schema
        >>> schema = Schema([Categorical(name, range(9 if name == "z" else 2)) for name in "abyz"])
        >>> workload = Workload.marginals(schema, 3, most_cells=20, target="y")
        >>> [(group.name, group.weight) for group in workload.groups]
        [('a x b x y', 1.0), ('y x z', 1.0)]
        """
        names = schema.names if columns is None else tuple(columns)
        require(k >= 1, "k", k, "a whole number >= 1")
        require(bool(names), "columns", names, "at least one column")
        sets = [
            chosen
            for chosen in combinations(names, min(k, len(names)))
            if schema.cells(*chosen) <= most_cells
        ]
        if target is not None:
            require(target in names, "target", target, f"one of the columns {list(names)}")
            held = {name for chosen in sets if target in chosen for name in chosen}
            alone = [tuple(n for n in names if n in (name, target)) for name in names if name not in held]
            sets += [pair for pair in alone if len(pair) == 2]
        if not sets:
            raise ParameterError(
                f"most_cells must leave at least one {k}-way marginal, got most_cells={most_cells}; "
                "declare fewer bins, or a smaller k"
            )
        own = [chosen for chosen in sets if target in chosen]
        more = max(1.0, (len(sets) - len(own)) / len(own)) if own else 1.0
        return cls([Marginal(chosen, more if chosen in own else 1.0) for chosen in sets])

    def apart_from(self, target: str, names: Sequence[str]) -> tuple[str, ...]:
        """The columns among `names` that no query looks at together with the `target`.

        >>> Workload.of([("a", "y"), ("b", "c")]).apart_from("y", ["a", "b", "c", "y"])
        ('b', 'c')
        """
        beside = {name for group in self.groups if target in group.columns for name in group.columns}
        return tuple(name for name in names if name not in beside and name != target)

    def with_lower_marginals(self) -> Workload:
        """The workload with all lower marginals of its marginals: give it to a certificate to cover these as well.

        >>> [group.name for group in Workload.of([("a", "b"), ("b", "c")]).with_lower_marginals().groups]
        ['a x b', 'b x c', 'a', 'b', 'c']
        """
        known = {frozenset(group.columns) for group in self.groups if type(group) is Marginal}
        groups: list[Group] = list(self.groups)
        for group in self.groups:
            sizes = range(len(group.columns) - 1, 0, -1) if type(group) is Marginal else ()
            for lower in (columns for size in sizes for columns in combinations(group.columns, size)):
                if frozenset(lower) not in known:
                    known.add(frozenset(lower))
                    groups.append(Marginal(lower, group.weight))
        return Workload(groups)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that some query looks at, in the order of first use."""
        return tuple(dict.fromkeys(name for group in self.groups for name in group.columns))

    def size(self, schema: Schema) -> int:
        """The number of queries in all groups, for the cells of this `schema`."""
        return sum(group.size(schema.shape(*group.columns)) for group in self.groups)

    def check(self, schema: Schema) -> None:
        """Refuse columns that the schema does not have, and functions of other cells, before anything is spent."""
        for group in self.groups:
            for name in group.columns:
                schema[name]
            group.size(schema.shape(*group.columns))

    def weight(self) -> float:
        """The sum of the groups' weights."""
        return math.fsum(group.weight for group in self.groups)


class AnswerVector:
    """Every query of a workload at its place in one long vector of answers, group by group.

    A group's weight, relative to the largest, scales its queries: they still lie in [0, 1], so that whatever is
    proved for bounded queries holds for weighted workloads too.

    >>> layout = AnswerVector(Workload.of([("a", "b"), ("c",)]), {"a": 2, "b": 3, "c": 4})
    >>> layout.size, layout.locate(7)
    (10, (1, 1))
    """

    def __init__(self, workload: Workload, domain: Mapping[str, int]) -> None:
        self.groups = tuple(workload.groups)
        self.columns: tuple[Columns, ...] = tuple(tuple(group.columns) for group in self.groups)
        self.shapes = tuple(tuple(domain[name] for name in columns) for columns in self.columns)
        sizes = [group.size(shape) for group, shape in zip(self.groups, self.shapes, strict=True)]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        largest = max(group.weight for group in self.groups)
        self.scales = tuple(group.weight / largest for group in self.groups)

    @property
    def size(self) -> int:
        """The length of the vector."""
        return int(self.starts[-1])

    def answers(self, tables: Callable[[Sequence[Columns]], Sequence[Floats]]) -> Floats:
        """All answers, from a function that returns the joint counts of all column sets at once."""
        parts = zip(self.groups, self.scales, tables(self.columns), strict=True)
        return np.concatenate([scale * group.answers(table) for group, scale, table in parts])

    def answers_of(self, project: Callable[[Columns], Floats]) -> Floats:
        """All answers, from a function that returns the joint count of one set of columns."""
        marginals = {columns: project(columns) for columns in dict.fromkeys(self.columns)}
        return self.answers(lambda wanted: [marginals[columns] for columns in wanted])

    def locate(self, index: int) -> tuple[int, int]:
        """The index of a query's group, and the query's index inside the group."""
        place = int(np.searchsorted(self.starts, index, side="right")) - 1
        return place, index - int(self.starts[place])

    def query(self, index: int) -> tuple[Columns, Floats]:
        """One query: its columns and its value in each of their cells."""
        place, inner = self.locate(index)
        return self.columns[place], self.scales[place] * self.groups[place].query(inner, self.shapes[place])

    def describe(self, index: int) -> str:
        """The query in words: the cells that it counts."""
        place, inner = self.locate(index)
        return self.groups[place].describe(inner, self.shapes[place])


def read_workload(
    source: str, schema: Schema, *, columns: Sequence[str] | None = None, target: str | None = None
) -> Workload:
    """The workload of a command's parameter: `k=3` for all 3-way marginals, or a file that lists marginals.

    A file is JSON, a list of lists of columns, or text, a line of names for each marginal.
    """
    if source.startswith("k="):
        if not source[2:].isdigit():
            raise ParameterError(f"workload must be k=N with a whole number, or a file, got {source!r}")
        return Workload.marginals(schema, int(source[2:]), columns=columns, target=target)
    if not Path(source).exists():
        raise ParameterError(
            f"workload must be k=N or a file with a line of names for each marginal, got {source!r}, which is no file; "
            "write k=2 for all pairs"
        )
    text = declared_text(Path(source), name="workload")
    if not text.lstrip().startswith("["):
        lines = [line.split("#")[0].strip() for line in text.splitlines()]
        named = [[name.strip() for name in line.split(",")] for line in lines if line]
        return Workload.of(_checked_names(named, schema))
    listed = parsed_json(text, name="workload")
    good = isinstance(listed, list) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in listed
    )
    if not good:
        raise FormatError("a workload in JSON is a list of lists of column names")
    return Workload.of(_checked_names(listed, schema))


def _checked_names(named: list[list[str]], schema: Schema) -> list[list[str]]:
    """The lists of names, refused if a name is not in the schema. Names are not quoted: the file may hold data."""
    for number, names in enumerate(named, 1):
        joined = next(
            (name for name in names if name not in schema.names and _split_names(name, schema)), None
        )
        if joined is not None:
            raise ParameterError(
                f"marginal {number} of the workload must have a comma between names, as "
                f"{', '.join(_split_names(joined, schema))}"
            )
        require(
            all(name in schema.names for name in names),
            f"marginal {number} of the workload",
            "...",
            f"made of columns of the schema, {', '.join(schema.names)}",
        )
    return named


def _split_names(text: str, schema: Schema) -> list[str]:
    """The columns in a text that separates their names by another sign than a comma; empty if it is none."""
    names = [name for name in re.split(r"[\s;|/+&x*:]+", text) if name]
    return names if len(names) > 1 and all(name in schema.names for name in names) else []


def declared_text(path: Path, *, name: str) -> str:
    """The text of a file; `FormatError` if it is not UTF-8."""
    try:
        return read_regular(path, what=f"the file of {name}", most_bytes=MOST_LISTED_BYTES).decode()
    except UnicodeDecodeError:
        raise FormatError(f"{name} is not a text in UTF-8: {path.name!r}") from None


def parsed_json(text: str, *, name: str) -> Any:
    """The value of a JSON text; `FormatError` names the line of an error, never its contents."""
    return parse_json(text.encode(), name, most_bytes=MOST_LISTED_BYTES)
