"""Certificate: a claim about the accuracy of a released value, with its confidence.

A guarantee bounds what a release reveals about the people in the data. A certificate is for the people
who use the release: how far off its answers may be, and with which confidence. It is computed from
released or public values only, so it can be published itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast._arguments import checked
from holdfast._stored_fields import require_fields
from holdfast.errors import FormatError, require
from holdfast.privacy._wording import bound_text, confidence_text

SHARE = "% of the rows"
"""The unit of an alpha that is a proportion: 0.02 is 2 % of the rows."""


@checked
@dataclass(frozen=True, kw_only=True)
class Certificate:
    """With probability at least `confidence`, every query of the class is off by at most `alpha`.

    Parameters
    ----------
    name : str
        What is bounded, such as "largest error".
    statement : str
        In words, over which answers the claim holds.
    alpha : float
        The bound, >= 0.
    confidence : float
        How sure the bound is, in (0, 1].
    query_class : str
        Which queries it speaks of.
    details : mapping, optional
        Plain data that the bound rests on.
    unit : str
        The unit of alpha: SHARE for a part of all rows, else a word such as "records".

    Examples
    --------
    >>> claim = Certificate(
    ...     name="largest error", statement="over the whole workload",
    ...     alpha=0.02, confidence=0.95, query_class="all 3-way marginals",
    ... )
    >>> claim.summary()
    'largest error: at most 0.02 for all 3-way marginals, with confidence 0.95 (over the whole workload)'
    >>> from dataclasses import replace
    >>> replace(claim, unit=SHARE).amount()
    '2 % of the rows'
    """

    name: str
    statement: str
    alpha: float
    confidence: float
    query_class: str
    details: Mapping[str, Any] = field(default_factory=dict)
    unit: str = ""

    def __post_init__(self) -> None:
        require(isinstance(self.name, str) and bool(self.name), "name", self.name, "a non-empty text")
        require(isinstance(self.statement, str), "statement", self.statement, "a text")
        require(isinstance(self.query_class, str), "query_class", self.query_class, "a text")
        require(isinstance(self.unit, str), "unit", self.unit, "a text")
        require(
            _is_number(self.alpha) and math.isfinite(self.alpha) and self.alpha >= 0,
            "alpha",
            self.alpha,
            "a finite number >= 0",
        )
        require(
            _is_number(self.confidence) and 0 < self.confidence <= 1,
            "confidence",
            self.confidence,
            "in (0, 1]",
        )
        require(isinstance(self.details, Mapping), "details", type(self.details).__name__, "a mapping")
        object.__setattr__(self, "alpha", float(self.alpha))
        object.__setattr__(self, "confidence", float(self.confidence))
        object.__setattr__(self, "details", dict(self.details))

    @property
    def vacuous(self) -> bool:
        """Whether it claims nothing: a proportion can never be off by more than 100 %."""
        return self.unit == SHARE and self.alpha >= 1.0

    def summary(self) -> str:
        """The name, the bound and the statement in one line."""
        return f"{self.name}: {self.bound()} ({self.statement})"

    def bound(self) -> str:
        """The bound with its query class and its confidence, which belong together in every text."""
        return f"at most {self.amount()} for {self.query_class}, with confidence {confidence_text(self.confidence)}"

    def amount(self) -> str:
        """Alpha with its unit, as summaries and pages show it."""
        return (
            bound_share(self.alpha)
            if self.unit == SHARE
            else f"{bound_text(self.alpha)} {self.unit}".rstrip()
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "statement": self.statement,
            "alpha": self.alpha,
            "confidence": self.confidence,
            "query_class": self.query_class,
            "details": dict(self.details),
            "unit": self.unit,
        }

    @classmethod
    def from_json(cls, data: Any) -> Certificate:
        """The certificate that `to_json` wrote as `data`; `FormatError` for anything else."""
        data = require_fields("certificate", data, list(cls.__dataclass_fields__))
        try:
            return cls(**data)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise FormatError("a stored certificate lacks a field or has one of the wrong kind") from error


def bound_share(alpha: float) -> str:
    """A bound on a part of all rows, as text.

    >>> bound_share(0.0327053)
    '3.28 % of the rows'
    """
    return f"{bound_text(alpha, times=100)} {SHARE}"


def _is_number(value: object) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool | str)
