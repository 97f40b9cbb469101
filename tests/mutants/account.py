"""Planted faults in accounts: charges, permits, shares, forks, and what a guarantee says."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="account: noise before charge",
        target="privacy:Account.release",
        old="entry = self._pay(",
        new="mechanism.sample(checked, self.source)\nentry = self._pay(",
        tests=(
            "tests/privacy/account/test_account.py::test_a_refused_charge_draws_nothing_and_changes_nothing",
        ),
    ),
    Fault(
        name="account: permit charges one use only",
        target="privacy:Account.permit",
        old="self._charge(mechanism, times",
        new="self._charge(mechanism, 1",
        tests=("tests/privacy/account/test_account.py::test_a_permit_is_charged_at_once_and_ends",),
    ),
    Fault(
        name="account: permit gives one use more",
        target="privacy:Permit._count_one_use",
        old="self._left < 1",
        new="self._left < 0",
        tests=("tests/privacy/account/test_account.py::test_a_permit_is_charged_at_once_and_ends",),
    ),
    Fault(
        name="account: child ignores its parent's limit",
        target="privacy:Account._child",
        old="(*self._caps, (self._next_share_name",
        new="((self._next_share_name",
        tests=("tests/privacy/account/test_account.py::test_a_share_is_stopped_by_its_parent",),
    ),
    Fault(
        name="account: of two runs with one key both values leave",
        target="privacy:Account.release",
        old='key is None and entry.state == "released"',
        new='entry.state == "released"',
        tests=("tests/privacy/account/test_account.py::test_of_two_runs_with_one_key_one_value_leaves",),
    ),
    Fault(
        name="permit: one use more than was paid for",
        target="privacy:Permit._count_one_use",
        old="self._left < 1",
        new="self._left < 0",
        tests=("tests/privacy/account/test_threads.py",),
    ),
    Fault(
        name="permit: a fork draws again",
        target="privacy:Permit._count_one_use",
        old="require_here(self._process, self.mechanism.name)",
        new="self._process = type(self._process)()",
        tests=("tests/review/test_spending_findings.py",),
    ),
    Fault(
        name="permit: a use is counted before the value is looked at",
        target="privacy:Permit.release",
        old="checked = self.mechanism.check(value)",
        new="self._left += 1\nchecked = self.mechanism.check(value)\nself._left -= 1",
        tests=("tests/review/test_spending_findings.py",),
    ),
    Fault(
        name="journal: other charges come between check and charge",
        target="privacy:MemoryJournal.charge",
        old="with self._alone():",
        new="if self._alone():",
        tests=("tests/review/test_spending_findings.py",),
    ),
    Fault(
        name="journal: a fork spends the limit again",
        target="privacy:MemoryJournal._alone",
        old="not self._process.here",
        new="False",
        tests=("tests/review/test_spending_findings.py",),
    ),
    Fault(
        name="renyi account: one order of several is kept",
        target="privacy:RenyiCurrency.of",
        old="cls(bare_limit.orders)",
        new="cls(bare_limit.orders[len(bare_limit.orders) // 2 :][:1])",
        tests=("tests/review/test_privacy_findings.py",),
    ),
    Fault(
        name="guarantee: the mark of a seed is lost where the other one is composed",
        target="privacy:Guarantee.compose",
        old=".drawn_from(other.noise)",
        new="",
        tests=("tests/privacy/test_guarantee.py", "tests/review/test_privacy_findings.py"),
    ),
    Fault(
        name="guarantee: the mark of a seed is not stored",
        target="privacy:Guarantee.to_json",
        old='"noise": self.noise',
        new='"noise": "secure"',
        tests=("tests/privacy/test_guarantee.py", "tests/review/test_privacy_findings.py"),
    ),
    Fault(
        name="account: noise that was drawn from a seed before is forgotten",
        target="privacy:Account.seeded",
        old='entry.charge.noise == "seeded" and',
        new="False and",
        tests=(
            "tests/privacy/test_guarantee.py::"
            "test_what_was_drawn_from_a_seed_marks_an_account_that_is_opened_again_without_one",
        ),
    ),
    Fault(
        name="account: a job of a key takes its own coins for the noise",
        target="privacy:ResumableAccount.seeded",
        old="self._paying.seeded",
        new="super().seeded",
        tests=(
            "tests/privacy/test_guarantee.py::test_every_account_that_comes_from_a_seeded_one_says_so[None]",
        ),
    ),
    Fault(
        name="permit: code within a count draws again",
        target="privacy:Permit._count_one_use",
        old="self._counting = True",
        new="self._counting = False",
        tests=("tests/privacy/account/test_one_draw.py::test_code_that_runs_within_a_payment_gains_nothing",),
    ),
    Fault(
        name="journal: code within a payment pays against the same totals",
        target="privacy:MemoryJournal._alone",
        old="self._busy = True",
        new="self._busy = False",
        tests=("tests/privacy/account/test_one_draw.py::test_code_that_runs_within_a_payment_gains_nothing",),
    ),
    Fault(
        name="account: a fork between charge and draw gives two values",
        target="privacy:Account.release",
        old="require_here(process, mechanism.name)",
        new="pass",
        tests=(
            "tests/privacy/account/test_one_draw.py::test_a_fork_between_charge_and_draw_gives_one_value",
        ),
    ),
    Fault(
        name="permit: a fork within a draw gives two values",
        target="privacy:Permit.release",
        old="require_here(self._process, self.mechanism.name)",
        new="pass",
        tests=(
            "tests/privacy/account/test_one_draw.py::test_a_fork_between_charge_and_draw_gives_one_value",
        ),
    ),
    Fault(
        name="process: a child is known by its number alone",
        target="privacy:Process.here",
        old=" and _PROCESS_MARK[0] is self._mark",
        new="",
        tests=(
            "tests/privacy/account/test_one_draw.py::test_a_child_with_the_number_of_its_parent_is_another_process",
        ),
    ),
    Fault(
        name="job: two threads get one number",
        target="privacy:ResumableAccount._key_or_number",
        old="next(self._numbers) if name",
        new="0 if name",
        tests=(
            "tests/privacy/account/test_one_draw.py::test_two_runs_of_one_job_have_one_draw_for_each_charge",
        ),
    ),
    Fault(
        name="parallel: parts of a job with a key are given for nothing",
        target="privacy:accounts_for_parts",
        old="account.pays_at_once",
        new="True",
        tests=(
            "tests/privacy/account/test_one_draw.py::test_parts_of_a_job_with_a_key_are_refused_before_anything_is_drawn",
        ),
    ),
    Fault(
        name="job: a secret sample by coins that are made from the key",
        target="privacy:ResumableAccount._refuse_secret_coins",
        old="mechanism.secret_sample",
        new="False",
        tests=(
            "tests/privacy/account/test_one_draw.py::test_a_secret_sample_is_refused_where_coins_are_made_from_a_key",
        ),
    ),
    Fault(
        name="account: a second split begins with the same names",
        target="privacy:Account.split",
        old="self._child(share, self._share_numbers) for share in",
        new="self._child(share, places) for places in [{}] for share in",
        tests=("tests/privacy/account/test_shares.py",),
    ),
    Fault(
        name="journal: one name of a share for two limits",
        target="privacy:same_limits",
        old="share and earlier_limit is not None and earlier_limit != limit",
        new="False",
        tests=("tests/privacy/account/test_shares.py::test_two_handles_of_one_name_cannot_hold_two_limits",),
    ),
    Fault(
        name="job: two jobs split off shares of one name",
        target="privacy:ResumableAccount.of",
        old="not_repeated, mark, {}",
        new="not_repeated, '', {}",
        tests=(
            "tests/privacy/account/test_shares.py::test_jobs_of_two_keys_never_share_a_name_and_a_job_that_runs_again_has_its_own",
        ),
    ),
    Fault(
        name="job: a second split is given the values of the first",
        target="privacy:ResumableAccount._key_of",
        old='f"{self._key}/{place}"',
        new='f"{self._key}/0"',
        tests=(
            "tests/privacy/account/test_shares.py::test_the_keys_of_a_second_split_are_not_those_of_the_first",
        ),
    ),
)
