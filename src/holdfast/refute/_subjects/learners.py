"""Learning methods as cases: every method, neighbour relation, loss, budget and declared choice, found by itself.

Nothing is written for a single method: what it takes is what it declares. A choice is an option with a list of values
(`Literal`); each of them is tried. Widths are one, a few and several hundred columns; units own one row or several; two
fits share a process.
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
from holdfast.refute._replay import Setup, World, recorded
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._sampling import SamplingTrial, declares_a_rate, draws_fixed_batches
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._trial import Trial

OTHERS, COLUMNS, WIDE, ROWS_PER_USER = 11, 3, 200, 3
RADIUS = 2.0
PENALTY, STRONG = 0.1, 1e4
STEEP = "huber"
"""The loss whose slope is its bound near the origin: with it distances reach what is declared."""
SMALL = 5
"""A whole number that options take on small tables: batches of so many do not divide twelve records."""
LOSSES: tuple[Any, ...] = (
    Logistic(),
    HuberHinge(),
    Hinge(),
    HuberRegression(),
    Squared(target_bound=1.0, prediction_bound=RADIUS),
    Softmax(classes=3),
    OneVsAll(classes=3, binary=HuberHinge()),
)
CONSTANT = 0.5
LIMITS: tuple[PrivacyCurve, ...] = (PureDP(1.0), ApproxDP(1.0, 1e-3))


@dataclass(frozen=True, kw_only=True)
class LearnerSetting:
    """One way to run a method: on what, for how much, and told what."""

    method: Learner
    adjacency: Adjacency
    problem: Problem
    limit: PrivacyCurve
    rows_per_unit: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    fits: int = 1
    others: int = OTHERS
    declared: int | None = None
    """The public number of units, where it is not the true one."""
    exchanged: bool = False
    """Whether batches have a fixed size (see `PointNeighbours`)."""

    @property
    def unit(self) -> PrivacyUnit:
        """A row, or a user."""
        return PrivacyUnit() if self.rows_per_unit == 1 else PrivacyUnit("user", max_rows=self.rows_per_unit)

    @property
    def name(self) -> str:
        """All of it in one line."""
        shown = [self.problem.loss.name, "pure" if self.limit.as_pure() is not None else self.method.currency]
        shown += [f"penalty {self.problem.penalty:g}"] if self.problem.penalty else []
        shown += [f"radius {self.problem.radius:g}"] if math.isfinite(self.problem.radius) else []
        shown += [f"{self.problem.dimension} columns"] if self.problem.dimension != COLUMNS else []
        shown += [f"constant {self.problem.constant:g}"] if self.problem.constant else []
        shown += ["users"] if self.rows_per_unit > 1 else []
        shown += ["two fits"] if self.fits > 1 else []
        shown += [f"{self.declared} declared"] if self.declared else []
        shown += [f"{key}={value}" for key, value in self.options.items()]
        return ", ".join(shown)

    def open(self) -> Account:
        """In the currency of the method."""
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

    def case(self) -> Setup:
        """With its neighbours."""
        near = PointNeighbours(
            problem=self.problem,
            adjacency=self.adjacency,
            others=self.others,
            rows_per_unit=self.rows_per_unit,
            exchanged=self.exchanged,
        )
        return Setup.among(near, name=self.name, open=self.open, run=self.run)

    def works(self) -> bool:
        """Whether the method takes it: nothing is refused on a plain table."""
        case = self.case()
        rows = self.others + self.rows_per_unit
        return not recorded(case, case.plain(rows), seed=0).error


def problems(dimension: int = COLUMNS) -> Iterator[Problem]:
    """Every loss, with and without a penalty, in a ball and in the whole space."""
    for loss, penalty, radius in itertools.product(LOSSES, (0.0, PENALTY), (math.inf, RADIUS)):
        yield Problem(loss=cast(Any, loss), dimension=dimension, penalty=penalty, radius=radius)


def choices(method: Learner) -> Iterator[dict[str, Any]]:
    """Every value of every option that has a list of them."""
    for option in method.options:
        kinds = [option.kind, *get_args(option.kind)]
        values = [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
        for value in dict.fromkeys(values):
            if value != option.default:
                yield {option.name: value}


def learner_settings(method: Learner, adjacency: Adjacency) -> Iterator[LearnerSetting]:
    """Every loss and budget that the method takes; all else for one of them: choices, widths, users, two fits."""
    working: dict[bool, LearnerSetting] = {}
    losses: set[tuple[str, bool]] = set()
    for limit in LIMITS[0 if method.pure else 1 :]:
        pure = limit.as_pure() is not None
        for problem in problems():
            if (problem.loss.name, pure) in losses:
                continue  # one problem for each loss, unpenalised and unbounded if the proof allows
            one = LearnerSetting(method=method, adjacency=adjacency, problem=problem, limit=limit)
            found = next((each for each in (one, *_helped(one)) if each.works()), None)
            if found is not None:
                losses.add((problem.loss.name, pure))
                if pure not in working or problem.loss.name == STEEP:
                    working[pure] = found
                yield found
    for pure, base in working.items():
        yield from _around(base, varied=not pure or len(working) == 1)


def _helped(one: LearnerSetting, number: int = SMALL) -> Iterator[LearnerSetting]:
    """With one whole number made small: a default may be meant for larger tables. A declared bound stays true."""
    for option in one.method.options:
        if int in (option.kind, *get_args(option.kind)) and not option.name.endswith("bound"):
            yield dataclasses.replace(one, options={**one.options, option.name: number})


def _penalised(one: LearnerSetting, penalty: float) -> LearnerSetting:
    return dataclasses.replace(one, problem=dataclasses.replace(one.problem, penalty=penalty))


def _around(base: LearnerSetting, *, varied: bool) -> Iterator[LearnerSetting]:
    changed = dataclasses.replace
    for told in choices(base.method):
        one = changed(base, options={**base.options, **told})
        tried = (one, *_helped(one), _penalised(one, PENALTY))
        yield from itertools.islice((each for each in tried if each.works()), 1)
    yield from (one for one in _helped(base) if one.options != base.options and one.works())
    if base.method.centres:
        centred = changed(base, problem=changed(base.problem, constant=CONSTANT))
        centred_ones = {setting.name: setting for setting in (centred, _penalised(centred, PENALTY))}
        yield from (setting for setting in centred_ones.values() if setting.works())
    if base.problem.penalty > 0:
        # Weights are next to nothing, so that bounds on residuals and slopes are what one row alone can do.
        yield from (one for one in (_penalised(base, STRONG),) if one.works())
    if varied and not base.adjacency.count_is_public:
        # Far fewer units are declared than there are: a divisor, and a size of batches, that must not matter.
        few = changed(base, declared=2, others=2 * 2)
        yield from (one for one in (changed(base, declared=2), *_helped(few, 1)) if one.works())
    if varied:
        yield changed(base, fits=2)
        for columns in (1, WIDE):
            one = changed(base, problem=changed(base.problem, dimension=columns))
            if one.works():
                yield one
    if not base.method.single_rows:
        users = changed(base, rows_per_unit=ROWS_PER_USER, others=4 * ROWS_PER_USER)
        covered = (changed(users, problem=problem) for problem in (base.problem, *problems()))
        for one in itertools.islice((one for one in covered if one.works()), 1):
            yield one
            if one.problem.penalty > 0:
                yield _penalised(one, STRONG)


def learner_subject(method: Learner, adjacency: Adjacency) -> Subject:
    """The method under one neighbour relation: replays of every setting, and its noise and sampling by themselves."""
    found = list(learner_settings(method, adjacency))
    if not found:
        raise ParameterError(
            f"{method.name} takes none of the problems that the refutations know under {adjacency.value}; add one"
        )
    if adjacency is Adjacency.zero_out and draws_fixed_batches(found[0].case(), OTHERS + 1):
        found = [dataclasses.replace(setting, exchanged=True) for setting in found]
    trials: list[Trial] = []
    for place, setting in enumerate(found):
        wide = setting.problem.dimension == WIDE
        pairs, climbs = (6, 0) if wide else (16, 20) if place < 2 else (10, 6)
        trials.append(ReplayTrial(case=setting.case(), pairs=pairs, climbs=climbs))
    firsts = {setting.limit: setting for setting in reversed(found)}
    bases = [setting.problem for setting in found if setting.fits > 1]
    for setting in found:
        case, rows = setting.case(), setting.others + setting.rows_per_unit
        # Noise does not know who is a neighbour of whom, nor do secret coins know the loss.
        if adjacency.value == method.adjacencies[0] and setting is firsts[setting.limit]:
            trials.append(FreshnessTrial(case=case, rows=rows))
        if setting is firsts[setting.limit]:
            trials.append(PriceTrial(case=case, rows=rows))
        usual = setting.problem in bases and (setting.fits, setting.rows_per_unit) == (1, 1)
        if (
            usual
            and "arithmetic" not in setting.options
            and not setting.declared
            and declares_a_rate(case, rows)
        ):
            trials.append(SamplingTrial(case=case, rows=rows))
    return Subject(name=f"{method.name} {adjacency.value}", claim="its account's limit", trials=tuple(trials))


def learner_subjects() -> Iterable[NamedSubject]:
    """Every learning method under every neighbour relation that it names, of installed packages, too."""
    for method in (*LEARNERS, *REGISTRY.installed()):
        for adjacency in method.adjacencies:
            yield NamedSubject(
                name=f"{method.name} {adjacency}",
                make=partial(learner_subject, method, Adjacency.of(adjacency)),
            )
