"""Groups that are not declared: found by counts of units, in one release, the same from every engine."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from holdfast.data import Categorical, Identifier, Numeric, Schema, open_table
from holdfast.data._key_counts import FoundKey, KeyCounts, UnitsByKeys, hash_of, sorted_counts
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy import Account, ApproxDP, PrivacyUnit
from holdfast.statistics import Count, DistinctUnits, Mean, StatisticsTable, UnknownKeys, answer, by, column
from holdfast.statistics._key_intervals import count_estimates
from holdfast.statistics._measures.found_keys import FoundKeys

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
COLUMNS: list[Any] = [
    Identifier("word"),
    Identifier("day"),
    Identifier("person"),
    Numeric("cost", 0, 10),
    Categorical("ward", ["a", "b"]),
]
ROW = Schema(COLUMNS, adjacency="add_remove")
PERSON = Schema(COLUMNS, unit=PrivacyUnit.user("person", max_rows=4), adjacency="add_remove")
ODD = [
    "",
    "a|b",
    "A",
    "a",
    "a ",
    "\u00e9",
    "e\u0301",
    "v",
    "n",
    "NULL",
    "'; drop table t; --",
    "x" * 1001,
    None,
]


def frame(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "word": [ODD[place] for place in np.minimum(draw.geometric(0.2, rows) - 1, len(ODD) - 1)],
            "day": draw.choice(["c", "b|c", "1"], rows),
            "person": draw.integers(0, 150, rows),
            "cost": draw.random(rows) * 10,
            "ward": draw.choice(["a", "b"], rows),
        }
    )


@pytest.mark.parametrize("schema", [ROW, PERSON], ids=["row", "person"])
@pytest.mark.parametrize("most", [1, 3, 500])
def test_engines_count_the_same_units_of_the_same_keys(schema: Schema, most: int) -> None:
    rows = frame()
    memory, stored = open_table(rows, schema), open_table(duckdb.from_df(rows), schema)
    for columns in (("word",), ("word", "day")):
        listed = tuple(("", "1")[: len(columns)] for _ in range(1))
        for asked in (
            KeyCounts(columns=columns, steps=64, most=most, secret=b"s"),
            KeyCounts(
                columns=columns, steps=64, most=most, secret=b"s", without=listed, where=column("cost") > 5
            ),
        ):
            counts = memory.aggregate(asked)
            assert stored.aggregate(asked) == counts
            assert ("x" * 1001,) not in counts
            if schema is PERSON:
                few = UnitsByKeys(counts=asked, border=3)
                assert memory.aggregate(few).tolist() == stored.aggregate(few).tolist()
    whole = memory.aggregate(KeyCounts(columns=("word",), most=500, steps=1024, secret=b"s"))
    assert ("a",) in whole
    assert ("A",) in whole
    assert ("",) in whole


def test_collations_and_unicode_merge_no_keys() -> None:
    connection = duckdb.connect()
    connection.execute("create table t (word varchar collate nocase)")
    connection.execute(
        "insert into t values ('a'), ('A'), ('é'), ('e' || chr(769)), (''), (NULL), (chr(0) || 'z')"
    )
    schema = Schema([Identifier("word")], adjacency="add_remove")
    counts = open_table(connection.table("t"), schema).aggregate(KeyCounts(columns=("word",)))
    assert counts == {("a",): 1, ("A",): 1, ("é",): 1, ("e\u0301",): 1, ("",): 1, ("\0z",): 1}


def test_units_are_counted_and_not_their_rows() -> None:
    rows = pd.DataFrame({"word": ["loud"] * 10_000 + ["b", "b"], "person": ["one"] * 10_001 + ["two"]})
    schema = Schema([Identifier("word"), Identifier("person")], unit=PrivacyUnit.user("person", max_rows=4))
    for most, expected in ((1, None), (5, {("loud",): 724, ("b",): 724 + 1024})):
        counts = open_table(rows, schema).aggregate(
            KeyCounts(columns=("word",), steps=1024, most=most, secret=b"k")
        )
        assert sum(counts.values()) <= 2 * 1024 * 1.5
        assert expected is None or counts == expected
    table = open_table(rows, schema)
    assert table.aggregate(KeyCounts(columns=("word",), steps=1, most=1, secret=b"k")).get(("loud",), 0) <= 1


def test_a_unit_draws_one_of_its_keys_uniformly_and_by_itself() -> None:
    own = [("v" + letter,) for letter in "abcd"]
    drawn = [min(own, key=lambda key: hash_of(b"secret", [f"v{unit}", *key])) for unit in range(2000)]
    counts = np.array([drawn.count(key) for key in own])
    assert abs(counts - 500).max() < 90


@pytest.mark.parametrize("schema", [ROW, PERSON], ids=["row", "person"])
@pytest.mark.parametrize(
    "questions",
    [
        [by(UnknownKeys("word"), DistinctUnits())],
        [by(UnknownKeys(["word", "day"], typical=3, other="rest"), DistinctUnits(), Mean("cost")), Count()],
        [by(UnknownKeys("word", typical=20), "ward", Count())],
        [by(UnknownKeys("word"))],
    ],
    ids=["counted", "other", "declared too", "keys only"],
)
def test_answers_of_all_engines_are_the_same_and_stored(
    schema: Schema, questions: list[Any], tmp_path: Any
) -> None:
    rows = frame()
    shuffled = rows.sample(frac=1.0, random_state=1)
    tables = [
        answer(open_table(source, schema), questions, epsilon=8.0, random_state=3)
        for source in (rows, shuffled, duckdb.from_df(rows))
    ]
    frames = [table.to_pandas() for table in tables]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])
    assert len(frames[0]) > 0
    words = frames[0]["word"].dropna().tolist()
    encoded = [word.encode() for word in words if word != "rest"]
    assert encoded == sorted(encoded)
    path = tmp_path / "found.holdfast"
    tables[0].save(path)
    assert StatisticsTable.load(path).to_pandas().equals(frames[0])
    guarantee = tables[0].release_.guarantee
    assert guarantee.curve.delta(8.0) <= 1e-6 * (1 + 1e-12)


def test_other_holds_the_rest_and_pays_for_itself() -> None:
    rows = frame(4000)
    answers = answer(
        open_table(rows, ROW),
        [by(UnknownKeys("word", other="rest"), Count(), Mean("cost"))],
        epsilon=40.0,
        delta=1e-6,
        random_state=0,
    )
    words = answers.to_pandas("word").set_index("word")
    assert words.index[-1] == "rest"
    listed = rows["word"].isin(words.index[:-1])
    assert words["count"].iloc[-1] == pytest.approx(int((~listed).sum()), abs=3)
    assert words["mean_cost"].iloc[-1] == pytest.approx(rows["cost"][~listed].mean(), abs=0.5)
    assert len(answers._plan) == 3


def test_epsilon_is_not_split_between_keys_and_their_counts() -> None:
    account = Account(ApproxDP(1.0, 1e-5), adjacency="add_remove", currency="basic", seed=0)
    answer(open_table(frame(), ROW), [by(UnknownKeys("word"), Count())], account=account)
    (entry,) = account.journal.entries
    assert entry.charge.mechanism["threshold"] == 13
    assert float(entry.charge.cost.amounts[0]) == 1.0
    assert 0 < float(entry.charge.cost.amounts[1]) <= 1e-5


def test_what_a_second_round_finds_is_new() -> None:
    rows = frame(20_000)
    answers = answer(
        open_table(rows, PERSON), [by(UnknownKeys("word", typical=3))], epsilon=2.0, random_state=0
    )
    words = answers.to_pandas()["word"].tolist()
    assert len(words) == len(set(words)) > 4


def test_no_key_is_an_answer_as_well() -> None:
    for rows in (frame(0), frame(1).assign(word=None), frame(3)):
        answers = answer(
            open_table(rows.astype({"cost": float}), ROW),
            [by(UnknownKeys("word"), Count(), Mean("cost"))],
            epsilon=1.0,
            random_state=0,
        )
        assert answers.to_pandas().shape[0] == 0


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_neighbours_differ_in_one_unit_of_keys(adjacency: str) -> None:
    """The norm of what one person changes, over all keys, for people with any number of them."""
    rows = frame(300, seed=4)
    for most in (1, 2, 500):
        asked = KeyCounts(columns=("word",), steps=1024, most=most, secret=b"q")
        whole = open_table(rows, PERSON).aggregate(asked)
        for person in rows["person"].unique()[:25]:
            less = open_table(rows[rows["person"] != person], PERSON).aggregate(asked)
            change = [whole.get(key, 0) - less.get(key, 0) for key in {*whole, *less}]
            assert sum(part * part for part in change) <= 1024**2
            assert min(change) >= 0


@pytest.mark.parametrize("true", [1, 4, 8, 12, 14, 20])
def test_intervals_hold_given_release_at_every_true_count(true: int) -> None:
    """Exactly, over the law above the threshold; the interval of all draws does not."""
    from holdfast.privacy import Thresholded

    mechanism = Thresholded.within(ApproxDP(1.0, 1e-5))
    seen = np.arange(mechanism.threshold, mechanism.threshold + 80)
    found = FoundKeys(
        keys=tuple((str(n),) for n in seen), rule="", counts=seen.astype(float), mechanism=mechanism
    )
    plain, given = count_estimates("n", found, 0.95, len(seen))
    weights = mechanism.below(true, seen) - mechanism.below(true, seen - 1)
    weights = weights / weights.sum()
    covered = (given.low <= true) & (true <= given.high)
    assert weights[covered].sum() >= 0.95 - 1e-9
    if true <= 8:
        assert weights[(plain.low <= true) & (true <= plain.high)].sum() < 0.1


def test_what_cannot_be_asked_is_refused_before_anything_is_spent() -> None:
    account = Account(ApproxDP(1.0, 1e-5), adjacency="add_remove", currency="basic", seed=0)
    refused: list[tuple[Any, str]] = [
        ([by(UnknownKeys("cost"))], "identifier"),
        ([by(UnknownKeys("nothing"))], "identifier"),
        ([by(UnknownKeys("word"), Count(), Mean("word"))], "columns"),
        ([by(UnknownKeys("word", share=1.0), Mean("cost"))], "share"),
    ]
    for questions, name in refused:
        with pytest.raises(ParameterError, match=name):
            answer(open_table(frame(), ROW), questions, account=account)
    with pytest.raises(ParameterError, match="key"):
        answer(open_table(frame(), ROW), [by(UnknownKeys("word"))], account=account, key="job")
    with pytest.raises(ParameterError, match="delta"):
        answer(open_table(frame(), ROW), [by(UnknownKeys("word"))], delta=0.0)
    zero_out = Schema(ROW.columns, adjacency="zero_out")
    with pytest.raises(AdjacencyError, match="zero_out"):
        answer(open_table(frame(), zero_out), [by(UnknownKeys("word"))])
    with pytest.raises(ParameterError, match="first"):
        by("ward", UnknownKeys("word"), Count())
    assert not account.journal.entries


def test_the_order_of_keys_is_that_of_their_bytes() -> None:
    keys, counts = sorted_counts({("b",): 2, ("B",): 3, ("",): 1})
    assert keys == (("",), ("B",), ("b",))
    assert counts.tolist() == [1, 3, 2]
    assert FoundKey(("word",), keys, "rest").labels[-1] == ("rest",)
