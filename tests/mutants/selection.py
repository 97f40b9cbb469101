"""Planted faults in searches: fits, scores and folds that an account must pay for or keep from the rows."""

from __future__ import annotations

from .fault import Fault

ACCOUNT = "tests/privacy/account/test_shared.py"
FITS = "tests/learn/tuning/test_shared_fits.py"
META = "tests/learn/tuning/test_meta_estimators.py"
PAYMENT = "tests/learn/rows/test_payment.py"
STEPS = "tests/learn/steps/test_unpaid_steps.py"
SILENT = "tests/learn/tuning/test_candidates.py::test_a_secret_number_of_runs_shows_nothing"
WHOLE = "tests/learn/tuning/test_whole_models.py"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="random stopping: every run warns",
        target="silence:silence",
        old='warnings.simplefilter("ignore")',
        new="pass",
        tests=(SILENT,),
    ),
    Fault(
        name="random stopping: every run draws its bar",
        target="progress:Progress.__init__",
        old="if bars_hidden.get():",
        new="if False:",
        tests=(SILENT,),
    ),
    Fault(
        name="random stopping: every run is logged",
        target="silence:silence",
        old="logging.disable(logging.CRITICAL)",
        new="pass",
        tests=(SILENT,),
    ),
    Fault(
        name="shared fits: a fit is not counted",
        target="privacy:SharedAccount.next_fit",
        old="self._handed_out += 1",
        new="pass",
        tests=(f"{ACCOUNT}::test_all_fits_and_scores_together_spend_the_account_and_no_more",),
    ),
    Fault(
        name="shared fits: the refit is forgotten",
        target="privacy:SharedAccount.next_fit",
        old="if self._handed_out == self.fits:",
        new="if self._handed_out == self.fits + 1:",
        tests=(f"{FITS}::test_what_would_not_be_paid_is_refused",),
    ),
    Fault(
        name="shared fits: a model goes on with the share of the one before",
        target="privacy:SharedAccount.next_fit",
        old="None if closes else share",
        new="share",
        tests=(f"{ACCOUNT}::test_the_steps_of_a_pipeline_share_one_share_which_the_model_closes",),
    ),
    Fault(
        name="shared fits: a fit without a charge, from a copy of its account",
        target="learn:PaidFit._share_of",
        old="return account.next_fit(",
        new="return (lambda *given, **told: type(account).__mro__[1](account.next_fit(*given, **told).limit, "
        "adjacency=account.adjacency, unit=account.unit, currency=account.currency, seed=1))(",
        tests=(f"{FITS}::test_a_grid_search_splits_the_account_over_its_fits_and_the_release_says_so",),
    ),
    Fault(
        name="shared fits: the release promises one share",
        target="privacy:FitShare.guarantee",
        old="self.whole.guarantee(",
        new="super().guarantee(",
        tests=(f"{ACCOUNT}::test_a_release_states_the_promise_of_all_fits_and_says_how_many_were_paid",),
    ),
    Fault(
        name="shared fits: an exact score",
        target="privacy:FitShare.score",
        old="float(noisy[0]) / values.size",
        new="float(rounded.sum()) / values.size",
        tests=(f"{ACCOUNT}::test_a_score_is_noisy_paid_once_and_bounded_by_one_row",),
    ),
    Fault(
        name="shared fits: scores of others choose the winner",
        target="privacy:FitShare._choice_assumptions",
        old="if rivals > 0:",
        new="if False:",
        tests=(
            "tests/privacy/account/test_shared.py::"
            "test_a_release_says_how_many_of_its_rivals_were_not_scored",
        ),
    ),
    Fault(
        name="shared fits: a fit that nobody scored is not counted",
        target="privacy:FitShare.record_fit",
        old="self.whole._fits_completed += 1",
        new="pass",
        tests=(f"{ACCOUNT}::test_a_release_says_how_many_of_its_rivals_were_not_scored",),
    ),
    Fault(
        name="shared fits: the first of a loop is taken for the last",
        target="privacy:FitShare._choice_assumptions",
        old="if self._refit or self._last else",
        new="if True else",
        tests=(f"{FITS}::test_an_exact_score_is_on_the_release_that_it_chose",),
    ),
    Fault(
        name="shared fits: a score may be asked for again",
        target="privacy:FitShare.score",
        old="if self._is_scored:",
        new="if False:",
        tests=(f"{FITS}::test_scores_on_training_rows_are_not_given_beside",),
    ),
    Fault(
        name="shared fits: the fit of a fold is scored for nothing",
        target="privacy:FitShare.pays_for_scores",
        old="not self._refit",
        new="False",
        tests=(f"{META}::test_every_search_pays_for_every_fit_and_every_score",),
    ),
    Fault(
        name="shared fits: folds within a fold end the search",
        target="privacy:Folds.split",
        old="largest is None or table.count > largest.count",
        new="True",
        tests=(f"{ACCOUNT}::test_the_fit_of_all_rows_is_scored_by_its_owner_and_no_other",),
    ),
    Fault(
        name="shared fits: labels are exchanged under the same rows",
        target="privacy:Folds.split",
        old="self._last_arguments[1] is not y",
        new="False",
        tests=(f"{FITS}::test_a_permutation_test_is_refused",),
    ),
    Fault(
        name="shared fits: a step between folds and fit is not seen",
        target="privacy:FitShare.receive",
        old="self._step_between = True",
        new="pass",
        tests=(f"{META}::test_a_choice_of_columns_inside_of_a_search_is_red_on_the_page",),
    ),
    Fault(
        name="payment: a copy does not know that it is one",
        target="learn:PaidFit.__sklearn_clone__",
        old="copy._is_copy = True",
        new="pass",
        tests=(f"{PAYMENT}::test_a_copy_without_an_account_says_what_it_leaves_out",),
    ),
    Fault(
        name="payment: rows of an array are taken as collected without a word",
        target="learn:prepare_arrays",
        old="other_assumptions=(ROWS_AS_COLLECTED,),",
        new="",
        tests=(f"{PAYMENT}::test_every_fit_of_an_array_assumes_rows_as_collected",),
    ),
    Fault(
        name="payment: who paid is stored with the model",
        target="learn:PaidFit.__getstate__",
        old='if name != "_payer"',
        new="if name",
        tests=(f"{PAYMENT}::test_who_paid_is_not_copied_or_stored",),
    ),
    Fault(
        name="steps: whatever has tags is stateless",
        target="privacy:_is_stateless",
        old="return not get_tags(step).requires_fit",
        new="return get_tags(step) is not None",
        tests=(f"{STEPS}::test_a_step_that_reads_rows_is_refused_by_name_at_every_door",),
    ),
    Fault(
        name="steps: a transformer of columns is not looked into",
        target="privacy:_single_steps",
        old="elif type(step) is FeatureUnion:",
        new="elif False:",
        tests=(f"{STEPS}::test_nested_steps_are_refused_by_their_path",),
    ),
    Fault(
        name="steps: a stateless step may look at all rows at once",
        target="privacy:_treats_rows_alone",
        old="func is None or (",
        new="True or (",
        tests=(f"{STEPS}::test_what_a_stranger_declares_is_written_on_the_release_and_voids_it",),
    ),
    Fault(
        name="steps: a stored step names any function",
        target="learn:_function",
        old="isinstance(function, np.ufunc) and",
        new="",
        tests=(f"{STEPS}::test_a_file_names_no_code",),
    ),
    Fault(
        name="shared fits: folds that look at labels",
        target="privacy:Folds.split",
        old="self.splits.split(np.zeros((rows, 1)))",
        new="self.splits.split(np.zeros((rows, 1)), y, groups)",
        tests=(f"{ACCOUNT}::test_folds_are_cut_without_a_look_at_rows",),
    ),
    Fault(
        name="shared fits: any folds will do",
        target="privacy:SharedAccount.next_fit",
        old="is_copy and self.fits > 1 and self._folded_rows is None",
        new="False",
        tests=(f"{FITS}::test_what_would_not_be_paid_is_refused",),
    ),
    Fault(
        name="shared fits: a first fit spends a plain account",
        target="learn:PaidFit._share_of",
        old="if self._is_copy:",
        new="if False:",
        tests=(f"{FITS}::test_a_plain_account_is_refused_and_says_how_to_share_it",),
    ),
    Fault(
        name="shared fits: a copy of the process takes shares",
        target="privacy:SharedAccount.next_fit",
        old="not self._process.here",
        new="False",
        tests=(f"{ACCOUNT}::test_no_copy_and_no_fork_is_given_a_share",),
    ),
    Fault(
        name="shared fits: threads go on with each other's pipelines",
        target="privacy:ThreadState",
        old="(threading.local)",
        new="",
        tests=(f"{ACCOUNT}::test_of_many_threads_as_many_are_given_a_share_as_there_are_and_each_its_own",),
    ),
    Fault(
        name="shared fits: errors beyond the declared range",
        target="learn:row_scores",
        old="np.clip((predictions - clipped_targets) / (coding.high - coding.low), -1.0, 1.0)",
        new="(predictions - clipped_targets) / (coding.high - coding.low)",
        tests=(f"{FITS}::test_what_a_row_adds_to_a_score_lies_between_0_and_1",),
    ),
    Fault(
        name="whole models: a rehearsal on real rows",
        target="learn:WholeModels._rows",
        old="indices.min() < 0",
        new="False",
        tests=(f"{WHOLE}::test_parts_are_disjoint_and_a_rehearsal_sees_no_row",),
    ),
    Fault(
        name="whole models: every candidate sees all rows of its search",
        target="learn:WholeModels._train",
        old="self._rows(places)",
        new="self._rows(self.examples.features if places.any() else places)",
        tests=(f"{WHOLE}::test_parts_are_disjoint_and_a_rehearsal_sees_no_row",),
    ),
    Fault(
        name="whole models: each scored in a unit of its own",
        target="learn:WholeModels.rows",
        old="unit=self._unit()",
        new="unit=None",
        tests=(f"{WHOLE}::test_numbers_are_compared_in_the_unit_of_the_estimator",),
    ),
    Fault(
        name="whole models: a step that does not pay",
        target="learn:require_searchable",
        old="require_paid_steps(candidate)",
        new="pass",
        tests=(f"{STEPS}::test_a_step_that_reads_rows_is_refused_by_name_at_every_door",),
    ),
    Fault(
        name="whole models: a step that no file holds is searched first",
        target="learn:require_searchable",
        old="require_storable(name, step)",
        new="pass",
        tests=(f"{STEPS}::test_a_step_that_no_file_holds_is_refused_before_anything_is_spent",),
    ),
    Fault(
        name="pipeline: the ledger is not told what is published",
        target="learn:pipeline_release",
        old="release.close_in(account)",
        new="pass",
        tests=("tests/learn/estimators/test_pipeline.py::test_a_ledger_keeps_one_entry_for_all",),
    ),
    Fault(
        name="search: a rehearsal warns of its own seed",
        target="learn:rehearse_search",
        old='warnings.simplefilter("ignore")',
        new="pass",
        tests=(f"{WHOLE}::test_a_search_with_secure_noise_warns_of_no_seed",),
    ),
)
