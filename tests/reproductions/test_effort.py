"""What privacy adds to SGD, counted."""

from __future__ import annotations

from studies.reproductions.effort import METHODS, effort, noise_in_the_database


def once(account: object, rows: list[float]) -> float:
    total = 0.0
    for row in rows:
        total = total + row  # "total" is a word of the list
    return account.release(total)  # type: ignore[attr-defined, no-any-return]


def test_statements_are_counted_where_they_are() -> None:
    made = effort((once,))
    assert (made.outside, made.inside) == (2, 1)


def test_only_the_rivals_have_noise_in_their_loops() -> None:
    assert {name for name, functions in METHODS.items() if effort(functions).inside} == {"SCS13", "BST14"}
    assert noise_in_the_database() == 0
