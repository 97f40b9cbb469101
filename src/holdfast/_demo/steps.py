"""The steps of the demo: a model and a synthetic table, each paid once from a ledger; attacks; and an audit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.attack import AttackReport, MembershipResult, ShadowModels, membership
from holdfast.audit import AuditResult, Budget, Transcript, audit
from holdfast.audit._worst_pairs import HINGE, opposite_records
from holdfast.data._engines.files import read_table
from holdfast.data._table import Table
from holdfast.dossier._utility import Accuracy
from holdfast.errors import AlreadyReleased, BudgetExceeded, HoldfastError, LedgerError, NotPrivateWarning
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn._catalogue import LEARNERS
from holdfast.ledger import Job, Ledger, once
from holdfast.ledger._jobs import finish_written_work, paid_for
from holdfast.privacy._account import Account
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.privacy._curves.curve import ApproxDP
from holdfast.release import Release

DATASET = "adult"
APPROVER = "A. Officer (demo)"
DELTA = 1e-6
LIMIT = ApproxDP(2.0, DELTA)
"""The limit of the data's owner for all releases together."""
RELEASE_LIMIT = ApproxDP(1.0, DELTA)
"""The limit of each of the two releases."""
TARGET = "income"
SYNTHETIC_COLUMNS = ("age", "education", "marital_status", "hours_per_week", "sex", "income")
"""The columns of the synthetic table; the model uses all columns."""
ATTACKS = ("loss", "lira", "rmia")
REFERENCE_MODELS = 8
AUDIT_ROWS, GROUP_SIZE, MOMENT_SHARE = 400, 6, 0.03
"""The rows of each of the audit's two tables, the records in which they differ, and the share of each run's budget that
is spent on a second moment."""
AUDIT_RUNS, AUDIT_SECONDS = 900, 30.0
"""The limits of the audit: runs on each table, and CPU seconds."""
BROKEN_RUNS = 600
"""So many runs show a third of the noise almost surely, and half of the noise in three of four audits."""


def is_ledger_of_demo(path: Path) -> bool:
    """Whether a ledger of an earlier run is there; one without a dataset is of a run that was ended early."""
    if not path.is_file():
        return False
    try:
        with Ledger.open(path, check="nothing", read_only=True) as ledger:
            names = ledger.datasets()
            return names in ((), (DATASET,)) and all(
                ledger.standing(name).dataset.approver == APPROVER for name in names
            )
    except HoldfastError:
        return False


def open_ledger(path: Path, table: Table) -> Ledger:
    """The demo's ledger: one dataset, its limit in the currency that measurements and selections share."""
    ledger = Ledger.open_or_create(path)
    ledger.dataset(
        DATASET,
        limit=LIMIT,
        currency="zcdp",
        adjacency=table.adjacency,
        unit=table.unit,
        approver=APPROVER,
        purpose="a tour of holdfast on public data",
    )
    return ledger


def saved_or_new_release(
    ledger: Ledger, path: Path, *, name: str, purpose: str, make: Callable[[Account], Release[Any]]
) -> Release[Any]:
    """The release that an earlier run saved or kept, or a new one, which is kept until it is saved."""
    if path.exists():
        saved: Release[Any] = Release.load(path)
        if not paid_for(ledger, DATASET, name, saved):
            raise LedgerError(f"{path.name} was paid by another ledger; give the demo a new folder")
        finish_written_work(ledger, name)
        return saved
    job = Job(key=name, make=make, write=lambda release: release.save(path), about={"demo": purpose})
    try:
        return once(ledger, DATASET, job, limit=RELEASE_LIMIT, purpose=purpose, approver=APPROVER).release
    except (LedgerError, AlreadyReleased, BudgetExceeded) as error:
        raise LedgerError(
            f"account {name!r} was spent by an earlier run whose result is gone; it stays charged. "
            "Give the demo a new folder"
        ) from error


def model(ledger: Ledger, table: Table, path: Path) -> Release[Any]:
    """A private logistic regression of income on all other columns; the method is chosen from public quantities."""

    def make(account: Account) -> Release[Any]:
        resumable = ResumableAccount.of(account, None)
        release = PrivateLogisticRegression().fit(table, target=TARGET, account=resumable).release_
        assert release is not None  # an account was given
        return release

    return saved_or_new_release(ledger, path, name="income model", purpose="predict income", make=make)


def synthetic_table(
    ledger: Ledger,
    table: Table,
    path: Path,
    *,
    columns: Sequence[str] = SYNTHETIC_COLUMNS,
    method: str = "auto",
) -> Release[Any]:
    """Synthetic rows for all pairs of these columns, with a certificate."""
    from holdfast.synth import Synthesizer, Workload

    def make(account: Account) -> Release[Any]:
        pairs = Workload.marginals(table.schema, 2, columns=columns)
        synthesizer = Synthesizer(method=method, columns=columns, workload=pairs, key="synthetic table")
        return synthesizer.fit(table, account=account).release_

    return saved_or_new_release(
        ledger, path, name="synthetic table", purpose="share rows with students", make=make
    )


def people(part: str) -> Any:
    """The bundled rows of one part as an Arrow table."""
    with as_file(files("holdfast.data._datasets") / f"adult_{part}.parquet") as path:
        return read_table(path)


def attacks(model: PrivateLogisticRegression, *, count: int) -> AttackReport[MembershipResult]:
    """Attacks on as many members as held-out people, drawn at random; Adult was split at random, too."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    def draw_people(part: str) -> tuple[Any, Any]:
        table = people(part)
        rows = table.take(np.random.default_rng(1).choice(table.num_rows, count, replace=False))
        return rows.select(list(model.model_.columns or ())), np.array(rows.column(TARGET).to_pylist())

    assert model.encoder_ is not None  # fitted on a table
    # Reference models need not be private: the attacker trains them.
    shadow = make_pipeline(FunctionTransformer(model.encoder_.transform), LogisticRegression())
    return membership(
        model,
        members=draw_people("train"),
        non_members=draw_people("test"),
        attacks=ATTACKS,
        shadows=ShadowModels(train=shadow, count=REFERENCE_MODELS),
        random_state=1,
    )


def accuracy(model: PrivateLogisticRegression, table: Table) -> list[Accuracy]:
    """The accuracy on held-out people of the released model, of the same without privacy, and of no model; internal."""
    held_out = people("test")
    rows = held_out.select(list(model.model_.columns or ()))
    labels = np.array(held_out.column(TARGET).to_pylist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        exact = PrivateLogisticRegression(epsilon=math.inf, penalty=1e-6).fit(table, target=TARGET)
    larger = max(float(np.mean(labels == name)) for name in model.classes_)
    scores = {
        "the released model": float(model.score(rows, labels)),
        "the same without privacy": float(exact.score(rows, labels)),
        "always the larger class": larger,
    }
    return [Accuracy(model=name, score=score, rows=len(labels)) for name, score in scores.items()]


def audit_of_learner(
    released: Release[Any], *, runs: int, announce: Callable[[Budget], None] = lambda budget: None
) -> AuditResult:
    """An audit that runs the model's learner many times on two public tables and tries to tell its transcripts apart.

    The tables are made up, so the audit needs no budget and its result may be published: it tests the program, not this
    run. The tables differ in six records, and the audit tests the promise for groups of six, since a few hundred runs
    then show what takes many thousands for a single record. The hinge loss has the largest slope that the learner
    allows, on both sides. Little of the budget goes to the second moment, in which opposite records are alike.
    """
    learner = next(candidate for candidate in LEARNERS if candidate.name == released.provenance.method)
    options = {"share": MOMENT_SHARE} if learner.name == "noisy_gd" else {}

    def train(table: Any, account: Account) -> Any:
        return learner.fit(table, HINGE, account=account, **options)

    guarantee = released.guarantee
    return audit(
        train,
        opposite_records(rows=AUDIT_ROWS, group=GROUP_SIZE, adjacency=guarantee.adjacency),
        claim=guarantee,
        design=Transcript(
            runs=runs, seconds=AUDIT_SECONDS, currency="zcdp", group=GROUP_SIZE, announce=announce
        ),
        delta=DELTA,
        rows="generated",
    )
