"""Planted faults in influence, disclosure and Boolean functions."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="influence: on ties the first value, not the likeliest",
        target="attack:best_guess",
        old="np.where(possible, prior, -1.0)",
        new="np.where(possible, 1.0, -1.0)",
        tests=(
            "tests/attack/influence/test_finite_domain.py::test_where_the_output_says_nothing_the_mode_is_guessed",
        ),
    ),
    Fault(
        name="influence: outputs counted, not the largest prior of each",
        target="attack/influence:gain",
        old="best.sum(axis=1)",
        new="best.max(axis=1)",
        tests=("tests/attack/influence/test_finite_domain.py::test_the_gain_is_that_of_the_best_attack",),
    ),
    Fault(
        name="influence: limits at half of their width",
        target="attack:mean_limits",
        old="(2.0 * samples)",
        new="(8.0 * samples)",
        tests=("tests/attack/influence/test_finite_domain.py::test_limits_of_a_mean_hold_at_their_rate",),
    ),
    Fault(
        name="two worlds: the simulated adversary is compared with itself",
        target="attack:advantage_of",
        old="values == goal for name, values in guesses.items()",
        new='guesses["adversary"] == goal for name, values in guesses.items()',
        tests=("tests/attack/influence/test_two_worlds.py::test_example_5_1_the_dose_tells_the_gene",),
    ),
    Fault(
        name="two worlds: limits of one kind of change only",
        target="attack:Advantage.limits",
        old="lower[0] - upper[1], upper[0] - lower[1]",
        new="lower[0] - lower[1], upper[0] - upper[1]",
        tests=("tests/attack/influence/test_two_worlds.py::test_limits_of_the_advantage_hold_at_their_rate",),
    ),
    Fault(
        name="invertibility: the baseline sees nothing of the other columns",
        target="attack:conditional_prior",
        old="(1.0 - MARGINAL_SHARE) * probabilities + MARGINAL_SHARE * marginal",
        new="marginal",
        tests=("tests/attack/influence/test_baseline.py::test_without_the_model_other_columns_are_used",),
    ),
    Fault(
        name="invertibility: decisions show the scores",
        target="attack:shown_answers",
        old='if form == "scores":',
        new='if form in ("scores", "decision"):',
        tests=(
            "tests/attack/influence/test_invertibility.py::test_decisions_give_away_less_and_noise_in_the_knowledge_still_less",
        ),
    ),
    Fault(
        name="publishing: a dropped column is still read",
        target="attack:_averaged_model",
        old="weights = shares[inside] / shares[inside].sum()",
        new="return np.asarray(target.outputs(features)); weights = shares",
        tests=("tests/attack/influence/test_invertibility.py::test_what_is_published_and_what_it_costs",),
    ),
    Fault(
        name="disclosure: the control group is the members",
        target="attack:synthetic_disclosure",
        old="control=read(control)",
        new="control=read(members)",
        tests=("tests/contracts/test_disclosures.py::test_rows_that_are_the_members_are_found[inference]",),
    ),
    Fault(
        name="influence: cells of numbers are tried in their middle only",
        target="attack:closest_answers",
        old="nearer = new_distance < distance",
        new="nearer = new_distance < -1.0",
        tests=(
            "tests/attack/influence/test_invertibility.py"
            "::test_numbers_are_tried_all_over_their_cells_and_gaps_have_no_value",
        ),
    ),
    Fault(
        name="disclosure: chosen halves are forgotten",
        target="attack:link",
        old="halves = case.halves or",
        new="halves = None or",
        tests=("tests/attack/rows/test_disclosure.py::test_the_halves_that_are_linked_can_be_chosen",),
    ),
    Fault(
        name="disclosure: limits of one rate only",
        target="attack:DisclosureResult.limits",
        old="_beyond(members.low, control.high), _beyond(members.high, control.low)",
        new="_beyond(members.low, float(control)), _beyond(members.high, float(control))",
        tests=(
            "tests/attack/rows/test_disclosure.py::test_the_risk_is_what_members_have_beyond_the_control_group",
        ),
    ),
    Fault(
        name="disclosure: whoever fits a description is singled out",
        target="attack:isolates",
        old="int(fits.sum()) == 1",
        new="int(fits.sum()) >= 1",
        tests=("tests/attack/rows/test_disclosure.py::test_a_description_fits_one_or_it_does_not_count",),
    ),
    Fault(
        name="boolean: stable influence without its noise",
        target="reproductions:stable_influence",
        old="rho ** (degrees(bits)[inside] - 1)",
        new="rho ** degrees(bits)[inside]",
        tests=(
            "tests/reproductions/test_boolean_functions.py::test_the_numbers_of_remark_5_15_and_of_question_1",
        ),
    ),
    Fault(
        name="protocol: nobody is cleared at its own string",
        target="reproductions:universal_without_stopping.clears",
        old="0 if x == string else heard",
        new="heard",
        tests=("tests/reproductions/test_one_bit_protocols.py::test_nobody_needs_to_stop",),
    ),
)
