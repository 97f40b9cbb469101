"""Subjects for learning methods: every method under every neighbour relation, loss, limit and declared choice.

Nothing is written here for a single method: its settings follow from what it declares. A choice is an option with a
list of values (`Literal`), each of which is tried. Tables have one, a few or two hundred columns, units own one row or
several, and two fits may share an account.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, cast, get_args, get_origin

from holdfast.errors import ParameterError
from holdfast.learn._catalogue import LEARNERS, REGISTRY
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import (
    Hinge,
    HuberHinge,
    HuberRegression,
    Logistic,
    OneVsAll,
    Softmax,
    Squared,
)
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.method import Learner
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.refute._freshness import FreshnessTrial
from holdfast.refute._neighbours import PointNeighbours
from holdfast.refute._price import PriceTrial
from holdfast.refute._replay import ReplayCase, World, record_run
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._sampling import SamplingTrial, declares_a_rate, draws_fixed_batches
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._trial import Trial

OTHER_RECORDS, COLUMNS, MANY_COLUMNS, ROWS_PER_USER = 11, 3, 200, 3
RADIUS = 2.0
PENALTY, STRONG_PENALTY = 0.1, 1e4
STEEP_LOSS = "huber"
"""The loss whose slope reaches its bound near the origin, so that distances reach what is declared."""
SMALL_NUMBER = 5
"""A value for whole-number options on small tables; as a batch size it does not divide twelve records."""
LOSSES: tuple[Any, ...] = (
    Logistic(),
    HuberHinge(),
    Hinge(),
    HuberRegression(),
    Squared(target_bound=1.0, prediction_bound=RADIUS),
    Softmax(classes=3),
    OneVsAll(classes=3, binary=HuberHinge()),
)
INTERCEPT_CONSTANT = 0.5
LIMITS: tuple[PrivacyCurve, ...] = (PureDP(1.0), ApproxDP(1.0, 1e-3))


@dataclass(frozen=True, kw_only=True)
class LearnerSetting:
    """One way to run a method: its problem, limit, unit and options."""

    method: Learner
    adjacency: Adjacency
    problem: Problem
    limit: PrivacyCurve
    rows_per_unit: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    fits: int = 1
    others: int = OTHER_RECORDS
    declared: int | None = None
    """The public number of units, where it is not the true one."""
    swap_places: bool = False
    """Whether neighbours also swap places, for batches of fixed size (see `PointNeighbours`)."""

    @property
    def unit(self) -> PrivacyUnit:
        """A row, or a user with several rows."""
        return PrivacyUnit() if self.rows_per_unit == 1 else PrivacyUnit("user", max_rows=self.rows_per_unit)

    @property
    def name(self) -> str:
        """The setting in one line."""
        parts = [self.problem.loss.name, "pure" if self.limit.as_pure() is not None else self.method.currency]
        parts += [f"penalty {self.problem.penalty:g}"] if self.problem.penalty else []
        parts += [f"radius {self.problem.radius:g}"] if math.isfinite(self.problem.radius) else []
        parts += [f"{self.problem.dimension} columns"] if self.problem.dimension != COLUMNS else []
        parts += [f"constant {self.problem.constant:g}"] if self.problem.constant else []
        parts += ["users"] if self.rows_per_unit > 1 else []
        parts += ["two fits"] if self.fits > 1 else []
        parts += [f"{self.declared} declared"] if self.declared else []
        parts += [f"{key}={value}" for key, value in self.options.items()]
        return ", ".join(parts)

    def open_account(self) -> Account:
        """An account in the currency of the method."""
        currency = "pure" if self.limit.as_pure() is not None else self.method.currency
        return Account(self.limit, adjacency=self.adjacency, unit=self.unit, currency=currency)

    def run(self, world: World, account: Account) -> Any:
        """One fit, or several that share the account."""
        points = world.rows
        examples = ArrayExamples(
            features=points.features,
            labels=points.labels,
            adjacency=self.adjacency,
            unit=self.unit,
            public_count=self.declared or self.others // self.rows_per_unit + 1,
        )
        shares = account.split(*[1.0 / self.fits] * self.fits) if self.fits > 1 else (account,)
        return [self.method.fit(examples, self.problem, account=share, **self.options) for share in shares]

    def case(self) -> ReplayCase:
        """A replay case with its neighbouring tables."""
        tables = PointNeighbours(
            problem=self.problem,
            adjacency=self.adjacency,
            others=self.others,
            rows_per_unit=self.rows_per_unit,
            swap_places=self.swap_places,
        )
        return ReplayCase.from_neighbours(
            tables, name=self.name, open_account=self.open_account, run=self.run
        )

    def is_accepted(self) -> bool:
        """Whether the method runs on an ordinary table, without an exception."""
        case = self.case()
        rows = self.others + self.rows_per_unit
        return not record_run(case, case.plain(rows), seed=0).error


def problems(dimension: int = COLUMNS) -> Iterator[Problem]:
    """Every loss, with and without a penalty, in a ball and in the whole space."""
    for loss, penalty, radius in itertools.product(LOSSES, (0.0, PENALTY), (math.inf, RADIUS)):
        yield Problem(loss=cast(Any, loss), dimension=dimension, penalty=penalty, radius=radius)


def option_choices(method: Learner) -> Iterator[dict[str, Any]]:
    """Every value but the default, of every option that declares a list of values."""
    for option in method.options:
        kinds = [option.kind, *get_args(option.kind)]
        values = [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
        for value in dict.fromkeys(values):
            if value != option.default:
                yield {option.name: value}


def learner_settings(method: Learner, adjacency: Adjacency) -> Iterator[LearnerSetting]:
    """Every loss and limit that the method accepts, and around one of them all other variations."""
    working: dict[bool, LearnerSetting] = {}
    losses: set[tuple[str, bool]] = set()
    for limit in LIMITS[0 if method.pure else 1 :]:
        pure = limit.as_pure() is not None
        for problem in problems():
            if (problem.loss.name, pure) in losses:
                continue  # one problem for each loss, unpenalised and unbounded if the proof allows
            setting = LearnerSetting(method=method, adjacency=adjacency, problem=problem, limit=limit)
            accepted = next(
                (attempt for attempt in (setting, *_with_small_option(setting)) if attempt.is_accepted()),
                None,
            )
            if accepted is not None:
                losses.add((problem.loss.name, pure))
                if pure not in working or problem.loss.name == STEEP_LOSS:
                    working[pure] = accepted
                yield accepted
    for pure, base in working.items():
        yield from _variations(base, varied=not pure or len(working) == 1)


def _with_small_option(setting: LearnerSetting, number: int = SMALL_NUMBER) -> Iterator[LearnerSetting]:
    """The setting with one whole-number option made small, since defaults may be meant for larger tables.

    Options that declare a bound are left alone: a smaller bound would not hold.
    """
    for option in setting.method.options:
        if int in (option.kind, *get_args(option.kind)) and not option.name.endswith("bound"):
            yield dataclasses.replace(setting, options={**setting.options, option.name: number})


def _with_penalty(setting: LearnerSetting, penalty: float) -> LearnerSetting:
    return dataclasses.replace(setting, problem=dataclasses.replace(setting.problem, penalty=penalty))


def _variations(base: LearnerSetting, *, varied: bool) -> Iterator[LearnerSetting]:
    """Settings near `base` that the method accepts: other options and constants; if `varied`, also widths and users."""
    changed = dataclasses.replace
    for choice in option_choices(base.method):
        setting = changed(base, options={**base.options, **choice})
        attempts = (setting, *_with_small_option(setting), _with_penalty(setting, PENALTY))
        yield from itertools.islice((attempt for attempt in attempts if attempt.is_accepted()), 1)
    yield from (
        setting
        for setting in _with_small_option(base)
        if setting.options != base.options and setting.is_accepted()
    )
    if base.method.centres:
        centred = changed(base, problem=changed(base.problem, constant=INTERCEPT_CONSTANT))
        centred_settings = {setting.name: setting for setting in (centred, _with_penalty(centred, PENALTY))}
        yield from (setting for setting in centred_settings.values() if setting.is_accepted())
    if base.problem.penalty > 0:
        # Weights are nearly zero, so that residuals and slopes are those of a single row.
        yield from (setting for setting in (_with_penalty(base, STRONG_PENALTY),) if setting.is_accepted())
    if varied and not base.adjacency.count_is_public:
        # Far fewer units are declared than there are, so that divisors and batch sizes are wrong; privacy must not
        # suffer.
        few_units = changed(base, declared=2, others=2 * 2)
        yield from (
            setting
            for setting in (changed(base, declared=2), *_with_small_option(few_units, 1))
            if setting.is_accepted()
        )
    if varied:
        yield changed(base, fits=2)
        for columns in (1, MANY_COLUMNS):
            setting = changed(base, problem=changed(base.problem, dimension=columns))
            if setting.is_accepted():
                yield setting
    if not base.method.single_rows:
        users = changed(base, rows_per_unit=ROWS_PER_USER, others=4 * ROWS_PER_USER)
        user_settings = (changed(users, problem=problem) for problem in (base.problem, *problems()))
        for setting in itertools.islice((setting for setting in user_settings if setting.is_accepted()), 1):
            yield setting
            if setting.problem.penalty > 0:
                yield _with_penalty(setting, STRONG_PENALTY)


def learner_subject(method: Learner, adjacency: Adjacency) -> Subject:
    """The subject for a method under one neighbour relation: replays of all settings, noise, price and sampling."""
    settings = list(learner_settings(method, adjacency))
    if not settings:
        raise ParameterError(
            f"{method.name} takes none of the problems that the refutations know under {adjacency.value}; add one"
        )
    if adjacency is Adjacency.zero_out and draws_fixed_batches(settings[0].case(), OTHER_RECORDS + 1):
        settings = [dataclasses.replace(setting, swap_places=True) for setting in settings]
    trials: list[Trial] = []
    for place, setting in enumerate(settings):
        many_columns = setting.problem.dimension == MANY_COLUMNS
        pairs, climbs = (6, 0) if many_columns else (16, 20) if place < 2 else (10, 6)
        trials.append(ReplayTrial(case=setting.case(), pairs=pairs, climbs=climbs))
    first_of_limit = {setting.limit: setting for setting in reversed(settings)}
    usual_problems = [setting.problem for setting in settings if setting.fits > 1]
    for setting in settings:
        case, rows = setting.case(), setting.others + setting.rows_per_unit
        # Noise does not depend on the neighbour relation, nor do secret coins on the loss: one setting of each is
        # enough.
        if adjacency.value == method.adjacencies[0] and setting is first_of_limit[setting.limit]:
            trials.append(FreshnessTrial(case=case, rows=rows))
        if setting is first_of_limit[setting.limit]:
            trials.append(PriceTrial(case=case, rows=rows))
        is_usual = setting.problem in usual_problems and (setting.fits, setting.rows_per_unit) == (1, 1)
        if (
            is_usual
            and "arithmetic" not in setting.options
            and not setting.declared
            and declares_a_rate(case, rows)
        ):
            trials.append(SamplingTrial(case=case, rows=rows))
    return Subject(name=f"{method.name} {adjacency.value}", claim="its account's limit", trials=tuple(trials))


def learner_subjects() -> Iterable[NamedSubject]:
    """Every learning method under every neighbour relation that it names, those of installed packages included."""
    for method in (*LEARNERS, *REGISTRY.installed_entries()):
        for adjacency in method.adjacencies:
            yield NamedSubject(
                name=f"{method.name} {adjacency}",
                make=partial(learner_subject, method, Adjacency.of(adjacency)),
            )
