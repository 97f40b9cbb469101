"""One pass of logistic regression with clipped rows: C, Numba, NumPy and scikit-learn side by side.

Run: python studies/benchmarks/kernel.py [--rows 200000] [--save]. Numba is no dependency; it is measured
where it is installed. The floor is a plain sum over the same array: the bytes must be read once.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from holdfast._kernel import SgdOptions, StepSize, native, reference

RESULTS = Path(__file__).parent / "results" / "kernel.md"
DIMENSION, ROW_NORM, PENALTY, RADIUS = 54, 1.0, 1e-4, 10.0
SCHEDULE = StepSize(cap=1.0, scale=1 / PENALTY)
Timed = Callable[[], Any]


def numba_pass() -> Callable[..., Any] | None:
    """The same pass (clip, logistic, project, divisor b) in Numba without fast-math, or None."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit
    def run(x: Any, y: Any, batch: int, penalty: float, radius: float, cap: float, scale: float) -> Any:
        n, d = x.shape
        w, g, t, rows = np.zeros(d), np.zeros(d), 0, 0
        for i in range(n):
            inner = square = 0.0
            for j in range(d):
                inner += w[j] * x[i, j]
                square += x[i, j] * x[i, j]
            factor = min(1.0, ROW_NORM / np.sqrt(square)) if square > 0 else 1.0
            slope = -y[i] / (1.0 + np.exp(y[i] * factor * inner)) * factor
            for j in range(d):
                g[j] += slope * x[i, j]
            rows += 1
            if rows == batch or i == n - 1:
                t += 1
                eta = min(cap, scale / t)
                square = 0.0
                for j in range(d):
                    w[j] = (1 - eta * penalty) * w[j] - eta / batch * g[j]
                    square += w[j] * w[j]
                    g[j] = 0.0
                if square > radius * radius:
                    w *= radius / np.sqrt(square)
                rows = 0
        return w

    return run  # type: ignore[no-any-return]


def start_up() -> dict[str, float]:
    """Seconds from a bare interpreter with NumPy to the first finished pass, in fresh processes."""
    prepare = "import time, numpy as np; x = np.ones((8, 54)); y = np.ones(8); start = time.perf_counter(); "
    report = "; print(time.perf_counter() - start)"
    cffi = (
        "from holdfast._kernel import SgdOptions, StepSize, start as begin; "
        "begin(SgdOptions(dimension=54, batch=2, step_size=StepSize(cap=1.0))).feed(x, y)"
    )
    root = str(Path(__file__).parent)
    numba = (
        f"import sys; sys.path.insert(0, {root!r}); import kernel; "
        "kernel.numba_pass()(x, y, 2, 1e-4, 10.0, 1.0, 1e4)"
    )
    jobs = {"C via cffi": cffi}
    if numba_pass() is not None:
        jobs["Numba (import and compile)"] = numba
    seconds = {}
    for name, job in jobs.items():
        command = [sys.executable, "-c", prepare + job + report]
        runs = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(3)]
        seconds[name] = min(float(run.stdout) for run in runs)
    return seconds


def contestants(x: Any, y: Any, batch: int) -> dict[str, Timed]:
    """Every way to make the pass, ready to call."""
    from sklearn.linear_model import SGDClassifier

    options = SgdOptions(
        dimension=DIMENSION,
        batch=batch,
        row_norm=ROW_NORM,
        penalty=PENALTY,
        radius=RADIUS,
        step_size=SCHEDULE,
    )
    order = np.random.default_rng(1).permutation(len(x))

    def ours(start: Any, order: Any = None) -> Any:
        run = start(options)
        run.feed(x, y, order=order)
        return run.final()

    # partial_fit makes exactly one unshuffled epoch, without the first fit's set-up.
    sklearn = SGDClassifier(loss="log_loss", alpha=PENALTY, shuffle=False)
    sklearn.partial_fit(x[:10], y[:10], classes=[-1.0, 1.0])
    jobs: dict[str, Timed] = {
        "floor: sum of the array": lambda: x.sum(),
        "C via cffi": lambda: ours(native.NativeSgd),
        "C via cffi, rows gathered in random order": lambda: ours(native.NativeSgd, order),
        "NumPy reference": lambda: ours(reference.ReferenceSgd),
        "SGDClassifier epoch (no clipping, b = 1)": lambda: sklearn.partial_fit(x, y),
    }
    compiled = numba_pass()
    if compiled is not None:
        jobs["Numba, no fast-math"] = lambda: compiled(
            x, y, batch, PENALTY, RADIUS, SCHEDULE.cap, SCHEDULE.scale
        )
        assert np.allclose(jobs["Numba, no fast-math"](), ours(native.NativeSgd), rtol=1e-8)
    return jobs


def measure(jobs: dict[str, Timed], repeats: int) -> dict[str, float]:
    """The best of several interleaved runs, in seconds: a shared machine only ever adds time."""
    best = dict.fromkeys(jobs, float("inf"))
    for repeat in range(repeats):
        for name, job in jobs.items():
            if name == "NumPy reference" and repeat >= 2:
                continue
            begin = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def report(rows: int, repeats: int) -> str:
    """The page, as Markdown."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, DIMENSION))
    x /= np.linalg.norm(x, axis=1, keepdims=True) * rng.uniform(0.5, 2.0, size=(rows, 1))
    y = np.where(x @ rng.normal(size=DIMENSION) > 0, 1.0, -1.0)
    lines = [
        "# The kernel: one pass of permutation SGD",
        "",
        f"Made by `python studies/benchmarks/kernel.py --save`: n = {rows}, d = {DIMENSION}, float64, logistic,",
        f"in memory, clipped, projected; one thread; best of {repeats} interleaved runs (NumPy: 2).",
        f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}.",
    ]
    for batch in (50, 1):
        seconds = measure(contestants(x, y, batch), repeats)
        floor, peer = seconds["floor: sum of the array"], seconds["SGDClassifier epoch (no clipping, b = 1)"]
        lines += [
            "",
            f"## b = {batch}",
            "",
            "| | ns per row | x floor | SGDClassifier / this |",
            "|---|---|---|---|",
        ]
        for name, value in seconds.items():
            lines.append(f"| {name} | {value / rows * 1e9:.0f} | {value / floor:.1f} | {peer / value:.1f} |")
        if "Numba, no fast-math" not in seconds:
            lines.append("| Numba: not installed, skipped | | | |")
        lines.append(f"\nFloor: {x.nbytes / floor / 1e9:.1f} GB/s.")
    lines += ["", "## From import to the first pass", "", "| | seconds |", "|---|---|"]
    lines += [f"| {name} | {value:.3f} |" for name, value in start_up().items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} beside this file")
    arguments = parser.parse_args()
    page = report(arguments.rows, arguments.repeats)
    print(page)
    if arguments.save:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
