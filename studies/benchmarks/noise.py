"""What a million exact draws cost, beside OpenDP, NumPy and the operating system's bytes.

    python studies/benchmarks/noise.py [--save]

All rows are measured in one run, on one core, best of several repetitions. OpenDP gets 10,000 draws
(its cost per draw does not depend on the number), ours get 10,000 and 1,000,000. The floor of a row is
the time that `os.urandom` takes for the bytes the sampler consumes at the same size.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.noise._choose import choose_by_score
from holdfast.noise._gaussian import discrete_gaussian, rounded_gaussian
from holdfast.noise._idealised import normal
from holdfast.noise._laplace import discrete_laplace
from holdfast.noise._source import Source
from holdfast.noise._uniform import permutation

SMALL, LARGE = 10_000, 1_000_000
WIDTHS = {"1": 1, "10": 10, "1e3": 1000, "2^20": 2**20, "2^40": 2**40}
Row = tuple[str, int, float, float | None]


def best(call: Callable[[], object], repetitions: int) -> float:
    def once() -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return min(once() for _ in range(repetitions))


def entropy_floor(bytes_needed: int) -> float:
    return best(lambda: os.urandom(bytes_needed), 5)


def ours() -> list[Row]:
    source = Source()
    rows: list[Row] = []
    exact: list[tuple[str, Callable[..., Any], str, int]] = [
        ("discrete Laplace", discrete_laplace, "scale", 8),
        ("discrete Gaussian", discrete_gaussian, "sigma", 10),
        ("rounded Gaussian", rounded_gaussian, "sigma", 8),
    ]
    for label, sampler, parameter, bytes_each in exact:
        for name, width in WIDTHS.items():
            for size in (SMALL, LARGE):
                seconds = best(lambda: sampler(source, size=size, **{parameter: Fraction(width)}), 3)  # noqa: B023
                needed = bytes_each + (10 if width > 2**22 else 0)  # a place in a cell, and its coin
                rows.append((f"holdfast {label}, {name}", size, seconds, entropy_floor(needed * size)))
    rows.append(
        (
            "holdfast normal, idealised",
            LARGE,
            best(lambda: normal(source, size=LARGE), 3),
            entropy_floor(8 * LARGE),
        )
    )
    scores = np.arange(LARGE) % 1009
    rows.append(
        (
            "holdfast choose, one of 1e6",
            1,
            best(lambda: choose_by_score(source, scores=scores, factor=Fraction(1, 9)), 3),
            None,
        )
    )
    ten_million = 10 * LARGE
    rows.append(
        (
            "holdfast permutation",
            ten_million,
            best(lambda: permutation(source, ten_million), 2),
            entropy_floor(8 * ten_million),
        )
    )
    return rows


def opendp() -> list[Row]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    rows: list[Row] = []
    zeros = {int: [0] * SMALL, float: [0.0] * SMALL}
    for label, make, metric in (
        ("Laplace", dp.m.make_laplace, dp.l1_distance),
        ("Gaussian", dp.m.make_gaussian, dp.l2_distance),
    ):
        whole = dp.vector_domain(dp.atom_domain(T=int), size=SMALL)
        real = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=SMALL)
        distance = {int: metric(T=int if label == "Laplace" else float), float: metric(T=float)}
        cases: list[tuple[str, type, Any]] = [
            ("int, 10", int, make(whole, distance[int], scale=10.0)),
            ("int, 2^20", int, make(whole, distance[int], scale=float(2**20))),
            ("float, 1, k=-20", float, make(real, distance[float], scale=1.0, k=-20)),
            ("float, 1, k=-40", float, make(real, distance[float], scale=1.0, k=-40)),
            ("float, 1, default k", float, make(real, distance[float], scale=1.0)),
        ]
        for case, kind, mechanism in cases:
            seconds = best(lambda: mechanism(zeros[kind]), 1 if "default" in case else 2)  # noqa: B023
            rows.append((f"OpenDP {label}, {case}", SMALL, seconds, None))
    return rows


def numpy_rows() -> list[Row]:
    generator = np.random.Generator(np.random.PCG64(1))
    return [
        (
            "NumPy PCG64 normal (not secure, not exact)",
            LARGE,
            best(lambda: generator.normal(size=LARGE), 5),
            None,
        ),
        (
            "NumPy PCG64 Laplace (not secure, not exact)",
            LARGE,
            best(lambda: generator.laplace(size=LARGE), 5),
            None,
        ),
        (
            "NumPy PCG64 permutation (not secure)",
            10 * LARGE,
            best(lambda: generator.permutation(10 * LARGE), 2),
            None,
        ),
        ("os.urandom, 8 bytes each", LARGE, entropy_floor(8 * LARGE), None),
    ]


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    names = (
        [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        if cpuinfo.exists()
        else []
    )
    return names[0] if names else platform.processor() or platform.machine()


def report(rows: list[Row]) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "mpmath", "opendp"))
    lines = [
        "# Noise: time per draw",
        "",
        "Made by `python studies/benchmarks/noise.py --save`; every row of the same run, one core, best of several.",
        "",
        f"Machine: {processor()}, {os.cpu_count()} cores. Python {platform.python_version()}, {packages}.",
        "",
        "| sampler | draws | seconds | ns per draw | times the entropy floor |",
        "|---|---:|---:|---:|---:|",
    ]
    for label, size, seconds, floor in rows:
        ratio = "" if floor is None else f"{seconds / floor:.1f}"
        lines.append(f"| {label} | {size:,} | {seconds:.4f} | {seconds / size * 1e9:,.0f} | {ratio} |")
    per_draw = {label: seconds / size for label, size, seconds, _ in rows}
    lines += ["", "One discrete Gaussian of ours (a million at a time) against one OpenDP Gaussian:", ""]
    pairs = [("2^20", "int, 2^20"), ("2^20", "float, 1, k=-20"), ("2^40", "float, 1, k=-40")]
    for width, label in [*pairs, ("2^40", "float, 1, default k")]:
        times = per_draw[f"OpenDP Gaussian, {label}"] / per_draw[f"holdfast discrete Gaussian, {width}"]
        lines.append(f"- sigma = {width} grid steps against {label}: {times:,.0f} times faster")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="write studies/benchmarks/results/noise.md")
    arguments = parser.parse_args()
    text = report([*ours(), *opendp(), *numpy_rows()])
    print(text)
    if arguments.save:
        target = Path(__file__).parent / "results" / "noise.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text(text)


if __name__ == "__main__":
    main()
