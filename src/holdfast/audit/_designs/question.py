"""Question: the claim that an audit tests, with its neighbours and delta; the same for every design."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.audit._result import Rows
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._guarantee import Guarantee

Progress = Callable[[int, int], None]
"""Called after each training with the number done and the number planned."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """A claim, the neighbours and the delta that it is about, what the rows are, and the auditor's coins."""

    claim: Guarantee | PrivacyCurve
    adjacency: Adjacency
    delta: float
    rows: Rows | None
    source: Source
    progress: Progress

    @property
    def curve(self) -> PrivacyCurve:
        """The curve of the claim."""
        return self.claim.curve if isinstance(self.claim, Guarantee) else self.claim
