"""Accuracy: how well a model does on real records. Un-noised, so for the owner's eyes only."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.errors import FormatError, require


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """One score of one model on real records: the released model, the same without privacy, or a baseline.

    >>> Accuracy(model="majority class", score=0.76, rows=16281).audience
    'internal'
    """

    model: str
    score: float
    rows: int
    measure: str = "accuracy"

    audience = "internal"

    def __post_init__(self) -> None:
        require(bool(self.model), "model", self.model, "a non-empty text")
        require(math.isfinite(self.score), "score", self.score, "a finite number")
        require(self.rows >= 1, "rows", self.rows, ">= 1")

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Accuracy:
        """The score that `to_json` wrote; `FormatError` for anything else."""
        try:
            return cls(**data)
        except (TypeError, ValueError) as error:
            raise FormatError("a stored accuracy lacks a field or has one of the wrong kind") from error
