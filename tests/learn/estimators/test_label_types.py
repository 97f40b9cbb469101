"""Labels keep their type through a schema: whole numbers and truth values come back as such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast import Categorical, Numeric, PrivateLogisticRegression, Schema, open_table
from holdfast.data import Hierarchy
from holdfast.dossier._comparison import compare_methods
from holdfast.learn import PrivateAdditiveClassifier, load_model
from holdfast.learn._forecast import rehearse

X = np.random.default_rng(0).normal(size=2_000)
ILL = X > 0
KINDS: dict[str, tuple[Any, Any]] = {
    "whole numbers": (ILL.astype(int), [0, 1]),
    "truth values": (ILL, [False, True]),
    "texts": (np.where(ILL, "ill", "well"), ["ill", "well"]),
    "numerals of a file": (ILL.astype(int), ["0", "1"]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("estimator", [PrivateLogisticRegression, PrivateAdditiveClassifier])
def test_what_goes_in_comes_out(estimator: Any, kind: str, tmp_path: Path) -> None:
    labels, declared = KINDS[kind]
    schema = Schema([Numeric("x", -3, 3), Categorical("y", declared)])
    model = estimator(epsilon=4.0, delta=1e-5).fit(open_table({"x": X, "y": labels}, schema), target="y")
    assert model.predict({"x": X}).dtype.kind == labels.dtype.kind
    assert model.score({"x": X}, labels) > 0.9
    model.release_.save(tmp_path / "model.holdfast")
    again = load_model(tmp_path / "model.holdfast")
    assert again.classes_.tolist() == model.classes_.tolist()
    assert (again.predict({"x": X}) == model.predict({"x": X})).all()


@pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning")
def test_classes_may_be_repeated_as_they_are_or_as_texts() -> None:
    table = open_table(
        {"x": X, "y": ILL.astype(int)}, Schema([Numeric("x", -3, 3), Categorical("y", [0, 1])])
    )
    for classes in ([0, 1], ["0", "1"]):
        PrivateLogisticRegression(delta=1e-5, classes=classes).fit(table, target="y")
    with pytest.raises(ValueError, match="classes"):
        PrivateLogisticRegression(delta=1e-5, classes=[1, 2]).fit(table, target="y")


@pytest.mark.parametrize("written", [lambda y: y, lambda y: y.astype(str), lambda y: y.astype(float)])
def test_accuracy_is_that_of_labels_and_not_of_types(written: Any) -> None:
    """A column may hold texts in a file, and numbers in a frame, of the same schema."""
    schema = Schema([Numeric("x", -3, 3), Categorical("y", [0, 1])])
    columns = {"x": X, "y": written(ILL.astype(int))}
    found = compare_methods(columns, schema, target="y", methods=["output"], epsilon=4.0, delta=1e-5, fits=1)
    assert float(found.rows[0][1][0]) > 0.9
    assert all(
        one.accuracy > 0.9
        for one in rehearse(columns, schema, target="y", epsilons=[2.0], delta=1e-5, fits=1)
    )


@pytest.mark.parametrize("declared", [[0, 1], [True, False], [7, -2], [10, 2, 30]])
@pytest.mark.parametrize("gone", [0, 40])
def test_classes_are_found_however_a_program_writes_them(
    declared: list[Any], gone: int, tmp_path: Path
) -> None:
    """pandas writes 1.0 where a value of the column is missing, and True for a truth value."""
    pd, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    random = np.random.default_rng(len(declared) + gone)
    frame = pd.DataFrame({"x": X, "y": np.array(declared)[random.integers(len(declared), size=len(X))]})
    if gone:
        frame["y"] = frame["y"].astype("float" if declared[0] is not True else "object")
        frame.loc[random.choice(len(X), gone, replace=False), "y"] = None
    frame.to_csv(tmp_path / "f.csv", index=False)
    frame.to_parquet(tmp_path / "f.parquet")
    with duckdb.connect(str(tmp_path / "f.db")) as connection:
        connection.execute(f"CREATE TABLE a AS SELECT * FROM read_csv('{tmp_path}/f.csv', all_varchar=true)")
    column = Categorical("y", declared, other="(other)", null="(missing)")
    schema = Schema([Numeric("x", -9, 9), column])
    expected = [int((frame["y"] == value).sum()) for value in declared] + [0, gone]
    for source in (frame, tmp_path / "f.csv", tmp_path / "f.parquet", f"duckdb:///{tmp_path}/f.db?table=a"):
        assert open_table(source, schema).counts([["y"]])[0].tolist() == expected


def test_numerals_of_a_hierarchy_are_codes() -> None:
    assert "250.0" not in Hierarchy("icd", ["250", "251"], coarser=[1]).spellings
    assert Categorical("y", ["1", "x"]).spellings == {"1": 0, "x": 1}
    assert Categorical("y", ["1", "0"], aliases={"1.0": "0"}).spellings["1.0"] == 1
