"""method="gibbs": what it charges, what it refuses, what leaves, and that its claim is above the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from holdfast._arrays import Floats
from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.errors import ParameterError
from holdfast.learn import PrivateHuberRegression, PrivateLinearSVC, PrivateLogisticRegression
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Softmax
from holdfast.learn._sampling.potential import Potential
from holdfast.learn._sampling.rounds import SamplingPlan
from holdfast.learn._sampling.sampled_risk import SampledRisk
from holdfast.learn.methods.gibbs import METHOD
from holdfast.privacy import Account, Adjacency, ApproxDP, GaussianDP, PrivacyCurve, PureDP, WithSlack
from holdfast.privacy._mechanisms.gibbs import BoxExponential, RegularisedExponential
from holdfast.testing._learners import learner_rows

LIMIT = ApproxDP(1.0, 1e-5)
PROBLEM = Problem(loss=Logistic(), dimension=3)


def fitted(
    limit: PrivacyCurve = LIMIT, *, adjacency: str = "replace", currency: str | None = "basic", **options: Any
) -> Any:
    account = Account(limit, adjacency=adjacency, currency=currency, seed=1)
    rows = learner_rows(
        adjacency, seed=options.pop("table", 0), rows=options.pop("rows", 300), public_count=300
    )
    return METHOD.fit(rows, options.pop("problem", PROBLEM), account=account, **options), account


# What is charged.


def test_a_tenth_of_delta_is_the_samplers() -> None:
    fit, account = fitted(sampler="proximal")
    eta = fit.parameters["eta"]
    assert 0.99e-6 < (1 + math.e) * eta <= 1e-6
    (entry,) = account.journal.entries
    spent = account.spent().as_approximate()
    assert spent is not None
    assert float(spent[0]) <= 1.0 + 1e-12
    assert float(spent[0]) > 0.999
    curve = RegularisedExponential.from_json(entry.charge.mechanism).curve
    assert isinstance(curve, WithSlack)
    assert curve.tau == eta
    assert curve.delta(1.0) <= 1e-5


def test_a_direct_draw_has_all_of_it() -> None:
    fit, account = fitted()
    assert (fit.parameters["sampler"], fit.parameters["eta"], fit.parameters["rounds"]) == ("direct", 0.0, 0)
    curve = RegularisedExponential.from_json(account.journal.entries[0].charge.mechanism).curve
    assert 0.999e-5 < curve.delta(1.0) <= 1e-5


def test_the_rule_without_a_diameter_is_that_of_the_paper_at_its_own() -> None:
    plain, told = fitted()[0].parameters, fitted(diameter=math.sqrt(6.0))[0].parameters
    assert plain["k"] == pytest.approx(told["k"], rel=1e-9)
    assert plain["k"] * plain["mu"] == pytest.approx(1.0, rel=1e-9)
    penalised = fitted(problem=Problem(loss=Logistic(), dimension=3, penalty=0.2))[0].parameters
    assert penalised["mu"] == 0.2


def test_gaussian_limits() -> None:
    fit, account = fitted(GaussianDP(0.5), currency=None)
    assert fit.parameters["sampler"] == "direct"
    assert account.spent().as_gdp() <= 0.25
    with pytest.raises(ParameterError, match="no room for one"):
        fitted(GaussianDP(0.5), currency=None, sampler="proximal")
    fit, account = fitted(WithSlack(GaussianDP(0.5), 1e-8), currency=None, sampler="proximal")
    assert fit.parameters["eta"] == pytest.approx(1e-8, rel=1e-6)
    assert account.spent().total_variation <= 1e-8


# What is refused, and before anything is spent.


def refused(match: str, limit: PrivacyCurve = LIMIT, **options: Any) -> None:
    account = Account(
        limit, adjacency="replace", currency="pure" if isinstance(limit, PureDP) else "basic", seed=1
    )
    with pytest.raises(ParameterError, match=match):
        METHOD.fit(learner_rows("replace"), options.pop("problem", PROBLEM), account=account, **options)
    assert account.journal.entries == ()


class Ramp(Logistic):
    """1 where the margin is negative, falling to 0: bounded slope and curvature, and not convex."""

    def __init__(self) -> None:
        object.__setattr__(self, "name", "ramp")


def test_refusals() -> None:
    refused("convex", problem=Problem(loss=Ramp(), dimension=3))
    several: Any = Softmax(classes=3)
    refused("one prediction", problem=Problem(loss=several, dimension=3))
    refused("radius", problem=Problem(loss=Logistic(), dimension=3, radius=2.0))
    refused("arithmetic", arithmetic="strict")
    refused("diameter", diameter=-1.0)
    refused("delta", PureDP(1.0), sampler="proximal")
    refused("fewer columns", PureDP(1.0), diameter=1e6)


def sampled(eta: float) -> SampledRisk:
    plan = SamplingPlan(
        dimension=3, inverse_temperature=50.0, penalty=0.02, smoothness=0.2500001, total_variation=eta
    )
    potential = Potential(
        rows=learner_rows("replace"), problem=PROBLEM, inverse_temperature=50.0, penalty=0.02
    )
    return SampledRisk(potential=potential, plan=plan)


def test_a_cap_or_rounds_without_their_charge_are_refused() -> None:
    constants: dict[str, Any] = {"inverse_temperature": 50.0, "penalty": 0.02, "gradient_change": 0.01}
    account = Account(ApproxDP(5.0, 1e-3), adjacency="replace", currency="basic", seed=1)
    for charged in (None, 1e-9):
        with pytest.raises(ParameterError, match="rounds and caps"):
            account.release(RegularisedExponential(**constants, total_variation=charged), sampled(1e-8))
    with pytest.raises(ParameterError, match="penalty"):
        account.release(RegularisedExponential(**{**constants, "penalty": 0.01}), sampled(0.0))
    box = BoxExponential(inverse_temperature=50.0, half_side=1.0, gradient_change=0.01, dimension=3)
    with pytest.raises(ParameterError, match="half_side"):
        account.release(box, sampled(0.0))
    assert account.journal.entries == ()


# What leaves.


@pytest.mark.parametrize("limit", [LIMIT, PureDP(1.0)], ids=["delta", "pure"])
def test_nothing_but_the_weights_depends_on_the_rows(limit: PrivacyCurve) -> None:
    currency = "pure" if isinstance(limit, PureDP) else "basic"
    one, two = (fitted(limit, currency=currency, table=table)[0] for table in (0, 5))
    assert one.parameters == two.parameters
    assert (one.noise_std, one.assumptions, one.theorem) == (two.noise_std, two.assumptions, two.theorem)
    assert not np.array_equal(one.weights, two.weights)


def test_a_declared_largest_number_of_rows_sets_the_rounds() -> None:
    few = fitted(adjacency="add_remove", sampler="proximal", count_bound=300)[0]
    many = fitted(adjacency="add_remove", sampler="proximal", count_bound=30_000)[0]
    assert many.parameters["rounds"] > 10 * few.parameters["rounds"]
    assert "at most 30000 rows" in " ".join(map(str, many.assumptions))


@pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning")
def test_estimators_and_tables_and_their_summaries() -> None:
    random = np.random.Generator(np.random.PCG64(0))
    x = random.uniform(-0.5, 0.5, size=(3000, 2))
    y = np.where(x[:, 0] > 0, 1, 0)
    for kind in (PrivateLogisticRegression, PrivateLinearSVC):
        model = kind(epsilon=2.0, classes=[0, 1], method="gibbs").fit(x, y)
        assert np.mean(model.predict(x) == y) > 0.9
    told = model.summary()
    for word in ("k=", "mu=", "rounds=", "eta=", "Gopi"):
        assert word in told
    huber = PrivateHuberRegression(epsilon=2.0, target_bounds=(-1, 1), method="gibbs").fit(x, x[:, 0])
    assert np.mean(np.abs(huber.predict(x) - x[:, 0])) < 0.1
    schema = Schema([Numeric("a", -0.5, 0.5), Categorical("ill", ["no", "yes"])])
    table = open_table({"a": x[:, 0], "ill": np.where(y == 1, "yes", "no")}, schema)
    model = PrivateLogisticRegression(epsilon=2.0, method="gibbs").fit(table, target="ill")
    assert model.method_ == "gibbs"


# The claim and the truth.


def densities(change: float, *, k: float, penalty: float, at: Floats) -> tuple[Floats, Floats]:
    """Of neighbours in one dimension: nine rows in common, and one that is turned round; `change` is its weight."""
    z = np.outer(at, np.linspace(-1.0, 1.0, 9))
    common = np.logaddexp(0.0, -z).mean(axis=1) * (1 - change)
    laws = []
    for label in (-1.0, 1.0):
        exponent = -k * (common + change * np.logaddexp(0.0, -label * at) + 0.5 * penalty * at**2)
        law = np.exp(exponent - exponent.max())
        laws.append(law / (law.sum() * (at[1] - at[0])))
    return laws[0], laws[1]


@pytest.mark.parametrize("k", [5.0, 40.0, 400.0])
def test_neighbouring_densities_are_below_the_claim(k: float) -> None:
    """delta(epsilon) by quadrature; curved losses stay far below the claim, of which an eighth is refuted."""
    penalty, change = 0.02, 0.1
    at = np.linspace(-40.0, 40.0, 200_001)
    first, second = densities(change, k=k, penalty=penalty, at=at)
    mechanism = RegularisedExponential(
        inverse_temperature=k, penalty=penalty, gradient_change=2 * change, adjacency=Adjacency.replace
    )
    missed = 0
    for epsilon in (0.0, 0.2, 0.5, 1.0, 2.0):
        for one, two in ((first, second), (second, first)):
            true = float(np.sum(np.maximum(one - math.exp(epsilon) * two, 0.0)) * (at[1] - at[0]))
            assert true <= mechanism.curve.delta(epsilon) + 1e-9
            missed += true > GaussianDP(float(mechanism.curve.as_gdp()) ** 0.5 / 8).delta(epsilon)  # type: ignore[arg-type]
    assert missed > 0


def test_linear_losses_reach_the_claim() -> None:
    """Without curvature both densities are normal: the pair that theorem 1 of Gopi et al. compares all others with."""
    k, penalty, change = 40.0, 0.5, 0.1
    at = np.linspace(-8.0, 8.0, 200_001)
    laws = []
    for slope in (-change / 2, change / 2):
        exponent = -k * (slope * at + 0.5 * penalty * at**2)
        law = np.exp(exponent - exponent.max())
        laws.append(law / (law.sum() * (at[1] - at[0])))
    mechanism = RegularisedExponential(
        inverse_temperature=k, penalty=penalty, gradient_change=change, adjacency=Adjacency.replace
    )
    mu = float(mechanism.curve.as_gdp()) ** 0.5  # type: ignore[arg-type]
    for epsilon in (0.0, 0.5, 1.0):
        true = float(np.sum(np.maximum(laws[0] - math.exp(epsilon) * laws[1], 0.0)) * (at[1] - at[0]))
        assert true <= mechanism.curve.delta(epsilon) + 1e-7
        assert true > GaussianDP(0.98 * mu).delta(epsilon)
