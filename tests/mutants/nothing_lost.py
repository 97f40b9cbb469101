"""Planted faults in what keeps results, gives budget back and ends commands (findings E3, E5, E6, E8)."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="ending: an unknown error's message is shown",
        target="cli:command_error",
        old="an unexpected {type(error).__name__} ended the command",
        new="an unexpected {error} ended the command",
        tests=("tests/cli/test_ending.py::test_an_unknown_error_is_withheld",),
    ),
    Fault(
        name="ending: an interrupt looks like a finding",
        target="cli:INTERRUPTED_EXIT",
        old="130",
        new="1",
        tests=("tests/cli/test_ending.py::test_every_error_has_its_code_and_its_words",),
    ),
    Fault(
        name="ending: an interrupt that a library hid is forgotten",
        target="cli:errors_in_one_line",
        old="if _interruption.happened:",
        new="if False:",
        tests=("tests/cli/test_ending.py::test_an_interrupt_that_a_library_hides_is_still_one",),
    ),
    Fault(
        name="ending: a pipe that was closed is an error",
        target="cli:ClosableOutput._discard_output",
        old="not isinstance(error, BrokenPipeError)",
        new="True",
        tests=(
            "tests/cli/test_ending.py::"
            "test_a_reader_that_leaves_is_no_error_and_hides_no_finding[-arguments0-0]",
        ),
    ),
    Fault(
        name="ending: a full disk behind standard output goes unsaid",
        target="cli:ClosableOutput._discard_output",
        old="not isinstance(error, BrokenPipeError)",
        new="False",
        tests=("tests/cli/test_ending.py::test_an_output_that_takes_nothing_is_said[]",),
    ),
    Fault(
        name="curve: a fraction may have no denominator",
        target="cli/curve:_parse_value",
        old="/0*[1-9][0-9]{0,17}",
        new="/[0-9]{1,18}",
        tests=("tests/cli/test_ending.py::test_curves_that_cannot_be_read_are_refused",),
    ),
    Fault(
        name="ledger: half a ledger is seen while it is made",
        target="ledger:Store.create",
        old="_begin(temporary, entries)",
        new="name_new(temporary, path)\n_begin(path, entries)\nreturn",
        tests=("tests/ledger/test_creation.py",),
    ),
    Fault(
        name="ledger: whoever comes second to create fails",
        target="ledger:Ledger.open_or_create",
        old="if not os.path.exists(path):\n                    raise",
        new="raise",
        tests=("tests/ledger/test_creation.py::test_whoever_comes_second_opens_what_the_first_made",),
    ),
    Fault(
        name="ledger: init makes the file before the dataset is checked",
        target="ledger:Dataset.declare",
        old='for what, text in (("name", name), ("purpose", purpose)',
        new='for what, text in (("purpose", "")',
        tests=("tests/ledger/test_creation.py::test_a_bad_option_leaves_no_file",),
    ),
    Fault(
        name="permit: a draw that was interrupted is recorded as released",
        target="privacy:Permit.release",
        old="self._count_one_use()",
        new="self._count_one_use()\nself._settle()",
        tests=(
            "tests/privacy/account/test_account.py::test_an_interrupted_permit_is_charged_and_not_released",
        ),
    ),
    Fault(
        name="kept: others may read it",
        target="ledger:Shelf.keep",
        old="mode=0o600",
        new="mode=0o644",
        tests=("tests/ledger/jobs/test_job.py::test_what_cannot_be_written_is_kept_and_found_by_its_key",),
    ),
    Fault(
        name="kept: half a file is taken for a whole one",
        target="data:write_whole",
        old="with whole_file(path, mode=mode, overwrite=overwrite) as temporary:",
        new="for temporary in [path]:",
        tests=("tests/ledger/jobs/test_job.py::test_half_a_result_is_never_kept",),
    ),
    Fault(
        name="kept: the result of another account is taken",
        target="ledger:Shelf.find",
        old='release.provenance.account not in ("", paid_by)',
        new="False",
        tests=("tests/ledger/jobs/test_job.py::test_a_result_of_another_account_is_not_taken_for_this_one",),
    ),
    Fault(
        name="kept: nothing is kept",
        target="ledger:once",
        old="shelf.keep(name, release)",
        new="pass",
        tests=("tests/ledger/jobs/test_job.py::test_what_cannot_be_written_is_kept_and_found_by_its_key",),
    ),
    Fault(
        name="kept: it stays after it was written",
        target="ledger:once",
        old="shelf.remove(name)",
        new="pass",
        tests=("tests/ledger/jobs/test_job.py::test_what_cannot_be_written_is_kept_and_found_by_its_key",),
    ),
    Fault(
        name="kept: a key gives its result to work that asks something else",
        target="ledger:_account_of",
        old="latest.about != about",
        new="False",
        tests=("tests/ledger/jobs/test_job.py::test_a_key_is_bound_to_what_was_asked",),
    ),
    Fault(
        name="job: failed work keeps what it holds",
        target="ledger:_close_on_failure",
        old='== "begun"',
        new='!= "kept"',
        tests=(
            "tests/ledger/jobs/test_job.py::test_however_often_it_fails_it_is_paid_once_or_said_to_be_gone",
        ),
    ),
    Fault(
        name="job: work under keys is paid again when it goes on",
        target="ledger:_close_on_failure",
        old='== "begun"',
        new='== "kept"',
        tests=(
            "tests/ledger/jobs/test_job.py::test_however_often_it_fails_it_is_paid_once_or_said_to_be_gone",
        ),
    ),
    Fault(
        name="job: the account is opened before the first charge",
        target="ledger:opened_by_first_charge",
        old="exists or refusal is not None",
        new="True",
        tests=(
            "tests/ledger/jobs/test_job.py::test_work_that_is_refused_before_its_first_charge_opens_nothing",
        ),
    ),
    Fault(
        name="job: an account takes more than it was told there is",
        target="ledger:opened_by_first_charge",
        old='opened._caps != (("", amount),)',
        new="False",
        tests=("tests/ledger/jobs/test_job.py::test_an_account_takes_no_more_than_it_was_told_there_is",),
    ),
    Fault(
        name="holder: a number that was used again counts as alive",
        target="ledger:Holder.alive",
        old="_start_of(self.process) == start",
        new="_start_of(self.process) is not None",
        tests=("tests/ledger/test_holder.py::test_who_is_alive",),
    ),
    Fault(
        name="holder: a zombie counts as alive",
        target="ledger:_start_of",
        old='or fields[0] in "ZX"',
        new="",
        tests=("tests/ledger/test_holder.py::test_a_process_that_ended_and_was_not_asked_for_is_dead",),
    ),
    Fault(
        name="holder: who cannot be seen counts as dead",
        target="ledger:require_nobody",
        old="holder.alive is not False",
        new="holder.alive",
        tests=("tests/ledger/test_holder.py::test_where_it_cannot_be_told_force_is_needed",),
    ),
    Fault(
        name="holder: a live process loses its account",
        target="ledger:Ledger.close_account",
        old="if not force:",
        new="if False:",
        tests=("tests/ledger/test_holder.py::test_a_live_process_keeps_its_account_and_a_dead_one_does_not",),
    ),
    Fault(
        name="holder: a fork that charges is not noted",
        target="ledger:LedgerJournal.charge",
        old="os.getpid() != self._process",
        new="False",
        tests=("tests/ledger/test_holder.py::test_a_fork_that_charges_is_noted",),
    ),
    Fault(
        name="plan: later steps are not asked before the first one spends",
        target="plan:ReleasePlan._check",
        old="step.check(self.setting, ledger, by_name)",
        new="pass",
        tests=(
            "tests/cli/test_keeping.py::"
            "test_what_is_wrong_with_a_later_step_is_said_before_anything_is_spent[members of]",
        ),
    ),
    Fault(
        name="plan: a paid step is not rehearsed",
        target="plan:rehearse_until_first_charge",
        old="step.make(table, account)",
        new="pass",
        tests=(
            "tests/cli/test_keeping.py::test_a_plan_with_a_wrong_parameter_opens_no_account_and_is_accepted_when_it_is_corrected",
        ),
    ),
)
