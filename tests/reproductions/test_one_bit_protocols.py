"""One-bit protocols between layers: everything can be computed, with early stopping and without."""

from __future__ import annotations

import numpy as np
import pytest
from studies.reproductions import one_bit_protocols as protocols
from studies.reproductions.one_bit_protocols import play


def _tables(bits: int) -> list[np.ndarray]:
    random = np.random.default_rng(bits)
    made = [random.integers(0, 2, size=(2**bits, 2**bits)) for _ in range(4)]
    return [*made, protocols.inner_product(bits), protocols.equality(bits), protocols.greater(bits)]


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_the_universal_protocol_is_right_everywhere(bits: int) -> None:
    """Theorem 5.23, with two players fewer."""
    for tau in _tables(bits):
        made = protocols.universal(tau)
        assert len(made) == 2 ** (bits + 1) - 2
        for x in range(2**bits):
            for y in range(2**bits):
                played = play(made, x, y)
                assert played.answer == tau[x, y]
                assert set(played.bits) <= {0, 1}


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_nobody_needs_to_stop(bits: int) -> None:
    """Question 4: yes."""
    for tau in _tables(bits):
        made = protocols.universal_without_stopping(tau)
        assert len(made) == 2 ** (bits + 1)
        for x in range(2**bits):
            for y in range(2**bits):
                played = play(made, x, y)
                assert (played.answer, played.players) == (tau[x, y], len(made))


def test_every_function_of_two_times_two_bits_needs_at_most_six_players() -> None:
    fewest = protocols.fewest_without_stopping(2)
    assert fewest.min() == 1
    assert fewest.max() == 6
    random = np.random.default_rng(0)
    for number in random.integers(0, 2**16, 200):
        tau = np.array([number >> place & 1 for place in range(16)]).reshape(4, 4)
        assert protocols.code(tau) == number
        assert protocols.players_by_rank(tau) <= fewest[number]


def test_with_stopping_three_players_do_for_two_times_two_bits() -> None:
    needed = [protocols.least_players(tau) for tau in protocols.classes()]
    assert len(needed) == 317
    assert max(needed) == 3
    assert protocols.players_by_counting(2) <= 3
    constant = np.zeros((4, 4), dtype=np.int64)
    assert protocols.least_players(constant) == 1


def test_inner_product_needs_as_many_players_as_there_are_strings() -> None:
    """Example 5.22, where nobody stops: the matrix of signs has full rank."""
    for bits in (1, 2, 3, 4, 5):
        assert protocols.players_by_rank(protocols.inner_product(bits)) == 2**bits


def test_a_step_adds_at_most_one_to_the_rank() -> None:
    random = np.random.default_rng(1)
    table = np.zeros((8, 8), dtype=np.int64)
    for player in range(1, 9):
        answers = random.integers(0, 2, size=(8, 2))
        held = np.indices((8, 8))[(player - 1) % 2]
        table = answers[held, table]
        assert protocols.players_by_rank(table) <= player
