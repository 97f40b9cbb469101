"""The base of all designs that plant records: which records are planted, their labels, and how they are scored."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._ranges import as_labels, require_numbers
from holdfast.audit._canaries import Canaries, HadamardCanaries, LabelledCanaries, SphereCanaries
from holdfast.audit._canaries.interference import interference
from holdfast.audit._canaries.labelled import random_labels
from holdfast.audit._canaries.planting import PlantedRecords, PlantedRows, Planting, Score, WithScore
from holdfast.audit._designs.question import Question
from holdfast.audit._findings import Finding
from holdfast.audit._power import PowerBasis
from holdfast.audit._result import AuditResult
from holdfast.errors import ParameterError, require
from holdfast.privacy._adjacency import Adjacency

PARAMETERS = {
    "row_norm": """float, optional
    The length of the records that holdfast plants, by default 1; records of your own have theirs.""",
    "classes": """sequence, optional
    The two labels, in order, where there are labels: they are never read from `y`.""",
    "null": """pair, optional
    A record (x, y) that the training counts as absent: for labelled records under a `zero_out` claim.""",
    "score": """callable, optional
    From what `train` returns to one number per planted record, larger where the record looks planted. By default the
    inner product with a returned vector, or the margin of the record's own label under a returned model.""",
    "noiseless": """callable, optional
    The same training without any noise. With it the result says what this audit would have noticed on your code;
    without it, what it would have noticed if the release were the sum of the rows.""",
}
"""The description of each shared parameter, put into the docstring of every design that plants records."""


@dataclass(frozen=True)
class PlantedSlots:
    """The data that canaries are planted in: rows of numbers, and their labels where there are some."""

    features: Floats
    labels: NDArray[Any] | None

    @classmethod
    def of(cls, data: Any) -> PlantedSlots:
        """The slots in an array of rows, or in a pair (X, y)."""
        features, labels = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
        rows = require_numbers("data", features)
        require(rows.ndim == 2, "data.ndim", rows.ndim, "2: an array of rows, or a pair (X, y)")
        if labels is None:
            return cls(rows, None)
        names = as_labels("y", labels)
        require(names.shape == (rows.shape[0],), "y.shape", names.shape, "one per row")
        return cls(rows, names)

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self.features.shape[1])

    @property
    def empty(self) -> bool:
        """Whether there are no rows, so that planted records are all of the data."""
        return not len(self.features)


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class PlantedDesign:
    """A design that plants records and flips a coin for each."""

    row_norm: float | None = None
    classes: Sequence[Any] | None = None
    null: tuple[Any, Any] | None = None
    score: Score | None = None
    noiseless: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        norm = self.row_norm
        require(norm is None or 0 < norm < math.inf, "row_norm", norm, "> 0 and finite")

    def _require_own_norm(self, name: str) -> None:
        """Refuse `row_norm` together with canaries of the user's own, which have their length."""
        require(
            self.row_norm is None,
            "row_norm",
            self.row_norm,
            f"left out where {name} are given, which have theirs",
        )

    def _directions(self, count: int, dimension: int) -> Canaries:
        """The canaries that holdfast plants: orthogonal where there are dimensions enough, else on the sphere."""
        design = HadamardCanaries if count <= dimension else SphereCanaries
        return design(count=count, dimension=dimension, row_norm=self.row_norm or 1.0, seed=1)

    def _planting(
        self, slots: PlantedSlots, canaries: Canaries | LabelledCanaries, adjacency: Adjacency
    ) -> Planting:
        """The canaries planted in the data, judged by the auditor's score if there is one."""
        planting = self._planting_with_default_score(slots, canaries, adjacency)
        return planting if self.score is None else WithScore(planting=planting, score=self.score)

    def _planting_with_default_score(
        self, slots: PlantedSlots, canaries: Canaries | LabelledCanaries, adjacency: Adjacency
    ) -> Planting:
        """The planting with its default score; directions get public random labels where the data have labels."""
        if slots.labels is None:
            if isinstance(canaries, LabelledCanaries):
                raise ParameterError("labelled canaries need labelled data: give data=(X, y)")
            return PlantedRows(rows=slots.features, canaries=canaries, adjacency=adjacency)
        if not isinstance(canaries, LabelledCanaries):
            canaries = LabelledCanaries(features=canaries, labels=random_labels(canaries.count, seed=1))
        if self.classes is None:
            raise ParameterError(
                "classes must name the two labels, in order, got classes=None; they are never read from y"
            )
        return PlantedRecords(
            features=slots.features,
            labels=slots.labels,
            canaries=canaries,
            adjacency=adjacency,
            classes=list(self.classes),
            null=self.null,
        )

    def _power_basis(
        self, planting: Planting, question: Question, *, runs: int, single: bool
    ) -> PowerBasis | None:
        """The basis of the power of so many trainings; None where the interference is not known."""
        spread = interference(planting, self.noiseless, single=single)
        if spread is None:
            return None
        return PowerBasis(
            claim=question.curve, interference=spread, measured=self.noiseless is not None, runs=runs
        )

    def _result(
        self,
        finding: Finding,
        scores: dict[str, float],
        question: Question,
        planting: Planting,
        basis: PowerBasis | None,
        *,
        generated: bool,
    ) -> AuditResult:
        """The result of this finding; `generated` says that holdfast made all rows."""
        return AuditResult(
            finding=finding,
            delta=question.delta,
            coins="holdfast",
            adjacency=question.adjacency,
            planted=planting.summary(),
            scores=scores,
            rows=question.rows or ("generated" if generated else "real"),
            basis=basis,
        )


def score_of_one(train: Callable[[Any], Any], planting: Planting, coin: bool) -> float:
    """The score of a single canary, in a training with it (`coin` is true) or without it."""
    return float(planting.scores(train(planting.data(np.array([coin]))))[0])
