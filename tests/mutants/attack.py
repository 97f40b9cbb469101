"""Planted faults in attacks."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="roc: a look counts one false alarm too few",
        target="attack:ThresholdCounts.limits",
        old="clopper_pearson_upper(self.allowed",
        new="clopper_pearson_upper(max(self.allowed - 1, 0)",
        tests=(
            "tests/attack/test_roc.py::test_limits_of_a_look_hold_though_its_threshold_was_read_from_the_scores",
        ),
    ),
    Fault(
        name="membership game: many attacks, one error",
        target="audit:_audit",
        old="corrected_over=tried",
        new="corrected_over=1",
        tests=(
            "tests/audit/test_membership.py::test_learning_by_heart_is_refuted_by_every_attack_and_the_error_is_shared[add_remove]",
        ),
    ),
    Fault(
        name="proof: removal counted once for people who replace each other",
        target="attack:proved_curve",
        old="proof.curve.to_replace()",
        new="proof.curve",
        tests=(
            "tests/attack/test_result.py::test_a_promise_about_removal_counts_twice_for_people_who_replace_each_other",
        ),
    ),
    Fault(
        name="evidence: a given game refutes",
        target="attack:MembershipResult.__post_init__",
        old='self.audited is None or self.game == "flipped"',
        new="True",
        tests=("tests/attack/test_result.py::test_a_given_game_never_refutes_whatever_it_shows",),
    ),
    Fault(
        name="shadow release: trained on what it is judged by",
        target="attack:shadow_release",
        old="_learned_scores(views[: trials // 2]",
        new="_learned_scores(views",
        tests=("tests/attack/rows/test_shadow_release.py::test_an_independent_draw_shows_nothing",),
    ),
    Fault(
        name="looks: the error is not shared",
        target="attack:limits",
        old="(2 * len(CHECKED_RATES) * tried)",
        new="tried",
        tests=(
            "tests/attack/rows/test_shadow_release.py::test_the_error_is_shared_among_all_looks_of_both_directions",
        ),
    ),
    Fault(
        name="layers: gradients without the slope",
        target="attack:layer_passes",
        old="* slope(inputs[place])",
        new="",
        tests=("tests/attack/models/test_layers.py::test_gradients_are_those_of_the_loss[relu]",),
    ),
    Fault(
        name="lessons: members and others exchanged",
        target="attack:reference_models",
        old="included=included[",
        new="included=~included[",
        tests=(
            "tests/contracts/test_attacks.py::test_a_planted_leak_is_found[neural_black_box-classification]",
        ),
    ),
    Fault(
        name="attack: numbers that are none pass for no opinion (A7)",
        target="attack:require_number_answers",
        old="bad == 0,",
        new="True,",
        tests=("tests/attack/models/test_answers.py::test_numbers_that_are_none_are_refused",),
    ),
    Fault(
        name="attack: logits pass for probabilities (A7)",
        target="attack:Target.probabilities",
        old="(values >= -_PROBABILITY_SLACK) & (values <= 1.0 + _PROBABILITY_SLACK)",
        new="values == values",
        tests=("tests/attack/models/test_answers.py::test_what_is_no_probability_is_refused[outside]",),
    ),
    Fault(
        name="attack: rows are held against a promise about users (A7)",
        target="attack:proved_curve",
        old="isinstance(proof, Guarantee) and proof.unit.column is not None",
        new="False",
        tests=("tests/attack/models/test_answers.py::test_rows_are_not_held_against_a_promise_about_users",),
    ),
    Fault(
        name="attack: a label that is missing passes for one (A7)",
        target="attack:Records.__post_init__",
        old="missing == 0,",
        new="True,",
        tests=("tests/attack/models/test_forms.py::test_what_cannot_be_attacked_is_refused_with_a_word",),
    ),
    Fault(
        name="attack: the classes of a network are not heard (A7)",
        target="attack:_prediction_adapter",
        old="if classes is None else _callable_adapter(model.predict, classes, task)",
        new="",
        tests=("tests/attack/models/test_forms.py::test_any_labels_and_any_predictor[01-by_membership]",),
    ),
    Fault(
        name="attack: a pipeline that did not pay has the promise of its model",
        target="attack:_model_and_guarantee",
        old="release = release_of(model)",
        new="release = release_of(model[-1] if is_pipeline(model) else model)",
        tests=(
            "tests/attack/models/test_forms.py::test_a_pipeline_brings_its_promise_its_columns_and_its_schema",
        ),
    ),
    Fault(
        name="protocol: an attack is made on a case of another kind",
        target="attack:Attack.obstacle",
        old="case.kind != self.kind",
        new="False",
        tests=("tests/contracts/test_attacks.py::test_an_attack_is_made_on_its_own_kind_of_case",),
    ),
    Fault(
        name="protocol: an attack is made without what it knows",
        target="attack:Attack.obstacle",
        old="if lacking else",
        new="if False else",
        tests=("tests/contracts/test_attacks.py::test_an_attack_says_what_it_needs_and_repeats_itself",),
    ),
    Fault(
        name="protocol: an attack may know what no case of its kind holds",
        target="attack:Attack.__post_init__",
        old="not strange",
        new="True",
        tests=("tests/contracts/test_attacks.py::test_an_attack_knows_what_there_is_in_a_case_of_its_kind",),
    ),
    Fault(
        name="registry: all are the attacks of every kind",
        target="attack:_of_kind",
        old="if attack.kind == kind",
        new="",
        tests=("tests/attack/models/test_membership.py::test_attacks_are_named_and_refused_by_name",),
    ),
    Fault(
        name="registry: an attack of another kind is taken by its name",
        target="attack:find_attacks",
        old="attack.kind == kind",
        new="True",
        tests=("tests/attack/models/test_membership.py::test_attacks_are_named_and_refused_by_name",),
    ),
    Fault(
        name="report: results of two kinds stand side by side",
        target="attack:AttackReport.__post_init__",
        old="not mixed",
        new="True",
        tests=("tests/attack/test_result.py::test_a_report_holds_results_of_one_kind",),
    ),
    Fault(
        name="report: what nobody can attack is reported as nothing found",
        target="attack:playable",
        old="len(skipped) == len(attacks)",
        new="False",
        tests=("tests/attack/models/test_membership.py::test_attacks_are_named_and_refused_by_name",),
    ),
    Fault(
        name="stored: a disclosure report is taken for attacks with a curve",
        target="dossier:StoredAttack.of",
        old='data.get("kind") == "disclosure"',
        new="False",
        tests=("tests/cli/test_attack.py::test_released_rows_are_attacked_for_whole_people_too",),
    ),
)
