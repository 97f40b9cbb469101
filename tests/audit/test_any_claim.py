"""Claims of any size: an audit ends with a verdict, whatever epsilon from 1e-6 to 1e6 and delta from 0 to 0.1 say."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

from holdfast.audit import audit
from holdfast.audit._bounds.guess_path import crossing, level
from holdfast.audit._bounds.signal import gaussian_parameter
from holdfast.audit._bounds.worst_case import keep_probability
from holdfast.audit._designs.many_runs import Bound as ManyRunsBound
from holdfast.audit._designs.named import named_design
from holdfast.audit._designs.one_run import Bound as OneRunBound
from holdfast.audit._result import AuditResult
from holdfast.privacy import ZCDP, ApproxDP, GaussianDP, PrivacyCurve, PureDP, compose

BOUNDS: dict[str, tuple[str | None, ...]] = {
    "one-run": get_args(OneRunBound),
    "multi-run": get_args(ManyRunsBound),
    "sequential": (None,),
}
DESIGNS = [(kind, bound) for kind, bounds in BOUNDS.items() for bound in bounds]


def claim_of(draw: np.random.Generator, size: float) -> PrivacyCurve:
    """A claim of some kind whose parameter is this."""
    delta = float(draw.choice([0.0, 10 ** draw.uniform(-12, -1)]))
    kinds: list[PrivacyCurve] = [
        PureDP(size),
        ApproxDP(size, delta),
        ZCDP(rho=size),
        GaussianDP(mu=size),
        compose([PureDP(size), GaussianDP(mu=min(size, 50.0))]),
    ]
    return kinds[int(draw.integers(len(kinds)))]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "bound"), DESIGNS)
def test_every_claim_gets_a_verdict(kind: str, bound: str | None) -> None:
    draw = np.random.default_rng([DESIGNS.index((kind, bound)), 1])
    for size in (1e-6, 36.5, 1e6, *10 ** draw.uniform(-6, 6, 3)):
        claim = claim_of(draw, float(size))
        noise = float(draw.choice([0.0, 1.0, 100.0]))
        found = audit(
            lambda rows, noise=noise: rows.sum(axis=0) + noise * draw.normal(size=rows.shape[1]),
            np.zeros((3, int(draw.choice([4, 40])))),
            claim=claim,
            adjacency=str(draw.choice(["add_remove", "replace", "zero_out"])),
            design=named_design(
                kind,
                {
                    "bound": bound,
                    "canaries": int(draw.choice([2, 7, 40])) if kind == "one-run" else None,
                    "runs": None if kind == "one-run" else 40,
                    "noiseless": (lambda rows: rows.sum(axis=0)) if draw.random() < 0.5 else None,
                },
            ),
            delta=None if isinstance(claim, PureDP | ApproxDP) else 10 ** draw.uniform(-12, -1),
            seed=int(draw.integers(1000)),
        )
        assert found.verdict(claim) in ("refuted", "consistent", "warning")
        assert math.isfinite(found.epsilon_lower(0.95))
        assert "claim: epsilon" in found.summary(claim)
        assert found.power(claim) is not None
        assert found.power(PureDP(40.0)) is not None
        assert AuditResult.from_json(found.to_json()).to_json() == found.to_json()


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 30.0, 35.0, 36.0, 36.5, 37.0, 700.0, 1e6])
def test_a_level_of_the_path_is_valid_or_that_of_a_union_bound(epsilon: float) -> None:
    looks = np.arange(1, 31)
    share = 0.05 / looks.size * (1.0 - 1e-9)
    found = level(looks, epsilon=epsilon, beta=0.05)
    assert found >= share
    assert found == share or crossing(found, looks, epsilon=epsilon) <= 0.05


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.1])
def test_the_gaussian_of_a_claim_just_keeps_it(delta: float) -> None:
    draw = np.random.default_rng(0)
    for epsilon in (0.0, 1e-6, 1e6, *10 ** draw.uniform(-6, 6, 12)):
        mu = gaussian_parameter(ApproxDP(float(epsilon), delta), delta=delta)
        assert GaussianDP(mu * 0.95).delta(float(epsilon)) <= delta
        assert GaussianDP(mu * 1.05).delta(float(epsilon)) >= delta


def test_chances_of_the_truth_never_overflow() -> None:
    for epsilon in (-1e6, -800.0, -1.0, 0.0, 1.0, 800.0, 1e6):
        assert keep_probability(epsilon) + keep_probability(-epsilon) == pytest.approx(1.0)
