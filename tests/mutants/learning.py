"""Planted faults in learning methods and the kernel."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="kernel: a short batch divided by its own size (C)",
        target="kernel:close_batch",
        old="o->batch",
        new="s->rows",
        tests=("tests/kernel/test_kernel.py::test_no_compiler_and_no_level_changes_a_bit",),
    ),
    Fault(
        name="kernel: a short batch divided by its own size (reference)",
        target="kernel:ReferenceSgd._close_batch",
        old="eta / options.batch",
        new="eta / self._open_rows",
        tests=("tests/kernel/test_kernel.py::test_divisor_is_the_batch_also_when_it_is_short",),
    ),
    Fault(
        name="kernel: rows not clipped",
        target="kernel:_unit_rows",
        old="np.minimum(size, limit)",
        new="size",
        tests=("tests/kernel/test_sensitivity.py::test_clipping_never_exceeds_the_norm[numpy]",),
    ),
    Fault(
        name="bolt-on: sensitivity divided by the batch",
        target="kernel:psgd_sensitivity",
        old="eta / batch",
        new="eta / batch**2",
        tests=("tests/kernel/test_psgd_sensitivity.py::test_a_the_batch_cancels",),
    ),
    Fault(
        name="output: the solver's error not charged",
        target="learn:minimiser_sensitivity",
        old="exact + 2.0 * within",
        new="exact",
        tests=("tests/learn/methods/test_output.py::test_the_solver_is_charged_on_both_sides",),
    ),
    Fault(
        name="bolt-on: a pushed-out record forgotten",
        target="learn:gradient_change",
        old="2.0 * problem.lipschitz",
        new="problem.lipschitz",
        tests=("tests/learn/methods/test_bolt_on.py::test_closed_forms",),
    ),
    Fault(
        name="scs13: passes not composed",
        target="learn:step_noise",
        old="l2_sensitivity * math.sqrt(passes) * (1 + 1e-15)",
        new="l2_sensitivity",
        tests=("tests/learn/methods/test_scs13.py::test_the_charge_is_that_of_the_passes",),
    ),
    Fault(
        name="ridge: replaced once, moved once",
        target="learn:RidgeBounds.l2_sensitivity",
        old="adjacency.gradient_factor * rows_per_unit",
        new="rows_per_unit",
        tests=("tests/learn/methods/test_ridge.py::test_no_neighbour_moves_the_solution_further",),
    ),
    Fault(
        name="adassp: sensitivity 1 under replace",
        target="learn:Statistics.of",
        old="math.sqrt(factor) * square",
        new="square",
        tests=(
            "tests/learn/methods/test_adassp.py::test_two_orthogonal_rows_attain_the_sensitivity_under_replace",
        ),
    ),
    Fault(
        name="Frank-Wolfe: slope of the squared loss as O(1)",
        target="learn:bounds_of",
        old="prediction + loss.target_bound",
        new="loss.target_bound",
        tests=(
            "tests/learn/methods/test_frank_wolfe.py::test_the_squared_loss_has_the_slope_of_the_whole_polytope",
        ),
    ),
    Fault(
        name="functional: L2 in place of L1 sensitivity",
        target="learn:Quadratic.one_row",
        old="abs(self.linear) * math.sqrt(dimension) + self.square * dimension",
        new="abs(self.linear) + self.square",
        tests=("tests/learn/methods/test_functional.py::test_the_sensitivities_of_the_notes",),
    ),
    Fault(
        name="bst14: iota of one record only",
        target="learn:noise_for",
        old="2.0 * problem.lipschitz",
        new="problem.lipschitz",
        tests=(
            "tests/learn/methods/test_bst14.py::test_the_printed_noise_has_half_the_deviation_that_replacing_needs",
        ),
    ),
    Fault(
        name="tuning: monotone scores assumed",
        target="learn:choose_on_parts",
        old="account.adjacency is not Adjacency.replace",
        new="True",
        tests=(
            "tests/learn/tuning/test_candidates.py::test_the_choice_has_the_odds_of_the_exponential_mechanism",
        ),
    ),
    Fault(
        name="random stopping: repetitions for free",
        target="learn:RandomStopping.base_pure",
        old="total / (2 + as_written(self.eta))",
        new="total",
        tests=("tests/learn/tuning/test_candidates.py::test_the_budget_of_a_run",),
    ),
    Fault(
        name="softmax: slope of the logistic loss",
        target="learn:Softmax.slope",
        old="math.sqrt(2.0)",
        new="1.0",
        tests=("tests/learn/methods/test_softmax.py::test_the_largest_slope_and_curvature_of_the_notes",),
    ),
    Fault(
        name="second moment: sensitivity 1 under replace",
        target="learn:second_moment_sensitivity",
        old="math.sqrt(adjacency.gradient_factor) * rows_per_unit",
        new="rows_per_unit",
        tests=("tests/learn/test_whitening.py::test_the_sensitivities_of_section_20",),
    ),
    Fault(
        name="noisy GD: rows clipped before whitening only",
        target="learn:ClippedGradients._scaled",
        old="self.whitening.norms(rows)",
        new="np.linalg.norm(rows, axis=1)",
        tests=(
            "tests/learn/methods/test_noisy_gd.py::test_neighbours_move_the_gradient_sum_by_at_most_the_sensitivity",
        ),
    ),
    Fault(
        name="noisy GD: replaced once, moved once",
        target="learn:ClippedGradients.l2_sensitivity",
        old="adjacency.gradient_factor * rows_per_unit",
        new="rows_per_unit",
        tests=(
            "tests/learn/methods/test_noisy_gd.py::test_neighbours_move_the_gradient_sum_by_at_most_the_sensitivity",
        ),
    ),
    Fault(
        name="DP-SGD: gradients not clipped",
        target="learn:Sgd.batch_gradient",
        old="slopes * (self.clip / np.maximum(lengths, self.clip))",
        new="slopes",
        tests=(
            "tests/learn/methods/test_dp_sgd.py::test_neighbours_with_the_same_coins_are_within_the_clip",
        ),
    ),
    Fault(
        name="design: the constant column not counted in the norm",
        target="learn:design_norm",
        old="math.nextafter(math.hypot(row_norm, constant), math.inf) if constant else row_norm",
        new="row_norm",
        tests=("tests/learn/rows/test_prepare.py::test_no_row_is_longer_than_declared",),
    ),
    Fault(
        name="estimators: delta of one record in clear accepted",
        target="privacy:require_small_delta",
        old="delta == 0 or delta < largest",
        new="delta < 1",
        tests=(
            "tests/learn/estimators/test_estimators.py::test_bad_input_is_refused_before_anything_is_spent",
        ),
    ),
    Fault(
        name="estimators: what fit read is not said",
        target="learn:PrivateLinearEstimator._spend",
        old="*prepared.assumptions, *fit.assumptions",
        new="*fit.assumptions",
        tests=(
            "tests/learn/estimators/test_estimators.py::test_what_fit_reads_from_the_data_is_an_assumption",
        ),
    ),
    Fault(
        name="tables: storage order in place of a shuffle",
        target="learn:TableExamples.shuffled",
        old="Order.shuffled(source)",
        new="Order.irrelevant()",
        tests=("tests/learn/rows/test_examples.py::test_every_pass_is_a_fresh_order_of_the_same_rows",),
    ),
    Fault(
        name="plan: adjacency forgotten",
        target="learn:_coefficient_noise",
        old="problem.gradient_change(adjacency)",
        new="problem.lipschitz",
        tests=("tests/cli/test_plan.py::test_sampling_error_is_that_of_maximum_likelihood",),
    ),
    Fault(
        name="search: clipped loss of half its range",
        target="learn:_score",
        old="bound=2.0",
        new="bound=1.0",
        tests=("tests/learn/tuning/test_search.py::test_regression_is_scored_by_a_clipped_loss",),
    ),
    Fault(
        name="whitening: squares replaced at the cost of one",
        target="learn:squares_sensitivity",
        old="adjacency.gradient_factor * row_norm**2",
        new="row_norm**2",
        tests=(
            "tests/learn/test_whitened_examples.py::test_the_bound_is_reached",
            "tests/learn/test_whitened_examples.py::test_one_row_moves_the_squares_by_no_more",
        ),
    ),
    Fault(
        name="whitening: squares take everything",
        target="learn:release_diagonal",
        old="(left * Fraction(SHARE))",
        new="left",
        tests=("tests/learn/test_whitened_examples.py::test_squares_take_their_share_and_the_fit_the_rest",),
    ),
    Fault(
        name="passes: rows in storage order",
        target="learn:ArrayExamples.visits",
        old="permutation(source, self.features.shape[0])",
        new="np.arange(len(self.labels))",
        tests=("tests/learn/rows/test_clipped_blocks.py::test_a_secret_pass_meets_the_rows_of_the_shuffle",),
    ),
    Fault(
        name="methods: any loss is admitted",
        target="learn:Learner._require_taken",
        old="not self.takes(problem)",
        new="False",
        tests=(
            "tests/contracts/test_learn_methods.py::test_method[noisy_gd-refuses_a_loss_of_a_kind_that_it_does_not_take]",
        ),
    ),
    Fault(
        name="methods: options are not checked",
        target="learn:Learner.admit",
        old="check_options(options, self.options, method=self.name)",
        new="None",
        tests=("tests/learn/methods/test_options.py",),
    ),
    Fault(
        name="methods: rows and account are not compared",
        target="learn:Learner.admit",
        old="request.admit(examples, account, self)",
        new="None",
        tests=("tests/contracts/test_learn_methods.py",),
    ),
    Fault(
        name="softmax objective: determinant of rank one",
        target="learn:log_determinant",
        old="(loss.classes - 1) * math.log1p(problem.norm_bound**2 / (loss.classes * penalty))",
        new="math.log1p(problem.norm_bound**2 / (2.0 * penalty))",
        tests=("tests/learn/methods/test_softmax_objective.py::test_determinants_of_the_notes",),
    ),
    Fault(
        name="softmax objective: gradient bound halved",
        target="learn:softmax_mechanism",
        old="lipschitz=problem.lipschitz",
        new="lipschitz=problem.lipschitz / 2.0",
        tests=(
            "tests/learn/methods/test_softmax_objective.py::test_no_neighbours_differ_by_more_than_epsilon",
        ),
    ),
    Fault(
        name="softmax risk: rounding is not doubted",
        target="learn:MulticlassRisk._doubt",
        old="float(data + 4.0 * UNIT_ROUNDOFF * own)",
        new="0.0",
        tests=("tests/learn/methods/test_softmax_objective.py::test_the_doubt_covers_rounding",),
    ),
    Fault(
        name="users: the rows of a unit are not counted",
        target="learn:Examples.largest_count",
        old="self.public_count * self.unit.max_rows",
        new="self.public_count",
        tests=("tests/review/test_learn_findings.py",),
    ),
    Fault(
        name="refits: equal rows are taken for the same object",
        target="learn:Refits.again",
        old="known() is data",
        new="np.array_equal(known(), data)",
        tests=("tests/review/test_learn_findings.py", "tests/learn/rows/test_refits.py"),
    ),
    Fault(
        name="search: not rehearsed",
        target="learn:PrivateSearch.fit",
        old="rehearse_search(search, prepared.examples, account)",
        new="pass",
        tests=(
            "tests/learn/tuning/test_rehearsal.py::test_any_mix_is_accepted_or_refused_before_anything_is_spent",
        ),
    ),
    Fault(
        name="ridge: a penalty for bounded residuals",
        target="learn:Learner.default_penalty",
        old="balanced_penalty(facts.problem, moved, limit=facts.limit)",
        new="facts.problem.row_norm**2 * (facts.count * facts.limit.epsilon(0.1 / facts.count)) ** (-2 / 3)",
        tests=(
            "tests/contracts/test_learn_convergence.py::test_more_rows_bring_the_default_nearer_to_no_privacy"
            "[ridge-squared-approximate]",
        ),
    ),
    Fault(
        name="noisy_gd: numbers stay while their rows shrink",
        target="learn:along",
        old="labels * scales if isinstance(loss, Squared | HuberRegression) else labels",
        new="labels",
        tests=(
            "tests/learn/methods/test_noisy_gd.py::test_least_squares_of_clipped_rows_tends_to_that_of_the_rows",
        ),
    ),
    Fault(
        name="bolt_on: the textbook step whatever the budget",
        target="learn:bolt_on",
        old="and step is None:",
        new="and step is None and passes == 0:",
        tests=(
            "tests/learn/methods/test_bolt_on.py::test_a_run_without_a_penalty_goes_as_far_as_the_budget_pays",
        ),
    ),
    Fault(
        name="curvature: rows forgotten in the dual",
        target="learn:Dual.solve",
        old="(vector - self._rows.T @ seen.astype(np.float32)) / self._shift",
        new="vector / self._shift",
        tests=("tests/learn/risk/test_curvature.py::test_all_three_ways_solve_the_same_system",),
    ),
    Fault(
        name="newton: steps below the doubt",
        target="learn:newton",
        old=" or size <= min(tolerance, doubt) / 8",
        new="",
        tests=("tests/learn/risk/test_curvature.py::test_steps_end_where_only_the_doubt_is_left",),
    ),
)
