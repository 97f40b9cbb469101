"""The centre of the intercept's penalty: a released mean target, or released shares of classes.

A penalty on the intercept shrinks predictions to the middle of the target's declared range, or to equal classes, so
results would depend on how wide the range is. Methods that only post-process, or clip by themselves, leave the
intercept out of the penalty (`Problem.penalties`). Methods whose theorem needs strong convexity in all weights first
release the mean target, or the shares of classes, for a small share of the budget, and count the penalty from the model
that predicts just that. The proof does not change: a penalty counted from a public point is as strongly convex as one
counted from 0 (soundness, section 0).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._assumption import ACCURACY, Assumption
from holdfast._kernel import SgdOptions
from holdfast.data._sensitivity import counts_l1, counts_l2
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import OneVsAll, Squared, as_codes
from holdfast.learn._risk.descent import gaussian_for, gaussian_square
from holdfast.learn._rows.clipped_blocks import SIGNED_LOSSES, clip_chunk
from holdfast.learn._rows.examples import Chunk, DerivedExamples, Examples
from holdfast.learn._rows.summation import rounding_of_sum
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.privacy._rounding import as_written, round_down

CENTRE_SHARE = Fraction(1, 20)
"""The share of epsilon for the centre, or of mu^2 where noise is Gaussian."""
LEAST_COUNT = 2.0
"""The least count of a class, in standard deviations of its noise."""
NUMBERS = ("squared", "huber_regression", "smooth_huber")
"""Losses of a number."""
HINGES = ("hinge", "huber")
INTERCEPT_PULLED = Assumption(
    kind=ACCURACY,
    subject="intercept",
    text="accuracy, not privacy: the proof of this method needs a penalty on every weight, which draws the intercept "
    "to equal classes; method='auto' takes methods that do not",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassShares:
    """The released share of the rows of each class.

    >>> equal, rare = ClassShares(shares=np.array([0.5, 0.5])), ClassShares(shares=np.array([0.99, 0.01]))
    >>> equal.curvature, round(rare.curvature, 4), equal.evenness, round(rare.evenness, 4)
    (0.25, 0.0099, 1.0, 0.0396)
    """

    shares: Floats
    noise: float = 0.0
    """The standard deviation of the noise in each share."""

    def centre_noise(self, loss: Any) -> float:
        """About the standard deviation of the noise in `centre`, for the class in which it is largest."""
        several = loss.binary if isinstance(loss, OneVsAll) else loss
        if several.name in HINGES:
            return 2.0 * self.noise
        return self.noise * float(np.sqrt(np.sum(self.shares**-2.0)))

    @property
    def curvature(self) -> float:
        """p (1 - p), of two classes: the second derivative of their loss where the model predicts the shares."""
        return float(self.shares[0] * self.shares[1])

    @property
    def evenness(self) -> float:
        """4 p (1 - p): the information of a row relative to a row of a table with equal classes."""
        return 4.0 * self.curvature

    @property
    def scores(self) -> Floats:
        """The score of each class in the model that predicts the shares; scores add up to 0."""
        logs = np.log(self.shares)
        return np.asarray(logs - logs.mean())

    def centre(self, loss: Any) -> Floats:
        """The best constant predictions for this loss: log-odds, scores, or for a hinge 2 p - 1."""
        if isinstance(loss, OneVsAll):
            odds = np.log(self.shares / (1.0 - self.shares))
            return 2.0 * self.shares - 1.0 if loss.binary.name in HINGES else np.asarray(odds)
        if loss.name in HINGES:
            return 2.0 * self.shares[1:] - 1.0
        return np.diff(self.scores) if loss.name in SIGNED_LOSSES else self.scores


def class_counts(examples: Examples, problem: Problem) -> NDArray[np.int64]:
    """How many rows each class has, null ones apart; private."""
    classes = max(2, problem.predictions)
    total = np.zeros(classes, dtype=np.int64)
    for rows, labels in (clip_chunk(chunk, problem) for chunk in examples.chunks()):
        codes = as_codes(labels, classes) if problem.outputs == "several" else (labels > 0).astype(np.int64)
        total += np.bincount(codes[rows.any(axis=1)], minlength=classes)
    return total


def release_shares(
    examples: Examples,
    problem: Problem,
    account: Account,
    *,
    share: Fraction,
    arithmetic: Arithmetic,
    label: str,
) -> ClassShares:
    """Charge a share of what remains, and release how many rows each class has."""
    noise = share_of_noise(
        account,
        l1=counts_l1(account.adjacency, examples.unit),
        l2=counts_l2(account.adjacency, examples.unit),
        share=share,
        arithmetic=arithmetic,
    )
    released = account.release(noise, class_counts(examples, problem), label=label)
    counts = np.maximum(np.asarray(released, dtype=np.float64), LEAST_COUNT * deviation_of(noise))
    return ClassShares(shares=counts / counts.sum(), noise=deviation_of(noise) / float(counts.sum()))


def label_sum(examples: Examples, problem: Problem, *, bound: float) -> float:
    """The sum of targets, each within the bound, null rows apart; private. Taken by the engine where it takes sums."""
    taken = examples.target_sum(problem, bound=bound)
    if taken is not None:
        return taken
    total = 0.0
    for rows, labels in (clip_chunk(chunk, problem) for chunk in examples.chunks()):
        total += float(np.sum(np.clip(labels[rows.any(axis=1)], -bound, bound)))
    return total


def release_target_mean(
    examples: Examples, problem: Problem, account: Account, *, arithmetic: Arithmetic
) -> tuple[float, float]:
    """Charge a share of what remains, and release the mean target and the deviation of its noise.

    The divisor is the public count.
    """
    bound = target_bound(problem)
    most, _ = examples.largest_count()
    sensitivity = account.adjacency.gradient_factor * examples.unit.max_rows * bound
    sensitivity += 2.0 * most * bound * rounding_of_sum(most)  # both neighbours' sums are rounded
    noise = share_of_noise(account, l1=sensitivity, l2=sensitivity, share=CENTRE_SHARE, arithmetic=arithmetic)
    exact = label_sum(examples, problem, bound=bound)
    released = np.asarray(account.release(noise, np.array([exact]), label="centre of the intercept"))
    mean = float(np.clip(released[0] / examples.public_count, -bound, bound))
    return mean, deviation_of(noise) / examples.public_count


def target_bound(problem: Problem) -> float:
    """The bound to which targets are clipped before they are summed, in the loss's units."""
    return problem.loss.target_bound if isinstance(problem.loss, Squared) else 1.0


def share_of_noise(
    account: Account, *, l1: float, l2: float, share: Fraction, arithmetic: Arithmetic
) -> Laplace | Gaussian:
    """Noise for one release at a share of what remains: Laplace where epsilons add up, else Gaussian."""
    left = account.remaining()
    epsilon = left.as_pure()
    point = left.as_approximate() if account.currency.name == "basic" else None
    if epsilon is None and point is not None:
        epsilon = Fraction(round_down(point[0]))
    if epsilon is None:
        return gaussian_for(
            gaussian_square(left) * share,
            l2_sensitivity=l2,
            adjacency=account.adjacency,
            arithmetic=arithmetic,
        )
    return Laplace(
        scale=as_written(l1) / (epsilon * share),
        l1_sensitivity=l1,
        adjacency=account.adjacency,
        arithmetic=arithmetic,
    )


def deviation_of(noise: Laplace | Gaussian) -> float:
    """The standard deviation of the noise in each number."""
    return float(noise.sigma) if isinstance(noise, Gaussian) else math.sqrt(2.0) * float(noise.scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShiftedLabels(DerivedExamples):
    """The rows with a public number subtracted from every target."""

    examples: Examples
    problem: Problem
    shift: float

    @property
    def resident(self) -> bool:
        """As of the underlying examples: every pass shifts targets by the same number."""
        return self.examples.resident

    def chunks(self) -> Iterator[Chunk]:
        """The rows in the order of the underlying examples."""
        return map(self._shift_labels, self.examples.chunks())

    def shuffled_chunks(self, source: Source) -> Iterator[Chunk]:
        """The rows in a secret order."""
        return map(self._shift_labels, self.examples.shuffled_chunks(source))

    def epochs(self, options: SgdOptions, *, source: Source, passes: int, records: int) -> Floats | None:
        """A run in the engine of the underlying examples, where it can shift their targets."""
        bound = target_bound(self.problem)
        shifted = self.examples.with_shifted_labels(bound=bound, shift=self.shift)
        if shifted is None:
            return None
        return shifted.epochs(options, source=source, passes=passes, records=records)

    def _shift_labels(self, chunk: Chunk) -> Chunk:
        rows, labels = clip_chunk(chunk, self.problem)
        if isinstance(self.problem.loss, Squared):
            labels = np.clip(labels, -self.problem.loss.target_bound, self.problem.loss.target_bound)
        return rows, labels - self.shift


@dataclass(frozen=True, kw_only=True, eq=False)
class Centred:
    """Rows and problem after centring, and the weights from which the penalty is counted."""

    examples: Examples
    problem: Problem
    shift: float = 0.0
    """The number that was subtracted from every target."""
    origin: Floats | float = 0.0
    """The flat weights (K, d) from which the penalty is counted; 0 where targets were shifted instead."""
    noise_std: float = 0.0
    """The standard deviation of the centre's noise, in predictions; no minimiser moves by more than its centre."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Facts for the release."""

    def original_weights(self, weights: Any) -> Floats:
        """The weights for the original targets."""
        original = np.array(weights, dtype=np.float64)
        if self.shift:
            original[..., -1] += self.shift / self.problem.constant
        return original


def pay_for_centre(
    examples: Examples, problem: Problem, account: Account, *, arithmetic: Arithmetic, classes: bool = True
) -> Centred:
    """Release a centre of the intercept, if there is one; `classes` says whether the method takes an origin.

    For numbers the released mean is subtracted from every target. For classes the penalty is counted from the weights
    that predict the released shares; with a radius it is still counted from 0.
    """
    if not problem.has_intercept:
        return Centred(examples=examples, problem=problem)
    if problem.loss.name in NUMBERS:
        mean, deviation = release_target_mean(examples, problem, account, arithmetic=arithmetic)
        inner = problem
        if isinstance(problem.loss, Squared):
            wider = math.nextafter(problem.loss.target_bound + abs(mean), math.inf)
            inner = dataclasses.replace(problem, loss=dataclasses.replace(problem.loss, target_bound=wider))
        return Centred(
            examples=ShiftedLabels(examples=examples, problem=problem, shift=mean),
            problem=inner,
            shift=mean,
            noise_std=deviation,
            parameters={"centre": mean, "centre_share": float(CENTRE_SHARE)},
        )
    if not classes or math.isfinite(problem.radius):
        return Centred(examples=examples, problem=problem)
    shares = release_shares(
        examples, problem, account, share=CENTRE_SHARE, arithmetic=arithmetic, label="centre of the intercept"
    )
    scores = shares.centre(problem.loss)
    origin = np.zeros((problem.predictions, problem.dimension))
    origin[:, -1] = scores / problem.constant
    return Centred(
        examples=examples,
        problem=problem,
        origin=origin.ravel(),
        noise_std=shares.centre_noise(problem.loss),
        parameters={"centre": scores.tolist(), "centre_share": float(CENTRE_SHARE)},
    )


def pull_assumptions(problem: Problem) -> tuple[Assumption, ...]:
    """The assumption of a release by a method without an origin, whose penalty shrinks the intercept of classes."""
    return (INTERCEPT_PULLED,) if problem.has_intercept and problem.loss.name not in NUMBERS else ()
