"""SCS13: stochastic gradient descent with noise in the gradient of every disjoint mini-batch. A baseline.

Song, Chaudhuri and Sarwate 2013, "Stochastic gradient descent with differentially private updates"
(GlobalSIP); soundness, section 6. The batches of a pass are disjoint, so a pass costs as
much as one of its steps; passes add up. Noise enters at every step: bolt-on SGD needs it once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._assumption import REAL_ARITHMETIC, Assumption
from holdfast._progress import progress
from holdfast.errors import DataError, require
from holdfast.learn._problem import Problem
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import Chunk, Examples, regroup
from holdfast.learn.methods.method import SINGLE_ROWS, Fit, Learner, Rank
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.mechanism import Arithmetic, Mechanism
from holdfast.privacy._mechanisms.vector_laplace import VectorLaplace

THEOREM = (
    "SGD with private updates (Song, Chaudhuri and Sarwate 2013): parallel composition inside a pass, "
    "sequential composition of passes"
)
REAL_NUMBERS = Assumption(kind=REAL_ARITHMETIC, text="noise inside training is analysed as real numbers")


def scs13(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    passes: int = 1,
    batch: int = 50,
    step: float = 1.0,
    arithmetic: Arithmetic = "idealised",
) -> Fit:
    """SGD whose every mini-batch gradient is released with noise; the last iterate is post-processing.

    Private when the loss is Lipschitz; neither convexity nor smoothness is needed. Steps are step / sqrt(t),
    or min(step, 1 / (penalty t)) with a penalty; t counts batches. The divisor is `batch`, however many
    records a batch has. Under `add_remove` every record draws its batch by itself in each pass.
    """
    require(passes >= 1, "passes", passes, "a whole number >= 1")
    require(batch >= 1, "batch", batch, "a whole number >= 1")
    require(0 < step < math.inf, "step", step, "> 0 and finite")
    batch = min(batch, examples.public_count)
    batches = math.ceil(examples.public_count / batch)
    # Soundness, section 6: one record moves one averaged gradient of each pass, by G / b.
    mechanism = step_noise(
        account.remaining(),
        passes=passes,
        l2_sensitivity=problem.gradient_change(account.adjacency) / batch,
        arithmetic=arithmetic,
        adjacency=account.adjacency,
    )
    if account.adjacency.count_is_public:
        require_public_count(examples)
    permit = account.permit(mechanism, times=passes, parts=batches, label="scs13")
    w = np.zeros((problem.predictions, problem.dimension))
    chunks = _batches(examples, account.source, passes=passes, batch=batch)
    for t, chunk in zip(progress(range(1, passes * batches + 1), desc="scs13"), chunks, strict=True):
        # One release of all classes' gradients, stacked: its norm is that of the whole matrix.
        noisy = permit.release((gradient_sum(problem, w, chunk) / batch).ravel()).reshape(w.shape)
        eta = min(step, 1.0 / (problem.penalty * t)) if problem.penalty > 0 else step / math.sqrt(t)
        w = (1.0 - eta * problem.penalties) * w - eta * noisy
        length = float(np.linalg.norm(w))
        if length > problem.radius:
            w = w * (problem.radius / length)
    return Fit(
        weights=problem.of_weights(w),
        theorem=THEOREM,
        parameters={
            "passes": passes,
            "batch": batch,
            "step": step,
            "penalty": problem.penalty,
            "arithmetic": arithmetic,
        },
        assumptions=() if arithmetic == "strict" else (REAL_NUMBERS,),
    )


def step_noise(limit: PrivacyCurve, *, passes: int, l2_sensitivity: float, **options: Any) -> Mechanism:
    """The noise of every step such that all passes together spend the limit.

    >>> from holdfast.privacy import GaussianDP, PureDP
    >>> step_noise(PureDP(1.0), passes=4, l2_sensitivity=1.0).curve
    PureDP(epsilon=0.25)
    >>> round(float(step_noise(GaussianDP(1.0), passes=4, l2_sensitivity=1.0).curve.mu), 6)
    0.5
    """
    pure = limit.as_pure()
    if pure is not None:
        return VectorLaplace(epsilon=pure / passes, l2_sensitivity=l2_sensitivity, **options)
    # mu = sqrt(passes) mu of a pass: as one release whose sensitivity is sqrt(passes) times larger.
    whole = Gaussian.within(limit, l2_sensitivity=l2_sensitivity * math.sqrt(passes) * (1 + 1e-15), **options)
    return Gaussian(sigma=whole.sigma, l2_sensitivity=l2_sensitivity, **options)


def gradient_sum(problem: Problem, w: Floats, chunk: Chunk) -> Floats:
    """The sum of the loss's gradients over a batch."""
    x, y = clip_chunk(chunk, problem)
    return np.asarray(problem.slopes(x @ w.T, y).T @ x)


def require_public_count(examples: Examples) -> None:
    """Refuse a public count that is not the number of rows where that number is public."""
    rows = sum(int(labels.size) for _, labels in examples.chunks())
    if rows != examples.public_count:
        raise DataError(
            f"public_count must be the number of rows under adjacency={examples.adjacency.value!r}, "
            f"got public_count={examples.public_count}"
        )


def _batches(examples: Examples, source: Source, *, passes: int, batch: int) -> Iterator[Chunk]:
    """The batches of all passes, each pass in its own secret order."""
    count = math.ceil(examples.public_count / batch)
    for _ in range(passes):
        if examples.adjacency.count_is_public:
            sizes = [min(batch, examples.public_count - start * batch) for start in range(count)]
            yield from regroup(examples.shuffled_chunks(source), sizes, dimension=examples.dimension)
        else:
            yield from examples.random_batches(source, batches=count)


METHOD = Learner(
    name="scs13",
    run=scs13,
    paper="SCS13",
    needs=("lipschitz",),
    pure=True,
    outputs=("one", "several"),
    single_rows=SINGLE_ROWS,
    ranks=(Rank(place=6, pure=True),),
    behind="a baseline: noise in every mini-batch of one pass",
)
