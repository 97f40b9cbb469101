"""Parameters of estimators: every one is shown and described, and one out of its range costs nothing."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.learn import PrivatePCA, PrivateScaler
from holdfast.learn._estimators import ESTIMATORS
from holdfast.learn._estimators.additive_estimator import PrivateAdditiveEstimator
from holdfast.learn._parameters import ADDITIVE, LINEAR, STEP
from holdfast.learn._steps.step import PrivateStep
from holdfast.privacy import Account, ApproxDP
from tests.docs.test_docstrings import listed, sections

CLASSES: tuple[Any, ...] = (*ESTIMATORS, PrivatePCA, PrivateScaler)
each_class = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
WRONG: dict[str, tuple[Any, ...]] = {
    "arithmetic": ("exact",),
    "center": (1,),
    "fit_intercept": (1,),
    "interactions": (1,),
    "length": (0.0, math.inf),
    "loss": ("squared",),
    "multi_class": ("one_vs_one",),
    "n_components": (0,),
    "options": (),
    "penalty": (-1.0, math.inf, math.nan),
    "radius": (0.0, -1.0),
    "row_norm": (0.0, -1.0, math.inf, math.nan),
    "share": (0.0, 1.5),
    "whiten": (1,),
    "width": (0.0, math.inf),
}
"""Values of the declared type that are out of range; a wrong type is the annotation's business."""


@each_class
def test_every_parameter_is_shown_and_described(kind: Any) -> None:
    parameters = inspect.signature(kind).parameters
    assert not {parameter.kind for parameter in parameters.values()} & {
        inspect.Parameter.VAR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    }
    assert listed(sections(inspect.getdoc(kind) or "")["Parameters"]) == set(parameters)


@each_class
def test_what_is_declared_once_is_said_in_the_same_words(kind: Any) -> None:
    """Unless a class declares a parameter of its own under the name."""
    table = ADDITIVE if issubclass(kind, PrivateAdditiveEstimator) else LINEAR
    if issubclass(kind, PrivateStep):
        table = STEP
    said, own = inspect.getdoc(kind) or "", {"penalty", "radius", "bounds"}
    shared = set(inspect.signature(kind).parameters) & set(table) - own
    assert len(shared) >= 6
    for name in shared:
        assert f"{name} : {table[name].description}" in said


@each_class
def test_defaults_are_within_their_constraints(kind: Any) -> None:
    for name, constraint in kind._constraints.items():
        assert constraint.holds(inspect.signature(kind).parameters[name].default), name


@each_class
def test_a_value_out_of_range_is_named_before_anything_is_spent(kind: Any) -> None:
    rows, labels = np.full((40, 3), 0.1), np.arange(40) % 2
    for name in kind._constraints:
        for value in WRONG[name]:
            account = Account(ApproxDP(1.0, 1e-6), currency="gdp", seed=1)
            with pytest.raises(ParameterError, match=f"^{name} must be "):
                kind(**{name: value}).fit(rows, labels, account=account)
            assert not account.journal.entries
