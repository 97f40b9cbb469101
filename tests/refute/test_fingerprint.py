"""Fingerprints: equal for equal things, different to the last bit, and a difference is named by its place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.noise._source import Source
from holdfast.privacy import ZCDP, Account
from holdfast.refute._fingerprint import fingerprint, first_difference


@dataclass
class Held:
    weights: Any
    note: str = "same"


def things(last: float) -> list[Any]:
    return [
        last,
        np.array([1.0, last]),
        {"a": (1, [last])},
        Held(np.array([last])),
        partial(max, last),
        lambda: last,
        pa.table({"x": [1.0, last]}),
        {1, 2, last},
        np.array([last, None], dtype=object),
    ]


def test_equal_things_are_equal_and_the_last_bit_counts() -> None:
    for one, again, other in zip(things(0.1), things(0.1), things(float(np.nextafter(0.1, 1))), strict=True):
        assert fingerprint(one) == fingerprint(again), one
        assert fingerprint(one) != fingerprint(other), one


def test_sources_do_not_count_and_charges_do() -> None:
    assert fingerprint(Source(1)) == fingerprint(Source(2))
    assert fingerprint(Account(ZCDP(1.0))) == fingerprint(Account(ZCDP(1.0)))


def test_things_that_hold_themselves() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert fingerprint(loop) == fingerprint(loop)


@pytest.mark.parametrize(
    ("first", "second", "place"),
    [
        ([Held(np.zeros(2))], [Held(np.ones(2))], "the result.0.weights"),
        ({"a": 1}, {"b": 1}, "the result"),
        ([1, 2], [1, 2], ""),
    ],
)
def test_a_difference_is_named_by_its_place(first: Any, second: Any, place: str) -> None:
    assert first_difference(first, second) == place
