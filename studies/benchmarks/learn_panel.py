"""The learning panel: `auto`, every method of the house, and two peers at fixed settings, on many tables.

Run with `python -m studies.benchmarks.learn_panel [--table T ...] [--method M ...] [--epsilon E ...] [--repetitions N]
[--peer PYTHON] [--quick] [--settle N]`. PYTHON is the interpreter of an environment with diffprivlib 0.6.6
(scikit-learn 1.7.2), torch and opacus. A cell is kept in `studies/benchmarks/results/learn_panel.json` as soon as it is
finished, and a run goes on where another ended; the page, `studies/benchmarks/results/learn_panel.md`, is made from
all that is kept (`--page` does only that). Which tables tuned the rule and which judge it stands in
`learn_panel_tables.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import fcntl
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from studies.benchmarks.learn_panel_page import FACTS, LARGE, page, verdict
from studies.benchmarks.learn_panel_tables import TABLES, PanelTable, load
from studies.benchmarks.learn_panel_worker import measure
from studies.benchmarks.public_data import package

from holdfast.data._encode import Encoder, cells_of
from holdfast.data._engines import open_table
from holdfast.errors import HoldfastError, ParameterError
from holdfast.learn import LEARNERS, PrivateLasso, PrivateLinearRegression, PrivateLogisticRegression

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = package("pandas")

HERE = Path(__file__).resolve().parent
STORE, PAGE = HERE / "results" / "learn_panel.json", HERE / "results" / "learn_panel.md"
EPSILONS = (0.1, 0.5, 1.0, 4.0, 8.0)
KINDS = ("delta", "pure")
"""delta = n^-1.5 under zero_out, and delta = 0 under replace: what the peers promise."""
PEERS = {"delta": (("opacus", 4.0), ("opacus", 16.0)), "pure": (("diffprivlib", 1.0), ("diffprivlib", 0.01))}
"""diffprivlib's default C is 1; Opacus has no default step."""
GIBBS_COLUMNS = 30
"""Beyond, one draw takes minutes."""
Kept = dict[str, dict[str, Any]]


def key_of(table: str, epsilon: float, kind: str, method: str, repetition: int) -> str:
    """The name of a cell."""
    return f"{table}|{epsilon:g}|{kind}|{method}|{repetition}"


def kept_cells() -> Kept:
    """What earlier runs found."""
    found: Kept = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    return found


def keep(cells: Kept) -> None:
    """Written at once; several runs may share the file."""
    with (Path(tempfile.gettempdir()) / "learn_panel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = sorted((kept_cells() | cells).items())
        lines = [f"{json.dumps(key)}: {json.dumps(cell)}" for key, cell in found]
        part = STORE.with_suffix(".part")
        part.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        part.replace(STORE)
    for key, cell in cells.items():
        print(key, cell, flush=True)


def house(table: PanelTable, kind: str) -> list[str]:
    """`auto`, and the methods that may take the table's loss without further settings."""
    several = table.classes is not None and len(table.classes) > 2
    columns = len(table.schema.names) - 1
    chosen = [
        method.name
        for method in LEARNERS
        if ("several" if several else "one") in method.outputs
        and (method.pure or kind == "delta")
        and (not method.losses or ("squared" if table.classes is None else "logistic") in method.losses)
        and (method.name != "gibbs" or columns <= GIBBS_COLUMNS)
    ]
    return ["auto", *chosen, *(["lasso"] if table.classes is None else [])]


def score(table: PanelTable, model: Any, test: pd.DataFrame) -> float:
    """The table's measure on the rows that were held out."""
    wanted = test[table.target].to_numpy()
    if table.classes is None:
        column: Any = table.schema[table.target]
        wanted = np.clip(wanted, column.low, column.high)
        # A number that never changes has no variance: then it is the square of half the declared range.
        spread = np.var(wanted) if np.ptp(wanted) > 0 else ((column.high - column.low) / 2.0) ** 2
        return float(1.0 - np.mean((model.predict(test) - wanted) ** 2) / spread)
    if table.metric == "area":
        signs = np.where(wanted == table.classes[1], 1.0, -1.0)
        return measure("area", np.ones((1, 1)), model.decision_function(test)[:, None], signs)
    declared: Any = table.schema[table.target]
    return float(np.mean(cells_of(declared, model.predict(test)) == cells_of(declared, wanted)))


def run_house(
    table: PanelTable, methods: list[str], epsilons: list[float], kinds: list[str], repetition: int
) -> None:
    """Our cells of one split that are not kept yet."""
    known = kept_cells()
    jobs = [
        (e, kind, method)
        for kind in kinds
        for method in house(table, kind)
        for e in epsilons
        if method in methods and key_of(table.name, e, kind, method, repetition) not in known
    ]
    opened: dict[str, Any] = {}
    for epsilon, kind, method in jobs:
        train, test = opened.setdefault("split", table.split(repetition))
        if kind not in opened:
            opened[kind] = open_table(train, _neighbours(table, kind))
        face: Any = PrivateLinearRegression if table.classes is None else PrivateLogisticRegression
        model = (PrivateLasso if method == "lasso" else face)(
            epsilon=epsilon,
            delta=len(train) ** -1.5 if kind == "delta" else 0.0,
            method="auto" if method == "lasso" else method,
            random_state=repetition,
        )
        start = time.process_time()
        try:
            try:
                model.fit(opened[kind], target=table.target)
            except ParameterError as error:
                if "radius" not in str(error):
                    raise
                model.set_params(radius=_radius(table)).fit(opened[kind], target=table.target)
        except HoldfastError as error:
            cell: dict[str, Any] = {"refused": str(error)[:160]}
        else:
            cell = {"seconds": round(time.process_time() - start, 3), "score": score(table, model, test)}
            cell |= {"chosen": model.method_} if method == "auto" else {}
        keep({key_of(table.name, epsilon, kind, method, repetition): cell})


def _radius(table: PanelTable) -> float:
    """For methods that cannot do without: weights of norm 10, or predictions of twice the target's half range."""
    column: Any = table.schema[table.target]
    return 10.0 if table.classes is not None else float(column.high - column.low)


def _neighbours(table: PanelTable, kind: str) -> Any:
    from holdfast.data import Schema

    return Schema(table.schema.columns, adjacency="zero_out" if kind == "delta" else "replace")


def encoded(table: PanelTable) -> Any:
    """Rows as peers get them: declared ranges to [-1, 1], one-hot, a constant; their worker clips them to norm 1."""
    columns = [name for name in table.schema.names if name != table.target]
    return Encoder(table.schema, columns, intercept=True, row_norm=None).transform(table.frame)


def coded(table: PanelTable) -> Any:
    """Labels as peers get them: -1 and 1, places in the list of classes, or a number in [-1, 1]."""
    values = table.frame[table.target].to_numpy()
    if table.classes is None:
        column: Any = table.schema[table.target]
        centre, half = (column.low + column.high) / 2, (column.high - column.low) / 2
        return np.clip((values - centre) / half, -1.0, 1.0)
    places = pd.Categorical(values, categories=table.classes).codes.astype(np.float64)
    return 2.0 * places - 1.0 if len(table.classes) == 2 else places


def run_peers(
    table: PanelTable,
    python: str,
    epsilons: list[float],
    kinds: list[str],
    repetitions: list[int],
    methods: list[str],
) -> None:
    """The peers' cells of some splits that are not kept yet."""
    known = kept_cells()
    jobs = [
        (peer, e, setting, repetition)
        for repetition in repetitions
        for kind in kinds
        for peer, setting in PEERS[kind]
        for e in epsilons
        if f"{peer} {setting:g}" in methods
        and key_of(table.name, e, kind, f"{peer} {setting:g}", repetition) not in known
    ]
    if not jobs:
        return
    kinds_of = {None: "number", 2: "two"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(
            path,
            rows=encoded(table),
            labels=coded(table),
            train=table.train,
            test=table.test,
            published=table.published_split,
            table=table.name,
            metric=table.metric,
            kind=kinds_of.get(None if table.classes is None else len(table.classes), "several"),
        )
        command = [python, str(HERE / "learn_panel_worker.py"), str(path), json.dumps(jobs)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                keep(of_worker(line))


def settle(tables: list[str], epsilons: list[float], kinds: list[str], most: int, python: str | None) -> None:
    """More splits of `auto` and of whom it loses most to, in large tables, until the error of what is lost is small."""
    places = [
        (name, e, kind) for name in tables if FACTS[name][0] >= LARGE for kind in kinds for e in epsilons
    ]
    tried: dict[tuple[str, float, str], set[tuple[str, int]]] = {place: set() for place in places}
    while places:
        for place in list(places):
            name, epsilon, kind = place
            found = verdict(kept_cells(), name, f"{epsilon:g}", kind)
            wanted = 0 if found is None else min(found.wanted, most)
            if found is None or wanted <= found.shared or (found.worst, wanted) in tried[place]:
                places.remove(place)
                continue
            tried[place].add((found.worst, wanted))
            for repetition in range(wanted):
                run_house(load(name), ["auto", found.worst], [epsilon], [kind], repetition)
            if python:
                run_peers(load(name), python, [epsilon], [kind], list(range(wanted)), [found.worst])


def of_worker(line: str) -> Kept:
    """A cell from a line of the peers' worker."""
    found = json.loads(line)
    kind = next(kind for kind, peers in PEERS.items() if found["peer"] in dict(peers))
    key = key_of(
        found["table"], found["epsilon"], kind, f"{found['peer']} {found['setting']:g}", found["repetition"]
    )
    if "refused" in found:
        return {key: {"refused": found["refused"]}}
    return {key: {"seconds": round(found["seconds"], 3), "score": found["score"]}}


def forgotten(key: str, asked: argparse.Namespace) -> bool:
    """Whether `--drop` forgets a cell: of the methods named and, where they are, of the tables and kinds."""
    table, _, kind, method, _ = key.split("|")
    wanted = ((method, asked.method or []), (table, asked.table or [table]), (kind, asked.kind or [kind]))
    return all(one in named for one, named in wanted)


def main() -> None:
    """Run what was asked for, and write the page from all that is kept."""
    warnings.simplefilter("ignore")
    names = ["auto", *(method.name for method in LEARNERS), "lasso"]
    names += [f"{peer} {setting:g}" for peers in PEERS.values() for peer, setting in peers]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", action="append", choices=list(TABLES))
    parser.add_argument("--method", action="append", choices=names)
    parser.add_argument("--epsilon", action="append", type=float)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first repetition")
    parser.add_argument("--peer", help="the peers' interpreter; without it they are not run")
    parser.add_argument("--quick", action="store_true", help="one repetition, epsilon .1, 1, 8")
    parser.add_argument(
        "--settle", type=int, help="instead: splits, up to so many, where the verdict needs more"
    )
    parser.add_argument("--lines", type=Path, help="take in lines of the peers' worker, run elsewhere")
    parser.add_argument("--page", action="store_true", help="only make the page")
    parser.add_argument(
        "--drop",
        action="store_true",
        help="forget the --method named first (of --table, --kind)",
    )
    asked = parser.parse_args()
    methods, kinds = asked.method or names, asked.kind or list(KINDS)
    epsilons = asked.epsilon or list((0.1, 1.0, 8.0) if asked.quick else EPSILONS)
    if asked.drop:
        kept = {k: v for k, v in kept_cells().items() if not forgotten(k, asked)}
        STORE.write_text(json.dumps(kept), encoding="utf-8")
        keep({})
    if asked.lines:
        for line in asked.lines.read_text(encoding="utf-8").splitlines():
            keep(of_worker(line))
    for repetition in range(
        asked.first, 0 if asked.page or asked.settle else 1 if asked.quick else asked.repetitions
    ):
        for name in asked.table or list(TABLES):
            table = load(name)
            run_house(table, methods, epsilons, kinds, repetition)
            if asked.peer:
                run_peers(table, asked.peer, epsilons, kinds, [repetition], methods)
    if asked.settle:
        settle(asked.table or list(TABLES), epsilons, kinds, asked.settle, asked.peer)
    PAGE.write_text(page(kept_cells()), encoding="utf-8")


if __name__ == "__main__":
    main()
