"""Frank-Wolfe on the smoothed dual of query release (Micali 2022, chapter 5, corrected)."""

from __future__ import annotations

import math

import numpy as np

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.errors import require
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import selection_epsilon
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.synth._exact_counts import SCORE_SENSITIVITY, SINGLE_ROWS, ExactAnswers, ExactCounts
from holdfast.synth._workload import Workload
from holdfast.synth.methods.initial_universe import DEFAULT_UNIVERSE, UniverseOptions, initial_universe
from holdfast.synth.methods.measure import best_rounds
from holdfast.synth.methods.method import Synthesis, SynthesisMethod

MOST_ROUNDS = 300
THEOREM = "exponential mechanism, T adaptive selections of sensitivity 1 (soundness, section 9)"


def frank_wolfe_dual(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    smoothing: float | None = None,
    most_rounds: int = MOST_ROUNDS,
    points: UniverseOptions = DEFAULT_UNIVERSE,
) -> Synthesis:
    """Select the worst signed query T times, step towards it in the dual, and release the averaged distribution.

    Private under every adjacency: a score is a count minus a public number, and moves by at most 1. The number of
    rounds, the steps and the smoothing are functions of public quantities: the dual starts at 0, where its gap is at
    most alpha ln|X| whatever the table, so nothing is estimated from data (the printed T and step are not public).

    On the whole universe the mean error over rounds, and so the error of the average, is in expectation at most
    sqrt(2 ln|X| / T) + sqrt(T / (2 rho)) ln(2|Q|) / n + alpha ln|X|, of proportions; for records drawn from a
    population add sqrt(ln(2|Q| / u) / (2 n)) at confidence 1 - u. On a sampled support only a certificate says how
    good it is.
    """
    truth = ExactAnswers.of(data, workload)
    initial = initial_universe(data, account=account, options=points)
    universe, rest = initial.universe, initial.account
    times = rounds
    if times is None:
        times = best_rounds(
            rest,
            count=truth.size,
            log_universe=universe.log_size,
            queries=truth.layout.size,
            most=most_rounds,
        )
    require(times >= 1, "rounds", times, "a whole number >= 1")
    # Soundness, section 9: any small alpha will do; this one adds half of the square of the bound's first term.
    alpha = 1.0 / (2.0 * math.sqrt(times * universe.log_size)) if smoothing is None else smoothing
    require(alpha > 0, "smoothing", alpha, "> 0")
    step = min(1.0, alpha * math.sqrt(2.0 * universe.log_size / times))
    epsilon = selection_epsilon(rest, times)
    permit = rest.permit(
        Exponential(epsilon=epsilon, sensitivity=SCORE_SENSITIVITY, adjacency=rest.adjacency),
        times=times,
        label="worst queries",
    )
    dual, average = np.zeros(universe.size), np.zeros(universe.size)
    with progress(desc="frank_wolfe_dual", total=times) as bar:
        for _ in range(times):
            current = softmax(dual / alpha)
            average += current / times
            index, sign = truth.query_and_sign(
                permit.release(truth.signed_excess(universe.answers(current, truth.layout)))
            )
            columns, table = truth.layout.query(index)
            # v <- (1 - gamma) v + gamma s; s is centred, which moves no softmax but keeps v in [-1/2, 1/2].
            dual *= 1.0 - step
            dual += step * sign * universe.values(columns, table - 0.5)
            bar.update()
    return Synthesis(
        model=universe.model(average, truth.size),
        theorem=THEOREM,
        measurements=initial.measurements,
        parameters={
            "rounds": times,
            "epsilon_per_selection": epsilon,
            "smoothing": alpha,
            "step": step,
            **initial.parameters,
        },
    )


def error_bound(
    count: float, rho: float, log_universe: float, queries: int, rounds: int, smoothing: float
) -> float:
    """The bound on the error in the docstring of `frank_wolfe_dual`, for the whole universe.

    >>> round(error_bound(math.inf, 1.0, math.log(256), 448, 200, 1e-12), 4)
    0.2355
    """
    selection = math.sqrt(rounds / (2.0 * rho)) * math.log(2.0 * queries) / count
    return math.sqrt(2.0 * log_universe / rounds) + selection + smoothing * log_universe


def softmax(values: Floats) -> Floats:
    """Probabilities proportional to exp(values)."""
    powers = np.exp(values - values.max())
    return np.asarray(powers / powers.sum())


METHOD = SynthesisMethod(
    name="frank_wolfe_dual",
    run=frank_wolfe_dual,
    paper="Micali 2022, algorithm 7 (corrected)",
    pure=True,
    single_rows=SINGLE_ROWS,
    divides_within=math.inf,
)
