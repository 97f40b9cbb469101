"""Seeded audits and attacks of every kind, and dossiers made from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from holdfast._arrays import Floats
from holdfast.attack import ShadowModels, membership, shadow_release, synthetic_membership
from holdfast.audit import AuditResult, MembershipDesign, audit, membership_game
from holdfast.audit._designs import AuditDesign
from holdfast.audit._designs.named import named_design
from holdfast.dossier import Accuracy, Bars, Dossier, compare
from holdfast.learn import PrivateLogisticRegression
from holdfast.privacy import Account, ApproxDP, Gaussian, PureDP
from holdfast.release import Release
from holdfast.synth import Synthesizer, Workload
from tests.golden.frozen_common import (
    Plain,
    clinic,
    clinic_schema,
    deep,
    outcome,
    pinned,
    quietly,
    rows,
    without,
)

CLAIM = ApproxDP(1.0, 1e-6)
AUDITS = {
    "one-run": ("path", "geometric", "fixed", "gaussian"),
    "multi-run": ("clopper-pearson", "gaussian", "bayesian"),
    "sequential": ("bet",),
}


def noisy_sum(noise: float) -> Any:
    """A training function: a sum with seeded noise, another one in each call."""
    coins = np.random.Generator(np.random.PCG64(5))
    return lambda data: data.sum(axis=0) + noise * coins.normal(size=data.shape[1])


def audits() -> Iterator[tuple[str, Plain]]:
    """Every kind and bound, on a sum with too little noise and on one with much."""
    for kind, bounds in AUDITS.items():
        for bound in bounds:
            settings = {"canaries": 60} if kind == "one-run" else {"runs": 120}
            design = named_design(kind, settings if kind == "sequential" else settings | {"bound": bound})
            for adjacency in ("replace", "add_remove"):
                for noise in (0.5, 4.0):

                    def made(d: AuditDesign = design, a: str = adjacency, n: float = noise) -> Any:
                        found = audit(
                            noisy_sum(n), np.zeros((4, 64)), claim=CLAIM, design=d, adjacency=a, seed=0
                        )
                        shown = [found.epsilon_lower(0.95), found.verdict(CLAIM)]
                        return {"json": found.to_json(), "shown": shown, "text": found.summary(CLAIM)}

                    yield f"audit/{kind}/{bound}/{adjacency}/{noise:g}", outcome(made)


def labelled(n: int = 240) -> tuple[Floats, Any]:
    """Rows with two labels."""
    x, score = rows(n, 5, seed=3)
    return x, (score > 0).astype(int)


def model(adjacency: str = "replace") -> Any:
    """A private model of the first half of the rows."""
    x, y = labelled()
    made = PrivateLogisticRegression(
        4.0, 1e-6, classes=[0, 1], method="output", adjacency=adjacency, n_public=120, random_state=0
    )
    with quietly():
        return made.fit(x[:120], y[:120])


def report(target: Any, **more: Any) -> Any:
    """Every attack on a model of the first half."""
    x, y = labelled()
    return membership(
        target,
        members=(x[:120], y[:120]),
        non_members=(x[120:], y[120:]),
        shadows=ShadowModels(count=4, jobs=1),
        random_state=0,
        **more,
    )


def attacks() -> Iterator[tuple[str, Plain]]:
    """Every attack on a private model and on an open one; the game with coins, and attacks on rows."""
    x, y = labelled()
    for name, target in (("private", model()), ("open", LogisticRegression(C=100.0).fit(x[:120], y[:120]))):

        def made(t: Any = target) -> Any:
            found = report(t)
            told = without(found.to_json(), "seconds", "roc")
            return told | {
                "best": found.best().most_exposed(3).rows,
                "text": [one.summary() for one in found],
            }

        yield f"attack/{name}", outcome(made)

    def game() -> Any:
        played = membership_game(
            PrivateLogisticRegression(1.0, 1e-6, classes=[0, 1], method="output"),
            (x, y),
            claim=CLAIM,
            adjacency="replace",
            design=MembershipDesign(attacks=["loss", "confidence"], classes=[0, 1], jobs=1),
            seed=0,
        )
        told = without(played.report.to_json(), "seconds", "roc")
        return {"report": told, "epsilon": played.epsilon_lower(), "best": played.best()}

    yield "attack/game", outcome(game)
    people = clinic(600)
    asked = Workload.of([("age", "stage"), ("stage", "ill")])

    def on_rows() -> Any:
        made = Synthesizer(4.0, 1e-6, workload=asked, random_state=0).fit(
            people.slice(0, 200), clinic_schema()
        )
        found = synthetic_membership(
            made.release_,
            members=people.slice(0, 200),
            non_members=people.slice(200, 200),
            reference=people.slice(400),
            random_state=0,
        )
        return without(found.to_json(), "seconds", "roc")

    yield "attack/_rows", outcome(on_rows)
    draw = np.random.Generator(np.random.PCG64(7))
    crowd = draw.normal(size=(300, 3))

    def shadow() -> Any:
        found = shadow_release(
            lambda data: data[draw.permutation(len(data))],
            np.full((1, 3), 3.0),
            crowd,
            beside=40,
            trials=30,
            proved=PureDP(1.0),
            random_state=0,
        )
        return without(found.to_json(), "seconds", "roc")

    yield "attack/shadow", outcome(shadow)


def counts() -> Release[Any]:
    """Two seeded counts with a certificate."""
    account = Account(CLAIM, currency="gdp", seed=0)
    noisy = account.release(Gaussian(sigma=16.0, l2_sensitivity=1.0), [300.0, 400.0])
    claim = deep("Certificate")(
        name="largest error", statement="by the law", alpha=40.0, confidence=0.95, query_class="both"
    )
    with quietly():
        made = Release.of(
            account, {"counts": noisy}, method="two counts", parameters={"sigma": 16.0}, certificates=[claim]
        )
    return pinned(made)


def dossiers() -> Iterator[tuple[str, Plain]]:
    """The records of both editions, less the day and the version."""
    audited = audit(
        noisy_sum(8.0),
        np.zeros((4, 64)),
        claim=CLAIM,
        design=named_design("one-run", {"canaries": 60}),
        adjacency="replace",
        seed=0,
    )
    fitted, table = pinned(model().release_), counts()

    def record(made: Dossier) -> Any:
        said = without(made.to_json(), "created", "holdfast", "renderer")
        picture = {"rows": said["picture"]["rows"]}
        return said | {"picture": picture, "words": made.summary()}

    def public() -> Any:
        value = table.value["counts"].tolist()
        bars = Bars(title="counts", labels=("a", "b"), counts=tuple(value), error=40.0)
        assert isinstance(audited, AuditResult)
        return record(Dossier(table, (), [audited], tables=[bars], digests=["0" * 64], title="public"))

    def internal() -> Any:
        scored = [Accuracy(model="mine", score=0.8, rows=100, measure="accuracy")]
        found = report(model(), attacks=["loss", "confidence"]).results
        made = Dossier(
            [fitted, table],
            found,
            [],
            audience="internal",
            accuracy=scored,
            names=["model", "counts"],
            digests=["0" * 64, "1" * 64],
        )
        return record(made)

    yield "dossier/public", outcome(public)
    yield "dossier/internal", outcome(internal)
    yield "dossier/compare", outcome(lambda: compare({"model": fitted, "counts": table}).summary())


def evidence() -> dict[str, Plain]:
    """All of it."""
    return {name: made for part in (audits, attacks, dossiers) for name, made in part()}
