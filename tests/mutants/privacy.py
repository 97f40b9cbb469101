"""Planted faults in noise, curves and mechanisms."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="gaussian: noise halved",
        target="privacy:Gaussian.placed",
        old="sigma * (sensitivity + root * grid.step) / sensitivity",
        new="sigma / 2",
        tests=(
            "tests/contracts/test_mechanisms.py::test_example[Gaussian-strict-is_not_refuted]",
            "tests/privacy/mechanisms/test_mechanisms.py",
        ),
    ),
    Fault(
        name="laplace: noise halved",
        target="privacy:placed",
        old="exact * (sensitivity + value.size * grid.step) / sensitivity",
        new="exact / 2",
        tests=("tests/privacy/mechanisms/test_mechanisms.py::test_laplace_noise_has_its_declared_scale",),
    ),
    Fault(
        name="exponential: factor 2 of non-monotone scores forgotten",
        target="privacy:Selection._weight",
        old="1 if self.monotone else 2",
        new="1",
        tests=(
            "tests/contracts/test_mechanisms.py::test_example[Exponential-strict-is_not_refuted]",
            "tests/privacy/mechanisms/test_mechanisms.py",
        ),
    ),
    Fault(
        name="grid: rounding of the centre not charged",
        target="privacy:Gaussian.placed",
        old="sigma * (sensitivity + root * grid.step) / sensitivity",
        new="sigma",
        tests=(
            "tests/privacy/mechanisms/test_mechanisms.py::test_strict_noise_pays_for_rounding_the_centre",
        ),
    ),
    Fault(
        name="vector Laplace: exponential instead of Gamma length",
        target="privacy:VectorLaplace._stand_in",
        old="root_above(dimension) * as_written(self.l2_sensitivity)",
        new="as_written(self.l2_sensitivity)",
        tests=(
            "tests/privacy/mechanisms/test_mechanisms.py::test_gamma_norm_noise_has_the_length_of_its_dimension",
        ),
    ),
    Fault(
        name="account: adjacency not compared",
        target="privacy:Mechanism.require_adjacency",
        old="self.adjacency is not None and self.adjacency is not adjacency",
        new="False",
        tests=(
            "tests/contracts/test_mechanisms.py::test_example[Gaussian-strict-refuses_an_account_of_another_adjacency]",
        ),
    ),
    Fault(
        name="currency: zCDP of the exponential mechanism used as Gaussian",
        target="privacy:BoundedRange.renyi",
        old="def renyi",
        new="def as_gdp(self) -> Fraction:\n    return 2 * self.as_zcdp()\n\ndef renyi",
        tests=(
            "tests/privacy/account/test_account.py::test_a_selection_costs_its_pure_conversion_in_gdp_never_an_eighth",
        ),
    ),
    Fault(
        name="currency: limit rounded away from privacy",
        target="privacy:_largest",
        old="unsafe=high, safe=low)",
        new="unsafe=high, safe=low) * 1.0001",
        tests=("tests/privacy/account/test_account.py::test_a_translated_limit_is_within_what_was_asked",),
    ),
    Fault(
        name="cost: a component not compared",
        target="privacy:Cost.fits",
        old="and self.failure <= limit.failure",
        new="",
        tests=(
            "tests/privacy/account/test_account.py::test_slack_is_refused_unless_the_limit_has_room_for_it",
        ),
    ),
    Fault(
        name="source: seed reused when none is given",
        target="noise:Source.__init__",
        old="None if seed is None else np.random.Generator(np.random.PCG64(seed))",
        new="np.random.Generator(np.random.PCG64(0 if seed is None else seed))",
        tests=(
            "tests/contracts/test_mechanisms.py::test_example[Gaussian-strict-seeded_draws_repeat_and_secure_ones_do_not]",
        ),
    ),
    Fault(
        name="rounding: safe_side returns the unsafe end",
        target="privacy:safe_side",
        old="return safe",
        new="return unsafe",
        tests=("tests/privacy/test_rounding.py::test_safe_side_is_safe_and_tight",),
    ),
    Fault(
        name="rounded Gaussian: noise halved",
        target="noise:_Rounded.position",
        old="ndtri(uniform / 2)",
        new="ndtri(uniform / 2) / 2",
        tests=("tests/noise/test_laws.py::test_draws_follow_the_exact_probabilities[0.2-rounded]",),
    ),
    Fault(
        name="discrete Gaussian: proposals not rejected",
        target="noise:discrete_gaussian",
        old="proposals[_accepts(source, sigma, np.abs(proposals))]",
        new="proposals",
        tests=("tests/noise/test_laws.py::test_draws_follow_the_exact_probabilities[0.2-gaussian]",),
    ),
    Fault(
        name="ball: exponential instead of Gamma length",
        target="noise:gamma_ball",
        old="shape=dimension",
        new="shape=1",
        tests=(
            "tests/noise/test_idealised.py::test_the_vector_has_a_gamma_length_and_a_uniform_direction[2]",
        ),
    ),
    Fault(
        name="journal: long totals rounded down",
        target="privacy:_short",
        old="Fraction(-((-amount.numerator << 1024) // amount.denominator), 1 << 1024)",
        new="Fraction((amount.numerator << 1024) // amount.denominator, 1 << 1024)",
        tests=(
            "tests/ledger/test_journal.py::test_totals_of_many_denominators_stay_short_and_never_round_down",
        ),
    ),
    Fault(
        name="composition: repeated curves counted once",
        target="privacy/composition:_merged",
        old="already + n",
        new="already",
        tests=("tests/privacy/curves/test_composition.py::test_n_times_one_is_one_times_n",),
    ),
    Fault(
        name="numeric: mass at infinity lost",
        target="privacy:upper",
        old="min(1.0, (pair.infinity + float(p[-1])) * (1 + 8 * UNIT))",
        new="0.0",
        tests=(
            "tests/privacy/curves/test_loss_distribution.py::test_randomised_response_against_the_binomial_sum",
        ),
    ),
    Fault(
        name="numeric: error of the transform subtracted",
        target="privacy:_joined",
        old="s.masses + s.error",
        new="s.masses - s.error",
        tests=(
            "tests/privacy/curves/test_loss_distribution.py::test_composed_gaussians_are_bracketed_at_every_delta",
        ),
    ),
    Fault(
        name="numeric: only one direction of the neighbour relation",
        target="privacy:LossSums.epsilon",
        old="other.chernoff(answer) > delta",
        new="other.chernoff(answer) < 0.0",
        tests=("tests/privacy/curves/test_composition.py::test_the_order_of_the_directions_does_not_matter",),
    ),
    Fault(
        name="objective: the determinant forgotten",
        target="privacy:_Perturbed.log_ratio",
        old="math.log1p(ratio) * (1.0 + 4e-16)",
        new="0.0",
        tests=("tests/learn/methods/test_objective.py::test_the_pure_example_of_the_notes",),
    ),
    Fault(
        name="objective: strict linear term without its root of the dimension",
        target="privacy:PureObjectivePerturbation.linear_grid",
        old="root * as_written(self.scale)",
        new="as_written(self.scale)",
        tests=("tests/learn/methods/test_objective.py::test_the_noise_is_as_large_as_the_theorem_says",),
    ),
    Fault(
        name="truncated Laplace: twice the width",
        target="noise:_Truncated.survival",
        old="magnitude / self.width",
        new="magnitude / (2 * self.width)",
        tests=("tests/noise/test_laplace.py::test_survival_is_the_exact_exponential",),
    ),
    Fault(
        name="sampled pure: the neighbours of the base are not asked for",
        target="privacy:SubsampledPure.require_adjacency",
        old="self.base.require_adjacency(adjacency)",
        new="pass",
        tests=("tests/review/test_privacy_findings.py",),
    ),
    Fault(
        name="sampled pure: slack of the base is lost",
        target="privacy:SubsampledPure.validate",
        old="self.base.curve.total_variation or self.base.curve.failure",
        new="False",
        tests=("tests/review/test_privacy_findings.py",),
    ),
    Fault(
        name="grid: large quotients are rounded in doubles",
        target="privacy:nearest_steps",
        old="2.0**-51 * (size + 1.0)",
        new="-1.0",
        tests=("tests/privacy/test_rounding.py", "tests/review/test_privacy_findings.py"),
    ),
    Fault(
        name="numbers: an array of the caller stays inside a mechanism",
        target="privacy:_fixed",
        old="value.item() if scalar else value",
        new="value",
        tests=("tests/review/test_curve_findings.py",),
    ),
    Fault(
        name="composition: slack inside a part is taken and lost",
        target="privacy:Composed.__post_init__",
        old="any(curve.total_variation or curve.failure for curve, _ in self.parts)",
        new="False",
        tests=("tests/privacy/curves/test_slack.py",),
    ),
    Fault(
        name="cut laplace: beside zero both signs count as one",
        target="noise:_Truncated.ratio",
        old="bits - 1",
        new="bits",
        tests=("tests/noise/test_symmetric.py::test_two_steps_have_the_law_of_one",),
    ),
    Fault(
        name="cut laplace: wide noise is drawn in one step",
        target="noise:truncated_laplace",
        old="symmetric(source, law=",
        new="__import__('holdfast.noise.symmetric', fromlist=['x']).signed_magnitudes(source, law=",
        tests=("tests/noise/test_symmetric.py::test_doubtful_draws_are_rare",),
    ),
    Fault(
        name="selection: monotone scores where a unit is replaced",
        target="privacy:Selection.require_adjacency",
        old="self.monotone and adjacency is Adjacency.replace",
        new="False",
        tests=("tests/privacy/mechanisms/test_monotone.py",),
    ),
    Fault(
        name="grid: values beyond 64 bits are clamped",
        target="privacy:Grid.nearest",
        old="np.rint(np.ldexp(values, -self.exponent))",
        new="np.clip(np.rint(np.ldexp(values, -self.exponent)), -(2.0**61), 2.0**61)",
        tests=("tests/privacy/mechanisms/test_no_clamp.py::test_real_values_are_moved_from_where_they_are",),
    ),
    Fault(
        name="declared grid: values beyond 64 bits are clamped",
        target="privacy:_exactly",
        old="round(Fraction(number if values.dtype == object else number.item()) / step)",
        new="max(-(2**61), min(2**61, round(Fraction(number if values.dtype == object else number.item()) / step)))",
        tests=(
            "tests/privacy/mechanisms/test_no_clamp.py::test_values_on_a_declared_grid_are_moved_from_where_they_are",
        ),
    ),
    Fault(
        name="whole numbers: sums wrap",
        target="privacy:exact_sum",
        old="if not np.any(((centre ^ total) & (noise ^ total)) < 0):",
        new="if True:",
        tests=("tests/privacy/mechanisms/test_no_clamp.py::test_whole_numbers_do_not_wrap",),
    ),
    Fault(
        name="whole numbers: held as the value is, not as the sum",
        target="privacy:exact_sum",
        old="return whole(exact)",
        new="return exact",
        tests=("tests/privacy/mechanisms/test_no_clamp.py::test_how_a_sum_is_held_depends_on_the_sum_alone",),
    ),
    Fault(
        name="values: whole numbers among doubles are rounded",
        target="privacy:vector",
        old="np.any(np.abs(array) > 2.0**53)",
        new="False",
        tests=("tests/privacy/mechanisms/test_no_clamp.py::test_values_are_taken_as_they_are",),
    ),
    Fault(
        name="scores: long ones are cut to 64 bits",
        target="noise:_gaps",
        old="if long:",
        new="if False:",
        tests=(
            "tests/privacy/mechanisms/test_no_clamp.py::test_only_differences_of_scores_count_however_large_they_are",
        ),
    ),
    Fault(
        name="gaussian: what cannot be drawn is found after the charge",
        target="privacy:Gaussian.check",
        old="self.placed(array)",
        new="pass",
        tests=("tests/privacy/mechanisms/test_no_clamp.py::test_what_passes_the_check_can_be_drawn",),
    ),
    Fault(
        name="objective: what cannot be drawn is found after the charge",
        target="privacy:_Perturbed.check",
        old="self.linear_grid(dimension)",
        new="pass",
        tests=("tests/privacy/mechanisms/test_no_clamp.py::test_what_passes_the_check_can_be_drawn",),
    ),
)
