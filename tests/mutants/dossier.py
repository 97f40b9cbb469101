"""Planted faults in the dossier and the command line."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="sureness: the tail of the loss left out",
        target="dossier:loss_tail",
        old="(failure - delta) / (delta + failure * math.exp(epsilon))",
        new="math.exp(-epsilon)",
        tests=(
            "tests/dossier/test_promise.py::test_the_bound_holds_for_the_gaussian_law_and_is_not_far_off",
        ),
    ),
    Fault(
        name="budget: one more release costs nothing",
        target="ledger:Standing._row",
        old="self.free - cost",
        new="self.free",
        tests=("tests/ledger/test_standing.py::test_what_one_more_release_leaves_is_what_the_ledger_leaves",),
    ),
    Fault(
        name="evidence: audits on real members called public",
        target="dossier:audience_of",
        old='audit.coins == "holdfast" and audit.planted and',
        new="",
        tests=("tests/dossier/test_page.py::test_the_public_edition_refuses_what_is_not_public",),
    ),
    Fault(
        name="together: two accounts of one ledger taken for one",
        target="dossier:_covers",
        old="set(other.entries) <= set(made.entries)",
        new="True",
        tests=("tests/dossier/test_promise.py::test_releases_of_one_account_share_its_limit",),
    ),
    Fault(
        name="record: what it does not know is dropped",
        target="dossier:Record.from_json",
        old="not _holds(made.to_json(), data, older=made.format in OLDER)",
        new="False",
        tests=("tests/dossier/test_record.py::test_anything_else_is_no_record",),
    ),
    Fault(
        name="output: asked for after the spending",
        target="release:require_writable",
        old="not path.parent.is_dir()",
        new="False",
        tests=("tests/cli/test_outputs.py::test_a_folder_that_is_not_there_is_refused_first",),
    ),
    Fault(
        name="ledger: what failed work did not spend stays held",
        target="ledger:Ledger.paid",
        old="if not resumable:",
        new="if resumable:",
        tests=(
            "tests/ledger/test_ledger.py::test_work_that_fails_gives_back_what_is_left_unless_it_can_go_on",
        ),
    ),
    Fault(
        name="demo: what was released is released again",
        target="demo:paid_once",
        old="path.exists()",
        new="not path.parent.exists()",
        tests=("tests/demo/test_demo.py::test_running_again_pays_nothing_and_changes_no_release",),
    ),
    Fault(
        name="demo: a contradiction ends well",
        target="cli:demo",
        old="made.contradictions or not made.verification.ok",
        new="not made.verification.ok",
        tests=("tests/demo/test_demo.py::test_a_contradiction_ends_with_1",),
    ),
    Fault(
        name="dossier: audits on real rows are public (A6)",
        target="dossier:audience_of",
        old='and audit.rows != "real"',
        new="",
        tests=("tests/review/test_audit_findings.py::test_an_audit_on_real_rows_is_not_public",),
    ),
    Fault(
        name="dossier: bounds of one page do not hold together (A5)",
        target="dossier:_audited",
        old="shared_confidence(confidence, run)",
        new="confidence",
        tests=("tests/review/test_audit_findings.py::test_the_lower_bounds_of_one_page_hold_together",),
    ),
    Fault(
        name="dossier: audits and attacks each have an error of their own (A5)",
        target="dossier:_corrected",
        old="[*values, *beside]",
        new="values",
        tests=("tests/dossier/test_evidence.py::test_attacks_and_audits_share_one_error",),
    ),
    Fault(
        name="dossier: what cannot fail passes (A1)",
        target="dossier:_spared",
        old='"not a test" if known and not one.numbers.can_fail else "consistent"',
        new='"consistent"',
        tests=("tests/dossier/test_evidence.py::test_what_cannot_fail_is_not_a_test_and_earns_no_tile",),
    ),
    Fault(
        name="dossier: an audit is held against the promise of all releases together",
        target="dossier:_promise_of",
        old="if audit.design is None:",
        new="if True:",
        tests=(
            "tests/dossier/test_evidence.py::test_an_audit_of_one_release_is_held_against_its_own_promise",
        ),
    ),
    Fault(
        name="dossier: estimates stand on the page as bounds (A4)",
        target="dossier:_audited",
        old="six_digits(audit.epsilon_lower(shared)) if audit.valid else None",
        new="six_digits(audit.epsilon_estimate(shared))",
        tests=("tests/review/test_audit_findings.py::test_a_page_shows_no_lower_bound_above_the_truth",),
    ),
)
