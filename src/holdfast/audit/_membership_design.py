"""MembershipDesign: the settings of a membership game with real records, and what its attacker has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast._arguments import checked
from holdfast.attack._attack import Attack
from holdfast.attack._catalogue import find_attacks
from holdfast.errors import require


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class MembershipDesign:
    """Which records the coins of a membership game decide between, how often it is played, and what the attacker has.

    Parameters
    ----------
    attacks : str or sequence
        "all", names of attacks, or attacks of your own; the error is shared among them.
    reference : pair, optional
        Records (X, y) outside of the pool, for attacks that learn what is usual.
    models : int
        How many reference models the attacker trains: an even number, or 0 to leave out the attacks that need some.
    classes : sequence, optional
        The labels, in the order of the model's probabilities, where `train` returns a plain function.
    jobs : int, optional
        How many reference models are trained at once; the result does not depend on it.
    alternatives : pair, optional
        Under a `replace` claim: the record (X, y) that is trained on instead of each of the pool. By default the pool
        is paired at random.
    base : pair, optional
        Records (X, y) that are always trained on.
    runs : int
        How many trainings, each with coins of its own; together they count as one larger audit.

    Examples
    --------
    >>> MembershipDesign(attacks="loss", models=0).runs
    1
    >>> MembershipDesign(models=3)
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: models must be 0 or an even number >= 2: models come in pairs, got models=3
    """

    attacks: str | Sequence[str | Attack] = "all"
    reference: Any = None
    models: int = 16
    classes: Sequence[Any] | None = None
    jobs: int | None = None
    alternatives: Any = None
    base: Any = None
    runs: int = 1

    def __post_init__(self) -> None:
        find_attacks(self.attacks, "model")
        paired = self.models >= 0 and self.models % 2 == 0
        require(paired, "models", self.models, "0 or an even number >= 2: models come in pairs")
        require(self.runs >= 1, "runs", self.runs, ">= 1")
