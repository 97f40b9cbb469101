"""Planted faults in statistics: what a unit moves, how choices are scored, what intervals cover."""

from __future__ import annotations

from .fault import Fault

SUMS = "tests/statistics/test_group_sums.py"
LAWS = "tests/statistics/test_laws.py"
KEYS = "tests/statistics/test_unknown_keys.py"
RULES = "tests/privacy/mechanisms/test_unknown_keys.py"
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
    Fault(
        name="unknown keys: rows are counted and not units",
        target="data:KeyCounts.pairs",
        old='return f"SELECT u, {keys} FROM ({self._rows(statements)}) AS q GROUP BY u, {keys}"',
        new='return f"SELECT u, {keys} FROM ({self._rows(statements)}) AS q"',
        tests=(f"{KEYS}::test_engines_count_the_same_units_of_the_same_keys[500-person]",),
    ),
    Fault(
        name="unknown keys: every key of a unit counts whole",
        target="data:KeyCounts.of_rows",
        old="weight = math.isqrt(self.steps * self.steps // len(own))",
        new="weight = self.steps",
        tests=(f"{KEYS}::test_neighbours_differ_in_one_unit_of_keys[add_remove]",),
    ),
    Fault(
        name="unknown keys: all units draw with one known key",
        target="data:hash_of",
        old="keyed_hash(secret, text) for text in texts",
        new="keyed_hash(secret, text) for text in list(texts)[1:]",
        tests=(f"{KEYS}::test_a_unit_draws_one_of_its_keys_uniformly_and_by_itself",),
    ),
    Fault(
        name="unknown keys: the order of the engine shows",
        target="data:sorted_counts",
        old='keys = tuple(sorted(counts, key=lambda key: [text.encode("utf-8", "surrogatepass") for text in key]))',
        new="keys = tuple(counts)",
        tests=(f"{KEYS}::test_the_order_of_keys_is_that_of_their_bytes",),
    ),
    Fault(
        name="unknown keys: epsilon is split",
        target="statistics:find_groups",
        old="equal = Fraction(1, len(groups) + more)",
        new="equal = Fraction(1, len(groups) + 1)",
        tests=(f"{KEYS}::test_epsilon_is_not_split_between_keys_and_their_counts",),
    ),
    Fault(
        name="thresholds: the delta of new keys is forgotten",
        target="privacy:max_rule",
        old="removed = chance + (1.0 - chance) * known.delta(epsilon + shift)",
        new="removed = known.delta(epsilon)",
        tests=(f"{RULES}::test_the_curve_of_one_key_is_reached",),
    ),
    Fault(
        name="thresholds: keys that nobody has get noise",
        target="privacy:Thresholded.sample",
        old="exists = value.ravel() > 0",
        new="exists = value.ravel() >= 0",
        tests=(f"{RULES}::test_a_key_that_nobody_has_is_never_released_and_costs_no_draw",),
    ),
    Fault(
        name="thresholds: a new key counts as none",
        target="privacy:_curve",
        old="_laplace_passes(scale, threshold - steps)",
        new="_laplace_passes(scale, threshold)",
        tests=(f"{RULES}::test_the_numbers_of_the_soundness_notes",),
    ),
    Fault(
        name="key selection: chances are rounded up",
        target="privacy/_mechanisms/key_selection:_chances",
        old="math.floor(following * unit)",
        new="math.ceil(following * unit)",
        tests=(f"{RULES}::test_chances_are_rounded_down",),
    ),
    Fault(
        name="key selection: two steps under replace are forgotten",
        target="privacy:KeySelection._chances",
        old="self.adjacency))",
        new="None))",
        tests=(f"{RULES}::test_under_replace_both_take_two_steps",),
    ),
    Fault(
        name="released counts: the interval forgets the threshold",
        target="statistics:_given_release",
        old="np.maximum(edge, last)) - mechanism.log_above(middle, last)",
        new="edge)",
        tests=(f"{KEYS}::test_intervals_hold_given_release_at_every_true_count[8]",),
    ),
)
