"""Bolt-on permutation SGD: run SGD without noise, and add noise to its result.

Wu, Li, Kumar, Chaudhuri, Jha and Naughton 2017, "Bolt-on differential privacy for scalable stochastic
gradient descent-based analytics" (SIGMOD), Algorithms 1 and 2. The sensitivity is the backward recursion of soundness,
section 1, and nothing else: the printed "divide by the batch" is wrong for penalised losses. Step sizes are functions
of public numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel import SgdOptions, SgdRun, start
from holdfast._kernel.sensitivity import averaging_from, psgd_sensitivity, rounding_slack
from holdfast._progress import progress
from holdfast.errors import DataError, require
from holdfast.learn._intercept_centre import Centred, pay_for_centre, pull_assumptions
from holdfast.learn._problem import Problem
from holdfast.learn._risk.balance import balanced_penalty, typical_norm
from holdfast.learn._rows.examples import Chunk, Examples
from holdfast.learn._rows.part_training import average_over_parts
from holdfast.learn._rows.shuffled_copy import fixed_order
from holdfast.learn.methods.method import SINGLE_ROWS, Fit, Learner, Rank
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._mechanisms.mechanism import Arithmetic


@dataclass(frozen=True, kw_only=True)
class ScheduleInput:
    """What a schedule may depend on, all of it public. Steps t count batches, never records.

    `cap` is the largest step with a contraction proof: 1/(smoothness + penalty), or for an unpenalised risk
    2/smoothness (soundness, section 1). `offset_power` is c in the m^c of the decreasing schedules. `travel` is the sum
    of all steps of a constant schedule, where no step is given.
    """

    steps: int
    records: int
    smoothness: float
    penalty: float
    cap: float
    step: float | None = None
    offset_power: float = 0.5
    travel: float | None = None

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, ">= 1")
        require(0 < self.cap < math.inf, "cap", self.cap, "> 0 and finite")
        allowed = self.step is None or 0 < self.step <= self.cap * (1 + 1e-12)
        require(
            allowed,
            "step",
            self.step,
            f"in (0, {self.cap:g}], the largest step with a proof for this problem",
        )
        require(0 <= self.offset_power < 1, "offset_power", self.offset_power, "in [0, 1)")

    @property
    def times(self) -> Floats:
        """1, 2, ..., T."""
        return np.arange(1, self.steps + 1, dtype=np.float64)

    @property
    def largest(self) -> float:
        """The given step, or the cap."""
        return self.cap if self.step is None else min(self.step, self.cap)


class StepSizes(Protocol):
    """A schedule: a function that returns all step sizes of a run."""

    def __call__(self, course: ScheduleInput) -> Floats:
        """One step for each batch of each pass."""


def constant(course: ScheduleInput) -> Floats:
    """The same step throughout: as given, or such that all steps add up to `travel`.

    Without either, 1/sqrt(m), the textbook choice for one pass over m records (Wu et al., Algorithm 1).

    >>> from dataclasses import replace
    >>> course = ScheduleInput(steps=2, records=100, smoothness=0.25, penalty=0.0, cap=8.0)
    >>> constant(course).tolist(), constant(replace(course, travel=3.0)).tolist()
    ([0.1, 0.1], [1.5, 1.5])
    """
    default = 1.0 / math.sqrt(course.records) if course.travel is None else course.travel / course.steps
    step = default if course.step is None else course.step
    return np.full(course.steps, min(step, course.cap))


def decreasing(course: ScheduleInput) -> Floats:
    """2 / (smoothness (t + m^c)) (Wu et al. 2017, section 3)."""
    offset = float(course.records) ** course.offset_power
    return np.asarray(np.minimum(course.largest, 2.0 / (course.smoothness * (course.times + offset))))


def square_root(course: ScheduleInput) -> Floats:
    """2 / (smoothness (sqrt(t) + m^c)) (Wu et al. 2017, section 3)."""
    offset = float(course.records) ** course.offset_power
    steps = 2.0 / (course.smoothness * (np.sqrt(course.times) + offset))
    return np.asarray(np.minimum(course.largest, steps))


def strongly_convex(course: ScheduleInput) -> Floats:
    """min(1/beta, 1/(penalty t)) (Wu et al. 2017, Algorithm 2)."""
    require(
        course.penalty > 0,
        "penalty",
        course.penalty,
        "> 0 for schedule='strongly_convex'",
        "use schedule='constant'",
    )
    return np.asarray(np.minimum(course.largest, 1.0 / (course.penalty * course.times)))


SCHEDULES: Mapping[str, StepSizes] = {
    "constant": constant,
    "decreasing": decreasing,
    "square_root": square_root,
    "strongly_convex": strongly_convex,
}
THEOREM = "Bolt-on permutation SGD (Wu et al. 2017), by the backward recursion over batches"
DEFAULT_PASSES = 10
"""The least number of passes where it is not given."""
OVERFULL_FACTOR = 2
"""Under add_remove a batch uses at most this many times its nominal size (soundness, section 1)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SgdPlan:
    """Public constants of a run, from which the sensitivity is computed and the kernel is configured.

    `replace` and `zero_out`: batches are cut from a secret permutation, a fresh one for each pass, or one for all
    passes where shuffling again would cost too much (`fixed_order`): both are order (i) of soundness. `add_remove`:
    every record draws its batch by itself, and a batch uses at most 2 b of them; one additional record may displace
    another one from a full batch, so a gradient moves by 2 L, and no failure probability is charged.
    """

    problem: Problem
    adjacency: Adjacency
    records: int
    batch: int
    passes: int
    schedule: str
    step: float | None = None
    offset_power: float = 0.5
    average_from: int = 0
    travel: float | None = None

    def __post_init__(self) -> None:
        require(self.batch >= 1, "batch", self.batch, ">= 1")
        require(self.passes >= 1, "passes", self.passes, ">= 1")
        require(self.schedule in SCHEDULES, "schedule", self.schedule, f"one of {sorted(SCHEDULES)}")
        require(
            0 <= self.average_from <= self.count,
            "average_from",
            self.average_from,
            f"in [0, {self.count}], a step; 0 returns the last iterate",
        )

    @property
    def part_count(self) -> int:
        """All rows are one part."""
        return 1

    @property
    def batches(self) -> int:
        """The number of batches of one pass, including a short last one."""
        return math.ceil(self.records / self.batch)

    @property
    def count(self) -> int:
        """The number of steps of all passes."""
        return self.passes * self.batches

    @property
    def steps(self) -> Floats:
        """The sizes of all steps, never above what the contraction proof allows."""
        course = ScheduleInput(
            steps=self.count,
            records=self.records,
            smoothness=self.problem.smoothness,
            penalty=self.problem.penalty,
            cap=largest_stable_step(self.problem, self.adjacency),
            step=self.step,
            offset_power=self.offset_power,
            travel=self.travel,
        )
        return SCHEDULES[self.schedule](course)

    @property
    def l2_sensitivity(self) -> float:
        """The result of the recursion, plus a bound on rounding in the kernel."""
        problem, steps = self.problem, self.steps
        ranked = self.adjacency.count_is_public
        moved = psgd_sensitivity(
            steps,
            batch=self.batch,
            passes=self.passes,
            penalty=problem.penalty,
            gradient_change=gradient_change(problem, self.adjacency),
            smoothness=problem.smoothness if ranked else OVERFULL_FACTOR * problem.smoothness,
            averaging_weights=averaging_from(self.average_from, steps=self.count)
            if self.average_from
            else None,
        )
        rounded = rounding_slack(
            steps,
            dimension=problem.weights,
            batch=OVERFULL_FACTOR * self.batch + problem.predictions,
            lipschitz=OVERFULL_FACTOR * problem.lipschitz,
            smoothness=OVERFULL_FACTOR * problem.smoothness,
            penalty=problem.penalty,
            radius=problem.radius,
        )
        return moved + rounded

    def train(self, examples: Examples, source: Source) -> Floats:
        """The result before noise; private."""
        if self.adjacency.count_is_public:
            return self._secret_order(examples, source)
        passes = (
            examples.random_batches(source, batches=self.batches)
            for _ in progress(range(self.passes), desc="bolt_on")
        )
        return self.over(chain.from_iterable(passes))

    def _secret_order(self, examples: Examples, source: Source) -> Floats:
        """Batches in the order of a secret permutation."""
        settings: dict[str, Any] = {"batch": self.batch, "steps": self.steps, "penalty": self.problem.penalty}
        if self.problem.outputs == "one":
            weights = examples.epochs(
                self._options(**settings), source=source, passes=self.passes, records=self.records
            )
            if weights is not None:
                return weights
        run = self._start(**settings)
        with fixed_order(examples, passes=self.passes) as ordered:
            for done in progress(range(1, self.passes + 1), desc="bolt_on"):
                seen = 0
                for rows, labels, order in ordered.ordered_blocks(source):
                    seen += len(order)
                    if seen <= self.records:
                        run.feed(rows, labels, order=order)
                run.end_pass()
                if seen != self.records or run.steps_taken != done * self.batches:
                    raise DataError(
                        f"public_count must be the number of rows under adjacency={self.adjacency.value!r}, "
                        f"got public_count={self.records}"
                    )
        return run.final()

    def over(self, batches: Iterable[Chunk]) -> Floats:
        """The result of a run over batches that records drew by themselves; each uses at most 2 b records.

        The kernel divides by its batch size, here c = 2 b + 1. Steps are multiplied by c / b and the penalty is divided
        by it, which gives the update of divisor b. A null row opens every batch, so that an empty batch takes its step
        too.
        """
        capacity = OVERFULL_FACTOR * self.batch
        ratio = (capacity + 1) / self.batch
        run = self._start(batch=capacity + 1, steps=self.steps * ratio, penalty=self.problem.penalty / ratio)
        null = np.zeros((1, self.problem.dimension))
        for rows, labels in batches:
            run.feed(null, np.zeros(1))
            run.feed(rows[:capacity], labels[:capacity])
            run.end_pass()
        return run.final()

    def _start(self, **settings: Any) -> SgdRun:
        """A run of the kernel, or for several predictions of `StackedSgd`."""
        if self.problem.outputs == "one":
            return start(self._options(**settings))
        from holdfast.learn._risk.stacked_sgd import StackedSgd

        return StackedSgd(self.problem, average_from=self.average_from, **settings)

    def _options(self, *, batch: int, steps: Floats, penalty: float) -> SgdOptions:
        loss = self.problem.loss
        return SgdOptions(
            dimension=self.problem.dimension,
            batch=batch,
            loss=loss.name,
            row_norm=self.problem.row_norm,
            penalty=penalty,
            radius=self.problem.radius,
            steps=steps,
            average_from=self.average_from,
            width=loss.corner_width,
            label_bound=loss.largest_target,
        )


def largest_stable_step(problem: Problem, adjacency: Adjacency) -> float:
    """The largest step with a proof (soundness, section 1): 1/beta if penalised or if batches overflow, else 2/beta."""
    halved = problem.penalty > 0 or not adjacency.count_is_public
    return 1.0 / (problem.smoothness + problem.penalty) if halved else 2.0 / problem.smoothness


def gradient_change(problem: Problem, adjacency: Adjacency) -> float:
    """The sensitivity of a batch's gradient sum; where batches may overflow, a record may displace another one."""
    return problem.gradient_change(adjacency) if adjacency.count_is_public else 2.0 * problem.lipschitz


def stopping_rule(
    problem: Problem, *, limit: PrivacyCurve, adjacency: Adjacency, count: int, batch: int
) -> tuple[float, int]:
    """The sum of all steps of a run without a penalty, and the number of passes; all of it public.

    One record moves the result by G t / n for steps that sum to t, whatever the passes and batches. t is chosen so that
    stopping early costs as much as the noise that it saves (`risk/balance.py`). The error due to single batches, at
    most t L^2 / (2 k n) for k passes, is kept below the cost of stopping, |w|^2 / (2 t); no step is longer than the
    proof allows.

    >>> from holdfast.learn._problem.losses import Logistic
    >>> from holdfast.privacy import GaussianDP
    >>> travel, passes = stopping_rule(Problem(loss=Logistic(), dimension=100), limit=GaussianDP(1.0),
    ...                           adjacency=Adjacency.replace, count=50_000, batch=50)
    >>> round(travel), passes
    (5000, 10)
    """
    change = gradient_change(problem, adjacency)
    travel = 1.0 / balanced_penalty(problem, lambda penalty: change / (penalty * count), limit=limit)
    for_error = (travel * problem.lipschitz / typical_norm(problem)) ** 2 / count
    for_step = travel * batch / (count * largest_stable_step(problem, adjacency))
    return travel, max(DEFAULT_PASSES, math.ceil(for_error), math.ceil(for_step))


def _first_averaged(average: str | int) -> int:
    """The step from which iterates are averaged; 0 for the last iterate alone."""
    first = {"last": 0, "uniform": 1}.get(str(average), average)
    require(isinstance(first, int), "average", average, "'last', 'uniform' or a step")
    return int(first)


def bolt_on(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    passes: int | None = None,
    batch: int = 50,
    schedule: str = "auto",
    step: float | None = None,
    offset_power: float = 0.5,
    average: str | int = "last",
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Permutation SGD over so many passes, then noise scaled to the recursion's sensitivity.

    Private when the loss is convex, Lipschitz and smooth, and everything but the rows is fixed in advance.
    `schedule` is 'constant', 'decreasing', 'square_root' or 'strongly_convex' ('auto': the last if there is a
    penalty, else constant). `average` is 'last', 'uniform', or the step from which iterates are averaged. Without a
    penalty or a given step, a run ends where going on would cost more in noise than it gains (`stopping_rule`).
    """
    at = Centred(examples=examples, problem=problem)
    if problem.penalty > 0 or math.isfinite(problem.radius):
        at = pay_for_centre(examples, problem, account, arithmetic=arithmetic, classes=False)
    examples, problem = at.examples, at.problem
    if schedule == "auto":
        schedule = "strongly_convex" if problem.penalty > 0 else "constant"
    batch, travel, default_passes = min(batch, examples.public_count), None, DEFAULT_PASSES
    if schedule == "constant" and problem.penalty == 0 and step is None:
        travel, default_passes = stopping_rule(
            problem,
            limit=account.remaining(),
            adjacency=account.adjacency,
            count=examples.public_count,
            batch=batch,
        )
    course = SgdPlan(
        problem=problem,
        adjacency=account.adjacency,
        records=examples.public_count,
        batch=batch,
        passes=default_passes if passes is None else passes,
        schedule=schedule,
        step=step,
        offset_power=offset_power,
        average_from=_first_averaged(average),
        travel=travel,
    )
    run = average_over_parts(course, examples)
    sensitivity = run.l2_sensitivity
    noise = noise_within(
        account, l2_sensitivity=sensitivity, dimension=problem.weights, arithmetic=arithmetic
    )
    centre = run.train(examples, account.source)
    return Fit(
        weights=at.original_weights(
            problem.of_weights(account.release(noise.mechanism, centre, label="bolt_on"))
        ),
        theorem=THEOREM,
        parameters={
            "l2_sensitivity": sensitivity,
            "passes": course.passes,
            "batch": course.batch,
            "schedule": course.schedule,
            "average": average,
            "penalty": problem.penalty,
            "arithmetic": arithmetic,
            "parts": run.part_count,
            **at.parameters,
        },
        assumptions=pull_assumptions(problem) if problem.penalty > 0 else (),
        noise_std=noise.deviation,
        centre_noise_std=at.noise_std,
    )


METHOD = Learner(
    name="bolt_on",
    run=bolt_on,
    paper="Wu et al. 2017",
    needs=("convex", "lipschitz", "smooth"),
    pure=True,
    outputs=("one", "several"),
    single_rows=SINGLE_ROWS,
    ranks=(Rank(place=5),),
    behind="noise on the last iterate is isotropic: 1 to 2 points behind under (epsilon, delta), and behind "
    "objective perturbation under pure epsilon",
    centres=True,
)
