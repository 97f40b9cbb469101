"""Planted faults in the certified sampler and its mechanism."""

from __future__ import annotations

from .fault import Fault

DRAWS, ROUNDS = "tests/learn/sampling/test_draws.py", "tests/learn/sampling/test_rounds.py"
METHOD = "tests/learn/methods/test_gibbs.py"
FAULTS: tuple[Fault, ...] = (
    Fault(
        name="gibbs: proposals are never rejected",
        target="learn:is_accepted",
        old="return verdict is ThinnedTest.PASSED",
        new="return True",
        tests=(f"{DRAWS}::test_all_gaps_at_once_or_thinned_is_the_same_chance",),
    ),
    Fault(
        name="gibbs: rows are met at half the rate",
        target="learn:is_accepted",
        old="until = potential.weight * count * bound",
        new="until = 0.5 * potential.weight * count * bound",
        tests=(f"{DRAWS}::test_all_gaps_at_once_or_thinned_is_the_same_chance",),
    ),
    Fault(
        name="gibbs: what is left of the gradient is not in the proposal",
        target="learn:ProximalRounds.next",
        old="tangent.at - self._plan.spread * residual",
        new="tangent.at",
        tests=(f"{DRAWS}::test_a_bad_tangent_costs_time_and_not_the_law",),
    ),
    Fault(
        name="gibbs: rounds for the divergence, not for the total variation",
        target="learn:SamplingPlan.rounds",
        old="mixing**2",
        new="mixing",
        tests=(f"{ROUNDS}::test_rounds_bring_the_divergence_below_the_total_variation",),
    ),
    Fault(
        name="gibbs: caps have no share of the total variation",
        target="learn:SamplingPlan.rounds",
        old="(1.0 - CAP_SHARE) * self.total_variation",
        new="self.total_variation",
        tests=(f"{ROUNDS}::test_rounds_bring_the_divergence_below_the_total_variation",),
    ),
    Fault(
        name="gibbs: a cap that forgets the other rounds",
        target="learn:SamplingPlan.cap",
        old="math.log(self.rounds / (CAP_SHARE * self.total_variation))",
        new="math.log(1.0 / (CAP_SHARE * self.total_variation))",
        tests=(f"{ROUNDS}::test_a_round_gives_up_no_more_often_than_is_charged",),
    ),
    Fault(
        name="gibbs: the sampler's total variation is not charged",
        target="privacy:RegularisedExponential.curve",
        old="exact_curve if self.total_variation is None else WithSlack(exact_curve, self.total_variation)",
        new="exact_curve",
        tests=(f"{METHOD}::test_a_tenth_of_delta_is_the_samplers",),
    ),
    Fault(
        name="gibbs: a sampler that misses more than is charged is taken",
        target="privacy:_Tempered.check",
        old="value.total_variation > self.slack",
        new="value.total_variation > 1.0",
        tests=(f"{METHOD}::test_a_cap_or_rounds_without_their_charge_are_refused",),
    ),
    Fault(
        name="gibbs: mu with k where its root belongs",
        target="privacy:RegularisedExponential.curve",
        old="as_written(self.gradient_change) ** 2 * as_written(self.inverse_temperature)",
        new="as_written(self.gradient_change) ** 2 * as_written(self.inverse_temperature) / 4",
        tests=(f"{METHOD}::test_linear_losses_reach_the_claim",),
    ),
    Fault(
        name="gibbs: a box is as wide as its side",
        target="privacy:BoxExponential.curve",
        old="2 * change * as_written(self.half_side) * root",
        new="change * as_written(self.half_side) * root",
        tests=("tests/privacy/mechanisms/test_gibbs.py::test_epsilon_is_the_change_times_the_diameter",),
    ),
    Fault(
        name="gibbs: more rows than declared are not counted in the step",
        target="learn:_DensityRecipe.__init__",
        old="problem.smoothness * excess",
        new="problem.smoothness",
        tests=(f"{METHOD}::test_a_declared_largest_number_of_rows_sets_the_rounds",),
    ),
    Fault(
        name="kernel: a far gap of the logistic loss as if it were near",
        target="kernel:_logistic_gap",
        old="np.where(t < 1, near, far)",
        new="near",
        tests=("tests/kernel/test_bregman.py::test_far_predictions_do_not_overflow",),
    ),
)
