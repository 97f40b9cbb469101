"""Inversion games: how much better an attacker guesses who has the model (Wu 2016, section 5.2).

People are drawn from the training data. An adversary gets advice about each and may query the model; a simulated
adversary gets its own advice and no model at all. (Table 5.1 of the source gives the simulated one the model, against
its own definition.) Both guess the value of a goal function, such as a sensitive column. All functions work on many
people at once: a line of advice for each, one guess for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, checked
from holdfast.attack._report import NOTICE
from holdfast.attack._roc import Rate
from holdfast.errors import require
from holdfast.privacy._tradeoff import clopper_pearson_lower, clopper_pearson_upper

Guesses = NDArray[Any]
Draw = Callable[[Any, np.random.Generator], Any]
"""From the training data to the people that are played for: a distribution over the training set."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Advantage:
    """Who was guessed right in either world, person by person. About real people: for the owner only.

    Parameters
    ----------
    real : array of bool
        For each person, whether the adversary that has the model guesses right.
    simulated : array of bool
        For each person, whether the adversary without the model guesses right.
    confidence : float
        Of all limits.

    Examples
    --------
    >>> guesses = Advantage(real=np.array([True, True, True, False]), simulated=np.array([True, False, False, False]))
    >>> float(guesses.gain), float(guesses.simulated_gain), guesses.value
    (0.75, 0.25, 0.5)
    """

    real: NDArray[np.bool_]
    simulated: NDArray[np.bool_]
    confidence: float = 0.95
    audience: ClassVar[Literal["internal"]] = "internal"

    def __post_init__(self) -> None:
        require(
            self.real.shape == self.simulated.shape,
            "real",
            self.real.shape,
            "one entry per person, as simulated",
        )
        require(self.real.ndim == 1 and self.real.size >= 1, "real", self.real.shape, "one person or more")
        require(0 < self.confidence < 1, "confidence", self.confidence, "in (0, 1)")

    @property
    def gain(self) -> Rate:
        """How often the adversary is right."""
        return Rate.of(int(self.real.sum()), self.real.size, confidence=self.confidence)

    @property
    def simulated_gain(self) -> Rate:
        """How often the one without the model is right."""
        return Rate.of(int(self.simulated.sum()), self.simulated.size, confidence=self.confidence)

    @property
    def value(self) -> float:
        """The difference of the two, with its sign: below 0 the model misleads this adversary."""
        return float(np.mean(self.real) - np.mean(self.simulated))

    @property
    def limits(self) -> tuple[float, float]:
        """Of the difference, for people drawn independently given the model: exact limits of both kinds of change."""
        better = int(np.sum(self.real & ~self.simulated))
        worse = int(np.sum(self.simulated & ~self.real))
        error, n = (1.0 - self.confidence) / 4.0, self.real.size
        lower = [clopper_pearson_lower(count, n, error=error) for count in (better, worse)]
        upper = [clopper_pearson_upper(count, n, error=error) for count in (better, worse)]
        return lower[0] - upper[1], upper[0] - lower[1]

    def summary(self) -> str:
        """Two lines."""
        low, high = self.limits
        return (
            f"with the model {self.gain.summary()}, without {self.simulated_gain.summary()}, advantage "
            f"{self.value:+.3f} [{low:+.3f}, {high:+.3f}]\n  {NOTICE}"
        )


def everyone(data: Any, random: np.random.Generator) -> Any:
    """Every member once, so that the rate has no error of sampling: the uniform distribution over the training set.

    Parameters
    ----------
    data : array or table
        The training data.
    random : numpy.random.Generator
        Not used: nobody is left to chance.

    Returns
    -------
    array or table
        All of `data`.
    """
    return data


@checked
@dataclass(frozen=True, kw_only=True)
class BlackBoxGame:
    """Methodology 1: the adversary may ask the model and nothing else.

    Parameters
    ----------
    goal : callable
        From people to what is to be guessed about each (tau in the source).
    advice : callable
        From the training data and the people to what the adversary knows about them: gen(S, z).
    adversary : callable
        From the model, which it may ask, and the advice to one guess for each person.
    simulated : callable
        From its own advice to guesses; it is handed no model.
    simulated_advice : callable, optional
        From the training data and the people to the advice of the simulated adversary, sgen(S, z); by default the same
        advice.
    draw : callable
        From the training data and a random generator to the people that are played for; by default every member once.

    Examples
    --------
    >>> leaky = BlackBoxGame(
    ...     goal=lambda people: people[:, 0], advice=lambda data, people: people[:, 1],
    ...     adversary=lambda model, advice: model(advice), simulated=lambda advice: np.zeros(len(advice)),
    ... )
    >>> data = np.array([[1, 1], [0, 0], [1, 1]])
    >>> leaky.play(lambda features: features, data).value.__round__(3)
    0.667
    """

    goal: Callable[[Any], Guesses]
    advice: Callable[[Any, Any], Any]
    adversary: Callable[[Callable[[Any], Any], Any], Guesses]
    simulated: Callable[[Any], Guesses]
    simulated_advice: Callable[[Any, Any], Any] | None = None
    draw: Draw = everyone

    def play(
        self,
        oracle: Callable[[Any], Any],
        data: Any,
        *,
        confidence: float = 0.95,
        random_state: Seed | None = None,
    ) -> Advantage:
        """Both worlds, for the same people.

        Parameters
        ----------
        oracle : callable
            The model: from features to answers.
        data : array or table
            The training data.
        confidence : float
            Of the limits of the advantage.
        random_state : int, optional
            Of the draw of people.

        Returns
        -------
        Advantage
            Who was guessed right with the model, and who without.
        """
        people = self.draw(data, np.random.default_rng(random_state))
        guessed = self.adversary(oracle, self.advice(data, people))
        return self._advantage(guessed, data, people, confidence)

    def _advantage(self, guessed: Guesses, data: Any, people: Any, confidence: float) -> Advantage:
        advice = (self.advice if self.simulated_advice is None else self.simulated_advice)(data, people)
        return advantage_of(guessed, self.simulated(advice), self.goal(people), confidence=confidence)


@checked
@dataclass(frozen=True)
class LayeredModel:
    """Definition 5.3: a model that is a chain of functions, each of which sees only what the function before it gives.

    Parameters
    ----------
    layers : tuple of callable
        The functions, in the order in which they are applied.

    Examples
    --------
    >>> model = LayeredModel((lambda x: 2 * x, lambda x: x + 1))
    >>> model(3), model.after(1, 3)
    (7, 6)
    """

    layers: tuple[Callable[[Any], Any], ...]

    def __post_init__(self) -> None:
        require(len(self.layers) >= 1, "layers", len(self.layers), "one or more")

    def __call__(self, features: Any) -> Any:
        """What the whole model gives."""
        return self.after(len(self.layers), features)

    def after(self, layer: int, features: Any) -> Any:
        """What the first layers make of features.

        Parameters
        ----------
        layer : int
            How many layers are applied.
        features : array or table
            What the model is asked about.

        Returns
        -------
        object
            The output of the last layer that was applied.
        """
        require(1 <= layer <= len(self.layers), "layer", layer, f"in [1, {len(self.layers)}]")
        for step in self.layers[:layer]:
            features = step(features)
        return features


@checked
@dataclass(frozen=True, kw_only=True)
class WhiteBoxGame:
    """Methodology 2: the adversary is handed the layers; advice may come from the model, too (a layer's output).

    Parameters
    ----------
    goal : callable
        From people to what is to be guessed about each.
    advice : callable
        From the training data, the people and the model to what the adversary knows: gen(S, z, model).
    adversary : callable
        From the model, with its layers, and the advice to one guess for each person.
    simulated : callable
        From its own advice to guesses; it is handed no model here either.
    simulated_advice : callable
        From the training data and the people alone to the advice of the simulated adversary: a layer's output would
        hand over the model.
    draw : callable
        From the training data and a random generator to the people that are played for; by default every member once.

    Examples
    --------
    >>> game = WhiteBoxGame(
    ...     goal=lambda people: people[:, 0], advice=lambda data, people, model: model.after(1, people),
    ...     adversary=lambda model, advice: advice, simulated=np.zeros_like,
    ...     simulated_advice=lambda data, people: people[:, 1],
    ... )
    >>> hidden_layer = LayeredModel((lambda people: people[:, 0], np.zeros_like))
    >>> game.play(hidden_layer, np.array([[1, 5], [0, 6], [1, 7]])).value.__round__(3)
    0.667
    """

    goal: Callable[[Any], Guesses]
    advice: Callable[[Any, Any, LayeredModel], Any]
    adversary: Callable[[LayeredModel, Any], Guesses]
    simulated: Callable[[Any], Guesses]
    simulated_advice: Callable[[Any, Any], Any]
    draw: Draw = everyone

    def play(
        self, model: LayeredModel, data: Any, *, confidence: float = 0.95, random_state: Seed | None = None
    ) -> Advantage:
        """Both worlds, for the same people.

        Parameters
        ----------
        model : LayeredModel
            The model whose layers the adversary sees.
        data : array or table
            The training data.
        confidence : float
            Of the limits of the advantage.
        random_state : int, optional
            Of the draw of people.

        Returns
        -------
        Advantage
            Who was guessed right with the model, and who without.
        """
        people = self.draw(data, np.random.default_rng(random_state))
        guessed = self.adversary(model, self.advice(data, people, model))
        simulated = self.simulated(self.simulated_advice(data, people))
        return advantage_of(guessed, simulated, self.goal(people), confidence=confidence)


def advantage_of(guessed: Guesses, simulated: Guesses, truth: Guesses, *, confidence: float) -> Advantage:
    """Guesses of both worlds against what the goal function says."""
    guesses = {"adversary": np.asarray(guessed), "simulated": np.asarray(simulated)}
    goal = np.asarray(truth)
    for name, values in guesses.items():
        require(values.shape == goal.shape, name, values.shape, f"one guess for each of {goal.size} people")
    right = {name: values == goal for name, values in guesses.items()}
    return Advantage(real=right["adversary"], simulated=right["simulated"], confidence=confidence)
