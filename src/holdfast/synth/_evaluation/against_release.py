"""Evaluation of synthetic rows against the noisy tables and the certificate of their own release. Public.

Everything here is computed from released values: it costs nothing and may be published. The rows were fitted to the
same noisy counts with which they are compared, so agreement only shows that they follow what was released. What is
known about the private table itself comes from the size of the noise, which is public, and from the certificate, whose
noise is independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._schema import Schema
from holdfast.errors import ParameterError, require
from holdfast.release import Release
from holdfast.release._certificate import Certificate
from holdfast.synth._certificate import OVERALL
from holdfast.synth._contents import SyntheticContents
from holdfast.synth._evaluation.associations import association, kind_of_pair
from holdfast.synth._evaluation.compared_rows import ComparedRows
from holdfast.synth._evaluation.marginals import (
    category_steps,
    cell_words,
    earth_mover,
    largest_cell,
    numeric_places,
)
from holdfast.synth._evaluation.workload_errors import shares
from holdfast.synth._models.model import Measurement, on_simplex
from holdfast.synth._released import released_intervals
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._workload.workload import Marginal

NOISE_DRAWS = 60
"""Draws of simulated noise that show how noise alone changes a correlation or a distance."""
LEAST_SIGNAL_TO_NOISE = 4.0
"""A group is left out where its noisy count is below this many of its standard deviations."""


@dataclass(frozen=True, kw_only=True)
class MeasuredTable:
    """The rows against one noisy table; `noise` is the mean total variation that the table's noise alone causes."""

    columns: tuple[str, ...]
    total_variation: float
    noise: float
    at_most_about: float
    """A bound on the distance of the rows from the true table: the sum of the two, by the triangle inequality."""
    noise_std: float
    """The standard deviation of the noise of a cell, in rows."""
    largest: float
    where: str
    inside: float
    """The share of cells in which the proportion of the rows lies in the interval for the true proportion."""
    half_width: float
    """The mean half width of these intervals."""

    @property
    def name(self) -> str:
        """The columns in words."""
        return " x ".join(self.columns)


@dataclass(frozen=True, kw_only=True)
class MeasuredStrength:
    """The association of two columns in the noisy table and in the rows, and the range that noise alone gives it."""

    first: str
    second: str
    kind: str
    noisy: float
    synthetic: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class MeasuredMove:
    """The earth mover's distance of an ordered column from its noisy counts, and the mean that noise alone causes."""

    column: str
    distance: float
    noise: float
    steps: bool = False
    """Whether the unit is a step from one ordered category to the next."""


@dataclass(frozen=True, kw_only=True)
class MeasuredGroup:
    """One subgroup, from noisy tables of its column with one other column: its share, and the errors inside it."""

    by: str
    group: str
    share: float
    synthetic_share: float
    total_variation: float
    noise: float
    columns: int


@dataclass(frozen=True, kw_only=True)
class ReleasedEvidence:
    """All that released values say about the rows."""

    tables: tuple[MeasuredTable, ...]
    strengths: tuple[MeasuredStrength, ...]
    moves: tuple[MeasuredMove, ...]
    groups: tuple[MeasuredGroup, ...]
    drowned: tuple[str, ...]
    """Subgroups that are smaller than the noise, or about which there is no noisy table."""
    confidence: float
    claim: Certificate | None
    """The certificate of exactly these rows; None where there is none."""
    rows: int
    method: str
    private: bool
    unmeasured: tuple[str, ...]
    """Pairs of columns without a noisy table."""
    unknown: tuple[str, ...]
    assumption: str = ""

    def average(self, width: int) -> tuple[float, float]:
        """The mean distance from the noisy tables of `width` columns, and the mean that noise alone causes."""
        tables = [table for table in self.tables if len(table.columns) == width]
        if not tables:
            return math.nan, math.nan
        return float(np.mean([table.total_variation for table in tables])), float(
            np.mean([table.noise for table in tables])
        )


UNKNOWN = (
    "errors of tables that were not measured, beyond what the certificate covers",
    "how well a model that learns from these rows predicts real ones (train on synthetic, test on real)",
    "distances between synthetic and real rows, copies among them",
    "whether real and synthetic rows can be told apart",
)
DECLARED = "whoever ran this declared that the rows may be shown; they are not those of the release"


def released_evidence(
    release: Release[Any],
    *,
    rows: ComparedRows | None = None,
    by: Sequence[str] = (),
    rows_are_public: bool = False,
) -> ReleasedEvidence:
    """Compare the rows of a release with its noisy tables.

    `rows`, where given, must be those of the release, unless `rows_are_public` declares that others may be published.
    """
    contents = SyntheticContents.of_value(release.value)
    own = contents.coded_rows()
    assumption = ""
    if rows is not None and not _same(rows, own):
        if not rows_are_public:
            raise ParameterError(
                "synthetic must hold the rows of the release, and these are others: what is computed from them may be "
                "shown only if they may be; say rows_are_public (--rows-are-public) if they are, or compare inside "
                "with --against"
            )
        own, assumption = _coded_sample(rows, own), DECLARED
    domain = own.domain
    for name in by:
        require(name in domain, "by", name, f"one of the columns {list(domain)}")
    intervals, confidence, _ = released_intervals(release, contents, measured=contents.best_measurements())
    noise = Noise(laplace=release.guarantee.curve.as_pure() is not None)
    measured = contents.best_measurements()
    tables, strengths = [], []
    for measurement in sorted(
        measured.values(), key=lambda measurement: (len(measurement.columns), list(measurement.columns))
    ):
        total = _total(contents, measurement)
        if total <= 0:
            continue
        interval = intervals.of(
            Marginal(tuple(measurement.columns)), shares(own(measurement.columns)).reshape(-1)
        )
        tables.append(_table(measurement, own, contents.schema, total, interval, noise))
        if len(measurement.columns) == 2:
            strengths.append(_strength(measurement, own, contents.schema, total, noise))
    groups, drowned = _groups(measured, own, contents, by, noise)
    pairs = {
        frozenset(measurement.columns) for measurement in measured.values() if len(measurement.columns) == 2
    }
    names = list(domain)
    claim = next((claim for claim in release.certificates if claim.name == OVERALL), None)
    return ReleasedEvidence(
        tables=tuple(tables),
        strengths=tuple(strengths),
        groups=tuple(groups),
        drowned=tuple(drowned),
        moves=tuple(_moves(measured, own, contents, noise)),
        confidence=confidence,
        claim=None if assumption else claim,
        rows=len(own),
        method=release.provenance.title,
        private=release.private,
        unmeasured=tuple(
            f"{a} x {b}"
            for i, a in enumerate(names)
            for b in names[i + 1 :]
            if frozenset((a, b)) not in pairs
        ),
        unknown=UNKNOWN,
        assumption=assumption,
    )


def _same(rows: ComparedRows, own: CodedRows) -> bool:
    """Whether all one- and two-way tables equal those of the release's rows; nothing else of the rows is used."""
    if set(rows.names) != set(own.domain) or rows.rows != len(own):
        return False
    return all(np.array_equal(table, own(columns)) for columns, table in rows.counts.items())


def _coded_sample(rows: ComparedRows, own: CodedRows) -> CodedRows:
    absent = [name for name in own.domain if name not in rows.names]
    require(not absent, "columns", absent, "all columns of the release, which its tables are about")
    codes = np.stack([rows.code(name) for name in own.domain], axis=1)
    return CodedRows(domain=own.domain, codes=codes.astype(np.int64))


def _total(contents: SyntheticContents, measurement: Measurement) -> float:
    """The number of rows, public or noisy, by which counts are divided."""
    if contents.public_rows:
        return float(contents.public_rows)
    return float(contents.counted.value if contents.counted is not None else measurement.total)


@dataclass(frozen=True)
class Noise:
    """The distribution of the noise of a cell, up to its standard deviation."""

    laplace: bool

    def mean(self, std: float) -> float:
        """E|noise|: std sqrt(2 / pi) of normal noise, std / sqrt(2) of Laplace's; however cells are correlated."""
        return std / math.sqrt(2.0) if self.laplace else std * math.sqrt(2.0 / math.pi)

    def draw(self, shape: tuple[int, ...], std: float, coins: np.random.Generator) -> Floats:
        """Simulated independent noise."""
        return coins.laplace(0, std / math.sqrt(2), shape) if self.laplace else coins.normal(0, std, shape)


def _table(
    measurement: Measurement,
    own: CodedRows,
    schema: Schema,
    total: float,
    interval: tuple[Floats, Floats, str],
    noise: Noise,
) -> MeasuredTable:
    low, high, source = interval
    measured = source == "measurement"
    proportions = shares(own(measurement.columns))
    gap = np.abs(proportions - measurement.values / total)
    flat = proportions.reshape(-1)
    worst = largest_cell(gap)
    distance = 0.5 * float(gap.sum())
    noise_distance = 0.5 * gap.size * noise.mean(measurement.noise_std) / total
    return MeasuredTable(
        columns=tuple(measurement.columns),
        total_variation=distance,
        noise=noise_distance,
        at_most_about=min(1.0, distance + noise_distance),
        noise_std=measurement.noise_std,
        largest=float(gap.max()),
        where=cell_words(measurement.columns, worst, schema),
        inside=float(np.mean((low <= flat) & (flat <= high))) if measured else math.nan,
        half_width=float(np.mean(high - low) / 2) if measured else math.nan,
    )


def _strength(
    measurement: Measurement, own: CodedRows, schema: Schema, total: float, noise: Noise
) -> MeasuredStrength:
    first, second = measurement.columns
    places = numeric_places(schema)
    counts = shares(own(measurement.columns)) * total
    coins = np.random.default_rng(0)
    simulated = [
        _strength_of(
            counts + noise.draw(counts.shape, measurement.noise_std, coins), total, places, first, second
        )
        for _ in range(NOISE_DRAWS)
    ]
    low, high = (
        np.nanquantile(simulated, [0.05, 0.95]) if not np.all(np.isnan(simulated)) else (math.nan, math.nan)
    )
    return MeasuredStrength(
        first=first,
        second=second,
        kind=kind_of_pair(schema, first, second),
        noisy=_strength_of(measurement.values, total, places, first, second),
        synthetic=association(counts, places.get(first), places.get(second)),
        low=float(low),
        high=float(high),
    )


def _strength_of(table: Floats, total: float, places: Mapping[str, Floats], first: str, second: str) -> float:
    return association(on_simplex(table, total=total), places.get(first), places.get(second))


def _moves(
    measured: Mapping[frozenset[str], Measurement], own: CodedRows, contents: SyntheticContents, noise: Noise
) -> list[MeasuredMove]:
    moves = []
    steps = category_steps(contents.schema)
    places = {**numeric_places(contents.schema), **steps}
    for name in own.domain:
        measurement = measured.get(frozenset([name]))
        if measurement is None or name not in places or _total(contents, measurement) <= 0:
            continue
        total, held = _total(contents, measurement), ~np.isnan(places[name])
        counts = shares(own([name])) * total
        coins = np.random.default_rng(0)
        at, weight = places[name][held], counts[held]
        distances = [
            earth_mover(at, on_simplex(table, total=total)[held], at, weight)
            for table in (
                measurement.values,
                *(
                    counts + noise.draw(counts.shape, measurement.noise_std, coins)
                    for _ in range(NOISE_DRAWS)
                ),
            )
        ]
        noise_alone = float(np.mean(distances[1:]))
        moves.append(MeasuredMove(column=name, distance=distances[0], noise=noise_alone, steps=name in steps))
    return moves


def _groups(
    measured: Mapping[frozenset[str], Measurement],
    own: CodedRows,
    contents: SyntheticContents,
    by: Sequence[str],
    noise: Noise,
) -> tuple[list[MeasuredGroup], list[str]]:
    groups, drowned = [], []
    for name in by:
        tables = [
            measurement for columns, measurement in measured.items() if len(columns) == 2 and name in columns
        ]
        labels = contents.schema[name].labels
        for cell, label in enumerate(labels):
            errors, alone, counts = [], [], []
            for measurement in tables:
                other = next(column for column in measurement.columns if column != name)
                noisy = np.moveaxis(measurement.values, list(measurement.columns).index(name), 0)[cell]
                rows = own([name, other])[cell]
                if (
                    noisy.sum() > LEAST_SIGNAL_TO_NOISE * measurement.noise_std * math.sqrt(noisy.size)
                    and rows.sum() > 0
                ):
                    errors.append(0.5 * float(np.abs(shares(rows) - noisy / noisy.sum()).sum()))
                    alone.append(0.5 * noisy.size * noise.mean(measurement.noise_std) / float(noisy.sum()))
                    counts.append(float(noisy.sum()) / _total(contents, measurement))
            if not errors:
                drowned.append(f"{name}={label}")
                continue
            groups.append(
                MeasuredGroup(
                    by=name,
                    group=label,
                    share=float(np.mean(counts)),
                    synthetic_share=float(own([name])[cell]) / max(len(own), 1),
                    total_variation=float(np.mean(errors)),
                    noise=float(np.mean(alone)),
                    columns=len(errors),
                )
            )
    return groups, drowned
