"""What one call of each audit bound costs, and what the valid ones find on the Gaussian sum.

    python studies/benchmarks/audit_bounds.py [--save] [--runs N]

Times are the best of several repetitions on one core. The power table is the one-run audit of seed 004
(m = 1000 canaries on the unit sphere of dimension 1e4, classical sigma at delta 1e-6), N runs each.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from holdfast.audit._bounds import fdp, multi_run, one_run, sequential
from holdfast.audit._bounds import guess_path as path
from holdfast.audit._bounds.worst_case import solve_programme, worst_case
from holdfast.audit._canaries import decoder
from holdfast.privacy import GaussianDP
from holdfast.privacy._tradeoff import clopper_pearson_upper

DELTA = 1e-6


def best(call: Callable[[], object], repetitions: int = 5) -> float:
    def once() -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return min(once() for _ in range(repetitions))


def clopper_pearson(errors: multi_run.ErrorRates) -> float:
    clopper_pearson_upper.cache_clear()
    return multi_run.epsilon_lower(errors)


def formula(guesses: int, correct: int) -> float:
    return one_run.epsilon_lower(guesses, correct, canaries=1000, delta=DELTA, method="formula")


def times() -> list[str]:
    rng = np.random.default_rng(0)
    falling = rng.random(1000) < np.linspace(0.99, 0.5, 1000)
    pairs = np.arange(2, 1001, 2)
    errors = multi_run.ErrorRates(false_alarms=7, without=1000, misses=40, with_canary=1000)
    claim = GaussianDP(1.0).trade_off()
    kept = path.Levels(pairs, beta=0.05)
    rows: list[tuple[str, Callable[[], object]]] = [
        ("exact p-value, r = 1000", lambda: worst_case(1000, 900, canaries=1000, epsilon=1.7, delta=DELTA)),
        (
            "the same by HiGHS, r = 300",
            lambda: solve_programme(300, 270, canaries=1000, epsilon=1.7, delta=DELTA),
        ),
        ("exact bound, r = 100", lambda: one_run.epsilon_lower(100, 90, canaries=1000, delta=DELTA)),
        ("exact bound, r = 1000", lambda: one_run.epsilon_lower(1000, 900, canaries=1000, delta=DELTA)),
        ("closed formula bound, r = 100", lambda: formula(100, 90)),
        ("path crossing, 500 looks of 1000", lambda: path.crossing(0.005, pairs, epsilon=1.0)),
        ("path bound, 500 looks of 1000", lambda: path.epsilon_lower(falling, canaries=1000, looks=pairs)),
        ("path bound, shared levels", lambda: path.epsilon_lower(falling, canaries=1000, levels=kept)),
        (
            "geometric bound, 7 looks of 1000",
            lambda: path.geometric_epsilon_lower(falling, canaries=1000, delta=DELTA),
        ),
        ("f-DP bound, r = 100 of 1000", lambda: fdp.epsilon_lower(100, 95, canaries=1000, delta=DELTA)),
        ("f-DP bound, r = 500 of 1000", lambda: fdp.epsilon_lower(500, 450, canaries=1000, delta=DELTA)),
        ("f-DP p-value of a polygon, r = 500", lambda: fdp.p_value(claim, 500, 450, canaries=1000)),
        ("Clopper-Pearson bound", lambda: clopper_pearson(errors)),
        ("Bayesian bound", lambda: multi_run.bayesian_epsilon_lower(errors)),
        ("anytime bound, one moment", lambda: sequential.epsilon_lower(1000, 900)),
    ]
    return [f"| {name} | {1e3 * best(call):.2f} ms |" for name, call in rows]


def power(runs: int) -> list[str]:
    m, d, pairs = 1000, 10_000, np.arange(2, 1001, 2)
    lines = []
    levels = path.Levels(pairs, beta=0.05)
    for nominal in (1.0, 2.0, 4.0, 8.0, 16.0):
        sigma = np.sqrt(2 * np.log(1.25 / DELTA)) / nominal
        found: list[tuple[float, ...]] = []
        for run in range(runs):
            rng = np.random.default_rng([int(nominal), run])
            canaries = rng.standard_normal((m, d), dtype=np.float32)
            canaries /= np.linalg.norm(canaries, axis=1, keepdims=True)
            member = rng.random(m) < 0.5
            released = member.astype(np.float32) @ canaries + np.float32(sigma) * rng.standard_normal(
                d, dtype=np.float32
            )
            right = decoder.correct_path(canaries @ released, member, include=m // 2, exclude=m // 2)
            found.append(
                (
                    path.uncorrected_maximum(right, canaries=m, looks=pairs),
                    path.epsilon_lower(right, canaries=m, levels=levels),
                    path.geometric_epsilon_lower(right, canaries=m, delta=DELTA),
                    one_run.epsilon_lower(500, int(right[:500].sum()), canaries=m, delta=DELTA),
                    fdp.epsilon_lower(500, int(right[:500].sum()), canaries=m, delta=DELTA),
                )
            )
        means = " | ".join(f"{value:.3f}" for value in np.mean(found, axis=0))
        lines.append(f"| {nominal:g} | {means} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--save", action="store_true", help="write studies/benchmarks/results/audit_bounds.md"
    )
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    text = "\n".join(
        [
            f"# Audit bounds ({platform.python_version()}, {platform.machine()})",
            "",
            "| call | time |",
            "|---|---|",
            *times(),
            "",
            f"Gaussian sum, m = 1000, d = 1e4, mean of {options.runs} runs:",
            "",
            "| nominal | uncorrected (invalid) | exact path | geometric | fixed 500 | f-DP fixed 500 |",
            "|---|---|---|---|---|---|",
            *power(options.runs),
            "",
        ]
    )
    print(text)
    if options.save:
        target = Path(__file__).parent / "results" / "audit_bounds.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text(text)


if __name__ == "__main__":
    main()
