"""Planted faults in what keeps results, gives budget back and ends commands (findings E3, E5, E6, E8)."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="ending: an unknown error's message is shown",
        target="cli:refusal",
        old="an unexpected {type(error).__name__} ended the command",
        new="an unexpected {error} ended the command",
        tests=("tests/cli/test_ending.py::test_an_unknown_error_is_withheld",),
    ),
    Fault(
        name="ending: an interrupt looks like a finding",
        target="cli:INTERRUPTED",
        old="130",
        new="1",
        tests=("tests/cli/test_ending.py::test_every_error_has_its_code_and_its_words",),
    ),
    Fault(
        name="ending: an interrupt that a library hid is forgotten",
        target="cli:one_line",
        old='if _seen["interrupt"]:',
        new="if False:",
        tests=("tests/cli/test_ending.py::test_an_interrupt_that_a_library_hides_is_still_one",),
    ),
    Fault(
        name="ending: a pipe that was closed is an error",
        target="cli:Pipe._let_go",
        old="not isinstance(error, BrokenPipeError)",
        new="True",
        tests=("tests/cli/test_ending.py::test_a_reader_that_leaves_is_no_error_and_hides_no_finding",),
    ),
    Fault(
        name="ending: a full disk behind standard output goes unsaid",
        target="cli:Pipe._let_go",
        old="not isinstance(error, BrokenPipeError)",
        new="False",
        tests=("tests/cli/test_ending.py::test_an_output_that_takes_nothing_is_said",),
    ),
    Fault(
        name="curve: a fraction may have no denominator",
        target="cli/curve:_value",
        old="/0*[1-9][0-9]{0,17}",
        new="/[0-9]{1,18}",
        tests=("tests/cli/test_ending.py::test_curves_that_cannot_be_read_are_refused",),
    ),
    Fault(
        name="ledger: half a ledger is seen while it is made",
        target="ledger:Store.create",
        old='made = path.with_name(f".{secrets.token_hex(12)}.tmp")',
        new="made = path",
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
        target="ledger:Dataset.declared",
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
)
