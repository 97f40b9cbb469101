"""Attacker: what somebody has who guesses an attribute; Scoring: whose values are guessed, and what guesses show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast._arguments import checked
from holdfast.attack._attack import Attack
from holdfast.attack._attributes.attribute_case import Known
from holdfast.attack._attributes.discriminant import learner_of
from holdfast.attack._proof import Proof
from holdfast.errors import require
from holdfast.privacy._adjacency import Adjacency

OWN_PEOPLE = (50, 200, 1_000, 10_000)
"""Numbers of the attacker's own people (soundness, section 27)."""
SMALLEST_OWN_GROUP = 10


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Attacker:
    """Somebody who guesses a sensitive column: what is known, how many people of their own, and which attacks.

    Parameters
    ----------
    knows : sequence of str, optional
        The columns that are known of everybody, by default all but the sensitive ones; the rest is drawn from people
        of the attacker's own.
    response : str
        How well the column is known that the model predicts: "exact"; "approximate", up to `response_error`; or
        "label", the declared cell of a number, or a class of a model that shows decisions only.
    response_error : float, optional
        The standard deviation of what is not known of an approximate response; by default a quarter of the column's.
    own : sequence of int
        Numbers of people of the attacker's own, of whom everything is known; up to a third of all.
    learner : classifier, optional
        A scikit-learn classifier that learns from them, attacks and imputer alike; by default a linear discriminant.
    attacks : str or sequence
        "all", names, or attacks of your own, of kind "attribute". The first that can be made is the one that figures
        are given of.

    Examples
    --------
    >>> Attacker(knows=["age", "weight"], response="label", own=[100]).response
    'label'
    """

    knows: Sequence[str] | None = None
    response: Known = "exact"
    response_error: float | None = None
    own: Sequence[int] = OWN_PEOPLE
    learner: Any = None
    attacks: str | Sequence[str | Attack] = "all"

    def __post_init__(self) -> None:
        require(
            self.response_error is None or self.response == "approximate",
            "response_error",
            self.response_error,
            "None unless response='approximate'",
        )
        require(
            self.response_error is None or self.response_error > 0,
            "response_error",
            self.response_error,
            "> 0",
        )
        require(
            len(self.own) >= 1 and min(self.own) >= SMALLEST_OWN_GROUP,
            "own",
            tuple(self.own),
            f"one number or more, each >= {SMALLEST_OWN_GROUP}",
        )
        learner_of(self.learner)


@checked
@dataclass(frozen=True, kw_only=True)
class Scoring:
    """Whose values are guessed, how the guesses are scored, and against which promise.

    Parameters
    ----------
    people : int
        How many members, and how many fresh people, are guessed about at most.
    surest : int
        How many of the surest guesses are scored by themselves.
    groups : sequence of str, optional
        The columns of categories by which people are grouped; by default those that the attacker knows.
    disclosure : bool
        Whether released rows are also tried for singling out, linking and inferring.
    adjacency : str or Adjacency
        How members were chosen, so what a promise is about: "replace", or "add_remove" if each by a coin of their own.
    proved : Guarantee, PrivacyCurve or TradeOff, optional
        What is proved, by default the promise of the release.
    confidence : float
        Of all limits.

    Examples
    --------
    >>> Scoring(surest=20).surest
    20
    """

    people: int = 2_000
    surest: int = 50
    groups: Sequence[str] | None = None
    disclosure: bool = True
    adjacency: Adjacency | str = Adjacency.replace
    proved: Proof | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjacency", Adjacency.of(self.adjacency))
        require(self.people >= 1, "people", self.people, ">= 1")
        require(self.surest >= 1, "surest", self.surest, ">= 1")
        require(0 < self.confidence < 1, "confidence", self.confidence, "in (0, 1)")
