"""The people of a game: read as the model takes them, split in two groups, and known to an attacker with errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._argument_kinds import type_text
from holdfast.attack._influence.columns import Column, column_of, published_columns, with_column
from holdfast.attack._models.fitted import columns_read
from holdfast.attack._models.target import Target
from holdfast.attack._records import Records, arrow_of, as_array, has_columns
from holdfast.data._schema import Schema
from holdfast.data._table import Table
from holdfast.errors import DataError, require

OWN_SHARE = 0.5
"""The share of people that becomes the attacker's own, where no others are given."""


def read_people(people: Any, target: Target, schema: Schema | None) -> tuple[Any, Schema | None]:
    """The features of people as the model takes them, and a schema to read them by: that of a holdfast `Table`."""
    if not isinstance(people, Table):
        people = as_array(people)
        return people if hasattr(people, "shape") else np.asarray(people), schema
    table, read = arrow_of(people)[0], columns_read(target.model)
    names = [name for name in people.schema.names if not read or name in read]
    return table.select(names), schema or people.schema


def split_people(people: Any, reference: Any, random: np.random.Generator) -> tuple[Any, Any]:
    """The people who are judged, and the attacker's own: `reference`, or a random half of all."""
    if reference is not None:
        return people, reference
    count = count_of(people)
    require(count >= 4, "people", count, "4 or more, or give reference=")
    order = random.permutation(count)
    cut = int(count * OWN_SHARE)
    return select_people(people, order[cut:]), select_people(people, order[:cut])


def perturb_people(
    people: Any, own: Any, target: Column, knowledge: float, random: np.random.Generator
) -> Any:
    """The people as an attacker knows them who has each column but `target` right with the chance `knowledge`.

    A column that is wrong has the value of somebody drawn from the attacker's own people.
    """
    count, own_count = count_of(people), count_of(own)
    for name in published_columns(people):
        if name == target:
            continue
        wrong = random.random(count) >= knowledge
        values = np.array(column_of(people, name))
        values[wrong] = column_of(own, name)[random.integers(0, own_count, int(wrong.sum()))]
        people = with_column(people, name, values)
    return people


def unlabelled_records(people: Any) -> Records:
    """People as records, whose labels are all 0."""
    rows = people if has_columns(people) else np.asarray(people)
    if not has_columns(rows):
        raise DataError(
            f"people must be a data frame, an Arrow table or an array of rows, got {type_text(people)}"
        )
    return Records(features=rows, labels=np.zeros(rows.shape[0], dtype=np.int8))


def count_of(people: Any) -> int:
    """The number of people."""
    return unlabelled_records(people).labels.size


def select_people(people: Any, rows: NDArray[Any]) -> Any:
    """Some people by their row numbers, in the same container."""
    return unlabelled_records(people).take(rows).features


def join_people(first: Any, second: Any) -> Any:
    """The first people, then the second, in the container of the first."""
    return unlabelled_records(first).join(unlabelled_records(second)).features
