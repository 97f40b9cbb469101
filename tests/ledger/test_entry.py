from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import LedgerError
from holdfast.ledger._entry import BEGINNING_HASH, LedgerEntry, canonical, entry_digest, restored_entry

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1).map("x".__add__), inner, max_size=4)
    ),
    max_leaves=10,
)


def entry(**body: Any) -> LedgerEntry:
    return LedgerEntry(
        number=4, previous=BEGINNING_HASH, nonce="9f", at="2025-01-31T12:00:00Z", kind="charge", body=body
    )


@given(JSON)
def test_one_value_has_one_text_and_is_read_back(value: Any) -> None:
    text = canonical(value)
    assert restored_entry(json.loads(text)) == value
    assert canonical(restored_entry(json.loads(text))) == text
    assert text.isascii()


def test_infinities_are_json() -> None:
    assert json.loads(canonical([math.inf, -math.inf]), parse_constant=pytest.fail) == [
        {"float": "inf"},
        {"float": "-inf"},
    ]


def test_the_hash_covers_every_field() -> None:
    base = entry(cost=["1", "0", "0"])
    others = [
        LedgerEntry(number=5, previous=base.previous, nonce="9f", at=base.at, kind="charge", body=base.body),
        LedgerEntry(number=4, previous="1" * 64, nonce="9f", at=base.at, kind="charge", body=base.body),
        LedgerEntry(
            number=4,
            previous=base.previous,
            nonce="9f",
            at="2025-01-31T12:00:01Z",
            kind="charge",
            body=base.body,
        ),
        LedgerEntry(number=4, previous=base.previous, nonce="9f", at=base.at, kind="refusal", body=base.body),
        LedgerEntry(number=4, previous=base.previous, nonce="8f", at=base.at, kind="charge", body=base.body),
        entry(cost=["2", "0", "0"]),
    ]
    assert len({base.hash, *(other.hash for other in others)}) == 7
    assert base.hash == entry_digest(base.text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        "{}",
        '{"version":1}',
        '{"version":2}',
        "[" * 10_000,
        entry().text.replace("charge", "gift"),
    ],
)
def test_a_text_that_is_no_entry_is_refused_even_with_its_hash(text: str) -> None:
    with pytest.raises(LedgerError):
        LedgerEntry.parse(text, entry_digest(text))


def test_a_changed_text_is_refused() -> None:
    true = entry(cost=["1/2", "0", "0"])
    with pytest.raises(LedgerError, match="changed"):
        LedgerEntry.parse(true.text.replace("1/2", "1/3"), true.hash)


def test_the_summary_reads_fractions_as_decimals() -> None:
    line = entry(
        account="a", mechanism={"mechanism": "Laplace"}, cost=["1/8", "0", "0"], label="3/4"
    ).summary()
    assert "account a" in line
    assert "0.125" in line
    assert "Laplace" in line
    assert "label 3/4" in line


@pytest.mark.parametrize("kind", [[], {}, None, 1, "other"])
def test_an_entry_of_no_kind_is_refused(kind: object) -> None:
    text = canonical({"version": 1, "number": 0, "previous": "", "at": "", "kind": kind, "body": {}})
    with pytest.raises(LedgerError):
        LedgerEntry.parse(text, entry_digest(text))
