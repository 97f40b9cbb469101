"""Replay by itself: every way in which two runs can disagree is seen, and nothing else is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from holdfast.noise._source import Source
from holdfast.noise._uniform import integers, permutation
from holdfast.privacy import ZCDP, Account, Exponential, Gaussian
from holdfast.privacy._account.parallel import accounts_for_parts
from holdfast.privacy._account.witness import Draw, Witness
from holdfast.refute._prefixes import Prefix, hostile_prefixes
from holdfast.refute._replay import TOLERANCE, ReplayCase, World, record_run, replay_on_neighbour
from holdfast.refute._replay_trial import ReplayTrial

NOISE = Gaussian(sigma=4.0, l2_sensitivity=1.0)


def world(*numbers: float) -> World:
    return World(rows=list(numbers), identifiers=np.arange(len(numbers)))


def case(run: Callable[[World, Account], Any], *, limit: float = 10.0) -> ReplayCase:
    def pairs(random: np.random.Generator) -> Iterator[tuple[World, World]]:
        yield world(1.0, 1.0), world(1.0, 0.5)

    def vary(random: np.random.Generator, pair: tuple[World, World]) -> tuple[World, World]:
        return world(1.0, 1.0), world(1.0, float(random.uniform(0, 1)))

    return ReplayCase(
        name="sum",
        open_account=lambda: Account(ZCDP(limit)),
        run=run,
        pairs=pairs,
        vary=vary,
        plain=lambda rows: world(*[1.0] * rows),
        change_record=lambda where, place: [
            world(*[0.0 if i == place else x for i, x in enumerate(where.rows)])
        ],
    )


def noisy_sum(where: World, account: Account) -> Any:
    return account.release(NOISE, [sum(where.rows)], label="sum")


def found(run: Callable[[World, Account], Any], first: World, second: World) -> str:
    return replay_on_neighbour(case(run), first, second).disagreement


def test_a_sound_sum_agrees_and_its_distance_is_told() -> None:
    seen = replay_on_neighbour(case(noisy_sum), world(1.0, 1.0), world(1.0, 0.25))
    assert seen.disagreement == ""
    assert seen.distances == {"sum": 0.75}
    assert seen.largest == 0.75


def test_a_distance_above_one_refutes_but_not_by_rounding() -> None:
    assert "1.5 sensitivities apart" in found(noisy_sum, world(1.5), world(0.0))
    assert found(noisy_sum, world(1.0 + TOLERANCE / 2), world(0.0)) == ""


@pytest.mark.parametrize(
    ("run", "seen"),
    [
        (lambda w, a: (noisy_sum(w, a), len(w.rows)), "the result.1 differs"),
        (lambda w, a: [noisy_sum(w, a) for _ in w.rows], "draws and"),
        (
            lambda w, a: a.release(Gaussian(sigma=4.0, l2_sensitivity=float(len(w.rows))), [0.0]),
            "another mechanism",
        ),
        (lambda w, a: a.release(NOISE, [0.0] * len(w.rows)), "another shape"),
        (lambda w, a: a.permit(NOISE, times=len(w.rows)), "charges differ"),
        (lambda w, a: 1 // (len(w.rows) - 1), "ZeroDivisionError"),
        (lambda w, a: len(w.rows) > 1 and warnings.warn("two rows", stacklevel=1), "warnings differ"),
    ],
    ids=["result", "rounds", "mechanism", "shape", "charge", "exception", "warning"],
)
def test_every_disagreement_is_seen(run: Callable[[World, Account], Any], seen: str) -> None:
    assert seen in found(run, world(0.5, 0.0), world(0.5))
    assert found(run, world(0.5, 0.0), world(0.5, 0.0)) == ""


def test_a_unit_in_more_draws_than_were_paid_for_is_seen() -> None:
    def overlapping(where: World, account: Account, parts: int) -> Any:
        permit = account.permit(NOISE, times=1, parts=2)
        return [permit.release([where.rows[place % parts]]) for place in range(2)]

    first, second = world(1.0, 0.0), world(0.5, 0.0)
    assert found(lambda w, a: overlapping(w, a, 2), first, second) == ""
    assert "2 draws, 1 were paid for" in found(lambda w, a: overlapping(w, a, 1), first, second)


def test_a_unit_in_two_disjoint_parts_is_seen() -> None:
    def on_parts(where: World, account: Account, both: bool) -> Any:
        accounts = accounts_for_parts(account, parts=2, label="halves")
        return [one.release(NOISE, [where.rows[0 if both else place]]) for place, one in enumerate(accounts)]

    first, second = world(1.0, 0.0), world(0.5, 0.0)
    assert found(lambda w, a: on_parts(w, a, False), first, second) == ""
    assert "paid for as disjoint" in found(lambda w, a: on_parts(w, a, True), first, second)


def test_a_fault_that_shows_only_far_from_the_origin_is_found_by_a_hostile_past() -> None:
    def grows(where: World, account: Account) -> Any:
        """The second value moves by more where the first output was large."""
        past = float(account.release(NOISE, [0.0])[0])
        reach = 1.0 if abs(past) < 500 else 3.0
        return account.release(NOISE, [reach * sum(where.rows) / 2])

    honest = replay_on_neighbour(case(grows), world(1.0, 1.0), world(1.0, 0.5))
    assert honest.disagreement == ""
    outcome = ReplayTrial(case=case(grows), pairs=1, climbs=100).run(Source(seed=1), error=0.0)
    assert outcome.refuted


def test_the_climb_comes_to_the_bound() -> None:
    outcome = ReplayTrial(case=case(noisy_sum), pairs=1, climbs=100).run(Source(seed=1), error=0.0)
    assert not outcome.refuted
    assert outcome.power is not None
    assert outcome.power > 0.95


def test_pasts_do_not_look_at_values() -> None:
    for prefix in hostile_prefixes():
        steps = [
            Draw(number=2, mechanism=NOISE, value=np.array(value)) for value in ([0.0, 1.0], [5.0, -7.0])
        ]
        assert np.array_equal(*(prefix.tape(step) for step in steps))
        chosen = Draw(number=3, mechanism=Exponential(epsilon=1.0, sensitivity=1.0), value=np.zeros(4))
        assert 0 <= prefix.tape(chosen) < 4
    assert Prefix(kind="drawn").tape is None


def test_a_record_that_is_gone_takes_its_own_coins_and_no_others() -> None:
    everybody, without = np.arange(6), np.array([0, 1, 2, 4, 5])
    draws = []
    for names in (everybody, without):
        witness = Witness(seed=3, identifiers=names)
        places = np.arange(names.size)
        batch = integers(witness, bound=5, size=names.size, records=places)
        order = permutation(witness, names.size, records=places)
        draws.append((dict(zip(names.tolist(), batch.tolist(), strict=True)), names[order].tolist()))
    assert {name: place for name, place in draws[0][0].items() if name != 3} == draws[1][0]
    assert [name for name in draws[0][1] if name != 3] == draws[1][1]


def test_what_a_run_did_is_recorded_whatever_becomes_of_it() -> None:
    def fails(where: World, account: Account) -> Any:
        noisy_sum(where, account)
        raise ValueError("no")

    seen = record_run(case(fails), world(1.0), seed=0)
    assert seen.error == "ValueError: no"
    assert len(seen.transcript.steps) == 1
