"""What the package registers, used by name: a release, a model, an attack, a file and a column."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from holdfast_staircase.staircase import Staircase
from holdfast_staircase.weekday import Weekday

from holdfast import (
    Account,
    Categorical,
    Dossier,
    Ledger,
    PrivateLogisticRegression,
    Release,
    Schema,
    open_table,
)
from holdfast.attack import membership
from holdfast.dossier import verify_dossier
from holdfast.privacy import PureDP

# A mechanism is an object: the account takes it as it takes any other, and writes down whose it is.
with Ledger.create("budget.db") as ledger:
    ledger.dataset("clinic", limit=PureDP(1.0))
    account: Account = ledger.account("clinic", name="visits", limit=PureDP(1.0), approver="M. Head")
    noisy = account.release(Staircase(epsilon=1.0, sensitivity=4, width=2), [1234])
    release = Release.of(account, noisy, method="visits, at most four of a patient")
    release.save("visits.holdfast")
    Dossier.of_files(["visits.holdfast"], ledger=ledger).save("dossier.html")
print(release.summary())
checked = verify_dossier("dossier.html", releases=["visits.holdfast"], ledger="budget.db")
print("verified:", not checked.problems)

# Methods and attacks are found by their names, here and on the command line (`--method mean_direction`).
draw = np.random.default_rng(0)
rows = draw.uniform(-0.5, 0.5, size=(2000, 3))
labels = np.where(rows[:, 0] + 0.1 * draw.normal(size=2000) > 0, "ill", "well")
model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, method="mean_direction", classes=["ill", "well"])
model.fit(rows[:1000], labels[:1000])
print(model.release_.summary() if model.release_ else "")
report = membership(
    model, members=(rows[:1000], labels[:1000]), non_members=(rows[1000:], labels[1000:]), attacks="margin"
)
print(report.summary())

# So are engines, by the sources that they take, and column kinds, by their names in schema files.
Schema([Weekday("visit"), Categorical("ward", ["A", "B"])]).save("visits.toml")
lines = [{"visit": "2024-01-31", "ward": "A"}, {"visit": "Fri", "ward": "B"}, {"ward": "A"}]
Path("visits.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
table = open_table(f"jsonl://{Path('visits.jsonl').resolve()}", Schema.load("visits.toml"))
print(dict(zip(table.schema["visit"].labels, table.counts([["visit"]])[0].tolist(), strict=True)))
print("\n".join(map(str, table.assumptions)))
