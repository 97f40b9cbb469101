"""Generators in two forms, trained by Adam for as long as Gaussian thinning says.

Everything here sees released values only: it costs no privacy, whatever it does and however long.
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
"""Of the mixture. On one latent table of 60 columns, one seed: 200 are 6 % worse than 500, and 1,000 are 2 % better."""
MOST_STEPS = 2_000
STEPS_PER_LOOK = 5
"""Steps between two looks at what was held back."""
PATIENCE = 12
"""Looks without a better one, after which training ends."""
LEARNING_RATE = 0.03
LOGIT_SPREAD = 0.3
"""Of the first logits: small, so that strong dependences are learnt first and noise last."""
TRAIN_WIDER = math.sqrt(1.25)
"""The noise of what trains, over that of what was measured (`gaussian_thinning`)."""
#: Adam's memory of slopes and of their squares, and what keeps it from dividing by zero (Kingma and Ba 2015).
FIRST_MOMENT_DECAY, SECOND_MOMENT_DECAY, LEAST_ROOT = 0.9, 0.99, 1e-12


class Generator(Protocol):
    """Parameters that turn into the probabilities of a mixture, and learn from the derivative in them."""

    heads: Heads

    def probabilities(self) -> Singles:
        """Of every component and cell: what the parameters stand for now."""

    def step(self, targets: Objective) -> None:
        """One step of descent towards the targets."""


class LogitMixture:
    """The direct form: every component's logits are free. Needs nothing but NumPy."""

    def __init__(
        self,
        heads: Heads,
        *,
        components: int = COMPONENTS,
        rate: float = LEARNING_RATE,
        source: Source,
        columns: Mapping[str, Floats] | None = None,
    ) -> None:
        """`columns` are distributions to begin with: then the first model is nearly that of independent columns."""
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
    """Refuse what cannot be built here: called before anything is charged."""
    require(form in ("mixture", "network"), "generator", form, "'mixture' or 'network'")
    if form == "network":
        require_network()


def new_generator(
    form: str, heads: Heads, *, components: int, source: Source, columns: Mapping[str, Floats] | None = None
) -> Generator:
    """A generator of either form, which has learnt nothing but the columns' distributions, where they are given."""
    kind: Callable[..., Generator] = LogitMixture if form == "mixture" else NetworkMixture
    return kind(heads, components=components, source=source, columns=columns)


def gaussian_thinning(
    measured: Sequence[Measurement], source: Source
) -> tuple[list[Measurement], list[Measurement]]:
    """Two independent measurements from one: to train on, and to judge by.

    With y = x + sigma e and z standard normal, drawn now and independent of e,

        u = y + sigma z / 2,    v = y - 2 sigma z.

    Given x both are normal and jointly so, and Cov(u, v) = sigma^2 Var(e) - (1/2)(2) sigma^2 Var(z) = 0: jointly normal
    and uncorrelated, so independent. v says of a model made from u what new data would say. Their variances are 5/4
    and 5 sigma^2: four fifths of the information train, one fifth judges. An argument about accuracy, not about
    privacy: nothing private is looked at.
    """
    train, judge = [], []
    for measurement in measured:
        drawn = (
            normal(source, size=measurement.values.size).reshape(measurement.values.shape)
            * measurement.noise_std
        )
        train.append(_shift(measurement, drawn / 2.0, TRAIN_WIDER))
        judge.append(_shift(measurement, -2.0 * drawn, math.sqrt(5.0)))
    return train, judge


def _shift(measurement: Measurement, by: Floats, wider: float) -> Measurement:
    return Measurement(
        columns=measurement.columns, values=measurement.values + by, noise_std=measurement.noise_std * wider
    )


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """How long a generator is to be trained, and what was held back says of it then."""

    steps: int
    looks: tuple[tuple[int, float], ...]
    """Steps, and the mean squared distance from the values held back, in units of their noise: 1 is a perfect model."""
    best: Singles
    """The probabilities at the best look: what was learnt without the values held back."""

    @property
    def distance(self) -> float:
        """At the best look."""
        return min(distance for _, distance in self.looks)


def best_length(
    generator: Generator, train: Targets, judge: Targets, *, most_steps: int = MOST_STEPS
) -> Stopping:
    """Train on one half of thinned values until the other half says that it gets no better."""
    looks = [(0, judge.distance(generator.probabilities()) / max(1, judge.count))]
    best, shares = 0, generator.probabilities()
    with progress(desc="how long to train", total=most_steps) as bar:
        for taken in range(STEPS_PER_LOOK, most_steps + 1, STEPS_PER_LOOK):
            for _ in range(STEPS_PER_LOOK):
                generator.step(train)
            looks.append((taken, judge.distance(generator.probabilities()) / max(1, judge.count)))
            bar.update(STEPS_PER_LOOK)
            if looks[-1][1] < looks[best][1]:
                best, shares = len(looks) - 1, generator.probabilities()
            if len(looks) - 1 - best >= PATIENCE:
                break
    return Stopping(steps=looks[best][0], looks=tuple(looks), best=shares)


def share_of_model(
    expected: Sequence[Floats],
    train: Sequence[Measurement],
    judge: Sequence[Measurement],
    care: Sequence[float] | None = None,
) -> float:
    """w in [0, 1]: of w model + (1 - w) noisy values the one that the values held back are nearest to.

    The model and the noisy values it learnt from are two decoders of one measurement, and the values held back are
    independent of both: the squared distance is as good a judge of every mixture of them.
    """
    towards = across = 0.0
    for place, (model, part, held) in enumerate(zip(expected, train, judge, strict=True)):
        weight = held.noise_std**-2 if care is None else care[place]
        step = model - part.values
        towards += weight * float(np.vdot(step, (held.values - part.values)))
        across += weight * float(np.vdot(step, step))
    return min(1.0, max(0.0, towards / across)) if across > 0 else 1.0


def distance_held_back(
    expected: Sequence[Floats],
    share: float,
    train: Sequence[Measurement],
    judge: Sequence[Measurement],
    care: Sequence[float],
) -> float:
    """The squared distance of that mixture from the truth, as the values held back estimate it, each part by its care.

    1 is as far as the values held back themselves are.
    """
    noise = math.fsum(c * part.values.size * part.noise_std**2 for c, part in zip(care, judge, strict=True))
    far = math.fsum(
        c
        * (
            float(np.sum((share * model + (1.0 - share) * part.values - held.values) ** 2))
            - held.values.size * held.noise_std**2
        )
        for model, part, held, c in zip(expected, train, judge, care, strict=True)
    )
    return far / noise


def train_generator(
    make: Callable[[Sequence[Measurement]], Generator],
    measured: Sequence[Measurement],
    targets: Callable[[Sequence[Measurement]], Targets],
    *,
    halves: tuple[Sequence[Measurement], Sequence[Measurement]],
    most_steps: int = MOST_STEPS,
) -> tuple[Generator, Stopping]:
    """A generator trained on all values, for as long as their thinned halves say.

    `make` begins anew, from nothing but the values that it is given.
    """
    train, judge = halves
    stopping = best_length(make(train), targets(train), targets(judge), most_steps=most_steps)
    generator, all_values = make(measured), targets(measured)
    with progress(desc="training", total=stopping.steps) as bar:
        for _ in range(stopping.steps):
            generator.step(all_values)
            bar.update()
    return generator, stopping
