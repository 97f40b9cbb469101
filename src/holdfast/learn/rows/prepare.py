"""Rows and labels as methods take them, from arrays or from a table, with what reading them assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.data.encode import Encoder
from holdfast.data.schema import Categorical, Numeric
from holdfast.data.table import Table
from holdfast.errors import DataError, ParameterError, require
from holdfast.learn.problem.labels import LabelCoding
from holdfast.learn.rows.design import design
from holdfast.learn.rows.examples import ArrayExamples, Examples, TableExamples
from holdfast.privacy.adjacency import Adjacency

COUNT_READ = "the number of rows was read from the data and is treated as public; declare n_public"


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """Clipped and labelled rows. `read` is what was read from the data, `assumptions` all that is assumed."""

    examples: Examples
    coding: LabelCoding
    read: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    schema: Mapping[str, Any] | None = None
    schema_hash: str | None = None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promise rests on."""
        return (*self.read, *self.declared)


@contextmanager
def numbers_only() -> Iterator[None]:
    """Python's own error for a text among numbers quotes the text, which is data; ours does not."""
    try:
        yield
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise DataError("rows and targets must be numbers; declare a schema, which encodes texts") from None


def of_arrays(
    X: Any,
    targets: tuple[LabelCoding, tuple[str, ...]],
    y: Any,
    *,
    row_norm: float,
    intercept: float,
    adjacency: Adjacency,
    n_public: int | None,
    names: Any = None,
) -> Prepared:
    """A matrix, dense or sparse: clipped, with the constant column."""
    coding, read = targets
    count = X.shape[0]
    if n_public is not None:
        require(n_public >= 1, "n_public", n_public, ">= 1")
        if adjacency.count_is_public and n_public != count:
            raise ParameterError(
                f"n_public must be the number of rows under adjacency={adjacency.value!r}, got "
                f"n_public={n_public}; leave it out, or use adjacency='add_remove'"
            )
    elif not adjacency.count_is_public:
        read = (*read, COUNT_READ)
    return Prepared(
        examples=ArrayExamples(
            features=design(X, row_norm=row_norm, constant=intercept),
            labels=coding.encode(y),
            adjacency=adjacency,
            public_count=count if n_public is None else n_public,
        ),
        coding=coding,
        read=read,
        feature_names=None if names is None else tuple(str(name) for name in np.asarray(names)),
    )


def of_table(
    table: Table,
    target: str | None,
    *,
    coding: Callable[[Numeric | Categorical], LabelCoding],
    row_norm: float,
    intercept: float,
    n_public: int | None,
) -> Prepared:
    """A table of any engine: every declared column but the target is a feature."""
    if target is None:
        raise ParameterError("target must be the name of a column where a Table is fitted, got target=None")
    coded = coding(table.schema[target])
    columns = tuple(name for name in table.schema.names if name != target)
    encoder = Encoder(table.schema, columns, intercept=False, row_norm=row_norm)
    encoder.fit()
    counted: tuple[str, ...] = ()
    if n_public is not None and table.n_public is None and not table.adjacency.count_is_public:
        count = n_public
    else:
        count, counted = table.public_count()
        require(n_public in (None, count), "n_public", n_public, "what the table declares", "leave it out")
    examples = TableExamples(
        table=table, encoder=encoder, target=target, coding=coded, public_count=count, intercept=intercept
    )
    return Prepared(
        examples=examples.loaded(),
        coding=coded,
        declared=(*counted, *table.assumptions),
        feature_names=tuple(encoder.get_feature_names_out().tolist()),
        columns=columns,
        schema=table.schema.to_dict(),
        schema_hash=table.schema.hash(),
    )
