"""Planted faults in the table of items and in what reproductions keep."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="items: whatever is near something is confirmed",
        target="reproductions:Item.verdict",
        old='return "confirmed" if near else "refuted"',
        new='return "confirmed"',
        tests=("tests/reproductions/test_seed_items.py::test_verdicts_are_computed",),
    ),
    Fault(
        name="items: pointers of stated verdicts are not followed",
        target="reproductions:Item.waiting",
        old="resolve(pointer)",
        new="str(pointer)",
        tests=("tests/reproductions/test_seed_items.py::test_what_is_wrong_is_found",),
    ),
    Fault(
        name="store: a number is measured anew at every run",
        target="reproductions:Store.of",
        old="if key not in self.values:",
        new="if not self.frozen:",
        tests=("tests/reproductions/test_seed_store.py::test_what_was_measured_is_not_measured_again",),
    ),
    Fault(
        name="items: a printed run is compared with our mean's error, not with a run's scatter",
        target="reproductions:one_more",
        old="math.sqrt(1.0 + 1.0 / count)",
        new="math.sqrt(1.0 / count)",
        tests=(
            "tests/reproductions/test_seed_items.py::test_a_single_printed_run_is_judged_by_the_scatter_of_ours",
        ),
    ),
    Fault(
        name="items: of several printed numbers only the first is looked at",
        target="reproductions:agrees",
        old="zip(values, printed, strict=True)",
        new="zip(values[:1], printed[:1], strict=True)",
        tests=(
            "tests/reproductions/test_seed_items.py::test_a_single_printed_run_is_judged_by_the_scatter_of_ours",
        ),
    ),
    Fault(
        name="words: a ratio above the printed ones is called as printed",
        target="reproductions:agreement",
        old="value <= high",
        new="value > low",
        tests=("tests/reproductions/test_page_words.py::test_ratios_are_compared_with_the_printed_ones",),
    ),
)
