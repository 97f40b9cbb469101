"""What a release of statistics holds: one table for each grouping, with its keys, numbers and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._stored_fields import require_fields, require_format
from holdfast.data._group_sums import CellKey, Key, TruthKey
from holdfast.data._key_counts import FoundKey
from holdfast.data._schema import Schema
from holdfast.errors import FormatError
from holdfast.statistics._plan import AnswerPlan
from holdfast.statistics._questions.question import Estimate

FORMAT = "holdfast-statistics/1"


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupTable:
    """The answers for one list of keys: a row for each combination of their labels, the last key fastest."""

    keys: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    """The cells of each key; of several columns that are one key, each cell has a text for each of them."""
    columns: tuple[Estimate, ...]

    @property
    def rows(self) -> int:
        """The number of groups."""
        return math.prod(map(len, self.labels))

    def key_columns(self) -> dict[str, list[str]]:
        """The label of each key in each row."""
        if not self.keys:
            return {}
        places = np.indices(tuple(map(len, self.labels))).reshape(len(self.labels), -1)
        joined = len(self.keys) - len(self.labels) + 1
        # Only the first key may have several columns: these are then as many as there are more names than keys.
        first = [self.labels[0][place] for place in places[0].tolist()]
        listed = [[cell[part] for cell in first] for part in range(joined)] if joined > 1 else [first]
        listed += [
            [labels[place] for place in row]
            for labels, row in zip(self.labels[1:], places[1:].tolist(), strict=True)
        ]
        return dict(zip(self.keys, listed, strict=True))

    def frame_columns(self) -> dict[str, Any]:
        """Keys, then each number with the ends of its interval."""
        frame: dict[str, Any] = dict(self.key_columns())
        for column in self.columns:
            frame |= {
                column.name: column.value,
                f"{column.name}_low": column.low,
                f"{column.name}_high": column.high,
            }
            if column.population_low is not None and column.population_high is not None:
                frame[f"{column.name}_population_low"] = column.population_low
                frame[f"{column.name}_population_high"] = column.population_high
        return frame

    def value(self) -> dict[str, Any]:
        """As a release stores it."""
        return {
            "keys": list(self.keys),
            "labels": [
                [list(label) if isinstance(label, tuple) else label for label in labels]
                for labels in self.labels
            ],
            "columns": [
                {
                    "name": column.name,
                    "about": column.about,
                    "numbers": np.stack([column.value, column.low, column.high, *_population(column)]),
                }
                for column in self.columns
            ],
        }

    @classmethod
    def of_value(cls, value: Any) -> GroupTable:
        """The table of what `value` gave; `FormatError` for anything else."""
        stored = require_fields("table of statistics", value, ("keys", "labels", "columns"))
        columns = []
        for entry in stored["columns"]:
            fields = require_fields("column of statistics", entry, ("name", "about", "numbers"))
            numbers = np.asarray(fields["numbers"], dtype=np.float64)
            columns.append(
                Estimate(
                    name=str(fields["name"]),
                    about=str(fields["about"]),
                    value=numbers[0],
                    low=numbers[1],
                    high=numbers[2],
                    population_low=numbers[3] if len(numbers) == 5 else None,
                    population_high=numbers[4] if len(numbers) == 5 else None,
                )
            )
        labels = tuple(tuple(map(_label, names)) for names in stored["labels"])
        table = cls(keys=tuple(map(str, stored["keys"])), labels=labels, columns=tuple(columns))
        if any(column.value.shape != (table.rows,) for column in columns):
            raise FormatError("a stored table of statistics does not have a number for each group")
        return table


def _stored_label(label: Any) -> Any:
    return list(label) if isinstance(label, tuple) else label


def _label(stored: Any) -> str | tuple[str, ...]:
    """The text of a cell, or the texts of one of several columns."""
    return tuple(map(str, stored)) if isinstance(stored, list | tuple) else str(stored)


def _population(column: Estimate) -> list[Floats]:
    """The ends of the population's interval, where there is one."""
    low, high = column.population_low, column.population_high
    return [] if low is None or high is None else [low, high]


def tables_of(plan: AnswerPlan, noisy: Sequence[Any], confidence: float) -> tuple[GroupTable, ...]:
    """The answers to all questions, one table for each list of keys, in the order in which they were asked."""
    estimates: dict[int, tuple[Estimate, ...]] = {}
    for step, numbers in zip(plan.steps, noisy, strict=True):
        for place in step.questions:
            estimates[place] = plan.asked[place].question.estimates(numbers, plan.facts, confidence)
    by_keys: dict[tuple[Key, ...], list[Estimate]] = {}
    for place, asked in enumerate(plan.asked):
        by_keys.setdefault(asked.keys, []).extend(estimates[place])
    return tuple(
        GroupTable(
            keys=tuple(name for key in keys for name in key.columns),
            labels=tuple(key_labels(key, plan.facts.schema) for key in keys),
            columns=tuple(columns),
        )
        for keys, columns in by_keys.items()
    )


def key_labels(key: Key, schema: Schema) -> tuple[Any, ...]:
    """The cells of a key in words."""
    if isinstance(key, CellKey):
        return schema[key.column].labels
    if isinstance(key, FoundKey):
        return key.labels if len(key.columns) > 1 else tuple(label for (label,) in key.labels)
    if isinstance(key, TruthKey):
        return ("no", "yes", "unknown")
    return tuple(map(str, range(key.cells(schema))))


def contents_value(
    plan: Sequence[dict[str, Any]], tables: Sequence[GroupTable], confidence: float
) -> dict[str, Any]:
    """The value of a release."""
    return {
        "format": FORMAT,
        "confidence": confidence,
        "plan": list(plan),
        "tables": [table.value() for table in tables],
    }


def read_contents(value: Any) -> tuple[tuple[GroupTable, ...], float, list[dict[str, Any]]]:
    """Tables, confidence and plan of a released value; `FormatError` for anything else."""
    try:
        stored = require_fields("release of statistics", value, ("format", "confidence", "plan", "tables"))
        require_format("release of statistics", stored, FORMAT)
        tables = tuple(GroupTable.of_value(entry) for entry in stored["tables"])
        if not tables or not all(table.columns or table.keys for table in tables):
            raise FormatError("a stored release of statistics holds no statistic")
        return tables, float(stored["confidence"]), [dict(step) for step in stored["plan"]]
    except FormatError:
        raise
    except (AttributeError, IndexError, LookupError, TypeError, ValueError) as error:
        raise FormatError(
            "a stored release of statistics lacks a field or has one of the wrong kind"
        ) from error
