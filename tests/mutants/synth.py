"""Planted faults in synthesis."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="one-layer functions: replaced rows move them once",
        target="synth:OneLayer.l2_sensitivity",
        old="reach = high - low if exchanged else high",
        new="reach = 0.5 * (high - low) if exchanged else high",
        tests=("tests/synth/workload/test_one_layer.py::test_where_the_declared_sensitivity_is_reached",),
    ),
    Fault(
        name="one-layer functions: values above 1",
        target="synth:OneLayer._steps",
        old="np.clip(linear, 0, STEPS_OF_ONE)",
        new="np.maximum(linear, 0)",
        tests=("tests/synth/workload/test_one_layer.py::test_values_are_what_the_formula_says",),
    ),
    Fault(
        name="one-layer functions: a certificate over the first block",
        target="synth:OneLayer.sums_over",
        old="total += self._steps(codes[start : start + at_once]).sum(axis=0)",
        new="total = self._steps(codes[start : start + at_once]).sum(axis=0)",
        tests=("tests/synth/workload/test_one_layer.py::test_sums_do_not_depend_on_blocks_or_order",),
    ),
    Fault(
        name="certificate: a user moves it by one row",
        target="synth:certificate_noise",
        old="max_rows + ROUNDING_ERROR",
        new="1 + ROUNDING_ERROR",
        tests=(
            "tests/synth/test_certificate.py::test_noise_grows_with_the_rows_of_a_user_and_with_the_groups",
        ),
    ),
    Fault(
        name="certificate: groups do not share the failure probability",
        target="synth:upper_bounds",
        old="failure / noisy.size",
        new="failure",
        tests=("tests/synth/test_certificate.py::test_groups_hold_together_at_the_stated_confidence",),
    ),
    Fault(
        name="certificate: other rows get an old one",
        target="synth:_key",
        old='f"certificate-{fingerprint[:16]}"',
        new='"certificate"',
        tests=("tests/privacy/account/test_resume.py::test_other_rows_never_get_an_old_certificate",),
    ),
    Fault(
        name="independent: many tables, the sensitivity of one",
        target="synth/independent:_noise",
        old="counts_l2(data.adjacency, data.unit, marginals=tables)",
        new="counts_l2(data.adjacency, data.unit, marginals=1)",
        tests=("tests/synth/methods/test_independent.py::test_the_noise_is_as_large_as_it_says",),
    ),
    Fault(
        name="dual query: half of each draw charged",
        target="synth:DualQueryPlan.draw_epsilon",
        old="2.0 * self.step",
        new="self.step",
        tests=("tests/synth/classics/test_dual_query.py::test_the_account_is_charged_what_the_formula_says",),
    ),
    Fault(
        name="residuals: replace taken for two independent removals",
        target="synth:Strategy.sensitivity",
        old="math.sqrt(2.0 * self._largest_exchange(precision)) * (1 + 1e-12)",
        new="math.sqrt(2.0) * alone",
        tests=(
            "tests/synth/workload/test_residual_basis.py::test_the_sensitivity_is_reached_by_the_worst_neighbours",
        ),
    ),
    Fault(
        name="dqrs: the normaliser's history forgotten",
        target="synth:odds_sensitivity",
        old="2.0 + 2.0 * (past - 1) * math.tanh(plan.step / 2.0)",
        new="2.0",
        tests=("tests/synth/classics/test_dqrs.py::test_the_declared_reach_is_of_the_right_size",),
    ),
    Fault(
        name="selections: sensitivity halved",
        target="synth:SCORE_SENSITIVITY",
        old="1.0 + 2.0**-20",
        new="0.5 + 2.0**-20",
        tests=("tests/synth/classics/test_frank_wolfe_dual.py::test_selections_cost_what_the_notes_say",),
    ),
    Fault(
        name="adaptive: scores move by the largest weight only",
        target="synth:_Run._select",
        old="* counts_l1(self.data.adjacency, self.data.unit)",
        new="",
        tests=(
            "tests/synth/methods/test_adaptive.py::test_scores_have_the_sensitivity_of_the_largest_weight",
        ),
    ),
    Fault(
        name="adaptive: many columns, the sensitivity of one",
        target="synth:_Run.measure_columns",
        old="marginals=len(names)",
        new="marginals=1",
        tests=(
            "tests/synth/methods/test_adaptive.py::test_neighbours_are_within_every_declared_sensitivity_and_reach_it",
        ),
    ),
    Fault(
        name="measure_first: noise is held, too",
        target="synth:_distance_beyond_noise",
        old=" - math.sqrt(2.0 / math.pi) * released.noise_std * released.values.size",
        new="",
        tests=(
            "tests/synth/methods/test_measure_first.py::test_what_is_noise_is_not_held_and_what_stands_out_is",
        ),
    ),
    Fault(
        name="measure_first: rows move into impossible cells",
        target="synth:measure_first",
        old=", allowed=masks",
        new="",
        tests=(
            "tests/synth/methods/test_measure_first.py::test_impossible_cells_have_no_weight_and_no_rows",
        ),
    ),
    Fault(
        name="tree: edges chosen as if nothing were replaced",
        target="synth:_spanning_edges",
        old="counts_l1(data.adjacency, data.unit)",
        new="1.0",
        tests=(
            "tests/synth/methods/test_tree.py::test_neighbours_are_within_every_declared_sensitivity_and_reach_it",
        ),
    ),
    Fault(
        name="rows: dealt without a turn",
        target="synth:systematic_cells",
        old="+ np.repeat(rotation, sizes)",
        new="",
        tests=("tests/synth/models/graphical/test_rows.py::test_counts_are_right_on_average",),
    ),
    Fault(
        name="rows: a private number at half its price",
        target="synth:noisy_rows",
        old="2.0 * share",
        new="4.0 * share",
        tests=(
            "tests/synth/methods/test_adaptive.py::test_a_private_number_of_rows_is_paid_for_and_never_read",
        ),
    ),
    Fault(
        name="rows: a private number is read",
        target="synth:adaptive",
        old="noisy_rows(data, account=account, share=COUNTING_SHARE)",
        new="data.public_count",
        tests=(
            "tests/synth/methods/test_adaptive.py::test_a_private_number_of_rows_is_paid_for_and_never_read",
        ),
    ),
    Fault(
        name="synthesisers: nobody is asked whom an account protects",
        target="synth:SynthesisMethod.fit",
        old="admit(data, account, self)",
        new="None",
        tests=("tests/synth/methods/test_tree.py::test_refuses_before_it_spends",),
    ),
    Fault(
        name="synthesisers: options are passed on unread",
        target="synth:SynthesisMethod.fit",
        old="check_options(options, self.options, method=self.name)",
        new="options = {name: options[name] for name in options if name in {o.name for o in self.options}}",
        tests=(
            "tests/synth/methods/test_method.py::test_a_synthesizer_refuses_options_before_anything_is_charged",
        ),
    ),
    Fault(
        name="resumed jobs: what waits to be repeated counts as spent",
        target="privacy:ResumableAccount.remaining",
        old="spent - charge.cost",
        new="spent",
        tests=("tests/privacy/account/test_resume.py::test_what_remains_is_what_remained_then",),
    ),
    Fault(
        name="resumed jobs: charges of other jobs count as not yet spent",
        target="privacy:ResumableAccount.of",
        old='(known is not None and known.startswith(f"{job}/"))',
        new="known is not None",
        tests=("tests/privacy/account/test_resume.py::test_what_remains_is_what_remained_then",),
    ),
    Fault(
        name="counts: a private number of rows is used as it is",
        target="synth:ExactCounts.public_count",
        old="self.table.n_public is None",
        new="False",
        tests=("tests/synth/test_exact_counts.py", "tests/review/test_synth_findings.py"),
    ),
    Fault(
        name="counts: a declared number of rows is not said",
        target="synth:ExactCounts.assumptions",
        old="assumed = (*assumed, declared)",
        new="pass",
        tests=(
            "tests/review/test_synth_findings.py::"
            "test_a_declared_number_of_rows_is_among_the_assumptions[independent]",
        ),
    ),
    Fault(
        name="contents: queries are stored by their columns alone",
        target="synth:_groups_json",
        old="| {field.name: getattr(group, field.name) for field in fields(group) "
        'if field.name not in ("columns", "weight")}',
        new="| {}",
        tests=("tests/review/test_synth_findings.py",),
    ),
    Fault(
        name="resume: a key is not bound to what its job asks",
        target="synth:Synthesizer.fit",
        old="about=about",
        new='about=""',
        tests=("tests/review/test_synth_findings.py",),
    ),
    Fault(
        name="certificate: rows that were dropped are not spoken of",
        target="synth:certify",
        old="data.unit.kept_rows_text() + declared_count_clause(data)",
        new="declared_count_clause(data)",
        tests=("tests/review/test_synth_findings.py",),
    ),
    Fault(
        name="whole table: a user moves the rows beyond the bound by one",
        target="synth:_beyond_high",
        old="max_rows=sensitivity",
        new="max_rows=1",
        tests=("tests/synth/test_whole_table.py::test_charges_come_from_the_certificates_share",),
    ),
    Fault(
        name="whole table: users' rows are counted beyond the cap",
        target="data:MemoryTable._beyond",
        old="np.minimum(self._kept.owned, most)",
        new="self._kept.owned",
        tests=(
            "tests/synth/test_whole_table.py::test_one_user_moves_the_rows_beyond_by_the_cap_less_the_bound",
        ),
    ),
    Fault(
        name="whole table: the share that was left out is not bounded from above",
        target="synth:_beyond_high",
        old="+ offset(mechanism, std, failure=failure)",
        new="",
        tests=("tests/synth/test_whole_table.py::test_the_share_left_out_is_bounded_as_often_as_it_says",),
    ),
    Fault(
        name="certificates: the quantile of the noise is the end below it",
        target="synth:offset",
        old="float(points[first])",
        new="float(points[first - 1])",
        tests=("tests/synth/test_certificate.py::test_the_printed_offset_of_the_thesis_fails_in_45_percent",),
    ),
    Fault(
        name="whole table: nothing is left out where nothing may have been kept",
        target="synth:share_left_out",
        old="return 1.0",
        new="return 0.0",
        tests=("tests/synth/test_whole_table.py::test_where_nothing_may_be_left_nothing_is_claimed",),
    ),
    Fault(
        name="whole table: users' means move by half of Hoeffding's bound",
        target="synth:user_shift",
        old="math.log(2 * queries / failure) / 2",
        new="math.log(2 * queries / failure) / 8",
        tests=("tests/synth/test_whole_table.py::test_ten_thousand_users",),
    ),
    Fault(
        name="whole table: answers speak of the rows that were kept",
        target="synth/released:released_intervals",
        old='0.0 if whole is None else float(whole.details["left_out"])',
        new="0.0",
        tests=(
            "tests/synth/test_whole_table.py::test_answers_cover_the_whole_table_where_that_was_paid_for",
        ),
    ),
    Fault(
        name="whole table: the declared cap is not among the assumptions",
        target="synth:Synthesizer._as_release",
        old="assumed.append(cap_assumption(data.unit, self.certificate.user_cap))",
        new="pass",
        tests=(
            "tests/synth/test_whole_table.py::test_answers_cover_the_whole_table_where_that_was_paid_for",
        ),
    ),
    Fault(
        name="whole table: what is left out goes unsaid",
        target="privacy:PrivacyUnit.left_out_text",
        old='f"; rows beyond {self.max_rows} per {self.column} are not covered"',
        new='""',
        tests=("tests/synth/test_whole_table.py::test_without_a_cap_what_is_left_out_is_not_covered",),
    ),
    Fault(
        name="answers: the noise of a private number of rows is forgotten",
        target="synth:fieller_set",
        old="(counts * rows_std) ** 2 + ",
        new="",
        tests=("tests/synth/test_answers.py::test_a_share_is_inside_exactly_where_the_pivot_is_small",),
    ),
    Fault(
        name="answers: a table that may be empty has shares",
        target="synth:fieller_set",
        old="rows <= 0 or leading <= 0",
        new="leading == 0",
        tests=("tests/synth/test_answers.py::test_a_share_is_inside_exactly_where_the_pivot_is_small",),
    ),
    Fault(
        name="answers: the sum of two Laplace noises is taken for one",
        target="synth:ratio_quantile",
        old="max(high * (1 + 1e-4), noise_quantile(confidence, pure=True))",
        new="noise_quantile(confidence, pure=True)",
        tests=(
            "tests/synth/test_answers.py::test_no_sum_of_two_laplace_noises_is_beyond_its_quantile_too_often",
        ),
    ),
    Fault(
        name="delta: no ceiling where the number of units is private",
        target="privacy:require_small_delta",
        old="delta <= MOST_DELTA",
        new="delta < 1",
        tests=(
            "tests/synth/test_answers.py::test_delta_has_a_ceiling_where_nothing_bounds_the_number_of_rows",
        ),
    ),
    Fault(
        name="constraints: decided when rows are drawn",
        target="synth:Synthesizer._zeros",
        old="require_possible(zeros, data.domain)",
        new="pass",
        tests=("tests/synth/rows/test_possible_record.py::test_impossible_constraints_cost_nothing",),
    ),
    Fault(
        name="constraints: each one is decided by itself",
        target="synth:require_possible",
        old="PossibleRecords(domain, constraints)",
        new="[PossibleRecords(domain, [one]) for one in constraints]",
        tests=("tests/synth/rows/test_possible_record.py",),
    ),
    Fault(
        name="constraints: wide cells that have begun are forgotten",
        target="synth:PossibleRecords._solve",
        old="self._open_clauses(domains, part)",
        new="frozenset()",
        tests=(
            "tests/synth/rows/test_possible_record.py::test_wide_cells_are_part_of_what_is_left_of_a_problem",
        ),
    ),
    Fault(
        name="constraints: rows that no walk leads out stay impossible",
        target="synth:_random_walk",
        old="records.nearest(dict(zip(names, codes[row].tolist(), strict=True)))",
        new="{}",
        tests=("tests/synth/rows/test_possible_record.py::test_rows_are_found_whatever_the_model",),
    ),
    Fault(
        name="constraints: a model holds them however large that makes it",
        target="synth:zeros_that_fit",
        old="<= MOST_ESTIMATED_CELLS:\n        return list(zeros)",
        new="> 0:\n        return list(zeros)",
        tests=(
            "tests/synth/rows/test_possible_record.py"
            "::test_constraints_that_would_make_a_model_too_large_are_kept_by_its_rows",
        ),
    ),
    Fault(
        name="residuals: nothing to measure is measured",
        target="synth:Strategy.of",
        old="if not sets:",
        new="if False:",
        tests=(
            "tests/synth/test_small_tables.py::test_columns_of_one_category[gaussian-replace-1-one column]",
        ),
    ),
    Fault(
        name="auto: takes a method that divides by a private number of rows",
        target="synth:SynthesisMethod.takes",
        old="task.rows_are_public or task.universe_size > self.divides_within",
        new="True",
        tests=("tests/synth/test_choice.py::test_auto_never_takes_a_method_that_refuses",),
    ),
    Fault(
        name="rows: every new draw is the first",
        target="synth:ReleasedTable.sample",
        old="drawn > 1",
        new="False",
        tests=("tests/synth/test_synthesizer.py::test_every_new_draw_gives_other_rows",),
    ),
    Fault(
        name="auto: what the account counts in is not asked",
        target="synth:SynthesisMethod.takes",
        old="task.currency is None or task.currency in self.currencies",
        new="True",
        tests=("tests/synth/test_small_tables.py::test_auto_takes_a_method_that_the_account_can_pay",),
    ),
    Fault(
        name="thinning: the judge sees the noise that was trained on",
        target="synth:gaussian_thinning",
        old="-2.0 * drawn",
        new="2.0 * drawn",
        tests=(
            "tests/synth/models/generator/test_training.py"
            "::test_the_halves_are_independent_and_as_noisy_as_they_say",
        ),
    ),
    Fault(
        name="thinning: reused, values that were trained on judge",
        target="synth:train_generator",
        old="targets(train), targets(validation)",
        new="targets(train), targets(train)",
        tests=(
            "tests/synth/models/generator/test_training.py::test_training_stops_before_the_noise_is_learnt",
        ),
    ),
    Fault(
        name="decoder: the farther one is taken",
        target="synth:_fit_tree",
        old="distances[best] < MOST_ERROR_RATIO * instead.distance",
        new="distances[best] > MOST_ERROR_RATIO * instead.distance",
        tests=(
            "tests/synth/methods/test_query_gan.py::test_values_held_back_choose_the_decoder[rows0-tree]",
        ),
    ),
    Fault(
        name="decoder: what trained the tree judges it",
        target="synth:validation_error",
        old="* part.values - held.values",
        new="* part.values - part.values",
        tests=(
            "tests/synth/models/generator/test_training.py"
            "::test_the_distance_held_back_estimates_the_squared_error",
        ),
    ),
    Fault(
        name="grown tree: tables of pure noise are held",
        target="synth:_standing_out",
        old="distance - degrees - 2.0 * math.sqrt(degrees * chance) - 2.0 * chance",
        new="distance - degrees",
        tests=(
            "tests/synth/models/graphical/test_growing.py::test_the_largest_of_many_noises_rarely_stands_out",
        ),
    ),
    Fault(
        name="grown tree: one turn joins the same columns twice",
        target="synth:_forest",
        old="        if not joined.is_apart(columns):\n            continue\n",
        new="",
        tests=("tests/synth/models/graphical/test_growing.py::test_the_first_turn_of_a_chain_is_the_chain",),
    ),
    Fault(
        name="two looks: the second one counts twice",
        target="synth:NoisyResiduals.combined_with",
        old="precision[own[columns]] += more",
        new="precision[own[columns]] += 2 * more",
        tests=(
            "tests/synth/methods/test_two_looks.py::test_two_looks_at_everything_are_one_look_with_both_budgets",
        ),
    ),
    Fault(
        name="two looks: the second one takes the place of the first",
        target="synth:NoisyResiduals.combined_with",
        old="(before * values[columns] + more * other.values[columns]) / (before + more)",
        new="other.values[columns]",
        tests=(
            "tests/synth/methods/test_two_looks.py::test_a_look_through_much_noise_changes_next_to_nothing",
        ),
    ),
    Fault(
        name="two looks: the larger error is taken",
        target="synth:two_looks",
        old="if few.total < FAVOURED_RATIO * everything:",
        new="if few.total > FAVOURED_RATIO * everything:",
        tests=(
            "tests/synth/methods/test_two_looks.py::"
            "test_the_trial_tells_a_chain_from_a_hidden_number[a chain]",
        ),
    ),
    Fault(
        name="two looks: a forest that joins the same columns again",
        target="synth:choose_tables",
        old="and (not apart or joined.is_apart(columns))",
        new="",
        tests=("tests/synth/methods/test_two_looks.py::test_a_forest_joins_every_column_once",),
    ),
    Fault(
        name="two looks: noise is taken for structure",
        target="synth:WorkloadMeasurement.forecast_tree_error",
        old="error**2 - noise_now**2",
        new="error**2",
        tests=("tests/synth/methods/test_two_looks.py::test_what_is_foretold_of_a_tree",),
    ),
    Fault(
        name="two looks: tables of pure noise are kept",
        target="synth:WorkloadMeasurement.stands_out",
        old="return distance > degrees + STANDING_OUT * math.sqrt(degrees)",
        new="return True",
        tests=("tests/synth/methods/test_two_looks.py::test_tables_within_the_noise_are_dropped",),
    ),
    Fault(
        name="two looks: where a trial cannot tell",
        target="synth:worth_a_trial",
        old="and error_noise <= MOST_ERROR_NOISE",
        new="",
        tests=(
            "tests/synth/methods/test_two_looks.py::test_auto_looks_twice_where_a_trial_is_worth_it_and_can_tell",
        ),
    ),
    Fault(
        name="two looks: the mean errors of a replaced row move once",
        target="synth:WorkloadMeasurement.mean_errors",
        old="counts_l1(self.data.adjacency, self.data.unit) *",
        new="0.5 *",
        tests=(
            "tests/synth/methods/test_two_looks.py::"
            "test_neighbours_stay_within_the_declared_sensitivities_and_reach_them[replace]",
        ),
    ),
    Fault(
        name="query gan: residuals with half their noise",
        target="synth:residual_noise",
        old="l2_sensitivity=l2, adjacency",
        new="l2_sensitivity=l2 / 2, adjacency",
        tests=(
            "tests/synth/methods/test_query_gan.py"
            "::test_neighbours_stay_within_the_declared_sensitivity_and_reach_it",
        ),
    ),
    Fault(
        name="generator: the first column of a triple has no derivative",
        target="synth:_descend",
        old="    _back_leading(features, block.prefix, back_lead, slope)\n",
        new="",
        tests=("tests/synth/models/generator/test_targets.py::test_the_slope_is_the_derivative",),
    ),
    Fault(
        name="leader: a late draw costs what an early one does",
        target="synth:draw_queries",
        old="plan.draw_epsilon(past, truth.size)",
        new="plan.draw_epsilon(1, truth.size)",
        tests=("tests/synth/classics/test_query_gan_leader.py::test_the_game_costs_what_the_plan_says",),
    ),
    Fault(
        name="leader: the regret certificate forgets the step",
        target="synth:regret_certificate",
        old=" + plan.step / 2.0",
        new="",
        tests=(
            "tests/synth/classics/test_query_gan_leader.py::test_the_regret_bound_is_that_of_the_weights",
        ),
    ),
    Fault(
        name="select: a table is asked twice",
        target="synth:select_rounds",
        old="            del unmeasured[chosen]\n",
        new="",
        tests=(
            "tests/synth/classics/test_query_gan_select.py::test_rounds_buy_accuracy_and_the_budget_ends_the_game",
        ),
    ),
    Fault(
        name="game: the average is the last move",
        target="synth:average_mixture",
        old="for model in models]",
        new="for model in models[-1:]]",
        tests=(
            "tests/synth/classics/test_query_gan_select.py::test_the_average_is_the_mixture_of_all_rounds",
        ),
    ),
    Fault(
        name="payoffs: a query and its negation are one",
        target="synth:Payoffs.__init__",
        old="sign * float(values[tuple(cell)])",
        new="float(values[tuple(cell)])",
        tests=("tests/synth/models/generator/test_payoffs.py::test_the_value_is_the_mean_payoff",),
    ),
    Fault(
        name="stacks: leading cells in another order than their values",
        target="synth:_stack",
        old='indexing="ij"',
        new='indexing="xy"',
        tests=(
            "tests/synth/models/generator/test_network.py::test_the_distance_and_its_derivative_are_numpys",
        ),
    ),
    Fault(
        name="rows: a matrix of excesses forgets who left",
        target="synth:PairExcess.move",
        old="(new - old).T @ others",
        new="new.T @ others",
        tests=(
            "tests/synth/rows/test_fit_rows.py"
            "::test_a_matrix_of_excesses_makes_the_moves_of_tables_looked_up",
        ),
    ),
    Fault(
        name="rows: a cube of excesses moves in one order of its columns only",
        target="synth:TripleExcess.move",
        old="self._scores[:, value] += changed",
        new="pass",
        tests=(
            "tests/synth/rows/test_fit_rows.py::test_a_cube_of_excesses_makes_the_moves_of_tables_looked_up",
        ),
    ),
    Fault(
        name="universe: a table that lies in a shared one only in part is summed out of it",
        target="synth:shared_tables",
        old="inside = missing == 0",
        new="inside = missing <= 1",
        tests=("tests/synth/models/test_dense.py::test_shared_sums_are_those_of_each_table_by_itself",),
    ),
    Fault(
        name="auto: noise of many tables taken for that of one",
        target="synth:SynthesisTask.rough_noise",
        old="marginals=tables",
        new="marginals=1",
        tests=(
            "tests/synth/test_choice.py::test_tables_that_all_stand_out_of_their_noise_are_measured_at_once",
        ),
    ),
    Fault(
        name="limited translation: a wrong model moves cells as far as it likes",
        target="synth:limit_deviations",
        old="return np.clip(estimate, noisy.values - reach, noisy.values + reach)",
        new="return estimate",
        tests=(
            "tests/synth/rows/test_fit_rows.py::test_a_wrong_model_moves_no_cell_far_from_what_was_measured",
        ),
    ),
    Fault(
        name="shrinking: the best known cells pay for the others",
        target="synth:shrink_to_model",
        old="return _with_total(posterior, trust, total)",
        new="return np.maximum(posterior, 0.0) * (total / np.maximum(posterior, 0.0).sum())",
        tests=("tests/synth/rows/test_fit_rows.py::test_what_is_too_much_is_taken_where_least_is_known",),
    ),
    Fault(
        name="shrinking: a wrong model is believed as a right one",
        target="synth:shrink_to_model",
        old=" + relative_error * prior**2",
        new="",
        tests=(
            "tests/synth/rows/test_fit_rows.py::test_large_cells_follow_the_measurement_where_the_model_is_wrong",
        ),
    ),
    Fault(
        name="shrinking: noise counts as the model's error",
        target="synth:model_error",
        old="(noisy.values - expected) ** 2 - variance",
        new="(noisy.values - expected) ** 2",
        tests=(
            "tests/synth/rows/test_fit_rows.py::test_how_far_a_model_is_off_is_found_in_the_released_table",
        ),
    ),
    Fault(
        name="sweep: what noise finds of a model's error is believed",
        target="synth:shrink_to_model",
        old="DISCOUNTED_DEVIATIONS if cells else 0.0",
        new="0.0",
        tests=("tests/synth/rows/test_fit_rows.py::test_a_sweep_over_noise_leaves_a_right_model_alone",),
    ),
    Fault(
        name="sweep: the largest of many noises counts against the model",
        target="synth:shrink_to_model",
        old="significant_deviations(cells) if cells else MOST_DEVIATIONS",
        new="MOST_DEVIATIONS",
        tests=("tests/synth/rows/test_fit_rows.py::test_a_sweep_over_noise_leaves_a_right_model_alone",),
    ),
    Fault(
        name="auto: many small tables are left to a selection",
        target="synth:SynthesisTask.shows_every_table",
        old="MOST_SMALL_TABLE_CELLS if small else MOST_TRAINED_CELLS",
        new="MOST_TRAINED_CELLS",
        tests=(
            "tests/synth/test_choice.py::test_tables_that_all_stand_out_of_their_noise_are_measured_at_once",
        ),
    ),
    Fault(
        name="gaussian: a wide table's own sums are forgotten",
        target="synth:fitted_model",
        old="[*measured, *lower()]",
        new="measured",
        tests=(
            "tests/synth/methods/test_gaussian.py::test_what_a_wide_table_says_of_few_columns_is_not_lost_in_its_noise",
        ),
    ),
    Fault(
        name="gaussian: sums are taken for as sharp as cells",
        target="synth:summed_tables",
        old="noise_std=whole.noise_std * math.sqrt(whole.values.size / summed.size)",
        new="noise_std=whole.noise_std",
        tests=(
            "tests/synth/methods/test_gaussian.py::test_sums_of_a_table_are_its_own_with_the_noise_of_as_many_cells",
        ),
    ),
    Fault(
        name="auto: looks at a private number of rows",
        target="synth:Synthesizer.fit",
        old="rows=data.public_rows, objective",
        new="rows=data.table.count(), objective",
        tests=("tests/synth/test_choice.py::test_a_private_number_of_rows_is_not_looked_at",),
    ),
    Fault(
        name="auto: the largest error is forgotten",
        target="synth:SynthesisTask.wants_largest",
        old='self.objective == "largest"',
        new='self.objective == "larger"',
        tests=("tests/synth/test_choice.py::test_the_largest_error_is_made_small_by_measuring_everything",),
    ),
    Fault(
        name="workload: a target whose marginals are too large is left out",
        target="synth:Workload.marginals",
        old="            sets += [pair for pair in alone if len(pair) == 2]\n",
        new="",
        tests=("tests/synth/test_synthesizer.py::test_a_declared_target_is_not_forgotten",),
    ),
    Fault(
        name="mwem: a replay forgets what a query moved",
        target="synth:replay_measurements",
        old="            total += float(change.sum())\n",
        new="",
        tests=("tests/synth/methods/test_mwem.py::test_a_replay_is_multiplicative_weights_by_hand",),
    ),
    Fault(
        name="columns in order: cells that hold such records are struck out",
        target="synth/rows:ColumnsInOrder.of_columns",
        old="furthest < least",
        new="nearest < least",
        tests=(
            "tests/synth/rows/test_column_order.py::test_every_pair_of_cells_that_is_left_holds_such_a_record",
        ),
    ),
    Fault(
        name="columns in order: values forget each other inside their cells",
        target="synth/rows:OrderedCells.decide",
        old="        self._narrow()\n",
        new="",
        tests=("tests/synth/rows/test_column_order.py::test_values_keep_to_it_inside_their_cells",),
    ),
    Fault(
        name="columns in order: forgotten by the file",
        target="synth:Synthesizer.from_release",
        old=", constraints=contents.constraints",
        new="",
        tests=("tests/synth/rows/test_column_order.py::test_a_loaded_release_draws_rows_in_order",),
    ),
    Fault(
        name="certificate request: held against the unit after its budget was spent",
        target="synth:Synthesizer.fit",
        old="request.check_unit(data.unit)",
        new="pass",
        tests=("tests/synth/test_whole_table.py::test_bad_declarations_cost_nothing",),
    ),
)
