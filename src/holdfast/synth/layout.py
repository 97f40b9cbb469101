"""Layout: every query of a workload at its place in one long vector of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.synth.workload import Workload

Floats = NDArray[np.float64]
Columns = tuple[str, ...]


class Layout:
    """The queries of a workload over a domain, concatenated group by group.

    A group's weight, relative to the largest, scales its queries: they still lie in [0, 1], so that whatever is
    proved for bounded queries holds for weighted workloads too.

    >>> layout = Layout(Workload.of([("a", "b"), ("c",)]), {"a": 2, "b": 3, "c": 4})
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
        """How many queries."""
        return int(self.starts[-1])

    def answers(self, tables: Callable[[Sequence[Columns]], Sequence[Floats]]) -> Floats:
        """All answers, from a source of joint counts that is asked once for all column sets."""
        found = tables(self.columns)
        parts = zip(self.groups, self.scales, found, strict=True)
        return np.concatenate([scale * group.answers(table) for group, scale, table in parts])

    def answers_of(self, project: Callable[[Columns], Floats]) -> Floats:
        """All answers, from a source that is asked once for each set of columns."""
        made = {columns: project(columns) for columns in dict.fromkeys(self.columns)}
        return self.answers(lambda wanted: [made[columns] for columns in wanted])

    def locate(self, index: int) -> tuple[int, int]:
        """Which group, and which of its queries."""
        place = int(np.searchsorted(self.starts, index, side="right")) - 1
        return place, index - int(self.starts[place])

    def query(self, index: int) -> tuple[Columns, Floats]:
        """One query: its columns and its value in each of their cells."""
        place, inner = self.locate(index)
        return self.columns[place], self.scales[place] * self.groups[place].query(inner, self.shapes[place])

    def describe(self, index: int) -> str:
        """One query in words."""
        place, inner = self.locate(index)
        return self.groups[place].describe(inner, self.shapes[place])
