"""A fitted Pipeline is one release with one promise, comes back as it was, and is refused where a step did not pay."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from holdfast import Account, ApproxDP, Categorical, Dossier, Encoder, Ledger, Numeric, Schema, verify_dossier
from holdfast.errors import FormatError, ParameterError
from holdfast.learn import (
    PrivateLogisticRegression,
    PrivatePCA,
    PrivateScaler,
    RandomProjection,
    load_model,
    pipeline_release,
)
from holdfast.release import Release

pytestmark = [
    pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning"),
]
X = np.random.default_rng(0).normal(size=(2_000, 3)) / 2
Y = (X[:, 0] > 0).astype(int)
LIMIT = ApproxDP(2.0, 1e-6)


def model(**told: Any) -> PrivateLogisticRegression:
    return PrivateLogisticRegression(epsilon=1.0, delta=1e-6, classes=[0, 1], **told)


def paid_by(account: Account, *steps: Any) -> Pipeline:
    made = make_pipeline(*steps)
    payers = {f"{name}__account": account for name, step in made.steps if hasattr(step, "epsilon")}
    return made.fit(X, Y, **payers)


def test_one_account_is_one_promise(tmp_path: Path) -> None:
    account = Account(LIMIT, currency="gdp")
    fitted = paid_by(account, PrivateScaler((-2.0, 2.0)), PrivatePCA(2), model())
    release = pipeline_release(fitted)
    assert release.guarantee.curve == account.promised
    release.save(tmp_path / "pipeline.holdfast")
    again = load_model(tmp_path / "pipeline.holdfast")
    assert isinstance(again, Pipeline)
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    page = Dossier.of_files([tmp_path / "pipeline.holdfast"])
    page.save(tmp_path / "page.html")
    assert "linear model" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_several_accounts_add_up() -> None:
    fitted = make_pipeline(PrivateScaler(epsilon=1.0, delta=1e-6), model()).fit(X, Y)
    each = [step.release_.guarantee.epsilon(1e-5) for _, step in fitted.steps]
    both = pipeline_release(fitted).guarantee.epsilon(1e-5)
    assert max(each) < both <= sum(each)


def test_shares_of_one_account_add_up() -> None:
    account = Account(LIMIT, currency="gdp")
    first, second = account.split(0.5, 0.5)
    made = make_pipeline(PrivateScaler(share=1.0), model())
    made.fit(X, Y, privatescaler__account=first, privatelogisticregression__account=second)
    release = pipeline_release(made)
    assert release.guarantee.epsilon(1e-6) > made[-1].release_.guarantee.epsilon(1e-6)
    assert release.guarantee.epsilon(1e-6) == pytest.approx(account.promised.epsilon(1e-6), rel=1e-6)


def test_a_copy_does_not_know_its_payer_and_adds_up() -> None:
    account = Account(LIMIT, currency="gdp", seed=1)
    fitted = paid_by(account, PrivateScaler(), model())
    copied = pickle.loads(pickle.dumps(fitted))
    assert pipeline_release(fitted).guarantee.curve == account.promised
    assert pipeline_release(copied).guarantee.epsilon(1e-6) > account.promised.epsilon(1e-6)
    assert not pipeline_release(copied).private


def test_an_encoder_and_a_projection_cost_nothing(tmp_path: Path) -> None:
    schema = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"])])
    people = {"age": np.arange(2_000) % 100, "sex": np.where(Y, "F", "M")}
    made = make_pipeline(Encoder(schema), "passthrough", RandomProjection(3, seed=4), model()).fit(people, Y)
    release = pipeline_release(made)
    assert release.guarantee.curve == made[-1].release_.guarantee.curve
    release.save(tmp_path / "pipeline.holdfast")
    again = load_model(tmp_path / "pipeline.holdfast")
    assert np.array_equal(again.predict(people), made.predict(people))
    assert again.score(people, Y) > 0.9


def test_a_step_that_did_not_pay_is_refused() -> None:
    fitted = make_pipeline(StandardScaler(), model()).fit(X, Y)
    with pytest.raises(ParameterError, match=r"StandardScaler.*PrivateScaler"):
        pipeline_release(fitted)

    class Peeking(Encoder):  # a subclass may look at rows
        pass

    schema = Schema([Numeric("x", 0, 1)])
    fitted = make_pipeline(Peeking(schema), model()).fit({"x": np.linspace(0, 1, 2_000)}, Y)
    with pytest.raises(ParameterError, match="Peeking"):
        pipeline_release(fitted)


@pytest.mark.parametrize(
    "given", [None, PrivateScaler(), make_pipeline(PrivateScaler()), make_pipeline(PrivateScaler(), model())]
)
def test_what_is_not_fitted_or_no_pipeline_is_refused(given: Any) -> None:
    with pytest.raises(ParameterError):
        pipeline_release(given)


def test_a_ledger_keeps_one_entry_for_all(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "budget.db") as ledger:
        ledger.dataset("people", limit=LIMIT, adjacency="replace", currency="gdp")
        account = ledger.account("people", name="model")
        release = pipeline_release(paid_by(account, PrivateScaler(), model()))
        assert release.provenance.head
        release.save(tmp_path / "m.holdfast")
        page = Dossier.of_files([tmp_path / "m.holdfast"], ledger=ledger).save(tmp_path / "p.html")
        apart = make_pipeline(PrivateScaler(epsilon=1.0, delta=1e-6), model())
    with pytest.raises(ParameterError, match="several accounts"):
        pipeline_release(Pipeline([("scaler", apart.fit(X, Y)[0]), ("model", _paid(release))]))
    found = verify_dossier(
        page, releases=[tmp_path / "m.holdfast"], ledger=tmp_path / "budget.db", recompute=True
    )
    assert found.ok, found.problems


def _paid(release: Release[Any]) -> Any:
    import dataclasses

    return PrivateLogisticRegression.from_release(
        dataclasses.replace(release, value=release.value["steps"][-1])
    )


def test_a_damaged_file_is_said_to_be_one() -> None:
    import dataclasses

    release = pipeline_release(make_pipeline(RandomProjection(2), model()).fit(X, Y))
    from holdfast.learn._estimators import model_of_release

    last = release.value["steps"][-1]
    damages: list[dict[str, Any]] = [{"steps": []}, {"names": ["a"]}, {"steps": [{"format": "x/1"}, last]}]
    for broken in damages:
        with pytest.raises(FormatError):
            model_of_release(dataclasses.replace(release, value=release.value | broken))
