"""Planted faults in audits."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="audit: delta of one canary only",
        file="audit/program.py",
        old="math.log(canaries * delta) + math.log(tail)",
        new="math.log(delta) + math.log(tail)",
        tests=("tests/test_audit_program.py",),
    ),
    Fault(
        name="audit: the path pays delta once",
        file="audit/path.py",
        old="beta = one_run.error_of(confidence) - canaries * delta",
        new="beta = one_run.error_of(confidence) - delta",
        tests=("tests/test_audit_path.py",),
    ),
    Fault(
        name="audit: f-DP recursion off by one",
        file="audit/fdp.py",
        old="right += i / (r - i) * (needed - wrong)",
        new="right += (i + 1) / (r - i) * (needed - wrong)",
        tests=("tests/test_audit_fdp.py",),
    ),
    Fault(
        name="audit: foreign coins refute",
        file="audit/evidence.py",
        old='return "refuted" if self.coins == "holdfast" and self.valid else "warning"',
        new='return "refuted"',
        tests=("tests/test_audit_evidence.py",),
    ),
    Fault(
        name="audit: replaced records stay in",
        file="audit/planting.py",
        old="absent = -1.0 if self.adjacency is Adjacency.replace else 0.0",
        new="absent = 0.0",
        tests=("tests/test_audit_planting.py",),
    ),
    Fault(
        name="refute: events chosen on the draws that test them",
        file="audit/worlds.py",
        old="    test = binned(without[half:]), binned(present[other_half:])",
        new="    test = pilot",
        tests=("tests/test_audit_worlds.py",),
    ),
    Fault(
        name="refute: error not shared among the trials",
        file="audit/refute.py",
        old="share = false_alarm / max(chances, 1)",
        new="share = false_alarm",
        tests=("tests/test_audit_refute.py",),
    ),
    Fault(
        name="canaries: unfair coins",
        file="audit/canaries/design.py",
        old="p=Fraction(1, 2), size=count",
        new="p=Fraction(9, 20), size=count",
        tests=("tests/test_audit_canaries.py",),
    ),
    Fault(
        name="decoder: wrong prior variance",
        file="audit/decoder.py",
        old="shift = 4.0 * noise_std**2",
        new="shift = 2.0 * noise_std**2",
        tests=("tests/test_audit_decoder.py",),
    ),
    Fault(
        name="simulator: a degree of freedom too many",
        file="audit/gaussian_sum.py",
        old="chisquare(self.dimension - inside)",
        new="chisquare(self.dimension - inside + 1)",
        tests=("tests/test_audit_gaussian_sum.py",),
    ),
)
