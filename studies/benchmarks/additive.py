"""Additive models: accuracy on tables that the rule knew and four that it did not, beside DP-EBM and no privacy.

Run with `python -m studies.benchmarks.additive --save [--unseen] [--made] [--peer PYTHON]`; PYTHON is the interpreter
of an environment with `interpret`, without which its rows are left out and the page says so. Every fit is written to
`results/additive.json` as it is made, and a run that was stopped goes on from there; `--write` makes the page.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from studies.benchmarks.additive_data import TUNED, UNSEEN, AdditiveTable
from studies.benchmarks.additive_made import MADE

from holdfast import (
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    open_table,
)
from holdfast.data import Categorical, Identifier, Numeric
from holdfast.data._encode import cells_of

RESULTS = Path(__file__).parent / "results"
STORE = RESULTS / "additive.json"
EPSILONS, FITS = (0.1, 0.5, 1.0, 4.0), 5
OURS, LINEAR, BOOSTED = "holdfast additive", "holdfast linear", "boosted trees, not private"
PEERS = ("defaults", "100 rounds, rate .1, 6 leaves, 64 bins")
MUSTS = {
    "Adult": ((0.845, 0.857, 0.860, 0.865), (0.893, 0.909, 0.912, 0.918)),
    "Covertype": ((0.765, 0.786, 0.796, 0.805),),
    "Warfarin": ((0.26, 0.39, 0.43, 0.45),),
    "Friedman-1": ((0.79, 0.935, 0.94, 0.944),),
}
"""What was asked for before the first fit: accuracy and area under the curve, or R2."""
Store = dict[str, list[dict[str, Any]]]


def loaded() -> Store:
    return json.loads(STORE.read_text()) if STORE.exists() else {}


def keep(store: Store, key: str, one: dict[str, Any]) -> None:
    store.setdefault(key, []).append(one)
    STORE.write_text(json.dumps(store, indent=1) + "\n")


def judged(table: AdditiveTable, model: Any) -> list[float]:
    from sklearn.metrics import r2_score, roc_auc_score

    truth = table.test[table.target]
    column: Any = table.schema[table.target]
    if table.classes is None:
        return [float(r2_score(truth.clip(column.low, column.high), model.predict(table.test)))]
    made = [float(np.mean(cells_of(column, model.predict(table.test)) == cells_of(column, truth.to_numpy())))]
    if len(table.classes) == 2:
        probability = model.predict_proba(table.test)[:, 1]
        made.append(float(roc_auc_score(truth == table.classes[1], probability)))
    return made


def ours(table: AdditiveTable, epsilon: float, *, linear: bool = False) -> dict[str, Any]:
    kind: Any = PrivateAdditiveClassifier if table.classes else PrivateAdditiveRegressor
    if linear:
        kind = PrivateLogisticRegression if table.classes else PrivateLinearRegression
    opened = open_table(table.train, table.schema)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(epsilon, table.delta).fit(opened, target=table.target)
    return {"scores": judged(table, model), "cpu": time.process_time() - started}


def boosted(table: AdditiveTable) -> dict[str, Any]:
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    names = [name for name in table.schema.names if name != table.target]
    words = [name for name in names if isinstance(table.schema[name], Categorical)]
    code = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    encoder = ColumnTransformer(
        [("words", code, words)], remainder="passthrough", verbose_feature_names_out=False
    )
    encoder.set_output(transform="pandas")
    few = [name for name in words if table.train[name].nunique() < 200]
    kind = HistGradientBoostingClassifier if table.classes else HistGradientBoostingRegressor
    model = make_pipeline(encoder, kind(categorical_features=few, random_state=0))
    started = time.process_time()
    column: Any = table.schema[table.target]
    truth = table.train[table.target]
    model.fit(table.train[names], truth if table.classes else truth.clip(column.low, column.high))
    spent = time.process_time() - started
    chosen = AdditiveTable(
        name=table.name,
        target=table.target,
        schema=table.schema,
        train=table.train,
        test=table.test,
    )

    class Named:
        predict = staticmethod(lambda frame: model.predict(frame[names]))
        predict_proba = staticmethod(lambda frame: model.predict_proba(frame[names]))

    return {"scores": judged(chosen, Named), "cpu": spent}


def peers(table: AdditiveTable, epsilon: float, python: str, folder: Path, fits: int) -> list[dict[str, Any]]:
    paths = {}
    for part, frame in (("train", table.train), ("test", table.test)):
        path = folder / f"{table.name}-{part}.parquet".replace(" ", "_")
        if not path.exists():
            frame.to_parquet(path)
        paths[part] = str(path)
    columns = [c for c in table.schema.columns if c.name != table.target and not isinstance(c, Identifier)]
    target: Any = table.schema[table.target]
    told = paths | {
        "target": table.target,
        "columns": [column.name for column in columns],
        "epsilon": epsilon,
        "delta": table.delta,
        "classes": table.classes,
        "fits": fits,
        "bounds": {
            column.name: (column.low, column.high) for column in columns if isinstance(column, Numeric)
        },
        "target_bounds": None if table.classes else (target.low, target.high),
    }
    worker = Path(__file__).with_name("additive_peers_worker.py")
    done = subprocess.run(
        [python, str(worker), json.dumps(told)],
        capture_output=True,
        text=True,
        check=False,
        env={"OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
    )
    if done.returncode:
        return [
            {"setting": setting, "error": done.stderr.strip().splitlines()[-1][:200]} for setting in PEERS
        ]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def measure(tables: dict[str, Callable[[], AdditiveTable]], python: str | None, fits: int = FITS) -> None:
    store = loaded()
    with tempfile.TemporaryDirectory() as folder:
        for name, make in tables.items():
            table = make()
            if not store.get(f"{name}|{BOOSTED}"):
                keep(store, f"{name}|{BOOSTED}", boosted(table))
            for epsilon in EPSILONS:
                for _ in range(fits - len(store.get(f"{name}|{OURS}|{epsilon}", []))):
                    keep(store, f"{name}|{OURS}|{epsilon}", ours(table, epsilon))
                for _ in range(
                    fits - len(store.get(f"{name}|{LINEAR}|{epsilon}", [])) if name in MADE else 0
                ):
                    keep(store, f"{name}|{LINEAR}|{epsilon}", ours(table, epsilon, linear=True))
            print(name, flush=True)
        for name, make in tables.items() if python else ():
            for epsilon in EPSILONS:
                missing = FITS - len(store.get(f"{name}|DP-EBM, {PEERS[0]}|{epsilon}", []))
                for one in peers(make(), epsilon, str(python), Path(folder), missing) if missing > 0 else ():
                    keep(store, f"{name}|DP-EBM, {one.pop('setting')}|{epsilon}", one)


def page(store: Store) -> str:
    import sklearn

    import holdfast

    machine = f"{platform.machine()}, Python {platform.python_version()}, scikit-learn {sklearn.__version__}"
    lines = [
        "# Additive models",
        "",
        "Made by `python -m studies.benchmarks.additive --save`. Mean of fresh fits with secure noise, `zero_out`, "
        "delta = n^-1.5; accuracy / area under the curve, accuracy alone for several classes, R2 for numbers; "
        "deviation of the first in brackets. "
        f"Machine: {machine}, holdfast {holdfast.__version__}, one thread. DP-EBM is that of interpret 0.7.8, "
        "told the same bounds.",
        "",
    ]
    seen = "All four were looked at while constants were chosen, Adult most, Warfarin least."
    once = (
        "No constant was chosen on them. The rule has changed since their first run; this is the fifth, each with a "
        "rule that an earlier commit had frozen, reported as they fell. One failure seen in the third run, a fit of "
        "Pima at epsilon 0.5 whose calibration was noise, led to a change of the rule: since then that cell is not "
        "unseen."
    )
    mended = "Made up to find failures, and looked at while the rule was mended: not unseen any more."
    parts = (
        ("Tables that the rule was made on", TUNED, seen),
        ("Tables that it had not seen", UNSEEN, once),
        ("Made-up tables", MADE, mended),
    )
    for title, tables, note in parts:
        lines += [f"## {title}", "", note, ""]
        for name in tables:
            lines += table_lines(store, name)
    return "\n".join(lines).rstrip() + "\n"


def cell(fits: list[dict[str, Any]], *, wanted: int = FITS) -> str:
    fine = [one["scores"] for one in fits if "scores" in one]
    if not fine:
        return "failed" if fits else ""
    shown = " / ".join(f"{value:.4f}" for value in np.mean(fine, axis=0))
    spread = f" ({np.std([one[0] for one in fine]):.4f})" if len(fine) > 1 else ""
    return shown + spread + ("" if len(fine) == wanted else f", {len(fine)} fit{'s' * (len(fine) > 1)}")


def table_lines(store: Store, name: str) -> list[str]:
    rows = [
        f"### {name}",
        "",
        "| | " + " | ".join(f"eps {e:g}" for e in EPSILONS) + " | CPU s |",
        "|---|" + "---|" * 5,
    ]
    for method in (OURS, LINEAR, *(f"DP-EBM, {setting}" for setting in PEERS)):
        fits = [store.get(f"{name}|{method}|{epsilon}", []) for epsilon in EPSILONS]
        if not any(fits):
            continue
        cpu = [one["cpu"] for each in fits for one in each if "cpu" in one]
        spent = f"{np.mean(cpu):.2f}" if cpu else ""
        rows.append(f"| {method} | " + " | ".join(cell(each) for each in fits) + f" | {spent} |")
        errors = sorted({one["error"] for each in fits for one in each if "error" in one})
        rows += [f"| {error} | | | | | |" for error in errors]
    known = store.get(f"{name}|{BOOSTED}")
    rows += [f"| {BOOSTED} | | | | {cell(known, wanted=1)} | {known[0]['cpu']:.2f} |"] if known else []
    return [*rows, "", *verdicts(store, name), ""]


def verdicts(store: Store, name: str) -> list[str]:
    made = []
    for place, (wanted, word) in enumerate(
        zip(MUSTS.get(name, ()), ("the first number", "the second"), strict=False)
    ):
        gaps, chances = [], []
        for epsilon, must in zip(EPSILONS, wanted, strict=True):
            fits = np.array([one["scores"][place] for one in store.get(f"{name}|{OURS}|{epsilon}", [])])
            gaps.append(f"{fits.mean() - must:+.4f}" if fits.size else "none")
            chances.append(chance_to_miss(fits, must) if fits.size >= 2 * FITS else 1.0)
        line = f"- {word} against what was asked for ({', '.join(map(str, wanted))}): {', '.join(gaps)}"
        if max(chances) < 1.0:
            line += (
                f"; chance that a mean of five misses it: {', '.join(shown_chance(one) for one in chances)}"
            )
        made.append(line + ".")
    return made


def chance_to_miss(fits: Any, must: float) -> float:
    """That the mean of five further fits is below, were fits normal with the mean and the deviation seen."""
    from scipy.stats import norm

    return float(norm.cdf((must - fits.mean()) / max(fits.std(ddof=1) / FITS**0.5, 1e-9)))


def shown_chance(chance: float) -> str:
    return "below 1e-6" if chance < 1e-6 else f"{chance:.1g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="measure what is missing and write the page")
    parser.add_argument("--unseen", action="store_true", help="the tables that the rule had not seen, too")
    parser.add_argument("--made", action="store_true", help="made-up tables, beside the linear default too")
    parser.add_argument("--write", action="store_true", help="write the page from what is stored")
    parser.add_argument("--peer", help="the interpreter of an environment with interpret")
    parser.add_argument("--only", help="one table")
    parser.add_argument(
        "--fits", type=int, default=FITS, help="of ours at each epsilon; further ones join those stored"
    )
    told = parser.parse_args()
    tables = dict(TUNED) | (UNSEEN if told.unseen else {}) | (MADE if told.made else {})
    if told.only:
        tables = {told.only: ({**TUNED, **UNSEEN, **MADE})[told.only]}
    if not told.peer:
        print("interpret: no interpreter given with --peer, its rows are left out")
    if told.save:
        measure(tables, told.peer, told.fits)
    made = page(loaded())
    if told.save or told.write:
        (RESULTS / "additive.md").write_text(made)
    print(made)


if __name__ == "__main__":
    main()
