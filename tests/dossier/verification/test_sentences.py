"""Nothing is read out of a sentence: with 'x' in the place of each that is stored, everything is decided alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from holdfast._assumption import Assumption
from holdfast.dossier import Dossier, verify_dossier
from holdfast.dossier._comparison.releases import compare
from holdfast.dossier._verification.ledger_checks import unrecorded_assumptions
from holdfast.errors import NoIntervals
from holdfast.learn import (
    PrivateAdditiveClassifier,
    PrivateLogisticRegression,
    PrivateRidge,
    PrivateScaler,
    PrivateSearch,
    load_model,
    pipeline_release,
)
from holdfast.learn._choice import find_learner
from holdfast.ledger import Ledger
from holdfast.privacy import Account, Gaussian, GaussianDP, Guarantee
from holdfast.release import Release
from holdfast.release._certificate import Certificate
from holdfast.synth import Synthesizer, Workload
from tests.dossier.verification import forging
from tests.dossier.verification.forgeries import extracted, stranger

APPENDIX = Assumption(
    kind="appendix", text="the proof of mechanism choice is in the appendix, which is not registered"
)
MINE = replace(find_learner("output"), name="mine")
ROWS = np.tile([[0.6, 0.1], [-0.5, 0.2], [0.3, -0.4], [-0.6, 0.3]], (100, 1))
LABELS = np.tile([1, 0, 1, 0], 100)


class Sentence:
    """A field of a class that is 'x', whatever was written into it."""

    def __get__(self, owner: object, kind: type | None = None) -> Any:
        return self if owner is None else "x"

    def __set__(self, owner: object, text: str) -> None:
        """Forgotten."""


@contextmanager
def without_sentences(replaced: bool) -> Iterator[None]:
    """Whether every sentence that a release, a ledger or a page would store is 'x'."""
    with pytest.MonkeyPatch.context() as patch:
        if replaced:
            for kind, name in (
                (Assumption, "text"),
                (Guarantee, "theorem"),
                (Certificate, "statement"),
            ):
                patch.setattr(kind, name, Sentence(), raising=False)
        yield


@dataclass(frozen=True, kw_only=True)
class Homemade(Gaussian):
    """Somebody's own."""


def two_counts(account: Account) -> Release[Any]:
    value = account.release(Gaussian(sigma=9.0, l2_sensitivity=1.0), [12.0, 30.0], key="visits")
    return Release.of(account, value, method="two noisy counts", assumptions=[APPENDIX])


def homemade_counts(account: Account) -> Release[Any]:
    value = account.release(Homemade(sigma=9.0, l2_sensitivity=1.0), [12.0, 30.0], key="visits")
    return Release.of(account, value, method="two noisy counts")


def own_method(account: Account) -> Release[Any]:
    return released(PrivateLogisticRegression(method=MINE, penalty=0.1).fit(ROWS, LABELS, account=account))


def chosen_method(account: Account) -> Release[Any]:
    return released(PrivateLogisticRegression(bounds=(-1.0, 1.0)).fit(ROWS, LABELS, account=account))


def intervals(account: Account) -> Release[Any]:
    model = PrivateRidge(method="ssp", penalty=0.0, bounds=(-1.0, 1.0), target_bounds=(0.0, 1.0))
    return released(model.fit(ROWS, LABELS, account=account))


def additive(account: Account) -> Release[Any]:
    return released(PrivateAdditiveClassifier(classes=[0, 1]).fit(ROWS, LABELS, account=account))


def search(account: Account) -> Release[Any]:
    model = PrivateLogisticRegression(method="output", classes=[0, 1])
    return released(PrivateSearch(model, {"penalty": [0.1, 1.0]}).fit(ROWS, LABELS, account=account))


def steps(account: Account) -> Release[Any]:
    pipeline = make_pipeline(
        PrivateScaler(bounds=(-1.0, 1.0), share=0.2),
        PrivateLogisticRegression(method="output", penalty=0.1),
    )
    names = {f"{name}__account": account for name in ("privatescaler", "privatelogisticregression")}
    return pipeline_release(pipeline.fit(ROWS, LABELS, **names))


def synthetic(account: Account) -> Release[Any]:
    from holdfast.data import Categorical, Schema

    schema = Schema([Categorical("sex", ["F", "M"]), Categorical("ill", ["no", "yes"])])
    frame = {"sex": ["F", "M"] * 200, "ill": ["no", "no", "yes", "no"] * 100}
    asked = Workload.of([("sex", "ill")])
    return released(Synthesizer(workload=asked, key="rows").fit(frame, schema, account=account))


def released(model: Any) -> Release[Any]:
    assert model.release_ is not None
    return model.release_  # type: ignore[no-any-return]


KINDS: dict[str, Callable[[Account], Release[Any]]] = {
    one.__name__: one
    for one in (
        two_counts,
        homemade_counts,
        own_method,
        chosen_method,
        intervals,
        additive,
        search,
        steps,
        synthetic,
    )
}
VOIDING = {
    "homemade_counts": {"mechanism by others"},
    "own_method": {"method by others", "read from the data"},
    "chosen_method": {"read from the data"},
    "steps": {"read from the data"},
}
"""Of each kind of release what voids its promise."""


def decided(folder: Path, name: str) -> dict[str, Any]:
    """All that is decided about a release of this kind, and what was charged for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = forging.sound(folder, KINDS[name], currency="gdp", seed=3)
    again = Release.load(case.release)
    record = Dossier(again).record
    made: dict[str, Any] = {
        "assumed": [(one.kind, one.subject, one.voids) for one in again.guarantee.assumptions],
        "provenance": (again.provenance.estimator, again.provenance.method, again.provenance.package),
        "doubts": [(one.kind, one.voids) for one in record.doubts],
        "utility": record.releases[0].utility.to_json(),
        "useless": len(again.useless),
        "compared": [row for row in compare({"one": again, "other": again}).rows if row[0] != "theorem"],
    }
    with Ledger.open(case.ledger, read_only=True) as ledger:
        entries = list(ledger.history())
        made["replayed"] = ledger.verify().ok
        made["recomputed"] = homemade(name) or ledger.recompute("clinic").sound
        made["entries"] = [(one.kind, one.body.get("cost"), one.body.get("label")) for one in entries]
    for told, place in (("with", case.ledger), ("without", None)):
        verdict = verify_dossier(case.page, releases=[case.release], ledger=place, recompute=True)
        made[f"verified {told} ledger"] = (
            verdict.verdict,
            *(
                len(lines)
                for lines in (verdict.checked, verdict.problems, verdict.skipped, verdict.recomputed)
            ),
        )
    extract = extracted(case, case.key, folder / "extract.json")
    assert extract is not None
    made["stranger"] = len(stranger().verify(case.page, [case.release], extract, case.public))
    bare = replace(again, guarantee=replace(again.guarantee, assumptions=()))
    charges = [one.body["mechanism"] for one in entries if one.kind == "charge"]
    made["untold"] = [(one.kind, one.subject, one.voids) for one in unrecorded_assumptions(bare, charges)]
    assert not unrecorded_assumptions(again, charges)
    made["silent"] = silent(case, extract)
    made["model"] = used(case.release, name)
    return made


def homemade(name: str) -> bool:
    """Whether holdfast does not know the mechanism that was charged."""
    return name == "homemade_counts"


def silent(case: forging.Case, extract: Path) -> tuple[int, bool]:
    """What becomes of a page and a release that do not say what they assume."""

    forged = case.copy(case.folder / "silent")
    record, members = forging.release_tree(forged)
    record["guarantee"]["assumptions"] = []
    forging.rewrite_release(forged, record, members)
    verdict = verify_dossier(forged.page, releases=[forged.release], ledger=forged.ledger)
    try:
        stranger().verify(forged.page, [forged.release], extract, forged.public)
    except stranger().Wrong:
        return len(verdict.problems), True
    return len(verdict.problems), False


def used(path: Path, name: str) -> Any:
    """What a saved model says of its method and of intervals, or the rows of theirs."""
    if name == "synthetic":
        return Synthesizer.load(path).method_
    if "counts" in name:
        return None
    model = load_model(path)
    last = model[-1] if hasattr(model, "steps") else model
    try:
        found = last.conf_int().names if hasattr(last, "conf_int") else None
    except NoIntervals as refusal:
        found = str(refusal)
    return type(last).__name__, getattr(last, "method_", None), found


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_sentences_decide_nothing(name: str, tmp_path: Path) -> None:
    told = {}
    for replaced in (False, True):
        with without_sentences(replaced):
            told[replaced] = decided(tmp_path / str(replaced), name)
    for fact in told[False]:
        assert told[True][fact] == told[False][fact], fact
    assert {kind for kind, _, voids in told[True]["assumed"] if voids} == VOIDING.get(name, set())


def test_the_sentences_are_gone_in_that_test() -> None:
    with without_sentences(True):
        account = Account(GaussianDP(1.0))
        guarantee = account.guarantee(assumptions=[APPENDIX])
        stored = guarantee.to_json()
        assert (stored["theorem"], stored["assumptions"][0]["text"]) == ("x", "x")
    assert Guarantee.from_json(stored).theorem == "x"
    assert APPENDIX.text.startswith("the proof of mechanism")


def test_a_sentence_of_the_users_voids_nothing() -> None:
    account = Account(GaussianDP(1.0))
    told = "the proof of mechanism choice is in the appendix; it is not registered, not holdfast's own, from the data"
    release = two_counts(account)
    guarantee = replace(release.guarantee, assumptions=(replace(APPENDIX, text=told),))
    record = Dossier(replace(release, guarantee=guarantee)).record
    assert [one.kind for one in record.doubts if one.voids] == ["no ledger"]
    grave = replace(APPENDIX, voids=True)
    page = Dossier(replace(release, guarantee=replace(guarantee, assumptions=(grave,))))
    assert [one.kind for one in page.record.doubts if one.voids] == ["appendix", "no ledger"]
