"""What the demo does: a model and a synthetic table, each paid once from a ledger; then attacks and an audit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.attack import MembershipReport, membership
from holdfast.audit import AuditResult, audit
from holdfast.data.encode import Encoder
from holdfast.data.engines.files import read_table
from holdfast.data.schema import Schema
from holdfast.data.table import Table
from holdfast.dossier.utility import Accuracy
from holdfast.errors import AlreadyReleased, BudgetExceeded, LedgerError, NotPrivateWarning
from holdfast.learn import PrivateLogisticRegression
from holdfast.ledger import Ledger
from holdfast.privacy.account import Account
from holdfast.privacy.curves.curve import ApproxDP
from holdfast.release import Release

DATASET = "adult"
DELTA = 1e-6
LIMIT = ApproxDP(2.0, DELTA)
"""What the data's owner allows in all."""
SPEND = ApproxDP(1.0, DELTA)
"""What each of the two releases may cost."""
TARGET = "income"
COLUMNS = ("age", "education", "marital_status", "hours_per_week", "sex", "income")
"""Of the synthetic table. The model sees all columns."""
ATTACKS = ("loss", "lira", "rmia")
REFERENCE_MODELS = 8


def open_ledger(path: Path, table: Table) -> Ledger:
    """The demo's ledger: one dataset, its limit in the currency that measurements and selections share."""
    ledger = Ledger.open_or_create(path)
    ledger.dataset(
        DATASET, limit=LIMIT, currency="zcdp", adjacency=table.adjacency, unit=table.unit,
        approver="A. Officer (demo)", purpose="a tour of holdfast on public data",
    )  # fmt: skip
    return ledger


def paid_once(
    ledger: Ledger, path: Path, *, name: str, purpose: str, make: Callable[[Account], Release[Any]]
) -> Release[Any]:
    """The release of this account: what an earlier run saved, or a new one, saved before the account closes."""
    if path.exists():
        kept: Release[Any] = Release.load(path)
        if kept.provenance.account != f"{ledger.id}/{DATASET}/{name}":
            raise LedgerError(f"{path.name} was paid by another ledger; give the demo a new folder")
        return kept
    try:
        with ledger.paid(
            DATASET, name=name, limit=SPEND, purpose=purpose, approver="A. Officer (demo)", resumable=True
        ) as account:
            made = make(account)
            made.save(path)
    except (LedgerError, AlreadyReleased, BudgetExceeded) as error:
        raise LedgerError(
            f"account {name!r} was spent by an earlier run whose result is gone; it stays charged. "
            "Give the demo a new folder"
        ) from error
    return made


def model(ledger: Ledger, table: Table, path: Path) -> Release[Any]:
    """A private logistic regression of income on all other columns; the method is chosen from public quantities."""

    def make(account: Account) -> Release[Any]:
        made = PrivateLogisticRegression().fit(table, target=TARGET, account=account).release_
        assert made is not None  # an account was given
        return made

    return paid_once(ledger, path, name="income model", purpose="predict income", make=make)


def synthetic_table(
    ledger: Ledger, table: Table, path: Path, *, columns: Sequence[str] = COLUMNS, method: str = "auto"
) -> Release[Any]:
    """Synthetic rows for all pairs of these columns, with a certificate."""
    from holdfast.synth import Synthesizer, Workload

    def make(account: Account) -> Release[Any]:
        pairs = Workload.marginals(table.schema, 2, columns=columns)
        maker = Synthesizer(method=method, columns=columns, workload=pairs, key="synthetic table")
        return maker.fit(table, account=account).release_

    return paid_once(ledger, path, name="synthetic table", purpose="share rows with students", make=make)


def people(part: str) -> Any:
    """The bundled rows of one part as an Arrow table."""
    with as_file(files("holdfast.data.datasets") / f"adult_{part}.parquet") as path:
        return read_table(path)


def attacks(model: PrivateLogisticRegression, *, count: int) -> MembershipReport:
    """Members and held-out people, as many of each, drawn at random: the split of Adult was made by a coin."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    def drawn(part: str) -> tuple[Any, Any]:
        table = people(part)
        rows = table.take(np.random.default_rng(1).choice(table.num_rows, count, replace=False))
        return rows.select(list(model.model_.columns or ())), np.array(rows.column(TARGET).to_pylist())

    assert model.encoder_ is not None  # fitted on a table
    # Reference models need not be private: the attacker trains them.
    shadow = make_pipeline(FunctionTransformer(model.encoder_.transform), LogisticRegression())
    return membership(
        model, members=drawn("train"), non_members=drawn("test"), attacks=ATTACKS, train=shadow,
        models=REFERENCE_MODELS, random_state=1,
    )  # fmt: skip


def accuracy(model: PrivateLogisticRegression, table: Table) -> list[Accuracy]:
    """On held-out people: the released model, the same without privacy, and no model at all. Internal."""
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


def audited_model(
    model: PrivateLogisticRegression, synthetic: Release[Any], schema: Schema, *, canaries: int
) -> AuditResult:
    """Train as the model was trained, with planted records among synthetic rows: no real person is in it.

    The rows around the planted records are public, so the audit needs no budget and its result may be published.
    """
    from holdfast.synth import Synthesizer

    rows = Synthesizer.from_release(synthetic).sample()
    features = [name for name in rows.column_names if name != TARGET]
    encoder = Encoder(schema, features, intercept=False)
    names = list(model.classes_)
    claim = model.release_
    assert claim is not None  # it was released

    def train(data: Any) -> Any:
        account = Account(SPEND, adjacency=claim.guarantee.adjacency, currency="zcdp")
        return PrivateLogisticRegression(classes=names).fit(data[0], data[1], account=account)

    return audit(
        train, (encoder.transform(rows), np.array(rows.column(TARGET).to_pylist())), claim=claim.guarantee,
        delta=DELTA, canaries=canaries, classes=names,
    )  # fmt: skip
