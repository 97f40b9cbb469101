"""Planted faults in attribute attacks."""

from __future__ import annotations

from .fault import Fault

_OUTCOME = "tests/attack/attributes/test_outcome.py"
_RISK = "tests/attack/attributes/test_attribute_risk.py"
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
        target="attack/attribute_risk:_comparable",
        old="proved_curve(proof, adjacency)",
        new="proved_curve(proof, proof.adjacency)",
        tests=(f"{_RISK}::test_a_bound_needs_the_curve_of_the_right_neighbours",),
    ),
    Fault(
        name="attribute: the imputer is kept with fewer people than the attack",
        target="attack/attribute_risk:_outcomes",
        old="found.imputer[size] = _outcome(at.imputed",
        new="at = case.at(min(sizes)); found.imputer[size] = _outcome(at.imputed",
        tests=(f"{_RISK}::test_the_advantage_vanishes_with_people_of_ones_own",),
    ),
    Fault(
        name="attribute: the model is asked with the true value",
        target="attack/release_seen:ReleaseSeen.answers",
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
        old='np.argsort(-sure, kind="stable")[:k]',
        new='np.argsort(-(sure + right), kind="stable")[:k]',
        tests=(f"{_OUTCOME}::test_members_among_the_surest_are_told_by_the_coins",),
    ),
    Fault(
        name="attribute: ties go to the first candidate",
        target="attack:AttributeAttack.scores",
        old="made + 1e-9 * case.marginal",
        new="made",
        tests=(f"{_CONTRACT}::test_ties_go_to_the_commonest",),
    ),
    Fault(
        name="attribute: one model refutes",
        target="attack/attributes:AttributeRisk.verdict",
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
        tests=(
            "tests/attack/attributes/test_linear_weights.py::test_weights_of_few_people_say_something_about_each",
        ),
    ),
    Fault(
        name="attribute: the sentence that epsilon does not limit this is gone",
        target="attack:AttributeReport.summary",
        old='f"  {UNLIMITED}"',
        new='""',
        tests=(
            "tests/cli/test_attack.py::test_a_column_is_guessed_and_the_result_goes_to_the_internal_page_alone",
        ),
    ),
)
