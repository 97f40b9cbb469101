"""RealComparison: every measure of synthetic rows against real ones. Exact functions of private data: internal."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.synth._evaluation.associations import Associations
from holdfast.synth._evaluation.distances import ClosestRecords, ToldApart
from holdfast.synth._evaluation.marginals import Marginals, MovedColumn
from holdfast.synth._evaluation.prediction import Predictions
from holdfast.synth._evaluation.subgroups import Subgroups


@dataclass(frozen=True, kw_only=True, eq=False)
class RealComparison:
    """All measures of synthetic rows against real ones; the fields are named in the JSON of a report."""

    rows: int
    synthetic_rows: int
    sampled: int
    """The number of real rows in the sample on which predictions and distances are computed."""
    one_way: Marginals
    two_way: Marginals
    moved: tuple[MovedColumn, ...]
    associations: Associations
    closest: ClosestRecords
    told_apart: ToldApart | None
    predictions: Predictions | None = None
    subgroups: tuple[Subgroups, ...] = ()
    notes: tuple[str, ...] = ()
