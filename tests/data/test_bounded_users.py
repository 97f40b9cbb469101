"""Bounding a user's rows: a fair sample of that user's rows, whatever the others do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data._bounded_users import identifier_texts, keep_rows

rows = st.lists(st.tuples(st.sampled_from("abcn"), st.integers(0, 3)), min_size=1, max_size=40)


def kept(data: list[tuple[str, int]], max_rows: int, key: bytes = b"k" * 32) -> list[tuple[str, int]]:
    users = [user for user, _ in data]
    found = keep_rows(users, [np.array([value for _, value in data])], max_rows=max_rows, key=key)
    assert len(set(found.row.tolist())) == len(found.row)
    assert found.users == len(set(users))
    return sorted(data[row] for row in found.row.tolist())


@given(rows, st.integers(1, 5))
def test_at_most_the_bound_and_no_fewer(data: list[tuple[str, int]], max_rows: int) -> None:
    sizes = Counter(user for user, _ in data)
    found = Counter(user for user, _ in kept(data, max_rows))
    assert found == {user: min(size, max_rows) for user, size in sizes.items()}


@given(rows, rows, st.integers(1, 5))
def test_other_users_do_not_matter(
    one: list[tuple[str, int]], two: list[tuple[str, int]], max_rows: int
) -> None:
    """Whoever joins or leaves, the rows kept of everyone else are the same."""
    mine = [("me", value) for _, value in one]
    others = [row for row in two if row[0] != "me"]
    alone = kept(mine, max_rows)
    assert [row for row in kept(mine + others, max_rows) if row[0] == "me"] == alone
    assert [row for row in kept(others + mine, max_rows) if row[0] == "me"] == alone


@given(rows, st.integers(1, 5), st.randoms())
def test_layout_does_not_matter(data: list[tuple[str, int]], max_rows: int, coins: Any) -> None:
    shuffled = list(data)
    coins.shuffle(shuffled)
    assert kept(shuffled, max_rows) == kept(data, max_rows)


def test_the_sample_is_fair() -> None:
    """A user of nine equal rows and one other: the other is kept in 3 of 10 draws of 3."""
    data = [("u", 0)] * 9 + [("u", 1)]
    trials = 2000
    hits = sum(("u", 1) in kept(data, 3, np.random.default_rng(i).bytes(32)) for i in range(trials))
    assert abs(hits - 0.3 * trials) < 5 * (trials * 0.21) ** 0.5


def test_slots_are_distinct_per_user() -> None:
    users = ["a"] * 7 + ["b"] * 2
    found = keep_rows(users, [np.arange(9)], max_rows=4, key=b"k" * 32)
    places = list(zip(found.user.tolist(), found.slot.tolist(), strict=True))
    assert len(set(places)) == len(places) == 6
    assert all(0 <= slot < 4 for _, slot in places)


def test_identifiers_as_text() -> None:
    assert identifier_texts(pa.array([1, 20, None])) == ["v1", "v20", "n"]
    assert identifier_texts(pa.array([1.0, 20.0, None])) == ["v1", "v20", "n"]
    assert identifier_texts(pa.array(["n", None, ""])) == ["vn", "n", "v"]
