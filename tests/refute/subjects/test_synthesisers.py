"""Synthesisers under replay, with their certificates."""

from __future__ import annotations

import pytest

from holdfast.noise._source import Source
from holdfast.privacy import Adjacency
from holdfast.refute._replay import record_run
from holdfast.refute._replay_trial import REQUIRED_POWER, ReplayTrial
from holdfast.refute._subjects.synthesisers import UNITS, synthesis_settings, synthesiser_subject
from holdfast.synth._catalogue import SYNTHESISERS
from holdfast.synth.methods.method import SynthesisMethod


@pytest.mark.deep  # tests/refute/test_refutation.py tries more pairs of each
@pytest.mark.parametrize("method", SYNTHESISERS, ids=lambda method: method.name)
def test_every_synthesiser_survives_and_is_taken_to_its_bound(method: SynthesisMethod) -> None:
    setting = next(iter(synthesis_settings(method, Adjacency.replace)))
    outcome = ReplayTrial(case=setting.case(), pairs=2, climbs=0).run(Source(seed=1), error=0.0)
    assert not outcome.refuted, outcome.summary()
    assert outcome.power is not None
    assert outcome.power >= REQUIRED_POWER


def test_the_certificate_is_part_of_the_run() -> None:
    setting = next(iter(synthesis_settings(SYNTHESISERS[0], Adjacency.replace)))
    case = setting.case()
    seen = record_run(case, case.plain(UNITS), seed=1)
    assert "largest errors" in {charge.label for charge in seen.transcript.charges}


def test_users_and_unknown_numbers_are_tried() -> None:
    independent = next(method for method in SYNTHESISERS if method.name == "independent")
    found = list(synthesis_settings(independent, Adjacency.add_remove))
    assert {setting.tables.max_rows for setting in found} == {1, 2}
    assert {setting.tables.n_public for setting in found} == {None, UNITS}
    subject = synthesiser_subject(independent, Adjacency.replace)
    assert {trial.test for trial in subject.trials} == {"replay", "freshness", "analysis"}
