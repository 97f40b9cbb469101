"""The contract of every classifier: `classes_` is sorted as scikit-learn sorts it, through every door, and all follows.

Names of classes and the order in which they are declared are drawn. What scikit-learn's scorers say of a model is held
against the same numbers computed by hand, from the probability that the model gives to each label by its name.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics import average_precision_score, brier_score_loss, get_scorer, make_scorer

from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.data._engines.postgres.extension import SCHEMA_NAME
from holdfast.data._engines.postgres.install import install
from holdfast.errors import FormatError
from holdfast.learn import PrivateLogisticRegression, PrivateSearch, load_model
from holdfast.learn._estimators import ESTIMATORS
from holdfast.learn._estimators.linear_model import LinearModel
from tests.servers import postgres
from tests.servers.postgres_extension import able_to_build
from tests.servers.postgres_extension import folder as library_folder

ROWS = 1_500
WORDS = (
    "ja",
    "nein",
    "yes",
    "no",
    "Oui",
    "non",
    "はい",
    "いいえ",
    "low",
    "medium",
    "high",
    "zz",
    "10",
    "9",
    "",
)
DATES = ("2024-01-31", "2023-12-01", "1999-07-04", "2024-02-01")
CLASSIFIERS = [kind for kind in ESTIMATORS if is_classifier(kind())]
pytestmark = [pytest.mark.filterwarnings("ignore")]


@dataclass(frozen=True)
class Drawn:
    """People with a label each; the further up `signal` is, the later the label comes in `truth`."""

    declared: tuple[Any, ...]
    """In the order of the declaration; the last one of `absent` is nobody's."""
    truth: tuple[Any, ...]
    features: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, seed: int, classes: int, *, absent: bool = False) -> Drawn:
        """Texts, dates, whole numbers or, of two, truth values, in a drawn order."""
        random = np.random.default_rng(seed)
        pools: list[list[Any]] = [list(WORDS), list(DATES), [-1, 0, 1, 2, 10, 9]]
        pools += [[True, False]] if classes == 2 and not absent else []
        pool = pools[seed % len(pools)]
        names = [pool[place] for place in random.permutation(len(pool))[: classes + absent]]
        truth = names[:classes]
        features = random.uniform(-1, 1, (ROWS, 2))
        place = np.clip((features[:, 0] + 1) / 2 * classes + random.normal(0, 0.25, ROWS), 0, classes - 1e-9)
        kind = object if isinstance(names[0], str) else None
        labels = np.asarray(truth, dtype=kind)[place.astype(int)]
        declared = tuple(names[place] for place in random.permutation(len(names)))
        return cls(declared=declared, truth=tuple(truth), features=features, labels=labels)

    @property
    def schema(self) -> Schema:
        """With the classes as they were declared."""
        return Schema([Numeric("a", -1, 1), Numeric("b", -1, 1), Categorical("y", list(self.declared))])

    @property
    def rows(self) -> pa.Table:
        """As a table stores them."""
        return pa.table({"a": self.features[:, 0], "b": self.features[:, 1], "y": self.labels.tolist()})

    @property
    def frame(self) -> pd.DataFrame:
        """What a model is asked about."""
        return pd.DataFrame(self.features, columns=["a", "b"])


Door = Callable[[Drawn, Path], Any]


def mapping(drawn: Drawn, folder: Path) -> Any:
    return {"a": drawn.features[:, 0], "b": drawn.features[:, 1], "y": drawn.labels}


def frame(drawn: Drawn, folder: Path) -> Any:
    return drawn.rows.to_pandas()


def polars_frame(drawn: Drawn, folder: Path) -> Any:
    return pytest.importorskip("polars").from_arrow(drawn.rows)


def arrow(drawn: Drawn, folder: Path) -> Any:
    return drawn.rows


def csv_file(drawn: Drawn, folder: Path) -> Any:
    csv.write_csv(drawn.rows, folder / "rows.csv")
    return folder / "rows.csv"


def parquet_file(drawn: Drawn, folder: Path) -> Any:
    parquet.write_table(drawn.rows, folder / "rows.parquet")
    return folder / "rows.parquet"


def duckdb_file(drawn: Drawn, folder: Path) -> Any:
    with duckdb.connect(str(folder / "rows.db")) as connection:
        connection.register("arrived", drawn.rows)
        connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM arrived")
    return f"duckdb:///{folder / 'rows.db'}?table=t"


TABLES: tuple[Door, ...] = (mapping, frame, polars_frame, arrow, csv_file, parquet_file, duckdb_file)


def by_label(model: Any, asked: Any) -> dict[Any, np.ndarray]:
    """The probability of each label."""
    made = model.predict_proba(asked)
    return {name: made[:, place] for place, name in enumerate(model.classes_.tolist())}


def area(score: np.ndarray, positive: np.ndarray) -> float:
    """How often a positive is ahead of a negative; ties count half."""
    apart = score[positive][:, None] - score[~positive][None, :]
    return float(np.mean((apart > 0) + 0.5 * (apart == 0)))


def precision(score: np.ndarray, positive: np.ndarray) -> float:
    """The mean over thresholds of precision, weighted by what each adds to recall."""
    parts = [(positive[score >= edge].mean(), positive[score == edge].sum()) for edge in np.unique(score)]
    return float(sum(share * hits for share, hits in parts) / positive.sum())


def holds(model: Any, drawn: Drawn, asked: Any) -> None:
    """What scikit-learn's scorers say is what is true of the labels by their names."""
    y, names = drawn.labels, np.unique(np.asarray(drawn.declared)).tolist()
    assert model.classes_.tolist() == names
    right = model.predict(asked) == y
    assert get_scorer("accuracy")(model, asked, y) == pytest.approx(right.mean())
    assert right.mean() > (0.75 if len(drawn.truth) == 2 else 0.5)
    if len(names) == 2:
        last = y == names[1]
        score = model.decision_function(asked)
        assert ((score > 0) == (model.predict(asked) == names[1])).all()
        assert area(score, last) > 0.85
        assert get_scorer("roc_auc")(model, asked, y) == pytest.approx(area(score, last))
        known = [name for name in (getattr(model, "best_estimator_", model).release_,) if name is not None]
        assert all(one.provenance.parameters["positive_class"] == names[1] for one in known)
        if hasattr(model, "summary"):
            assert f"positive class: {names[1]!r}" in model.summary()
    if not hasattr(model, "predict_proba"):
        return
    given = by_label(model, asked)
    own = np.array([given[label][place] for place, label in enumerate(y.tolist())])
    if set(names) == set(drawn.truth):  # log loss wants every class among the labels
        assert get_scorer("neg_log_loss")(model, asked, y) == pytest.approx(np.log(own).mean(), rel=1e-6)
    assert np.log(own).mean() > -np.log(len(names))
    if len(names) == 2:
        share, last = given[names[1]], y == names[1]
        assert np.mean((share - last) ** 2) < 0.2
        for metric, wanted in (
            (brier_score_loss, np.mean((share - last) ** 2)),
            (average_precision_score, precision(share, last)),
        ):
            scorer = make_scorer(metric, response_method="predict_proba", pos_label=names[1])
            assert scorer(model, asked, y) == pytest.approx(wanted)


def fitted(kind: Any, drawn: Drawn, source: Any, **told: Any) -> Any:
    with open_table(source, drawn.schema) as table:
        return kind(epsilon=8.0, random_state=3, **told).fit(table, target="y")


@pytest.mark.parametrize("door", TABLES, ids=lambda door: door.__name__)
@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_every_classifier_through_every_table(kind: Any, door: Door, tmp_path: Path) -> None:
    for seed, classes in ((3, 2), (0, 2), (2, 3)):
        drawn = Drawn.of(seed + 4 * TABLES.index(door), classes)
        holds(fitted(kind, drawn, door(drawn, tmp_path)), drawn, drawn.frame)


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_arrays_and_frames_with_labels_beside_them(kind: Any, seed: int) -> None:
    drawn = Drawn.of(seed, 2 + seed % 2)
    for rows in (drawn.features, drawn.frame):
        model = kind(epsilon=8.0, random_state=3, bounds=(-1, 1), classes=list(drawn.declared))
        holds(model.fit(rows, drawn.labels), drawn, rows)
        holds(clone(model).set_params(classes=None).fit(rows, drawn.labels), drawn, rows)


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_declaration_changes_nothing(kind: Any, seed: int) -> None:
    drawn = Drawn.of(seed, 2 + seed % 2, absent=seed == 1)
    turned = Drawn(drawn.declared[::-1], drawn.truth, drawn.features, drawn.labels)
    one, two = (fitted(kind, each, each.rows) for each in (drawn, turned))
    if not hasattr(one, "predict_proba"):
        np.testing.assert_array_equal(one.decision_function(drawn.frame), two.decision_function(drawn.frame))
        return
    found, same = by_label(one, drawn.frame), by_label(two, drawn.frame)
    assert found.keys() == same.keys()
    for name, share in found.items():
        np.testing.assert_array_equal(share, same[name])


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_a_class_that_nobody_has_is_a_class(kind: Any) -> None:
    for seed in (0, 1, 2):
        drawn = Drawn.of(seed, 2, absent=True)
        model = fitted(kind, drawn, drawn.rows)
        assert len(model.classes_) == 3
        holds(model, drawn, drawn.frame)


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_loaded_and_pickled_models(kind: Any, seed: int, tmp_path: Path) -> None:
    drawn = Drawn.of(seed, 2 + seed // 2)
    model = fitted(kind, drawn, drawn.rows)
    model.release_.save(tmp_path / "m.holdfast")
    for other in (load_model(tmp_path / "m.holdfast"), pickle.loads(pickle.dumps(model))):
        holds(other, drawn, drawn.frame)
        np.testing.assert_array_equal(
            other.decision_function(drawn.frame), model.decision_function(drawn.frame)
        )
        assert other.summary() == model.summary()


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_searches(kind: Any) -> None:
    """Of settings that share their rows, and of whole models."""
    grids: list[dict[str, Any]] = [{"interactions": [True, False]}]
    if hasattr(kind(), "penalty"):
        grids = [{"penalty": [0.0, 1e-3]}, {"row_norm": [1.0, 1.5]}]
    for seed, grid in enumerate(grids):
        drawn = Drawn.of(seed, 2)
        search = PrivateSearch(kind(), grid, epsilon=20.0, random_state=1)
        holds(search.fit(open_table(drawn.rows, drawn.schema), target="y"), drawn, drawn.frame)


def test_one_model_of_each_class_and_no_privacy() -> None:
    settings: list[dict[str, Any]] = [{"multi_class": "one_vs_all"}, {}, {}]
    for seed, told in enumerate(settings):
        drawn = Drawn.of(seed, 3 if seed < 2 else 2)
        model = PrivateLogisticRegression(epsilon=8.0 if seed == 0 else np.inf, random_state=1, **told)
        holds(model.fit(open_table(drawn.rows, drawn.schema), target="y"), drawn, drawn.frame)


def test_intervals_speak_of_the_class_that_is_named() -> None:
    for declared in (("yes", "no"), ("no", "yes")):
        drawn = Drawn.of(0, 2)
        named = np.where(drawn.labels == drawn.truth[1], "yes", "no").astype(object)
        many = Drawn(declared, ("no", "yes"), np.tile(drawn.features, (8, 1)), np.tile(named, 8))
        model = PrivateLogisticRegression(epsilon=8.0, method="newton", random_state=1)
        model.fit(open_table(many.rows, many.schema), target="y")
        assert model.conf_int()["a"][0] > 0  # the further up a is, the likelier is "yes"
        assert model.coef_[0, 0] > 0


def test_a_stored_model_whose_classes_are_out_of_order_is_refused() -> None:
    drawn = Drawn.of(0, 2)
    value = fitted(PrivateLogisticRegression, drawn, drawn.rows).release_.value
    with pytest.raises(FormatError, match="sorted"):
        LinearModel.of_value({**value, "classes": list(value["classes"])[::-1]})
    assert isinstance(LinearModel.of_value(value), LinearModel)


@contextmanager
def extended(server: postgres.Server) -> Iterator[None]:
    """The library on the server, and gone afterwards."""
    able_to_build(server)
    install(server.url(user="postgres"))
    yield
    server.run(f"DROP SCHEMA IF EXISTS {SCHEMA_NAME} CASCADE")
    shutil.rmtree(library_folder(server), ignore_errors=True)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["auto", "sql", "extension"])
def test_on_a_server(way: str) -> None:
    """Rows that are pulled, and gradients and passes beside the rows."""
    server = postgres.required_server()
    settings: dict[str, dict[str, Any]] = {
        "auto": {"method": "output", "penalty": 1e-2},
        "sql": {"method": "noisy_gd"},
        "extension": {"method": "bolt_on", "radius": 5.0},
    }
    with extended(server) if way == "extension" else nullcontext():
        for seed, turn in ((0, 1), (2, -1), (2, 1), (3, -1)):
            drawn = Drawn.of(seed, 2)
            names = sorted(drawn.declared)[::turn]  # in both orders
            drawn = Drawn(tuple(names), drawn.truth, drawn.features, drawn.labels)
            server.load(drawn.rows, f"classes {way} {seed}")
            try:
                url = server.url(f"classes {way} {seed}", way=way)
                holds(fitted(PrivateLogisticRegression, drawn, url, **settings[way]), drawn, drawn.frame)
            finally:
                server.run(f'DROP TABLE "classes {way} {seed}"')
