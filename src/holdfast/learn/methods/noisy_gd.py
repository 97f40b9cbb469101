"""Full-batch noisy gradient descent: plain, with momentum, and preconditioned by a private second moment.

Each step releases the sum of all gradients with Gaussian noise; steps, momentum, averaging and projection look
at released values only (soundness, section 20; Bassily, Smith and Thakurta 2014; Ganesh et al. 2023 for why a
private curvature pays). With a preconditioner, rows are whitened by released numbers, and each record's gradient is
clipped in the whitened coordinates: mu^2 = mu_moments^2 + T mu_step^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast.learn._problem import Problem
from holdfast.learn._risk.descent import (
    MOST_FULL_COLUMNS,
    NO_CHANGES,
    ClippedGradients,
    DescentChanges,
    DescentSchedule,
    gaussian_for,
    gaussian_square,
    gradient_clip,
    noisy_descent,
    plain_schedule,
    schedule_for,
    signal,
    step_length,
)
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.summation import one_thread
from holdfast.learn._whitening import MomentReleases, no_whitening, release_whitener
from holdfast.learn.methods.method import Fit, Learner, PublicFacts, Rank, Settings
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Arithmetic

THEOREM = (
    "Noisy gradient descent: composed Gaussian mechanisms, gradients clipped record by record after whitening "
    "(soundness, section 20)"
)


def noisy_gd(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    schedule: DescentSchedule | None = None,
    changes: DescentChanges = NO_CHANGES,
    count_bound: int | None = None,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Full-batch gradient descent with noise in every gradient; settings follow from a rule in public quantities.

    Private for every loss of a linear prediction: each release's sensitivity is enforced by clipping. `count_bound`,
    a public bound on the number of rows, enters only the slack for rounding errors of the sums. `schedule` is the
    result of the rule, where the caller has computed it; `changes` replace single settings of it.
    """
    descent = whitened_descent(
        examples,
        problem,
        account,
        schedule=schedule,
        changes=changes,
        factor=account.adjacency.gradient_factor * examples.unit.max_rows,
        count_bound=count_bound,
        arithmetic=arithmetic,
        name="noisy_gd",
        moment="noisy_gd: second moment",
    )
    setting = descent.schedule
    return Fit(
        weights=descent.weights[0],
        theorem=THEOREM,
        parameters={
            "preconditioner": setting.preconditioner,
            "share": setting.moment_share,
            "ridge": setting.ridge,
            "clip": descent.clip,
            "steps": setting.steps,
            "step": setting.step,
            "momentum": setting.momentum,
            "average": setting.average,
            "gradient_noise_std": descent.gradient_noise,
        },
        assumptions=descent.assumptions,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class DescentResult:
    """The released weights (K, d), and the public numbers of the run."""

    weights: Floats
    schedule: DescentSchedule
    clip: float
    l2_sensitivity: float
    gradient_noise: float
    assumptions: tuple[Assumption, ...]


def whitened_descent(
    examples: Examples,
    problem: Problem,
    account: Account,
    *,
    schedule: DescentSchedule | None,
    changes: DescentChanges,
    factor: float,
    count_bound: int | None,
    arithmetic: Arithmetic,
    name: str,
    moment: str,
) -> DescentResult:
    """Release a second moment and the gradient of every step, for all that remains in the account.

    The rule of the schedule divides the signal by `factor`; `name` and `moment` are the labels of the charges.
    """
    square, count = gaussian_square(account.remaining()), examples.public_count
    plain = changes.preconditioner == "none"
    if schedule is None or plain:
        mu, sizes = math.sqrt(square), {"count": count, "dimension": problem.dimension}
        schedule = (
            plain_schedule(mu, **sizes, factor=factor)
            if plain
            else schedule_for(mu, **sizes, factor=factor, classes=problem.predictions)
        )
    schedule = schedule.with_changes(changes)
    most, assumptions = examples.largest_count(count_bound)
    with one_thread():
        passes, whitening = ClippedBlocks(examples, problem), no_whitening(problem.dimension)
        if schedule.preconditioner != "none":
            releases = MomentReleases(
                passes=passes,
                problem=problem,
                account=account,
                square=square,
                count=count,
                most=most,
                arithmetic=arithmetic,
                label=moment,
            )
            whitening = release_whitener(releases, schedule)
        clip = gradient_clip(problem, schedule, whitening, signal=math.sqrt(square) * count / factor)
        gradients = ClippedGradients(problem=problem, passes=passes, whitening=whitening, clip=clip)
        sensitivity = gradients.l2_sensitivity(
            account.adjacency, rows_per_unit=examples.unit.max_rows, most=most
        )
        mechanism = gaussian_for(
            square * schedule.gradient_part / schedule.steps,
            l2_sensitivity=sensitivity,
            adjacency=account.adjacency,
            arithmetic=arithmetic,
        )
        permit = account.permit(mechanism, times=schedule.steps, label=f"{name}: gradients")
        weights = noisy_descent(
            gradients.at,
            problem,
            whitening,
            schedule,
            permit,
            step=step_length(problem, schedule),
            divisor=count,
            name=name,
            noise=float(mechanism.sigma),
        )
    return DescentResult(
        weights=weights,
        schedule=schedule,
        clip=clip,
        l2_sensitivity=sensitivity,
        gradient_noise=float(mechanism.sigma),
        assumptions=assumptions,
    )


def _settings(facts: PublicFacts) -> Settings:
    """The schedule as an option, and the reasons for it."""
    mu = math.sqrt(gaussian_square(facts.limit))
    factor = facts.adjacency.gradient_factor * facts.max_rows
    size = {"count": facts.count, "dimension": facts.problem.dimension}
    schedule = schedule_for(mu, **size, factor=factor)
    strength = signal(mu, **size, factor=factor)
    return Settings(
        options={"schedule": schedule},
        reasons=(
            "each record's gradient is clipped, so the loss needs no bound",
            f"the signal mu n / (d factor) is {strength:.3g}: {schedule.preconditioner} second moment, "
            f"{schedule.steps} steps",
        ),
    )


METHOD = Learner(
    name="noisy_gd",
    run=noisy_gd,
    paper="Bassily, Smith and Thakurta 2014 (FOCS); preconditioned as in soundness, section 20",
    needs=("delta",),
    ranks=(
        Rank(place=1, pure=False, columns=MOST_FULL_COLUMNS),
        Rank(place=3, pure=False),
    ),
    behind="beyond a thousand columns the second moment costs more than it gives",
    settings=_settings,
    no_intervals="it clips rows after whitening, which changes what is estimated, and releases no curvature at its fit",
)
