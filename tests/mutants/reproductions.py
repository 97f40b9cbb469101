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
)
