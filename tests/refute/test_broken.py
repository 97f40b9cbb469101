"""Every broken version is the shipped code with one mistake, and falls; none of them is a mechanism."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import ParameterError
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn.methods.output import minimiser_sensitivity
from holdfast.noise._source import Source
from holdfast.privacy import MECHANISMS, Adjacency, Exponential, Gaussian, Laplace, Mechanism, SubsampledPure
from holdfast.refute._broken import UnderFault, broken_subject_names, broken_subjects, with_less_noise
from holdfast.refute._faults import FAULTS, WRITTEN_FAULTS
from holdfast.refute._planting import CannotPlant, PlantedFault, with_fault
from holdfast.refute._subjects import subject_names
from holdfast.refute._understated import understated_fault, understated_faults
from holdfast.synth._catalogue import SYNTHESISERS

QUICK = {
    "permit_reuses_its_first_noise": "replay",
    "noisy_gd_replace_counts_once": "replay",
    "no_clip_after_whitening": "replay",
    "division_by_private_n": "replay",
    "output_sensitivity_halved": "replay",
    "output_result_unnoised": "replay",
    "bolt_on_divided_by_batch": "replay",
    "counts_root_forgotten": "replay",
    "parts_overlap": "replay",
    "best_exact_score_wins": "replay",
    "noisy_max_half_scale": "law",
    "adassp_three_count_as_two": "replay",
    "stale_noise adassp replace": "freshness",
    "stale_noise tree replace": "freshness",
    "stale_noise search parts": "freshness",
    "half_the_noise functional replace": "freshness",
}
"""A few that take less than a second each; `holdfast refute` runs them all."""


def test_every_fault_can_be_planted_and_says_why() -> None:
    names = [one.name for one in subject_names()]
    for fault in FAULTS:
        with with_fault(fault):
            pass
        assert fault.why, fault.name
        assert fault.subjects, fault.name
        for subject in fault.subjects:
            assert any(name.startswith(subject) for name in names), (fault.name, subject)
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {"replay", "freshness", "sampling"} <= {fault.test for fault in FAULTS}


def test_every_method_has_a_fault_for_every_trial_that_it_undergoes() -> None:
    """Sampling where a step is on a sample, as the method says."""
    sampled = {method.name for method in LEARNERS if method.samples}
    planted = {(_bare(subject), fault.test) for fault in FAULTS for subject in fault.subjects}
    missing = [
        (name, test)
        for name in {_bare(one.name) for one in subject_names() if not _of_a_law(one.name)}
        # Fits of tables are the methods' own fits, which have faults of theirs; what is new there is how rows are read.
        if name != "table_fits"
        for test in (
            "replay",
            "freshness",
            *(["sampling"] if name in sampled else []),
        )
        if (name, test) not in planted
    ]
    assert not missing, "write a fault that breaks it into FAULTS (src/holdfast/refute/_faults.py)"
    names = {method.name for method in LEARNERS} | {method.name for method in SYNTHESISERS}
    assert names <= {name for name, _ in planted}


def _bare(name: str) -> str:
    """Without the neighbour relation."""
    return " ".join(part for part in name.split(" ") if part not in [one.value for one in Adjacency])


def _of_a_law(name: str) -> bool:
    """Mechanisms and claims, which are not run on tables."""
    return "(" in name or name in ("averaged_iterates", "gaussian_calibration")


@pytest.mark.parametrize("method", LEARNERS, ids=lambda method: method.name)
def test_methods_with_samples_are_those_that_say_so(method: Any) -> None:
    subject = next(
        one for one in subject_names() if one.name == f"{method.name} {method.adjacencies[-1]}"
    ).make()
    sampled = any(trial.test == "sampling" for trial in subject.trials)
    assert sampled == method.samples


@pytest.mark.share(5)
@pytest.mark.parametrize("name", QUICK)
def test_a_fault_falls_to_the_trial_that_sees_it(name: str) -> None:
    fault = next(fault for fault in FAULTS if fault.name == name)
    outcome = UnderFault(fault=fault).run(Source(seed=1), error=1e-8)
    assert outcome.refuted, outcome.summary()
    assert outcome.test == QUICK[name]


@pytest.mark.parametrize("name", ["adassp", "functional", "noisy_gd", "output", "gaussian", "tree"])
def test_the_fault_of_a_method_without_one_of_its_own_falls(name: str) -> None:
    """These have their own: it is tried on them, since no other method needs it today."""
    methods: tuple[Any, ...] = (*LEARNERS, *SYNTHESISERS)
    method = next(one for one in methods if one.name == name)
    others = [
        one for one in WRITTEN_FAULTS if not any(subject.startswith(f"{name} ") for subject in one.subjects)
    ]
    fault = understated_fault(method)
    assert fault in list(understated_faults(others))
    outcome = UnderFault(fault=fault).run(Source(seed=1), error=1e-8)
    assert outcome.refuted, outcome.summary()
    assert outcome.test == "replay"


PROBLEM = Problem(loss=Logistic(), dimension=1, penalty=0.1)


def test_a_fault_is_there_while_it_is_planted_and_gone_afterwards() -> None:
    fault = next(fault for fault in FAULTS if fault.name == "output_sensitivity_halved")
    sound = minimiser_sensitivity(PROBLEM, adjacency=Adjacency.replace, public_count=10)
    with with_fault(fault):
        assert minimiser_sensitivity(PROBLEM, adjacency=Adjacency.replace, public_count=10) < 0.51 * sound
    assert minimiser_sensitivity(PROBLEM, adjacency=Adjacency.replace, public_count=10) == sound


@pytest.mark.parametrize(
    ("target", "old", "match"),
    [
        ("learn.methods.output:nothing", "x", "defined 0 times"),
        ("learn.methods.output:minimiser_sensitivity", "not there", "occurs 0 times"),
        ("learn.methods.output:minimiser_sensitivity", "problem", "occurs"),
    ],
)
def test_a_fault_that_fits_nowhere_is_refused(target: str, old: str, match: str) -> None:
    fault = PlantedFault(name="", target=target, old=old, new="y", why="", subjects=("output",))
    with pytest.raises(CannotPlant, match=match), with_fault(fault):
        pass


def test_the_list_has_every_mechanism_with_half_its_noise() -> None:
    names = [one.name for one in broken_subject_names()]
    assert len([n for n in names if n.startswith("noise_halved")]) == sum(
        len(k.examples()) for k in MECHANISMS
    )
    assert {"bolt_on_divided_by_batch", "classical_gaussian_16", "averaging_without_factor"} <= set(names)


def test_an_account_has_no_use_for_them() -> None:
    assert not [kind for kind in _below(Mechanism) if kind.__module__.startswith("holdfast.audit")]


def _below(kind: Any) -> list[Any]:
    return [kind] + [below for child in kind.__subclasses__() for below in _below(child)]


def test_quieter_is_half_the_noise_and_nothing_else() -> None:
    half = with_less_noise(Gaussian(sigma=3.0, l2_sensitivity=6.0, arithmetic="idealised"))
    assert half == Gaussian(sigma=1.5, l2_sensitivity=6.0, arithmetic="idealised")
    assert with_less_noise(Exponential(epsilon=1.0, sensitivity=1.0), 3.0) == Exponential(
        epsilon=3.0, sensitivity=1.0
    )
    nested = with_less_noise(SubsampledPure(base=Laplace(scale=1.0, l1_sensitivity=1.0), rate=0.5))
    assert isinstance(nested, SubsampledPure)
    assert nested.base == Laplace(scale=0.5, l1_sensitivity=1.0)


def test_unknown_names() -> None:
    with pytest.raises(ParameterError, match="bolt_on_divided_by_batch"):
        broken_subjects("nothing")
    assert [subject.name for subject in broken_subjects("bolt_on_d")] == ["bolt_on_divided_by_batch"]
