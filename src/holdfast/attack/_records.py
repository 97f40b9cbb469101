"""Records: features and labels, row by row, in whatever container the model takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._argument_kinds import type_text
from holdfast._arguments import Seed, checked
from holdfast._extras import import_optional
from holdfast.data._batch import Batch
from holdfast.data._moments import as_dates
from holdfast.data._order import Order
from holdfast.data._schema import DateTime, Numeric
from holdfast.data._table import Table
from holdfast.errors import ParameterError, require

LEAVE_OUT_ADVICE = "leave the rows out whose label is not known"


def has_columns(rows: Any) -> bool:
    """Whether rows have two dimensions: a matrix, a frame or an Arrow table."""
    return len(getattr(rows, "shape", ())) == 2


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Records:
    """Features (an array, sparse matrix, data frame or Arrow table) and what is to be predicted.

    Parameters
    ----------
    features : array, sparse matrix, data frame or table
        One row for each record.
    labels : array
        What is to be predicted, one label for each record.
    left_out : int
        How many rows of a file had no label, and are not here.

    Examples
    --------
    >>> people = Records.of(([[1.0], [2.0], [3.0]], ["a", "b", "a"]), "members")
    >>> people.take(np.array([2])).join(people.take(np.array([0]))).labels.tolist()
    ['a', 'a']
    """

    features: Any
    labels: NDArray[Any]
    left_out: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", np.asarray(self.labels))
        shape = getattr(self.features, "shape", None)
        if not shape:
            raise ParameterError(
                f"X must be an array, data frame or table, got {type(self.features).__name__}"
            )
        require(self.labels.ndim == 1, "y.ndim", self.labels.ndim, "1: one label per row")
        require(
            self.labels.size == shape[0], "y", self.labels.shape, f"one label for each of {shape[0]} rows"
        )
        require(shape[0] >= 1, "X", (shape[0],), "one row or more")
        missing = _missing(self.labels)
        require(
            missing == 0,
            "y",
            f"{missing} missing labels (NaN or None)",
            "a label for every row",
            LEAVE_OUT_ADVICE,
        )

    @classmethod
    def of(cls, pair: Any, name: str) -> Records:
        """The records of a pair (X, y).

        Parameters
        ----------
        pair : tuple or Records
            Features and labels; records stay as they are.
        name : str
            What an error calls the pair.

        Returns
        -------
        Records
            Its features and labels.
        """
        if isinstance(pair, Records):
            return pair
        try:
            features, labels = pair
        except (TypeError, ValueError):
            raise ParameterError(
                f"{name} must be a pair (X, y), got {type_text(pair)}; write {name}=(X, y)"
            ) from None
        features, labels = as_array(features), as_array(labels)
        known = hasattr(features, "shape")
        return cls(features=features if known else np.asarray(features), labels=np.asarray(labels))

    @property
    def count(self) -> int:
        """The number of records."""
        return int(self.labels.size)

    def take(self, rows: NDArray[Any]) -> Records:
        """Some of the records.

        Parameters
        ----------
        rows : array
            A mask, or row numbers.

        Returns
        -------
        Records
            Those records, in the same container.
        """
        fitting = rows.dtype.kind in "biu" and rows.ndim == 1
        require(fitting, "rows", rows, "a mask or row numbers in one dimension")
        places = np.flatnonzero(rows) if rows.dtype == bool else rows
        return Records(
            features=_container(self.features)[0](self.features, places), labels=self.labels[places]
        )

    def join(self, other: Records) -> Records:
        """These records, then the other ones."""
        return Records(
            features=_container(self.features)[1](self.features, other.features),
            labels=np.concatenate([self.labels, other.labels]),
        )

    def data(self) -> tuple[Any, NDArray[Any]]:
        """The pair that a training function takes."""
        return self.features, self.labels


def _missing(labels: NDArray[Any]) -> int:
    if labels.dtype.kind == "f":
        return int(np.isnan(labels).sum())
    listed = labels.tolist() if labels.dtype.kind == "O" else []
    return sum(label is None or label != label for label in listed)


def as_array(values: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    if not callable(getattr(values, "detach", None)):
        return values
    return np.asarray(values.detach().cpu())


def set_aside(
    is_member: NDArray[np.bool_], seed: Seed | None, *, otherwise: str
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """A mask of the records that are scored, and the row numbers of a random half of the non-members, the reference.

    `otherwise` is the parameter that an error names: where it is given, nobody need be set aside.

    >>> scored, aside = set_aside(np.array([True, True, False, False, False, False]), 0, otherwise="reference=")
    >>> int(scored.sum()), aside.size
    (4, 2)
    """
    outside = np.flatnonzero(~is_member)
    require(outside.size >= 4, "non_members", outside.size, f"4 or more, or give {otherwise}")
    aside = np.random.default_rng(seed).permutation(outside)[: outside.size // 2]
    scored = np.ones(is_member.size, dtype=bool)
    scored[aside] = False
    return scored, aside


Container = tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]
"""How to take rows, and how to put one after the other."""


def _joined_frames(first: Any, second: Any) -> Any:
    return import_optional("pandas").concat([first, second], ignore_index=True)


def _joined_tables(first: Any, second: Any) -> Any:
    import pyarrow as pa

    # A CSV holds texts, a Parquet file numbers: where two files differ, both are read as texts.
    kinds = {column.name: column.type for column in second.schema}
    mixed = [
        column.name
        for column in first.schema
        if column.name in kinds and pa.types.is_string(column.type) != pa.types.is_string(kinds[column.name])
    ]
    for name in mixed:
        first, second = (
            table.set_column(table.schema.get_field_index(name), name, table.column(name).cast(pa.string()))
            for table in (first, second)
        )
    return pa.concat_tables([first, second], promote_options="permissive")


def _joined_sparse(first: Any, second: Any) -> Any:
    from scipy.sparse import vstack

    return vstack([first, second], format="csr")


_CONTAINERS: dict[str, Container] = {
    "iloc": (lambda frame, rows: frame.iloc[rows], _joined_frames),
    "column_names": (lambda table, rows: table.take(rows), _joined_tables),
    "tocsr": (lambda matrix, rows: matrix.tocsr()[rows], _joined_sparse),
}
"""How to take and join rows of a container, by an attribute that only containers of this kind have."""


def _container(features: Any) -> Container:
    for attribute, container in _CONTAINERS.items():
        if hasattr(features, attribute):
            return container
    return lambda array, rows: np.asarray(array)[rows], lambda first, second: np.concatenate([first, second])


def arrow_of(table: Table) -> tuple[Any, Batch]:
    """A holdfast table as an Arrow table of plain values, and as it was read; what is missing is null."""
    import pyarrow as pa

    names = list(table.schema.names)
    batch = joined_batches(list(table.batches(names, order=Order.irrelevant())))
    plain = {}
    for name in names:
        column, values = table.schema[name], batch.values[name]
        if isinstance(column, DateTime):
            plain[name] = as_dates(column, np.asarray(values, dtype=np.int64), batch.missing.get(name))
        elif isinstance(column, Numeric):
            plain[name] = pa.array(values, mask=batch.missing.get(name))
        else:
            plain[name] = pa.array(list(column.labels)).take(pa.array(values))
    return pa.table(plain), batch


def joined_batches(batches: Sequence[Batch]) -> Batch:
    """The rows of all, one after the other."""
    first = batches[0]
    return Batch(
        schema=first.schema,
        values={name: np.concatenate([batch.values[name] for batch in batches]) for name in first.values},
        missing={name: np.concatenate([batch.missing[name] for batch in batches]) for name in first.missing},
        undeclared={
            name: np.concatenate(
                [batch.undeclared.get(name, np.zeros(batch.rows, dtype=np.bool_)) for batch in batches]
            )
            for name in sorted(set().union(*(batch.undeclared for batch in batches)))
        },
        rows=sum(batch.rows for batch in batches),
    )
