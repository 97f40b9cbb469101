from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.errors import ParameterError
from holdfast.learn._forecast import forecast, noisy_accuracy
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.objective import METHOD as OBJECTIVE
from holdfast.privacy import Account, Adjacency, PureDP

objective_perturbation = OBJECTIVE.fit

SIZE = ("--rows", "32561", "--columns", "108")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plan", *arguments])


def test_public_quantities_give_a_table() -> None:
    shown = run(*SIZE, "--accuracy", "0.85")
    assert shown.exit_code == 0, shown.output
    assert "rule of thumb, not a promise" in shown.output
    assert len([line for line in shown.output.splitlines() if "noisy_gd" in line]) == 5


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_more_epsilon_is_less_noise_and_more_accuracy(delta: str) -> None:
    shown = run(*SIZE, "--delta", delta, "--accuracy", "0.85", "--json")
    assert shown.exit_code == 0, shown.output
    made = json.loads(shown.output)
    assert made["source"] == "public quantities"
    noise = [one["prediction_noise"] for one in made["plan"]]
    accuracy = [one["accuracy"] for one in made["plan"]]
    assert noise == sorted(noise, reverse=True)
    assert accuracy == sorted(accuracy)
    assert 0.5 < accuracy[0] < accuracy[-1] <= 0.85 + 1e-6
    assert {one["method"] for one in made["plan"]} == {"objective" if delta == "0" else "noisy_gd"}


def test_the_forecast_is_as_large_as_the_noise_that_is_drawn() -> None:
    """Isotropic rows without signal: the minimiser is noise alone, privacy's and the sample's."""
    rows, columns, epsilon = 4000, 8, 1.0
    (told,) = forecast(rows=rows, columns=columns, epsilons=[epsilon], delta=0.0)
    source = np.random.default_rng(0)
    x = source.normal(size=(rows, columns))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = source.choice([-1.0, 1.0], size=rows)
    examples = ArrayExamples(features=x, labels=y, adjacency=Adjacency.replace, public_count=rows)
    problem = Problem(loss=Logistic(), dimension=columns)
    drawn = [
        objective_perturbation(
            examples, problem, account=Account(PureDP(epsilon), adjacency="replace", seed=seed)
        )
        for seed in range(40)
    ]
    spread = float(np.std([fit.weights for fit in drawn], axis=0).mean())
    assert spread == pytest.approx(told.coefficient_noise, rel=0.25)


def test_sampling_error_is_that_of_maximum_likelihood() -> None:
    (told,) = forecast(rows=10_000, columns=25, epsilons=[1.0], delta=1e-6)
    assert told.sampling_error == pytest.approx(math.sqrt(4 * 25 / 10_000))
    (replaced,) = forecast(rows=10_000, columns=25, epsilons=[1.0], delta=1e-6, adjacency="replace")
    (zeroed,) = forecast(rows=10_000, columns=25, epsilons=[1.0], delta=1e-6, adjacency="zero_out")
    assert replaced.coefficient_noise == pytest.approx(2 * zeroed.coefficient_noise, rel=1e-6)


def test_verdicts() -> None:
    words = [one.verdict for one in forecast(rows=5000, columns=20, epsilons=[0.02, 0.2, 50.0], delta=1e-6)]
    assert words == ["noise drowns the signal", "noise costs accuracy", "little beyond the sampling error"]


def test_accuracy_falls_with_noise() -> None:
    fallen = [noisy_accuracy(0.8, noise=noise) for noise in (0.0, 0.5, 1.0, 5.0)]
    assert fallen == sorted(fallen, reverse=True)
    assert fallen[0] == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((), "public-data"),
        (("--rows", "100"), "columns"),
        ((*SIZE, "--epsilon", "0"), "epsilon"),
        ((*SIZE, "--delta", "0.5"), "delta"),
        ((*SIZE, "--accuracy", "0.4"), "accuracy"),
        (("--rows", "0", "--columns", "3"), "rows"),
        (("--public-data", __file__), "schema"),
    ],
)
def test_bad_usage_exits_with_2(arguments: tuple[str, ...], match: str) -> None:
    shown = run(*arguments)
    assert shown.exit_code == 2, shown.output
    assert match in shown.output
    assert "Traceback" not in shown.output


def _public(folder: Path) -> tuple[str, ...]:
    source = np.random.default_rng(0)
    age, smoker = source.integers(18, 90, size=3000), source.choice(["yes", "no"], size=3000)
    ill = np.where(age + 20 * (smoker == "yes") + 5 * source.normal(size=3000) > 60, "ill", "well")
    lines = ["age,smoker,state", *(f"{a},{s},{i}" for a, s, i in zip(age, smoker, ill, strict=True))]
    data, schema = folder / "public.csv", folder / "public.toml"
    data.write_text("\n".join(lines) + "\n")
    schema.write_text(
        'format = "holdfast-schema/1"\nadjacency = "replace"\n'
        '[[columns]]\nname = "age"\nkind = "numeric"\nlow = 0.0\nhigh = 100.0\n'
        '[[columns]]\nname = "smoker"\nkind = "categorical"\ncategories = ["yes", "no"]\n'
        '[[columns]]\nname = "state"\nkind = "categorical"\ncategories = ["ill", "well"]\n'
    )
    return ("--public-data", str(data), "--schema", str(schema), "--target", "state")


def test_public_data_are_tried_and_said_not_to_be_protected(tmp_path: Path) -> None:
    told = (*_public(tmp_path), "--epsilon", "0.01", "--epsilon", "4", "--fits", "2")
    shown = run(*told)
    assert shown.exit_code == 0, shown.output
    assert "NOT PRIVATE for public.csv" in shown.output
    made: Any = json.loads(run(*told, "--json").output)
    by = {one["epsilon"]: one["accuracy"] for one in made["plan"]}
    assert "without privacy" in made["source"]
    assert by[4.0] > 0.8
    assert by["inf"] >= by[4.0] - 0.05
    assert by[0.01] < by["inf"]


def test_public_data_need_known_columns(tmp_path: Path) -> None:
    told = _public(tmp_path)
    assert run(*told[:-1], "age2").exit_code == 2
    (tmp_path / "public.csv").write_text("age\n3\n")
    shown = run(*told)
    assert shown.exit_code == 2
    assert "smoker" in shown.output


def test_forecast_refuses_bad_sizes() -> None:
    with pytest.raises(ParameterError, match="columns"):
        forecast(rows=10, columns=0, epsilons=[1.0], delta=0.0)


def test_a_synthetic_table_is_planned_from_its_schema(tmp_path: Path) -> None:
    from holdfast.data import Categorical, Schema

    Schema([Categorical(name, ["x", "y"]) for name in "abc"]).save(tmp_path / "s.toml")
    asked = ("--synth", "--schema", str(tmp_path / "s.toml"))
    shown = run(*asked, "--rows", "1000")
    assert shown.exit_code == 0, shown.output
    assert "public quantities only" in shown.output
    made = json.loads(run(*asked, "--rows", "1000", "--json").output)["plan"]
    assert len(made) == 5
    assert run(*asked).exit_code == 2
