"""Classes that a draft made for missing and for unlisted values of a target are never learned without a word."""

from __future__ import annotations

import pytest

from holdfast import PrivateAdditiveClassifier, PrivateLogisticRegression, Schema, open_table
from holdfast.data._schema import Categorical, Numeric
from holdfast.errors import AssumptionWarning

ROWS = {"age": [30.0, 50.0, 70.0] * 40, "ill": ["no", "yes", None] * 40}


@pytest.mark.filterwarnings("ignore:the probabilities of this model")
@pytest.mark.parametrize("estimator", [PrivateLogisticRegression, PrivateAdditiveClassifier])
@pytest.mark.parametrize("extra", [{"null": "(missing)"}, {"other": "(other)"}])
def test_every_door_names_them(estimator: type, extra: dict[str, str]) -> None:
    column = Categorical("ill", ["no", "yes"], **extra, taken_from_data=True)  # type: ignore[arg-type]
    with pytest.warns(AssumptionWarning, match="the schema is a draft"):
        table = open_table(ROWS, Schema([Numeric("age", 0, 100), column]))
    with pytest.warns(AssumptionWarning, match="is a class of 'ill', by a draft"):
        model = estimator(epsilon=100.0).fit(table, target="ill")
    (label,) = extra.values()
    assert any(label in str(assumption) for assumption in model.release_.guarantee.assumptions)


@pytest.mark.filterwarnings("error:.*by a draft")
def test_a_declared_class_is_no_draft() -> None:
    column = Categorical("ill", ["no", "yes"], null="(missing)")
    table = open_table(ROWS, Schema([Numeric("age", 0, 100), column]))
    PrivateLogisticRegression(epsilon=100.0).fit(table, target="ill")
