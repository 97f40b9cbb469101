"""Planted faults in whom a draft protects, and in what is said of rare classes."""

from __future__ import annotations

from .fault import Fault

UNITS = "tests/data/draft/test_units.py"
RARE = "tests/learn/estimators/test_rare_classes.py"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="unit: a table is opened whose unit is open",
        target="data:open_table",
        old="schema.require_confirmed()",
        new="pass",
        tests=(f"{UNITS}::test_an_open_unit_is_refused_before_a_row_is_read[a file]",),
    ),
    Fault(
        name="unit: rows are encoded while the unit is open",
        target="data:encode_batch",
        old="schema.require_confirmed()",
        new="pass",
        tests=(f"{UNITS}::test_an_open_unit_is_refused_before_a_row_is_read[encode_batch]",),
    ),
    Fault(
        name="unit: an open unit counts as a row",
        target="data:Schema.confirmed_unit",
        old="raise self.unit.refusal()",
        new="return PrivacyUnit()",
        tests=(
            "tests/data/draft/test_units.py::test_an_open_unit_is_refused_before_a_row_is_read[open_table]",
        ),
    ),
    Fault(
        name="unit: the option overrules the schema",
        target="data:Schema.with_asked_unit",
        old="self.unit != said.unit",
        new="False",
        tests=(f"{UNITS}::test_the_option_cannot_change_what_is_declared",),
    ),
    Fault(
        name="unit: half an answer confirms",
        target="data:_open_unit",
        old='set(entry) - {"confirmed", "candidates"}',
        new="False",
        tests=(f"{UNITS}::test_half_an_answer_is_none",),
    ),
    Fault(
        name="unit: a number of the data is offered without a mark",
        target="data:UnitCandidate.lines",
        old=", taken_from_data = true }}",
        new=" }}",
        tests=(f"{UNITS}::test_the_file_confirms_or_denies",),
    ),
    Fault(
        name="unit: a text that repeats is a candidate",
        target="data:_likeness",
        old="not names_measurement(evidence.column.name) and _look_assigned(evidence.values)",
        new="True",
        tests=(f"{UNITS}::test_an_identifier_by_its_values_is_a_candidate_only_if_they_were_given_out",),
    ),
    Fault(
        name="unit: the first candidate is active",
        target="data:draft_of",
        old="open_unit(candidates) if candidates",
        new="PrivacyUnit.user(candidates[0].name, max_rows=candidates[0].max_rows) if candidates",
        tests=(f"{UNITS}::test_a_draft_never_decides_whom_to_protect",),
    ),
    Fault(
        name="unit: a row is a person without a word",
        target="data:draft_of",
        old="unit_taken_from_data=not candidates",
        new="unit_taken_from_data=False",
        tests=(f"{UNITS}::test_a_draft_never_decides_whom_to_protect",),
    ),
    Fault(
        name="unit: the candidates' numbers are declared",
        target="data:open_unit",
        old="candidate.name for candidate in candidates",
        new='f"{candidate.name} {candidate.most}" for candidate in candidates',
        tests=(f"{UNITS}::test_nothing_of_the_values_stays_in_a_confirmed_schema",),
    ),
    Fault(
        name="rare classes: trusted at any share",
        target="learn:RareClass.trustworthy",
        old="self.share >= LEAST_SHARE and self.records >= LEAST_RECORDS",
        new="self.records >= LEAST_RECORDS",
        tests=(f"{RARE}::test_recommend_never_names_shapes_where_they_cannot_be_trusted",),
    ),
    Fault(
        name="rare classes: users count as many as their rows",
        target="learn:RareClass.records",
        old="self.epsilon / self.max_rows",
        new="self.epsilon",
        tests=(f"{RARE}::test_rows_of_one_person_count_once",),
    ),
)
