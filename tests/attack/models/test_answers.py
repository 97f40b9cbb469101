"""What a model may answer to an attack, and what is refused with a word about the way out (finding A7)."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.attack import Records, Target, membership
from holdfast.audit import MembershipDesign, membership_game
from holdfast.errors import HoldfastError, ParameterError
from holdfast.privacy import Adjacency, Guarantee, PrivacyUnit, PureDP

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 3))
Y = RANDOM.integers(0, 2, 80)


def sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-values)))


def attacked(model: Any, labels: Any = Y, features: Any = X, *, classes: Any = None, **more: Any) -> Any:
    half = len(Y) // 2
    return membership(
        Target.of(model, classes=classes),
        members=(features[:half], labels[:half]),
        non_members=(features[half:], labels[half:]),
        attacks="loss",
        **more,
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("share", [1, 80])
def test_numbers_that_are_none_are_refused(bad: float, share: int) -> None:
    def broken(rows: Any) -> Any:
        chance = sigmoid(rows[:, 0])
        chance[:share] = bad
        return chance

    with pytest.raises(ParameterError, match="NaN or infinite"):
        attacked(broken, classes=[0, 1])
    with pytest.raises(ParameterError, match="NaN or infinite"):
        attacked(broken)  # a regression


@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: np.column_stack([rows[:, 0], rows[:, 1]]) * 5,
        lambda rows: rows[:, 0] * 5,
        lambda rows: np.full((len(rows), 2), 0.9),
        lambda rows: np.column_stack([1.5 - sigmoid(rows[:, 0]), sigmoid(rows[:, 0]) - 0.5]),
    ],
    ids=["logits", "one logit", "sums to 1.8", "outside"],
)
def test_what_is_no_probability_is_refused(answer: Any) -> None:
    with pytest.raises(ParameterError, match="softmax"):
        attacked(answer, classes=[0, 1])


@pytest.mark.parametrize(
    ("labels", "classes", "words"),
    [
        (np.where(Y == 1, "yes", "no"), [0, 1], "y holds texts, the classes are numbers"),
        (Y + 1, [0, 1], "its classes are 0, 1"),
        (Y, ["no", "yes"], "y holds numbers, the classes are texts"),
    ],
)
def test_labels_that_the_model_does_not_know_are_named_as_such(labels: Any, classes: Any, words: str) -> None:
    with pytest.raises(HoldfastError, match=words):
        attacked(lambda rows: sigmoid(rows[:, 0]), labels, classes=classes)


@pytest.mark.parametrize("labels", [Y, Y + 1, np.where(Y == 1, "yes", "no"), Y.astype(bool)])
def test_any_two_labels_will_do(labels: Any) -> None:
    names = np.unique(labels).tolist()
    plain = attacked(lambda rows: sigmoid(rows[:, 0]), Y, classes=[0, 1])["loss"].auc
    assert attacked(lambda rows: sigmoid(rows[:, 0]), labels, classes=names)["loss"].auc == plain
    one_column = attacked(lambda rows: sigmoid(rows[:, :1]), labels, classes=names)
    assert one_column["loss"].auc == plain


def test_text_labels_without_classes_are_refused_without_quoting_one() -> None:
    names = np.where(Y == 1, "Frau Muster", "Herr Muster")
    with pytest.raises(HoldfastError, match="classes=") as caught:
        attacked(lambda rows: sigmoid(rows[:, 0]), names)
    assert "Muster" not in str(caught.value)


def test_two_columns_without_classes_point_to_classes() -> None:
    with pytest.raises(ParameterError, match="classes="):
        attacked(lambda rows: np.column_stack([sigmoid(rows[:, 0])] * 2))


class Tensor:
    """As a tensor of another library is: no array before it forgets its gradient and leaves its device."""

    def __init__(self, values: Any, *, plain: bool = False) -> None:
        self.values, self.plain, self.shape = np.asarray(values), plain, np.shape(values)

    def detach(self) -> Tensor:
        return Tensor(self.values, plain=True)

    def cpu(self) -> Tensor:
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if not self.plain:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self.values.astype(dtype)


def test_tensors_are_welcome() -> None:
    plain = attacked(lambda rows: sigmoid(rows[:, 0]), classes=[0, 1])["loss"].auc
    half = len(Y) // 2
    again = membership(
        Target.of(lambda rows: Tensor(sigmoid(np.asarray(rows)[:, 0])), classes=[0, 1]),
        attacks="loss",
        members=(Tensor(X[:half]), Tensor(Y[:half])),
        non_members=(Tensor(X[half:]), Tensor(Y[half:])),
    )
    assert again["loss"].auc == plain


def test_a_torch_module_is_handed_tensors_in_evaluation_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = ModuleType("torch")

    class NoGrad:
        def __enter__(self) -> None: ...

        def __exit__(self, *error: object) -> None: ...

    vars(torch).update(
        no_grad=NoGrad, zeros=np.zeros, as_tensor=lambda values, dtype, device: Tensor(values, plain=True)
    )
    monkeypatch.setitem(sys.modules, "torch", torch)

    class Module:
        training = True

        def parameters(self) -> Any:
            return iter([type("Weight", (), {"dtype": float, "device": "cpu"})()])

        def train(self, mode: bool = True) -> None:
            self.training = mode

        def eval(self) -> None:
            self.training = False

        def __call__(self, rows: Tensor) -> Tensor:
            assert isinstance(rows, Tensor)
            assert not self.training
            chance = sigmoid(rows.values[:, 0])
            return Tensor(np.column_stack([1 - chance, chance]))

    Module.__module__ = "torch.nn.modules.module"
    module = Module()
    plain = attacked(lambda rows: sigmoid(rows[:, 0]), classes=[0, 1])["loss"].auc
    assert attacked(module, classes=[0, 1])["loss"].auc == pytest.approx(plain)
    assert module.training  # as it was
    with pytest.raises(ParameterError, match="arrays of numbers"):
        attacked(lambda rows: object(), classes=[0, 1])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=80, max_size=80))
def test_any_answer_is_scored_or_refused(answer: list[float]) -> None:
    try:
        report = attacked(lambda rows: np.array(answer), classes=[0, 1])
    except HoldfastError:
        return
    assert all(-1e-3 <= value <= 1 + 1e-3 for value in answer)
    assert 0 <= report["loss"].auc <= 1


def users(epsilon: float = 1.0) -> Guarantee:
    return Guarantee(
        curve=PureDP(epsilon),
        adjacency=Adjacency.replace,
        unit=PrivacyUnit("patient", max_rows=5),
        theorem="stated",
    )


def test_rows_are_not_held_against_a_promise_about_users() -> None:
    report = attacked(lambda rows: sigmoid(rows[:, 0]), classes=[0, 1], proved=users())
    assert report.verdict() == "unclaimed"
    assert "not compared: the promise is about one patient" in report.summary()
    with pytest.raises(ParameterError, match="not compared"):
        report["loss"].verdict(users())
    with pytest.raises(ParameterError, match="one row per unit"):
        membership_game(lambda data: data, (X, Y), claim=users(), design=MembershipDesign(attacks="loss"))


def test_logits_are_taken_where_they_are_called_so() -> None:
    """Their softmax, of one number or of one per class, is what the same probabilities would be."""
    rows, labels = np.linspace(-2, 2, 9)[:, None], np.array(["a", "b", "a"] * 3)
    records = Records(features=rows, labels=labels)
    sure = Target.of(lambda X: 1.0 / (1.0 + np.exp(-3.0 * X[:, 0])), classes=["a", "b"])
    for logits in (lambda X: 3.0 * X[:, 0], lambda X: np.column_stack([-1.5 * X[:, 0], 1.5 * X[:, 0]])):
        found = Target.of_logits(logits, classes=["a", "b"])
        assert np.allclose(found.log_odds(records), sure.log_odds(records))
    with pytest.raises(ParameterError, match="NaN or infinite"):
        Target.of_logits(lambda X: np.full(len(X), np.nan), classes=["a", "b"]).probabilities(records)
    with pytest.raises(ParameterError, match="classes must be two or more"):
        Target.of_logits(lambda X: X, classes=["a"])
    with pytest.raises(ParameterError, match="attack Target"):
        Target.of(lambda X: 3.0 * X[:, 0], classes=["a", "b"]).probabilities(records)
    with pytest.raises(ParameterError, match="hand over an object with predict and classes_"):
        Target.of(lambda X: labels[: len(X)], classes=["a", "b"]).probabilities(records)
