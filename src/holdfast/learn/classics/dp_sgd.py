"""DP-SGD: Poisson batches from secret coins, every record's gradient clipped, numeric accounting.

g = (sum of clip(gradient, C) over the batch + N(0, sigma^2 C^2)) / (q n0) (soundness, section 6; Abadi et al.
2016). Proved for add_remove and zero_out; under replace both neighbours give mixtures, and a doubled sensitivity
inside the Poisson accountant is no proof. Shuffled or fixed-size batches are never accounted this way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from holdfast._arrays import Floats
from holdfast._options import OptionGroup
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.errors import require
from holdfast.learn._problem import Problem
from holdfast.learn._risk.descent import DescentSchedule, noisy_descent
from holdfast.learn._rows.batches import poisson_sample
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.summation import one_thread, rounding_of_sum
from holdfast.learn._whitening import no_whitening
from holdfast.learn.methods.method import SINGLE_ROWS, Fit, Learner
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._calibration import calibrate
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.subsampled import SubsampledGaussianCurve
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.privacy._mechanisms.subsampled import SubsampledGaussian
from holdfast.privacy._rounding import as_written

THEOREM = "DP-SGD: composed Poisson-subsampled Gaussian mechanisms (soundness, section 6)"
ADJACENCIES = ("add_remove", "zero_out")
DEFAULT_EPOCHS = 10
DEFAULT_BATCH = 1_024
"""The expected size of a batch where no rate is given; at most a tenth of the rows."""
CALIBRATION_TOLERANCE = 1e-4
"""The relative tolerance of the noise found by calibration, in which each trial composes all steps."""


@dataclass(frozen=True, kw_only=True)
class DpSgdOptions(OptionGroup):
    """Options of a run; the rate, the number of steps and the clip follow from public quantities by default."""

    rate: float | None = None
    steps: int | None = None
    clip: float | None = None
    step: float = 4.0
    momentum: float = 0.0
    average: float = 0.5

    def __post_init__(self) -> None:
        require(self.rate is None or 0 < self.rate <= 1, "rate", self.rate, "in (0, 1]")
        require(self.clip is None or 0 < self.clip < math.inf, "clip", self.clip, "> 0 and finite")
        _ = DescentSchedule(
            steps=1 if self.steps is None else self.steps,
            step=self.step,
            momentum=self.momentum,
            average=self.average,
        )  # checks the other settings

    def with_plan(self, mechanism: SubsampledGaussian, times: int) -> DpSgdOptions:
        """The options with the rate and the steps of the account's plan; an error if they contradict it."""
        for name, ours, planned in (("rate", self.rate, mechanism.rate), ("steps", self.steps, times)):
            same = ours is None or ours == planned
            require(same, name, ours, f"left out or {planned!r}, which the account's plan was made for")
        return replace(self, rate=mechanism.rate, steps=times)


DEFAULT_OPTIONS = DpSgdOptions()


@dataclass(frozen=True, kw_only=True)
class Sgd:
    """Public constants of a run: clip C, rate q, T steps, and what is done with noisy gradients."""

    problem: Problem
    count: int
    rate: float
    steps: int
    clip: float
    step: float
    momentum: float
    average: float

    @property
    def schedule(self) -> DescentSchedule:
        """The schedule for the loop of `noisy_descent`."""
        return DescentSchedule(
            preconditioner="none",
            steps=self.steps,
            step=self.step,
            momentum=self.momentum,
            average=self.average,
        )

    @classmethod
    def of(cls, problem: Problem, *, count: int, options: DpSgdOptions = DEFAULT_OPTIONS) -> Sgd:
        """Defaults from public quantities: batches of 1024 rows, ten epochs, the proved bound as the clip."""
        if options.clip is None:
            problem.require_lipschitz("dp_sgd without the option clip")
        rate = min(0.1, DEFAULT_BATCH / count) if options.rate is None else options.rate
        return cls(
            problem=problem,
            count=count,
            rate=rate,
            steps=max(1, round(DEFAULT_EPOCHS / rate)) if options.steps is None else options.steps,
            clip=problem.lipschitz if options.clip is None else options.clip,
            step=options.step,
            momentum=options.momentum,
            average=options.average,
        )

    @property
    def coin(self) -> Fraction:
        """The probability of a row; never above the rate that the accountant is told."""
        return min(as_written(self.rate), Fraction(self.rate))

    def l2_sensitivity(self, most: int) -> float:
        """C, given that the record was drawn, and what rounding may add to two sums of `most` rows."""
        return self.clip * (1.0 + NORM_SLACK + 2.0 * most * rounding_of_sum(most))

    def mechanism(
        self, limit: PrivacyCurve, *, most: int, adjacency: Adjacency, arithmetic: Arithmetic
    ) -> SubsampledGaussian:
        """The least noise with which all steps together are within the limit."""
        noise = noise_multiplier(limit, rate=self.rate, steps=self.steps)
        sensitivity = self.l2_sensitivity(most)
        return SubsampledGaussian(
            sigma=as_written(noise) * as_written(sensitivity),
            l2_sensitivity=sensitivity,
            rate=self.rate,
            adjacency=adjacency,
            arithmetic=arithmetic,
        )

    def batch_gradient(self, weights: Floats, examples: Examples, source: Source) -> Floats:
        """The sum of clipped gradients over a fresh secret sample; private before noise."""
        total = np.zeros_like(weights)
        for chunk in poisson_sample(examples, source, rate=self.coin):
            rows, labels = clip_chunk(chunk, self.problem)
            slopes = self.problem.slopes(rows @ weights.T, labels)
            # The norm of an outer product, the gradient of all classes together.
            lengths = np.linalg.norm(slopes, axis=1) * np.sqrt(np.einsum("ij,ij->i", rows, rows))
            total += (slopes * (self.clip / np.maximum(lengths, self.clip))[:, None]).T @ rows
        return total


@lru_cache(maxsize=64)
def noise_multiplier(limit: PrivacyCurve, *, rate: float, steps: int) -> float:
    """The least noise over sensitivity with which `steps` steps are within the limit; cached, since it is slow."""
    return calibrate(
        lambda multiplier: SubsampledGaussianCurve(multiplier, rate).repeat(steps),
        limit,
        low=1e-2,
        tolerance=CALIBRATION_TOLERANCE,
    )


def plan_for(
    problem: Problem,
    limit: PrivacyCurve,
    *,
    count: int,
    adjacency: Adjacency | str,
    options: DpSgdOptions = DEFAULT_OPTIONS,
    most: int | None = None,
    arithmetic: Arithmetic = "strict",
) -> list[tuple[SubsampledGaussian, int]]:
    """A plan to open an account with: numeric composition, tighter than one Renyi order.

    `Account(limit, plan=plan_for(problem, limit, count=n, adjacency="zero_out"), adjacency="zero_out")`
    """
    sgd = Sgd.of(problem, count=count, options=options)
    world = Adjacency.of(adjacency)
    bound = (count if world.count_is_public else 16 * count) if most is None else most
    return [(sgd.mechanism(limit, most=bound, adjacency=world, arithmetic=arithmetic), sgd.steps)]


def dp_sgd(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    options: DpSgdOptions = DEFAULT_OPTIONS,
    count_bound: int | None = None,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Steps along noisy gradients of secret Poisson samples; the mean of the last iterates.

    Private for any loss: gradients are clipped record by record. Needs an account that can pay for subsampled
    noise: one of currency 'renyi', or one opened with `plan=plan_for(...)`.
    """
    planned = _plan_of(account)
    if planned is not None:
        options = options.with_plan(*planned)
    sgd = Sgd.of(problem, count=examples.public_count, options=options)
    most, assumptions = examples.largest_count(count_bound)
    if planned is None:
        _require_price(account)
        mechanism = sgd.mechanism(
            account.remaining(), most=most, adjacency=account.adjacency, arithmetic=arithmetic
        )
    else:
        mechanism = planned[0]
        require(
            float(mechanism.l2_sensitivity) >= sgd.l2_sensitivity(most),
            "clip",
            sgd.clip,
            f"at most what the plan's sensitivity, {float(mechanism.l2_sensitivity):g}, covers",
        )
    permit = account.permit(mechanism, times=sgd.steps, label="dp_sgd: gradients")
    with one_thread():
        # The divisor is public: the expected size of a batch, never the size of this one.
        weights = noisy_descent(
            lambda at: sgd.batch_gradient(at, examples, account.source),
            problem,
            no_whitening(problem.dimension),
            sgd.schedule,
            permit,
            step=sgd.step,
            divisor=sgd.rate * sgd.count,
            name="dp_sgd",
        )
    return Fit(
        weights=problem.of_weights(weights),
        theorem=THEOREM,
        parameters={
            "rate": sgd.rate,
            "steps": sgd.steps,
            "clip": sgd.clip,
            "step": sgd.step,
            "momentum": sgd.momentum,
            "average": sgd.average,
            "noise_multiplier": float(mechanism.sigma) / float(mechanism.l2_sensitivity),
        },
        assumptions=assumptions,
    )


def _plan_of(account: Account) -> tuple[SubsampledGaussian, int] | None:
    """The account's plan, where it was opened with one for this method."""
    for mechanism, times in getattr(account.currency, "planned", ()):
        if isinstance(mechanism, SubsampledGaussian):
            return mechanism, times
    return None


def _require_price(account: Account) -> None:
    """Refuse currencies in which subsampled noise has no price (soundness, section 19)."""
    require(
        account.currency.name == "renyi",
        "currency",
        account.currency.name,
        "'renyi' or a plan: subsampled noise has no other price",
        "open the account with currency='renyi' or with plan=dp_sgd.plan_for(...)",
    )


METHOD = Learner(
    name="dp_sgd",
    run=dp_sgd,
    paper="Abadi et al. 2016",
    needs=("delta",),
    adjacencies=ADJACENCIES,
    currency="renyi",
    outputs=("one", "several"),
    single_rows=SINGLE_ROWS,
    behind="on tables that fit a full pass, full-batch steps give less noise for the same work",
    samples=True,
)
