from __future__ import annotations

from typing import Any

import pytest

import holdfast.refute._subject as home
from holdfast.errors import ParameterError
from holdfast.privacy import MECHANISMS, Gaussian, SubsampledGaussian
from holdfast.refute._subject import Subject, mechanism_subjects, of_mechanism, subject_label
from holdfast.refute._subjects import subject_names, subjects
from holdfast.refute._trial import Analysis


def test_every_mechanism_is_a_subject_without_further_code(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [subject.name for subject in mechanism_subjects()]
    assert len(names) == sum(len(kind.examples()) for kind in MECHANISMS)
    assert len(set(names)) == len(names)

    class Newcomer(Gaussian):
        @classmethod
        def examples(cls) -> Any:
            return (cls(sigma=7.0, l2_sensitivity=1.0),)

    monkeypatch.setattr(home, "MECHANISMS", (*MECHANISMS, Newcomer))
    assert "Newcomer(sigma=7.0, l2_sensitivity=1.0)" in [one.name for one in subject_names()]


def test_tests_for_a_mechanism() -> None:
    subject = of_mechanism(SubsampledGaussian(sigma=1.0, l2_sensitivity=1.0, rate=0.25))
    kinds = [type(trial).__name__ for trial in subject.trials]
    assert set(kinds) == {"Law", "MechanismFreshness", "Neighbours", "TwoWorlds"}
    assert "rate 0.25" in subject.trials[-1].what  # type: ignore[attr-defined]
    assert subject.broken == ""


def test_names() -> None:
    assert subject_label(Gaussian(sigma=1.0, l2_sensitivity=2.0, arithmetic="idealised")) == (
        "Gaussian(sigma=1.0, l2_sensitivity=2.0) idealised"
    )
    assert {s.name.split("(")[0] for s in subjects("discrete-gaussian")} == {"DiscreteGaussian"}
    assert [one.name for one in subject_names() if one.name.startswith("bolt_on")] == [
        f"bolt_on {adjacency}" for adjacency in ("replace", "zero_out", "add_remove")
    ]
    with pytest.raises(ParameterError, match="RandomisedResponse"):
        subjects("nothing")


def test_a_subject_needs_a_name_and_a_trial() -> None:
    with pytest.raises(ParameterError, match="trials"):
        Subject(name="idle", claim="", trials=())
    with pytest.raises(ParameterError, match="name"):
        Subject(name="", claim="", trials=(Analysis(what="", value=lambda: 0.0, claimed=1.0),))
