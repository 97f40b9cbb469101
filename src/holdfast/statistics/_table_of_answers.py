"""StatisticsTable: released statistics as frames, as text, as a picture and as a file."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np

from holdfast._arguments import checked
from holdfast._extras import import_optional
from holdfast.errors import ParameterError
from holdfast.privacy._wording import confidence_text
from holdfast.release import Release
from holdfast.statistics._contents import GroupTable, read_contents

_MOST_LINES = 12


@checked
class StatisticsTable:
    """The answers to questions about a private table, with intervals, and the release that they are.

    `answer` makes one. Everything it gives follows from what was released and costs nothing more.

    Parameters
    ----------
    release : Release
        What `answer` released, or what was loaded.

    Attributes
    ----------
    release_ : Release
        The numbers with their promise and history.
    tables : tuple of GroupTable
        One for each list of keys, in the order in which they were asked for.
    confidence : float
        Of each interval.

    Examples
    --------
    >>> from holdfast.data import Categorical, Schema, open_table
    >>> from holdfast.statistics import Count, answer, by
    >>> schema = Schema([Categorical("ward", ["a", "b"])], adjacency="add_remove")
    >>> answers = answer(open_table({"ward": ["a", "b"] * 500}, schema), [by("ward", Count())])
    >>> list(answers.to_pandas())
    ['ward', 'count', 'count_low', 'count_high']
    """

    def __init__(self, release: Release[Any]) -> None:
        self.release_ = release
        self.tables, self.confidence, self._plan = read_contents(release.value)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The statistics of a release file.

        Parameters
        ----------
        path : str or path
            A file that `save` wrote.

        Returns
        -------
        StatisticsTable
            The same answers again.
        """
        return cls(Release.load(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the release: numbers, intervals, promise and history in one file.

        Parameters
        ----------
        path : str or path
            The file to write.
        """
        self.release_.save(path)

    def table(self, *keys: str) -> GroupTable:
        """The answers by these `keys`; without any, those about all rows."""
        for table in self.tables:
            if table.keys == keys:
                return table
        raise ParameterError(f"keys must be one of {[table.keys for table in self.tables]}, got {keys}")

    def to_arrow(self, *keys: str) -> Any:
        """An Arrow table: a row for each group, its keys, and each number with the ends of its interval.

        With `keys`, the groups of one grouping; without, those of all groupings, one below the other, with nulls where
        a grouping has no such key or number.
        """
        import pyarrow as pa

        if keys or len(self.tables) == 1:
            table = self.table(*keys) if keys else self.tables[0]
            return pa.table(table.frame_columns())
        return pa.concat_tables(
            [pa.table(table.frame_columns() or {}) for table in self.tables], promote_options="default"
        )

    def to_pandas(self, *keys: str) -> Any:
        """The same as a pandas data frame, with `keys` as in `to_arrow`."""
        return self.to_arrow(*keys).to_pandas()

    def summary(self) -> str:
        """The numbers with their intervals, then the promise."""
        lines = [
            f"intervals cover the table's own value with confidence {confidence_text(self.confidence)}: noise only"
        ]
        for table in self.tables:
            names = ", ".join(table.keys) or "all rows"
            lines.append(f"{names}:")
            labels = list(zip(*table.key_columns().values(), strict=True)) or [()]
            for row, group in enumerate(labels[:_MOST_LINES]):
                numbers = [
                    f"{column.name} {_shown(column.value[row])} [{_shown(column.low[row])}, {_shown(column.high[row])}]"
                    for column in table.columns
                ]
                lines.append("  " + ", ".join([*group, *numbers]))
            if len(labels) > _MOST_LINES:
                lines.append(f"  ... and {len(labels) - _MOST_LINES} more groups")
        return "\n".join([*lines, self.release_.guarantee.summary()])

    def plot(self, *keys: str, name: str | None = None, axes: Any = None) -> Any:
        """The numbers of one column with their intervals, group by group, as a matplotlib picture.

        Parameters
        ----------
        *keys : str
            The grouping; by default the first that has keys.
        name : str, optional
            The column; by default the first.
        axes : matplotlib.axes.Axes, optional
            Where it is drawn; by default in a figure of its own.

        Returns
        -------
        matplotlib.axes.Axes
            The picture.
        """
        table = self.table(*keys) if keys else next((t for t in self.tables if t.keys), self.tables[0])
        column = (
            table.columns[0] if name is None else next((c for c in table.columns if c.name == name), None)
        )
        if column is None:
            raise ParameterError(f"name must be one of {[c.name for c in table.columns]}, got {name!r}")
        if axes is None:
            size = (7, 1 + 0.22 * max(4, table.rows))
            axes = import_optional("matplotlib.figure").Figure(figsize=size, layout="constrained").subplots()
        labels = [", ".join(group) for group in zip(*table.key_columns().values(), strict=True)] or [
            "all rows"
        ]
        places = np.arange(table.rows)[::-1]
        axes.hlines(places, column.low, column.high, color="#0072b2", linewidth=2)
        axes.plot(column.value, places, "o", color="#0072b2", markersize=4)
        axes.set_yticks(places, labels)
        axes.set_xlabel(f"{column.name}: {column.about}", wrap=True)
        axes.set_title(
            f"each line holds the table's own value with confidence {confidence_text(self.confidence)}"
        )
        return axes

    def __repr__(self) -> str:
        listed = ", ".join("(" + ", ".join(table.keys) + ")" for table in self.tables)
        return f"StatisticsTable(by {listed})"


def _shown(number: float) -> str:
    return "nothing learnt" if np.isnan(number) else f"{number:,.6g}"
