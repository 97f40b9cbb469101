"""Every broken version falls, to the tests that should see it; none of them is a mechanism."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.audit.refutation.broken import broken, quieter
from holdfast.audit.refutation.suite import refute
from holdfast.errors import ParameterError
from holdfast.privacy import MECHANISMS, Exponential, Gaussian, Laplace, Mechanism, SubsampledPure

SEEN_BY = {
    "bolt_on_divided_by_batch": ("neighbours", "audit"),
    "averaging_without_factor": ("neighbours",),
    "short_batch_own_size": ("neighbours",),
    "fixed_noise_seed": ("law", "audit"),
    "one_noise_for_all": ("law",),
    "exponential_length": ("law",),
    "certificate_offset_printed": ("law",),
    "noisy_max_half_scale": ("audit", "analysis"),
    "ridge_residual_from_data": ("neighbours",),
    "classical_gaussian_16": ("analysis",),
}


def test_the_list_is_complete_and_explained() -> None:
    every = broken()
    assert {s.name for s in every if not s.name.startswith("noise_halved")} == set(SEEN_BY)
    halved = [s for s in every if s.name.startswith("noise_halved")]
    assert len(halved) == sum(len(kind.examples()) for kind in MECHANISMS)
    assert all(subject.broken for subject in every)


@pytest.mark.slow
def test_each_is_refuted_by_the_tests_that_see_it() -> None:
    # The error is shared among all of them, as in a whole run.
    named = [subject for subject in broken() if subject.name in SEEN_BY]
    found = refute(named, false_alarm=1e-7)
    assert {verdict.name: verdict.refuted_by() for verdict in found.verdicts} == SEEN_BY
    assert found.passed


def test_an_account_has_no_use_for_them() -> None:
    assert not any(isinstance(subject, Mechanism) for subject in broken())
    assert not [kind for kind in _below(Mechanism) if kind.__module__.startswith("holdfast.audit")]


def _below(kind: Any) -> list[Any]:
    return [kind] + [below for child in kind.__subclasses__() for below in _below(child)]


def test_quieter_is_half_the_noise_and_nothing_else() -> None:
    half = quieter(Gaussian(sigma=3.0, l2_sensitivity=6.0, arithmetic="idealised"))
    assert half == Gaussian(sigma=1.5, l2_sensitivity=6.0, arithmetic="idealised")
    assert quieter(Exponential(epsilon=1.0, sensitivity=1.0), 3.0) == Exponential(
        epsilon=3.0, sensitivity=1.0
    )
    nested = quieter(SubsampledPure(base=Laplace(scale=1.0, l1_sensitivity=1.0), rate=0.5))
    assert isinstance(nested, SubsampledPure)
    assert nested.base == Laplace(scale=0.5, l1_sensitivity=1.0)


def test_unknown_names() -> None:
    with pytest.raises(ParameterError, match="bolt_on_divided_by_batch"):
        broken("nothing")
    assert [subject.name for subject in broken("bolt_on")] == ["bolt_on_divided_by_batch"]
