"""Planted faults in statistics: what a unit moves, how choices are scored, what intervals cover."""

from __future__ import annotations

from .fault import Fault

SUMS = "tests/statistics/test_group_sums.py"
LAWS = "tests/statistics/test_laws.py"
MOVED = "tests/statistics/test_sensitivity.py"
ANSWERS = "tests/statistics/test_answers.py"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="statistics: weighed contributions are rounded up",
        target="data:GroupSums._weighed",
        old="(entry * weight) >> down",
        new="-((-entry * weight) >> down)",
        tests=(f"{SUMS}::test_no_unit_moves_the_sums_by_more_than_the_limit",),
    ),
    Fault(
        name="statistics: the norm of a unit leaves out all forms but the first",
        target="data:unit_norms",
        old="for entry in entries]",
        new="for entry in entries[:1]]",
        tests=(f"{SUMS}::test_no_unit_moves_the_sums_by_more_than_the_limit",),
    ),
    Fault(
        name="statistics: a comparison of a missing number is true or false",
        target="data:Compare.truth",
        old="& ~unknown, unknown",
        new=", unknown & False",
        tests=(f"{SUMS}::test_conditions_have_the_three_values_of_sql",),
    ),
    Fault(
        name="statistics: the middle of three sums counts half",
        target="statistics:basis",
        old="(0, 0, 2 * over * steps, -2 * over)",
        new="(0, 0, over * steps, -over)",
        tests=(f"{SUMS}::test_bases_sum_to_one_in_their_norm",),
    ),
    Fault(
        name="statistics: the middle factor is a little too large",
        target="statistics:MIDDLE_FACTOR",
        old="(187, 100)",
        new="(190, 100)",
        tests=(f"{SUMS}::test_bases_sum_to_one_in_their_norm",),
    ),
    Fault(
        name="statistics: replacing a unit is taken for adding it",
        target="statistics:RowMoments.sensitivity",
        old="Fraction(2 * most) if norm == 1",
        new="Fraction(most) if norm == 1",
        tests=(f"{MOVED}::test_moments_move_by_what_is_declared",),
    ),
    Fault(
        name="statistics: a tree is charged for one level",
        target="statistics:GridTree.sensitivity",
        old="return depth * most, root_of(depth * most * most)",
        new="return most, root_of(most * most)",
        tests=(f"{MOVED}::test_trees_move_by_what_is_declared",),
    ),
    Fault(
        name="statistics: the rank score's sensitivity is the smaller side",
        target="statistics:RankChoices.sensitivity",
        old="factor * max(",
        new="factor * min(",
        tests=(f"{LAWS}::test_quantile_scores_by_enumeration",),
    ),
    Fault(
        name="statistics: the score of a bound is two-sided",
        target="statistics:bound_scores",
        old="np.maximum(beyond.astype(object) * SCORE_UNIT - round(excess * SCORE_UNIT), 0)",
        new="abs(beyond.astype(object) * SCORE_UNIT - round(excess * SCORE_UNIT))",
        tests=(f"{LAWS}::test_the_choice_of_a_bound_by_enumeration",),
    ),
    Fault(
        name="statistics: rows without a number have the rank of the middle",
        target="statistics:GridCounts.counts",
        old="((0, 1, 0, 0),)",
        new="((1, 1, 0, 0),)",
        tests=(f"{ANSWERS}::test_answers_are_near_and_intervals_hold",),
    ),
    Fault(
        name="statistics: the interval of a ratio takes half of the noise",
        target="statistics:ratio_interval",
        old="reach = noisy.reach(weights, failure)",
        new="reach = 0.5 * noisy.reach(weights, failure)",
        tests=("tests/statistics/test_coverage.py",),
    ),
    Fault(
        name="choices: each group is charged for itself only",
        target="privacy:SeveralChoices.distance",
        old="np.sum(up + down if self.monotone else np.maximum(up, down))",
        new="np.max(up + down if self.monotone else np.maximum(up, down))",
        tests=("tests/privacy/mechanisms/test_several_choices.py",),
    ),
    Fault(
        name="choices: all groups share one coin",
        target="privacy:SeveralChoices.sample",
        old="for scores in self._rows(value)",
        new="for scores in [self._rows(value)[0]] * self.groups",
        tests=("tests/privacy/mechanisms/test_several_choices.py",),
    ),
)
