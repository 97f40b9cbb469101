"""The generator against the house: latent tables, all triples of a hundred columns, conjunctions of few columns.

    python -m studies.benchmarks.query_gan [--part latent|triples|conjunctions ...] [--size 60,3 ...] [--seeds 5]
    [--save]

Each cell runs in a process of its own, so that CPU seconds and peak memory are its own, and with --save is kept in
`studies/benchmarks/results/query_gan.json` as soon as it is finished; a run goes on where another ended. Tables are
drawn from seeds that no constant was chosen on (FIRST_SEED and on). `adaptive@3513530` is the method as it was in
that commit, run from a copy of its sources. Errors are exact, of the released rows, at delta 1e-9; a tenth of every
budget goes into the certificate.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import platform
import resource
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
STORE = ROOT / "studies" / "benchmarks" / "results" / "query_gan.json"
PAGE = STORE.with_suffix(".md")
OLD = "3513530"
FIRST_SEED = 101
DELTA = 1e-9
LATENT = ("query_gan", "query_gan network", "gaussian", f"adaptive@{OLD}")
TRIPLES = ("query_gan", "gaussian")
CONJUNCTIONS = (
    "query_gan",
    "query_gan_select",
    "query_gan_leader",
    "gaussian",
    "mwem",
    "frank_wolfe_dual",
    "line: independent",
    "line: gaussian answers",
    "line: tree",
)
#: Columns and ways of the conjunctions.
SIZES = ((20, 2), (20, 3), (40, 2), (40, 3), (60, 2), (60, 3))
#: Words with which a method says that a table is too large for it: a result, not a failure.
REFUSALS = ("holdfast.errors.",)
#: Multiplicative weights over every possible record up to so many, beyond it over a graphical model; by default a
#: million records are held, and 20 columns take ten minutes.
OPTIONS: dict[str, dict[str, Any]] = {"mwem": {"held": 2**16}}
Cell = dict[str, Any]
Bits = NDArray[np.bool_]
FACTORS, ROWS = 8, 20_000


def cells(parts: Sequence[str], seeds: int) -> Iterator[str]:
    """Names: part, columns, ways, epsilon, seed, method."""
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        if "latent" in parts:
            yield from (
                f"latent {columns} 2 1 {seed} {method}" for columns in (60, 100) for method in LATENT[:-1]
            )
        if "conjunctions" in parts:
            yield from (f"conjunctions {c} {k} 1 {seed} {m}" for c, k in SIZES for m in CONJUNCTIONS)
    for columns in (60, 100) if "latent" in parts else ():  # minutes each: last
        yield from (
            f"latent {columns} 2 1 {seed} {LATENT[-1]}" for seed in range(FIRST_SEED, FIRST_SEED + seeds)
        )
    if "triples" in parts and seeds:
        yield from (f"triples 100 3 10 {FIRST_SEED} {method}" for method in TRIPLES)


def latent_bits(columns: int, seed: int) -> Bits:
    """The law of `synth_panel_tables.latent`: bits that depend on eight hidden numbers."""
    random = np.random.default_rng(seed)
    weights, shift = random.normal(size=(FACTORS, columns)), random.normal(size=columns) * 0.5
    hidden = random.normal(size=(ROWS, FACTORS)) @ weights
    return np.asarray(hidden + shift + random.normal(size=(ROWS, columns)) > 0)


def measure(name: str) -> Cell:
    """One cell, in this process. Uses no name of the package that its old commit does not have."""
    from holdfast.data import Categorical, Schema, open_table
    from holdfast.errors import AssumptionWarning, NotPrivateWarning
    from holdfast.synth import Synthesizer, Workload

    warnings.simplefilter("ignore", NotPrivateWarning)
    warnings.simplefilter("ignore", AssumptionWarning)
    part, columns, ways, epsilon, seed, *words = name.split(" ")
    bits = latent_bits(int(columns), int(seed))
    names = [f"x{place:03d}" for place in range(int(columns))]
    schema = Schema([Categorical(one, ["0", "1"]) for one in names], adjacency="add_remove", n_public=ROWS)
    frame = {one: bits[:, place].astype(int).astype(str) for place, one in enumerate(names)}
    table = open_table(frame, schema)
    work: Any = (
        _ones(names, int(ways))
        if part == "conjunctions"
        else Workload.of(list(combinations(names, int(ways))))
    )
    if words[0] == "line:":
        return _line(table, work, float(epsilon), int(seed), " ".join(words[1:]))
    method = words[0].partition("@")[0]
    options = {"generator": "network"} if words[1:] == ["network"] else OPTIONS.get(method, {})
    before = resource.getrusage(resource.RUSAGE_SELF)
    made = Synthesizer(
        float(epsilon), DELTA, method=method, workload=work, random_state=int(seed), options=options
    ).fit(table)
    after = resource.getrusage(resource.RUSAGE_SELF)
    drawn = made.sample()
    rows = np.stack([np.asarray(drawn[one]).astype(str) == "1" for one in names], axis=1)
    assert made.certificate_ is not None
    return {
        **errors(bits, rows, int(ways), ones=part == "conjunctions"),
        "alpha": made.certificate_.alpha,
        "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_mb": after.ru_maxrss / 1024,
        "told": {
            key: value
            for key, value in made.release_.provenance.parameters.items()
            if key in ("steps", "rounds")
        },
    }


def errors(truth: Bits, rows: Bits, ways: int, *, ones: bool) -> dict[str, float]:
    """Exact: mean total variation over all tables of so many columns, and the largest error of a cell.

    With `ones`, of the cell in which all columns are 1 alone: then "tvd" is the mean error.
    """
    gaps = [_shares(one, ways, ones=ones) for one in (truth, rows)]
    means, largest = [], 0.0
    for exact, released in zip(*gaps, strict=True):
        gap = np.abs(exact - released)
        means.append(gap.sum(axis=0) / (1.0 if ones else 2.0))
        largest = max(largest, float(gap.max(initial=0.0)))
    return {"tvd": float(np.concatenate(means).mean()), "max_error": largest}


def _shares(bits: Bits, ways: int, *, ones: bool) -> Iterator[Any]:
    """For every choice of columns but the last two: (cells, pairs of later columns) shares of the rows."""
    width = bits.shape[1]
    for first in combinations(range(width), ways - 2):
        later = bits[:, (first[-1] + 1 if first else 0) :].astype(np.float32)
        upper = np.triu_indices(later.shape[1], 1)
        cells = []
        for values in np.ndindex(*(2,) * len(first)):
            if ones and not all(values):
                continue
            kept = np.all(bits[:, list(first)] == np.array(values, dtype=bool), axis=1)
            sides = (later[kept], 1.0 - later[kept])
            pairs = [(sides[0], sides[0])] if ones else [(a, b) for a in sides for b in sides]
            cells += [(a.T @ b)[upper] / len(bits) for a, b in pairs]
        yield np.array(cells)


def _ones(names: Sequence[str], ways: int) -> Any:
    """Monotone conjunctions: that all of some columns are 1, for every choice of so many columns."""
    from holdfast.synth import Predicates, Workload

    corner = np.zeros((1,) + (2,) * ways)
    corner[(0, *(1,) * ways)] = 1.0
    return Workload.of([Predicates(chosen, values=corner) for chosen in combinations(names, ways)])


def _line(table: Any, work: Any, epsilon: float, seed: int, name: str) -> Cell:
    from holdfast.synth._evaluation import reference_lines

    (found,) = reference_lines(table, work, epsilon=epsilon, delta=DELTA, random_state=seed, options=(name,))
    return {"tvd": float(found.max_errors.mean()), "max_error": found.max_error}


def sources_of(commit: str, folder: Path) -> Path:
    """The package as it was in a commit."""
    packed = subprocess.run(
        ["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def run(names: Sequence[str], *, save: bool) -> dict[str, Cell]:
    """All cells that are not kept yet."""
    kept: dict[str, Cell] = json.loads(STORE.read_text()) if STORE.exists() else {}
    commit = _commit()
    with tempfile.TemporaryDirectory() as folder:
        old: Path | None = None
        for name in names:
            if name in kept:
                continue
            sources = ROOT / "src"
            if name.endswith(f"@{OLD}"):
                old = sources = old or sources_of(OLD, Path(folder))
            done = subprocess.run(
                [sys.executable, "-m", "studies.benchmarks.query_gan", "--cell", name],
                cwd=ROOT,
                text=True,
                capture_output=True,
                env={**os.environ, "PYTHONPATH": f"{sources}{os.pathsep}{ROOT}"},
            )
            if done.returncode:
                why = (done.stderr.strip().splitlines() or ["no word"])[-1]
                print(name, "failed:", why, flush=True)
                if not why.startswith(REFUSALS):
                    continue
                kept[name] = {"refused": why.partition(": ")[2], "commit": commit}
            else:
                kept[name] = {**json.loads(done.stdout.splitlines()[-1]), "commit": commit}
            print(name, kept[name], flush=True)
            if save:
                STORE.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
                PAGE.write_text(page(kept))
    return kept


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True)
    return found.stdout.strip()


def page(kept: dict[str, Cell]) -> str:
    """Means over the seeds, a line for each method."""
    lines = [
        "# The generator against the house",
        "",
        "`python -m studies.benchmarks.query_gan --save`: latent tables of 20,000 rows (x = "
        "sign(W z + b + noise), eight",
        f"factors), drawn from seeds {FIRST_SEED} and on; delta 1e-9, exact errors of n released rows; CPU seconds of",
        f"`fit`, peak memory of its process. {platform.machine()}, shared cores, Python {platform.python_version()},",
        f"NumPy {np.__version__}, one BLAS thread. CPU seconds are of the commit that a cell names in",
        "`query_gan.json`: those of older ones are larger than today's.",
        *summary(kept),
    ]
    groups: dict[tuple[str, ...], dict[str, list[Cell]]] = {}
    for name, cell in kept.items():
        part, columns, ways, epsilon, _, *words = name.split(" ")
        groups.setdefault((part, columns, ways, epsilon), {}).setdefault(" ".join(words), []).append(cell)
    for (part, columns, ways, epsilon), found in sorted(groups.items()):
        lines += [
            "",
            f"## {part}: {columns} columns, {ways}-way, epsilon {epsilon}",
            "",
            "| method | mean TVD | largest error | certified | CPU s | peak MB | seeds |",
            "|---|---:|---:|---:|---:|---:|---:|",
        ]
        refused = {name: found.pop(name)[0]["refused"] for name in list(found) if "refused" in found[name][0]}
        for method, ones in sorted(found.items(), key=lambda item: np.mean([one["tvd"] for one in item[1]])):
            shown = [_mean(ones, "tvd", ".5f"), _mean(ones, "max_error", ".5f"), _mean(ones, "alpha", ".5f")]
            shown += [_mean(ones, "cpu_s", ".0f"), _mean(ones, "peak_mb", ".0f"), str(len(ones))]
            lines.append(f"| {method} | {' | '.join(shown)} |")
        lines += _ratios(found)
        lines += [part for name, why in refused.items() for part in ("", f"`{name}` refuses: {why}")]
    return "\n".join(lines) + "\n"


SAID = """
Monotone conjunctions: that all of k columns are 1, for every choice of k columns; one query of each joint table. What
measures the tables at once (`query_gan`, `gaussian`) learns more than it is asked. Each entry is the mean error over
that of `query_gan` / the largest error over that of `query_gan`, over the seeds that both ran with (in brackets).

- `mwem` holds a weight for every possible record, of at most 65,536 here: 16 bits. 20 bits make 1,048,576, and its
  rounds over so many take minutes. At every size below it is the form that selects 16 whole tables and keeps a
  graphical model of them.
- `frank_wolfe_dual` holds all records of 20 columns. Beyond that it runs on 100,000 records with independent columns,
  drawn from noisy one-way tables, and can say nothing about others.
- Lines are exact functions of the private table, for comparison: independent columns, a tree of pairs, and answers with
  Gaussian noise, without rows.
"""


def summary(kept: dict[str, Cell]) -> list[str]:
    """Conjunctions in one table, and in words who is best and what was not run; the docs show this part alone."""
    shown = [name for name in CONJUNCTIONS if name != "query_gan"]
    lines = ["", "<!-- conjunctions -->", *SAID.splitlines(), ""]
    lines += [
        f"| columns, k | `query_gan` | {' | '.join(_told(name) for name in shown)} |",
        "|---" * (len(shown) + 2) + "|",
    ]
    ahead: dict[str, list[str]] = {}
    absent: dict[str, list[str]] = {}
    behind: dict[str, list[float]] = {}
    for columns, ways in SIZES:
        found: dict[str, dict[str, Cell]] = {}
        for name, cell in kept.items():
            part, *size, _, seed, method = name.split(" ", 5)
            if (part, *size) == ("conjunctions", str(columns), str(ways)) and "tvd" in cell:
                found.setdefault(method, {})[seed] = cell
        own, size_said = found.get("query_gan", {}), f"{columns} columns, k = {ways}"
        if not own:
            continue
        entries = [
            f"{np.mean([one['tvd'] for one in own.values()]):.5f} / "
            f"{np.mean([one['max_error'] for one in own.values()]):.5f} ({len(own)})"
        ]
        for method in shown:
            both = sorted(own.keys() & found.get(method, {}).keys())
            if not both:
                absent.setdefault(method, []).append(size_said)
                entries.append("")
                continue
            ratios = [
                sum(found[method][seed][key] for seed in both) / sum(own[seed][key] for seed in both)
                for key in ("tvd", "max_error")
            ]
            entries.append(f"{ratios[0]:.2f} / {ratios[1]:.2f} ({len(both)})")
            behind.setdefault(_told(method), []).append(ratios[0])
            for ratio, error in zip(ratios, ("mean", "largest"), strict=True):
                if ratio < 1:
                    ahead.setdefault(f"{_told(method)} in the {error} error", []).append(size_said)
        lines.append(f"| {columns}, {ways} | {' | '.join(entries)} |")
    told = [f"{name} {min(ratios):.2f} to {max(ratios):.2f}" for name, ratios in behind.items()]
    lines += ["", f"Mean errors over that of `query_gan`, where both were run: {', '.join(told)}."]
    lines += ["", "Better than `query_gan`: " + _listed(ahead) + "."]
    lines += ["", "Not run: " + _listed({_told(name): sizes for name, sizes in absent.items()}) + "."]
    return [*lines, "", "<!-- every part -->"]


def _told(method: str) -> str:
    return method.replace("line: ", "line of ") if method.startswith("line") else f"`{method}`"


def _listed(found: dict[str, list[str]]) -> str:
    return "; ".join(f"{name} at {' and '.join(sizes)}" for name, sizes in found.items()) or "none"


def _ratios(found: dict[str, list[Cell]]) -> list[str]:
    """By how much the generator is better than each other method, in the means."""
    if "query_gan" not in found or len(found) < 2:
        return []
    own = {key: np.mean([one[key] for one in found["query_gan"]]) for key in ("tvd", "max_error")}
    others = [
        f"{name} {np.mean([o['tvd'] for o in ones]) / own['tvd']:.2f} / "
        f"{np.mean([o['max_error'] for o in ones]) / own['max_error']:.2f}"
        for name, ones in sorted(found.items())
        if name != "query_gan"
    ]
    return ["", "Errors over those of `query_gan`, TVD / largest: " + "; ".join(others) + "."]


def _mean(ones: Sequence[Cell], key: str, form: str) -> str:
    values = [one[key] for one in ones if key in one]
    return f"{np.mean(values):{form}}" if values else ""


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=("latent", "triples", "conjunctions"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--method", action="append", help="only cells of this method")
    parser.add_argument(
        "--size", action="append", help="only cells of so many columns and ways, such as 60,3"
    )
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--cell", help="one cell, in this process")
    asked = parser.parse_args()
    if asked.cell:
        print(json.dumps(measure(asked.cell)))
        return
    names = list(cells(asked.part or ["latent", "triples", "conjunctions"], asked.seeds))
    wanted = [
        name
        for name in names
        if (not asked.method or " ".join(name.split(" ")[5:]) in asked.method)
        and (not asked.size or ",".join(name.split(" ")[1:3]) in asked.size)
    ]
    kept = run(wanted, save=asked.save)
    if asked.save:
        PAGE.write_text(page(kept))
    print(page(kept))


if __name__ == "__main__":
    main()
