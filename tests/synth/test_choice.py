"""`auto` looks at public quantities only, and names a method that can do what is asked."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from holdfast.data import Categorical, Identifier, Schema
from holdfast.errors import ParameterError
from holdfast.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP
from holdfast.synth import SYNTHESISERS, Synthesizer, Workload
from holdfast.synth._choice import choose_synthesis_method, find_synthesis_method
from holdfast.synth.methods.independent import independent
from holdfast.synth.methods.method import SynthesisMethod, SynthesisRank, SynthesisTask

DOMAIN = {"a": 2, "b": 3, "c": 4}
WORKLOAD = Workload.of([("a", "b"), ("b", "c")])


def task(**changes: Any) -> SynthesisTask:
    asked: dict[str, Any] = {"domain": DOMAIN, "workload": WORKLOAD, "limit": ApproxDP(1.0, 1e-9)}
    return SynthesisTask(**(asked | changes))


def test_the_choice_fits_the_promise() -> None:
    assert choose_synthesis_method(task()).method == "adaptive"
    pure = choose_synthesis_method(task(limit=PureDP(1.0)))
    assert (pure.method, pure.entry.pure) == ("mwem", True)
    assert "need no delta" in pure.summary()
    for limit in (PureDP(1.0), ApproxDP(1.0, 1e-9)):
        alone = task(domain={"a": 9}, workload=Workload.of([("a",)]), limit=limit)
        assert choose_synthesis_method(alone).method == "independent"


def test_without_the_first_the_next_is_taken() -> None:
    order = ["adaptive", "tree", "independent"]
    left = list(SYNTHESISERS)
    for name in order:
        assert choose_synthesis_method(task(), left).method == name
        left = [method for method in left if method.name != name]
    with pytest.raises(ParameterError, match="method must be given"):
        choose_synthesis_method(task(), left)


def ranked(place: float, **declared: Any) -> SynthesisMethod:
    """A stranger's method, for tables of three columns."""
    rank = SynthesisRank(
        place=place, reason="it is new", when=lambda asked: len(asked.domain) == 3, options={"steps": 2}
    )
    return SynthesisMethod(name="stranger", run=independent, paper="none", ranks=(rank,), **declared)


def test_a_strangers_method_takes_part() -> None:
    choice = choose_synthesis_method(task(), (*SYNTHESISERS, ranked(0.5)))
    assert (choice.method, choice.options) == ("stranger", {"steps": 2})
    assert choice.summary() == "method='auto' chose 'stranger': it is new"
    assert choose_synthesis_method(task(), (*SYNTHESISERS, ranked(9.0))).method == "adaptive"
    pair = task(domain={"a": 2, "b": 2}, workload=Workload.of([("a", "b")]))
    assert choose_synthesis_method(pair, (*SYNTHESISERS, ranked(0.5))).method == "adaptive"


@pytest.mark.parametrize(
    ("declared", "asked"),
    [
        ({}, {"limit": PureDP(1.0)}),
        ({"adjacencies": ("replace",)}, {"adjacency": Adjacency.add_remove}),
        ({"single_rows": "keep one row"}, {"unit": PrivacyUnit.user("who", max_rows=2)}),
        ({"most_cells": 23}, {}),
    ],
    ids=["delta", "adjacency", "unit", "cells"],
)
def test_what_a_method_would_refuse_is_never_chosen(declared: dict[str, Any], asked: dict[str, Any]) -> None:
    stranger = ranked(0.5, **declared)
    assert not stranger.takes(task(**asked))
    assert choose_synthesis_method(task(**asked), (*SYNTHESISERS, stranger)).method != "stranger"


def test_methods_are_found_by_name() -> None:
    assert [find_synthesis_method(method.name) for method in SYNTHESISERS] == list(SYNTHESISERS)
    assert find_synthesis_method(ranked(1.0)).name == "stranger"
    with pytest.raises(ParameterError, match="'auto' or one of"):
        find_synthesis_method("magic")


def test_names_are_sorted_and_differ() -> None:
    names = [method.name for method in SYNTHESISERS]
    assert names == sorted(set(names))


ROWS = {"a": [0, 1] * 60, "b": [0, 1, 1, 0] * 30, "who": [str(i // 2) for i in range(120)]}
BITS = [Categorical("a", [0, 1]), Categorical("b", [0, 1])]
USERS = PrivacyUnit.user("who", max_rows=2)


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
@pytest.mark.parametrize("users", [False, True], ids=["rows", "users"])
@pytest.mark.parametrize("columns", [1, 2])
def test_auto_never_takes_a_method_that_refuses(
    delta: float, adjacency: str, users: bool, columns: int
) -> None:
    """Whatever is promised to whom, with a private number of rows where it can be one."""
    kept = BITS[:columns]
    schema = Schema([*kept, Identifier("who")], unit=USERS) if users else Schema(kept)
    made = Synthesizer(
        epsilon=1.0,
        delta=delta,
        adjacency=adjacency,
        random_state=1,
        workload=Workload.of([tuple(column.name for column in kept)]),
        columns=[column.name for column in kept],
    )
    made.fit({name: ROWS[name] for name in schema.names} | ({"who": ROWS["who"]} if users else {}), schema)
    assert made.choice_ is not None
    assert len(made.sample()["a"]) >= 1


@pytest.mark.parametrize("users", [False, True], ids=["rows", "users"])
def test_delta_is_below_one_over_the_units(users: bool) -> None:
    """A larger one would permit the release of somebody's rows as they are."""
    schema = Schema([*BITS, Identifier("who")], unit=USERS) if users else Schema(BITS)
    units = 60 if users else 120
    rows = {name: ROWS[name] for name in schema.names} | ({"who": ROWS["who"]} if users else {})
    for delta in (0.3, 1.0 / units):
        with pytest.raises(ParameterError, match="delta must be < 1 / n"):
            Synthesizer(epsilon=1.0, delta=delta, columns=["a", "b"]).fit(rows, schema)


def bits_task(
    columns: int, *, rows: int | None = 20_000, epsilon: float = 1.0, cells: int = 2
) -> SynthesisTask:
    domain = {f"x{place}": cells for place in range(columns)}
    pairs = Workload.of(list(combinations(domain, 2)))
    return task(domain=domain, workload=pairs, limit=ApproxDP(epsilon, 1e-9), rows=rows)


def test_tables_that_all_stand_out_of_their_noise_are_measured_at_once() -> None:
    """Dense tables of many small columns, where a selection leaves out what matters."""
    for columns in (16, 60, 100, 240):
        choice = choose_synthesis_method(bits_task(columns))
        assert choice.method == "query_gan"
        assert "a generator holds them all" in choice.summary()
    # Large columns: 190 tables of 144 cells, 64.7 sqrt(2 x 190) = 1,261 against 2.5 times n / 144 rows in a cell.
    assert not bits_task(20, cells=12, rows=72_500, epsilon=0.1).shows_every_table()
    assert bits_task(20, cells=12, rows=72_800, epsilon=0.1).shows_every_table()


def test_small_tables_are_measured_at_once_whatever_the_noise() -> None:
    for asked in (bits_task(60, rows=None), bits_task(60, rows=500), bits_task(60, epsilon=0.01)):
        assert choose_synthesis_method(asked).method == "query_gan"
    # 36 cells a table are too many for that, 25 are not.
    assert bits_task(20, cells=5, rows=None).shows_every_table()
    assert not bits_task(20, cells=6, rows=None).shows_every_table()


def test_of_small_tables_there_may_be_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.synth.methods.method.MOST_SMALL_TABLE_CELLS", 4 * 190)
    assert bits_task(20).shows_every_table()
    assert not bits_task(21).shows_every_table()


def test_the_largest_error_is_made_small_by_measuring_everything() -> None:
    for columns, cells, method in ((20, 12, "query_gan"), (20, 30, "gaussian"), (3, 2, "gaussian")):
        asked = bits_task(columns, cells=cells, epsilon=0.1)
        assert choose_synthesis_method(asked).method == "adaptive"
        assert choose_synthesis_method(replace(asked, objective="largest")).method == method
    assert choose_synthesis_method(task(limit=PureDP(1.0), objective="largest")).method == "mwem"


def test_a_sacrifice_is_told_from_public_and_released_values() -> None:
    asked = bits_task(20, cells=12, rows=100_000, epsilon=0.1)
    choice, aimed = choose_synthesis_method(asked), asked.one_shot_error()
    assert aimed is not None
    # 27,360 cells: the largest of so many normal numbers is about 4.2, by a noise of 1,261 in 100,000 rows.
    assert aimed == pytest.approx(4.2 * 1261 / 100_000, rel=0.02)
    assert choice.with_caution(asked, 2.1 * aimed).endswith("objective='largest' aims at that")
    for told in (
        choice.with_caution(asked, 1.9 * aimed),
        choice.with_caution(asked, None),
        choice.with_caution(replace(asked, objective="largest"), 1.0),
    ):
        assert told == choice.summary()
    assert replace(asked, rows=None).one_shot_error() is None


@pytest.mark.parametrize(
    "asked",
    [
        bits_task(20, cells=6, rows=None),
        bits_task(20, cells=6, rows=500),
        bits_task(20, cells=6, epsilon=0.01),
        bits_task(20, cells=30, rows=10**8),
        bits_task(3),
        task(limit=PureDP(1.0), rows=20_000),
    ],
    ids=["private rows", "few rows", "little budget", "large columns", "few tables", "pure"],
)
def test_else_what_to_measure_is_selected(asked: SynthesisTask) -> None:
    assert not asked.shows_every_table()
    assert choose_synthesis_method(asked).method != "query_gan"


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_a_private_number_of_rows_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables that differ in nothing but a private number of rows are given to the same task."""
    seen: list[SynthesisTask] = []

    def noted(asked: SynthesisTask) -> Any:
        seen.append(asked)
        return choose_synthesis_method(asked)

    monkeypatch.setattr("holdfast.synth._synthesizer.choose_synthesis_method", noted)
    for rows in (40, 400):
        table = {"a": [0, 1] * rows, "b": [0, 1, 1, 0] * (rows // 2)}
        Synthesizer(1.0, 1e-7, adjacency="add_remove", random_state=0).fit(table, Schema(BITS))
    assert seen[0] == seen[1]
    assert seen[0].rows is None
