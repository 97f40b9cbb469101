from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from holdfast._cli.app import app
from holdfast.audit import ManyRuns, OneRun, Sequential, Transcript, audit
from holdfast.audit._canaries import HadamardCanaries
from holdfast.audit._designs.named import DESIGNS, named_design
from holdfast.errors import ParameterError
from holdfast.privacy import Adjacency, ApproxDP, GaussianDP, Guarantee, PrivacyUnit, PureDP

ROWS = np.zeros((20, 256))


def noisy_sum(sigma: float, seed: int = 0) -> Any:
    """A foreign release: the sum of rows clipped to norm 1, with normal noise of this deviation."""
    draw = np.random.default_rng(seed)

    def train(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        norms = np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
        return np.asarray((rows / norms).sum(axis=0) + sigma * draw.normal(size=rows.shape[1]))

    return train


def promise(mu: float, adjacency: Adjacency) -> Guarantee:
    return Guarantee(curve=GaussianDP(mu), adjacency=adjacency, unit=PrivacyUnit(), theorem="a test")


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("bound", ["path", "geometric", "fixed", "gaussian"])
def test_one_run_refutes_a_false_claim_and_spares_a_true_one(adjacency: Adjacency, bound: Any) -> None:
    factor = 2.0 if adjacency is Adjacency.replace else 1.0
    sigma = 0.5
    settings: dict[str, Any] = {"design": OneRun(canaries=200, bound=bound), "delta": 1e-5, "seed": 3}
    honest = promise(factor / sigma, adjacency)
    assert audit(noisy_sum(sigma), ROWS, claim=honest, **settings).verdict(honest) == "consistent"
    false = promise(0.05 * factor / sigma, adjacency)
    result = audit(noisy_sum(sigma), ROWS, claim=false, **settings)
    assert result.verdict(false) == "refuted"
    assert result.adjacency is adjacency
    assert result.coins == "holdfast"
    assert 0 < result.epsilon_estimate() < honest.epsilon(1e-5)
    assert result.epsilon_lower() == (0.0 if bound == "gaussian" else result.epsilon_estimate())


@pytest.mark.parametrize(
    "design",
    [ManyRuns(runs=400, bound="clopper-pearson"), ManyRuns(runs=400, bound="gaussian"), Sequential(runs=400)],
    ids=["multi-run-clopper-pearson", "multi-run-gaussian", "sequential-None"],
)
def test_many_runs_refute_and_spare(design: Any) -> None:
    true, false = PureDP(8.0), PureDP(0.2)
    train = noisy_sum(0.5)
    for claim, verdict in ((false, "refuted"), (true, "consistent")):
        result = audit(
            train,
            ROWS,
            claim=claim,
            adjacency="add_remove",
            design=design,
            delta=1e-4,
            seed=5,
        )
        assert result.verdict(claim) == verdict


def test_a_credible_bound_never_refutes() -> None:
    claim = PureDP(0.2)
    result = audit(
        noisy_sum(0.5), ROWS, claim=claim, adjacency="add_remove", design=ManyRuns(bound="bayesian"), seed=5
    )
    assert result.verdict(claim) == "warning"


def test_sequential_stops_early() -> None:
    trained = 0

    def leaky(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal trained
        trained += 1
        return np.asarray(rows.sum(axis=0))

    audit(leaky, ROWS, claim=PureDP(0.5), adjacency="add_remove", design=Sequential(runs=1000), seed=1)
    assert trained < 60


def test_a_scikit_learn_model_is_audited_as_it_is() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(50, 128)) / 20, rng.integers(0, 2, 50)
    claim = ApproxDP(1.0, 1e-5)
    for adjacency in ("replace", "add_remove"):
        result = audit(
            lambda data: LogisticRegression(C=10.0).fit(*data),
            (features, labels),
            claim=claim,
            adjacency=adjacency,
            design=OneRun(canaries=100, classes=[0, 1]),
            seed=2,
        )
        assert result.verdict(claim) == "refuted"
        assert result.scores["auc"] > 0.8


def test_models_without_coefficients_are_judged_by_probability_or_an_own_score() -> None:
    class Memory:
        """Remembers every record."""

        classes_ = np.array(["no", "yes"])

        def __init__(self, data: tuple[NDArray[np.float64], NDArray[Any]]) -> None:
            self.known = {row.tobytes(): label for row, label in zip(*data, strict=True)}

        def predict_proba(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
            chance = np.array(
                [{"yes": 0.99, "no": 0.01}.get(self.known.get(row.tobytes(), ""), 0.5) for row in rows]
            )
            return np.column_stack([1 - chance, chance])

    data = (np.ones((4, 64)), np.array(["no", "yes", "no", "yes"]))
    claim = PureDP(2.0)
    settings: dict[str, Any] = {"claim": claim, "adjacency": "add_remove", "seed": 1}
    design = OneRun(canaries=60, classes=["no", "yes"])
    assert audit(Memory, data, design=design, **settings).verdict(claim) == "refuted"
    blind = audit(Memory, data, design=replace(design, score=lambda model: np.zeros(60)), **settings)
    assert blind.verdict(claim) == "consistent"
    assert "own score" in blind.summary()


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"design": "two-run"}, "design"),
        ({"adjacency": None}, "adjacency"),
        ({"claim": GaussianDP(1.0)}, "delta"),
        ({"design": OneRun(canaries=20, score=lambda output: [1.0])}, "score"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], word: str) -> None:
    whole: dict[str, Any] = {
        "claim": PureDP(1.0),
        "adjacency": "add_remove",
        "design": OneRun(canaries=20),
        "seed": 0,
    } | settings
    with pytest.raises(ParameterError, match=word):
        audit(noisy_sum(1.0), np.zeros((3, 32)), **whole)


OWN = HadamardCanaries(count=16, dimension=16, row_norm=1.0, seed=1)


@pytest.mark.parametrize(
    ("design", "settings", "word"),
    [
        (OneRun, {"bound": "best"}, "bound"),
        (OneRun, {"bound": "clopper-pearson"}, "bound"),
        (OneRun, {"canaries": 20, "guesses": 0}, "guesses"),
        (OneRun, {"canaries": 20, "guesses": 99}, "guesses"),
        (OneRun, {"canaries": OWN, "guesses": 17}, "guesses"),
        (OneRun, {"canaries": 0}, "canaries"),
        (OneRun, {"canaries": OWN, "row_norm": 2.0}, "row_norm"),
        (OneRun, {"row_norm": 0.0}, "row_norm"),
        (OneRun, {"confidence": 1.0}, "confidence"),
        (ManyRuns, {"runs": 3}, "runs"),
        (ManyRuns, {"bound": "path"}, "bound"),
        (ManyRuns, {"canary": OWN}, "canary"),
        (Sequential, {"runs": 0}, "runs"),
        (Sequential, {"confidence": 0.5}, "confidence"),
    ],
)
def test_designs_check_themselves_where_they_are_made(
    design: Any, settings: dict[str, Any], word: str
) -> None:
    with pytest.raises(ParameterError, match=f"^{word} must be"):
        design(**settings)


@pytest.mark.parametrize(
    ("design", "stranger"),
    [(OneRun, "runs"), (ManyRuns, "guesses"), (Sequential, "bound"), (Transcript, "canaries")],
)
def test_what_another_design_takes_is_no_parameter_of_this_one(design: Any, stranger: str) -> None:
    with pytest.raises(TypeError, match=stranger):
        design(**{stranger: 20})
    name = next(name for name, kind in DESIGNS.items() if kind is design)
    with pytest.raises(ParameterError, match=f"^{stranger} must be left out for {name}"):
        named_design(name, {stranger: 20})


def test_labels_are_never_read_from_the_data() -> None:
    with pytest.raises(ParameterError, match="classes"):
        audit(lambda data: data, (np.zeros((2, 4)), np.array([0, 1])), claim=PureDP(1.0), adjacency="replace")
    with pytest.raises(ParameterError, match="null"):
        audit(
            lambda data: data,
            (np.zeros((2, 4)), np.array([0, 1])),
            claim=PureDP(1.0),
            adjacency="zero_out",
            design=OneRun(canaries=2, classes=[0, 1]),
        )


def test_the_command_exits_with_1_when_refuted(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "rows.npy", np.zeros((3, 64)))
    (tmp_path / "foreign_training.py").write_text("def train(rows):\n    return rows.sum(axis=0)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = [
        "audit",
        "foreign_training:train",
        "--data",
        "rows.npy",
        "--adjacency",
        "add_remove",
        "--canaries",
        "40",
    ]
    false = CliRunner().invoke(app, [*arguments, "--epsilon", "1", "--plot", "audit.svg"])
    assert false.exit_code == 1
    assert "refuted" in false.output
    assert (tmp_path / "audit.svg").exists()
    huge = CliRunner().invoke(app, [*arguments, "--epsilon", "50", "--json"])
    assert huge.exit_code == 0
    assert (
        CliRunner().invoke(app, ["audit", "nowhere:train", *arguments[2:], "--epsilon", "1"]).exit_code == 2
    )


def test_rows_are_real_unless_there_are_none_or_somebody_declares_them() -> None:
    settings: dict[str, Any] = {
        "claim": PureDP(1.0),
        "adjacency": "add_remove",
        "design": OneRun(canaries=16),
        "seed": 1,
    }
    assert audit(noisy_sum(1.0), np.zeros((1, 16)), **settings).rows == "real"
    assert audit(noisy_sum(1.0), np.zeros((0, 16)), **settings).rows == "generated"
    assert audit(noisy_sum(1.0), np.zeros((1, 16)), rows="public", **settings).rows == "public"
    # Canaries of one's own may be anybody's records.
    own = OneRun(canaries=OWN)
    assert audit(noisy_sum(1.0), np.zeros((0, 16)), **settings | {"design": own}).rows == "real"
    with pytest.raises(ParameterError, match="rows"):
        audit(noisy_sum(1.0), np.zeros((1, 16)), rows="mine", **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "design",
    [
        OneRun(canaries=200, bound="gaussian", score=lambda given: given),
        ManyRuns(runs=200, bound="gaussian", score=lambda given: given),
    ],
    ids=["one-run", "multi-run"],
)
def test_the_test_of_a_curve_is_valid_where_its_epsilon_is_an_estimate(design: Any) -> None:
    """Randomised response keeps its promise to the letter: the Gaussian audit may refute it in one run of twenty."""
    refuted = 0
    for seed in range(6):
        coins = np.random.default_rng(1000 + seed)  # not the stream of the audit's own coins

        def answers(rows: NDArray[np.float64], coins: Any = coins) -> NDArray[np.float64]:
            held = rows.any(axis=1)
            return np.where(coins.random(held.size) < 1 / (1 + np.exp(-1.0)), held, ~held).astype(float)

        result = audit(
            answers,
            np.zeros((0, 1)),
            claim=PureDP(1.0),
            design=design,
            adjacency="zero_out",
            delta=1e-5,
            seed=seed,
        )
        assert not result.valid
        assert result.epsilon_lower() == 0.0
        refuted += result.verdict(PureDP(1.0)) == "refuted"
    assert refuted <= 2
