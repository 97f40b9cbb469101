"""A small scene in which most of holdfast is called once: a ledger, models, a table, attacks, an audit, a page."""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import holdfast
from holdfast.attack import (
    Attacker,
    Scoring,
    attribute_risk,
    invertibility,
    membership,
    publishing_options,
    synthetic_disclosure,
    synthetic_membership,
)
from holdfast.audit import OneRun, audit
from holdfast.data import (
    Categorical,
    Encoder,
    Identifier,
    Numeric,
    Schema,
    SecondMoment,
    clip_rows,
    draft_schema,
    open_table,
)
from holdfast.dossier import Dossier, compare, verify_dossier
from holdfast.learn import (
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateHuberRegression,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivatePCA,
    PrivateRidge,
    PrivateScaler,
    PrivateSearch,
    RandomProjection,
    load_model,
    recommend,
)
from holdfast.ledger import Ledger
from holdfast.noise import (
    Source,
    choose_by_score,
    choose_many,
    discrete_gaussian,
    discrete_laplace,
    gamma_ball,
    integers,
    permutation,
    permute_and_flip,
    rounded_gaussian,
    truncated_laplace,
)
from holdfast.privacy import (
    MECHANISMS,
    ZCDP,
    Account,
    ApproxDP,
    BoundedRange,
    Gaussian,
    GaussianDP,
    PrivacyUnit,
    PureDP,
    WithSlack,
    calibrate,
    compose,
    subsample,
    to_replace,
)
from holdfast.release import Release
from holdfast.synth import Synthesizer, Workload, Zeros
from tests.contracts.any_call import Corpus, recorded

ROWS = 60


def frame(rows: int = ROWS, seed: int = 3) -> pd.DataFrame:
    """Ages, a group, and an illness that follows both."""
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 80, rows)
    group = draw.choice(["a", "b", "c"], rows)
    ill = np.where(age + 10 * (group == "a") > 55, "yes", "no")
    return pd.DataFrame({"age": age.astype(float), "group": group, "ill": ill})


def schema() -> Schema:
    """What is declared of it."""
    return Schema(
        [
            Numeric("age", 0, 100, bins=4),
            Categorical("group", ["a", "b", "c"]),
            Categorical("ill", ["no", "yes"]),
        ],
    )


def play(folder: Path) -> Corpus:
    """Play it, and say who was called with what."""
    corpus = Corpus()
    with recorded(corpus), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        perform(folder, corpus)
    return corpus


def perform(folder: Path, corpus: Corpus) -> None:
    """Every part of it, in order."""
    for part in (_privacy, _noise, _data, _models, _tables, _evidence, _ledger):
        part(folder, corpus)


def _privacy(folder: Path, corpus: Corpus) -> None:
    account = Account(ApproxDP(1.0, 1e-5), currency="zcdp", seed=1)
    account.release(Gaussian(sigma=20.0, l2_sensitivity=1.0), np.array([1.0, 2.0]), key="a")
    account.permit(Gaussian(sigma=50.0, l2_sensitivity=1.0, arithmetic="idealised"), times=2)
    for part in account.split(0.5, 0.5):
        part.spent()
    Account(ApproxDP(1.0, 1e-5)).shared_by(2)
    Release.of(account, np.array([1.0]), method="sum", parameters={"a": 1}).save(folder / "sum.holdfast")
    Release.load(folder / "sum.holdfast").summary()
    curves = [
        PureDP(0.5),
        ApproxDP(0.5, 1e-6),
        ZCDP(0.1),
        GaussianDP(0.5),
        BoundedRange(0.5),
        WithSlack(PureDP(0.5), 1e-6),
    ]
    calibrate(lambda sigma: Gaussian(sigma=sigma, l2_sensitivity=1.0).curve, ApproxDP(1.0, 1e-5))
    for curve in (*curves, compose(curves), subsample(PureDP(0.5), 0.1), to_replace(PureDP(0.5))):
        corpus.keep(curve)
        corpus.keep(curve.trade_off())
        curve.within(PureDP(1.0))
        curve.compose(PureDP(0.5))
        pair = curve.loss_distribution(spacing=1e-2)
        corpus.keep(pair)
        curve.to_json()
    for kind in MECHANISMS:
        for mechanism in kind.examples()[:1]:
            corpus.keep(mechanism)
            first, second = mechanism.worst_pair()
            try:
                drawn = mechanism.sample(mechanism.check(first), Source(seed=1))
                mechanism.log_ratio(first, second, drawn)
                mechanism.cdf(first, np.array([0.0]))
                mechanism.distance(first, second)
            except Exception:
                continue
    PrivacyUnit.user("id", max_rows=2).summary()


def _noise(folder: Path, corpus: Corpus) -> None:
    source, step = Source(seed=1), Fraction(1, 2)
    corpus.keep(step)
    integers(source, bound=10, size=3)
    permutation(source, 4)
    for gaussian in (discrete_gaussian, rounded_gaussian):
        gaussian(source, sigma=step, size=2)
    for laplace in (discrete_laplace, truncated_laplace):
        laplace(source, scale=step, size=2)
    gamma_ball(source, dimension=2, scale=1.0)
    for choose in (choose_by_score, permute_and_flip):
        choose(source, scores=np.array([1, 2, 3]), factor=step)
    choose_many(source, scores=np.array([1, 2, 3]), factor=step, size=2)


def _data(folder: Path, corpus: Corpus) -> None:
    rows = frame()
    rows.to_csv(folder / "c.csv", index=False)
    schema().save(folder / "s.toml")
    draft_schema(folder / "c.csv")
    encoder = Encoder(schema(), ["age", "group"])
    encoder.fit_transform(rows)
    encoder.get_feature_names_out()
    clip_rows(np.ones((2, 2)), 1.0)
    with open_table(rows, schema()) as table:
        table.counts([["age", "ill"]])
        table.sums(SecondMoment(encoder))
        for batch in table.batches():
            encoder.encode(batch)
        corpus.keep(table)
    Schema([Identifier("id"), *schema().columns]).to_dict()


def _models(folder: Path, corpus: Corpus) -> None:
    rows = frame()
    kind: Any
    numbers = rows[["age"]].to_numpy() / 100
    target = (rows["ill"] == "yes").to_numpy().astype(int)
    table = open_table(rows, schema())
    for kind in (PrivateLogisticRegression, PrivateLinearSVC, PrivateAdditiveClassifier):
        model = kind(epsilon=2.0, random_state=1).fit(table, target="ill")
        _used(model, rows, folder, corpus)
        arrays = kind(epsilon=2.0, bounds=(0.0, 1.0), classes=[0, 1], random_state=1).fit(numbers, target)
        corpus.keep(arrays)
    for kind in (
        PrivateLinearRegression,
        PrivateRidge,
        PrivateLasso,
        PrivateHuberRegression,
        PrivateAdditiveRegressor,
    ):
        model = kind(epsilon=2.0, random_state=1).fit(table, target="age")
        _used(model, rows, folder, corpus)
    try:
        PrivateLogisticRegression(epsilon=5.0, method="objective", random_state=1).fit(
            numbers, target
        ).conf_int()
    except holdfast.errors.HoldfastError:
        pass
    load_model(folder / "PrivateRidge.holdfast")
    recommend(schema(), target="ill", epsilon=1.0, rows=1000)
    PrivateSearch(PrivateLogisticRegression(random_state=1), {"penalty": [0.1, 0.2]}, random_state=1).fit(
        numbers, target
    )
    for step in (PrivateScaler(random_state=1), PrivatePCA(1, random_state=1), RandomProjection(1)):
        step.fit(numbers)
        step.transform(numbers)
        corpus.keep(step)


def _used(model: object, rows: pd.DataFrame, folder: Path, corpus: Corpus) -> None:
    corpus.keep(model)
    model.predict(rows)  # type: ignore[attr-defined]  # every estimator has them
    for name in ("decision_function", "predict_proba"):
        getattr(model, name, lambda rows: None)(rows)
    path = folder / f"{type(model).__name__}.holdfast"
    model.release_.save(path)  # type: ignore[attr-defined]
    type(model).load(path)  # type: ignore[attr-defined]
    corpus.keep(model.release_)  # type: ignore[attr-defined]


def _tables(folder: Path, corpus: Corpus) -> None:
    table = open_table(frame(), schema())
    maker = Synthesizer(epsilon=2.0, method="independent", random_state=1)
    maker.estimate(table)
    maker.fit(table)
    maker.sample(20)
    corpus.keep(maker)
    assert maker.release_ is not None
    maker.release_.save(folder / "rows.holdfast")
    Synthesizer.load(folder / "rows.holdfast")
    corpus.keep(maker.answer())
    corpus.keep(maker.evaluate(frame()))
    pairs = Workload.marginals(schema(), 2)
    corpus.keep(pairs)
    corpus.keep(Zeros.of_labels(schema(), [{"group": "a", "ill": "yes"}]))


def _evidence(folder: Path, corpus: Corpus) -> None:
    own, model = corpus.objects["PrivateLogisticRegression"][:2]
    first, second = ((np.full((8, 1), share), np.array([0, 1] * 4)) for share in (0.25, 0.5))
    corpus.keep(membership(model, members=first, non_members=second, attacks="loss", random_state=1))
    rows = frame(seed=2).drop(columns="ill")
    corpus.keep(
        synthetic_membership(frame(seed=1), members=frame(seed=2), non_members=frame(seed=4), schema=schema())
    )
    corpus.keep(
        synthetic_disclosure(
            frame(seed=1), members=frame(seed=2), control=frame(seed=4), number=20, schema=schema()
        )
    )
    corpus.keep(
        attribute_risk(
            own,
            frame(),
            schema=schema(),
            sensitive="group",
            target="ill",
            attacker=Attacker(own=(10,)),
            scoring=Scoring(people=20),
            random_state=1,
        )
    )
    corpus.keep(invertibility(own, rows.iloc[:9], schema=schema()))
    corpus.keep(
        publishing_options(own, rows.iloc[:9], frame(seed=2)["ill"][:9], sensitive="group", schema=schema())
    )
    coins = np.random.default_rng(1)
    result = audit(
        lambda rows: rows.sum(axis=0) + coins.normal(0, 5, rows.shape[1]),
        np.zeros((20, 3)),
        claim=PureDP(1.0),
        adjacency="add_remove",
        design=OneRun(canaries=10),
        seed=1,
    )
    corpus.keep(result)
    result.summary()


def _ledger(folder: Path, corpus: Corpus) -> None:
    with Ledger.create(folder / "scene.db", purpose="x") as ledger:
        ledger.dataset("clinic", limit=ApproxDP(2.0, 1e-6), currency="zcdp")
        with ledger.temporary_account("clinic", name="m", limit=ApproxDP(1.0, 1e-7)) as account:
            corpus.keep(account)
            value = account.release(Gaussian(sigma=20.0, l2_sensitivity=1.0), np.array([1.0]))
            release = Release.of(account, value, method="sum")
        for entry in ledger.history():
            corpus.keep(entry)
        corpus.keep(ledger.verify())
        corpus.keep(ledger)
        corpus.keep(release)
        page = Dossier(release, ledger=ledger)
        page.save(folder / "page.html")
        corpus.keep(page)
    corpus.keep(verify_dossier(folder / "page.html", ledger=folder / "scene.db"))
    compare({"a": release, "b": release})
