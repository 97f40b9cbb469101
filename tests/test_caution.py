"""Every warning stands at the caller's line, over every public call that warns, and once for each line."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import holdfast
from holdfast import _caution as caution
from holdfast.errors import AssumptionWarning, BudgetWarning, NotPrivateWarning
from holdfast.learn import PrivateLogisticRegression
from tests.contracts import scene
from tests.contracts.any_call import Corpus

OURS = (AssumptionWarning, BudgetWarning, NotPrivateWarning)
ROWS, LABELS = np.tile([[0.5], [-0.5]], (60, 1)), np.tile([1, 0], 60)


def test_whatever_warns_points_at_the_line_that_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that the scene calls, through scikit-learn's own steps too."""
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        scene.perform(tmp_path, Corpus())
    ours = [one for one in seen if issubclass(one.category, OURS)]
    assert {one.category for one in ours} == set(OURS)
    assert {Path(one.filename).name for one in ours} == {"scene.py"}


def test_a_pipeline_warns_where_it_was_fitted() -> None:
    model = make_pipeline(FunctionTransformer(), PrivateLogisticRegression())
    with pytest.warns(AssumptionWarning) as seen:
        model.fit(ROWS, LABELS)
    assert {one.filename for one in seen} == {__file__}


def test_a_loop_on_one_line_warns_once_of_each_thing() -> None:
    """Libraries that touch the filters while they fit make Python forget what it said."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.resetwarnings()
        [PrivateLogisticRegression(random_state=seed).fit(ROWS, LABELS) for seed in range(9)]
    texts = [str(one.message) for one in seen if issubclass(one.category, OURS)]
    assert len(texts) == len(set(texts)) >= 1


def test_a_filter_that_wants_every_warning_gets_every_one() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            PrivateLogisticRegression(random_state=1).fit(ROWS, LABELS)
    assert sum("set of labels" in str(one.message) for one in seen) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AssumptionWarning):
            PrivateLogisticRegression(random_state=1).fit(ROWS, LABELS)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("ignore", AssumptionWarning)
        caution.warn("not heard", AssumptionWarning)
    assert not seen


def test_nothing_warns_by_any_other_way() -> None:
    """So that every future warning has the caller's line: `warnings.warn` stands in no file of the package."""
    package = Path(inspect.getfile(holdfast)).parent
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert called != "warnings.warn", f"{file.name}:{getattr(node, 'lineno', 0)}"


def test_a_plain_run_of_python_shows_a_warning_once_at_the_line_of_the_caller(tmp_path: Path) -> None:
    """Its first filters hold texts where pytest's hold patterns."""
    script = tmp_path / "mine.py"
    script.write_text(
        "from holdfast._caution import warn\n"
        "from holdfast.errors import AssumptionWarning\n"
        "for _ in range(3):\n"
        "    warn('be careful', AssumptionWarning)\n"
    )
    for options in ([], ["-W", "always"], ["-X", "dev"]):
        done = subprocess.run([sys.executable, *options, script], capture_output=True, text=True, check=True)
        assert done.stderr.count("mine.py:4: AssumptionWarning: be careful") == (3 if "-W" in options else 1)
