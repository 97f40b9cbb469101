"""AttributeCase: what an attacker has who guesses one attribute of people.

The first people of a case are the attacker's own, of whom everything is known. Of the others the attacker knows some
columns and the response, and has a release: a model to ask, or rows. The sensitive column of the others is not in the
case, so no attack can look.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Codes, Floats
from holdfast._ranges import require_numbers
from holdfast.attack._attack import Case, Kind, Knowledge, Task
from holdfast.attack._attributes.discriminant import GuessingLearner, learner_of, log_share
from holdfast.errors import ParameterError, require

if TYPE_CHECKING:
    from holdfast.attack._attributes.linear_inside import LinearInside

Known = Literal["exact", "approximate", "label"]
"""How well an attacker knows the value that the model predicts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Response:
    """What the attacker knows of the value that the model predicts.

    For classes that is `codes`. For numbers it is `numbers`, with an error where they are approximate, or the cell from
    `low` to `high`.
    """

    known: Known
    block: Floats
    """The response as features, for a learner."""
    codes: Codes | None = None
    numbers: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None

    def take(self, rows: NDArray[np.intp]) -> Response:
        """The response of some people."""
        return replace(
            self,
            block=self.block[rows],
            codes=None if self.codes is None else self.codes[rows],
            numbers=None if self.numbers is None else self.numbers[rows],
            low=None if self.low is None else self.low[rows],
            high=None if self.high is None else self.high[rows],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsSeen:
    """Released rows: what the attacker knows of everybody, and the sensitive value beside it."""

    known: Floats
    codes: Codes


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class AttributeCase(Case):
    """What an attacker has who guesses an attribute; people of its own come first, and all others are judged.

    Parameters
    ----------
    kinds : int
        The number of candidates.
    own_values : numpy.ndarray
        The codes of the first people, the attacker's own.
    known : numpy.ndarray
        What is known of everybody, a line of numbers each.
    response : Response, optional
        What is known of the value that the model predicts.
    answers : numpy.ndarray, optional
        The model's, with axes (draws of unknown columns, people, candidates) and for a classifier classes: what it says
        of everybody, were the sensitive value this.
    labels_only : bool
        Whether the answers are decisions, or the response is a label only.
    inside : LinearInside, optional
        The weights of a linear model.
    rows : RowsSeen, optional
        Released rows, where those are the release.
    learner : callable
        Gives the learner that attacks and imputer share.

    Examples
    --------
    >>> from holdfast.attack import ATTACKS
    >>> case = AttributeCase(
    ...     kinds=2,
    ...     own_values=np.array([0, 1]),
    ...     known=np.zeros((3, 1)),
    ...     rows=RowsSeen(known=np.zeros((4, 1)), codes=np.array([1, 1, 1, 0])),
    ... )
    >>> closest = next(attack for attack in ATTACKS if attack.name == "closest_row")
    >>> closest(case)[case.own :].round(1).tolist()
    [[2.5, 7.5]]
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
    cache: dict[str, Floats] = field(init=False, default_factory=dict)
    """Quantities that several attacks need, by name: the first attack that computes one stores it here."""
    kind: ClassVar[Kind] = "attribute"

    @property
    def task(self) -> Task | None:
        """What the model does; None where rows were released."""
        if self.answers is None:
            return None
        return "classification" if self.answers.ndim == 4 else "regression"

    def lacks(self, knowledge: Knowledge) -> str | None:
        """Why the attacker does not have this knowledge, with the way out; None if it is there."""
        if knowledge == "rows":
            return "the release is no table of rows" if self.rows is None else None
        if self.answers is None:
            return "there is no model to ask"
        if knowledge == "scores" and self.labels_only:
            return "the model shows decisions only, or the response is a label only"
        if knowledge == "weights" and self.inside is None:
            return "looks inside linear models of two classes or of numbers only"
        return None

    def check_guesses(self, guesses: Any) -> Floats:
        """The guesses, one finite number per person and candidate; ties go to what is commonest among own people."""
        scores = require_numbers("scores", guesses)
        require(
            scores.shape == (self.count, self.kinds), "scores", scores.shape, "one per person and candidate"
        )
        require(bool(np.all(np.isfinite(scores))), "scores", "...", "finite")
        return scores + 1e-9 * self.marginal

    @property
    def own(self) -> int:
        """How many people are the attacker's own."""
        return self.own_values.size

    @property
    def count(self) -> int:
        """All people, the attacker's own first."""
        return len(self.known)

    def at(self, size: int) -> AttributeCase:
        """The same case with fewer people of the attacker's own.

        Parameters
        ----------
        size : int
            How many of them.

        Returns
        -------
        AttributeCase
            The case of the first so many.
        """
        rows = np.concatenate([np.arange(size), np.arange(self.own, self.count)])
        return replace(
            self,
            own_values=self.own_values[:size],
            known=self.known[rows],
            response=None if self.response is None else self.response.take(rows),
            answers=None if self.answers is None else self.answers[:, rows],
            inside=None if self.inside is None else self.inside.take(rows),
        )

    @cached_property
    def known_features(self) -> Floats:
        """What the attacker knows about everybody without the release: known columns and response."""
        return self.known if self.response is None else np.hstack([self.known, self.response.block])

    def learned_log_posterior(self, features: Floats) -> Floats:
        """Log-probabilities for everybody, learned from features of the attacker's own people."""
        model = self.learner().fit(features[: self.own], self.own_values, self.kinds)
        return model.log_posterior(features)

    @cached_property
    def marginal(self) -> Floats:
        """Log-shares of the candidates among the attacker's own people."""
        counts = np.bincount(self.own_values, minlength=self.kinds) + 0.5
        return np.asarray(np.log(counts / counts.sum()))

    @cached_property
    def imputation(self) -> Floats:
        """The baseline: the guess of somebody who has no release."""
        return self.learned_log_posterior(self.known_features)

    @cached_property
    def imputation_without_response(self) -> Floats:
        """The guess from known columns alone: the prior that the likelihood of the response is combined with."""
        return (
            self.learned_log_posterior(self.known)
            if self.known.shape[1]
            else np.tile(self.marginal, (self.count, 1))
        )

    def known_response(self) -> Response:
        """The response, for an attack that needs it."""
        if self.response is None:
            raise ParameterError("this attack needs target=: the column that the model predicts")
        return self.response

    def known_answers(self) -> Floats:
        """The model's answers, for an attack that needs them."""
        if self.answers is None:
            raise ParameterError("this attack needs a model to ask; rows alone cannot be asked")
        return self.answers

    def decisions(self) -> Codes:
        """The class that the model decides for, by draw, person and candidate."""
        return np.asarray(self.known_answers().argmax(axis=-1), dtype=np.int64)


def guesses(scores: Floats) -> tuple[Codes, Floats]:
    """The guess about each person, and how sure it is: its share among exp(scores) of all candidates.

    >>> guessed, sure = guesses(np.log([[0.2, 0.8], [0.5, 0.5]]))
    >>> guessed.tolist(), sure.round(3).tolist()
    ([1, 0], [0.8, 0.5])
    """
    best = scores.argmax(axis=1)
    return best.astype(np.int64), np.exp(log_share(scores)[np.arange(len(scores)), best])
