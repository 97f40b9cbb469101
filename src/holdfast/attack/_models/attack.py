"""Attack: a membership attack's name, score and needs; one line in ATTACKS each.

An attack sees a `Case`: a model, and records of which it does not know who was in the training data. It answers
with one number per record, larger where it believes in membership. It never sees the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.attack._models.layers import has_layers
from holdfast.attack._models.shadow import References, View
from holdfast.attack._models.target import Target
from holdfast.attack._records import Records
from holdfast.errors import ParameterError, require

Need = Literal["references", "population"]
Task = Literal["classification", "regression"]


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """What an attacker has: a model, records to judge, and perhaps more.

    `references` are models that the attacker trained on random halves of the same records. `population` are
    other records of the same kind that are known not to be members. `random` breaks nothing but ties and folds.
    """

    target: Target
    records: Records
    references: References | None = None
    population: Records | None = None
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def has(self, need: Need) -> bool:
        """Whether the attacker has it."""
        return getattr(self, need) is not None

    def models(self) -> References:
        """The reference models, for an attack that needs them."""
        if self.references is None:
            raise ParameterError(
                "this attack needs reference models: give train=, a function or an estimator"
            )
        return self.references

    def others(self) -> Records:
        """The population, for an attack that needs it."""
        if self.population is None:
            raise ParameterError(
                "this attack needs reference=(X, y): records that are known not to be members"
            )
        return self.population


@checked
@dataclass(frozen=True, kw_only=True)
class Attack:
    """An entry of ATTACKS."""

    name: str
    score: Callable[[Case], Floats]
    """One number per record of the case, larger for members."""
    paper: str
    tasks: tuple[Task, ...] = ("classification", "regression")
    needs: tuple[Need, ...] = ()
    outputs: Literal["labels", "scores", "inside"] = "scores"
    """What of the model it must see: its decisions only, its probabilities too, or its weights."""
    view: View | None = None
    """What it learns from on reference models, if it learns: a line of numbers for each record."""

    def obstacle(self, case: Case) -> str | None:
        """Why this attack cannot be made on this case; None if it can."""
        if case.target.task not in self.tasks:
            return f"made for {' and '.join(self.tasks)}, not for {case.target.task}"
        hidden = self.unseen(case.target)
        if hidden is not None:
            return hidden
        missing = [need for need in self.needs if not case.has(need)]
        ways = {"references": "give train=", "population": "give reference=(X, y)"}
        if missing:
            return "; ".join(f"no {need}: {ways[need]}" for need in missing)
        if self.view is not None and self.name not in case.models().lessons:
            return "the reference models were not observed for it: give views= to reference_models"
        return None

    def unseen(self, target: Target) -> str | None:
        """What of this model the attack would have to see and cannot; None if nothing."""
        if self.outputs != "labels" and target.labels_only:
            return "the model shows decisions only, no probabilities"
        if self.outputs == "inside" and not has_layers(target.model):
            return "looks inside linear models and scikit-learn's networks only"
        return None

    def scores(self, case: Case) -> Floats:
        """The scores, checked."""
        why = self.obstacle(case)
        if why is not None:
            raise ParameterError(f"the attack {self.name!r} cannot be made: {why}")
        values = np.asarray(self.score(case), dtype=np.float64)
        require(values.shape == (case.records.count,), "scores", values.shape, "one number per record")
        require(bool(np.all(np.isfinite(values))), "scores", "...", "finite")
        return values


def views(attacks: Sequence[Attack], target: Target | None = None) -> dict[str, View]:
    """What reference models must be observed for, so that these attacks can learn.

    Without a target, which says whether models have an inside, attacks that look inside are left out.
    """
    return {
        a.name: a.view
        for a in attacks
        if a.view is not None and (a.outputs != "inside" if target is None else a.unseen(target) is None)
    }
