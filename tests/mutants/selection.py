"""Planted faults in searches: fits, scores and folds that an account must pay for or keep from the rows."""

from __future__ import annotations

from .fault import Fault

ACCOUNT = "tests/privacy/account/test_shared.py"
FITS = "tests/learn/tuning/test_shared_fits.py"
WHOLE = "tests/learn/tuning/test_whole_models.py"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="shared fits: a fit is not counted",
        target="privacy:SharedAccount.next_fit",
        old="self._taken += 1",
        new="pass",
        tests=(f"{ACCOUNT}::test_all_fits_and_scores_together_spend_the_account_and_no_more",),
    ),
    Fault(
        name="shared fits: the refit is forgotten",
        target="privacy:SharedAccount.next_fit",
        old="self._taken == self.fits",
        new="self._taken == self.fits + 1",
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
        target="learn:share_of",
        old="return account.next_fit(",
        new="return (lambda **told: type(account).__mro__[1](account.next_fit(**told).limit, "
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
        new="float(kept.sum()) / values.size",
        tests=(f"{ACCOUNT}::test_a_score_is_noisy_paid_once_and_bounded_by_one_row",),
    ),
    Fault(
        name="shared fits: scores of others choose the winner",
        target="privacy:FitShare.finished",
        old="to_be_scored and self.whole._turn.open is not self",
        new="False",
        tests=(f"{FITS}::test_what_would_not_be_paid_is_refused",),
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
        target="privacy:SharedAccount._require_paid_selection",
        old="not self._cut",
        new="False",
        tests=(f"{FITS}::test_what_would_not_be_paid_is_refused",),
    ),
    Fault(
        name="shared fits: a first fit spends a plain account",
        target="learn:share_of",
        old="if step:",
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
        name="shared fits: exact scores of threads that have one fit each",
        target="privacy:SharedAccount._require_paid_selection",
        old="threading.get_ident() != self._thread and",
        new="False and",
        tests=(f"{ACCOUNT}::test_a_thread_that_may_have_no_next_fit_must_ask_for_the_paid_score",),
    ),
    Fault(
        name="shared fits: threads go on with each other's pipelines",
        target="privacy:Turn",
        old="(threading.local)",
        new="",
        tests=(f"{ACCOUNT}::test_of_many_threads_as_many_are_given_a_share_as_there_are_and_each_its_own",),
    ),
    Fault(
        name="shared fits: errors beyond the declared range",
        target="learn:row_scores",
        old="np.clip((predicted - wanted) / (coding.high - coding.low), -1.0, 1.0)",
        new="(predicted - wanted) / (coding.high - coding.low)",
        tests=(f"{FITS}::test_what_a_row_adds_to_a_score_lies_between_0_and_1",),
    ),
    Fault(
        name="whole models: a rehearsal on real rows",
        target="learn:WholeModels._rows",
        old="found.min() < 0",
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
        old="for name, step in steps:",
        new="for name, step in steps[:0]:",
        tests=(f"{WHOLE}::test_steps_may_be_exchanged_and_a_step_that_does_not_pay_is_refused",),
    ),
    Fault(
        name="pipeline: the ledger is not told what is published",
        target="learn:pipeline_release",
        old="made.close_in(account)",
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
