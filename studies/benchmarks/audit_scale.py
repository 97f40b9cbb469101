"""One audited sum with many canaries in many dimensions: CPU seconds and peak memory, on one core.

    python -m studies.benchmarks.audit_scale [--naive] [--save]

Every row is a process of its own: flip the coins, sum the included canaries, add normal noise, score all
canaries. `--naive` also holds the whole matrix for 10,000 dimensions (1.3 GB). The arithmetic floor is
the same number of multiply-adds on a tile that is unpacked already and never leaves the cache; the memory
floor is one read of the packed bits for each pass.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from studies.reproductions.gaussian_sum import GaussianSum

from holdfast.audit._canaries import (
    Canaries,
    HadamardCanaries,
    RademacherCanaries,
    SphereCanaries,
    inclusion_coins,
)
from holdfast.audit._canaries.decoder import ridge_scores
from holdfast.audit._canaries.random_directions import TILE_COLUMNS, TILE_ROWS
from holdfast.noise._source import Source

RESULTS = Path(__file__).parent / "results" / "audit_scale.md"
COUNT, SIGMA = 2**14, 0.3312
NAIVE = {10_000: (3.8, 1.32), 100_000: (37.4, 12.83)}
"""CPU seconds and gigabytes of the naive float32 audit, measured before this code was written."""


def audited(canaries: Canaries) -> float:
    coins = inclusion_coins(Source(seed=1), canaries.count)
    noise = SIGMA * np.random.default_rng(1).standard_normal(canaries.dimension)
    scores = canaries.project(canaries.combine(coins) + noise)
    return gap(scores, coins)


def decoded(canaries: Canaries) -> float:
    coins = inclusion_coins(Source(seed=1), canaries.count)
    noise = SIGMA * np.random.default_rng(1).standard_normal(canaries.dimension)
    return gap(
        ridge_scores(canaries, canaries.combine(coins) + noise, noise_std=SIGMA, tolerance=1e-3), coins
    )


def reduced(dimension: int) -> float:
    coins = inclusion_coins(Source(seed=1), COUNT)
    game = GaussianSum(count=COUNT, dimension=dimension, sigma=SIGMA)
    return gap(game.scores(coins, generator=np.random.default_rng(1)), coins)


def naive(dimension: int) -> float:
    coins = inclusion_coins(Source(seed=1), COUNT)
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((COUNT, dimension), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    theta = coins.astype(np.float32) @ matrix + SIGMA * rng.standard_normal(dimension).astype(np.float32)
    return gap(matrix @ theta, coins)


def gap(scores: np.ndarray, coins: np.ndarray) -> float:
    """How far apart the two groups are, in standard deviations: a check that the work was done."""
    return float((scores[coins].mean() - scores[~coins].mean()) / scores[~coins].std())


def floor(dimension: int, kind: type) -> float:
    """Both passes on one tile of zeros and ones in the cache."""
    tile: Any = (np.random.default_rng(1).random((TILE_ROWS, TILE_COLUMNS)) < 0.5).astype(kind)
    across: Any = np.ones(TILE_COLUMNS, kind)
    along: Any = np.ones(TILE_ROWS, kind)
    for _ in range(COUNT * dimension // tile.size):
        tile @ across
        along @ tile
    return 0.0


def signs(dimension: int, precision: str) -> Canaries:
    return RademacherCanaries(count=COUNT, dimension=dimension, seed=1, precision=precision)  # type: ignore[arg-type]


JOBS: dict[str, Callable[[int], float]] = {
    "signs from bits, float64": lambda d: audited(signs(d, "double")),
    "signs from bits, float32": lambda d: audited(signs(d, "single")),
    "Hadamard rows, fast transform": lambda d: audited(
        HadamardCanaries(count=min(COUNT, d), dimension=d, seed=1)
    ),
    "uniform on the sphere, streamed": lambda d: audited(SphereCanaries(count=COUNT, dimension=d, seed=1)),
    "exact reduced law (no canaries)": reduced,
    "signs from bits, float32, ridge decoder": lambda d: decoded(signs(d, "single")),
    "naive float32": naive,
    "floor: multiply-adds in the cache, float64": lambda d: floor(d, np.float64),
    "floor: multiply-adds in the cache, float32": lambda d: floor(d, np.float32),
}


def child(name: str, dimension: int) -> dict[str, float]:
    """One row, in a fresh process with one thread."""
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-m",
        "studies.benchmarks.audit_scale",
        "--child",
        name,
        "--dimension",
        str(dimension),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | one)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def report(with_naive: bool) -> str:
    lines = [
        "# One-run audit of a noisy sum: cost at scale",
        "",
        f"Made by `python -m studies.benchmarks.audit_scale --save`: m = {COUNT:,} canaries, one "
        "core, each row a process.",
        f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}; best of three "
        "(the machine is shared, which only adds time).",
        "CPU seconds leave out imports; the peak memory is that of the whole process, imports included.",
        "",
        "| | d | CPU s | of its arithmetic floor | peak memory, MB | gap of the scores |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for dimension in (10_000, 100_000):
        floors = {}
        for kind in ("float64", "float32"):
            floors[kind] = min(
                child(f"floor: multiply-adds in the cache, {kind}", dimension)["cpu"] for _ in range(3)
            )
            lines.append(
                f"| floor: the multiply-adds alone, {kind} | {dimension:,} | {floors[kind]:.2f} | | | |"
            )
        for name in JOBS:
            slow = "sphere" in name or "ridge" in name
            if name.startswith("floor") or (dimension > 10_000 and "sphere" in name):
                continue
            if name == "naive float32" and (dimension > 10_000 or not with_naive):
                seconds, gigabytes = NAIVE[dimension]
                lines.append(
                    f"| {name}, as measured before | {dimension:,} | {seconds} | | {gigabytes * 1000:,.0f} | |"
                )
                continue
            runs = [child(name, dimension) for _ in range(1 if slow else 3)]
            best = min(run["cpu"] for run in runs)
            kind = next((k for k in floors if k in name and "ridge" not in name and "naive" not in name), "")
            ratio = f"{best / floors[kind]:.1f}" if kind else ""
            peak = max(run["peak_mb"] for run in runs)
            lines.append(
                f"| {name} | {dimension:,} | {best:.2f} | {ratio} | {peak:.0f} | {runs[0]['gap']:.2f} |"
            )
    bits = COUNT * 100_000 / 8e6
    lines += [
        "",
        f"At d = 100,000 the bits are {bits:.0f} MB and are made anew in each of the two passes, never stored. "
        f"The products are {4 * COUNT * 1e5 / 1e9:.1f} Gflop. Reading the bits twice at 10 GB/s would take "
        f"{2 * bits / 1e4:.2f} s: the arithmetic is the floor on one core, not the memory. Hadamard canaries need "
        "neither bits nor products: d log d additions.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--naive", action="store_true", help="also hold the whole matrix for d = 10,000")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--dimension", type=int, default=10_000, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        begin = time.process_time()
        found = JOBS[arguments.child](arguments.dimension)
        used = time.process_time() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(json.dumps({"cpu": used, "peak_mb": peak, "gap": found}))
        return
    page = report(arguments.naive)
    print(page)
    if arguments.save:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
