"""Planted faults in audits."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="audit: delta of one canary only",
        target="audit:worst_case",
        old="math.log(canaries * delta)",
        new="math.log(delta)",
        tests=("tests/audit/bounds/test_worst_case.py",),
    ),
    Fault(
        name="audit: the path pays delta once",
        target="audit/guess_path:epsilon_lower",
        old="one_run.error_of(confidence) - canaries * delta",
        new="one_run.error_of(confidence) - delta",
        tests=("tests/audit/bounds/test_guess_path.py",),
    ),
    Fault(
        name="audit: f-DP recursion off by one",
        target="audit:rejects",
        old="right += i /",
        new="right += (i + 1) /",
        tests=("tests/audit/bounds/test_fdp.py",),
    ),
    Fault(
        name="audit: foreign coins refute",
        target="audit:AuditResult.verdict",
        old='"refuted" if self.coins == "holdfast" and self.valid else "warning"',
        new='"refuted"',
        tests=("tests/audit/test_result.py",),
    ),
    Fault(
        name="audit: replaced records stay in",
        target="audit:PlantedRows.data",
        old="-1.0 if self.adjacency is Adjacency.replace else 0.0",
        new="0.0",
        tests=("tests/audit/canaries/test_planting.py",),
    ),
    Fault(
        name="refute: events chosen on the draws that test them",
        target="audit:worst_event",
        old="test = binned(without[half:]), binned(present[other_half:])",
        new="test = pilot",
        tests=("tests/audit/refutation/test_two_worlds.py",),
    ),
    Fault(
        name="refute: error not shared among the trials",
        target="audit:refute",
        old="false_alarm / max(chances, 1)",
        new="false_alarm",
        tests=("tests/audit/refutation/test_suite.py",),
    ),
    Fault(
        name="canaries: unfair coins",
        target="audit:inclusion_coins",
        old="Fraction(1, 2)",
        new="Fraction(9, 20)",
        tests=("tests/audit/canaries/test_designs.py",),
    ),
    Fault(
        name="decoder: wrong prior variance",
        target="audit:ridge_scores",
        old="4.0 * noise_std**2",
        new="2.0 * noise_std**2",
        tests=("tests/audit/canaries/test_decoder.py",),
    ),
    Fault(
        name="simulator: a degree of freedom too many",
        target="reproductions:GaussianSum._triangle",
        old="self.dimension - inside",
        new="self.dimension - inside + 1",
        tests=("tests/reproductions/test_gaussian_sum.py",),
    ),
)
