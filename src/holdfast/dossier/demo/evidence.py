"""What the demo tries against its own promise: attacks on real people, and an audit of planted ones."""

from __future__ import annotations

import math
import warnings
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from holdfast.attack import MembershipReport, membership
from holdfast.audit import AuditResult, audit
from holdfast.data.encode import Encoder
from holdfast.data.schema import Schema
from holdfast.data.table import Table
from holdfast.dossier.accuracy import Accuracy
from holdfast.dossier.demo.releases import DELTA, SPEND, TARGET
from holdfast.errors import NotPrivateWarning
from holdfast.learn import PrivateLogisticRegression
from holdfast.privacy.account import Account
from holdfast.release import Release

ATTACKS = ("loss", "lira", "rmia")
REFERENCE_MODELS = 8


def people(part: str) -> Any:
    """The bundled rows of one part as an Arrow table."""
    import pyarrow.parquet as parquet

    with as_file(files("holdfast.data") / "bundled" / f"adult_{part}.parquet") as path:
        return parquet.read_table(path)


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


def audited(
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
