"""AttributeCase: what an attacker has who wants one attribute of people; AttributeAttack: how it is guessed from that.

The first people of a case are the attacker's own, of whom everything is known. Of the others the attacker knows some
columns and the response, and has a release: a model to ask, or rows. The sensitive column of the others is not in the
case, so no attack can look.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Codes, Floats
from holdfast.attack._attributes.discriminant import GuessingLearner, learner_of, log_share
from holdfast.errors import ParameterError, require

if TYPE_CHECKING:
    from holdfast.attack._attributes.linear_weights import LinearInside

Known = Literal["exact", "approximate", "label"]
Need = Literal["model", "confidences", "weights", "rows"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Response:
    """What the attacker knows of the value that the model predicts.

    Of classes: `codes`. Of numbers: `numbers`, blurred where they are approximate, or the cell from `low` to `high`.
    """

    known: Known
    block: Floats
    """As features, for a learner."""
    codes: Codes | None = None
    numbers: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None

    def head(self, rows: NDArray[np.intp]) -> Response:
        """Of some people."""
        parts: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows]
            for name in ("codes", "numbers", "low", "high")
        }
        return replace(self, block=self.block[rows], **parts)


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsSeen:
    """Released rows: what the attacker knows of everybody, and the sensitive value beside it."""

    known: Floats
    codes: Codes


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class AttributeCase:
    """`own_values` are the codes of the first people, the attacker's own; `kinds` is the number of candidates.

    `answers` are the model's, with axes (draws of unknown columns, people, candidates) and for a classifier classes:
    what it says of everybody, were the sensitive value this. `rows` are released rows, where those are the release.
    """

    kinds: int
    own_values: Codes
    known: Floats
    response: Response | None = None
    answers: Floats | None = None
    labels_only: bool = False
    inside: LinearInside | None = None
    rows: RowsSeen | None = None
    learner: Callable[[], GuessingLearner] = field(default=lambda: learner_of(None))
    found: dict[str, Floats] = field(init=False, default_factory=dict)
    """What several attacks compute alike, by its name: the first of them leaves it here."""

    @property
    def own(self) -> int:
        """How many people are the attacker's own."""
        return self.own_values.size

    @property
    def count(self) -> int:
        """All people, the attacker's own first."""
        return len(self.known)

    def at(self, size: int) -> AttributeCase:
        """The same with fewer people of the attacker's own."""
        rows = np.concatenate([np.arange(size), np.arange(self.own, self.count)])
        return replace(
            self,
            own_values=self.own_values[:size],
            known=self.known[rows],
            response=None if self.response is None else self.response.head(rows),
            answers=None if self.answers is None else self.answers[:, rows],
            inside=None if self.inside is None else self.inside.head(rows),
        )

    @cached_property
    def seen(self) -> Floats:
        """What a guesser without the release reads of everybody: known columns and response."""
        return self.known if self.response is None else np.hstack([self.known, self.response.block])

    def learned(self, features: Floats) -> Floats:
        """Log-probabilities for everybody, learned from the attacker's own people."""
        made = self.learner().fit(features[: self.own], self.own_values, self.kinds)
        return made.log_posterior(features)

    @cached_property
    def marginal(self) -> Floats:
        """Log-shares of the candidates among the attacker's own people."""
        counts = np.bincount(self.own_values, minlength=self.kinds) + 0.5
        return np.asarray(np.log(counts / counts.sum()))

    @cached_property
    def imputed(self) -> Floats:
        """The baseline: the guess of somebody who has no release."""
        return self.learned(self.seen)

    @cached_property
    def imputed_without_response(self) -> Floats:
        """The guess from known columns alone: a prior for the model's word on the response."""
        return self.learned(self.known) if self.known.shape[1] else np.tile(self.marginal, (self.count, 1))

    def known_response(self) -> Response:
        """The response, for an attack that needs it."""
        if self.response is None:
            raise ParameterError("this attack needs target=: the column that the model predicts")
        return self.response

    def asked(self) -> Floats:
        """The model's answers, for an attack that needs them."""
        if self.answers is None:
            raise ParameterError("this attack needs a model to ask; rows alone cannot be asked")
        return self.answers

    def decisions(self) -> Codes:
        """The class that the model decides for, by draw, person and candidate."""
        return np.asarray(self.asked().argmax(axis=-1), dtype=np.int64)


@checked
@dataclass(frozen=True, kw_only=True)
class AttributeAttack:
    """An entry of ATTRIBUTE_ATTACKS."""

    name: str
    score: Callable[[AttributeCase], Floats]
    """One line per person, one column per candidate: larger where the attack believes in it."""
    paper: str
    needs: tuple[Need, ...] = ("model",)
    tasks: tuple[str, ...] = ("classification", "regression")

    def obstacle(self, case: AttributeCase) -> str | None:
        """Why this attack cannot be made; None if it can."""
        missing = {
            "model": case.answers is None and "there is no model to ask",
            "confidences": case.labels_only
            and "the model shows decisions only, or the response is a label only",
            "weights": case.inside is None and "looks inside linear models of two classes or of numbers only",
            "rows": case.rows is None and "the release is no table of rows",
        }
        found = next((why for need in self.needs if (why := missing[need])), None)
        if found:
            return str(found)
        if case.answers is not None:
            task = "classification" if case.answers.ndim == 4 else "regression"
            if task not in self.tasks:
                return f"made for {' and '.join(self.tasks)}, not for {task}"
        return None

    def scores(self, case: AttributeCase) -> Floats:
        """The scores, checked; ties go to the candidate that is commonest among the attacker's own people."""
        why = self.obstacle(case)
        if why is not None:
            raise ParameterError(f"the attack {self.name!r} cannot be made: {why}")
        made = np.asarray(self.score(case), dtype=np.float64)
        require(made.shape == (case.count, case.kinds), "scores", made.shape, "one per person and candidate")
        require(bool(np.all(np.isfinite(made))), "scores", "...", "finite")
        return made + 1e-9 * case.marginal


def guesses(scores: Floats) -> tuple[Codes, Floats]:
    """The guess about each person, and how sure of it: the largest share of exp(scores).

    >>> guessed, sure = guesses(np.log([[0.2, 0.8], [0.5, 0.5]]))
    >>> guessed.tolist(), sure.round(3).tolist()
    ([1, 0], [0.8, 0.5])
    """
    best = scores.argmax(axis=1)
    return best.astype(np.int64), np.exp(log_share(scores)[np.arange(len(scores)), best])
