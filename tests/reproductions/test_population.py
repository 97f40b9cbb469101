"""The population study: known law, scores that one record moves by 1, slopes and verdicts that can fail."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest

study = import_module("studies.reproductions.000_population")


def test_the_population_and_its_queries() -> None:
    assert float(study.POPULATION.sum()) == pytest.approx(1.0)
    assert study.QUERIES.shape == (448, 256)
    # The cells of one marginal share the population out.
    np.testing.assert_allclose((study.QUERIES @ study.POPULATION).reshape(56, 8).sum(axis=1), 1.0)


def test_one_record_moves_a_score_by_one_at_most() -> None:
    random = np.random.default_rng(0)
    current = random.dirichlet(np.ones(256))
    counts = np.bincount(random.integers(256, size=50), minlength=256).astype(float)
    scores = study.QUERIES @ (counts - counts.sum() * current)
    for gone, come in random.integers(256, size=(50, 2)):
        other = counts + np.eye(256)[come] - np.eye(256)[gone]
        assert float(np.abs(study.QUERIES @ (other - other.sum() * current) - scores).max()) <= 1.0 + 1e-12


@pytest.mark.parametrize("name", [study.FULL, study.PASS])
def test_a_run_spends_its_account_and_finds_the_population(name: str) -> None:
    drawn = np.random.default_rng(1).choice(256, size=4_000, p=study.POPULATION)
    account = study.opened(1.0, 3)
    run = study.descend(study.batches_of(name, drawn, 1.0), account, alpha=None)
    assert float(account.remaining().as_zcdp()) < 1e-3 * study.rho_of(1.0)
    assert study.largest(study.POPULATION - run.average) < 0.2
    assert study.largest(study.POPULATION - 1.0 / 256.0) > 0.2
    assert run.gap > 0


def test_disjoint_batches_hold_every_record_once() -> None:
    drawn = np.random.default_rng(1).choice(256, size=999, p=study.POPULATION)
    batches = study.batches_of(study.PASS, drawn, 1.0)
    np.testing.assert_array_equal(np.sum(batches, axis=0), np.bincount(drawn, minlength=256))


def test_slopes_and_verdicts() -> None:
    series = {float(x): [2.0 * x**-0.5, 3.0 * x**-0.5, 4.0 * x**-0.5] for x in (10, 100, 1000)}
    assert study.slope(series) == pytest.approx((-0.5, -0.5, -0.5))
    assert (
        study.verdict((-0.5, -0.52, -0.48), -0.4, -0.5)
        == "beaten: falls faster; corrected exponent within the interval"
    )
    assert study.verdict((-0.3, -0.35, -0.25), -0.4, -0.4).startswith("refuted")
    assert "refuted" not in study.verdict((-0.3, -0.35, -0.25), -0.4, -0.4, stands_in=True)
    assert study.verdict((-0.4, -0.45, -0.35), -0.4, -0.4) == "confirmed"


def test_the_lemma_in_both_norms() -> None:
    worst = study.lemma(trials=300)
    assert worst["slope in L1"] <= 1.0 + 1e-6
    assert 1.5 < worst["slope in L∞"] <= 2.0 + 1e-6
    assert worst["curvature in L∞"] <= 1.0 + 1e-3
    assert math.isfinite(study.corollary_46(1_000))
