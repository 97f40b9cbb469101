"""MWEM: multiplicative weights driven by the exponential mechanism (Hardt, Ligett and McSherry 2012)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.privacy.account import Account
from holdfast.privacy.mechanism import Mechanism
from holdfast.privacy.mechanisms.exponential import Exponential
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.privacy.mechanisms.laplace import Laplace
from holdfast.progress import progress
from holdfast.synth.budget import SAFE, amount, selection_epsilon
from holdfast.synth.counted import Counted
from holdfast.synth.method import Method, Synthesis
from holdfast.synth.methods.mwem_factored import mwem_factored
from holdfast.synth.rounds import best_rounds
from holdfast.synth.starting import HELD, SHARE, SUPPORT, start
from holdfast.synth.support import universe_size
from holdfast.synth.truth import SCORE_SENSITIVITY, Truth
from holdfast.synth.universe import Universe
from holdfast.synth.workload import Workload

Floats = NDArray[np.float64]
MOST_ROUNDS = 200
PASSES = 10
"""Times that all measurements so far are replayed in each round (Hardt, Ligett and McSherry 2012, section 2.3)."""
THEOREM = "MWEM: selections of sensitivity 1 by the exponential mechanism and noisy answers of sensitivity 1"
WITHOUT = (
    "multiplicative weights on selections of sensitivity 1 by the exponential mechanism, no measurements"
)


def mwem(
    data: Counted,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    measure: bool = True,
    factored: bool | None = None,
    passes: int = PASSES,
    most_rounds: int = MOST_ROUNDS,
    held: int = HELD,
    support: int = SUPPORT,
    share: float = SHARE,
    **options: Any,
) -> Synthesis:
    """Select the query that the weights answer worst, measure it, and move the weights to agree with what was measured.

    Private under every adjacency: selections and answers have sensitivity 1 in counts; half of the budget goes to
    each. With `measure=False` all of it goes to selections of signed queries, and a step of fixed length is taken.
    The average of the rounds is released. On domains too large to hold, `factored` (the default there) selects whole
    tables and keeps a graphical model of those measured; `factored=False` runs on a sampled support instead.
    """
    large = universe_size(data.domain) > held
    if factored or (factored is None and large and measure):
        return mwem_factored(data, workload, account=account, rounds=rounds, **options)
    truth = Truth.of(data, workload, account=account, method="mwem")
    begun = start(data, account=account, held=held, support=support, share=share)
    universe, rest = begun.universe, begun.account
    times = rounds
    if times is None:
        # Half of the budget selects.
        selecting = rest.split(0.5)[0] if measure else rest
        times = best_rounds(
            selecting,
            count=truth.size,
            log_universe=universe.log_size,
            queries=truth.layout.size,
            most=most_rounds,
        )
    require(times >= 1, "rounds", times, "a whole number >= 1")
    run = _measured if measure else _unmeasured
    average, found = run(truth, universe, times, passes, rest)
    return Synthesis(
        model=universe.model(average, truth.size),
        theorem=THEOREM if measure else WITHOUT,
        measurements=begun.measurements,
        parameters={"rounds": times, "measure": measure, **found, **begun.parameters},
    )


def _measured(
    truth: Truth, universe: Universe, times: int, passes: int, account: Account
) -> tuple[Floats, dict[str, object]]:
    selecting, measuring = account.split(0.5, 0.5)
    epsilon = selection_epsilon(selecting, times)
    choose = selecting.permit(
        Exponential(epsilon=epsilon, sensitivity=SCORE_SENSITIVITY, adjacency=account.adjacency),
        times=times,
        label="worst queries",
    )
    mechanism, noise_std = answer_noise(measuring, times)
    answer = measuring.permit(mechanism, times=times, label="their answers")
    log_weights, average = np.zeros(universe.size), np.zeros(universe.size)
    current = universe.uniform()
    known: dict[int, list[float]] = {}
    with progress("mwem", total=times) as bar:
        for _ in range(times):
            gap = np.abs(truth.excess(universe.answers(current, truth.layout)))
            index = choose.release(gap)
            noisy = float(np.ravel(answer.release(truth.counts[index : index + 1]))[0])
            known.setdefault(index, []).append(min(1.0, max(0.0, noisy / truth.size)))
            current = replayed(universe, truth, log_weights, known, passes)
            average += current / times
            bar.step()
    return average, {"epsilon_per_selection": epsilon, "noise_std": noise_std, "passes": passes}


def replayed(
    universe: Universe, truth: Truth, log_weights: Floats, known: dict[int, list[float]], passes: int
) -> Floats:
    """All measurements, again and again: w(x) *= exp(q(x) (a - q(p)) / 2), each with the current p."""
    queries = [
        (universe.values(*truth.layout.query(index)), float(np.mean(heard))) for index, heard in known.items()
    ]
    for _ in range(passes):
        for values, target in queries:
            weights = np.exp(log_weights - log_weights.max())
            answered = float(np.dot(values, weights) / weights.sum())
            log_weights += values * ((target - answered) / 2.0)
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def _unmeasured(
    truth: Truth, universe: Universe, times: int, passes: int, account: Account
) -> tuple[Floats, dict[str, object]]:
    epsilon = selection_epsilon(account, times)
    choose = account.permit(
        Exponential(epsilon=epsilon, sensitivity=SCORE_SENSITIVITY, adjacency=account.adjacency),
        times=times,
        label="worst signed queries",
    )
    # The limit of frank_wolfe_dual without smoothing: steps of sqrt(2 ln|X| / T).
    step = math.sqrt(2.0 * universe.log_size / times)
    log_weights, average = np.zeros(universe.size), np.zeros(universe.size)
    with progress("mwem", total=times) as bar:
        for _ in range(times):
            weights = np.exp(log_weights - log_weights.max())
            current = weights / weights.sum()
            average += current / times
            index, sign = truth.chosen(choose.release(truth.signed(universe.answers(current, truth.layout))))
            log_weights += step * sign * universe.values(*truth.layout.query(index))
            bar.step()
    return average, {"epsilon_per_selection": epsilon, "step": step}


def answer_noise(account: Account, times: int) -> tuple[Mechanism, float]:
    """Noise for `times` single answers of sensitivity 1 that together spend what is left, and its deviation."""
    kind, left = amount(account)
    reach, adjacency = SCORE_SENSITIVITY, account.adjacency
    if kind == "zcdp":
        sigma = reach * math.sqrt(times / (2.0 * left)) / SAFE
        return Gaussian(sigma=sigma, l2_sensitivity=reach, adjacency=adjacency), sigma
    scale = reach * times / left / SAFE
    return Laplace(scale=scale, l1_sensitivity=reach, adjacency=adjacency), math.sqrt(2.0) * scale


METHOD = Method(name="mwem", run=mwem, paper="Hardt, Ligett and McSherry 2012", pure=True)
