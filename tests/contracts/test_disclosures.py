"""Every attack of disclosure keeps more than the contract: on mixed columns, too, it finds copies only."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from holdfast.attack import ATTACKS, Attack, synthetic_disclosure
from holdfast.data import Categorical, Numeric, Schema

ON_PEOPLE = [attack for attack in ATTACKS if attack.kind == "disclosure"]
SCHEMA = Schema(
    [
        Numeric("age", 0, 100, bins=10),
        Numeric("pay", 0, 1000, bins=10),
        *(Categorical(f"c{j}", ["a", "b", "c", "d"]) for j in range(5)),
    ]
)


def _name(attack: Attack) -> str:
    return attack.name


def _people(count: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    age = random.uniform(0, 100, count)
    columns = {f"c{j}": random.choice(["a", "b", "c", "d"], count, p=[0.7, 0.1, 0.1, 0.1]) for j in range(5)}
    return pa.table({"age": age, "pay": 8 * age + random.uniform(0, 200, count), **columns})


@pytest.mark.parametrize("attack", ON_PEOPLE, ids=_name)
def test_rows_that_are_the_members_are_found(attack: Attack) -> None:
    members = _people(400, seed=1)
    report = synthetic_disclosure(
        members, members=members, control=_people(400, seed=2), schema=SCHEMA, attacks=[attack], number=300
    )
    worst = max(report, key=lambda result: result.risk)
    # Half of a person's columns, four of them categories, fit many rows equally well: fewer are linked.
    assert worst.limits[0] > (0.05 if attack.name == "linkability" else 0.15)
    assert worst.risk > (0.1 if attack.name == "linkability" else 0.3)
    assert report.audience == "internal"
    assert "beyond the control group" in report.summary()


@pytest.mark.parametrize("attack", ON_PEOPLE, ids=_name)
def test_an_independent_draw_gives_nobody_away(attack: Attack) -> None:
    alarms, games = 0, 40
    for seed in range(games):
        rows, members, control = (_people(200, seed=1000 * part + seed) for part in (1, 2, 3))
        report = synthetic_disclosure(
            rows,
            members=members,
            control=control,
            schema=SCHEMA,
            attacks=[attack],
            number=60,
            random_state=seed,
        )
        alarms += any(result.limits[0] > 0 or result.limits[1] < 0 for result in report)
    assert alarms <= 6  # 5 % of 40 is 2; a binomial of 2 exceeds 6 less than once in two hundred times


@pytest.mark.parametrize("attack", ON_PEOPLE, ids=_name)
def test_what_the_population_gives_away_is_not_held_against_the_rows(attack: Attack) -> None:
    """Pay follows age for everybody: inference succeeds on both groups, and the risk stays at nothing."""
    rows, members, control = (_people(600, seed=seed) for seed in (7, 8, 9))
    report = synthetic_disclosure(rows, members=members, control=control, schema=SCHEMA, attacks=[attack])
    for result in report:
        assert result.limits[0] <= 0 <= result.limits[1]
    if attack.name == "inference":
        found = report["inference of pay"]
        assert found.rate("members") > found.rate("blind") + 0.1


@pytest.mark.parametrize("attack", ON_PEOPLE, ids=_name)
def test_the_same_seed_repeats_and_papers_are_named(attack: Attack) -> None:
    rows, members, control = (_people(80, seed=seed) for seed in (1, 2, 3))
    made = [
        synthetic_disclosure(
            rows, members=members, control=control, schema=SCHEMA, attacks=[attack], number=40
        )
        for _ in range(2)
    ]
    assert [(r.members, r.control, r.blind) for r in made[0]] == [
        (r.members, r.control, r.blind) for r in made[1]
    ]
    assert attack.paper
