"""Admissible orders: what must be declared, and what becomes an assumption."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

import numpy as np
import pytest

from holdfast.data import Categorical, Identifier, Numeric, Order, Schema, open_table
from holdfast.data._order import keyed_hash
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency

SCHEMA = Schema([Numeric("x", 0, 99), Identifier("id")])


def no_identifiers(name: str) -> list[str]:
    raise AssertionError("only a keyed hash reads identifiers")


def test_keyed_hash_is_sha256() -> None:
    key = bytes(range(32))
    assert keyed_hash(key, "vé") == sha256((key.hex() + "vé").encode()).hexdigest()[:32]


def test_shuffled_is_a_permutation_that_the_object_keeps() -> None:
    order = Order.permutation(Source(seed=3))
    drawn = order.index(1000, no_identifiers)
    assert sorted(drawn.tolist()) == list(range(1000))
    np.testing.assert_array_equal(drawn, order.index(1000, no_identifiers))
    assert drawn.tolist() != Order.permutation(Source(seed=4)).index(1000, no_identifiers).tolist()


def test_declarations() -> None:
    with pytest.raises(ParameterError, match=r"Order\.permutation"):
        Order.storage(position_carries_no_information=False)
    with pytest.raises(ParameterError, match="neighbours_keep_identifier"):
        Order.keyed_hash("id", key=b"0" * 32)
    with pytest.raises(ParameterError, match="16 bytes"):
        Order.keyed_hash("id", key=b"short", neighbours_keep_identifier=True)
    for batches, cap in ((0, 1), (1, 0)):
        with pytest.raises(ParameterError):
            Order.per_record_batches(batches=batches, cap=cap)


def test_assumptions() -> None:
    assert Order.permutation().assumptions == ()
    assert Order.keyed_hash("id").assumptions == ()
    assert Order.per_record_batches(batches=2, cap=4).assumptions == ()
    (fixed,) = Order.keyed_hash("id", key=b"0" * 32, neighbours_keep_identifier=True).assumptions
    assert "keep the identifiers of column 'id'" in fixed.text
    (stored,) = Order.storage(position_carries_no_information=True).assumptions
    assert "position of a record" in stored.text


def test_keys_are_never_shown() -> None:
    for order in (Order.permutation(), Order.keyed_hash("id"), Order.per_record_batches(batches=2, cap=4)):
        assert order.key.hex() not in repr(order)
        assert "key" not in repr(order).replace("KeyedHash", "")


@pytest.mark.parametrize("adjacency", [Adjacency.replace, Adjacency.zero_out])
def test_all_orders_are_admitted_where_the_count_is_public(adjacency: Adjacency) -> None:
    Order.permutation().admit(adjacency, SCHEMA)
    Order.keyed_hash("id").admit(adjacency, SCHEMA)
    Order.storage(position_carries_no_information=True).admit(adjacency, SCHEMA)
    Order.per_record_batches(batches=2, cap=4).admit(adjacency, SCHEMA)


def test_rankings_are_refused_under_add_remove() -> None:
    for order in (
        Order.permutation(),
        Order.keyed_hash("id"),
        Order.storage(position_carries_no_information=True),
    ):
        with pytest.raises(AdjacencyError, match="per_record_batches"):
            order.admit(Adjacency.add_remove, SCHEMA)
    Order.per_record_batches(batches=2, cap=4).admit(Adjacency.add_remove, SCHEMA)
    Order.irrelevant().admit(Adjacency.add_remove, SCHEMA)


def test_one_record_more_changes_one_batch_and_pushes_out_at_most_one() -> None:
    """Soundness, section 1: under add_remove with a cap, G = 2 L is enough."""
    for seed in range(30):
        coins = Source(seed=seed)
        order = Order.per_record_batches(batches=4, cap=3, source=coins)
        with_all = order.members(20)
        # The same coins without record 19: its batch and priority drawn, then the record taken away.
        batch_of = {record: number for number, members in enumerate(_uncapped(seed)) for record in members}
        without = [[record for record in members if record != 19][:3] for members in _uncapped(seed)]
        for number, (one, two) in enumerate(zip(with_all, without, strict=True)):
            moved = set(one.tolist()) ^ set(two)
            assert moved == set() or (number == batch_of[19] and len(moved) <= 2)
            assert len(one) <= 3


def _uncapped(seed: int) -> list[list[int]]:
    order = Order.per_record_batches(batches=4, cap=20, source=Source(seed=seed))
    return [members.tolist() for members in order.members(20)]


def test_priorities_are_uniform() -> None:
    """Who stays in a full batch is a fair draw: the first record is no better off than the last."""
    source = Source(seed=8)
    kept: Counter[int] = Counter()
    for _ in range(2000):
        order = Order.per_record_batches(batches=1, cap=2, source=source)
        kept.update(order.members(8)[0].tolist())
    assert all(abs(kept[record] - 500) < 5 * 19.4 for record in range(8))  # 5 standard deviations


def test_kernels_need_a_ranking() -> None:
    table = open_table({"x": [1, 2], "id": [1, 2]}, SCHEMA)
    with pytest.raises(AdjacencyError, match="ranks"):
        table.map_partitions(list, order=Order.irrelevant())
    with pytest.raises(ParameterError, match="declared identifier"):
        table.batches(order=Order.keyed_hash("x"))
    with pytest.raises(ParameterError, match="declared identifier"):
        open_table({"k": ["a"]}, Schema([Categorical("k", ["a"])])).batches(order=Order.keyed_hash("id"))
