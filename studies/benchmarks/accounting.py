"""Accounting: our certified bracket and time against dp-accounting's loss distributions.

    python studies/benchmarks/accounting.py [--save] [--rounds 3]

Tasks A, B and D as other accountants quote them; C mixes four kinds of release. Times are the best of
several rounds, both libraries called in turn in the same process, each building everything from the
parameters. dp-accounting runs at a spacing at which it is about as accurate (in A more, in C less).
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from holdfast.privacy._calibration import calibrate
from holdfast.privacy._curves.composition import Composed, compose
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.laplace import LaplaceCurve
from holdfast.privacy._curves.subsampled import SubsampledGaussianCurve

NOTES = """\
A: Gaussian, noise 1, 1,000 times, delta 1e-6. B: rate 0.01, noise 0.8, 3,000 steps, delta 1e-5. C: 100 randomised
responses of epsilon 0.1, 10 Gaussians of noise 5, 20 Laplace of scale 10, 1,000 DP-SGD steps of rate 0.01 and noise 1,
delta 1e-6 (randomised response as the full pair, the rest as add/remove). D: least noise for (1, 1e-6) at rate 0.01
and 5,000 steps, by each library's own calibration.

References: closed form (A), grids of spacing 1e-5 on which several accountants agree (B, D), our own bracket at spacing
2e-5 (C). Our error is that of the upper side. Both sides of the bracket are certified; the time is that of the upper
one, as for dp-accounting, both directions of the neighbour relation in each. dp-accounting rounds the atoms of
randomised response up: in C it would need a spacing a hundred times finer to be as accurate.""".splitlines()


def gaussian_numeric() -> PrivacyCurve:
    """Task A by the numeric core, as if there were no closed form."""
    return Composed(((GaussianDP(1.0), 1000),))


def dp_sgd() -> PrivacyCurve:
    return SubsampledGaussianCurve(0.8, 0.01).repeat(3000)


def heterogeneous() -> PrivacyCurve:
    parts = [PureDP(0.1).repeat(100), GaussianDP(0.2).repeat(10), LaplaceCurve(0.1).repeat(20)]
    return compose([*parts, SubsampledGaussianCurve(1.0, 0.01).repeat(1000)])


def their_gaussian(pld: Any, h: float) -> Any:
    return pld.from_gaussian_mechanism(1.0, value_discretization_interval=h).self_compose(1000)


def their_dp_sgd(pld: Any, h: float) -> Any:
    return pld.from_gaussian_mechanism(0.8, sampling_prob=0.01, value_discretization_interval=h).self_compose(
        3000
    )


def their_heterogeneous(pld: Any, h: float) -> Any:
    noise = 2 / (1 + math.exp(0.1))
    total = pld.from_randomized_response(noise, 2, value_discretization_interval=h).self_compose(100)
    total = total.compose(pld.from_gaussian_mechanism(5.0 / math.sqrt(10), value_discretization_interval=h))
    total = total.compose(pld.from_laplace_mechanism(10.0, value_discretization_interval=h).self_compose(20))
    step = pld.from_gaussian_mechanism(1.0, sampling_prob=0.01, value_discretization_interval=h)
    return total.compose(step.self_compose(1000))


def their_sigma(h: float) -> float:
    """Least noise for task D by dp-accounting's own calibration."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    def event(noise: float) -> Any:
        step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(noise))
        return dp_accounting.SelfComposedDpEvent(step, 5000)

    return float(
        dp_accounting.calibrate_dp_mechanism(
            lambda: PLDAccountant(value_discretization_interval=h), event, 1.0, 1e-6, tol=1e-4
        )
    )


def our_sigma() -> float:
    """Least noise for task D, to a relative 3e-5 (an absolute 1e-4)."""
    target = ApproxDP(1.0, 1e-6)
    return calibrate(lambda noise: SubsampledGaussianCurve(noise, 0.01).repeat(5000), target, tolerance=3e-5)


def best(calls: dict[str, Callable[[], float]], rounds: int) -> dict[str, tuple[float, float]]:
    """Value and least seconds of each call, all of them once per round."""
    out: dict[str, tuple[float, float]] = {}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            value = call()
            seconds = time.perf_counter() - start
            out[name] = (value, min(seconds, out[name][1] if name in out else math.inf))
    return out


def row(
    task: str, reference: float, bracket: str, ours: tuple[float, float], theirs: tuple[float, float], h: str
) -> str:
    value, seconds = ours
    other, slow = theirs
    error, their_error = value / reference - 1, other / reference - 1
    return (
        f"| {task} | {reference:.5f} | {bracket} | {error:+.1e} | {1e3 * seconds:.1f} | {other:.5f} ({h}) | "
        f"{their_error:+.1e} | {1e3 * slow:.0f} | {slow / seconds:.0f} |"
    )


def measure(rounds: int) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from dp_accounting.pld import privacy_loss_distribution as pld
    rows = []
    tasks: list[tuple[str, float, float, Callable[[], PrivacyCurve], Any, float]] = [
        ("A closed form", 649.38508947, 1e-6, lambda: GaussianDP(1.0).repeat(1000), their_gaussian, 1e-3),
        ("A numeric core", 649.38508947, 1e-6, gaussian_numeric, their_gaussian, 1e-3),
        ("B DP-SGD", 5.2420, 1e-5, dp_sgd, their_dp_sgd, 2e-4),
        ("C four kinds", 6.738607, 1e-6, heterogeneous, their_heterogeneous, 1e-4),
    ]
    for name, reference, delta, make, theirs, h in tasks:
        found = best(
            {
                "ours": lambda make=make, delta=delta: make().epsilon(delta),  # type: ignore[misc]
                "theirs": lambda theirs=theirs, h=h, delta=delta: theirs(pld, h).get_epsilon_for_delta(delta),  # type: ignore[misc]
            },
            rounds,
        )
        curve = make()
        if isinstance(curve, Composed):
            low, high = curve.bracket(delta)
            bracket = f"[{low:.5f}, {high:.5f}]"
        else:
            bracket = f"{curve.epsilon(delta):.5f} exact"
        rows.append(row(name, reference, bracket, found["ours"], found["theirs"], f"h={h:g}"))
    found = best({"ours": our_sigma, "theirs": lambda: their_sigma(5e-5)}, min(rounds, 2))
    sigma = found["ours"][0]
    low, high = SubsampledGaussianCurve(sigma, 0.01).repeat(5000).bracket(1e-6)  # type: ignore[attr-defined]
    bracket = f"{sigma:.5f}, at which epsilon is in [{low:.5f}, {high:.5f}]"
    rows.append(row("D noise", 3.0956, bracket, found["ours"], found["theirs"], "h=5e-05"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="write studies/benchmarks/results/accounting.md")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("dp-accounting", "numpy", "scipy"))
    text = "\n".join(
        [
            "# Accounting: bracket and time against dp-accounting",
            "",
            "Made by `python studies/benchmarks/accounting.py --save`; both libraries in the same run, called in turn.",
            "",
            f"Machine: {os.cpu_count()} cores, Python {platform.python_version()}, {versions}.",
            "",
            "| task | reference | ours [lower, upper] | our error | ms | dp-accounting | its error | ms | faster |",
            "|---|---:|---|---:|---:|---|---:|---:|---:|",
            *measure(options.rounds),
            "",
            *NOTES,
        ]
    )
    print(text)
    if options.save:
        (Path(__file__).parent / "results" / "accounting.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
