"""Attacks that see released rows only: they find copies, and nothing in an independent draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.attack import ATTACKS, Attack, MembershipResult, RowsCase, synthetic_membership
from holdfast.attack._attacks.distance_based import WARNING
from holdfast.attack._models.thresholds import calibrated_threshold
from holdfast.attack._rows.released_rows import by_spread
from holdfast.data import Categorical, Numeric, Schema
from holdfast.errors import ParameterError
from holdfast.privacy._tradeoff import TradeOff
from holdfast.synth import Synthesizer

ON_ROWS = [attack for attack in ATTACKS if attack.kind == "rows"]
COIN = TradeOff([0.0, 1.0], [1.0, 0.0], claim="proved")
SCHEMA = Schema(
    [Numeric("age", 0, 100, bins=10), *(Categorical(f"c{j}", ["a", "b", "c", "d"]) for j in range(7))]
)


def _name(attack: Attack) -> str:
    return attack.name


def _people(count: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    columns = {f"c{j}": random.choice(["a", "b", "c", "d"], count) for j in range(7)}
    return pa.table({"age": random.uniform(0, 100, count), **columns})


@pytest.mark.parametrize("attack", ON_ROWS, ids=_name)
def test_a_synthesiser_that_copies_rows_is_found(attack: Attack) -> None:
    members = _people(250, seed=1)
    report = synthetic_membership(
        members,
        members=members,
        non_members=_people(250, seed=2),
        reference=_people(250, seed=3),
        schema=SCHEMA,
        attacks=[attack],
        proved=COIN,
    )
    result = report[attack.name]
    # Counts of three columns at a time give less away than whole rows.
    assert result.auc > (0.8 if attack.name == "marginal_ratio" else 0.95)
    assert attack.name == "marginal_ratio" or result.tpr_at(0.01) > 0.5
    assert result.verdict() == "warning"  # never more: the members were given, not drawn
    assert (attack.name in report.notes) == (attack.note is not None)


@pytest.mark.parametrize("attack", ON_ROWS, ids=_name)
def test_an_independent_draw_gives_nobody_away(attack: Attack) -> None:
    warned, areas, flagged, games = 0, [], [], 0
    for seed in range(4):
        random = np.random.default_rng(seed)
        rows, records, others = (random.normal(size=(count, 5)) for count in (300, 700, 300))
        read = by_spread(rows)
        scores = attack(RowsCase(rows=read(rows), records=read(records), population=read(others)))
        for _ in range(40):
            # Nobody is a member: any halves may be called so.
            inside, aside, outside = np.split(scores[random.permutation(700)], [250, 450])
            result = MembershipResult(
                attack=attack.name, member_scores=inside, non_member_scores=outside, proved=COIN
            )
            warned, games = warned + (result.verdict() != "consistent"), games + 1
            areas.append(result.auc)
            flagged.append(calibrated_threshold(aside, false_alarm=0.1).members(inside).mean())
    assert warned <= 18  # 5 % of 160 is 8; a binomial of 8 exceeds 18 less than once in a thousand times
    assert np.mean(areas) == pytest.approx(0.5, abs=4 * np.std(areas) / np.sqrt(games))
    assert np.mean(flagged) <= 0.1 + 4 * np.std(flagged) / np.sqrt(games)


@pytest.mark.parametrize("attack", ON_ROWS, ids=_name)
def test_members_are_not_known_from_their_order(attack: Attack) -> None:
    areas = []
    for seed in range(12):
        rows, inside, outside = (
            np.random.default_rng([seed, place]).normal(size=(150, 4)) for place in range(3)
        )
        report = synthetic_membership(
            rows, members=inside, non_members=outside, attacks=[attack], random_state=seed
        )
        areas.append(report[attack.name].auc)
    assert np.mean(areas) == pytest.approx(0.5, abs=0.05)


def test_without_a_reference_half_of_the_others_serves_and_the_same_seed_repeats() -> None:
    random = np.random.default_rng(0)
    people = random.normal(size=(400, 6))
    made = [
        synthetic_membership(people[:200], members=people[:200], non_members=people[200:], random_state=7)
        for _ in range(2)
    ]
    assert made[0]["density_ratio"].non_member_scores.size == 100
    assert made[0]["nearest_row"].non_member_scores.size == 200
    for first, second in zip(*made, strict=True):
        assert np.array_equal(first.scores, second.scores)


def test_distances_carry_their_warning_into_words_and_json() -> None:
    people = np.random.default_rng(0).normal(size=(60, 2))
    report = synthetic_membership(
        people[:20], members=people[:20], non_members=people[20:40], attacks="nearest_row"
    )
    assert WARNING in report.summary()
    assert report.to_json()["notes"] == {"nearest_row": WARNING}


def test_a_synthetic_release_brings_its_schema_and_its_promise(tmp_path: Path) -> None:
    members = _people(400, seed=1)
    made = Synthesizer(epsilon=1.0, delta=1e-6, columns=["c0", "c1", "c2"]).fit(members, SCHEMA)
    made.save(tmp_path / "s.holdfast")
    report = synthetic_membership(
        tmp_path / "s.holdfast", members=members, non_members=_people(400, seed=2), random_state=0
    )
    assert report.verdict() == "consistent"
    assert report.results[0].proved is not None
    again = synthetic_membership(
        made.release_, members=members, non_members=_people(400, seed=2), random_state=0
    )
    assert np.array_equal(report["marginal_ratio"].scores, again["marginal_ratio"].scores)


@pytest.mark.parametrize(
    ("rows", "match"),
    [(_people(5, seed=1), "schema"), (np.array([[1.0, np.nan]]), "finite"), (np.ones(4), "matrix")],
)
def test_what_cannot_be_read_is_refused(rows: Any, match: str) -> None:
    people = np.ones((10, 2))
    with pytest.raises(ParameterError, match=match):
        synthetic_membership(rows, members=people, non_members=people)
    with pytest.raises(ParameterError, match="columns, as rows"):
        synthetic_membership(np.ones((5, 3)), members=people, non_members=people)
