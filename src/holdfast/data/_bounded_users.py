"""At most c rows per user, chosen by that user's rows and a random key alone.

The rule is the same in every engine: sort the user's own rows by their clipped and coded values (equal
rows are interchangeable), number them, and keep the c whose keyed hash of (number, user) is smallest. With a
fresh secret key this is a uniform sample of the user's rows. Users share no quota, so one user never changes which
rows of another are kept. Rows without a user count as the rows of a single user without a name.
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
class KeptRows:
    """The rows that are kept, the user of each, and which of the user's c slots it fills."""

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
    """The text whose hash decides whether a row of a user is kept; `place` counts the user's rows from 1."""
    return f"{place}:{user}"


def keep_rows(users: Sequence[str], values: Sequence[NDArray[Any]], *, max_rows: int, key: bytes) -> KeptRows:
    """Choose the rows of each user; `values` are the columns by which a user's rows are sorted."""
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
        hashes = [
            keyed_hash(key, hashed_slot(row_place, names[number])) for row_place in place[span].tolist()
        ]
        slot[span] = np.argsort(np.argsort(np.asarray(hashes))) + 1
    within_bound = slot <= max_rows
    return KeptRows(
        row=by_value[within_bound].astype(np.int64),
        user=owner[by_value][within_bound],
        slot=slot[within_bound] - 1,
        owned=sizes,
    )
