"""Faults in how wrong arguments are refused, in where warnings stand, and in what a service may ask."""

from __future__ import annotations

from .fault import Fault

ANY = "tests/contracts/test_any_call.py"
CAUTION = "tests/test_caution.py"
WEB = "tests/learn/estimators/test_web_rows.py"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="errors: a truth value is a number",
        target="argument_kinds:is_integral",
        old="if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):",
        new="if not isinstance(value, Integral):",
        tests=(f"{ANY}::test_a_wrong_kind_is_named_with_its_parameter",),
    ),
    Fault(
        name="errors: further arguments are not looked at",
        target="arguments:check_call",
        old="if kinds.rest is not None:",
        new="if False:",
        tests=(f"{ANY}::test_a_wrong_kind_is_named_with_its_parameter",),
    ),
    Fault(
        name="warnings: the caller is the next frame",
        target="caution:caller",
        old="while frame.f_back is not None and _is_between(frame):",
        new="while False:",
        tests=(f"{CAUTION}::test_a_pipeline_warns_where_it_was_fitted",),
    ),
    Fault(
        name="warnings: what was said is forgotten",
        target="caution:warn",
        old="_warned.add(warning_key)",
        new="pass",
        tests=(f"{CAUTION}::test_a_loop_on_one_line_warns_once_of_each_thing",),
    ),
    Fault(
        name="rows: an unknown name is passed over",
        target="data:_check_names",
        old="    if unknown:",
        new="    if False:",
        tests=(f"{WEB}::test_a_missing_and_an_unknown_column_are_named_and_no_value_is",),
    ),
)
