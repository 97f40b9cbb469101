from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.release import Release
from holdfast.synth import Synthesizer
from holdfast.synth._contents import SyntheticContents
from holdfast.synth._evaluation.against_release import DECLARED, Noise, ReleasedEvidence, released_evidence
from holdfast.synth._evaluation.compared_rows import plain_schema, read_compared
from holdfast.synth._models.model import Measurement
from tests.synth.evaluation.samples import SCHEMA, people, released

PLAIN = plain_schema(SCHEMA)


@pytest.fixture(scope="module")
def found() -> ReleasedEvidence:
    return released_evidence(released().release_, by=["sex", "region"])


def test_what_is_said_rests_on_released_values(found: ReleasedEvidence) -> None:
    contents = SyntheticContents.of_value(released().release_.value)
    rows = contents.coded_rows()
    for one in found.tables:
        measured = contents.best_measurements()[frozenset(one.columns)]
        gap = np.abs(rows(measured.columns) / len(rows) - measured.values / 1200)
        assert one.total_variation == pytest.approx(gap.sum() / 2)
        assert one.largest == pytest.approx(gap.max())
        assert one.noise == pytest.approx(gap.size / 2 * math.sqrt(2 / math.pi) * measured.noise_std / 1200)
        assert one.at_most_about == pytest.approx(min(1, one.total_variation + one.noise))
        assert 0 <= one.inside <= 1
    assert {one.columns for one in found.tables} == {tuple(one.columns) for one in contents.measurements}
    assert found.claim == released().certificate_
    assert found.unmeasured == ()
    assert len(found.unknown) >= 4


def test_the_true_table_is_within_what_is_said(found: ReleasedEvidence) -> None:
    """Rows and true tables are no further apart than the rows and the noise together allow, on average."""
    real, rows = (
        read_compared(people(), PLAIN, name="real"),
        read_compared(released().sample(), PLAIN, name="rows"),
    )
    true = []
    for one in found.tables:
        columns = one.columns if one.columns in real.counts else one.columns[::-1]
        true.append(0.5 * np.abs(real.counts[columns] - rows.counts[columns]).sum() / 1200)
    assert np.mean(true) <= 1.5 * np.mean([one.at_most_about for one in found.tables])


@pytest.mark.parametrize("laplace", [False, True])
def test_the_noise_is_as_large_as_its_law_says(laplace: bool) -> None:
    noise = Noise(laplace=laplace)
    drawn = noise.draw((20_000,), 3.0, np.random.default_rng(0))
    assert np.std(drawn) == pytest.approx(3.0, rel=0.03)
    assert np.abs(drawn).mean() == pytest.approx(noise.mean(3.0), rel=0.03)


def test_a_file_says_the_same(found: ReleasedEvidence, tmp_path: Path) -> None:
    released().save(tmp_path / "r.holdfast")
    again = released_evidence(Release.load(tmp_path / "r.holdfast"), by=["sex", "region"])
    assert repr(again) == repr(found)


def test_only_the_rows_of_the_release_are_spoken_of(found: ReleasedEvidence) -> None:
    own = read_compared(released().sample(), PLAIN, name="rows")
    assert repr(released_evidence(released().release_, rows=own, by=["sex", "region"])) == repr(found)
    real = read_compared(people(), PLAIN, name="rows")
    with pytest.raises(ParameterError, match="rows of the release"):
        released_evidence(released().release_, rows=real)
    declared = released_evidence(released().release_, rows=real, rows_are_public=True)
    assert declared.assumption == DECLARED
    assert declared.claim is None
    shuffled: dict[str, Any] = people(seed=9)
    with pytest.raises(ParameterError, match="rows of the release"):
        released_evidence(released().release_, rows=read_compared(shuffled, PLAIN, name="rows"))


def test_rows_with_the_same_columns_one_by_one_are_not_the_same() -> None:
    table = released().sample()
    moved = {name: np.asarray(values) for name, values in table.items()}
    moved["sex"] = moved["sex"][::-1]
    with pytest.raises(ParameterError, match="rows of the release"):
        released_evidence(released().release_, rows=read_compared(moved, PLAIN, name="rows"))


def test_groups_that_drown_are_named(found: ReleasedEvidence) -> None:
    told = {f"{one.by}={one.group}" for one in found.groups} | set(found.drowned)
    assert told == {"sex=F", "sex=M", "region=north", "region=south", "region=islands"}
    assert {"region=islands"} <= set(found.drowned)
    for one in found.groups:
        assert one.share == pytest.approx(one.synthetic_share, abs=0.1)
        assert one.columns == 3
    with pytest.raises(ParameterError, match="by must be one of"):
        released_evidence(released().release_, by=["height"])


def test_strengths_and_moves_have_their_noise_beside(found: ReleasedEvidence) -> None:
    assert len(found.strengths) == 6
    assert {one.first + one.second for one in found.strengths if one.kind == "correlation ratio"}
    for one in found.strengths:
        assert one.low <= one.high
    (moved,) = found.moves
    assert moved.column == "age"
    assert 0 < moved.noise < 40


def test_a_wider_noise_is_told() -> None:
    release = released().release_
    contents = SyntheticContents.of_value(release.value)
    louder = [
        Measurement(columns=one.columns, values=one.values, noise_std=10 * one.noise_std)
        for one in contents.measurements
    ]
    value = {**release.value, "measurements": [vars(one) for one in louder]}
    more = released_evidence(Release(value=value, guarantee=release.guarantee, provenance=release.provenance))
    fewer = released_evidence(release)
    for loud, quiet in zip(more.tables, fewer.tables, strict=True):
        assert loud.noise == pytest.approx(10 * quiet.noise)
        assert loud.half_width > 2 * quiet.half_width
        assert loud.inside >= quiet.inside
    assert more.claim is None


def test_pure_noise_and_a_private_number_of_rows() -> None:
    pure = Synthesizer(epsilon=20.0, delta=0.0, method="independent").fit(people(), SCHEMA)
    told = released_evidence(pure.release_)
    assert len(told.unmeasured) == 6
    assert {len(one.columns) for one in told.tables} == {1}
    hidden = Synthesizer(epsilon=20.0, delta=1e-6, method="independent", adjacency="add_remove")
    schema = plain_schema(SCHEMA)
    counted = released_evidence(hidden.fit(people(), schema).release_)
    assert all(one.total_variation < 0.3 for one in counted.tables)
