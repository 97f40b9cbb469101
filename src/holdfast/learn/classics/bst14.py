"""BST14: noisy SGD for Lipschitz losses, a labelled baseline (Bassily, Smith and Thakurta 2014).

Each step draws a fresh secret batch of fixed size, adds Gaussian noise to its mean gradient, and projects. The
structure is the paper's; the accounting is not. Printed, the noise has variance sigma^2 iota with iota = 1 for
the logistic loss: the variance must be (sigma iota)^2, and replacing a record moves a gradient by iota = 2 L
(soundness, section 6). Here the noise is calibrated by a Renyi bound for sampling without replacement.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._assumption import ACCURACY, Assumption
from holdfast._progress import progress
from holdfast.errors import ParameterError, require
from holdfast.learn._problem import Problem
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import Examples
from holdfast.learn.methods.method import SINGLE_ROWS, Fit, Learner
from holdfast.noise._source import Source
from holdfast.noise._uniform import integers
from holdfast.privacy._account import Account
from holdfast.privacy._calibration import calibrate
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.fixed_size import FixedSizeGaussianCurve
from holdfast.privacy._curves.renyi import RenyiDP
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.privacy._mechanisms.subsampled import FixedSizeGaussian

BASELINE = Assumption(kind=ACCURACY, text="a baseline from the literature; other methods are more accurate")
ADJACENCIES = ("replace", "zero_out")


def bst14(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    passes: int = 1,
    batch: int = 50,
    arithmetic: Arithmetic = "idealised",
) -> Fit:
    """Noisy SGD with eta_t = 2 R / (G sqrt(t)), or 1 / (penalty t) for a penalised loss; the last iterate.

    Private for a convex loss with gradients of norm at most L, under replace and zero_out, in an account of
    currency "renyi". `passes` times the public count over `batch` steps; all of it fixed in advance.
    """
    require(passes >= 1, "passes", passes, ">= 1")
    if not math.isfinite(problem.radius) and problem.penalty <= 0:
        raise ParameterError(
            f"bst14 needs a finite radius for an unpenalised loss, got radius={problem.radius!r}; "
            "give radius=... or penalty=..."
        )
    population = examples.public_count
    require(1 <= batch <= population, "batch", batch, f"between 1 and the number of rows, {population}")
    steps = passes * max(1, population // batch)
    mechanism = noise_for(
        account, problem, batch=batch, population=population, steps=steps, arithmetic=arithmetic
    )
    features, labels = _matrix(examples, problem, population)
    permit = account.permit(mechanism, times=steps, label="bst14")
    noise_std = float(mechanism.sigma) / batch
    w = np.zeros((problem.predictions, problem.dimension))
    for t in progress(range(1, steps + 1), desc="bst14"):
        chosen = without_replacement(account.source, size=batch, population=population)
        slopes = problem.slopes(features[chosen] @ w.T, labels[chosen])
        total = permit.release(slopes.T @ features[chosen])
        w = w - step_size(t, problem, noise_std=noise_std) * (total / batch + problem.penalties * w)
        size = float(np.linalg.norm(w))
        w = w * min(1.0, problem.radius / max(size, 1e-300))
    return Fit(
        weights=problem.of_weights(w),
        theorem="BST14 steps; " + FixedSizeGaussian.theorem,
        parameters={"steps": steps, "batch": batch, "gradient_noise_std": noise_std},
        assumptions=(BASELINE,),
    )


def noise_for(
    account: Account, problem: Problem, *, batch: int, population: int, steps: int, arithmetic: Arithmetic
) -> FixedSizeGaussian:
    """The least noise for which all steps together fit into what remains."""
    # Section 6: iota is the change of the batch's sum, 2 L; zero_out as well, since an unsampled place is
    # exchanged for another record and not left empty. L would be wrong there: for sigma = L and a small rate q the
    # records x against the others' -x have a chi-square divergence of q^2 (e^4 - 2 e^2 + e) = 42.5 q^2, and
    # Wang, Balle and Kasiviswanathan's bound at L would claim no more than 4 (e - 1) q^2 = 6.9 q^2.
    iota = 2.0 * problem.lipschitz

    def mechanism(multiplier: float) -> FixedSizeGaussian:
        return FixedSizeGaussian(
            sigma=multiplier * iota,
            l2_sensitivity=iota,
            batch=batch,
            population=population,
            adjacency=account.adjacency,
            arithmetic=arithmetic,
        )

    if account.currency.name != "renyi":
        raise ParameterError(
            f"bst14 is accounted in Renyi divergences, got an account of currency {account.currency.name!r}; "
            "open it with currency='renyi'"
        )
    order = float(getattr(account.currency, "order"))  # noqa: B009 - only this currency has one
    rate = Fraction(batch, population)
    return mechanism(_least_multiplier(account.remaining(), order, rate, steps))


@lru_cache(maxsize=256)  # curves in this currency hold doubles alone, so that equal ones are the same
def _least_multiplier(limit: PrivacyCurve, order: float, rate: Fraction, steps: int) -> float:
    """The least noise, in sensitivities, for which so many steps fit into the limit."""

    def price_of_steps(multiplier: float) -> RenyiDP:
        """All steps at the account's order."""
        step = FixedSizeGaussianCurve(multiplier, rate).renyi(order)
        return RenyiDP((order,), (steps * step * (1.0 + 1e-12),))

    return calibrate(price_of_steps, limit)


def step_size(t: int, problem: Problem, *, noise_std: float) -> float:
    """1 / (penalty t), or 2 R / (G sqrt(t)) with G^2 = d sigma^2 + L^2, the second moment of a noisy gradient."""
    if problem.penalty > 0:
        return 1.0 / (problem.penalty * t)
    return (
        2.0
        * problem.radius
        / (math.hypot(math.sqrt(problem.weights) * noise_std, problem.lipschitz) * math.sqrt(t))
    )


def without_replacement(source: Source, *, size: int, population: int) -> NDArray[np.int64]:
    """A uniformly random set of `size` places: places are drawn one by one, and repeats are dropped.

    >>> sorted(without_replacement(Source(seed=1), size=3, population=3).tolist())
    [0, 1, 2]
    """
    if 2 * size > population:
        from holdfast.noise._uniform import permutation

        return permutation(source, population)[:size]
    chosen: dict[int, None] = {}
    while len(chosen) < size:
        chosen.update(dict.fromkeys(integers(source, bound=population, size=size - len(chosen)).tolist()))
    return np.fromiter(chosen, dtype=np.int64, count=size)


def _matrix(examples: Examples, problem: Problem, population: int) -> tuple[Floats, Floats]:
    """All rows in memory; a table with fewer or more rows than its public count is padded with null rows or cut."""
    features = np.zeros((population, examples.dimension))
    labels = np.ones(population)
    start = 0
    for rows, values in (clip_chunk(chunk, problem) for chunk in examples.chunks()):
        stop = min(population, start + values.size)
        features[start:stop], labels[start:stop] = rows[: stop - start], values[: stop - start]
        start = stop
    return features, labels


METHOD = Learner(
    name="bst14",
    run=bst14,
    paper="Bassily, Smith and Thakurta 2014",
    needs=("convex", "lipschitz", "delta"),
    adjacencies=ADJACENCIES,
    currency="renyi",
    outputs=("one", "several"),
    single_rows=SINGLE_ROWS,
    behind="a baseline: one record per step needs far more noise in total",
    samples=True,
)
