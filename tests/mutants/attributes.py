"""Planted faults in attribute attacks."""

from __future__ import annotations

from .fault import Fault

_OUTCOME = "tests/attack/attributes/test_outcome.py"
_RISK = "tests/attack/attributes/test_attribute_risk.py"
_PRINTED = "tests/attack/attributes/test_printed_figures.py"
_BROKEN = "tests/testing/test_broken_extensions.py"
_CONTRACT = "tests/contracts/test_attribute_attacks.py"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="attribute: members and fresh people exchanged in the bound",
        target="attack/outcome:MemberGap.bound",
        old="proved.detection_at(self.fresh)",
        new="1.0 - float(np.interp(self.fresh, proved.miss[::-1], proved.false_alarm[::-1]))",
        tests=(f"{_OUTCOME}::test_fresh_people_are_the_null_of_an_asymmetric_curve",),
    ),
    Fault(
        name="attribute: coins of the gap counted among fresh people",
        target="attack/outcome:MemberGap.of",
        old="above = np.asarray(hypergeom.sf(usual - 1, m + n, usual + outside, m))",
        new="above = np.asarray(hypergeom.sf(usual, m + n, usual + outside, m))",
        tests=(f"{_OUTCOME}::test_the_gap_is_fishers_test_inverted",),
    ),
    Fault(
        name="attribute: removal counted once for members who are replaced",
        target="attack:comparable_curve",
        old="proved_curve(proof, adjacency)",
        new="proved_curve(proof, proof.adjacency)",
        tests=(f"{_RISK}::test_a_bound_needs_the_curve_of_the_right_neighbours",),
    ),
    Fault(
        name="attribute: the imputer is kept with fewer people than the attack",
        target="attack/attribute_risk:_outcomes",
        old="outcomes.imputer[size] = _outcome(at.imputation",
        new="at = case.at(min(sizes)); outcomes.imputer[size] = _outcome(at.imputation",
        tests=(f"{_RISK}::test_the_advantage_vanishes_with_people_of_ones_own",),
    ),
    Fault(
        name="attribute: the model is asked with the true value",
        target="attack/release_seen:ReleaseSeen._answers_about_all",
        old="{**unknown, **value}",
        new="{**value, **unknown} if unknown else {}",
        tests=(f"{_CONTRACT}::test_what_a_model_gives_away_is_found[fredrikson-classification]",),
    ),
    Fault(
        name="attribute: groups share no error",
        target="attack:group_risks",
        old="error / (len(ordered) - step)",
        new="error",
        tests=(f"{_OUTCOME}::test_groups_share_one_error",),
    ),
    Fault(
        name="attribute: the surest chosen by being right",
        target="attack/outcome:_precision",
        old='np.argsort(-sureness, kind="stable")[:k]',
        new='np.argsort(-(sureness + right), kind="stable")[:k]',
        tests=(f"{_OUTCOME}::test_members_among_the_surest_are_told_by_the_coins",),
    ),
    Fault(
        name="attribute: ties go to the first candidate",
        target="attack:AttributeCase.check_guesses",
        old="scores + 1e-9 * self.marginal",
        new="scores",
        tests=(f"{_CONTRACT}::test_ties_go_to_the_commonest",),
    ),
    Fault(
        name="attribute: one model refutes",
        target="attack:AttributeResult.verdict",
        old='return "warning" if',
        new='return "refuted" if',
        tests=(f"{_RISK}::test_the_game_with_coins_fits_a_model_of_the_members_alone",),
    ),
    Fault(
        name="attribute: confidence in the wrong answer is rewarded",
        target="attack:confidence_score",
        old="-sure.mean(axis=0)",
        new="2.0 + sure.mean(axis=0)",
        tests=(f"{_CONTRACT}::test_what_a_model_gives_away_is_found[csmia-classification]",),
    ),
    Fault(
        name="attribute: a person pushes the weights the wrong way",
        target="attack:weights_evidence",
        old="moves = -(inverse @ root)",
        new="moves = (inverse @ root)",
        tests=(f"{_PRINTED}::test_weights_of_few_people_add_a_little",),
    ),
    Fault(
        name="attribute: the sentence that epsilon does not limit this is gone",
        target="attack:AttributeResult.summary_of",
        old='f"  {UNLIMITED}"',
        new='""',
        tests=(
            "tests/cli/test_attack.py::test_a_column_is_guessed_and_the_result_goes_to_the_internal_page_alone",
        ),
    ),
    Fault(
        name="attribute: a number that is missing counts as the middle one",
        target="attack/secret:_column_cells",
        old="np.where(missing, edges.size + 1, cells)",
        new="cells",
        tests=(f"{_RISK}::test_a_number_that_is_missing_is_a_value_of_its_own",),
    ),
    Fault(
        name="attribute: a fit to other responses is taken for this one",
        target="attack:LinearInside.usual_weights",
        old="key = own, self.labels[:own].tobytes()",
        new='key = own, b""',
        tests=("tests/attack/attributes/test_linear_weights.py::test_fits_are_kept_by_their_responses",),
    ),
    Fault(
        name="attribute: of released iterates only the last round counts",
        target="attack:iterates_log_likelihood",
        old="np.sum(rounds, axis=0)",
        new="rounds[-1]",
        tests=(f"{_PRINTED}::test_released_iterates_add_their_rounds",),
    ),
    Fault(
        name="attribute: nobody says whose attack it is",
        target="attack:attribute_risk",
        old="notes |= notes_about(chosen)",
        new="",
        tests=(
            "tests/test_extensions.py::test_an_attribute_attack_of_others_is_marked_on_the_internal_page",
        ),
    ),
    Fault(
        name="contract: attribute attacks may look at places",
        target="testing/attributes:_judges_people_wherever_they_stand",
        old="agreement > 0.9",
        new="agreement > -1.0",
        tests=(f"{_BROKEN}::test_an_attribute_attack_that_peeks_or_finds_nothing[by_place]",),
    ),
    Fault(
        name="contract: disclosure attacks may follow the word",
        target="testing/disclosures:_follows_the_people_and_not_the_word",
        old="z_score > 1.0",
        new="z_score > -99.0",
        tests=(f"{_BROKEN}::test_a_disclosure_attack_that_favours_a_group_or_finds_nothing[better_first]",),
    ),
    Fault(
        name="attribute: copies that another attack finds are not told",
        target="attack:AttributeResult.widest_gap",
        old="widest = max(gaps, key=lambda name: gaps[name].low)",
        new="widest = self.headline",
        tests=(f"{_RISK}::test_rows_are_attacked_too",),
    ),
    Fault(
        name="attribute: an error of the response is forgotten without a word",
        target="attack:Attacker.__post_init__",
        old='self.response_error is None or self.response == "approximate"',
        new="True",
        tests=(f"{_RISK}::test_what_is_refused",),
    ),
    Fault(
        name="attribute: what a model takes is not prepared",
        target="attack:Target.preparing",
        old="outputs(prepare(features))",
        new="outputs(features)",
        tests=("tests/attack/models/test_forms.py::test_any_labels_and_any_predictor[01-by_attributes]",),
    ),
)
