"""Faults of intervals: what is forgotten, counted twice, or said where nothing should be."""

from __future__ import annotations

from .fault import Fault

SCORE = "tests/learn/inference/test_score.py"
DRAWS = f"{SCORE}::test_the_covariance_is_that_of_draws"
REFUSED = f"{SCORE}::test_noise_that_swamps_is_refused"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="intervals: a declared number of rows for the measured one",
        target="learn/methods/ssp:ssp",
        old="examples.may_lack_targets or not known",
        new="examples.may_lack_targets",
        tests=(
            "tests/learn/estimators/test_intervals.py::"
            "test_where_the_number_of_rows_is_private_intervals_take_the_measured_one",
        ),
    ),
    Fault(
        name="intervals: the declared number of rows is no assumption",
        target="learn/methods/ssp:ssp",
        old="elif not known:",
        new="elif False:",
        tests=(
            "tests/learn/estimators/test_intervals.py::"
            "test_without_an_intercept_the_declared_number_of_rows_is_an_assumption",
        ),
    ),
    Fault(
        name="intervals: sampling variance forgotten",
        target="learn:NoisyScore.covariance",
        old="variance[..., None, None] * self.curvature + noise",
        new="noise",
        tests=(f"{DRAWS}[squared, sampling]", f"{DRAWS}[logistic, sampling]"),
    ),
    Fault(
        name="intervals: noise variance forgotten",
        target="learn:NoisyScore.covariance",
        old="variance[..., None, None] * self.curvature + noise",
        new="variance[..., None, None] * self.curvature",
        tests=(f"{DRAWS}[squared, noise]", f"{DRAWS}[logistic, noise]"),
    ),
    Fault(
        name="intervals: noise counted twice",
        target="learn:NoisyScore.covariance",
        old="variance[..., None, None] * self.curvature + noise",
        new="variance[..., None, None] * self.curvature + 2.0 * noise",
        tests=(f"{DRAWS}[squared, noise]", f"{DRAWS}[logistic, noise]"),
    ),
    Fault(
        name="intervals: noise of the curvature forgotten",
        target="learn:NoisyScore.noise_covariance",
        old="half_variances = 0.5 * (weights * self.curvature_noise) ** 2",
        new="half_variances = 0.0 * (weights * self.curvature_noise) ** 2",
        tests=(f"{DRAWS}[squared, noise]",),
    ),
    Fault(
        name="intervals: refusal removed",
        target="learn:ScoreStrength.too_low_for_intervals",
        old="return self.too_low_for_solution | ~(self.sure >= self.needed) | too_wide",
        new="return self.observed < 0.0",
        tests=(f"{REFUSED}[squared]", f"{REFUSED}[logistic]"),
    ),
    Fault(
        name="intervals: the deciding noise is not doubted",
        target="learn:ScoreStrength.doubt",
        old="DOUBT_DEVIATIONS * self._deciding_noise / self.unit",
        new="0.0 * self._deciding_noise / self.unit",
        tests=(f"{SCORE}::test_noise_makes_a_least_eigenvalue_sure_too_high_once_in_a_hundred",),
    ),
    Fault(
        name="intervals: a sharp line picks tables whose estimate is small",
        target="learn:ScoreStrength.sure",
        old="COIN_ALLOWANCE - _coin(score.pilot)",
        new="COIN_ALLOWANCE",
        tests=(
            f"{SCORE}::test_a_bent_curvature_is_less_sure_and_the_line_is_blurred",
            f"{SCORE}::test_intervals_are_wider_by_what_selection_leaves",
        ),
    ),
    Fault(
        name="intervals: the curvature at the estimate taken for that at the truth",
        target="learn:ScoreStrength.sure",
        old="COIN_ALLOWANCE - _coin(score.pilot)",
        new="-_coin(score.pilot)",
        tests=(f"{SCORE}::test_a_bent_curvature_is_less_sure_and_the_line_is_blurred",),
    ),
    Fault(
        name="intervals: luck of the coin lowers the line",
        target="learn:ScoreStrength.sure",
        old="np.maximum(COIN_ALLOWANCE - _coin(score.pilot), 0.0)",
        new="(COIN_ALLOWANCE - _coin(score.pilot))",
        tests=(f"{SCORE}::test_a_bent_curvature_is_less_sure_and_the_line_is_blurred",),
    ),
    Fault(
        name="intervals: the noise that led to the deciding place forgotten",
        target="learn:ScoreStrength._root_eigenvalue",
        old="0.5 * PILOT_DEVIATIONS * by_noise",
        new="0.0 * by_noise",
        tests=(f"{SCORE}::test_a_place_that_noise_led_astray_is_less_sure",),
    ),
    Fault(
        name="intervals: what selection leaves forgotten",
        target="learn:NoisyScore.covariance",
        old="bias = self.strength.selection_bias",
        new="bias = 0.0 * self.strength.selection_bias",
        tests=(f"{SCORE}::test_intervals_are_wider_by_what_selection_leaves",),
    ),
    Fault(
        name="intervals: without noise every table is enough",
        target="learn:ScoreStrength.needed",
        old="max(LEAST_STRENGTH, LEAST_ROWS * self.score.bend**2 / self.unit)",
        new="LEAST_STRENGTH",
        tests=(f"{SCORE}::test_without_noise_rows_are_needed",),
    ),
    Fault(
        name="intervals: issued although they know to be too wide",
        target="learn:ScoreStrength.too_low_for_intervals",
        old=" | too_wide",
        new="",
        tests=(f"{SCORE}::test_a_pilot_that_was_led_astray_does_not_narrow_an_interval",),
    ),
    Fault(
        name="intervals: a pilot that was led astray narrows them",
        target="learn:ScoreStrength.variance_factor",
        old="np.minimum(self.observed, self.inverted)",
        new="self.observed",
        tests=(f"{SCORE}::test_a_pilot_that_was_led_astray_does_not_narrow_an_interval",),
    ),
    Fault(
        name="newton: the third derivative with the wrong sign",
        target="learn:JointScore.at",
        old="tilt -=",
        new="tilt +=",
        tests=("tests/learn/methods/test_newton.py::test_the_third_derivative_is_that_of_the_curvature",),
    ),
    Fault(
        name="newton: a third derivative beyond what the gradient pays for",
        target="learn:JointScore.of",
        old="tilt_lift=3.0 / row_norm**2",
        new="tilt_lift=8.0 / row_norm**2",
        tests=(
            "tests/learn/methods/test_newton.py::test_the_bound_is_attained_and_a_larger_lift_would_break_it",
        ),
    ),
    Fault(
        name="intervals: a stored score may leave out how sure it is",
        target="learn:NoisyScore.of_value",
        old='dict(require_fields("score", value, [field.name for field in fields(cls)]))',
        new="{one.name: one.default for one in fields(cls)} | dict(value)",
        tests=(f"{SCORE}::test_a_stored_score_says_how_sure_the_decision_is",),
    ),
    Fault(
        name="newton: the deciding curvature said to be without noise",
        target="learn:score_of",
        old="pilot_noise=pooled_noise(before)",
        new="pilot_noise=0.0",
        tests=(
            "tests/learn/methods/test_newton.py::test_a_step_goes_to_the_common_root_of_the_last_releases",
        ),
    ),
    Fault(
        name="newton: gradients of other points taken for that of the newest",
        target="learn:_newton_step",
        old="past.gradient + past.curvature @ (newest.point - past.point)",
        new="past.gradient",
        tests=(
            "tests/learn/methods/test_newton.py::test_a_step_goes_to_the_common_root_of_the_last_releases",
        ),
    ),
    Fault(
        name="intervals: issued where the noise was kind",
        target="learn:ScoreStrength.observed",
        old="self.score.curvature if self.score.pilot is None else self.score.pilot",
        new="self.score.curvature",
        tests=(f"{SCORE}::test_the_pilot_decides_and_not_what_was_inverted",),
    ),
    Fault(
        name="intervals: bias of a penalty ignored, logistic",
        target="learn:noisy_newton",
        old="score if free and examples.unit.max_rows == 1 else None",
        new="score",
        tests=("tests/learn/methods/test_newton.py::test_what_moves_the_estimate_leaves_no_score[changes0]",),
    ),
    Fault(
        name="intervals: bias of a penalty ignored, least squares",
        target="learn/methods/ssp:ssp",
        old="plain = problem.penalty == 0 and c == 1",
        new="plain = c == 1",
        tests=(
            "tests/learn/estimators/test_intervals.py::test_a_refusal_says_why_and_what_would[a penalty]",
        ),
    ),
    Fault(
        name="intervals: targets clipped in the fit and not in the moment",
        target="learn:joint_moment",
        old="np.clip(labels, -bound, bound)",
        new="labels",
        tests=("tests/learn/methods/test_ssp.py::test_targets_are_clipped_before_they_are_summed",),
    ),
    Fault(
        name="intervals: inversion's slope forgets the residual variance",
        target="learn:ScoreTest.statistic",
        old="float(scaled @ self._sampling @ scaled) * slope",
        new="0.0 * slope",
        tests=(f"{SCORE}::test_the_gradient_of_the_statistic",),
    ),
    Fault(
        name="intervals: rows of one user as independent rows",
        target="learn:WithIntervals.conf_int",
        old="or self.release_.guarantee.unit.max_rows > 1",
        new="",
        tests=("tests/learn/estimators/test_intervals.py::test_rows_of_one_user_are_not_independent",),
    ),
    Fault(
        name="newton: a lift beyond what the gradient pays for",
        target="learn:JointScore.of",
        old="math.sqrt(10.0 * factor) / row_norm",
        new="math.sqrt(32.0 * factor) / row_norm",
        tests=(
            "tests/learn/methods/test_newton.py::test_no_unit_moves_gradient_and_curvature_further",
            "tests/learn/methods/test_newton.py::test_the_bound_is_attained_and_a_larger_lift_would_break_it",
        ),
    ),
)
