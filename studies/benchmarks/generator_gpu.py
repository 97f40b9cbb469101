"""A training step of the generators on an accelerator: all triples of a hundred columns of four cells.

    python -m studies.benchmarks.generator_gpu [--columns 100] [--cells 4] [--ways 3] [--components 500] [--save FILE]

Needs NumPy and JAX alone; the generator is taken from the source tree beside this file, and where optax or lazy_loader
are not installed, stand-ins of a few lines take their places. Timed are a step of the network form and of the mixture
form (free logits) on JAX's default device and on its CPU, and of the mixture form in NumPy. Two floors stand beside
them: the time to read all targets once, at the bandwidth that a plain copy of a large array reaches in
the same process; and the time of the multiplications that no way of computing these products can leave out, at the rate
that one large product of matrices reaches there.
"""

from __future__ import annotations

import argparse
import platform
import resource
import sys
import time
import types
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))


def stand_ins() -> list[str]:
    """What is not installed, and a few lines serve for here; their names."""
    made = []
    try:
        import lazy_loader  # noqa: F401
    except ImportError:
        module = types.ModuleType("lazy_loader")
        module.attach_stub = lambda *_: (lambda name: None, list, [])  # type: ignore[attr-defined]
        sys.modules["lazy_loader"] = module
        made.append("lazy_loader")
    try:
        import optax  # noqa: F401
    except ImportError:
        sys.modules["optax"] = _adam()
        made.append("optax")
    return made


def _adam() -> types.ModuleType:
    """Adam (Kingma and Ba 2015) with the names that optax gives it."""
    import jax
    import jax.numpy as jnp

    def adam(rate: float) -> Any:
        def init(layers: Any) -> Any:
            empty = jax.tree_util.tree_map(jnp.zeros_like, layers)
            return (jnp.zeros(()), empty, empty)

        def update(slope: Any, state: Any, _: Any = None) -> Any:
            tree = jax.tree_util.tree_map
            taken = state[0] + 1
            mean = tree(lambda m, s: 0.9 * m + 0.1 * s, state[1], slope)
            square = tree(lambda v, s: 0.999 * v + 0.001 * s * s, state[2], slope)
            first, second = 1 - 0.9**taken, 1 - 0.999**taken
            change = tree(lambda m, v: -rate * (m / first) / (jnp.sqrt(v / second) + 1e-8), mean, square)
            return change, (taken, mean, square)

        return types.SimpleNamespace(init=init, update=update)

    module = types.ModuleType("optax")
    module.adam = adam  # type: ignore[attr-defined]
    module.apply_updates = lambda layers, change: jax.tree_util.tree_map(  # type: ignore[attr-defined]
        lambda a, b: a + b, layers, change
    )
    return module


def best(call: Callable[[], Any], wait: Callable[[Any], Any], repeats: int) -> float:
    """The shortest of several calls, each waited for; the first one compiles and is not counted."""
    wait(call())
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        wait(call())
        times.append(time.perf_counter() - begin)
    return min(times)


def random_targets(columns: int, cells: int, ways: int) -> Any:
    """Noise in place of residuals of all sets of up to so many columns: what they hold does not change the time."""
    from holdfast.synth._models.generator.heads import Heads
    from holdfast.synth._models.generator.targets import Targets
    from holdfast.synth._models.model import Measurement

    random = np.random.default_rng(0)
    names = [f"x{place:03d}" for place in range(columns)]
    heads = Heads.of({name: cells for name in names})
    measured = [
        Measurement(columns=chosen, values=random.normal(0, 30.0, (cells - 1,) * size), noise_std=30.0)
        for size in range(1, ways + 1)
        for chosen in combinations(names, size)
    ]
    return heads, Targets(heads, measured, _features, total=20_000.0)


def _features(cells: int) -> Any:
    """Rows that are orthogonal to ones, as residuals need: Helmert's."""
    made = np.zeros((cells - 1, cells))
    for place in range(1, cells):
        made[place - 1, :place], made[place - 1, place] = 1.0, -place
        made[place - 1] /= np.sqrt(place * (place + 1))
    return made


def on_device(device: Any, heads: Any, targets: Any, components: int, repeats: int) -> dict[str, float]:
    """Milliseconds of a step of each form, the two floors, and bytes of the targets."""
    import jax
    import jax.numpy as jnp

    from holdfast.noise._source import Source
    from holdfast.synth._models.generator import network

    with jax.default_device(device):
        generator = network.NetworkMixture(heads, components=components, source=Source(seed=1))
        target = network.device_targets(targets)
        found: dict[str, float] = {}

        def network_step() -> Any:
            return generator._step_to_target(generator._layers, generator._state, generator._noise, target)

        found["network"] = best(network_step, jax.block_until_ready, repeats)
        optax = sys.modules["optax"]
        optimiser = optax.adam(0.03)
        logits = jnp.zeros((components, heads.width), jnp.float32) + 0.1
        state = optimiser.init(logits)

        @jax.jit
        def stepped(logits: Any, state: Any, target: Any) -> Any:
            made = jax.grad(lambda now: network.distance(heads, network.softmax_heads(heads, now), target))
            change, after = optimiser.update(made(logits), state, logits)
            return logits + change, after

        found["mixture"] = best(lambda: stepped(logits, state, target), jax.block_until_ready, repeats)
        exact = float(targets.distance(np.asarray(generator.probabilities())))
        fast = float(network.distance(heads, jnp.asarray(generator.probabilities()), target))
        found["relative_error"] = abs(fast / exact - 1.0)
        large = jnp.zeros(64_000_000 if device.platform != "cpu" else 16_000_000, jnp.float32)
        plus = jax.jit(lambda values: values + 1.0)
        found["bytes_per_s"] = 2 * large.nbytes / best(lambda: plus(large), jax.block_until_ready, repeats)
        side = 8192 if device.platform != "cpu" else 1024
        square = jnp.ones((side, side), jnp.float32)
        product = jax.jit(lambda a: a @ a)
        found["flops"] = 2 * side**3 / best(lambda: product(square), jax.block_until_ready, repeats)
    return found


def floors(targets: Any, components: int) -> tuple[int, int]:
    """Bytes of all wanted values (a set has one precision, which is little), and operations of one step.

    Three products of K terms for each value: the answer, and its derivative in either side.
    """
    values = int(targets.count)
    return 4 * values, 3 * 2 * components * values


def main() -> None:
    """Time, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--cells", type=int, default=4)
    parser.add_argument("--ways", type=int, default=3)
    parser.add_argument("--components", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--save", type=Path, help="the page's file; printed as well")
    asked = parser.parse_args()
    absent = stand_ins()
    import jax

    began = time.perf_counter()
    heads, targets = random_targets(asked.columns, asked.cells, asked.ways)
    made = time.perf_counter() - began
    sets = sum(1 for _ in combinations(range(asked.columns), asked.ways))
    kept, flops = floors(targets, asked.components)
    device = jax.devices()[0]
    lines = [
        "# A training step of the generators on an accelerator",
        "",
        f"Made by `python -m studies.benchmarks.generator_gpu --save FILE`: all {sets:,} sets of {asked.ways} of",
        f"{asked.columns} columns of {asked.cells} cells, and all smaller ones, as residuals: {targets.count:,}",
        f"values, {asked.components} components, single precision. {device.device_kind}, JAX {jax.__version__},"
        f" NumPy {np.__version__},",
        f"Python {platform.python_version()}; best of {asked.repeats} (CPU: of 3). Targets made in {made:.0f} s"
        + (f"; stand-ins for {' and '.join(absent)}." if absent else "."),
        "",
        "| | network, ms | mixture, ms | memory floor, ms | arithmetic floor, ms | network / memory floor "
        "| network / larger floor |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    cases: list[tuple[str, Any, str | None, int]] = [(device.device_kind, device, None, asked.repeats)]
    if device.platform != "cpu":
        cases += [(f"{device.device_kind}, full float32 products", device, "highest", asked.repeats)]
        cases += [("JAX on the CPU of that machine", jax.devices("cpu")[0], None, 3)]
    times = {}
    for label, where, precision, repeats in cases:
        with jax.default_matmul_precision(precision or "default"):
            found = on_device(where, heads, targets, asked.components, repeats)
        memory, arithmetic = kept / found["bytes_per_s"], flops / found["flops"]
        times[label] = found
        lines.append(
            f"| {label} | {1e3 * found['network']:.2f} | {1e3 * found['mixture']:.2f} | {1e3 * memory:.3f} "
            f"| {1e3 * arithmetic:.3f} | {found['network'] / memory:.1f} "
            f"| {found['network'] / max(memory, arithmetic):.1f} |"
        )
        print(label, found, flush=True)
    probabilities = heads.softmax(np.zeros((asked.components, heads.width), dtype=np.float32))
    plain = best(lambda: targets.gradient(probabilities), lambda value: value, 2)
    lines.append(f"| NumPy on the CPU of that machine | | {1e3 * plain:.2f} | | | | |")
    first = times[cases[0][0]]
    errors = ", ".join(f"{label} {found['relative_error']:.1e}" for label, found in times.items())
    lines += [
        "",
        f"A plain copy moves {first['bytes_per_s'] / 1e9:,.0f} GB/s and a large product makes "
        f"{first['flops'] / 1e12:.1f} TFLOP/s on the first.",
        f"Relative error of the distance against NumPy: {errors}.",
        f"The network form's step is {plain / first['network']:.0f} times as fast as NumPy's step of the mixture form. "
        f"Peak memory of the host: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB.",
    ]
    print("\n".join(lines))
    if asked.save:
        asked.save.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
