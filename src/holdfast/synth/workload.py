"""Workload: the queries a release is meant to answer, declared before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from holdfast.data.schema import Schema
from holdfast.errors import ParameterError, require
from holdfast.synth.queries import Group, Marginal

#: A marginal of more cells than this is left out of a default workload.
LARGEST_MARGINAL = 100_000


@dataclass(frozen=True)
class Workload:
    """Groups of queries, each over a few columns.

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
        """Marginals of these columns, or groups as they are."""
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
        most_cells: int = LARGEST_MARGINAL,
    ) -> Workload:
        """All marginals of k columns (fewer, where there are fewer) with at most `most_cells` cells."""
        names = schema.names if columns is None else tuple(columns)
        require(k >= 1, "k", k, "a whole number >= 1")
        require(bool(names), "columns", names, "at least one column")
        kept = [
            chosen
            for chosen in combinations(names, min(k, len(names)))
            if schema.cells(*chosen) <= most_cells
        ]
        if not kept:
            raise ParameterError(
                f"most_cells must leave at least one {k}-way marginal, got most_cells={most_cells}; "
                "declare fewer bins, or a smaller k"
            )
        return cls.of(kept)

    def closed(self) -> Workload:
        """With all lower marginals of its marginals: pass it as `certified` to claim these as well.

        >>> [group.name for group in Workload.of([("a", "b"), ("b", "c")]).closed().groups]
        ['a x b', 'b x c', 'a', 'b', 'c']
        """
        known = {frozenset(group.columns) for group in self.groups if type(group) is Marginal}
        made: list[Group] = list(self.groups)
        for group in self.groups:
            sizes = range(len(group.columns) - 1, 0, -1) if type(group) is Marginal else ()
            for lower in (columns for size in sizes for columns in combinations(group.columns, size)):
                if frozenset(lower) not in known:
                    known.add(frozenset(lower))
                    made.append(Marginal(lower, group.weight))
        return Workload(made)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that some query looks at, in the order of first use."""
        return tuple(dict.fromkeys(name for group in self.groups for name in group.columns))

    def size(self, schema: Schema) -> int:
        """How many queries."""
        return sum(group.size(schema.shape(*group.columns)) for group in self.groups)

    def check(self, schema: Schema) -> None:
        """Refuse columns that the schema does not have, before anything is spent."""
        for group in self.groups:
            for name in group.columns:
                schema[name]

    def weight(self) -> float:
        """The sum of the groups' weights."""
        return math.fsum(group.weight for group in self.groups)
