"""Whatever people hand over as a model and as labels: every entry takes it, or refuses it with a word (finding A7)."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from holdfast.attack import Target, invertibility, membership
from holdfast.attack._models.fitted import columns_read
from holdfast.data import Categorical, Numeric, Schema
from holdfast.data._encode import Encoder
from holdfast.errors import HoldfastError
from holdfast.learn import PrivateLogisticRegression, pipeline_release
from tests.attack.attributes.attribute_people import risk_of

DRAW = np.random.default_rng(0)
X = DRAW.integers(0, 3, size=(200, 2)).astype(float)
Y = (X[:, 0] + 0.5 * DRAW.normal(size=200) > 1).astype(int)
TEXTS = np.where(Y == 1, "yes", "no")
WEIGHTS = np.array([2.0, 0.1])


def chance(rows: Any) -> Any:
    return 1.0 / (1.0 + np.exp(2.0 - np.asarray(rows) @ WEIGHTS))


class Predictor:
    """As networks of some libraries are: `predict` gives probabilities, and nobody says of what."""

    def predict(self, rows: Any) -> Any:
        return np.column_stack([1.0 - chance(rows), chance(rows)]).astype(np.float32)


def by_membership(model: Any, rows: Any, labels: Any, **told: Any) -> float:
    report = membership(
        Target.of(model, **told),
        members=(rows[:100], labels[:100]),
        non_members=(rows[100:], labels[100:]),
        attacks="loss",
    )
    return float(report["loss"].auc)


def by_invertibility(model: Any, rows: Any, labels: Any, **told: Any) -> float:
    return invertibility(Target.of(model, **told), rows, random_state=0).columns[0].advantage.value


def by_attributes(model: Any, rows: Any, labels: Any, **told: Any) -> float:
    people = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.asarray(labels)})
    as_numbers = Target.of(model, prepare=lambda asked: np.asarray(asked, dtype=np.float64), **told)
    risk = risk_of(
        as_numbers,
        people[:100],
        fresh=people[100:],
        sensitive="a",
        target="y",
        attacks=["bayes"],
        random_state=0,
        own=[20],
        disclosure=False,
    )["a"]
    return float(risk.outcome("bayes").accuracy())


ENTRIES = (by_membership, by_invertibility, by_attributes)


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stands for PyTorch: its functions take its tensors and nothing else."""

    class NoGrad:
        def __enter__(self) -> None: ...

        def __exit__(self, *error: object) -> None: ...

    class Tensor:
        def __init__(self, values: Any) -> None:
            self.values = np.asarray(values, dtype=np.float64)

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return self.values.astype(dtype or np.float64)

        def __len__(self) -> int:
            return len(self.values)

    made = ModuleType("torch")
    vars(made).update(
        no_grad=NoGrad,
        Tensor=Tensor,
        get_default_dtype=lambda: np.float32,
        as_tensor=lambda values, dtype=None, device=None: Tensor(values),
    )
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_function_of_tensors_is_handed_tensors(entry: Any, torch: Any) -> None:
    def of_tensors(rows: Any) -> Any:
        if not isinstance(rows, torch.Tensor):
            raise TypeError("unsupported operand type(s) for @: 'numpy.ndarray' and 'Tensor'")
        return torch.Tensor(chance(rows.values))

    plain = entry(chance, X, Y, classes=[0, 1])
    assert entry(of_tensors, X, Y, classes=[0, 1]) == plain

    def logit(rows: Any) -> Any:
        p = of_tensors(rows).values
        return torch.Tensor(np.log(p / (1 - p)))

    assert entry(Target.of_logits(logit, classes=[0, 1]), X, Y) == pytest.approx(plain)


@pytest.mark.parametrize("entry", ENTRIES)
def test_jax_functions_and_arrays(entry: Any) -> None:
    jax = pytest.importorskip("jax", reason="an optional extra (gan) that the test environment may lack")
    logit = jax.jit(lambda rows: rows @ WEIGHTS - 2.0)
    plain = entry(chance, X, Y, classes=[0, 1])
    rows, labels = jax.numpy.asarray(X), jax.numpy.asarray(Y)
    found = entry(lambda rows: jax.nn.sigmoid(logit(rows)), rows, labels, classes=[0, 1])
    assert found == pytest.approx(plain, abs=1e-3)
    assert entry(Target.of_logits(logit, classes=[0, 1]), rows, labels) == pytest.approx(plain, abs=1e-3)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("labels", [Y, Y + 1, TEXTS, Y.astype(bool)], ids=["01", "12", "texts", "truth"])
def test_any_labels_and_any_predictor(entry: Any, labels: Any) -> None:
    names = np.unique(labels).tolist()
    plain = entry(chance, X, Y, classes=[0, 1])
    assert entry(chance, X, labels, classes=names) == plain
    assert entry(Predictor(), X, labels, classes=names) == pytest.approx(plain, abs=1e-3)
    entry(LogisticRegression().fit(X, labels), X, labels)


BAD: list[tuple[Any, Any, Any, dict[str, Any], str]] = [
    (lambda rows: np.full(len(rows), np.nan), X, Y, {"classes": [0, 1]}, "NaN or infinite"),
    (lambda rows: 9.0 * np.asarray(rows)[:, 0], X, Y, {"classes": [0, 1]}, "Target.of_logits"),
    (Predictor(), X, Y, {}, "classes="),
    (
        chance,
        X,
        np.where(np.arange(200) == 3, np.nan, Y),
        {"classes": [0, 1]},
        r"missing (labels|values) \(NaN",
    ),
    (chance, X, np.array([None, *TEXTS[1:]]), {"classes": ["no", "yes"]}, r"missing (labels|values) \(NaN"),
    (lambda rows: rows["a"], X, Y, {"classes": [0, 1]}, r"and failed \(IndexError\)"),
    (chance, X, TEXTS, {"classes": [0, 1]}, "does not know"),
]


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(("model", "rows", "labels", "told", "words"), BAD)
def test_what_cannot_be_attacked_is_refused_with_a_word(
    entry: Any, model: Any, rows: Any, labels: Any, told: Any, words: str
) -> None:
    if entry is by_invertibility and (labels is not Y or "classes=" in words):
        pytest.skip("it looks at no labels, and shows the numbers that there are")
    if entry is by_attributes and "missing" in words:
        assert entry(model, rows, labels, **told) >= 0.0  # left out, as a fit leaves them out
        return
    with pytest.raises(HoldfastError, match=words):
        entry(model, rows, labels, **told)


def test_rows_with_nan_are_named_where_a_model_refuses_them() -> None:
    rows = X.copy()
    rows[::5, 0] = np.nan
    model = LogisticRegression().fit(X, Y)
    for entry in (by_membership, by_invertibility):
        with pytest.raises(HoldfastError, match="X holds NaN"):
            entry(model, rows, Y)
    assert (
        by_membership(lambda some: chance(np.nan_to_num(some)), rows, Y, classes=[0, 1]) > 0
    )  # its own business


def test_lists_will_do() -> None:
    assert by_invertibility(chance, X.tolist(), Y, classes=[0, 1]) == by_invertibility(
        chance, X, Y, classes=[0, 1]
    )


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_brings_its_promise_its_columns_and_its_schema(tmp_path: Any) -> None:
    schema = Schema([Numeric("a", 0, 2), Numeric("b", 0, 2), Categorical("y", ["no", "yes"])])
    private = PrivateLogisticRegression(epsilon=4.0, delta=1e-4, classes=["no", "yes"])
    pipeline = make_pipeline(Encoder(schema, ["a", "b"], intercept=False), private)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    pipeline.fit(frame, TEXTS)
    target = Target.of(pipeline)
    assert target.guarantee == pipeline_release(pipeline).guarantee
    assert columns_read(target.model) == ("a", "b")
    people = frame.assign(y=TEXTS)
    report = risk_of(
        pipeline,
        people[:100],
        fresh=people[100:],
        sensitive="a",
        target="y",
        attacks=["bayes"],
        own=[20],
        disclosure=False,
        random_state=0,
    )
    assert report["a"].proved is not None
    # What another step learned nobody paid for: nothing is promised about the whole.
    foreign = make_pipeline(StandardScaler(), PrivateLogisticRegression(classes=["no", "yes"], delta=1e-4))
    assert Target.of(foreign.fit(X, TEXTS)).guarantee is None
