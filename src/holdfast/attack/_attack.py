"""Attack and Case: the interface that all attacks share.

An attack has a name, the kind of object it attacks, what it knows, and a function that guesses from a case. A case
holds what the attacker has, and never the answers. There are four kinds: attacks on a model and on released rows tell
members of the data from other people, one number per record; attacks on an attribute guess a column, one number per
person and candidate; attacks of disclosure count how often what rows tell about people comes true.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.errors import ParameterError, require

Kind = Literal["model", "rows", "attribute", "disclosure"]
Task = Literal["classification", "regression"]
Knowledge = Literal["answers", "scores", "weights", "references", "population", "rows"]
"""What an attacker may have.

`answers`: a model to ask, be it for decisions only; `scores`: its numbers, probabilities or predictions; `weights`: its
inside; `references`: models trained like it; `population`: records known not to be members; `rows`: released rows.
"""
KNOWLEDGE: dict[Kind, tuple[Knowledge, ...]] = {
    "model": ("answers", "scores", "weights", "references", "population"),
    "rows": ("rows", "population"),
    "attribute": ("answers", "scores", "weights", "rows"),
    "disclosure": ("rows",),
}
"""The kinds of attacks, and what there may be to know in a case of each."""
View = Callable[[Any, Any], Floats]
"""From a target and records to what a learning attack sees of each record: a line of numbers."""


@checked
class Case(ABC):
    """What an attacker has; the base of the cases of all kinds.

    Attributes
    ----------
    kind : str
        The kind of attacks that are made on such a case.
    """

    kind: ClassVar[Kind]

    @property
    def task(self) -> Task | None:
        """What the model under attack does; None where no model is."""
        return None

    @abstractmethod
    def lacks(self, knowledge: Knowledge) -> str | None:
        """Why the attacker does not have this, with the way out; None if it is there.

        Parameters
        ----------
        knowledge : str
            What an attack says that it knows.
        """

    def unprepared_for(self, attack: Attack) -> str | None:
        """Why this attack has nothing to learn from; None if it has, or does not learn.

        Parameters
        ----------
        attack : Attack
            The attack that is to be made.
        """
        return None

    @abstractmethod
    def check_guesses(self, guesses: Any) -> Any:
        """The guesses of an attack on this case, if they have the right shape; else a `ParameterError`.

        Parameters
        ----------
        guesses : object
            What the attack gave.
        """


@checked
@dataclass(frozen=True, kw_only=True)
class Attack:
    """An attack: a name, what it attacks, what it knows, and how it guesses; an entry of `ATTACKS`.

    Parameters
    ----------
    name : str
        What users call it.
    kind : str
        What it attacks: "model" or "rows" for membership, "attribute", or "disclosure".
    guess : callable
        From a case of this kind to its guesses. On "model" (`ModelCase`) and "rows" (`RowsCase`) one number per record,
        larger for members. On "attribute" (`AttributeCase`) one line per person and one column per candidate, larger
        where it believes in the candidate. On "disclosure" (`DisclosureCase`) a mapping from names to three pairs
        (came true, made): on members, on the control group, and blindly.
    paper : str
        Where it comes from.
    knows : tuple of str
        What of a case it looks at; without it the attack is not made, and the report says so.
    tasks : tuple of str
        What a model must do to be attacked: "classification", "regression", or both.
    view : callable, optional
        What it learns from on reference models, if it learns: from a target and records to one line per record.
    note : str, optional
        What must be said wherever its figures are shown.

    Examples
    --------
    >>> from holdfast.attack import ATTACKS
    >>> loss = next(attack for attack in ATTACKS if attack.name == "loss")
    >>> loss.kind, loss.knows, loss.paper
    ('model', ('scores',), 'YGFJ18')
    """

    name: str
    kind: Kind
    guess: Callable[[Any], Any]
    paper: str
    knows: tuple[Knowledge, ...]
    tasks: tuple[Task, ...] = ("classification", "regression")
    view: View | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        strange = [part for part in self.knows if part not in KNOWLEDGE[self.kind]]
        require(
            not strange, "knows", strange, f"made of {', '.join(KNOWLEDGE[self.kind])} on {self.kind!r} cases"
        )

    def obstacle(self, case: Case) -> str | None:
        """Why this attack cannot be made on this case; None if it can.

        Parameters
        ----------
        case : Case
            What the attacker has.
        """
        if case.kind != self.kind:
            return f"made for cases of kind {self.kind!r}, not {case.kind!r}"
        if case.task is not None and case.task not in self.tasks:
            return f"made for {' and '.join(self.tasks)}, not for {case.task}"
        lacking = [why for part in self.knows if (why := case.lacks(part)) is not None]
        return "; ".join(dict.fromkeys(lacking)) if lacking else case.unprepared_for(self)

    def __call__(self, case: Case) -> Any:
        """The guesses, checked."""
        why = self.obstacle(case)
        if why is not None:
            raise ParameterError(f"the attack {self.name!r} cannot be made: {why}")
        return case.check_guesses(self.guess(case))


def playable(
    attacks: Sequence[Attack], case_of: Callable[[Attack], Case]
) -> tuple[tuple[Attack, ...], dict[str, str]]:
    """The attacks that can be made, each on its case, and why the others cannot; `ParameterError` if none can."""
    skipped = {
        attack.name: why for attack in attacks if (why := attack.obstacle(case_of(attack))) is not None
    }
    if len(skipped) == len(attacks):
        raise ParameterError(
            "no attack can be made: " + "; ".join(f"{name}: {why}" for name, why in skipped.items())
        )
    return tuple(attack for attack in attacks if attack.name not in skipped), skipped
