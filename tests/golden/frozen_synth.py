"""Seeded syntheses: every method, adjacency and kind of workload; rows, answers, certificates and texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.data import Categorical, Schema, open_table
from holdfast.privacy import Account, ApproxDP
from holdfast.synth import (
    SYNTHESISERS,
    Conjunctions,
    Marginal,
    Predicates,
    Ranges,
    Synthesizer,
    Thresholds,
    Workload,
    Zeros,
)
from tests.golden.frozen_common import Plain, clinic, clinic_schema, outcome, pinned, promise
from tests.golden.frozen_learn import tables

ROWS = 200
TRAINED = ("query_gan", "query_gan_leader", "query_gan_select", "two_looks")
"""Trained in single precision, whose last bits are the machine's own: only what was measured is the same everywhere."""
WORKLOAD = Workload.of([("a", "b"), ("b", "c"), ("a", "b", "c")])


def small(adjacency: str) -> Any:
    """Three columns of two and three cells."""
    rng = np.random.Generator(np.random.PCG64(0))
    a = rng.integers(0, 2, ROWS)
    drawn = {"a": a, "b": (a + rng.integers(0, 2, ROWS)) % 3, "c": a}
    schema = Schema(
        [Categorical(name, [str(cell) for cell in range(2 + (name == "b"))]) for name in drawn],
        adjacency=adjacency,
        n_public=ROWS if adjacency == "add_remove" else None,
    )
    frame = pa.table({name: pa.array(codes.astype(str)) for name, codes in drawn.items()})
    return open_table(frame, schema)


def told(made: Synthesizer) -> Any:
    """Rows, answers with their intervals, certificates, noisy tables and the promise."""
    answers = made.answer()
    kept = {
        "method": made.method_,
        "measured": [
            {key: one[key] for key in ("columns", "values", "noise_std")}
            for one in made.release_.value["measurements"]
        ],
        "guarantee": promise(made.release_),
    }
    if made.method_ in TRAINED:
        return kept
    return kept | {
        "rows": made.sample(),
        "answers": [
            {
                "columns": list(one.group.columns),
                "source": one.source,
                "estimates": one.estimates,
                "low": one.low,
            }
            for one in answers.groups
        ],
        "certificates": [one.to_json() for one in made.release_.certificates],
        "parameters": made.release_.provenance.parameters,
    }


def methods() -> Iterator[tuple[str, Plain]]:
    """Every method in every adjacency, at both kinds of limit, and with impossible records."""
    for method in SYNTHESISERS:
        ways: list[tuple[str, str, dict[str, Any]]] = [(one, one, {}) for one in method.adjacencies]
        first = method.adjacencies[0]
        ways.append(("pure", first, {"delta": 0.0}))
        ways.append(("zeros", first, {"constraints": [Zeros(("a", "c"), [(0, 1), (1, 0)])]}))
        ways.append(("without certificate", first, {"certificate": None, "rows": 50}))
        for name, adjacency, own in ways:
            asked = {"epsilon": 2.0, "delta": 1e-6} | own
            made = outcome(
                lambda m=method.name, a=adjacency, o=asked: told(
                    Synthesizer(method=m, workload=WORKLOAD, random_state=0, **o).fit(small(a))
                )
            )
            yield f"synth/{method.name}/{name}", made


def automatic() -> Iterator[tuple[str, Plain]]:
    """method='auto' at two budgets on the clinic, wherever it lies, and a draw of other rows."""
    for epsilon in (0.5, 4.0):
        for place, table in tables().items():

            def made(e: float = epsilon, t: Any = table) -> Any:
                fitted = Synthesizer(e, 1e-6, random_state=0).fit(t)
                return told(fitted) | {"other rows": fitted.sample(17)}

            yield f"synth auto/{epsilon:g}/{place}", outcome(made)


def workloads() -> Iterator[tuple[str, Plain]]:
    """Queries of every kind."""
    groups = [
        Marginal(("stage", "ill"), weight=2.0),
        Thresholds(("age",)),
        Ranges(("age",)),
        Conjunctions(("ill",)),
        Predicates(("stage",), values=[[1.0, 0.0, 1.0], [0.0, 1.0, 0.5]]),
    ]
    for group in groups:

        def made(g: Any = group) -> Any:
            asked = Workload.of([("age", "stage"), g])
            return told(Synthesizer(2.0, 1e-6, workload=asked, random_state=0).fit(clinic(), clinic_schema()))

        yield f"workload/{type(group).__name__}", outcome(made)
    closed = Workload.marginals(clinic_schema(), 2).with_lower_marginals()
    yield "workload/closed", [list(group.columns) for group in closed.groups]
    estimate = Synthesizer(1.0, 1e-6).estimate(clinic_schema(), rows=1000).to_json()
    yield "workload/estimate", outcome(lambda: {k: v for k, v in estimate.items() if "second" not in k})


def resumed() -> Iterator[tuple[str, Plain]]:
    """A job with a key pays once and repeats itself."""
    account = Account(ApproxDP(2.0, 1e-6), currency="zcdp", seed=0)

    def made() -> Any:
        fitted = Synthesizer(workload=WORKLOAD, key="job").fit(small("replace"), account=account)
        return {"rows": fitted.sample(), "charges": len(account.journal.entries)}

    yield "synth resumed/first", outcome(made)
    yield "synth resumed/again", outcome(made)
    keys = [[one.charge.key, one.charge.label, one.charge.share] for one in account.journal.entries]
    yield "synth resumed/keys", keys


def texts() -> Iterator[tuple[str, Plain]]:
    """What synthetic tables say of themselves."""
    for name in ("auto", "mwem"):

        def said(m: str = name) -> Any:
            made = Synthesizer(2.0, 1e-6, method=m, workload=WORKLOAD, random_state=0).fit(small("replace"))
            made.release_ = pinned(made.release_)
            return {"summary": made.summary(), "answers": made.answer().summary()}

        yield f"text/synth {name}", outcome(said)


def synth() -> dict[str, Plain]:
    """All of it."""
    parts = (methods, automatic, workloads, resumed, texts)
    return {name: made for part in parts for name, made in part()}
