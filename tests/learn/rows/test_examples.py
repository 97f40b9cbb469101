"""A table of any engine is learned from as the same rows in memory would be."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from holdfast.data import Categorical, Encoder, Identifier, Numeric, Schema, Table, open_table
from holdfast.errors import (
    AdjacencyError,
    AssumptionWarning,
    BudgetWarning,
    NotPrivateWarning,
    ParameterError,
)
from holdfast.learn import PrivateLogisticRegression, PrivateRidge, load_model
from holdfast.learn._problem.problem import ClassLabels
from holdfast.learn._rows import table_examples as module
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.noise._source import Source
from holdfast.privacy import PrivacyUnit


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


def schema(**terms: Any) -> Schema:
    columns: list[Any] = [
        Numeric("age", 0, 100),
        Categorical("sex", ["F", "M"]),
        Categorical("ill", ["no", "yes"]),
    ]
    return Schema([*columns, *terms.pop("more", ())], **terms)


def columns(n: int = 500) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, n)
    ill = np.where(age + rng.normal(0, 20, n) > 50, "yes", "no")
    return {"age": age, "sex": rng.choice(["F", "M"], n), "ill": ill}


def stored(folder: Path, engine: str, **terms: Any) -> Table:
    if engine == "memory":
        return open_table(columns(), schema(**terms))
    parquet.write_table(pa.table(columns()), folder / "rows.parquet")
    return open_table(folder / "rows.parquet", schema(**terms), engine="duckdb")


def examples(table: Table, **changes: Any) -> TableExamples:
    encoder = Encoder(table.schema, ["age", "sex"], intercept=False)
    coding = ClassLabels.of_column(table.schema["ill"])
    own: dict[str, Any] = {
        "table": table,
        "encoder": encoder,
        "target": "ill",
        "coding": coding,
        "public_count": 500,
    }
    return TableExamples(**(own | changes))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_chunks_are_the_encoded_rows_with_their_labels(tmp_path: Path, engine: str) -> None:
    with stored(tmp_path, engine) as table:
        rows = examples(table, intercept=0.5)
        features, labels = (np.concatenate(part) for part in zip(*rows.chunks(), strict=True))
    raw = columns()
    expected = Encoder(schema(), ["age", "sex"], intercept=False).transform(raw)
    together = np.column_stack([features, labels])
    wanted = np.column_stack([expected, np.full(500, 0.5), np.where(raw["ill"] == "yes", 1.0, -1.0)])
    np.testing.assert_allclose(together[np.lexsort(together.T)], wanted[np.lexsort(wanted.T)])
    assert rows.dimension == 4


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_pass_is_a_fresh_order_of_the_same_rows(tmp_path: Path, engine: str) -> None:
    with stored(tmp_path, engine) as table:
        rows, source = examples(table), Source(seed=1)
        passes = [np.concatenate([x for x, _ in rows.shuffled_chunks(source)]) for _ in range(2)]
    assert not np.array_equal(passes[0], passes[1])
    np.testing.assert_allclose(passes[0][np.lexsort(passes[0].T)], passes[1][np.lexsort(passes[1].T)])


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("method", ["output", "bolt_on", "auto"])
def test_streamed_or_loaded_a_table_is_learned(
    tmp_path: Path, engine: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = []
    for limit in (2**28, 0):
        monkeypatch.setattr(module, "IN_MEMORY_BYTES", limit)
        with stored(tmp_path, engine) as table:
            model = PrivateLogisticRegression(epsilon=40.0, method=method, random_state=2)
            fits.append(model.fit(table, target="ill"))
    assert fits[0].release_ is not None
    assert fits[0].release_.provenance.schema_hash == schema().hash()
    assert fits[0].release_.guarantee.assumptions == () or method == "auto"
    for fitted in fits:
        assert fitted.predict({"age": [2, 98], "sex": ["F", "F"]}).tolist() == ["no", "yes"]
    if method == "output":
        np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-6)


def test_a_table_model_is_saved_with_its_schema(tmp_path: Path) -> None:
    fitted = PrivateRidge(epsilon=20.0).fit(open_table(columns(), schema()), target="age")
    assert fitted.release_ is not None
    fitted.release_.save(tmp_path / "model.holdfast")
    fresh = {"sex": ["F", "M"], "ill": ["yes", "no"]}
    loaded = load_model(tmp_path / "model.holdfast")
    np.testing.assert_array_equal(loaded.predict(fresh), fitted.predict(fresh))
    assert loaded.model_.feature_names == ("sex=F", "sex=M", "ill=no", "ill=yes")
    assert 50 < fitted.predict(fresh)[0] < 95


def test_what_the_schema_declares_is_used() -> None:
    table = open_table(columns(), schema(adjacency="add_remove", n_public=480))
    fitted = PrivateLogisticRegression(epsilon=5.0).fit(table, target="ill")
    assert fitted.release_ is not None
    assert fitted.release_.guarantee.adjacency.value == "add_remove"
    with pytest.raises(AdjacencyError):
        PrivateLogisticRegression(adjacency="replace").fit(table, target="ill")
    with pytest.raises(ParameterError, match="n_public"):
        PrivateLogisticRegression(n_public=7).fit(table, target="ill")
    unknown = open_table(columns(), schema(adjacency="add_remove"))
    with pytest.warns(AssumptionWarning, match="n_public"):
        fitted = PrivateLogisticRegression(epsilon=5.0).fit(unknown, target="ill")
    assert fitted.release_ is not None
    assert any("read from the data" in text.text for text in fitted.release_.guarantee.assumptions)
    declared = PrivateLogisticRegression(epsilon=5.0, n_public=480).fit(unknown, target="ill")
    assert declared.release_ is not None
    assert not any("read from the data" in text.text for text in declared.release_.guarantee.assumptions)


def test_bad_targets_are_refused() -> None:
    table = open_table(columns(), schema())
    for made, target, match in [
        (PrivateLogisticRegression(), None, "target must be the name"),
        (PrivateLogisticRegression(), "height", "columns must be among"),
        (PrivateLogisticRegression(), "age", "target must be categorical"),
        (PrivateLogisticRegression(classes=["a", "b"]), "ill", "classes contradict the schema"),
        (PrivateRidge(), "ill", "target must be a numeric column"),
    ]:
        with pytest.raises(ParameterError, match=match):
            made.fit(table, target=target)
    with pytest.raises(ParameterError, match="target must be None"):
        PrivateLogisticRegression().fit(np.eye(4), [0, 1, 0, 1], target="ill")
    with pytest.raises(ParameterError, match="must not be among the encoded"):
        examples(table, target="sex")


def test_the_null_rows_of_padded_users_contribute_nothing() -> None:
    users = schema(more=[Identifier("who")], unit=PrivacyUnit.user("who", max_rows=3))
    table = open_table(columns(10) | {"who": [f"u{place // 2}" for place in range(10)]}, users)
    rows = examples(table, public_count=5, intercept=0.5)
    features, labels = (
        np.concatenate(part) for part in zip(*rows.shuffled_chunks(Source(seed=1)), strict=True)
    )
    assert features.shape == (15, 4)
    null = (features == 0).all(axis=1)
    assert null.sum() == 5
    assert (labels[null] == 0).all()
    assert (np.abs(labels[~null]) == 1).all()


def test_fitting_a_table_twice_is_said() -> None:
    table = open_table(columns(), schema())
    PrivateLogisticRegression().fit(table, target="ill")
    with pytest.warns(BudgetWarning):
        PrivateLogisticRegression().fit(table, target="ill")
