"""What is written: release archives, schema files, ledger entries; and what tables count, sum and encode."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.data import (
    ENGINES,
    Encoder,
    Order,
    RowSum,
    Schema,
    SecondMoment,
    adult_schema,
    clip_rows,
    draft_schema,
)
from holdfast.ledger import Ledger
from holdfast.privacy import (
    MECHANISMS,
    ZCDP,
    Account,
    Adjacency,
    DiscreteGaussian,
    Gaussian,
    Guarantee,
    PrivacyUnit,
)
from holdfast.release import Provenance, Release
from holdfast.synth import Synthesizer, Workload
from tests.golden.frozen_common import Plain, clinic, clinic_schema, outcome, pinned, plain, quietly, without
from tests.golden.frozen_evidence import counts, model
from tests.golden.frozen_learn import tables

TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z")


def members(path: Path) -> Any:
    """Every member of a release file in order: JSON as it is, arrays and tables as their values."""
    shown: dict[str, Any] = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            data = archive.read(info)
            if info.filename.endswith(".npy"):
                array = np.load(io.BytesIO(data), allow_pickle=False)
                shown[info.filename] = {"dtype": array.dtype.str, "array": array}
            elif info.filename.endswith(".arrow"):
                table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
                shown[info.filename] = {"types": [str(one) for one in table.schema.types], "rows": table}
            elif info.filename.endswith(".json"):
                shown[info.filename] = json.loads(data)
            else:
                shown[info.filename] = [line.split()[-1] for line in data.decode().splitlines()]
            shown[info.filename + " dated"] = list(info.date_time)
    return shown


def exact() -> Release[Any]:
    """A release of integers and texts, whose bytes are the same everywhere."""
    return Release(
        value={"sex": np.array([12, -3]), "nested": [(1, "é", None, True), 0.5], "n": 9},
        guarantee=Guarantee(
            curve=ZCDP(0.125), adjacency=Adjacency.replace, unit=PrivacyUnit(), theorem="zCDP"
        ),
        provenance=Provenance(method="counts", created="2025-01-31", software={"holdfast": "0.1.0"}),
    )


def releases() -> Iterator[tuple[str, Plain]]:
    """Archives of a model, a synthetic table and counts; for exact values the hash of the whole file."""
    asked = Workload.of([("stage", "ill"), ("age", "stage")])
    with quietly():
        table = Synthesizer(2.0, 1e-6, workload=asked, random_state=0).fit(clinic(), clinic_schema()).release_
    made = {
        "model": pinned(model().release_),
        "synthetic": pinned(table),
        "counts": counts(),
        "exact": exact(),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, release in made.items():
            path = Path(folder) / f"{name}.holdfast"
            release.save(path)
            yield f"file/{name}", outcome(members, path)
            yield f"file/{name} is read as it was", Release.load(path) == release
            if name == "exact":
                yield f"file/{name} bytes", hashlib.sha256(path.read_bytes()).hexdigest()
            yield f"text/release {name}", release.summary()


def schemas() -> Iterator[tuple[str, Plain]]:
    """The text of schema files, and their hashes."""
    people = PrivacyUnit.user("person", max_rows=3)
    known = {
        "clinic": clinic_schema(),
        "users": clinic_schema(users=True, adjacency="add_remove", n_public=100, description="a clinic"),
        "adult": adult_schema(),
    }
    assert known["users"].unit == people
    with tempfile.TemporaryDirectory() as folder:
        for name, schema in known.items():
            for ending in ("toml", "json"):
                path = Path(folder) / f"{name}.{ending}"
                schema.save(path)
                yield f"schema/{name}.{ending}", hashlib.sha256(path.read_bytes()).hexdigest()
                yield f"schema/{name}.{ending} is read as it was", Schema.load(path) == schema
            yield f"schema/{name} hash", schema.hash()
            yield f"schema/{name} words", schema.describe()
    yield "schema/draft", outcome(lambda: draft_schema(clinic()).to_dict())


def ledgers() -> Iterator[tuple[str, Plain]]:
    """Every entry of a ledger, less its random name, hashes, software and times."""
    with tempfile.TemporaryDirectory() as folder, Ledger.create(Path(folder) / "l.db", purpose="p") as ledger:
        ledger.dataset("clinic", limit=ZCDP(1.0), approver="A", purpose="year", version="1")
        account = ledger.account("clinic", name="first", limit=ZCDP(0.5), purpose="counts", seed=0)
        noise = DiscreteGaussian(sigma=8.0, l2_sensitivity=1.0)
        values = [account.release(noise, [12, 30], key=key).tolist() for key in ("a", "a", "b")]
        left, _ = account.split(0.5, 0.25)
        left.release(Gaussian(sigma=16.0, l2_sensitivity=1.0), [0.5], key="c", label="share")
        ledger.close_account("first", reason="done")
        second = ledger.account("clinic", name="second", seed=1)
        yield (
            "ledger/too much",
            outcome(lambda: second.release(DiscreteGaussian(sigma=0.1, l2_sensitivity=1.0), [1])),
        )
        ledger.close_account("second")
        ledger.reset("clinic", reason="a new year", approver="A")
        yield "ledger/values", values
        for entry in ledger.history():
            body = without(dict(entry.body), "ledger", "software")
            yield f"ledger/_entry {entry.number}", {"kind": entry.kind, "body": plain(body)}
        again = ledger.recompute("clinic")
        yield "ledger/standing", [repr(ledger.spent("clinic")), repr(ledger.remaining("clinic")), again.sound]
        yield "text/ledger", TIME.sub("(time)", ledger.summary().partition("\n")[2])
        yield "ledger/verified", ledger.verify().ok


def data() -> Iterator[tuple[str, Plain]]:
    """Counts, sums, features and seeded orders, in memory and in DuckDB."""
    yield from ((f"data/_engines/{one.name}", one.takes) for one in ENGINES)
    yield "data/clipped", plain(clip_rows(np.array([[3.0, 4.0], [0.3, 0.4]]), row_norm=1.0))
    yield "data/mechanisms", [one.__name__ for one in MECHANISMS]
    for place, table in tables().items():

        def told(t: Any = table) -> Any:
            encoder = Encoder(t.schema, ("age", "dose", "stage"), row_norm=1.0)
            order = Order.permutation(Account(ZCDP(1.0), seed=0).source)
            batch = next(iter(t.batches(order=order, rows=5))) if t.adjacency.count_is_public else None
            return {
                "counts": t.counts([["age", "ill"], ["stage"]]),
                "sum": t.sums(RowSum(encoder)),
                "moment": t.sums(SecondMoment(encoder)),
                "first rows": None if batch is None else batch.matrix(),
                "units": [t.count(), t.units()],
            }

        yield f"data/{place}", outcome(told)


def files() -> dict[str, Plain]:
    """All of it."""
    return {name: made for part in (releases, schemas, ledgers, data) for name, made in part()}
