"""Generators in two forms, trained by Adam; the number of steps is chosen on validation values (Gaussian thinning).

Everything here reads released values only and so costs no privacy, however long it trains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.errors import require
from holdfast.noise._idealised import normal
from holdfast.noise._source import Source
from holdfast.synth._models.generator.heads import Heads, Singles
from holdfast.synth._models.generator.network import NetworkMixture, require_network
from holdfast.synth._models.generator.targets import Objective, Targets
from holdfast.synth._models.model import Measurement

COMPONENTS = 500
"""Components of the mixture. On a table of 60 columns made from hidden variables, one seed: the error of 200 is 6 %
larger than that of 500, the error of 1,000 2 % smaller."""
MOST_STEPS = 2_000
STEPS_PER_CHECK = 5
"""Steps between two checks of the validation error."""
PATIENCE = 12
"""Training ends after so many checks without a smaller validation error."""
LEARNING_RATE = 0.03
LOGIT_SPREAD = 0.3
"""Standard deviation of the first logits: small, so that strong dependences are learnt first and noise last."""
TRAINING_NOISE_FACTOR = math.sqrt(1.25)
"""The noise of the training values, as a multiple of that of the measured values (`gaussian_thinning`)."""
#: Adam's memory of slopes and of their squares, and what keeps it from dividing by zero (Kingma and Ba 2015).
FIRST_MOMENT_DECAY, SECOND_MOMENT_DECAY, LEAST_ROOT = 0.9, 0.99, 1e-12


class Generator(Protocol):
    """Trainable parameters that give the probabilities of a mixture."""

    heads: Heads

    def probabilities(self) -> Singles:
        """The probability of every cell of every column, in every component."""

    def step(self, targets: Objective) -> None:
        """One step of descent towards the targets."""


class LogitMixture:
    """The direct form: every component's logits are free parameters. Needs only NumPy."""

    def __init__(
        self,
        heads: Heads,
        *,
        components: int = COMPONENTS,
        rate: float = LEARNING_RATE,
        source: Source,
        columns: Mapping[str, Floats] | None = None,
    ) -> None:
        """`columns` are initial distributions: with them the first model is nearly that of independent columns."""
        require(components >= 1, "components", components, ">= 1")
        require(0 < rate < math.inf, "rate", rate, "> 0 and finite")
        self.heads, self.rate, self._taken = heads, np.float32(rate), 0
        drawn = normal(source, size=components * heads.width).reshape(components, heads.width)
        self._logits = (LOGIT_SPREAD * drawn).astype(np.float32)
        if columns is not None:
            for name, place in heads.slices().items():
                self._logits[:, place] += np.log(columns[name]).astype(np.float32)
        self._mean, self._square = np.zeros_like(self._logits), np.zeros_like(self._logits)

    def probabilities(self) -> Singles:
        """The softmax of the logits."""
        return self.heads.softmax(self._logits)

    def step(self, targets: Objective) -> None:
        """Adam (Kingma and Ba 2015, algorithm 1)."""
        now = self.probabilities()
        slope = self.heads.softmax_slope(now, targets.gradient(now)[1])
        self._taken += 1
        self._mean += np.float32(1 - FIRST_MOMENT_DECAY) * (slope - self._mean)
        self._square += np.float32(1 - SECOND_MOMENT_DECAY) * (slope * slope - self._square)
        size = np.float32(self.rate / (1 - FIRST_MOMENT_DECAY**self._taken))
        root = np.sqrt(self._square / np.float32(1 - SECOND_MOMENT_DECAY**self._taken)) + np.float32(
            LEAST_ROOT
        )
        self._logits -= size * self._mean / root


Form = Literal["mixture", "network"]
"""Free logits for every component, in NumPy; or a network from noise to logits, in JAX (the extra `gan`)."""


def require_generator(form: str) -> None:
    """Refuse an unknown form, and one whose libraries are not installed; called before anything is charged."""
    require(form in ("mixture", "network"), "generator", form, "'mixture' or 'network'")
    if form == "network":
        require_network()


def new_generator(
    form: str, heads: Heads, *, components: int, source: Source, columns: Mapping[str, Floats] | None = None
) -> Generator:
    """An untrained generator of either form, which begins at the columns' distributions where these are given."""
    kind: Callable[..., Generator] = LogitMixture if form == "mixture" else NetworkMixture
    return kind(heads, components=components, source=source, columns=columns)


def gaussian_thinning(
    measured: Sequence[Measurement], source: Source
) -> tuple[list[Measurement], list[Measurement]]:
    """Two independent measurements from one: for training and for validation.

    With y = x + sigma e and z standard normal, drawn now and independent of e,

        u = y + sigma z / 2,    v = y - 2 sigma z.

    Given x both are normal and jointly so, and Cov(u, v) = sigma^2 Var(e) - (1/2)(2) sigma^2 Var(z) = 0: jointly normal
    and uncorrelated, so independent. v tests a model made from u as new data would. Their variances are 5/4 and
    5 sigma^2: four fifths of the information are for training, one fifth for validation. This is about accuracy, not
    about privacy: nothing private is read.
    """
    train, validation = [], []
    for measurement in measured:
        drawn = (
            normal(source, size=measurement.values.size).reshape(measurement.values.shape)
            * measurement.noise_std
        )
        train.append(_shift(measurement, drawn / 2.0, TRAINING_NOISE_FACTOR))
        validation.append(_shift(measurement, -2.0 * drawn, math.sqrt(5.0)))
    return train, validation


def _shift(measurement: Measurement, by: Floats, wider: float) -> Measurement:
    return Measurement(
        columns=measurement.columns, values=measurement.values + by, noise_std=measurement.noise_std * wider
    )


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """After how many steps the validation error of a generator is least."""

    steps: int
    checks: tuple[tuple[int, float], ...]
    """Steps, and the mean squared distance from the validation values in units of their noise: 1 is a perfect model."""
    best: Singles
    """The probabilities at the least validation error; they depend on the training values only."""

    @property
    def distance(self) -> float:
        """The least validation error."""
        return min(distance for _, distance in self.checks)


def early_stopping(
    generator: Generator, train: Targets, validation: Targets, *, most_steps: int = MOST_STEPS
) -> Stopping:
    """Train on one part of thinned values until the error on the other part gets no smaller."""
    checks = [(0, validation.distance(generator.probabilities()) / max(1, validation.count))]
    best, best_probabilities = 0, generator.probabilities()
    with progress(desc="how long to train", total=most_steps) as bar:
        for taken in range(STEPS_PER_CHECK, most_steps + 1, STEPS_PER_CHECK):
            for _ in range(STEPS_PER_CHECK):
                generator.step(train)
            checks.append((taken, validation.distance(generator.probabilities()) / max(1, validation.count)))
            bar.update(STEPS_PER_CHECK)
            if checks[-1][1] < checks[best][1]:
                best, best_probabilities = len(checks) - 1, generator.probabilities()
            if len(checks) - 1 - best >= PATIENCE:
                break
    return Stopping(steps=checks[best][0], checks=tuple(checks), best=best_probabilities)


def share_of_model(
    expected: Sequence[Floats],
    train: Sequence[Measurement],
    validation: Sequence[Measurement],
    weights: Sequence[float] | None = None,
) -> float:
    """The w in [0, 1] for which w model + (1 - w) training values is nearest to the validation values.

    The validation values are independent of the model and of the training values, so the squared distance from them
    ranks all such means fairly. `weights` are those of the measurements; by default their precisions.
    """
    towards = across = 0.0
    for place, (model, part, held) in enumerate(zip(expected, train, validation, strict=True)):
        weight = held.noise_std**-2 if weights is None else weights[place]
        step = model - part.values
        towards += weight * float(np.vdot(step, (held.values - part.values)))
        across += weight * float(np.vdot(step, step))
    return min(1.0, max(0.0, towards / across)) if across > 0 else 1.0


def validation_error(
    expected: Sequence[Floats],
    share: float,
    train: Sequence[Measurement],
    validation: Sequence[Measurement],
    weights: Sequence[float],
) -> float:
    """The weighted squared distance of share * model + (1 - share) * training values from the truth, estimated.

    The validation values estimate it without bias. 1 is their own distance from the truth.
    """
    noise = math.fsum(
        weight * held.values.size * held.noise_std**2
        for weight, held in zip(weights, validation, strict=True)
    )
    if noise == 0:
        return 1.0  # tables of a single cell tell nothing, and leave nothing to be held against
    distance = math.fsum(
        weight
        * (
            float(np.sum((share * model + (1.0 - share) * part.values - held.values) ** 2))
            - held.values.size * held.noise_std**2
        )
        for model, part, held, weight in zip(expected, train, validation, weights, strict=True)
    )
    return distance / noise


def train_generator(
    untrained: Callable[[Sequence[Measurement]], Generator],
    measured: Sequence[Measurement],
    targets: Callable[[Sequence[Measurement]], Targets],
    *,
    thinned: tuple[Sequence[Measurement], Sequence[Measurement]],
    most_steps: int = MOST_STEPS,
) -> tuple[Generator, Stopping]:
    """A generator trained on all values, for the number of steps that is best on their thinned parts.

    `untrained` makes a new generator, which may depend on the values that it is given only.
    """
    train, validation = thinned
    stopping = early_stopping(untrained(train), targets(train), targets(validation), most_steps=most_steps)
    generator, all_values = untrained(measured), targets(measured)
    with progress(desc="training", total=stopping.steps) as bar:
        for _ in range(stopping.steps):
            generator.step(all_values)
            bar.update()
    return generator, stopping
