"""Makes stored/: real files of every format, which every later version must load, verify and show alike.

    python -m tests.golden.stored_files

They are made with secure noise, once for each format: the script refuses a folder that is there. What they showed on
that day is shown.json beside them; `shown` computes it again and tests/test_frozen.py compares. Pages are looked at as
by the version after the one that made them.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as parquet
from click.testing import CliRunner

import holdfast
from holdfast._cli.app import app
from holdfast.attack import membership
from holdfast.audit import AuditResult, OneRun, audit
from holdfast.data import Schema, open_table
from holdfast.dossier import Dossier
from holdfast.dossier._page import record_of
from holdfast.dossier._verification import versions
from holdfast.dossier._verification.versions import PageMaker
from holdfast.learn import PrivateLogisticRegression, load_model
from holdfast.ledger import Ledger, create_key
from holdfast.privacy import ApproxDP, DiscreteGaussian, Gaussian
from holdfast.release import Release
from holdfast.synth import Synthesizer, Workload
from tests.golden.frozen_common import clinic, clinic_schema, plain, quietly, without

FOLDER = Path(__file__).with_name("stored")
PLAN = """
[plan]
name = "autumn"
ledger = "budget.db"
dataset = "clinic"
source = "clinic.parquet"
schema = "clinic.toml"
approver = "R. Officer"
purpose = "autumn report"

[[step]]
do = "fit"
name = "model"
target = "ill"
method = "output"
epsilon = 1.0
delta = 1e-6
output = "model.holdfast"

[[step]]
do = "synth"
name = "rows"
epsilon = 1.0
delta = 1e-6
columns = ["age", "stage", "ill"]
output = "rows.holdfast"

[[step]]
do = "attack"
name = "attack"
model = "model"
members = "clinic.parquet"
non_members = "others.parquet"
target = "ill"
attacks = ["loss", "confidence"]
output = "attack.json"

[[step]]
do = "audit"
name = "audit"
function = "tests.golden.stored_files:noisy_mean"
data = "rows.npy"
rows = "generated"
claim = "model"
canaries = 60
output = "audit.json"

[[step]]
do = "dossier"
name = "page"
releases = ["model", "rows"]
audits = ["audit"]
output = "page.html"
"""
LIMIT = ApproxDP(4.0, 1e-6)
PAGES: dict[str, tuple[str, ...]] = {
    "public.html": ("model", "rows"),
    "internal.html": ("model",),
    "plan/page.html": ("model", "rows"),
}
"""Every page, with the releases that it is about."""


def noisy_mean(rows: Any) -> Any:
    """A training function for the audit of the plan."""
    return rows.sum(axis=0) + 8.0 * np.random.default_rng(0).normal(size=rows.shape[1])


def command(*arguments: str | Path, code: int = 0) -> str:
    """What a command of holdfast prints; it must end well, or with this code."""
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    if done.exit_code != code:
        raise SystemExit(f"holdfast {arguments[0]} ended with {done.exit_code}: {done.output}")
    return done.stdout


def make(folder: Path) -> None:
    """A clinic's year: a ledger with four accounts, three releases, evidence, pages, and a plan of its own."""
    table = clinic()
    clinic_schema().save(folder / "clinic.toml")
    clinic_schema().save(folder / "clinic.json")
    with Ledger.create(folder / "budget.db", purpose="a clinic", approver="R. Officer") as ledger:
        ledger.dataset("clinic", limit=LIMIT, currency="zcdp", approver="R. Officer", purpose="yearly report")
        _counts(folder, ledger)
        account = ledger.account("clinic", name="model", limit=ApproxDP(1.0, 1e-6), purpose="who is ill")
        fitted = PrivateLogisticRegression(method="output").fit(
            open_table(table, clinic_schema()), target="ill", account=account
        )
        assert fitted.release_ is not None
        fitted.release_.save(folder / "model.holdfast")
        account = ledger.account("clinic", name="rows", limit=ApproxDP(1.0, 1e-6), approver="M. Head")
        asked = Workload.of([("age", "stage"), ("stage", "ill"), ("age", "ill")])
        made = Synthesizer(workload=asked, key="rows").fit(
            open_table(table, clinic_schema()), account=account
        )
        made.save(folder / "rows.holdfast")
        ledger.account("clinic", name="left open", limit=ApproxDP(0.1, 1e-8), purpose="later")
        evidence(folder, fitted)
        with tempfile.TemporaryDirectory() as secret:
            public = create_key(Path(secret) / "officer.pem")
            ledger.sign(Path(secret) / "officer.pem")
            shutil.copy(public, folder / "officer.pub")
        pages(folder, ledger)


def _counts(folder: Path, ledger: Ledger) -> None:
    """Split accounts, a key that was asked for twice, a permit, and a refusal."""
    account = ledger.account("clinic", name="counts", limit=ApproxDP(0.5, 1e-7), purpose="visits by month")
    first, second = account.split(0.5, 0.25)
    noise = DiscreteGaussian(sigma=60.0, l2_sensitivity=1.0)
    kept = [first.release(noise, [120, 300], key="january", label="visits") for _ in range(2)]
    assert kept[0].tolist() == kept[1].tolist()
    inner, _ = second.split(0.5, 0.5)
    mean = inner.release(Gaussian(sigma=90.0, l2_sensitivity=1.0), [41.5], key="mean age")
    permit = account.permit(Gaussian(sigma=200.0, l2_sensitivity=1.0), times=2, key="permit")
    permit.release([1.0])
    with quietly():
        Release.of(account, {"visits": kept[0], "mean": mean}, method="two counts and a mean").save(
            folder / "counts.holdfast"
        )
    ledger.close_account("counts", reason="the table is printed", approver="M. Head")


def evidence(folder: Path, fitted: Any) -> None:
    """An attack and an audit, as the commands write them."""
    others = clinic(200, seed=9)
    claim = Release.load(folder / "model.holdfast").guarantee
    names = list(fitted.model_.columns)
    inside, outside = clinic().slice(0, 200), others
    found = membership(
        fitted,
        members=(inside.select(names), np.array(inside["ill"].to_pylist())),
        non_members=(outside.select(names), np.array(outside["ill"].to_pylist())),
        attacks=["loss", "confidence"],
        random_state=0,
    )
    (folder / "attack.json").write_text(json.dumps(found.to_json()), encoding="utf-8")
    result = audit(
        noisy_mean,
        np.zeros((4, 64)),
        claim=claim,
        design=OneRun(canaries=60),
        delta=1e-6,
        seed=0,
        rows="generated",
    )
    (folder / "audit.json").write_text(json.dumps(result.to_json()), encoding="utf-8")


def pages(folder: Path, ledger: Ledger) -> None:
    """A page of each edition."""
    audits = [AuditResult.from_json(json.loads((folder / "audit.json").read_text()))]
    Dossier.of_files(
        [folder / "model.holdfast", folder / "rows.holdfast"], audits=audits, ledger=ledger, title="public"
    ).save(folder / "public.html")
    internal(folder, folder / "internal.html")


def internal(folder: Path, page: Path, *more: str) -> str:
    """The internal page, by the command."""
    return command(
        "dossier",
        folder / "model.holdfast",
        "-o",
        page,
        "--audience",
        "internal",
        "--ledger",
        folder / "budget.db",
        "--attack",
        folder / "attack.json",
        "--audit",
        folder / "audit.json",
        *more,
    )


def make_plan(folder: Path) -> None:
    """A plan, its inputs, and everything that running it wrote."""
    parquet.write_table(clinic(), folder / "clinic.parquet")
    parquet.write_table(clinic(200, seed=9), folder / "others.parquet")
    np.save(folder / "rows.npy", np.zeros((4, 64)))
    clinic_schema().save(folder / "clinic.toml")
    with Ledger.create(folder / "budget.db") as ledger:
        ledger.dataset("clinic", limit=LIMIT, currency="zcdp", adjacency="replace")
    (folder / "plan.toml").write_text(PLAN.lstrip(), encoding="utf-8")
    command("run", folder / "plan.toml")


def forget_processes(path: Path) -> None:
    """Take away who had an account open: it speaks of the machine that made the ledger, and is no part of its chain."""
    with closing(sqlite3.connect(path)) as sql, sql:
        sql.execute("DELETE FROM holders")


# What they show.


def shown(folder: Path) -> dict[str, Any]:
    """The guarantee, summary and numbers of every stored file."""
    made: dict[str, Any] = {}
    for path in sorted(folder.rglob("*.holdfast")):
        release = Release.load(path)
        made[str(path.relative_to(folder))] = {
            "guarantee": release.guarantee.to_json(),
            "epsilon": [release.guarantee.epsilon(delta) for delta in (1e-9, 1e-6, 1e-3)],
            "summary": release.summary(),
            "private": release.private,
            "certificates": [one.to_json() for one in release.certificates],
            "value": plain(release.value),
        } | _used(release, path)
    for path in sorted(folder.rglob("budget.db")):
        with Ledger.open(path, read_only=True) as ledger:
            made[str(path.relative_to(folder))] = {
                "summary": ledger.summary(),
                "head": ledger.head,
                "spent": repr(ledger.spent("clinic")),
                "remaining": repr(ledger.remaining("clinic")),
                "history": [entry.summary() for entry in ledger.history()],
                "recomputed": ledger.recompute("clinic").sound,
            }
    for page in PAGES:
        made[page] = verified(folder, page)
    made["internal.html made again"] = redrawn(folder)
    made["clinic.toml"] = {"hash": Schema.load(folder / "clinic.toml").hash()}
    made["clinic.json"] = {"hash": Schema.load(folder / "clinic.json").hash()}
    kept = AuditResult.from_json(json.loads((folder / "audit.json").read_text()))
    claim = Release.load(folder / "model.holdfast").guarantee
    made["audit.json"] = {"summary": kept.summary(claim), "epsilon": kept.epsilon_lower(0.95)}
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def verified(folder: Path, page: str) -> Any:
    """What `holdfast verify` of a later version says of a page, its releases and its ledger: not judged, so code 3."""
    place = (folder / page).parent
    given = [part for name in PAGES[page] for part in ("--release", place / f"{name}.holdfast")]
    with a_version_later(folder / page):
        told = command(
            "verify", folder / page, *given, "--ledger", place / "budget.db", "--recompute", "--json", code=3
        )
    return json.loads(told)


@contextmanager
def a_version_later(page: Path) -> Iterator[None]:
    """Be the version that comes after the one that made a page, which was published."""
    written = record_of(page.read_text(encoding="utf-8"))
    maker = PageMaker(format=written["format"], renderer=written["renderer"])
    with (
        patch.object(holdfast, "__version__", "1000.0.0"),
        patch.object(versions, "PUBLISHED", {written["holdfast"]: maker}),
    ):
        yield


def redrawn(folder: Path) -> Any:
    """What the internal page says when it is made again from the stored inputs, less the day and the version.

    In a copy, since the ledger closes the page that is made.
    """
    with tempfile.TemporaryDirectory() as there:
        again = Path(shutil.copytree(folder, Path(there) / "again"))
        told = internal(again, again / "page.html", "--json")
    return plain(without(json.loads(told), "page", "created", "holdfast", "renderer"))


def _used(release: Release[Any], path: Path) -> dict[str, Any]:
    """What the model predicts, or what the rows answer."""
    if path.stem == "model":
        loaded = load_model(path)
        return {"scores": plain(loaded.decision_function(clinic(5)))}
    if path.stem == "rows":
        loaded = Synthesizer.from_release(release)
        return {
            "answers": [plain(one.estimates) for one in loaded.answer().groups],
            "words": loaded.summary(),
        }
    return {}


def main() -> None:
    """Make everything in a new folder, then keep it."""
    if FOLDER.exists():
        raise SystemExit(f"{FOLDER.name} is there; stored files are made once")
    with tempfile.TemporaryDirectory() as there:
        folder = Path(there) / "stored"
        (folder / "plan").mkdir(parents=True)
        make(folder)
        make_plan(folder / "plan")
        for path in folder.rglob("budget.db"):
            forget_processes(path)
        (folder / "shown.json").write_text(json.dumps(shown(folder), indent=1) + "\n", encoding="utf-8")
        shutil.copytree(folder, FOLDER, ignore=shutil.ignore_patterns("*-shm", "*-wal"))


if __name__ == "__main__":
    main()
