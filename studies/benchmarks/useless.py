"""What would be refused as useless, over the stored panels: public numbers alone against every result that is kept.

    python -m studies.benchmarks.useless --sizes    (with HOLDFAST_DATA: what is public of the panels' tables, kept
    in a file) python -m studies.benchmarks.useless            (the page studies/benchmarks/results/useless.md; needs
    no data)

`holdfast.release._usefulness` refuses where noise hides as many units as a table has. No result of the learning, the
synthesis or the additive panel that beats a constant may be among what it refuses; the test
`tests/benchmarks/test_useless.py` holds it. *Margin* is how many times more units a table has than noise hides.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.data import Categorical, Schema
from holdfast.errors import ParameterError
from holdfast.learn import LEARNERS
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn.methods.method import PublicFacts, any_release
from holdfast.privacy import Account
from holdfast.privacy._account.request import limit_of
from holdfast.privacy._adjacency import Adjacency
from holdfast.release._usefulness import Prospect
from holdfast.synth import Workload
from holdfast.synth._choice import find_synthesis_method
from holdfast.synth._forecast import synthesis_prospects
from holdfast.synth.methods.method import SynthesisTask

RESULTS = Path(__file__).resolve().parent / "results"
SIZES, PAGE = RESULTS / "useless_sizes.json", RESULTS / "useless.md"
PANELS = ("learn_panel", "additive", "synth_panel")
DELTA, SHARE, CONFIDENCE = 1e-9, 0.1, 0.95
"""Of the synthesis panel: its delta, and the defaults of the certificate."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """What is public of one table: rows, encoded columns, classes, and what a constant scores on held-out rows."""

    rows: int
    columns: int
    classes: int = 0
    constant: float | None = None


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One stored result with what public numbers say of it; `beats` where it is better than a constant."""

    panel: str
    cell: str
    score: float
    beats: bool
    prospects: tuple[Prospect, ...]

    @property
    def refused(self) -> bool:
        """Whether a command would refuse it."""
        return any(one.useless for one in self.prospects)

    @property
    def margin(self) -> float:
        """How many times more units there are than noise hides, by the strictest prospect."""
        return min(one.units / one.hidden for one in self.prospects)


def measured() -> dict[str, dict[str, Size]]:
    """The sizes of all tables of the panels; needs their data."""
    import numpy as np
    import studies.benchmarks.additive_data as data
    import studies.benchmarks.additive_made as made
    from studies.benchmarks.learn_panel_tables import TABLES, load
    from studies.benchmarks.synth_panel import TASKS

    from holdfast.data._encode import Encoder

    found: dict[str, dict[str, Size]] = {panel: {} for panel in PANELS}
    for name in TABLES:
        table = load(name)
        features = [column for column in table.schema.names if column != table.target]
        width = len(Encoder(table.schema, features, intercept=True).fit().get_feature_names_out())
        wanted = table.split(0)[1][table.target]
        constant = {"r2": 0.0, "area": 0.5}.get(table.metric)
        if constant is None:
            constant = float(wanted.astype(str).value_counts(normalize=True).max())
        classes = 0 if table.classes is None else len(table.classes)
        found["learn_panel"][name] = Size(rows=table.train, columns=width, classes=classes, constant=constant)
        load.cache_clear()
    for module in (data, made):
        for maker in vars(module).values():
            if getattr(maker, "__module__", "") != module.__name__ or maker.__name__.startswith("_"):
                continue
            if maker.__annotations__.get("return") != "AdditiveTable":
                continue
            table = maker()
            labels = table.test[table.target]
            column = table.schema[table.target]
            several = isinstance(column, Categorical)
            common = float(np.max(labels.astype(str).value_counts(normalize=True))) if several else 0.0
            found["additive"][table.name] = Size(
                rows=len(table.train),
                columns=len(table.schema.names) - 1,
                classes=len(column.labels) if isinstance(column, Categorical) else 0,
                constant=common,
            )
    for name, task in TASKS.items():
        rows = task()[0]
        found["synth_panel"][name] = Size(rows=rows.units(), columns=len(rows.schema.names))
    return found


def sizes() -> dict[str, dict[str, Size]]:
    """As they are kept."""
    kept = json.loads(SIZES.read_text(encoding="utf-8"))
    return {panel: {name: Size(**one) for name, one in tables.items()} for panel, tables in kept.items()}


def judged() -> Iterator[Judged]:
    """Every stored result of the house, with what public numbers say of it."""
    known = sizes()
    for panel in PANELS:
        cells = json.loads((RESULTS / f"{panel}.json").read_text(encoding="utf-8"))
        for key, cell in cells.items():
            yield from _JUDGES[panel](key, cell, known[panel])


def _of_learner(key: str, cell: dict[str, Any], known: dict[str, Size]) -> Iterator[Judged]:
    name, epsilon, kind, method, _ = key.split("|")
    if "score" not in cell or name not in known:
        return
    size, entry = known[name], next((one for one in LEARNERS if one.name == cell.get("chosen", method)), None)
    yield Judged(
        panel="learn_panel",
        cell=key,
        score=cell["score"],
        beats=cell["score"] > (size.constant or 0.0),
        prospects=_prospects(size, float(epsilon), size.rows**-1.5 if kind == "delta" else 0.0, entry),
    )


def _of_additive(key: str, cell: Any, known: dict[str, Size]) -> Iterator[Judged]:
    name, who, *rest = key.split("|")
    if not who.startswith("holdfast") or not rest:
        return
    size = known[name]
    for fit in cell:
        score = fit["scores"][0]
        yield Judged(
            panel="additive",
            cell=key,
            score=score,
            beats=score > (size.constant or 0.0),
            prospects=_prospects(size, float(rest[0]), size.rows**-1.5, None),
        )


def _prospects(size: Size, epsilon: float, delta: float, entry: Any) -> tuple[Prospect, ...]:
    limit = limit_of(epsilon, delta)
    account = Account(limit, currency="pure" if delta == 0 else "gdp", seed=0)
    width = size.columns * (size.classes if size.classes > 2 else 1)
    facts = PublicFacts(
        problem=Problem(loss=Logistic(), dimension=width, penalty=0.1),
        count=size.rows,
        limit=account.remaining(),
        adjacency=Adjacency.replace,
    )
    return (any_release if entry is None else entry.prospects)(facts)


def _of_synthesis(key: str, cell: Any, known: dict[str, Size]) -> Iterator[Judged]:
    name, epsilon, method, _ = key.split(" ")
    if "tvd" not in cell:
        return
    size = known[name]
    schema = Schema([Categorical(f"c{place}", ["0", "1"]) for place in range(size.columns)])
    limit = limit_of(float(epsilon), DELTA)
    task = SynthesisTask(
        domain=schema.domain,
        workload=Workload.marginals(schema, 1),
        limit=limit,
        adjacency=Adjacency.add_remove,
        rows=size.rows,
    )
    entry = find_synthesis_method(cell.get("chosen", method))
    work, check = Account(limit, adjacency="add_remove", currency=entry.currency, seed=0).split(
        1 - SHARE, SHARE
    )
    said = synthesis_prospects(task, entry, work, check, units=size.rows, confidence=CONFIDENCE)
    # Uniform rows are off by half of all mass and more wherever a table has structure: a result below is of use.
    yield Judged(panel="synth_panel", cell=key, score=cell["tvd"], beats=cell["tvd"] < 0.5, prospects=said)


_JUDGES = {"learn_panel": _of_learner, "additive": _of_additive, "synth_panel": _of_synthesis}


def page(found: list[Judged]) -> str:
    """What the rule would have refused, and how far the rest is from it."""
    lines = [
        "# What would be refused as useless",
        "",
        "Made by `python -m studies.benchmarks.useless` from the stored panels: a result is "
        "refused where noise hides as many",
        "units as its table has (`holdfast.release._usefulness`). *Margin* is how many times more units there are.",
        "",
        "| panel | results | better than a constant | refused | refused although better | least margin | of |",
        "|---|---|---|---|---|---|---|",
    ]
    for panel in PANELS:
        own = [one for one in found if one.panel == panel]
        better, least = [one for one in own if one.beats], min(own, key=lambda one: one.margin)
        refused = [one for one in own if one.refused]
        wrong = [one for one in refused if one.beats]
        cell = least.cell.replace("|", ", ")
        lines.append(
            f"| {panel} | {len(own):,} | {len(better):,} | {len(refused)} | {len(wrong)} | {least.margin:.3g} "
            f"| {cell} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure the sizes, or write the page."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--sizes", action="store_true", help="measure the tables (needs HOLDFAST_DATA)")
    if asked.parse_args().sizes:
        kept = {
            panel: {name: asdict(one) for name, one in tables.items()} for panel, tables in measured().items()
        }
        SIZES.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        return
    if not SIZES.exists():
        raise ParameterError(f"{SIZES.name} must be there; make it with --sizes")
    PAGE.write_text(page(list(judged())), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
