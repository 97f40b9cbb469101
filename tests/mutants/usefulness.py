"""Faults in what is said of a release's worth, and in the sentences that state bounds."""

from __future__ import annotations

from tests.mutants.fault import Fault

FAULTS = (
    Fault(
        name="useless: nothing ever is",
        target="release:Prospect.useless",
        old="self.hidden >= self.units",
        new="False",
        tests=("tests/release/test_usefulness.py::test_an_estimator_warns_goes_on_and_records_it",),
    ),
    Fault(
        name="useless: ten times too much is refused",
        target="release:units_hidden",
        old="0.5 / total_variation",
        new="5.0 / total_variation",
        tests=(
            "tests/release/test_usefulness.py::test_what_is_called_useless_is_half_the_time_what_a_made_up_table_gives",
        ),
    ),
    Fault(
        name="useless: a private number of rows decides",
        target="learn:any_release",
        old="facts.count if facts.count_is_public else None",
        new="facts.count",
        tests=("tests/release/test_usefulness.py::test_a_count_that_was_read_from_the_data_decides_nothing",),
    ),
    Fault(
        name="useless: a plan pays for its first step and refuses the second",
        target="plan:rehearse_until_first_charge",
        old="with refuse_useless:",
        new="if True:",
        tests=("tests/cli/test_useless.py::test_a_plan_refuses_before_its_first_step_pays",),
    ),
    Fault(
        name="useless: a crumb of a limit is an account",
        target="ledger:_is_spent",
        old="LEAST_SHARE_LEFT * promise",
        new="0.0 * promise",
        tests=("tests/cli/test_useless.py::test_a_full_ledger_is_refused_by_another_exit_code",),
    ),
    Fault(
        name="useless: the page says nothing",
        target="dossier:release_facts",
        old="useless=release.useless",
        new="useless=()",
        tests=("tests/cli/test_useless.py::test_a_command_refuses_before_it_pays",),
    ),
    Fault(
        name="sentences: a bound without its confidence",
        target="release:Certificate.bound",
        old=", with confidence {confidence_text(self.confidence)}",
        new="",
        tests=("tests/release/test_sentences.py::test_a_claim_is_said_with_its_number_scope_and_confidence",),
    ),
    Fault(
        name="sentences: a confidence is rounded up",
        target="privacy:confidence_text",
        old="rounded_down(confidence",
        new="rounded_up(confidence",
        tests=("tests/release/test_sentences.py::test_rates_and_confidences_are_cautious",),
    ),
    Fault(
        name="sentences: what is left is rounded up",
        target="privacy:least_text",
        old="rounded_down(",
        new="rounded_up(",
        tests=(
            "tests/release/test_sentences.py::test_bounds_are_never_shown_below_themselves_and_what_is_left_never_above",
        ),
    ),
    Fault(
        name="sentences: epsilon and delta change places",
        target="privacy:point_text",
        old="epsilon {epsilon} at delta {rounded_up(delta, STORED_DIGITS):g}",
        new="epsilon {rounded_up(delta, STORED_DIGITS):g} at delta {epsilon}",
        tests=(
            "tests/release/test_sentences.py::test_limits_are_named_by_epsilon_and_delta_in_their_places",
        ),
    ),
    Fault(
        name="verify: what the ledger did not close counts as signed",
        target="dossier:Closings.is_signed",
        old="number is not None and self.signed_up_to",
        new="number is None or self.signed_up_to",
        tests=(
            "tests/dossier/verification/test_checks.py::test_a_file_without_a_signature_is_looked_up_by_itself",
        ),
    ),
)
