"""Private steps: what they learn, what they pay, and that they fit into a pipeline."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from holdfast import Account, ApproxDP, PrivateLogisticRegression, Release
from holdfast.errors import AdjacencyError, AssumptionWarning, BudgetExceeded, FormatError, ParameterError
from holdfast.learn import PrivatePCA, PrivateScaler, RandomProjection
from holdfast.learn._steps.pca import moment_sensitivity, moment_sums
from holdfast.learn._steps.scaler import box_sensitivity, box_sums
from holdfast.learn._steps.step import PrivateStep
from holdfast.privacy import PrivacyUnit
from holdfast.privacy._adjacency import Adjacency

pytestmark = [
    pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning"),
]
STEPS = [PrivateScaler(random_state=0), PrivatePCA(1, random_state=0)]


def people(count: int = 4_000, seed: int = 1) -> np.ndarray[Any, np.dtype[np.float64]]:
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(count, 1))
    return np.asarray(hidden @ [[0.3, -0.3, 0.0]] + 0.03 * random.normal(size=(count, 3)) + [0.1, 0.2, 0.0])


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(STEPS)
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_no_pair_of_rows_is_farther_apart_than_declared(adjacency: Adjacency) -> None:
    """Brute force: corners and axes of the box, and a circle."""
    replaced = adjacency is Adjacency.replace
    corners = [np.array([[*point]]) for point in itertools.product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=2)]
    circle = [np.array([[np.cos(a), np.sin(a)]]) for a in np.linspace(0, 2 * np.pi, 73)]
    for points, sums, bound in (
        (corners, box_sums, box_sensitivity(adjacency, 2)),
        (circle, lambda rows: moment_sums(rows, 0.5), moment_sensitivity(adjacency, 1.0, 0.5)),
        (circle, lambda rows: moment_sums(rows, 0.0), moment_sensitivity(adjacency, 1.0, 0.0)),
    ):
        each = [sums(rows) for rows in points]
        moved = (
            max(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(each, 2))
            if replaced
            else max(float(np.linalg.norm(one)) for one in each)
        )
        assert moved <= bound * (1 + 1e-12)
        assert moved >= 0.999 * bound


def test_a_scaler_finds_means_and_spreads() -> None:
    rows = np.random.default_rng(1).normal([40.0, 30_000.0], [10.0, 8_000.0], size=(20_000, 2))
    step = PrivateScaler([(0, 100), (0, 100_000)], epsilon=1.0, delta=1e-6, random_state=3).fit(rows)
    assert step.mean_ == pytest.approx([40.0, 30_000.0], rel=0.02)
    assert step.scale_ == pytest.approx([10.0, 8_000.0], rel=0.02)
    made = step.transform(rows)
    assert np.mean(np.sum(made**2, axis=1)) == pytest.approx(1.0, abs=0.05)
    assert np.allclose(step.inverse_transform(made), np.clip(rows, 0, [100, 100_000]))
    assert PrivateScaler(step.bounds, length=None, random_state=3, delta=1e-6).fit(rows).transform(rows).std(
        axis=0
    ) == pytest.approx([1, 1], rel=0.05)
    assert "noise in the mean" in step.summary()


def test_a_column_below_the_noise_is_not_blown_up() -> None:
    rows = np.column_stack([np.zeros(200), np.random.default_rng(0).uniform(-1, 1, 200)])
    step = PrivateScaler(epsilon=0.5, delta=1e-4, random_state=1, length=None).fit(rows)
    assert step.hidden_[0]
    assert "below the noise" in step.summary()
    assert np.abs(step.transform(rows)[:, 0]).max() < 3.0


@pytest.mark.parametrize("center", [True, False])
def test_pca_finds_the_directions_that_there_are(center: bool) -> None:
    rows = people(20_000)
    step = PrivatePCA(2, epsilon=2.0, delta=1e-6, center=center, random_state=1, row_norm=2.0).fit(rows)
    exact = PCA(1).fit(rows if center else np.concatenate([rows, -rows]))
    assert abs(step.components_[0] @ exact.components_[0]) > 0.999
    assert step.informative_ == (1 if center else 2)  # the mean is a direction of its own
    if center:
        assert step.mean_ == pytest.approx(rows.mean(axis=0), abs=0.01)
        assert step.explained_variance_[0] == pytest.approx(exact.explained_variance_[0], rel=0.05)
        assert "noise" in step.summary()
    back = step.inverse_transform(step.transform(rows))
    assert np.mean((back - rows) ** 2) < 0.002
    white = clone(step).set_params(whiten=True).fit(rows)
    assert white.transform(rows)[:, 0].std() == pytest.approx(1.0, rel=0.1)
    assert np.allclose(
        white.inverse_transform(white.transform(rows)), white.inverse_transform(white.transform(rows))
    )


def test_a_pipeline_pays_from_one_account() -> None:
    """The step takes its share of what remains, the model all the rest; the promise is that of the account."""
    rows = people()
    labels = (rows[:, 0] > 0.1).astype(int)
    account = Account(ApproxDP(2.0, 1e-5), adjacency="zero_out", currency="gdp", seed=1)
    steps = make_pipeline(PrivateScaler(share=0.25), RandomProjection(3), PrivateLogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps.fit(rows, labels, privatescaler__account=account, privatelogisticregression__account=account)
    scaler, paid = account.journal.entries[0], account.journal.entries
    assert scaler.charge.label == "scaler"
    (mine,), (limit,) = scaler.charge.cost.amounts, account.currency.amounts(account.promised) or (None,)
    assert float(mine) == pytest.approx(0.25 * float(limit or 0), rel=1e-6)
    assert len(paid) > 1
    assert account.remaining().delta(0.0) < 1e-3
    assert steps.score(rows, labels) > 0.9
    with pytest.raises(BudgetExceeded):
        PrivatePCA(1).fit(rows, account=account)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_saved_and_loaded_it_transforms_the_same(step: PrivateStep, tmp_path: Path) -> None:
    rows = people(100)
    fitted = clone(step).fit(rows)
    fitted.release_.save(tmp_path / "step.holdfast")
    again = type(step).load(tmp_path / "step.holdfast")
    assert np.array_equal(again.transform(rows), fitted.transform(rows))
    assert again.summary() == fitted.summary()
    other = PrivatePCA if isinstance(step, PrivateScaler) else PrivateScaler
    with pytest.raises(FormatError, match=other.__name__):
        other.from_release(Release.load(tmp_path / "step.holdfast"))


@pytest.mark.parametrize(
    ("step", "match"),
    [
        (PrivateScaler((1.0, 1.0)), "bounds"),
        (PrivateScaler([(0, 1)]), "bounds"),
        (PrivateScaler(bounds=cast(Any, "text")), "bounds"),
        (PrivateScaler((0.0, np.inf)), "bounds"),
        (PrivateScaler((-1.5e308, 1.5e308)), "bounds"),
        (PrivateScaler(length=0.0), "length"),
        (PrivateScaler(share=0.0), "share"),
        (PrivateScaler(epsilon=-1.0), "epsilon"),
        (PrivateScaler(delta=0.9), "delta"),
        (PrivateScaler(n_public=3), "n_public"),
        (PrivateScaler(arithmetic=cast(Any, "loose")), "arithmetic"),
        (PrivatePCA(0), "n_components"),
        (PrivatePCA(4), "n_components"),
        (PrivatePCA(True), "n_components"),
        (PrivatePCA(1, row_norm=0.0), "row_norm"),
        (PrivatePCA(1, center=cast(Any, "yes")), "center"),
    ],
)
def test_bad_parameters_are_named_before_anything_is_spent(step: PrivateStep, match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        step.fit(people(50))


def test_accounts_that_speak_of_others_are_refused() -> None:
    rows = people(50)
    users = Account(ApproxDP(1.0, 1e-5), unit=PrivacyUnit("person", max_rows=3), currency="gdp")
    with pytest.raises(AdjacencyError, match="privacy unit"):
        PrivateScaler().fit(rows, account=users)
    with pytest.raises(ParameterError, match="random_state"):
        PrivateScaler(random_state=1).fit(rows, account=Account(ApproxDP(1.0, 1e-5), currency="gdp"))
    with pytest.warns(AssumptionWarning, match="number of rows"):
        PrivateScaler(adjacency="add_remove").fit(rows)


def test_too_wide_for_pca() -> None:
    with pytest.raises(ParameterError, match="RandomProjection"):
        PrivatePCA(1).fit(np.zeros((2, 5_001)))


def test_text_is_not_quoted() -> None:
    with pytest.raises(ValueError, match="numbers") as caught:
        PrivateScaler().fit(np.array([["secret"], ["1"]], dtype=object))
    assert "secret" not in str(caught.value)


def test_the_page_says_what_it_is() -> None:
    from holdfast.dossier._utility import utility_of

    assert (
        utility_of(PrivateScaler().fit(people(50)).release_).what
        == "means and spreads of 3 columns, with noise"
    )
    assert "principal" in utility_of(PrivatePCA(1).fit(people(50)).release_).what
