from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from holdfast.data import Categorical, Numeric, Schema
from holdfast.errors import ParameterError
from holdfast.synth import Synthesizer
from holdfast.synth._evaluation.evaluator import evaluate_against_real, evaluate_against_release
from holdfast.synth._evaluation.report import EvaluationReport
from tests.synth.evaluation.samples import SCHEMA, people, released


@pytest.fixture(scope="module")
def internal() -> EvaluationReport:
    return released().evaluate(people(), target="ill", by=["sex"], holdout=people(400, seed=8))


@pytest.fixture(scope="module")
def public() -> EvaluationReport:
    return released().evaluate(by=["sex"])


def test_real_rows_make_it_internal(internal: EvaluationReport, public: EvaluationReport) -> None:
    assert (internal.audience, public.audience) == ("internal", "public")
    assert "do not publish" in internal.summary()
    assert "public: from released values only" in public.summary()
    assert internal.to_json()["audience"] == "internal"
    assert EvaluationReport(title="both", against_real=internal.against_real).audience == "internal"


def test_what_is_internal_refuses_to_be_public(internal: EvaluationReport) -> None:
    for made in (internal.to_html, internal.to_json):
        with pytest.raises(ParameterError, match="audience must be 'internal'"):
            made(audience="public")
    with pytest.raises(ParameterError, match="'public' or 'internal'"):
        internal.to_json(audience="friends")
    with pytest.raises(AttributeError):
        internal.audience = "public"  # type: ignore[misc]


def test_a_public_report_holds_nothing_of_real_rows(public: EvaluationReport) -> None:
    """A release is all that it is made from: the same one says the same, whatever table stands behind it."""
    said = public.to_json()
    assert set(said) == {"format", "title", "audience", "notice", "against_release"}
    again = evaluate_against_release(released().release_, by=["sex"])
    assert again.to_json() == said
    assert public.to_json(audience="internal")["audience"] == "internal"


def test_nothing_about_single_rows_leaves(internal: EvaluationReport) -> None:
    said = internal.to_json()
    predicted = said["against_real"]["predictions"]
    assert set(predicted) == {
        "target",
        "measure",
        "models",
        "baseline",
        "trained",
        "tested",
        "without_target",
    }
    assert "test_rows" not in json.dumps(said)
    assert len(json.dumps(said, allow_nan=False)) < 60_000


def test_the_summary_says_all_measures(internal: EvaluationReport) -> None:
    told = internal.summary()
    for word in (
        "one-way tables",
        "largest error",
        "correlations differ",
        "boosted trees",
        "sex=F",
        "closest real row",
        "no privacy measure",
        "nearer to a member",
        "AUC",
        "certificate",
    ):
        assert word in told
    assert repr(internal) == told


def test_plots_are_drawn(internal: EvaluationReport, public: EvaluationReport) -> None:
    pytest.importorskip("matplotlib")
    assert len(internal.plot().axes) == 4  # three panels and a colour bar
    assert len(public.plot().axes) == 1


def test_what_needs_real_rows_is_refused_without_them() -> None:
    with pytest.raises(ParameterError, match="given with target"):
        released().evaluate(target="ill")
    with pytest.raises(ParameterError, match="not fitted"):
        Synthesizer().evaluate()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "height"}, "target must be one of the columns"),
        ({"by": ["height"]}, "by must be one of the columns"),
        ({"by": "sex"}, "by must be a list"),
        ({"columns": ["height"]}, "columns must be of the schema"),
        ({"columns": ["sex", "sex"]}, "different columns"),
        ({"columns": ["sex"], "target": "sex"}, "beside others"),
    ],
)
def test_bad_questions_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        evaluate_against_real(people(60), people(60), SCHEMA, **options)


def test_a_few_rows_and_strange_columns_are_no_trouble() -> None:
    schema = Schema(
        [Numeric("x", 0, 1, null="category"), Categorical("one", ["only"]), Categorical("c", ["a", "b"])]
    )
    frame = {"x": [np.nan] * 5, "one": ["only"] * 5, "c": ["a", "b", "a", "b", None]}
    found = evaluate_against_real(frame, frame, schema, by=["c"])
    json.dumps(found.to_json(), allow_nan=False)
    assert found.against_real is not None
    assert found.against_real.told_apart is None
    assert "-" in found.summary()
    assert "<h1>" in found.to_html()


def test_undeclared_values_are_noted() -> None:
    frame = people(100)
    frame["region"] = np.array(["mars", *frame["region"][1:]])
    found = evaluate_against_real(people(100), frame, SCHEMA)
    assert "1 of 100 real values of region" in found.summary()
    assert "mars" not in json.dumps(found.to_json())
