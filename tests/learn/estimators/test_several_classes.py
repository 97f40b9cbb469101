"""Several classes through the estimators: every method that takes them, on the plain hinge too."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest

from holdfast.errors import ParameterError
from holdfast.learn import PrivateLinearSVC, PrivateLogisticRegression, RandomProjection, load_model

METHODS = ("bolt_on", "bst14", "dp_sgd", "output", "scs13", "softmax")
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]


def labelled(count: int = 6_000) -> tuple[Any, Any]:
    """Three bundles of rows around three directions."""
    random = np.random.default_rng(4)
    y = random.integers(3, size=count)
    directions = np.array([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
    x = 0.7 * directions[y] + 0.25 * random.normal(size=(count, 2))
    return x / np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None], y


def one_vs_all(epsilon: float = 1.0, **told: Any) -> PrivateLogisticRegression:
    """A logistic model of each class against the rest."""
    return PrivateLogisticRegression(epsilon, multi_class="one_vs_all", **told)


@pytest.mark.parametrize("kind", [PrivateLogisticRegression, one_vs_all, PrivateLinearSVC])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_several_classes(kind: Any, method: str) -> None:
    x, y = labelled()
    told: dict[str, Any] = {
        "adjacency": "zero_out",
        "random_state": 0,
        "method": method,
        "classes": [0, 1, 2],
    }
    model = kind(epsilon=4.0, radius=20.0, **told).fit(x, y)
    assert model.coef_.shape == (3, 2)
    assert model.score(x, y) > 0.85
    assert model.release_.guarantee.curve.epsilon(1e-6) <= 4.0 + 1e-9


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_plain_hinge_through_the_estimator(classes: int, delta: float) -> None:
    x, y = labelled()
    x, y = (x, y) if classes == 3 else (x[y < 2], y[y < 2])
    told: dict[str, Any] = {
        "loss": "hinge",
        "classes": list(range(classes)),
        "adjacency": "replace",
        "random_state": 0,
    }
    plain = PrivateLinearSVC(epsilon=math.inf, penalty=1e-3, **told).fit(x, y).score(x, y)
    auto = PrivateLinearSVC(epsilon=2.0, delta=delta, **told).fit(x, y)
    assert auto.score(x, y) > plain - 0.05
    if classes == 2:
        output: Any = PrivateLinearSVC(epsilon=2.0, delta=delta, method="output", **told).fit(x, y)
        assert output.release_.provenance.parameters["loss"] == "hinge"
        assert output.score(x, y) > plain - 0.05


def test_the_models_of_one_vs_all_are_those_of_each_class() -> None:
    x, y = labelled(900)
    told: dict[str, Any] = {"epsilon": math.inf, "penalty": 1e-2}
    several = one_vs_all(classes=[0, 1, 2], **told).fit(x, y)
    for code in range(3):
        alone = PrivateLogisticRegression(classes=[False, True], **told).fit(x, y == code)
        np.testing.assert_allclose(several.coef_[code], alone.coef_[0], atol=1e-6)
        np.testing.assert_allclose(several.intercept_[code], alone.intercept_[0], atol=1e-6)


def test_one_vs_all_pays_for_every_class() -> None:
    """Output perturbation at the same penalty: K stacked releases, so sqrt(K) of one model's noise."""
    x, y = labelled()
    told: dict[str, Any] = {"method": "output", "penalty": 0.1, "adjacency": "replace", "random_state": 0}
    several = one_vs_all(classes=[0, 1, 2], **told).fit(x, y)
    alone = PrivateLogisticRegression(classes=[False, True], **told).fit(x, y == 0)
    parameters: Any = several.release_.provenance.parameters  # type: ignore[union-attr]
    assert parameters["loss"] == "one_vs_all"
    noise: Any = several.model_.noise_std
    assert noise == pytest.approx(math.sqrt(3) * alone.model_.noise_std, rel=1e-6)  # type: ignore[operator]
    softmax: Any = PrivateLogisticRegression(classes=[0, 1, 2], **told).fit(x, y)
    assert noise == pytest.approx(math.sqrt(3 / 2) * softmax.model_.noise_std, rel=1e-6)


def test_probabilities_of_one_vs_all_are_its_models_own_over_their_sum(tmp_path: Path) -> None:
    x, y = labelled(900)
    model = one_vs_all(4.0, classes=[0, 1, 2], random_state=0, method="output").fit(x, y)
    own = 1.0 / (1.0 + np.exp(-model.decision_function(x)))
    expected = own / own.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(x), expected, rtol=1e-12)
    model.release_.save(tmp_path / "model.holdfast")  # type: ignore[union-attr]
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.holdfast").predict_proba(x), model.predict_proba(x)
    )
    assert json.loads(model.to_json())["link"] == "sigmoid"
    two = one_vs_all(4.0, classes=[0, 1], random_state=0).fit(x, y % 2)
    assert json.loads(two.to_json())["link"] is None


def test_an_unknown_kind_of_several_classes() -> None:
    with pytest.raises(
        ParameterError, match=r"multi_class.*'multinomial', 'one_vs_all', got multi_class='ovr'"
    ):
        PrivateLogisticRegression(multi_class="ovr").fit(*labelled(30))


@pytest.fixture(scope="module")
def digits(data_folder: Path) -> tuple[Any, Any, Any, Any]:
    """A tenth of MNIST through one public random matrix, on the unit sphere; 2,000 other rows to test on."""
    found = []
    for name, count in (("mnist_train", 6_000), ("mnist_test", 2_000)):
        table = parquet.read_table(data_folder / f"{name}.parquet").slice(0, count)
        images = np.frombuffer(b"".join(table["image"].to_pylist()), "uint8").reshape(count, -1) / 255.0
        rows = RandomProjection(50, seed=7).fit_transform(images)
        found += [rows / np.linalg.norm(rows, axis=1, keepdims=True), np.asarray(table["label"])]
    return tuple(found)


@pytest.mark.parametrize("multi_class", ["multinomial", "one_vs_all"])
@pytest.mark.parametrize(
    ("method", "adjacency", "told"),
    [
        ("bolt_on", "replace", {}),
        ("bst14", "replace", {"batch": 600}),
        ("dp_sgd", "zero_out", {}),
        ("output", "replace", {}),
        ("scs13", "replace", {"batch": 1_000}),
    ],
)
def test_a_tenth_of_mnist(
    digits: tuple[Any, Any, Any, Any], method: str, adjacency: str, told: dict[str, Any], multi_class: str
) -> None:
    x, y, test, answers = digits
    model = PrivateLogisticRegression(
        4.0,
        1e-6,
        method=method,
        multi_class=multi_class,
        classes=range(10),
        adjacency=adjacency,
        options=told,
        radius=20.0,
        random_state=0,
    ).fit(x, y)
    majority = float(np.bincount(answers).max()) / len(answers)
    assert model.coef_.shape == (10, 50)
    assert model.score(test, answers) > majority + 0.3
