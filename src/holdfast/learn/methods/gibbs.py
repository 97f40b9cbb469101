"""The regularised exponential mechanism: one sample from exp(-k [f + (mu/2)|w|^2]), by a certified sampler.

Gopi, Lee and Liu 2022, "Private convex optimization via exponential mechanism", theorem 4.1: the trade-off of a
Gaussian mechanism, for convex Lipschitz losses. The theorem is about the density; the total variation distance of a
sampler from it is charged as well (soundness, sections 11 and 21). Without delta: the exponential mechanism on a box,
by an exact draw or not at all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from holdfast._arrays import Floats
from holdfast._assumption import REAL_ARITHMETIC, Assumption
from holdfast.errors import BudgetExceeded, ParameterError, require
from holdfast.learn._intercept_centre import pay_for_centre, pull_assumptions
from holdfast.learn._problem import Problem
from holdfast.learn._rows.examples import ArrayExamples, Examples
from holdfast.learn.methods.method import SINGLE_ROWS, Fit, Learner
from holdfast.privacy._account import Account
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.privacy._rounding import round_down

if TYPE_CHECKING:
    from holdfast.learn._sampling.rounds import SamplingPlan
    from holdfast.privacy._mechanisms.gibbs import BoxExponential, RegularisedExponential

Sampler = Literal["auto", "direct", "proximal"]
LOSSES = ("logistic", "huber", "huber_regression")
SLACK_SHARE = 0.1
"""The share of delta for the total variation of the sampler; the curve has the rest."""
HALF_SIDE_FACTOR = 2.0
"""Half the side of the box of pure draws, times the row norm: predictions from a single column reach this far."""
MOST_COLUMNS = 4_096
"""The most columns of the proximal sampler, which stores three square matrices of them."""
MOST_BYTES = 2**34
"""The most memory for the rows of a table, which are read once and stored."""
SAFETY_FACTOR = 1.0 - 1e-9
ROUNDING = Assumption(
    kind=REAL_ARITHMETIC, text="the sampler's arithmetic is in doubles and analysed as real numbers"
)


def gibbs_sampling(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    diameter: float | None = None,
    sampler: Sampler = "auto",
    count_bound: int | None = None,
    arithmetic: Arithmetic = "idealised",
) -> Fit:
    """Draw the weights from the density; all of the remaining budget goes into k.

    `diameter` is a public guess D of the distance between plausible weights: it sets k mu to 2 d / D^2, or, without
    delta, the size of the box. By default D is sqrt(2 d) times slope over row norm. A `penalty` of the problem is mu.
    `sampler="auto"` draws directly, which is exact, where a public bound on its time allows that, and else by a public
    number of proximal rounds.

    The time of a draw depends on the rows: do not let others measure it.
    """
    require(
        arithmetic == "idealised", "arithmetic", arithmetic, "'idealised' for gibbs", "objective has 'strict'"
    )
    require(diameter is None or 0 < diameter < math.inf, "diameter", diameter, "> 0 and finite, or None")
    most, assumed = examples.largest_count(count_bound)
    _require_room(examples, problem, most)
    at = pay_for_centre(examples, problem, account, arithmetic="strict", classes=False)
    examples, problem = at.examples, at.problem
    left = account.remaining()
    pure = left.as_pure()
    excess = most / examples.public_count
    recipe = _DensityRecipe(problem, account, examples.public_count, excess, diameter)
    mechanism: RegularisedExponential | BoxExponential
    if pure is None:
        mechanism, plan = recipe.regularised_posterior(left, sampler)
    else:
        mechanism, plan = recipe.posterior_in_ball(round_down(pure), sampler)
    weights = _released_weights(examples, problem, account, mechanism, plan)
    return Fit(
        weights=at.original_weights(weights),
        theorem=type(mechanism).theorem,
        parameters={
            "k": plan.inverse_temperature,
            "mu": plan.penalty,
            "sampler": "direct" if plan.is_direct else "proximal",
            "rounds": plan.rounds,
            "eta": plan.total_variation,
            "mechanism": mechanism.to_json(),
            "arithmetic": arithmetic,
            **at.parameters,
        },
        assumptions=(ROUNDING, *assumed, *pull_assumptions(problem)),
    )


class _DensityRecipe:
    """The constants of the density and the plan of its sampler, from the remaining budget; public numbers only."""

    def __init__(
        self, problem: Problem, account: Account, count: int, excess: float, diameter: float | None
    ) -> None:
        self._problem, self._account, self._diameter = problem, account, diameter
        self._change = problem.gradient_change(account.adjacency) / count
        self._smoothness = problem.smoothness * excess  # a bound for the largest number of rows there may be

    def regularised_posterior(
        self, left: PrivacyCurve, sampler: Sampler
    ) -> tuple[RegularisedExponential, SamplingPlan]:
        """A direct draw, with all of delta, where its public bound allows; else rounds, which cost a tenth of delta."""
        require(
            math.isinf(self._problem.radius),
            "radius",
            self._problem.radius,
            "infinite for gibbs with delta > 0",
            "the density is over the whole space; give diameter=... for a guess of its size",
        )
        exact = self._constants(_gaussian_mu(left, 1.0))
        if sampler == "direct" or (sampler == "auto" and self._plan(exact, 1e-9).admits_direct):
            return self._mechanism(exact, None), self._plan(exact, 0.0)
        slack = _slack(left)
        if slack <= 0:
            raise ParameterError(
                "a sampler in rounds has a total variation, and the account has no room for one: open it with "
                f"currency='basic', or with a WithSlack limit, got {left!r}; sampler='direct' is exact, for few columns"
            )
        require(
            self._problem.dimension <= MOST_COLUMNS,
            "dimension",
            self._problem.dimension,
            f"<= {MOST_COLUMNS}",
            "use method='objective' or 'auto'",
        )
        constants = self._constants(_gaussian_mu(left, 1.0 - SLACK_SHARE))
        return self._mechanism(constants, slack), self._plan(constants, slack)

    def posterior_in_ball(self, epsilon: float, sampler: Sampler) -> tuple[BoxExponential, SamplingPlan]:
        """k = epsilon / (G D); a pure guarantee leaves no room for a total variation, so the draw is direct."""
        from holdfast.learn._sampling.rounds import SamplingPlan
        from holdfast.privacy._mechanisms.gibbs import BoxExponential

        if epsilon <= 0:
            raise BudgetExceeded("nothing remains in the account; nothing was drawn")
        require(
            sampler != "proximal", "sampler", sampler, "'auto' or 'direct' without delta", "give delta > 0"
        )
        problem, d = self._problem, self._problem.dimension
        declared = 2.0 * problem.radius if self._diameter is None else self._diameter
        half = (
            HALF_SIDE_FACTOR / problem.row_norm if math.isinf(declared) else declared / (2.0 * math.sqrt(d))
        )

        def at(k: float) -> BoxExponential:
            return BoxExponential(
                inverse_temperature=k,
                half_side=half,
                gradient_change=self._change,
                dimension=d,
                adjacency=self._account.adjacency,
            )

        k = epsilon / float(at(1.0).curve.epsilon(0.0)) * SAFETY_FACTOR
        plan = SamplingPlan(
            dimension=d,
            inverse_temperature=k,
            penalty=problem.penalty,
            smoothness=self._smoothness,
            half_side=half,
        )
        return at(k), plan

    def _constants(self, mu: float) -> tuple[float, float]:
        """k and the penalty with G sqrt(k / penalty) = mu, for a given penalty or a given product of both."""
        d, rate = self._problem.dimension, mu / self._change
        if self._problem.penalty > 0:
            return self._problem.penalty * rate**2, self._problem.penalty
        # The bound d/k + penalty D^2 / 2 on the excess risk is least at k penalty = 2 d / D^2.
        # D = sqrt(2 d) slope / row norm has the units of weights: it grows with labels and falls with rows.
        own = (self._problem.row_norm / self._problem.loss.slope) ** 2
        product = own if self._diameter is None else 2.0 * d / self._diameter**2
        k = rate * math.sqrt(product)
        return k, product / k

    def _plan(self, constants: tuple[float, float], slack: float) -> SamplingPlan:
        from holdfast.learn._sampling.rounds import SamplingPlan

        return SamplingPlan(
            dimension=self._problem.dimension,
            inverse_temperature=constants[0],
            penalty=constants[1],
            smoothness=self._smoothness,
            total_variation=slack,
        )

    def _mechanism(self, constants: tuple[float, float], slack: float | None) -> RegularisedExponential:
        from holdfast.privacy._mechanisms.gibbs import RegularisedExponential

        return RegularisedExponential(
            inverse_temperature=constants[0],
            penalty=constants[1],
            gradient_change=self._change,
            total_variation=slack,
            adjacency=self._account.adjacency,
        )


def _gaussian_mu(left: PrivacyCurve, share: float) -> float:
    """The largest mu whose curve is within what is left; of delta only this share is used."""
    from holdfast.privacy._curves.slack import bare_and_slack
    from holdfast.privacy._mechanisms.gaussian import Gaussian

    point = left.as_approximate()
    if point is not None:
        if point[0] <= 0 or point[1] <= 0:
            raise BudgetExceeded("nothing remains in the account; nothing was drawn")
        limit: PrivacyCurve = ApproxDP(
            round_down(point[0]) * SAFETY_FACTOR, round_down(point[1]) * share * SAFETY_FACTOR
        )
    else:
        limit = bare_and_slack(left)[0]
    return SAFETY_FACTOR / float(Gaussian.within(limit, l2_sensitivity=1.0).sigma)


def _slack(left: PrivacyCurve) -> float:
    """The total variation eta for the sampler: (1 + e^epsilon) eta is a tenth of delta, or the limit's own slack."""
    point = left.as_approximate()
    if point is None:
        return round_down(left.total_variation)
    return SAFETY_FACTOR * SLACK_SHARE * round_down(point[1]) / (1.0 + math.exp(float(point[0])))


def _require_room(examples: Examples, problem: Problem, most: int) -> None:
    """Refuse tables whose rows do not fit in memory, by public numbers."""
    size = 8 * most * problem.dimension
    if not isinstance(examples, ArrayExamples) and size > MOST_BYTES:
        raise ParameterError(
            f"gibbs keeps all rows in memory, {size / 2**30:.3g} GiB here and at most {MOST_BYTES / 2**30:g} GiB; use "
            "method='auto', or declare a smaller count_bound"
        )


def _released_weights(
    examples: Examples,
    problem: Problem,
    account: Account,
    mechanism: RegularisedExponential | BoxExponential,
    plan: SamplingPlan,
) -> Floats:
    """Read the rows, charge the draw, and make it."""
    from holdfast.learn._sampling.potential import Potential, rows_in_memory
    from holdfast.learn._sampling.sampled_risk import SampledRisk

    potential = Potential(
        rows=rows_in_memory(examples, problem),
        problem=problem,
        inverse_temperature=plan.inverse_temperature,
        penalty=plan.penalty,
    )
    value = mechanism.check(SampledRisk(potential=potential, plan=plan))
    point = account.remaining().as_approximate()
    delta = round_down(point[1]) if point is not None and point[1] > 0 else None
    drawn: Floats = account.permit(mechanism, times=1, delta=delta, label="gibbs").release(value)
    return drawn


METHOD = Learner(
    name="gibbs",
    run=gibbs_sampling,
    paper="GLL22",
    needs=("convex", "lipschitz", "smooth"),
    pure=True,
    currency="basic",
    losses=LOSSES,
    only="samples convex losses with a bounded second derivative that its kernel knows",
    single_rows=SINGLE_ROWS,
    behind="draws from a tempered posterior: behind objective perturbation to first order",
    centres=True,
)
