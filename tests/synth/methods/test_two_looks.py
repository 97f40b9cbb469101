"""Two looks: nothing is lost by the first one, and a trial tells where the second one belongs."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast._arrays import Codes
from holdfast.errors import ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.synth import Synthesizer, Workload
from holdfast.synth._choice import choose_synthesis_method
from holdfast.synth._evaluation import evaluate
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth.methods.method import Synthesis, SynthesisTask
from holdfast.synth.methods.query_gan import query_gan
from holdfast.synth.methods.residuals import NoisyResiduals, measure_residuals
from holdfast.synth.methods.trial import TreeError, WorkloadMeasurement, choose_tables
from holdfast.synth.methods.two_looks import METHOD, two_looks
from tests.synth.synth_binary import account, bits, counted, marginals, neighbours
from tests.synth.synth_replay import distances

WORK = marginals()
LIMIT = ApproxDP(0.4, 1e-6)
ROWS, COLUMNS = 6000, 14


def chain(rows: int = ROWS, columns: int = COLUMNS) -> Codes:
    """Each bit is mostly the one before."""
    random = np.random.default_rng(6)
    made = random.integers(0, 2, (rows, columns))
    for place in range(1, columns):
        made[:, place] = made[:, place - 1] ^ (random.random(rows) < 0.1)
    return made


def pairs(data: ExactCounts) -> Workload:
    return Workload.of(list(combinations(data.domain, 2)))


def error(data: ExactCounts, made: Synthesis) -> float:
    found = evaluate(lambda columns: data(*columns), made.model.project, pairs(data))
    return found.average_total_variation


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_neighbours_stay_within_the_declared_sensitivities_and_reach_them(adjacency: str) -> None:
    moved = [
        max(distances(METHOD, first, second, WORK, limit=ApproxDP(1.0, 1e-6)))
        for first, second in neighbours(adjacency, 4)
    ]
    assert max(moved) <= 1.0
    assert max(moved) > 0.9


def test_two_looks_at_everything_are_one_look_with_both_budgets() -> None:
    data = counted(bits(500, 4), "add_remove")
    opened = account(data, currency="gdp")
    first, second = opened.split(0.25, 0.75)
    looks = [
        measure_residuals(data, list(combinations(data.domain, 2)), account=one) for one in (first, second)
    ]
    both = looks[0].combined_with(looks[1])
    alone = measure_residuals(
        data, list(combinations(data.domain, 2)), account=account(data, currency="gdp", seed=8)
    )
    one, other = (float(np.max(kept.strategy.deviations)) * kept.factor for kept in (both, alone))
    assert one == pytest.approx(other, rel=1e-6)
    for columns, value in both.values.items():
        shares = [look.factor**-2 for look in looks]
        mean = sum(s * look.values[columns] for s, look in zip(shares, looks, strict=True)) / sum(shares)
        assert value == pytest.approx(mean)


def test_a_look_at_few_tables_leaves_the_others_as_they_were() -> None:
    data = counted(bits(500, 4), "add_remove")
    first, second = account(data, currency="gdp").split(0.5, 0.5)
    known = measure_residuals(data, list(combinations(data.domain, 2)), account=first)
    both = known.combined_with(measure_residuals(data, [("x0", "x1")], account=second))
    noise = {tuple(one.columns): one.noise_std for one in both.measurements()}
    before = {tuple(one.columns): one.noise_std for one in known.measurements()}
    assert noise["x2", "x3"] == pytest.approx(before["x2", "x3"])
    assert np.array_equal(both.values["x2", "x3"], known.values["x2", "x3"])
    assert noise["x0", "x1"] < 0.6 * before["x0", "x1"]


def in_turn(values: int, columns: int) -> Codes:
    """A chain of columns of so many values."""
    random = np.random.default_rng(7)
    made = random.integers(0, values, (ROWS, columns))
    for place in range(1, columns):
        made[:, place] = np.where(random.random(ROWS) < 0.5, made[:, place - 1], made[:, place])
    return made


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (counted(in_turn(6, 12), "add_remove", cells=(6,) * 12), "few tables"),
        (counted(bits(ROWS, 16), "add_remove"), "all tables"),
    ],
    ids=["a chain", "a hidden number"],
)
def test_the_trial_tells_a_chain_from_a_hidden_number(data: ExactCounts, expected: str) -> None:
    """The second look goes where the error will be smaller; on a chain that is worth it, elsewhere it costs little."""
    accounts = [account(data, LIMIT, currency="gdp", seed=seed) for seed in (0, 1, 0, 1)]
    looked_twice = []
    for limited in accounts[:2]:
        looked_twice.append(two_looks(data, pairs(data), account=limited, most_steps=100))
        assert looked_twice[-1].parameters["second_look"] == expected
    at_once = [query_gan(data, pairs(data), account=limited, most_steps=100) for limited in accounts[2:]]
    ratio = sum(error(data, fit) for fit in looked_twice) / sum(error(data, fit) for fit in at_once)
    assert ratio < (0.85 if expected == "few tables" else 1.2)


def test_every_charge_has_its_place_and_all_is_spent() -> None:
    data = counted(chain(), "add_remove")
    opened = account(data, LIMIT, currency="gdp", seed=1)
    made = two_looks(data, pairs(data), account=opened)
    labels = [entry.charge.label for entry in opened.journal.entries]
    assert labels == [
        "first look",
        "tables to look at",
        "a look at the forest",
        "mean errors of two models",
        "tables to look at",
        "second look: few tables",
    ]
    left, limit = opened.remaining().as_gdp(), opened.promised.as_gdp()
    assert left is not None
    assert limit is not None
    assert left < 1e-3 * limit
    assert set(map(tuple, made.parameters["tried"])) <= set(combinations(data.domain, 2))
    assert len(made.parameters["tried"]) == COLUMNS - 1


def test_a_forest_joins_every_column_once() -> None:
    """Three columns that say the same are joined by two tables; the third table goes to the next strongest."""
    random = np.random.default_rng(3)
    one = random.integers(0, 2, ROWS)
    follows = one ^ (random.random(ROWS) < 0.3)
    data = counted(np.stack([one, one, one, follows], 1), "add_remove")
    choices: dict[tuple[str, ...], float] = dict.fromkeys(combinations(data.domain, 2), 1.0)
    looks = WorkloadMeasurement(data, pairs(data), account(data, ApproxDP(50.0, 1e-6), currency="gdp"))
    forest = choose_tables(
        data,
        choices,
        looks.fit_tree([]),
        times=3,
        apart=True,
        noise_std=1.0,
        account=account(data, ApproxDP(50.0, 1e-6), currency="gdp", seed=3),
    )
    assert len(forest) == 3
    assert sum("x3" in columns for columns in forest) == 1


def test_what_is_foretold_of_a_tree() -> None:
    """An error that noise alone would make leaves nothing to its structure; a larger one does."""
    assert TreeError(structure=0.3, noise=0.4).total == pytest.approx(0.5)
    data = counted(chain(), "add_remove")
    first, last = account(data, LIMIT, currency="gdp").split(0.2, 0.8)
    looks = WorkloadMeasurement(data, pairs(data), first)
    forest = [(f"x{place}", f"x{place + 1}") for place in range(COLUMNS - 1)]
    tree = looks.fit_tree(forest)
    coins = account(data, seed=5).source
    small = looks.forecast_tree_error(0.001, tree, forest, last, coins)
    large = looks.forecast_tree_error(0.5, tree, forest, last, coins)
    assert small.structure == 0.0
    assert large.structure == pytest.approx(0.5, rel=0.05)
    assert 0 < small.noise < 0.1


def test_tables_within_the_noise_are_dropped() -> None:
    codes = np.concatenate([chain(ROWS, 3), np.random.default_rng(1).integers(0, 2, (ROWS, 8))], axis=1)
    data = counted(codes, "add_remove")
    looks = WorkloadMeasurement(data, pairs(data), account(data, LIMIT, currency="gdp"))
    independent = looks.fit_tree([])
    assert looks.stands_out(("x0", "x1"), independent)
    alone = [
        looks.stands_out(one, independent) for one in combinations([f"x{place}" for place in range(3, 11)], 2)
    ]
    assert sum(alone) <= len(alone) / 2


def test_a_look_through_much_noise_changes_next_to_nothing() -> None:
    data = counted(bits(200, 3), "add_remove")
    known = measure_residuals(data, [("x0", "x1")], account=account(data, currency="gdp"))
    other = {columns: value + 100.0 for columns, value in known.values.items()}
    both: NoisyResiduals = known.combined_with(replace(known, factor=known.factor * 1e6, values=other))
    for columns, value in both.values.items():
        assert value == pytest.approx(known.values[columns], abs=1e-6)


def ask(**changes: Any) -> SynthesisTask:
    names = [f"x{place}" for place in range(30)]
    asked: dict[str, Any] = {
        "domain": dict.fromkeys(names, 2),
        "workload": Workload.of(list(combinations(names, 2))),
        "limit": ApproxDP(0.1, 1e-9),
        "rows": 20_000,
    }
    return SynthesisTask(**(asked | changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "two_looks"),
        ({"limit": ApproxDP(1.0, 1e-9)}, "query_gan"),  # all tables stand out as it is
        ({"rows": 4_000}, "query_gan"),  # the errors of two models could not be told apart
        ({"rows": None, "rows_are_public": False}, "query_gan"),
        ({"objective": "largest"}, "query_gan"),
        ({"currency": "gdp"}, "two_looks"),
    ],
    ids=["noisy", "clear", "few rows", "private rows", "largest", "gdp"],
)
def test_auto_looks_twice_where_a_trial_is_worth_it_and_can_tell(
    changes: dict[str, Any], expected: str
) -> None:
    assert choose_synthesis_method(ask(**changes)).method == expected


def test_one_column_and_columns_of_one_cell_are_looked_at_once() -> None:
    codes = np.column_stack([bits(100, 1), np.zeros((100, 2), dtype=np.int64)])
    data = counted(codes, cells=(2, 1, 1))
    opened = account(data, currency="gdp")
    made = two_looks(data, Workload.of([("x0", "x1"), ("x1", "x2")]), account=opened)
    assert len(opened.journal.entries) == 1
    assert made.model.project(("x0",)).sum() == pytest.approx(100)


def test_bad_options_are_refused_before_anything_is_charged() -> None:
    data = counted(bits(100, 3))
    for name, bad in (("components", 0), ("most_steps", -1)):
        opened = account(data, currency="gdp")
        with pytest.raises(ParameterError, match=name):
            METHOD.fit(data, marginals(3), account=opened, **{name: bad})
        assert not opened.journal.entries


class Killed(Exception):
    """As if the process had ended."""


@pytest.mark.parametrize("after", [1, 3])
def test_a_killed_job_goes_on_from_the_ledger_and_pays_once(after: int, tmp_path: Path) -> None:
    data = counted(chain(400, 5))
    path = tmp_path / "ledger.db"
    with Ledger.create(path) as ledger:
        ledger.dataset("people", limit=ApproxDP(2.0, 1e-5), adjacency=data.adjacency, currency="gdp")
    real = ResumableAccount.release

    def fit(most: int | None) -> tuple[Any, list[str]]:
        left = [most]

        def dying(self: ResumableAccount, *args: Any, **options: Any) -> Any:
            if left[0] == 0:
                raise Killed
            left[0] = None if left[0] is None else left[0] - 1
            return real(self, *args, **options)

        made: Any = Synthesizer(
            method="two_looks",
            workload=marginals(5, 2),
            options={"components": 20, "most_steps": 10},
            key="job",
        )
        with Ledger.open(path) as ledger, pytest.MonkeyPatch.context() as patch:
            patch.setattr(ResumableAccount, "release", dying)
            opened = ledger.account("people", limit=ApproxDP(1.0, 1e-6), name="a")
            try:
                made.fit(data.table, account=opened)
            except Killed:
                made = None
            assert ledger.verify().ok
            return made, [entry.charge.key or "" for entry in opened.journal.entries]

    lost, paid = fit(after)
    assert lost is None
    made, charged = fit(None)
    assert charged[: len(paid)] == paid
    assert len(charged) == len(set(charged))
    again, repeated = fit(None)
    assert repeated == charged
    assert np.array_equal(made._rows.codes, again._rows.codes)
    assert made.certificate_ is not None
    assert math.isclose(made.certificate_.alpha, again.certificate_.alpha)
