"""Reference (shadow) models: trained by the attacker like the target, on random halves of the same records.

Shadow models are those of Shokri et al. 2017. They come in pairs on complementary halves, so that every record is in
exactly half of them. A model is dropped once its answers on the records are stored. The memory needed is that of one
number per model and record, of `MOST_LESSONS` lessons (a model, a record, and whether it was trained on) for each
attack that learns, and of the models being trained.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, checked
from holdfast._arrays import Bools
from holdfast.attack._attack import View
from holdfast.attack._models.fitted import encoder_of
from holdfast.attack._models.target import Target
from holdfast.attack._records import Records
from holdfast.errors import AssumptionWarning, BudgetWarning, NotPrivateWarning, ParameterError, require
from holdfast.learn._rows.summation import one_thread

Fit = Callable[[tuple[Any, Any], int], Any]
"""From data (X, y) and a seed to a fitted model."""
Draw = Callable[[np.random.Generator, int], Bools]
"""From a generator and the number of records to the records of one model of a pair; its twin gets the others."""
T = TypeVar("T")
Observe = Callable[[Target, Records], T]
"""From a reference model and the records to what is stored of the model."""
MOST_LESSONS = 24_000
"""The most lessons for an attack that learns: pairs of a reference model and a record."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Lessons:
    """Training data of an attack that learns: features of pairs of a reference model and a record, and who was in."""

    features: NDArray[np.float32]
    included: Bools

    def __post_init__(self) -> None:
        fits = self.features.ndim == 2 and self.features.shape[0] == self.included.size
        require(fits, "features", self.features.shape, "a line of numbers for each entry of included")


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class References:
    """What reference models gave on the records: one row per model, one column per record.

    Parameters
    ----------
    included : array of bool
        Which records each model was trained on.
    signals : array
        What each model said about each record: the log-odds of its label, or the residual.
    lessons : dict, optional
        What attacks that learn from more than signals saw of the models, by the attack's name.

    Examples
    --------
    >>> references = References(
    ...     included=np.array([[True, False], [False, True]]),
    ...     signals=np.array([[2.0, -1.0], [0.5, 3.0]], dtype=np.float32),
    ... )
    >>> references.models, references.take(np.array([1])).signals.tolist()
    (2, [[-1.0], [3.0]])
    """

    included: Bools
    signals: NDArray[np.float32]
    lessons: Mapping[str, Lessons] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(
            self.signals.shape == self.included.shape,
            "signals",
            self.signals.shape,
            "of the shape of included",
        )

    @property
    def models(self) -> int:
        """The number of reference models."""
        return int(self.included.shape[0])

    def take(self, records: NDArray[Any]) -> References:
        """The same models on some of the records; the lessons stay."""
        return replace(self, included=self.included[:, records], signals=self.signals[:, records])


@checked
@dataclass(frozen=True, kw_only=True)
class ShadowModels:
    """How an attacker trains reference models: by which training, how many, and by how many threads.

    Parameters
    ----------
    train : estimator or callable, optional
        What is cloned and fitted, or a function from (X, y) to a model. Without it the model under attack is cloned if
        it is an estimator; else attacks with reference models are left out, and the report says so.
    count : int
        How many, an even number from 4 on: they come in pairs. 16 go a long way.
    jobs : int, optional
        Threads; by default one for each core. Their number changes no result.

    Examples
    --------
    >>> ShadowModels(count=8).count
    8
    """

    train: Any = None
    count: int = 16
    jobs: int | None = None

    def __post_init__(self) -> None:
        require(
            self.count >= 4 and self.count % 2 == 0,
            "count",
            self.count,
            "an even number >= 4: each record is in and out twice",
            "or leave out the attacks with reference models",
        )


def random_half(random: np.random.Generator, count: int) -> Bools:
    """A random half of `count` records, as a mask."""
    chosen = np.zeros(count, dtype=bool)
    chosen[random.permutation(count)[: (count + 1) // 2]] = True
    return chosen


@checked
def reference_models(
    train: Any,
    records: Records,
    *,
    models: int = 16,
    classes: tuple[Any, ...] | None = None,
    random_state: Seed | None = None,
    draw: Draw = random_half,
    base: Records | None = None,
    jobs: int | None = None,
    views: Mapping[str, View] | None = None,
) -> References:
    """Train reference models and store the signal of each on every record.

    Parameters
    ----------
    train : estimator or callable
        An estimator, which is cloned and fitted, or a function from (X, y) to a model.
    records : Records
        The records that coins are flipped for, and on which every model is asked.
    models : int
        How many, an even number: the models of a pair are trained on complementary halves.
    classes : tuple, optional
        The labels, where `train` gives callables that return probabilities.
    random_state : int, optional
        The same number gives the same halves, and the same models where `train` is an estimator.
    draw : callable
        From a random generator and the number of records to which of them the first model of a pair is trained on; by
        default half of them.
    base : Records, optional
        Records that every model is trained on besides.
    jobs : int, optional
        Threads; by default one for each core. Their number changes no result.
    views : dict, optional
        What attacks that learn want to see of each model, by the attack's name.

    Returns
    -------
    holdfast.attack.References
        Who was trained on, and what each model gave.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> random = np.random.default_rng(0)
    >>> people = Records(features=random.normal(size=(40, 2)), labels=random.integers(0, 2, 40))
    >>> references = reference_models(LogisticRegression(), people, models=4, random_state=0, jobs=1)
    >>> references.signals.shape, references.included.sum(axis=0).tolist()[:3]
    ((4, 40), [2, 2, 2])
    """
    attack_views = {} if views is None else dict(views)
    lesson_rows = np.random.default_rng(random_state).permutation(records.count)[
        : max(1, MOST_LESSONS // models)
    ]
    lessons = records.take(lesson_rows)

    def observe(target: Target, rows: Records) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        signal = target.signal(rows).astype(np.float32)
        return signal, [view(target, lessons).astype(np.float32) for view in attack_views.values()]

    included, observed = observe_models(
        train,
        records,
        observe,
        models=models,
        classes=classes,
        random_state=random_state,
        draw=draw,
        base=base,
        jobs=jobs,
    )
    return References(
        included=included,
        signals=np.stack([signal for signal, _ in observed]),
        lessons={
            name: Lessons(
                features=np.concatenate([features[place] for _, features in observed]),
                included=included[:, lesson_rows].ravel(),
            )
            for place, name in enumerate(attack_views)
        },
    )


def observe_models(
    train: Any,
    records: Records,
    observe: Observe[T],
    *,
    models: int,
    classes: tuple[Any, ...] | None = None,
    random_state: Seed | None = None,
    draw: Draw = random_half,
    base: Records | None = None,
    jobs: int | None = None,
) -> tuple[Bools, list[T]]:
    """Train reference models and return which records each was trained on, and what `observe` gives of each."""
    require(models >= 2 and models % 2 == 0, "models", models, "an even number >= 2: models come in pairs")
    require(records.count >= 2, "records", records.count, "2 or more")
    seeds = np.random.SeedSequence(random_state)
    random = np.random.default_rng(seeds.spawn(1)[0])
    first_halves = [draw(random, records.count) for _ in range(models // 2)]
    included = np.array([mask for first in first_halves for mask in (first, ~first)])
    fit, names = fit_function(train), classes or tuple(np.unique(records.labels).tolist())
    fit_seeds = [int(seed.generate_state(1)[0] >> 1) for seed in seeds.spawn(models)]

    def observe_model(place: int) -> T:
        rows = records.take(included[place])
        model = fit((rows if base is None else base.join(rows)).data(), fit_seeds[place])
        # A half may lack a rare class: the model then gives it probability 0.
        return observe(Target.of(model, classes=classes).with_class_order(names), records)

    with warnings.catch_warnings(), one_thread():
        # Reference models never leave the attacker, so what they spend or promise need not be warned of.
        for kind in (BudgetWarning, NotPrivateWarning, AssumptionWarning):
            warnings.simplefilter("ignore", kind)
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
        with ThreadPoolExecutor(max_workers=jobs or os.cpu_count()) as pool:
            observed = list(pool.map(observe_model, range(models)))
    return included, observed


def fit_function(train: Any) -> Fit:
    """A function from data and a seed to a model, from an estimator or a training function."""
    if hasattr(train, "fit") and hasattr(train, "get_params"):
        from sklearn.base import clone

        def fit_clone(data: tuple[Any, Any], seed: Seed) -> Any:
            copy = clone(train)
            # The target's own randomness is not the attacker's: every model gets a seed of its own.
            states = [name for name in copy.get_params() if name.split("__")[-1] == "random_state"]
            return copy.set_params(**dict.fromkeys(states, seed)).fit(*data)

        return fit_clone
    if not callable(train):
        raise ParameterError(
            f"train must be an estimator or a function from (X, y) to a model, got {type(train).__name__}"
        )
    return lambda data, seed: train(data)


def cloneable(model: Any) -> bool:
    """Whether copies of a fitted model can be fitted to arrays: whether it is a scikit-learn estimator of arrays."""
    return hasattr(model, "fit") and hasattr(model, "get_params") and encoder_of(model) is None
