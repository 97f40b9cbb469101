"""The synthesis panel: every method of the house on many tables, budgets and seeds; `auto` beside the best of them.

    python -m studies.benchmarks.synth_panel [--task T ...] [--method M ...] [--epsilon E ...] [--seeds N]
    [--most-cpu S]

A cell is kept in `studies/benchmarks/results/synth_panel.json` as soon as it is finished, and a run goes on where
another ended. A fit that takes more than S seconds of the processor is stopped, and the page says so. The page is
`studies/benchmarks/results/synth_panel.md`. Which tables tune and which judge stands in `synth_panel_tables.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import platform
import resource
import signal
import subprocess
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies.benchmarks.synth_panel_later import LATER
from studies.benchmarks.synth_panel_sparse import TRIED, UNSEEN
from studies.benchmarks.synth_panel_tables import TASKS as PLANNED
from studies.benchmarks.synth_panel_tables import TUNE

from holdfast.errors import AssumptionWarning, NotPrivateWarning
from holdfast.synth import ExactCounts, Synthesizer
from holdfast.synth._evaluation import evaluate

RESULTS = Path(__file__).resolve().parent / "results"
STORE = RESULTS / "synth_panel.json"
EPSILONS = (0.1, 1.0, 10.0)
METHODS = ("auto", "adaptive", "gaussian", "query_gan", "two_looks", "measure_first", "tree", "independent")
DELTA = 1e-9
TASKS = PLANNED | LATER | TRIED | UNSEEN
MUST = (1.15, 2.0)
"""The most that `auto` may lose to the best of the house: in the average, in the largest error."""
Kept = dict[str, dict[str, Any]]


def kept_cells() -> Kept:
    """What earlier runs found; a fit that was stopped has "stopped_s" alone, the seconds that it was given."""
    found: Kept = json.loads(STORE.read_text()) if STORE.exists() else {}
    return found


def finished(kept: Kept) -> Kept:
    """Without those that were stopped."""
    return {key: cell for key, cell in kept.items() if "stopped_s" not in cell}


@contextmanager
def at_most(seconds: int | None) -> Iterator[None]:
    """`TimeoutError` in what takes longer, in seconds of the processor."""
    if seconds is None:
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGXCPU, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
        signal.signal(signal.SIGXCPU, before)


def run(task: str, methods: list[str], epsilons: list[float], seed: int, most_cpu: int | None = None) -> None:
    """All cells of one table and one seed that are not kept yet."""
    wanted = [(epsilon, method) for epsilon in epsilons for method in methods]
    missing = [one for one in wanted if _key(task, *one, seed) not in kept_cells()]
    if not missing:
        return
    table, workload = TASKS[task]()
    data, commit = ExactCounts(table), _commit()
    for epsilon, method in sorted(missing, key=lambda one: one[1] == "auto"):
        if method == "auto":
            # The same run as that of the method it chooses: same seed, same options, same rows.
            chosen = Synthesizer(epsilon, DELTA, workload=workload).estimate(table).method
            same = finished(kept_cells()).get(_key(task, epsilon, chosen, seed))
            if same is not None:
                _keep(_key(task, epsilon, method, seed), same)
                continue
        before = resource.getrusage(resource.RUSAGE_SELF)
        asked = Synthesizer(epsilon, DELTA, method=method, workload=workload, random_state=seed)
        try:
            with at_most(most_cpu):
                made = asked.fit(table)
        except TimeoutError:
            _keep(_key(task, epsilon, method, seed), {"stopped_s": most_cpu, "commit": commit})
            continue
        after = resource.getrusage(resource.RUSAGE_SELF)
        assert made.certificate_ is not None
        found = evaluate(partial(_counts, data), made._rows, workload)
        cell = {
            "tvd": found.average_total_variation,
            "max_error": found.max_error,
            "chosen": made.method_,
            "alpha": made.certificate_.alpha,
            "commit": commit,
            "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        }
        _keep(_key(task, epsilon, method, seed), cell)


def _keep(key: str, cell: dict[str, Any]) -> None:
    STORE.write_text(json.dumps(kept_cells() | {key: cell}, indent=0, sort_keys=True) + "\n")
    print(key, cell, flush=True)


def _key(task: str, epsilon: float, method: str, seed: int) -> str:
    return f"{task} {epsilon:g} {method} {seed}"


def _commit() -> str:
    """What ran, in git's words."""
    root = RESULTS.parents[1]
    asked = (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no", "src"])
    head, edits = (
        subprocess.run(["git", *one], cwd=root, capture_output=True, text=True, check=False).stdout.strip()
        for one in asked
    )
    return head + (" with edits" if edits else "")


def _counts(data: ExactCounts, columns: Sequence[str]) -> NDArray[np.float64]:
    return data(*columns)


def means(kept: Kept, task: str, epsilon: float) -> dict[str, tuple[float, float, float, str, int]]:
    """For each method: TVD, largest error and CPU seconds on average, what ran, and over how many seeds."""
    made = {}
    for method in METHODS:
        cells = [
            cell
            for key, cell in finished(kept).items()
            if key.split(" ")[:3] == [task, f"{epsilon:g}", method]
        ]
        if cells:
            made[method] = (
                float(np.mean([cell["tvd"] for cell in cells])),
                float(np.mean([cell["max_error"] for cell in cells])),
                float(np.mean([cell["cpu_s"] for cell in cells])),
                str(cells[0]["chosen"]),
                len(cells),
            )
    return made


def regret(kept: Kept, task: str, epsilon: float) -> tuple[float, float] | None:
    """What `auto` loses to the best of the house, taken per measure; None where it or all others did not run.

    Each method is compared over the seeds that it shares with `auto`.
    """
    found = rivals(kept, task, epsilon)
    return found and (found[0][0], found[1][0])


def rivals(kept: Kept, task: str, epsilon: float) -> tuple[tuple[float, str], tuple[float, str]] | None:
    """Both regrets, each with the method that it is a regret to."""
    runs: dict[str, dict[str, dict[str, Any]]] = {}
    for key, cell in finished(kept).items():
        named, budget, method, seed = key.split(" ")
        if (named, budget) == (task, f"{epsilon:g}"):
            runs.setdefault(method, {})[seed] = cell
    auto = runs.pop("auto", {})
    shared = {name: sorted(auto.keys() & cells.keys()) for name, cells in runs.items()}
    beside = [name for name, seeds in shared.items() if seeds]
    if len(beside) < 2:
        return None
    tvd, largest = (
        max(
            (
                sum(auto[seed][measure] for seed in shared[name])
                / sum(runs[name][seed][measure] for seed in shared[name]),
                name,
            )
            for name in beside
        )
        for measure in ("tvd", "max_error")
    )
    return tvd, largest


def page(kept: Kept) -> str:
    """What `auto` loses, cell by cell, and then all cells: the tables that tuned apart from those that judge."""
    import holdfast

    judging = [task for task in PLANNED if task not in TUNE]
    halves = (
        ("that tuned", list(TUNE)),
        ("that judge", judging),
        ("made up later, to find where it fails", list(LATER)),
        ("made up to choose between few tables and all, eight of them to judge", list(TRIED)),
        ("made up when everything was fixed", list(UNSEEN)),
    )
    lines = [
        "# The synthesis panel",
        "",
        "`python -m studies.benchmarks.synth_panel`: delta 1e-9, add_remove with a public "
        "number of rows, n rows out, fixed",
        "defaults (a tenth of the budget goes into the certificate). Errors are exact, of the released rows; each cell",
        "names the commit that made it in `synth_panel.json`. `auto` chooses from public quantities, so its run is",
        "that of the method it names, with the same seed.",
        f"{platform.machine()}, shared cores, Python {platform.python_version()}, numpy {np.__version__}, holdfast",
        f"{holdfast.__version__}, one BLAS thread.",
        "",
        "<!-- regret -->",
        "",
        f"Regret is `auto` over the best of the house, taken per measure: at most {MUST[0]} in average total variation",
        f"and {MUST[1]:g} in the largest error is what it must keep to (**bold** where it does not). A",
        "method counts over the seeds that it shares with `auto`. Beside a regret stands the method that is better,",
        "and behind the number of seeds, in brackets, the fewest that another method ran with. All methods, cell by",
        "cell, are on the page Benchmarks.",
    ]
    for title, listed in halves:
        lines += ["", f"## Regret on tables {title}", "", *_verdict(kept, listed), ""]
        lines += [
            "| table | ε | `auto` takes | average | regret | largest | regret | seeds |",
            "|---" * 8 + "|",
        ]
        lines += [_regret_row(kept, task, epsilon) for task, epsilon in _judged(kept, listed)]
    lines += ["", "<!-- all cells -->"]
    for title, listed in halves:
        lines += [
            "",
            f"## All methods on tables {title}",
            "",
            "Average total variation / largest error, CPU seconds (seeds).",
            "",
            f"| table | epsilon | {' | '.join(METHODS[1:])} |",
            "|---" * (len(METHODS) + 1) + "|",
        ]
        for task in listed:
            for epsilon in EPSILONS:
                if found := means(kept, task, epsilon):
                    cells = [_cell(method, found) for method in METHODS[1:]]
                    lines.append(f"| {task} | {epsilon:g} | {' | '.join(cells)} |")
        lines += _without(kept, listed)
    return "\n".join(lines) + "\n"


def _judged(kept: Kept, listed: Sequence[str]) -> list[tuple[str, float]]:
    """The cells of these tables in which a regret is known."""
    every = [(task, epsilon) for task in listed for epsilon in EPSILONS]
    return [cell for cell in every if regret(kept, *cell) is not None]


def _verdict(kept: Kept, listed: Sequence[str]) -> list[str]:
    """In how many cells of how many the demand is kept, and the worst of them."""
    lost = {cell: regret(kept, *cell) for cell in _judged(kept, listed)}
    known = {cell: found for cell, found in lost.items() if found is not None}
    if not known:
        return ["No cell is complete."]
    good = sum(one[0] <= MUST[0] and one[1] <= MUST[1] for one in known.values())
    worst = [max(known, key=lambda cell: known[cell][place]) for place in range(2)]
    return [
        f"{good} of {len(known)} cells keep to both, of {len(listed) * len(EPSILONS)} planned; the worst are "
        + " and ".join(
            f"{known[cell][place]:.2f} in the {name} ({cell[0]}, epsilon {cell[1]:g})"
            for place, (cell, name) in enumerate(zip(worst, ("average", "largest error"), strict=True))
        )
        + "."
    ]


def _regret_row(kept: Kept, task: str, epsilon: float) -> str:
    found, lost = means(kept, task, epsilon), rivals(kept, task, epsilon)
    assert lost is not None
    auto = found["auto"]
    parts = [task, f"{epsilon:g}", f"`{auto[3]}`"]
    for place, (ratio, rival) in enumerate(lost):
        told = f"**{ratio:.2f}**" if ratio > MUST[place] else f"{ratio:.2f}"
        better = f" `{rival}`" if told != "1.00" and rival != auto[3] else ""
        parts += [f"{auto[place]:.4f}", told + better]
    fewest = min(value[4] for value in found.values())
    seeds = str(auto[4]) if fewest == auto[4] else f"{auto[4]} ({fewest})"
    return f"| {' | '.join(parts)} | {seeds} |"


def _without(kept: Kept, listed: Sequence[str]) -> list[str]:
    """In words: which cells were stopped, and which nobody ran."""
    stopped: dict[str, list[str]] = {}
    absent: dict[str, list[str]] = {}
    for task in listed:
        for epsilon in EPSILONS:
            found = means(kept, task, epsilon)
            for method in METHODS[1:]:
                if method not in found:
                    given = kept.get(_key(task, epsilon, method, 0), {}).get("stopped_s")
                    named = (
                        f"`{method}` stopped after {given} CPU seconds" if given else f"`{method}` not run"
                    )
                    (stopped if given else absent).setdefault(f"{named}: {task} at", []).append(
                        f"{epsilon:g}"
                    )
    told = {**dict(sorted(stopped.items())), **dict(sorted(absent.items()))}
    return ["", *(f"- {name} {', '.join(epsilons)}" for name, epsilons in told.items())] if told else []


def _cell(method: str, found: Mapping[str, tuple[float, float, float, str, int]]) -> str:
    if method not in found:
        return ""
    tvd, largest, seconds, _, seeds = found[method]
    return f"{tvd:.4f} / {largest:.4f}, {seconds:.0f} s ({seeds})"


def main() -> None:
    """Run what was asked for, and write the page from all that is kept."""
    warnings.simplefilter("ignore", NotPrivateWarning)
    warnings.simplefilter("ignore", AssumptionWarning)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", action="append", choices=list(TASKS))
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--epsilon", action="append", type=float)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--most-cpu", type=int, help="seconds of the processor after which a fit is stopped")
    asked = parser.parse_args()
    (RESULTS / "synth_panel.md").write_text(page(kept_cells()))
    for seed in range(asked.seeds):  # every cell once before any cell twice
        for task in asked.task or list(PLANNED):
            methods, epsilons = asked.method or list(METHODS), asked.epsilon or list(EPSILONS)
            run(task, methods, epsilons, seed, asked.most_cpu)
            (RESULTS / "synth_panel.md").write_text(page(kept_cells()))


if __name__ == "__main__":
    main()
