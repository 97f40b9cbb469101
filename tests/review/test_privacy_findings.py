"""Findings P5 to P8: grids, Renyi accounts, mechanisms on samples, and promises that rest on a seed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from holdfast.errors import AdjacencyError, BudgetExceeded, ParameterError
from holdfast.privacy import (
    Account,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    GaussianDP,
    Guarantee,
    Laplace,
    Mechanism,
    PrivacyCurve,
    PureDP,
    RandomisedResponse,
    RenyiDP,
    SubsampledPure,
    WithSlack,
)
from tests.review.support import refused

# P5: rounding to a declared grid moves two values apart by less than one step, however large they are.

_COPIES = 2000


def _moved(mechanism: Mechanism, first: Any, second: Any) -> float:
    """How far the mean of seeded draws moves from one value to the other; the noise is the same."""
    draws = [
        Account(RenyiDP((2.0,), (1e300,)), seed=1).release(mechanism, np.full(_COPIES, value))
        for value in (first, second)
    ]
    return float(np.mean(draws[1] - draws[0]))


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("grid", "first", "second"),
    [
        (0.1, 1e17 + 48, 1e17 + 64),
        (0.1, -1e17 - 64, -1e17 - 48),
        (1.0, np.int64(2**60 + 128), np.int64(2**60 + 129)),
    ],
    ids=["doubles", "negative", "integers"],
)
def test_large_values_on_a_grid_move_by_the_declared_shift(
    law: str, grid: float, first: Any, second: Any
) -> None:
    """16 apart on a grid of 0.1: at most 161 steps (256 were seen). 1 apart on whole numbers: at most 2."""
    apart = float(int(second) - int(first))
    common = {"dimension": _COPIES, "grid": grid}
    mechanism: Mechanism = (
        DiscreteLaplace(scale=1e6, l1_sensitivity=apart, **common)  # type: ignore[arg-type]
        if law == "laplace"
        else DiscreteGaussian(sigma=1e6, l2_sensitivity=apart, **common)  # type: ignore[arg-type]
    )
    # Draws are doubles, whose own rounding is averaged out up to about one unit.
    assert _moved(mechanism, first, second) <= apart + grid + 2.0


# P6: a limit of several orders is kept at each of them.

_LIMIT = RenyiDP((2.0, 4.0, 8.0), (0.1, 0.2, 0.3))
_TOO_MUCH = Gaussian(sigma=3.1622777, l2_sensitivity=1.0)
"""Divergences of 0.1, 0.2 and 0.4 at the three orders."""


@pytest.mark.parametrize("order", [None, 2.0, 4.0])
def test_a_renyi_account_refuses_what_breaks_its_limit_at_a_higher_order(order: float | None) -> None:
    """By the account, or where it is opened: one order of several cannot be asked for."""
    assert refused(
        lambda: Account(_LIMIT, order=order).release(_TOO_MUCH, [0.0]), BudgetExceeded, ParameterError
    )


def test_a_renyi_account_refuses_what_breaks_its_limit_at_a_lower_order() -> None:
    """Laplace noise of epsilon 0.3 has 0.087 at order 2 and 0.222 at order 8."""
    limit, noise = RenyiDP((2.0, 8.0), (0.05, 0.3)), Laplace(scale=1 / 0.3, l1_sensitivity=1.0)
    assert refused(lambda: Account(limit, order=8.0).release(noise, [0.0]), BudgetExceeded, ParameterError)


@pytest.mark.parametrize("way", ["permit", "split"])
def test_permits_and_shares_of_a_renyi_account_keep_every_order(way: str) -> None:
    account = Account(_LIMIT)
    if way == "permit":
        tenth = Gaussian(sigma=10.0, l2_sensitivity=1.0)  # 0.01, 0.02 and 0.04: seven fit, eight do not
        assert refused(lambda: account.permit(tenth, times=8), BudgetExceeded)
    else:
        half, _ = account.split(0.5, 0.5)
        assert refused(lambda: half.release(Gaussian(sigma=4.48, l2_sensitivity=1.0), [0.0]), BudgetExceeded)


def test_a_renyi_account_promises_its_limit_at_every_order() -> None:
    promised = Account(_LIMIT).guarantee().curve
    assert all(promised.renyi(a) <= d for a, d in zip(_LIMIT.orders, _LIMIT.divergences, strict=True))


# P7: a sample of a mechanism is for the neighbours of that mechanism, and has its slack.


def _accepted(base: Mechanism, value: Any) -> bool:
    """Whether an add_remove account pays for this base on a Poisson sample."""
    account = Account(PureDP(10.0), adjacency="add_remove")
    return not refused(lambda: account.release(SubsampledPure(base=base, rate=0.1), value), AdjacencyError)


@pytest.mark.parametrize(
    ("base", "value"),
    [
        (Laplace(scale=1.0, l1_sensitivity=1.0, adjacency="replace"), [0.0]),  # type: ignore[arg-type]
        (Laplace(scale=1.0, l1_sensitivity=1.0, adjacency="zero_out"), [0.0]),  # type: ignore[arg-type]
        (RandomisedResponse(epsilon=1.0), [0, 1]),
    ],
    ids=["declared replace", "declared zero_out", "proved for replace only"],
)
def test_a_sampled_mechanism_keeps_the_neighbours_of_its_base(base: Mechanism, value: Any) -> None:
    assert not _accepted(base, value)


@dataclass(frozen=True, kw_only=True)
class SlackLaplace(Laplace):
    """A mechanism of the user whose sampler is near its law, and whose analysis may fail."""

    @property
    def curve(self) -> PrivacyCurve:
        return WithSlack(PureDP(1.0), 0.01, 0.02)


def test_a_sampled_mechanism_keeps_the_slack_of_its_base() -> None:
    """Soundness, section 21: tau stays tau, and an event of probability beta costs rate times beta."""
    base = SlackLaplace(scale=1.0, l1_sensitivity=1.0)
    if refused(lambda: SubsampledPure(base=base, rate=0.1)):
        return
    curve = SubsampledPure(base=base, rate=0.1).curve
    assert float(curve.total_variation) >= 0.01
    assert float(curve.failure) >= 0.1 * 0.02


# P8: a promise whose noise came from a seed says so wherever it goes.


def _marked(guarantee: Guarantee) -> bool:
    return "seed" in guarantee.summary() and "seed" in json.dumps(guarantee.to_json())


def test_the_guarantee_of_a_seeded_account_says_so() -> None:
    assert _marked(Account(PureDP(1.0), seed=1).guarantee())


@pytest.mark.parametrize("way", ["split", "stored", "composed", "composed second"])
def test_the_mark_of_a_seed_stays(way: str) -> None:
    seeded, secure = Account(GaussianDP(1.0), seed=1), Account(GaussianDP(1.0)).guarantee()
    made = {
        "split": lambda: seeded.split(0.5)[0].guarantee(),
        "stored": lambda: Guarantee.from_json(seeded.guarantee().to_json()),
        "composed": lambda: seeded.guarantee().compose(secure),
        "composed second": lambda: secure.compose(seeded.guarantee()),
    }
    assert _marked(made[way]())


def test_the_guarantee_of_a_secure_account_bears_no_mark() -> None:
    assert not _marked(Account(PureDP(1.0)).guarantee())
