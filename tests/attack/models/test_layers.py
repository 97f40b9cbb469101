"""The inside of a model: activations are the model's own, gradients are those of the loss."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor

from holdfast.attack import Records, ShadowModels, Target, membership
from holdfast.attack._attacks.neural import inside_seen
from holdfast.attack._models.layers import has_layers, layer_passes
from holdfast.errors import ParameterError
from holdfast.learn import PrivateLogisticRegression
from tests.attack.attack_models import people

KINDS: dict[str, Any] = {
    "logistic": LogisticRegression(),
    "softmax": LogisticRegression(),
    "ridge": Ridge(),
    "relu": MLPClassifier(hidden_layer_sizes=(7,), max_iter=5, random_state=0),
    "tanh, two layers": MLPClassifier(
        hidden_layer_sizes=(6, 4), activation="tanh", max_iter=5, random_state=0
    ),
    "numbers": MLPRegressor(hidden_layer_sizes=(5,), activation="logistic", max_iter=5, random_state=0),
}


def _fitted(name: str) -> tuple[Any, Records]:
    rows, labels = people(60, seed=1, classes=3 if name in ("softmax", "relu") else 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return deepcopy(KINDS[name]).fit(rows, labels), Records(features=rows, labels=labels)


def _loss(model: Any, records: Records) -> Any:
    target = Target.of(model)
    if target.task == "regression":
        return 0.5 * np.square(target.residuals(records))
    own = target.label_columns(records)
    return -np.log(target.probabilities(records)[np.arange(records.count), own])


@pytest.mark.parametrize("name", KINDS)
def test_gradients_are_those_of_the_loss(name: str) -> None:
    """Each weight of each layer moved a little, against the outer product of the two factors."""
    model, records = _fitted(name)
    layers = layer_passes(Target.of(model), records)
    step = 1e-6
    for place, layer in enumerate(layers):
        outer = np.einsum("ni,nj->nij", layer.inputs, layer.slopes)
        squares = np.sum(outer**2, axis=(1, 2)) + np.sum(layer.slopes**2, axis=1)
        assert layer.gradient_norms() == pytest.approx(np.sqrt(squares))
        for i, j in ((0, 0), (outer.shape[1] - 1, outer.shape[2] - 1)):
            moved = []
            for sign in (1, -1):
                other = deepcopy(model)
                if hasattr(other, "coefs_"):
                    other.coefs_[place][i, j] += sign * step
                else:
                    np.atleast_2d(other.coef_)[j, i] += sign * step
                moved.append(_loss(other, records))
            assert outer[:, i, j] == pytest.approx((moved[0] - moved[1]) / (2 * step), abs=1e-5)


def test_a_private_model_clips_rows_before_its_weights() -> None:
    rows, labels = people(200, seed=2)
    model = PrivateLogisticRegression(epsilon=1.0, classes=[0, 1]).fit(3.0 * rows, labels)
    (layer,) = layer_passes(Target.of(model), Records(features=3.0 * rows, labels=labels))
    assert np.linalg.norm(layer.inputs, axis=1).max() <= 1.0 + 1e-9
    assert layer.outputs[:, 0] == pytest.approx(model.decision_function(3.0 * rows))


def test_a_model_that_lacks_a_class_is_seen_in_the_targets_columns() -> None:
    rows, labels = people(60, seed=3, classes=3)
    few = LogisticRegression().fit(rows[labels < 2], labels[labels < 2])
    target = Target.of(few).with_class_order([0, 1, 2])
    assert np.isfinite(inside_seen(target, Records(features=rows, labels=labels))).all()


def test_a_forest_has_no_layers_and_the_report_says_so() -> None:
    rows, labels = people(120, seed=4)
    forest = RandomForestClassifier(5, random_state=0).fit(rows[:60], labels[:60])
    assert not has_layers(forest)
    with pytest.raises(ParameterError, match="no layers"):
        layer_passes(Target.of(forest), Records(features=rows, labels=labels))
    report = membership(
        forest,
        members=(rows[:60], labels[:60]),
        non_members=(rows[60:], labels[60:]),
        shadows=ShadowModels(count=4),
        random_state=0,
        attacks=["loss", "neural_black_box", "neural_white_box"],
    )
    assert "linear models" in report.skipped["neural_white_box"]
    assert report["neural_black_box"].auc > 0.6


def test_an_overfitted_network_gives_its_members_away_inside_too() -> None:
    rows, _ = people(300, seed=5, columns=30)
    labels = np.random.default_rng(0).integers(0, 2, size=300)
    network = MLPClassifier(hidden_layer_sizes=(20,), max_iter=150, learning_rate_init=0.01, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.fit(rows[:150], labels[:150])
        report = membership(
            network,
            members=(rows[:150], labels[:150]),
            non_members=(rows[150:], labels[150:]),
            shadows=ShadowModels(count=4),
            random_state=0,
            attacks=["neural_black_box", "neural_white_box"],
        )
    assert report["neural_white_box"].auc > 0.7
    assert report["neural_black_box"].auc > 0.6
