"""The audited sum on an accelerator, beside what its memory could do at best.

    python -m studies.benchmarks.audit_scale_gpu [--count 16384] [--dimension 100000] [--save FILE]

Needs NumPy and JAX; holdfast is taken from the source tree beside this file. Three ways to make the two
products X^T b and X theta are timed: bits made on the device (`studies.benchmarks.device_canaries`), bits kept
packed in its memory, and the whole matrix of signs kept there as float32. The floor of a way is the time to read what
it keeps once per pass, at the bandwidth that a plain copy of a large array reaches in the same process.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from studies.benchmarks.device_canaries import DeviceCanaries

from holdfast.audit._canaries import RademacherCanaries, inclusion_coins
from holdfast.noise._source import Source

SIGMA, REPEATS = 0.3312, 20


def best(call: Callable[[], Any], repeats: int = REPEATS) -> float:
    """The shortest of several calls, each waited for; the first one compiles and is not counted."""
    call().block_until_ready()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call().block_until_ready()
        times.append(time.perf_counter() - begin)
    return min(times)


def bandwidth(jax: Any, jnp: Any, megabytes: int) -> float:
    """Bytes read and written per second by adding one to a large array."""
    array = jnp.zeros(megabytes * 250_000, jnp.float32)
    plus_one = jax.jit(lambda values: values + 1.0)
    return float(2 * array.nbytes / best(lambda: plus_one(array)))


def packed_products(jax: Any, jnp: Any, host: RademacherCanaries) -> tuple[Any, Any]:
    """Both products with the packed bits kept in device memory; unpacking is fused into the sums."""
    kept = jnp.asarray(host.bits(0, host.count).view("<u4"))

    def signs(bits: Any) -> Any:
        minus = (bits[..., None] >> jnp.arange(32, dtype=jnp.uint32)) & jnp.uint32(1)
        return 1.0 - 2.0 * minus.reshape(host.count, -1).astype(jnp.float32)

    # What is kept is an argument: a constant would be compiled into the program.
    project = jax.jit(lambda bits, vector: jnp.sum(signs(bits) * vector, axis=1))
    combine = jax.jit(lambda bits, weight: jnp.sum(signs(bits) * weight[:, None], axis=0))
    return partial(project, kept), partial(combine, kept)


def dense_products(jax: Any, jnp: Any, host: RademacherCanaries) -> tuple[Any, Any]:
    """Both products with the whole matrix of signs kept as float32."""
    signs = np.empty((host.count, 64 * host.words_per_row), np.float32)
    for index, row in enumerate(signs):
        np.subtract(
            1.0, 2.0 * np.unpackbits(host.bits(index, 1)[0], bitorder="little"), out=row, casting="same_kind"
        )
    kept = jnp.asarray(signs)
    project = jax.jit(lambda matrix, vector: matrix @ vector)
    combine = jax.jit(lambda matrix, weight: weight @ matrix)
    return partial(project, kept), partial(combine, kept)


def report(count: int, dimension: int) -> str:
    jax, jnp = import_module("jax"), import_module("jax.numpy")
    host = RademacherCanaries(count=count, dimension=dimension, seed=1)
    canaries = DeviceCanaries(host=host)
    coins = inclusion_coins(Source(seed=1), count)
    noise = SIGMA * np.random.default_rng(1).standard_normal(dimension)

    begin = time.perf_counter()
    theta = canaries.combine(coins) + noise
    scores = canaries.project(theta)
    first = time.perf_counter() - begin
    some = np.arange(0, count, max(1, count // 50))
    error = float(np.abs(scores[some] - host.rows(some) @ theta).max())
    begin = time.perf_counter()
    canaries.project(canaries.combine(coins) + noise)
    whole = time.perf_counter() - begin

    speed = bandwidth(jax, jnp, 50 if jax.default_backend() == "cpu" else 8000)
    width = 64 * host.words_per_row
    vector = jnp.asarray(np.random.default_rng(2).normal(size=width), jnp.float32)
    weight = jnp.asarray(coins, jnp.float32)
    padded = jnp.zeros(-(-count // 1024) * 1024, jnp.float32).at[:count].set(weight)
    passes: dict[str, tuple[float, float, float]] = {}
    with canaries._device.wide():
        device = canaries._device
        made = best(lambda: device.combine(padded)), best(lambda: device.project(vector))
    # Nothing is kept, so there is nothing to read: the packed bits are what a stored design would read.
    passes["bits made on the device, never stored"] = (*made, count * width / 8)
    for name, products, size in (
        ("packed bits in device memory", packed_products, count * width / 8),
        ("float32 matrix in device memory", dense_products, 4.0 * count * width),
    ):
        project, combine = products(jax, jnp, host)
        passes[name] = best(partial(combine, weight)), best(partial(project, vector)), size

    lines = [
        "# One-run audit of a noisy sum on an accelerator",
        "",
        f"Made by `python -m studies.benchmarks.audit_scale_gpu --save`: m = {count:,}, d = "
        f"{dimension:,}, signs from bits.",
        f"{jax.devices()[0].device_kind}, JAX {jax.__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}; best of {REPEATS}.",
        "",
        f"A plain copy moves {speed / 1e9:,.0f} GB/s. A whole audit with transfers and NumPy's part takes "
        f"{whole * 1e3:.1f} ms ({first:.1f} s the first time, with compilation). "
        f"Largest error of a score against float64 on the host: {error:.1e}.",
        "",
        "| | sum, ms | scores, ms | floor of the two, ms | times its floor | times the packed floor |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    packed_floor = 2 * count * width / 8 / speed
    for name, (combine_s, project_s, size) in passes.items():
        floor, total = 2 * size / speed, combine_s + project_s
        lines.append(
            f"| {name} | {combine_s * 1e3:.3f} | {project_s * 1e3:.3f} | {floor * 1e3:.3f} | {total / floor:.1f} "
            f"| {total / packed_floor:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2**14)
    parser.add_argument("--dimension", type=int, default=100_000)
    parser.add_argument(
        "--save", type=Path, help="write the page there, too (studies/benchmarks/results/audit_scale_gpu.md)"
    )
    arguments = parser.parse_args()
    page = report(arguments.count, arguments.dimension)
    print(page)
    if arguments.save:
        arguments.save.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
