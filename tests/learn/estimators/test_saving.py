"""What leaves an estimator: files, plain JSON, and a summary with the noise in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from holdfast.errors import FormatError
from holdfast.learn import PrivateLasso, PrivateLogisticRegression, PrivateRidge, load_model
from holdfast.learn._estimators.estimator import GAUSSIAN_QUANTILE, LAPLACE_QUANTILE
from holdfast.learn._rows.design import INTERCEPT_SHARE
from holdfast.privacy import Account, PureDP
from holdfast.release import Release
from tests.learn.learn_cases import QUIET, data_for, declared, every, labelled

pytestmark = QUIET


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
def test_a_model_is_saved_loaded_and_predicts_the_same(made: Any, tmp_path: Path) -> None:
    x, y = data_for(made)
    fitted = declared(made, epsilon=5.0).fit(x, y)
    fitted.release_.save(tmp_path / "model.holdfast")
    for again in (load_model(tmp_path / "model.holdfast"), type(made).load(tmp_path / "model.holdfast")):
        assert type(again) is type(made)
        np.testing.assert_array_equal(again.predict(9 * x), fitted.predict(9 * x))
        assert again.release_ == fitted.release_
        assert again.summary() == fitted.summary()
    other = PrivateLasso if not isinstance(made, PrivateLasso) else PrivateRidge
    with pytest.raises(FormatError, match="use load_model"):
        other.load(tmp_path / "model.holdfast")


def test_a_release_of_something_else_is_no_model(tmp_path: Path) -> None:
    account = Account(PureDP(1.0))
    Release.of(account, [1.0], method="other").save(tmp_path / "other.holdfast")
    with pytest.raises(FormatError, match="not a model: it does not have the format"):
        load_model(tmp_path / "other.holdfast")


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
def test_plain_json_predicts_without_holdfast(made: Any) -> None:
    x, y = data_for(made)
    fitted = declared(made, epsilon=5.0).fit(x, y)
    plain = json.loads(fitted.to_json())
    x = 3 * x
    long = np.linalg.norm(x, axis=1, keepdims=True)
    short = x * np.minimum(1.0, plain["row_norm"] / long)
    scores = (short @ np.array(plain["coef"]).T + plain["intercept"])[:, 0]
    if hasattr(made, "classes"):
        np.testing.assert_array_equal(np.array(plain["classes"])[(scores > 0).astype(int)], fitted.predict(x))
    else:
        np.testing.assert_allclose(scores, fitted.predict(x))
    assert plain["private"] is True
    assert plain["guarantee"]["adjacency"] == "replace"


def test_the_summary_shows_the_noise_in_each_coefficient() -> None:
    x, y = labelled()
    # So many rows that the released shares of the classes, on which the noise of the centre depends, hardly differ.
    x, y = np.tile(x, (3_000 // len(x) + 1, 1)), np.tile(y, 3_000 // len(y) + 1)
    fitted = declared(PrivateLogisticRegression(), method="output", penalty=0.1).fit(x, y)
    assert fitted.release_ is not None
    std = fitted.model_.noise_std
    assert std is not None
    own = fitted.model_.intercept_noise_std
    assert own is not None
    assert INTERCEPT_SHARE * std < own < 2.0 * INTERCEPT_SHARE * std  # and the noise of its centre
    reach = GAUSSIAN_QUANTILE * std
    weight = fitted.coef_[0, 1]
    assert f"[{weight - reach:.4g}, {weight + reach:.4g}]" in fitted.summary()
    assert "(intercept)" in fitted.summary()
    assert "whoever was 50 % sure" in fitted.summary()


@pytest.mark.parametrize(
    ("delta", "arithmetic"), [(1e-6, "strict"), (0.0, "strict"), (0.0, "idealised")], ids=str
)
def test_intervals_hold_what_the_fit_would_be_without_noise(delta: float, arithmetic: str) -> None:
    x, y = labelled(300)
    made = declared(PrivateLogisticRegression(), method="output", penalty=0.05, delta=delta)
    # The same fit with next to no noise: its penalty is counted from the log-odds of the classes.
    exact = clone(made).set_params(epsilon=1e6, random_state=0).fit(x, y)
    centre = np.append(exact.coef_[0], exact.intercept_)
    inside, wide = [], []
    for seed in range(150):
        noisy = clone(made).set_params(random_state=seed, epsilon=2.0, arithmetic=arithmetic).fit(x, y)
        std = np.array([noisy.model_.noise_std] * 3 + [noisy.model_.intercept_noise_std])
        off = np.abs(np.append(noisy.coef_[0], noisy.intercept_) - centre) / std
        inside.append(off <= (GAUSSIAN_QUANTILE if delta else LAPLACE_QUANTILE))
        wide.append(off**2)
    # 600 coefficients, 150 of them independent at worst: 0.95 within four standard errors of 0.0178.
    assert 0.88 <= np.mean(inside) <= 0.995
    assert np.mean(wide) == pytest.approx(1.0, abs=0.4)
