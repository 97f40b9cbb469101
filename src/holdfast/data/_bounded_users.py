"""At most c rows per user, by a rule that looks at that user's rows and at coins, and at nothing else.

The rule, the same in every engine: sort the user's own rows by their clipped and coded values (equal
rows are interchangeable), number them, and keep the c whose keyed hash of (number, user) is smallest. With a
fresh secret key this is a uniform sample of the user's rows. No quota is shared between users, so one user
moves nothing of another's. Rows without a user belong together to one user of no name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes
from holdfast.data._order import keyed_hash


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The rows that take part, whose they are, and which of the user's slots they fill."""

    row: Codes
    user: Codes
    slot: Codes
    owned: Codes
    """How many rows each user has in all, kept or not."""

    @property
    def users(self) -> int:
        """How many users there are."""
        return len(self.owned)


def identifier_texts(values: Any) -> list[str]:
    """Identifiers as texts: `v` and the text, or `n` where there is none.

    >>> import pyarrow as pa
    >>> identifier_texts(pa.array([7, None]))
    ['v7', 'n']
    """
    from holdfast.data._readings import texts

    return ["n" if text is None else f"v{text}" for text in texts(values).to_pylist()]


def hashed_slot(place: int, user: str) -> str:
    """What is hashed to choose among a user's rows; `place` counts from 1."""
    return f"{place}:{user}"


def keep_rows(users: Sequence[str], values: Sequence[NDArray[Any]], *, max_rows: int, key: bytes) -> Kept:
    """Choose the rows of each user; `values` are the columns that tell the user's rows apart."""
    names, owner = np.unique(np.asarray(users, dtype=object), return_inverse=True)
    owner = owner.astype(np.int64).reshape(-1)
    by_value = np.lexsort(
        [*reversed(list(values)), owner]
    )  # the last key sorts first: owner, then the values
    sizes = np.bincount(owner, minlength=len(names))
    starts = np.cumsum(sizes) - sizes
    place = np.arange(len(owner)) - starts[owner[by_value]] + 1
    slot = place.copy()
    for number in np.flatnonzero(sizes > max_rows).tolist():
        span = slice(int(starts[number]), int(starts[number] + sizes[number]))
        hashes = [keyed_hash(key, hashed_slot(here, names[number])) for here in place[span].tolist()]
        slot[span] = np.argsort(np.argsort(np.asarray(hashes))) + 1
    within_bound = slot <= max_rows
    return Kept(
        row=by_value[within_bound].astype(np.int64),
        user=owner[by_value][within_bound],
        slot=slot[within_bound] - 1,
        owned=sizes,
    )
