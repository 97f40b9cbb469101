"""Layers of a model as players that pass one bit on: what leaks (Wu 2016, section 5.4).

Players take turns in holding x and y; each hears the bit of the one before and nothing else (definition 5.19). With
early stopping a player may end the protocol with the answer (definition 5.20): the bit is then one of three signs.
A function tau(x, y) is a table of 2^n lines, one per x, and 2^n columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require

Table = NDArray[np.int64]


@dataclass(frozen=True)
class Message:
    """What a player says: a bit for the next one, or, with `stop`, the answer."""

    bit: int
    stop: bool = False


Player = Callable[[int, int], Message]
"""From the input that it holds and the bit that it hears (0 for the first) to a message."""


@dataclass(frozen=True)
class Played:
    """The answer, and how many players spoke."""

    answer: int
    players: int
    bits: tuple[int, ...]


def play(protocol: list[Player], x: int, y: int) -> Played:
    """One run. Players 1, 3, 5 ... hold x, the others y; the last one's bit is the answer if nobody stopped."""
    bits: list[int] = []
    for place, player in enumerate(protocol):
        said = player(x if place % 2 == 0 else y, bits[-1] if bits else 0)
        bits.append(said.bit)
        if said.stop:
            break
    return Played(answer=bits[-1], players=len(bits), bits=tuple(bits))


def universal(tau: Table) -> list[Player]:
    """The universal-1 protocol: pair after pair asks "is x this string?" and, told yes, answers tau and stops.

    Theorem 5.23 counts 2^(n+1) players. Two fewer do: after 2^n - 1 times "no" only one string is left.

    >>> tau = np.array([[0, 1], [1, 0]])
    >>> [play(universal(tau), x, y).answer for x in (0, 1) for y in (0, 1)]
    [0, 1, 1, 0]
    """
    size = len(tau)
    require(
        tau.shape == (size, size) and size >= 2, "tau", tau.shape, "as many columns as lines, two or more"
    )

    def asks(string: int) -> Player:
        return lambda x, heard: Message(int(x == string))

    def answers(string: int) -> Player:
        def says(y: int, heard: int) -> Message:
            if heard:
                return Message(int(tau[string, y]), stop=True)
            if string == size - 2:
                return Message(int(tau[size - 1, y]), stop=True)
            return Message(0)

        return says

    return [player for string in range(size - 1) for player in (asks(string), answers(string))]


# Without early stopping (question 4).
def universal_without_stopping(tau: Table) -> list[Player]:
    """Any tau by one-bit messages and 2^(n+1) players, nobody stopping: question 4 has the answer yes.

    Player 2i - 1 says 0 if x is the i-th string and else passes the bit on. Player 2i adds tau(x_i, y) +
    tau(x_{i+1}, y) modulo 2, the last one tau(x_last, y). If x is the i-th string, the bit is set to 0 at player 2i
    - 1 and what is added from there on telescopes to tau(x_i, y). The value lies in the bit all the time, under a
    mask that y knows.

    >>> tau = np.array([[0, 1], [1, 1]])
    >>> [play(universal_without_stopping(tau), x, y).answer for x in (0, 1) for y in (0, 1)]
    [0, 1, 1, 1]
    """
    size = len(tau)
    require(
        tau.shape == (size, size) and size >= 2, "tau", tau.shape, "as many columns as lines, two or more"
    )
    after = np.vstack([tau[1:], np.zeros((1, size), dtype=np.int64)])
    added = (tau + after) % 2

    def clears(string: int) -> Player:
        return lambda x, heard: Message(0 if x == string else heard)

    def adds(string: int) -> Player:
        return lambda y, heard: Message(heard ^ int(added[string, y]))

    return [player for string in range(size) for player in (clears(string), adds(string))]


def fewest_without_stopping(bits: int) -> NDArray[np.int64]:
    """For every table of 4^n bits the fewest players that compute it without stopping; n = 1 or 2.

    What a player who holds x does to one line of the table of messages depends on two bits only, the answers to 0
    and to 1: the line stays, is turned over, or becomes constant. Players of y do so to columns. Private coins add
    nothing where the answer must always be right: any fixed coins give a protocol without coins.
    """
    require(bits in (1, 2), "bits", bits, "1 or 2")
    size = 2**bits
    lines, columns = _lines_and_columns(size)
    tables = np.arange(2 ** (size * size))
    fewest = np.where(tables == 0, 0, -1)
    for player in range(1, 4 * size + 1):
        found = fewest >= 0
        for mask in lines if player % 2 == 1 else columns:
            reached = tables[found]
            for step in (reached ^ mask, reached & ~mask, reached | mask):
                found[step] = True
        fewest[found & (fewest < 0)] = player
        if found.all():
            break
    fewest[0] = 1  # somebody must say it
    return fewest


def players_by_rank(tau: Table) -> int:
    """A protocol without stopping needs at least so many players: the rank of the matrix (-1)^tau.

    A player multiplies each line (or column) of the matrix of signs by 1, -1 or 0 and puts a constant where it was
    0: the rank grows by at most one. The matrices of inner product and of equality (n >= 2) have full rank, 2^n:
    with the protocol above, the number of players that example 5.22 asks for lies between 2^n and 2^(n+1) where
    nobody stops.

    >>> [players_by_rank(inner_product(bits)) for bits in (1, 2, 3)]
    [2, 4, 8]
    """
    return int(np.linalg.matrix_rank(1.0 - 2.0 * tau))


def _lines_and_columns(size: int) -> tuple[list[int], list[int]]:
    """The cells of every line and of every column, as bits."""
    lines = [sum(1 << (x * size + y) for y in range(size)) for x in range(size)]
    return lines, [sum(1 << (x * size + y) for x in range(size)) for y in range(size)]


def code(tau: Table) -> int:
    """The number of a table, as `fewest_without_stopping` counts them."""
    return sum(1 << place for place, value in enumerate(tau.reshape(-1).tolist()) if value)


# With early stopping (question 3): how many players are needed?
def players_by_counting(bits: int) -> int:
    """So many players are needed for some function, because fewer have too few protocols.

    A player has 2 x 2^n things to distinguish and four things to do (0, 1, stop with 0, stop with 1), the first one
    half as many: k players make at most 4^(2^n) 16^(2^n (k - 1)) protocols, and there are 2^(4^n) functions.

    >>> [players_by_counting(bits) for bits in (2, 4, 8, 16)]
    [2, 5, 65, 16385]
    """
    size = 2**bits
    return int(1 + max(0, -(-(size - 2) // 4)))


def least_players(tau: Table, *, most: int = 64) -> int:
    """The fewest players that compute tau with early stopping, by search; for n = 1 and 2.

    To stop when the answer is known never hurts: whoever is left has fewer cases to tell apart. So a state is the
    set of live inputs and the bit heard on each.
    """
    size = len(tau)
    require(size in (2, 4), "tau", tau.shape, "of 2 or 4 lines")
    truth, cells = code(tau), (1 << size * size) - 1
    lines, columns = _lines_and_columns(size)
    states = {(cells, 0)}
    for player in range(1, most + 1):
        masks = lines if player % 2 == 1 else columns
        states = {after for state in states for after in _after(*state, masks, truth)}
        if any(live == 0 for live, _ in states):
            return player
        states = _undominated(states)
    raise AssertionError("the universal protocol needs fewer")


def _after(live: int, heard: int, masks: list[int], truth: int) -> Iterator[tuple[int, int]]:
    """The states that one player can leave: for each input held and each bit heard, stop or say 0 or 1."""
    choices: list[list[tuple[int, int]]] = []
    for mask in masks:
        for cells in (live & mask & ~heard, live & mask & heard):
            if cells == 0:
                continue
            if truth & cells in (0, cells):
                continue  # the answer is known: stop
            choices.append([(cells, 0), (cells, cells)])
    for chosen in product(*choices):
        yield sum(cells for cells, _ in chosen), sum(said for _, said in chosen)


def _undominated(states: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """One of two states that differ by the names of the bits."""
    return {min((live, heard), (live, live & ~heard)) for live, heard in states}


# Functions of the text.
def inner_product(bits: int) -> Table:
    """The parity of x and y, example 5.22."""
    return np.array([[int(x & y).bit_count() % 2 for y in range(2**bits)] for x in range(2**bits)])


def equality(bits: int) -> Table:
    """Whether x = y."""
    return np.eye(2**bits, dtype=np.int64)


def greater(bits: int) -> Table:
    """Whether x > y, the millionaires' question."""
    return np.array([[int(x > y) for y in range(2**bits)] for x in range(2**bits)])


def classes() -> list[Table]:
    """One function of two times two bits for each class under renaming of inputs (317 of 65,536)."""
    from itertools import permutations

    seen: dict[tuple[int, ...], Table] = {}
    for lines in product(range(16), repeat=4):
        if list(lines) != sorted(lines):
            continue
        table = np.array([[line >> y & 1 for y in range(4)] for line in lines])
        least = min(
            tuple(
                sorted(sum(int(v) << y for y, v in enumerate(row)) for row in table[:, list(order)].tolist())
            )
            for order in permutations(range(4))
        )
        seen.setdefault(least, table)
    return list(seen.values())
