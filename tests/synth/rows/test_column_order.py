"""Columns in order: no row breaks it, in its cells or in its values, and what is certified does not move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, DateTime, Identifier, Numeric, Schema
from holdfast.data._batch import encode_batch
from holdfast.errors import AssumptionWarning, FormatError, HoldfastError, NotPrivateWarning, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import PrivacyUnit
from holdfast.synth import Synthesizer, Zeros
from holdfast.synth._rows.coded_rows import CodedRows, decode_rows
from holdfast.synth._rows.impossible_rows import read_impossible

DAYS = Schema(
    [Identifier("who"), *(DateTime(name, "2020-01-01", "2023-12-31") for name in ("admitted", "discharged"))],
    unit=PrivacyUnit("who", max_rows=5),
    adjacency="add_remove",
)
PLAIN = DAYS.select("admitted", "discharged")


def stays(patients: int = 400) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    first = np.datetime64("2020-01-01") + draw.integers(0, 1400, 5 * patients).astype("timedelta64[D]")
    return {
        "who": np.repeat(np.arange(patients), 5),
        "admitted": first,
        "discharged": first + draw.integers(0, 31, 5 * patients).astype("timedelta64[D]"),
    }


def lengths(rows: Any) -> Any:
    days = [
        np.asarray(rows[name]).astype("datetime64[D]").astype(np.int64) for name in ("admitted", "discharged")
    ]
    return days[1] - days[0], float(np.corrcoef(days[0], days[1])[0, 1])


@pytest.fixture(scope="module")
def ordered() -> Synthesizer:
    order = Zeros.in_order(DAYS, "admitted", "discharged", most=30)
    with pytest.warns(NotPrivateWarning):
        return Synthesizer(2.0, 1e-6, constraints=[order], random_state=0).fit(stays(), DAYS)


@pytest.fixture(scope="module")
def plain() -> Synthesizer:
    with pytest.warns(NotPrivateWarning):
        return Synthesizer(2.0, 1e-6, random_state=0).fit(stays(), DAYS)


def test_an_order_that_noise_drowns_is_kept_where_it_is_declared(
    ordered: Synthesizer, plain: Synthesizer
) -> None:
    assert lengths(plain.sample())[1] < 0.5  # 48 x 48 cells, and five rows of each patient
    days, together = lengths(ordered.sample())
    assert set(days) <= set(range(31))
    assert together > 0.995


def test_the_rows_are_those_that_were_certified(ordered: Synthesizer) -> None:
    assert ordered._rows.fingerprint() == ordered._contents.coded_rows().fingerprint()


def test_a_loaded_release_draws_rows_in_order(ordered: Synthesizer, tmp_path: Path) -> None:
    ordered.save(tmp_path / "stays.holdfast")
    loaded = Synthesizer.load(tmp_path / "stays.holdfast")
    with pytest.warns(AssumptionWarning, match="new draw"):
        days, _ = lengths(loaded.sample(300))
    assert set(days) <= set(range(31))


def test_what_is_lost_is_told_with_the_way_out(plain: Synthesizer) -> None:
    assert "declare it (Zeros.in_order" in plain.evaluate(stays()).summary()


def test_what_is_not_lost_is_not_told(ordered: Synthesizer) -> None:
    assert "Zeros.in_order" not in ordered.evaluate(stays()).summary()


@given(
    seed=st.integers(0, 10**6),
    least=st.integers(-8, 4),
    width=st.integers(0, 12),
    bins=st.tuples(*[st.one_of(st.none(), st.integers(1, 7))] * 2),
    backwards=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_values_keep_to_it_inside_their_cells(
    seed: int, least: int, width: int, bins: tuple[int | None, int | None], backwards: bool
) -> None:
    a, b = (
        Numeric(name, 0, 20, bins=one, integer=True, null="category")
        for name, one in zip("ab", bins, strict=True)
    )
    columns = [b, a] if backwards else [a, b]
    schema, domain = Schema(columns), {one.name: one.cells for one in columns}
    order = Zeros.in_order(schema, "a", "b", least=least, most=least + width)
    draw = np.random.default_rng(seed)
    codes = np.stack([draw.integers(0, cells, 200) for cells in domain.values()], axis=1)
    places = [list(domain).index(name) for name in "ab"]
    rows = CodedRows(domain=domain, codes=codes[~order.impossible_rows(codes[:, places], domain)])
    made = decode_rows(rows, schema, Source(seed=seed), (order,))
    batch = encode_batch(schema, {name: made[name] for name in domain}, len(rows))
    assert np.array_equal(np.stack([batch.codes(name) for name in domain], axis=1), rows.codes)
    pairs = [(row["a"], row["b"]) for row in made.to_pylist() if None not in row.values()]
    assert all(least <= y - x <= least + width for x, y in pairs)


def test_every_pair_of_cells_that_is_left_holds_such_a_record() -> None:
    """Against all records, one by one."""
    a, b = Numeric("a", 0, 6, bins=[0, 1.5, 4, 6], integer=True), Numeric("b", 0, 6, bins=2, integer=True)
    allowed = Zeros.in_order(Schema([a, b]), "a", "b", least=1, most=2).possible_cells((3, 2))
    wanted = np.zeros((3, 2), dtype=bool)
    for x in range(7):
        for y in range(7):
            if 1 <= y - x <= 2:
                wanted[int(np.searchsorted([1.5, 4], x, "right")), int(y >= 3)] = True
    assert np.array_equal(allowed, wanted)


def test_three_columns_in_order() -> None:
    schema = Schema([DateTime(name, "2024-01-01", "2024-12-31", bins="quarter") for name in "cab"])
    orders = [Zeros.in_order(schema, *pair) for pair in ("ab", "bc", "ac")]
    rows = CodedRows(domain={name: 4 for name in "cab"}, codes=np.full((200, 3), 2))
    made = decode_rows(rows, schema, Source(seed=3), orders)
    days = {name: made[name].to_numpy() for name in "abc"}
    assert np.all(days["a"] <= days["b"])
    assert np.all(days["b"] <= days["c"])


def test_without_an_order_nothing_moves() -> None:
    rows = CodedRows(domain={"admitted": 48, "discharged": 48}, codes=np.full((50, 2), 7))
    plain = decode_rows(rows, PLAIN, Source(seed=3))
    assert plain.equals(decode_rows(rows, PLAIN, Source(seed=3), [Zeros(("admitted",), [(0,)])]))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"first": "admitted", "second": "ward"}, "dates or whole numbers"),
        ({"first": "admitted", "second": "age"}, "unit of 'admitted'"),
        ({"first": "admitted", "second": "nobody"}, "nobody"),
        ({"first": "admitted", "second": "admitted"}, "once each"),
        ({"first": "admitted", "second": "discharged", "most": -1}, "most"),
        ({"first": "admitted", "second": "discharged", "most": 2.5}, "whole number"),
        ({"first": "admitted", "second": "discharged", "least": True}, "whole number"),
        ({"first": "age", "second": "fine"}, "coarser bins"),
    ],
)
def test_what_cannot_be_an_order_is_refused(given: dict[str, Any], told: str) -> None:
    schema = Schema(
        [
            *PLAIN.columns,
            Categorical("ward", ["a", "b"]),
            Numeric("age", 0, 90, integer=True),
            Numeric("fine", 0, 99_999, bins=50_000, integer=True),
        ]
    )
    with pytest.raises(HoldfastError, match=told):
        Zeros.in_order(schema, **given)


def test_an_order_that_leaves_no_record_is_refused_before_anything_is_spent() -> None:
    order = Zeros.in_order(DAYS, "admitted", "discharged", least=5000)
    with pytest.raises(ParameterError, match="leave a record"):
        Synthesizer(constraints=[order], random_state=0).fit(stays(5), DAYS)


def test_orders_come_from_files(tmp_path: Path) -> None:
    file = tmp_path / "never.json"
    file.write_text(json.dumps([{"in_order": ["admitted", "discharged"], "most": 30}]))
    assert read_impossible(file, PLAIN) == (Zeros.in_order(PLAIN, "admitted", "discharged", most=30),)
    for wrong in ({"in_order": ["admitted"]}, {"in_order": "admitted"}, {"in_order": ["a", "b"], "mots": 3}):
        file.write_text(json.dumps([wrong]))
        with pytest.raises(FormatError, match="two columns"):
            read_impossible(file, PLAIN)
    named = Schema([Categorical("in_order", ["no", "yes"])])
    file.write_text(json.dumps([{"in_order": "no"}]))
    assert read_impossible(file, named)[0].gap is None
