"""Faults in what lets others extend holdfast: whose an entry is, and whether checks can fail."""

from __future__ import annotations

from .fault import Fault

HERE = "tests/test_extensions.py"
BROKEN = "tests/testing/test_broken_extensions.py"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="extensions: mechanisms are known by name",
        target="privacy:stored_mechanism",
        old="kind not in MECHANISMS",
        new="kind.__name__ not in {one.__name__ for one in MECHANISMS}",
        tests=(f"{HERE}::test_a_mechanism_that_calls_itself_as_ours_is_none_of_ours",),
    ),
    Fault(
        name="extensions: a mechanism inside of ours is ours",
        target="privacy:_SIMPLE_MECHANISMS",
        old="frozenset(MECHANISMS) - {SubsampledPure}",
        new="frozenset(MECHANISMS)",
        tests=(f"{HERE}::test_a_mechanism_inside_of_ours_is_told_apart",),
    ),
    Fault(
        name="extensions: equal is the same",
        target="extensions:Registry.author",
        old="any(entry is own_entry for own_entry in self.own)",
        new="any(entry == one for one in self.own)",
        tests=(f"{HERE}::test_ours_is_known_by_identity_and_not_by_name",),
    ),
    Fault(
        name="extensions: whatever has the name is the package's",
        target="extensions:Registry.author",
        old='_package(point) if point.load() is entry else ""',
        new="_package(point)",
        tests=(f"{HERE}::test_a_package_is_named_for_the_very_object_that_it_registers",),
    ),
    Fault(
        name="extensions: names of ours may be taken",
        target="extensions:Registry._problem",
        old="any(self.name_of(own_entry) == name for own_entry in self.own)",
        new="False",
        tests=(
            f"{HERE}::test_a_package_that_cannot_be_taken_is_named",
            f"{HERE}::test_a_column_kind_named_as_ours_is_refused",
        ),
    ),
    Fault(
        name="extensions: a method of others has no mark",
        target="extensions:package_mark",
        old='" [unregistered]"',
        new='""',
        tests=(f"{HERE}::test_a_model_by_a_method_of_others_says_whose",),
    ),
    Fault(
        name="extensions: only the chosen candidate is told",
        target="learn:PrivateSearch.fit",
        old="for method in methods for stranger in author_assumptions(method)",
        new="for stranger in author_assumptions(methods[chosen.index])",
        tests=(f"{HERE}::test_a_search_names_every_method_that_saw_the_rows",),
    ),
    Fault(
        name="extensions: verify believes what is left out",
        target="dossier:unrecorded_assumptions",
        old="if _identity(assumption) not in stated",
        new="if False",
        tests=(f"{HERE}::test_verify_asks_the_charges_whose_they_are",),
    ),
    Fault(
        name="extensions: an engine of others is not told",
        target="data:open_table",
        old="opened.engine_author = REGISTRY.author(chosen)",
        new="opened.engine_author = None",
        tests=(f"{HERE}::test_an_engine_of_ones_own_opens_tables_and_is_said_to",),
    ),
    Fault(
        name="extensions: an error of a column kind leaves",
        target="data:read_by_kind",
        old="value = None",
        new="raise",
        tests=(f"{HERE}::test_a_column_kind_of_ones_own_reads_and_is_said_to",),
    ),
    Fault(
        name="extensions: refutations know our methods only",
        target="refute:learner_subjects",
        old="(*LEARNERS, *REGISTRY.installed_entries())",
        new="LEARNERS",
        tests=(f"{HERE}::test_refutations_take_what_packages_register",),
    ),
    Fault(
        name="testing: an attack may see the answers",
        target="testing:raises_no_alarm_where_there_is_nothing",
        old="abs(shift) <= 5.0",
        new="True",
        tests=(f"{BROKEN}::test_an_attack_that_peeks_or_whose_p_value_is_not_valid",),
    ),
    Fault(
        name="testing: an attack may know places",
        target="testing:judges_records_wherever_they_stand",
        old="p_value > FALSE_ALARM",
        new="True",
        tests=(f"{BROKEN}::test_an_attack_on_rows_that_peeks",),
    ),
    Fault(
        name="testing: cells need not exist",
        target="testing:every_value_is_read_within_the_declaration",
        old="0 <= cell < column.cells",
        new="True",
        tests=(f"{BROKEN}::test_a_column_whose_encoding_leaves_its_declaration",),
    ),
    Fault(
        name="testing: a column kind may remember",
        target="testing:each_row_is_read_by_itself",
        old="first_readings[place] == in_order[place]",
        new="in_order[place] == in_order[place]",
        tests=(f"{BROKEN}::test_a_column_whose_encoding_leaves_its_declaration",),
    ),
    Fault(
        name="testing: a learner need not name its options",
        target="testing:declares_its_options_by_name",
        old="inspect.Parameter.VAR_KEYWORD not in kinds",
        new="True",
        tests=("tests/testing/test_checks.py::test_a_learner_without_named_options_is_named",),
    ),
    Fault(
        name="refute: a method without a fault of its own has none",
        target="refute:understated_faults",
        old="if method.name not in methods_with_faults:",
        new="if False:",
        tests=(
            "tests/refute/test_broken.py::test_the_fault_of_a_method_without_one_of_its_own_falls[output]",
        ),
    ),
)
