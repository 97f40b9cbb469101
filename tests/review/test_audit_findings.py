"""Findings A4 to A6: bounds that hold for any mechanism, several audits on one page, audits on real rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.audit import AuditResult, ErrorRates, FixedGuesses, GaussianGuesses, Trainings, audit
from holdfast.audit._designs.named import named_design
from holdfast.dossier import Dossier
from holdfast.errors import ParameterError
from holdfast.privacy import Account, ApproxDP, Gaussian, PureDP, RandomisedResponse
from holdfast.release import Release
from tests.review.support import refused

Kind = Literal["one-run", "multi-run", "sequential"]


# A4: what is called a valid bound is below the truth whatever the mechanism; a Gaussian guess is an estimate.


def _answers(epsilon: float, seed: int) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Training that answers, by randomised response, which slots hold a canary: exactly epsilon-DP."""
    coins, kept = np.random.default_rng(seed), 1.0 / (1.0 + math.exp(-epsilon))

    def train(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        held = rows.any(axis=1)
        return np.where(coins.random(held.size) < kept, held, ~held).astype(float)

    return train


def _gaussian_audit(epsilon: float, kind: Kind, seed: int) -> AuditResult:
    return audit(
        _answers(epsilon, seed),
        np.zeros((0, 1)),
        claim=PureDP(epsilon),
        design=named_design(
            kind,
            {
                "canaries": 1000 if kind == "one-run" else None,
                "runs": None if kind == "one-run" else 1000,
                "bound": "gaussian",
                "score": lambda answers: answers,
            },
        ),
        adjacency="zero_out",
        delta=1e-5,
        seed=seed,
    )


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize("kind", ["one-run", "multi-run"])
def test_a_valid_bound_on_randomised_response_is_below_the_truth(kind: Kind, epsilon: float) -> None:
    """One of four runs may miss; 98.7 % and 100 % did."""
    results = [_gaussian_audit(epsilon, kind, seed) for seed in range(4)]
    false = [one for one in results if one.valid and one.epsilon_lower() > epsilon]
    assert len(false) <= 1


@pytest.mark.parametrize(
    "finding",
    [
        GaussianGuesses(canaries=1000, guesses=500, correct=490),
        Trainings(
            errors=ErrorRates(false_alarms=9, without=500, misses=9, with_canary=500), bound="gaussian"
        ),
    ],
    ids=["one run", "many runs"],
)
def test_an_estimate_within_the_gaussian_family_is_not_called_a_bound(finding: Any) -> None:
    result = AuditResult(finding=finding, delta=1e-5, coins="holdfast")
    assert not result.valid


def test_a_page_shows_no_lower_bound_above_the_truth() -> None:
    """18 errors in 1,000 are what randomised response of epsilon 4 makes."""
    account = Account(PureDP(4.0))
    released = Release.of(account, account.release(RandomisedResponse(epsilon=4.0), [0]), method="answer")
    errors = ErrorRates(false_alarms=9, without=500, misses=9, with_canary=500)
    result = AuditResult(
        finding=Trainings(errors=errors, bound="gaussian"),
        delta=1e-5,
        adjacency="replace",  # type: ignore[arg-type]
    )
    (shown,) = Dossier(released, audits=[result], audience="internal").to_json()["tried"]
    assert (shown["numbers"].get("epsilon_lower") or 0.0) <= 4.0


# A5: all audits of a page together accuse a sound mechanism with the stated error at most (Holm).


def _counts() -> Release[Any]:
    """Two noisy counts with epsilon 1 at delta 1e-6."""
    account = Account(ApproxDP(1.0, 1e-6), currency="gdp")
    value = account.release(Gaussian.within(account.limit, l2_sensitivity=1.0), [3, 4])
    return Release.of(account, value, method="two noisy counts")


def _page(*correct: int) -> Dossier:
    """Audits in which so many of 100 guesses were right: from 81 on one alone refutes epsilon 1 at 95 %."""
    return Dossier(
        _counts(),
        audits=[
            AuditResult(
                finding=FixedGuesses(canaries=1000, guesses=100, correct=right),
                delta=1e-6,
                coins="holdfast",
                planted="1000 records",
                adjacency="replace",  # type: ignore[arg-type]
            )
            for right in correct
        ],
        audience="internal",
    )


@pytest.mark.parametrize(("audits", "best"), [(2, 81), (5, 82), (20, 84)])
def test_the_luckiest_of_several_audits_is_no_contradiction(audits: int, best: int) -> None:
    assert _page(best, *[73] * (audits - 1)).contradictions == ()


def test_pages_about_a_mechanism_that_just_keeps_its_promise_are_seldom_red() -> None:
    """Twenty audits on each of ten pages, each guess right with e / (1 + e): 64 % of pages were red."""
    right = np.random.default_rng(5).binomial(100, 1 / (1 + math.exp(-1.0)), size=(10, 20))
    red = [bool(_page(*row.tolist()).contradictions) for row in right]
    assert sum(red) <= 3  # of ten at 5 %: more than three in 0.1 % of cases


def test_the_lower_bounds_of_one_page_hold_together() -> None:
    page = _page(*[80] * 10)
    together = page.audits[0].epsilon_lower(1 - 0.05 / 10)
    shown = [one["numbers"]["epsilon_lower"] for one in page.to_json()["tried"]]
    assert all(one <= together * (1 + 1e-5) for one in shown)


def test_strong_contradictions_stay_contradictions() -> None:
    """Holm's steps: among twenty the strong one stays, and beside a strong one the weak one counts alone."""
    assert len(_page(81).contradictions) == 1
    assert len(_page(99, *[73] * 19).contradictions) == 1
    assert len(_page(99, 81).contradictions) == 2


# A6: an audit on real rows is a function of them, planted canaries or not.

_WIDTH = 64


def _noisy_sum(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(rows.sum(axis=0) + 0.5 * np.random.default_rng(7).normal(size=_WIDTH))


def _on(rows: NDArray[np.float64], kind: Kind) -> AuditResult:
    return audit(
        _noisy_sum,
        rows,
        claim=ApproxDP(1.0, 1e-6),
        adjacency="replace",
        design=named_design(kind, {"canaries": 60} if kind == "one-run" else {"runs": 32}),
        seed=3,
    )


def _tables() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two tables that differ in one row."""
    rows = np.random.default_rng(11).normal(size=(20, _WIDTH)) / _WIDTH
    other = rows.copy()
    other[0] = 10.0 * np.random.default_rng(12).normal(size=_WIDTH)
    return rows, other


def _published(result: AuditResult) -> Any:
    """What the public edition holds of the audit; None if it refuses it."""
    if refused(lambda: Dossier(_counts(), audits=[result]), ParameterError):
        return None
    said = Dossier(_counts(), audits=[result]).to_json()
    return said["audits"], said["tried"]


@pytest.mark.parametrize("kind", ["one-run", "multi-run", "sequential"])
def test_an_audit_on_real_rows_is_not_public(kind: Kind) -> None:
    assert _published(_on(_tables()[0], kind)) is None


def test_a_stored_audit_on_real_rows_does_not_become_public() -> None:
    assert _published(AuditResult.from_json(_on(_tables()[0], "one-run").to_json())) is None


def test_the_public_page_is_the_same_for_neighbouring_tables() -> None:
    first, second = (_published(_on(rows, "one-run")) for rows in _tables())
    assert first == second


def test_an_audit_of_planted_records_alone_is_public() -> None:
    assert _published(_on(np.zeros((0, _WIDTH)), "one-run")) is not None
