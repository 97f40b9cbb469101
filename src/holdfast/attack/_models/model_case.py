"""ModelCase: what a membership attacker on a model has: the model, the records to judge, and perhaps more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.attack._attack import Attack, Kind, Knowledge, Task, View
from holdfast.attack._membership_case import MembershipCase
from holdfast.attack._models.layers import has_layers
from holdfast.attack._models.shadow import References
from holdfast.attack._models.target import Target
from holdfast.attack._records import Records
from holdfast.errors import ParameterError


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class ModelCase(MembershipCase):
    """What an attacker has: a model, records to judge, and perhaps more.

    Parameters
    ----------
    target : Target
        The model under attack.
    records : Records
        The records to judge.
    references : References, optional
        What models gave that the attacker trained on random halves of the same records.
    population : Records, optional
        Other records of the same kind that are known not to be members.
    random : numpy.random.Generator
        For the attacker's own choices; it breaks nothing but ties and folds.

    Examples
    --------
    >>> from holdfast.attack import ATTACKS
    >>> target = Target.of(lambda X: X[:, 0], classes=["no", "yes"])
    >>> records = Records.of(([[0.9], [0.5]], ["yes", "yes"]), "records")
    >>> loss = next(attack for attack in ATTACKS if attack.name == "loss")
    >>> loss(ModelCase(target=target, records=records)).round(3).tolist()
    [-0.105, -0.693]
    """

    target: Target
    records: Records
    references: References | None = None
    population: Records | None = None
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    kind: ClassVar[Kind] = "model"

    @property
    def task(self) -> Task:
        """What the model does."""
        return self.target.task

    @property
    def count(self) -> int:
        """The number of records to judge."""
        return self.records.count

    def lacks(self, knowledge: Knowledge) -> str | None:
        """Why the attacker does not have this knowledge, with the way out; None if it is there."""
        if knowledge == "references":
            return "no references: give shadows=" if self.references is None else None
        if knowledge == "population":
            return "no population: give reference=(X, y)" if self.population is None else None
        return missing_access(self.target, knowledge)

    def unprepared_for(self, attack: Attack) -> str | None:
        """Whether the reference models were observed for an attack that learns from them."""
        if attack.view is None or attack.name in self.models().lessons:
            return None
        return "the reference models were not observed for it: give views= to reference_models"

    def setting_aside(self, judged: NDArray[np.bool_], aside: NDArray[np.intp]) -> Self:
        """The same case with the records of the mask `judged` to judge, and those of `aside` for a population."""
        return replace(
            self,
            records=self.records.take(judged),
            population=self.records.take(aside),
            references=None if self.references is None else self.references.take(judged),
        )

    def models(self) -> References:
        """The reference models, for an attack that needs them."""
        if self.references is None:
            raise ParameterError(
                "this attack needs reference models: say references in `knows`, and give shadows="
            )
        return self.references

    def known_population(self) -> Records:
        """The population, for an attack that needs it."""
        if self.population is None:
            raise ParameterError(
                "this attack needs records that are known not to be members: say population in `knows`, and give "
                "reference=(X, y)"
            )
        return self.population


def missing_access(target: Target, knowledge: Knowledge) -> str | None:
    """Why an attack that needs this knowledge cannot have it of this model; None if it can."""
    if knowledge in ("scores", "weights") and target.labels_only:
        return "the model shows decisions only, no probabilities"
    if knowledge == "weights" and not has_layers(target.model):
        return "looks inside linear models and scikit-learn's networks only"
    return None


def views(attacks: Sequence[Attack], target: Target | None = None) -> dict[str, View]:
    """What reference models must be observed for, so that these attacks can learn.

    Without a target, which says whether models have an inside, attacks that look inside are left out.
    """

    def is_visible(attack: Attack) -> bool:
        if target is None:
            return "weights" not in attack.knows
        return all(missing_access(target, part) is None for part in attack.knows)

    return {attack.name: attack.view for attack in attacks if attack.view is not None and is_visible(attack)}
