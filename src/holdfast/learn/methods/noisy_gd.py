"""Full-batch noisy gradient descent: plain, with momentum, and preconditioned by a private second moment.

Each step releases the sum of all gradients with Gaussian noise; steps, momentum, averaging and projection look
at released values only (soundness, section 20; Bassily, Smith and Thakurta 2014; Ganesh et al. 2023 for why a
private curvature pays). With a preconditioner, rows are whitened and then clipped to a public norm, and descent
runs on the clipped rows: mu^2 = mu_moment^2 + T mu_step^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError, require
from holdfast.kernel.threads import one_thread
from holdfast.learn.methods.method import Fit, Learner
from holdfast.learn.problem import Problem
from holdfast.learn.problem.problem import NORM_SLACK
from holdfast.learn.risk.descent import (
    DescentSchedule,
    Preconditioner,
    gaussian_for,
    gaussian_square,
    plain_schedule,
    schedule_for,
)
from holdfast.learn.rows.clipped_blocks import UNIT_ROUNDOFF, ClippedBlocks, rounding_of_sum
from holdfast.learn.rows.examples import Examples
from holdfast.learn.rows.moments import largest_count
from holdfast.learn.spending import admit
from holdfast.learn.whitening import Whitener, no_whitening, release_whitener
from holdfast.privacy.account import Account, Permit
from holdfast.privacy.account.remaining import is_pure
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanisms.mechanism import Arithmetic
from holdfast.progress import progress

Floats = NDArray[np.float64]
THEOREM = "Noisy gradient descent: composed Gaussian mechanisms, rows clipped after whitening (soundness, section 20)"
TAKES = "noisy_gd takes preconditioner, share, ridge, clip, steps, step, momentum, average, count_bound and arithmetic"


@dataclass(frozen=True, kw_only=True, eq=False)
class Gradients:
    """Gradient sums of a loss over rows that are whitened and then clipped to `norm`; private before noise.

    `norm` is public: it comes from the released second moment, never from whitened rows.
    """

    problem: Problem
    passes: ClippedBlocks
    whitening: Whitener
    norm: float
    _kept: list[tuple[Floats, Floats, Floats]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.passes.resident:
            self._kept.extend(self._scaled())

    def _scaled(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Rows, labels, and min(1, norm / |P x|): what clipping multiplies a whitened row with."""
        for rows, labels in self.passes.blocks():
            yield rows, labels, self.norm / np.maximum(self.whitening.norms(rows), self.norm)

    def at(self, weights: Floats) -> Floats:
        """The sum of phi'(<w, x~>) x~ over the clipped rows x~ = scale P x."""
        loss, slope = self.problem.loss, self.problem.loss.slope
        raw, total = self.whitening.backward(weights), np.zeros_like(weights)
        if self.passes.engine is not None:  # the same sum, taken where the rows are
            taken = self.passes.engine.gradient(raw, form=self.whitening.form(), norm=self.norm)
            return self.whitening.forward(taken)
        for rows, labels, scales in iter(self._kept) if self.passes.resident else self._scaled():
            # A slope beyond the declared one is clipped: a record's gradient has norm slope * norm at most.
            slopes = np.clip(loss.slopes(scales * (rows @ raw), labels), -slope, slope)
            total += (scales * slopes) @ rows
        return self.whitening.forward(total)

    def l2_sensitivity(self, adjacency: Adjacency, *, rows_per_unit: int, most: int) -> float:
        """c C' sup |phi'|, twice that under replace, and what rounding may add to two sums of `most` rows."""
        slope = self.problem.loss.slope
        moved = adjacency.gradient_factor * rows_per_unit * self.norm * (1.0 + NORM_SLACK) * slope
        error = rounding_of_sum(most) + 4.0 * (self.problem.dimension + 16) * UNIT_ROUNDOFF
        return moved + 2.0 * most * self.problem.norm_bound * slope * self.whitening.size * error


def noisy_gd(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    preconditioner: Preconditioner | None = None,
    share: float | None = None,
    ridge: float | None = None,
    clip: float | None = None,
    steps: int | None = None,
    step: float | None = None,
    momentum: float | None = None,
    average: float | None = None,
    count_bound: int | None = None,
    arithmetic: Arithmetic = "strict",
    **options: Any,
) -> Fit:
    """Descend along noisy gradients; what is not given is set by a rule in public quantities.

    Private for every loss of a linear prediction with a bounded slope: each release's sensitivity is enforced
    by clipping. Spends what remains of the account. `count_bound`, a public bound on the number of rows, enters
    only the slack for rounding errors of the sums.
    """
    require(not options, "options", sorted(options), "empty", TAKES)
    admit(examples, problem, account, method="noisy_gd")
    problem.require_lipschitz("noisy_gd")
    if is_pure(account.remaining()):
        raise ParameterError(
            "noisy_gd needs delta > 0: its noise is Gaussian; use method='objective', 'output' or 'bolt_on'"
        )
    square = gaussian_square(account.remaining())
    rule = plain_schedule if preconditioner == "none" else schedule_for
    setting = rule(
        math.sqrt(square),
        count=examples.public_count,
        dimension=problem.dimension,
        factor=account.adjacency.gradient_factor * examples.unit.max_rows,
    ).changed(
        {
            "preconditioner": preconditioner, "share": share, "ridge": ridge, "clip": clip, "steps": steps,
            "step": step, "momentum": momentum, "average": average,
        }
    )  # fmt: skip
    most, assumptions = largest_count(examples, count_bound)
    with one_thread():
        passes = ClippedBlocks(examples, problem)
        whitening = no_whitening(problem.dimension)
        norm = problem.row_norm
        if setting.preconditioner != "none":
            whitening = release_whitener(
                passes, problem, setting, account, square=square, count=examples.public_count, most=most,
                arithmetic=arithmetic, label="noisy_gd: second moment",
            )  # fmt: skip
            norm = setting.clip * math.sqrt(max(1.0, whitening.effective_dimension))
        gradients = Gradients(problem=problem, passes=passes, whitening=whitening, norm=norm)
        mechanism = gaussian_for(
            square * (1 - Fraction(setting.moment_share)) / setting.steps,
            l2_sensitivity=gradients.l2_sensitivity(
                account.adjacency, rows_per_unit=examples.unit.max_rows, most=most
            ),
            adjacency=account.adjacency,
            arithmetic=arithmetic,
        )
        permit = account.permit(mechanism, times=setting.steps, label="noisy_gd: gradients")
        return Fit(
            weights=noisy_descent(gradients, setting, permit, count=examples.public_count),
            theorem=THEOREM,
            parameters={
                "preconditioner": setting.preconditioner, "share": setting.moment_share, "ridge": setting.ridge,
                "clip": norm, "steps": setting.steps, "step": setting.step, "momentum": setting.momentum,
                "average": setting.average, "gradient_noise_std": float(mechanism.sigma),
            },
            assumptions=assumptions,
        )  # fmt: skip


def noisy_descent(gradients: Gradients, setting: DescentSchedule, permit: Permit, *, count: int) -> Floats:
    """T steps from the origin; the mean of the last iterates, as weights of the rows themselves."""
    problem, whitening = gradients.problem, gradients.whitening
    # The rule's step is for curvature 1/4; flatter losses take longer steps. Hinges curve by about 1 on average.
    step = setting.step * 0.25 / min(1.0, problem.loss.curvature) * (1.0 - setting.momentum)
    if setting.preconditioner == "none":
        step /= problem.row_norm**2
    weights = np.zeros(problem.dimension)
    velocity, mean = np.zeros_like(weights), np.zeros_like(weights)
    for number in progress(range(setting.steps), desc="noisy_gd"):
        noisy = permit.release(gradients.at(weights))
        velocity = setting.momentum * velocity + noisy / count
        # The penalty takes an implicit step, which is stable whatever the whitening made of it.
        weights = whitening.shrunk(weights - step * velocity, step * problem.penalty)
        length = float(np.linalg.norm(whitening.backward(weights)))
        weights = weights * min(1.0, problem.radius / max(length, 1e-300))
        if number >= setting.steps - setting.averaged:
            mean += weights / setting.averaged
    return whitening.backward(mean)


METHOD = Learner(
    name="noisy_gd",
    run=noisy_gd,
    paper="Bassily, Smith and Thakurta 2014 (FOCS); preconditioned as in soundness, section 20",
    needs=("lipschitz", "delta"),
)
