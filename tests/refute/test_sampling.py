"""Sampling: declared rates are met by the shipped samplers, and every other law of secret coins is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from holdfast.noise._bernoulli import bernoulli
from holdfast.noise._source import Source
from holdfast.noise._uniform import permutation
from holdfast.privacy import Account, ApproxDP, Gaussian, SubsampledGaussian
from holdfast.privacy._mechanisms import FixedSizeGaussian
from holdfast.refute._replay import ReplayCase, World
from holdfast.refute._sampling import SamplingTrial, declares_a_rate

ROWS, STEPS, RATE = 12, 60, 0.25
Draw = Callable[[Source, int], Any]
POISSON = SubsampledGaussian(sigma=4.0, l2_sensitivity=1.0, rate=RATE)
FIXED = FixedSizeGaussian(sigma=4.0, l2_sensitivity=1.0, batch=3, population=ROWS)


def case(draw: Draw, mechanism: Any = POISSON) -> ReplayCase:
    def run(where: World, account: Account) -> Any:
        permit = account.permit(mechanism, times=STEPS)
        return [
            permit.release([float(where.rows[draw(account.source, step)].sum())]) for step in range(STEPS)
        ]

    def change_record(where: World, place: int) -> list[World]:
        rows = where.rows.copy()
        rows[place] = 0.0
        return [World(rows=rows, identifiers=where.identifiers)]

    def none(*_: Any) -> Iterator[Any]:
        return iter(())

    adjacency = "zero_out"
    return ReplayCase(
        name="sampled sum",
        open_account=lambda: Account(ApproxDP(1e6, 0.5), adjacency=adjacency, currency="renyi"),
        run=run,
        pairs=none,
        vary=lambda random, pair: pair,
        change_record=change_record,
        plain=lambda rows: World(rows=1.0 + np.arange(rows) / 7.0, identifiers=np.arange(rows)),
    )


def poisson(source: Source, step: int) -> Any:
    return bernoulli(source, p=Fraction(1, 4), size=ROWS, records=np.arange(ROWS))


def outcome(draw: Draw, mechanism: Any = POISSON) -> Any:
    return SamplingTrial(case=case(draw, mechanism), rows=ROWS, coins=2000).run(Source(seed=4), error=1e-8)


def test_a_poisson_sample_and_a_fixed_batch_pass_as_what_they_are() -> None:
    assert not outcome(poisson).refuted
    assert not outcome(lambda source, step: permutation(source, ROWS) < 3, FIXED).refuted


@pytest.mark.parametrize(
    "draw",
    [
        lambda source, step: permutation(source, ROWS) < 3,
        lambda source, step: bernoulli(source, p=Fraction(1, 2), size=ROWS),
        lambda source, step: bernoulli(Source(seed=3), p=Fraction(1, 4), size=ROWS),
        lambda source, step: np.repeat(bernoulli(source, p=Fraction(1, 4), size=ROWS // 2), 2),
        lambda source, step: np.arange(ROWS) % 4 == step % 4,
    ],
    ids=["fixed size", "twice the rate", "one batch for all", "rows in pairs", "in turn"],
)
def test_other_laws_at_the_poisson_price_fall(draw: Draw) -> None:
    assert outcome(draw).refuted


def test_a_poisson_sample_at_the_price_of_a_fixed_batch_falls() -> None:
    assert outcome(poisson, FIXED).refuted


def test_who_declares_no_rate_is_not_tried() -> None:
    assert declares_a_rate(case(poisson), ROWS)
    assert not declares_a_rate(
        case(lambda source, step: np.ones(ROWS, dtype=bool), Gaussian(sigma=4.0, l2_sensitivity=1.0)), ROWS
    )
