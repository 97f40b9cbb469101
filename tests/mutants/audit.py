"""Planted faults in audits."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="audit: delta of one canary only",
        target="audit:worst_case",
        old="math.log(canaries * delta)",
        new="math.log(delta)",
        tests=("tests/audit/bounds/test_worst_case.py::test_agrees_with_the_solver",),
    ),
    Fault(
        name="audit: the path pays delta once",
        target="audit/guess_path:epsilon_lower",
        old="one_run.error_of(confidence) - canaries * delta",
        new="one_run.error_of(confidence) - delta",
        tests=("tests/audit/bounds/test_guess_path.py::test_validity_costs_and_the_order_of_repairs",),
    ),
    Fault(
        name="audit: f-DP recursion off by one",
        target="audit:rejects",
        old="right += i /",
        new="right += (i + 1) /",
        tests=("tests/audit/bounds/test_fdp.py::test_agrees_with_peers",),
    ),
    Fault(
        name="audit: foreign coins refute",
        target="audit:AuditResult.verdict",
        old='"refuted" if self.coins == "holdfast" and self.valid else "warning"',
        new='"refuted"',
        tests=("tests/audit/test_result.py::test_every_finding[one-run-]",),
    ),
    Fault(
        name="audit: replaced records stay in",
        target="audit:PlantedRows.data",
        old="-1.0 if self.adjacency is Adjacency.replace else 0.0",
        new="0.0",
        tests=("tests/audit/canaries/test_planting.py::test_each_adjacency_has_its_own_two_worlds",),
    ),
    Fault(
        name="refute: events chosen on the draws that test them",
        target="audit:worst_event",
        old="test = binned(without[half:]), binned(present[other_half:])",
        new="test = pilot",
        tests=(
            "tests/audit/refutation/test_two_worlds.py::test_events_are_not_chosen_on_the_draws_that_test_them",
        ),
    ),
    Fault(
        name="refute: error not shared among the trials",
        target="audit:refute",
        old="false_alarm / max(chances, 1)",
        new="false_alarm",
        tests=(
            "tests/audit/refutation/test_suite.py::test_the_error_of_a_whole_run_is_shared_among_what_uses_chance",
        ),
    ),
    Fault(
        name="canaries: unfair coins",
        target="audit:inclusion_coins",
        old="Fraction(1, 2)",
        new="Fraction(9, 20)",
        tests=("tests/audit/canaries/test_designs.py::test_coins_are_fair_and_independent_of_the_canaries",),
    ),
    Fault(
        name="decoder: wrong prior variance",
        target="audit:ridge_scores",
        old="4.0 * noise_std**2",
        new="2.0 * noise_std**2",
        tests=("tests/audit/canaries/test_decoder.py::test_ridge_is_the_dense_solution",),
    ),
    Fault(
        name="simulator: a degree of freedom too many",
        target="reproductions:GaussianSum._triangle",
        old="self.dimension - inside",
        new="self.dimension - inside + 1",
        tests=(
            "tests/reproductions/test_gaussian_sum.py::test_each_coordinate_carries_its_share_of_the_length",
        ),
    ),
)
