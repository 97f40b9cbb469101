"""The rows that each step of Frank-Wolfe reads, and the cost of its choice, charged in advance (soundness, section 8).

Steps read all rows, or each row in one step only, or a fresh secret sample. The bounds give the sensitivity of a
corner's score and the best number of steps; they hold for every point of the polytope and every admissible row, and
are public.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from holdfast._assumption import Assumption
from holdfast.errors import AdjacencyError, require
from holdfast.learn._problem import Problem
from holdfast.learn._rows.batches import disjoint_batches, poisson_sample
from holdfast.learn._rows.clipped_blocks import clip_chunk
from holdfast.learn._rows.examples import Chunk, DerivedExamples, Examples
from holdfast.learn._rows.summation import UNIT_ROUNDOFF, summation_error
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._account.parallel import accounts_for_parts
from holdfast.privacy._account.remaining import largest_epsilon
from holdfast.privacy._account.request import refuse_users
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve, PureDP
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._mechanisms.mechanism import Arithmetic, Mechanism
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.privacy._mechanisms.subsampled import SubsampledPure


@dataclass(frozen=True, kw_only=True)
class FrankWolfeBounds:
    """Constants of the proof, for all points of the polytope and all admissible rows; public.

    `slope` bounds the loss's derivative there, `feature_bound` every |x_j|, `l1_norm` every |w|_1.
    """

    slope: float
    feature_bound: float
    l1_norm: float
    curvature: float
    penalty: float = 0.0

    @property
    def gradient(self) -> float:
        """L_inf: every entry of one row's gradient is at most this."""
        return self.slope * self.feature_bound

    def score_change(self, adjacency: Adjacency, *, divisor: float, rows_per_unit: int = 1) -> float:
        """2 L_inf C / N under replace, L_inf C / n_0 otherwise: how far one unit moves <gradient, corner>.

        >>> lasso = FrankWolfeBounds(slope=3.0, feature_bound=1.0, l1_norm=2.0, curvature=1.0)
        >>> lasso.score_change(Adjacency.replace, divisor=100.0)
        0.12
        """
        return adjacency.gradient_factor * rows_per_unit * self.gradient * self.l1_norm / divisor

    def rounding(self, count: int, weights: int) -> float:
        """What floating point may add to the scores of two neighbours: sums of rows, and slopes of predictions.

        A prediction errs by d u C X, so a slope by its curvature times that (twice that for a softmax, whose sum of
        K exponentials errs by K u more); a sum as `summation_error` says.
        """
        products = 4.0 * (weights + 16) * UNIT_ROUNDOFF
        products *= self.slope + self.curvature * self.l1_norm * self.feature_bound
        each = summation_error(count) * self.slope + products
        return 2.0 * count * each * self.feature_bound * self.l1_norm

    @property
    def smoothness(self) -> float:
        """L_1, with respect to the L1 norm."""
        return self.curvature * self.feature_bound**2 + self.penalty

    @property
    def curvature_term(self) -> float:
        """B = 2 L_1 (2 C)^2: without noise the excess after T steps is at most B / (T + 1)."""
        return 2.0 * self.smoothness * (2.0 * self.l1_norm) ** 2

    def steps(self, left: PrivacyCurve, *, score_change: float, corners: int, count: int) -> int:
        """T* that minimises B / T + (Gumbel scale) ln K, rounded into [1, N^2]; all public.

        The scale is score_change sqrt(T / (2 rho)) in zCDP: T* = (2 B / a)^(2/3), a = score_change ln K /
        sqrt(2 rho). In pure DP, and where epsilons are added up beside a delta, it is 2 score_change T / epsilon:
        T* = sqrt(B / a).
        """
        reach = score_change * math.log(corners)
        point = left.as_approximate()
        pure = left.as_pure() if point is None or math.isfinite(_rho_of(left)) else point[0]
        if pure is not None:
            best = math.sqrt(self.curvature_term * float(pure) / (2.0 * reach))
        else:
            a = reach / math.sqrt(2.0 * _rho_of(left))
            best = (2.0 * self.curvature_term / a) ** (2.0 / 3.0)
        return int(min(max(1, round(best)), count**2))

    def excess_risk(self, *, steps: int, gumbel_scale: float, corners: int) -> float:
        """B / (T + 1) + scale ln K: a bound on the expected excess of the objective over the polytope."""
        return self.curvature_term / (steps + 1) + gumbel_scale * math.log(corners)


def _rho_of(left: PrivacyCurve) -> float:
    """A rho that what remains allows, for the rule above: exact in zCDP, by its one order in Renyi."""
    rho = left.as_zcdp()
    orders = getattr(left, "orders", (2.0,))
    return max(float(rho) if rho is not None else left.renyi(orders[0]) / orders[0], 1e-12)


Choose = Callable[[int, NDArray[np.float64]], int]


class AdmissibleRows(DerivedExamples):
    """The rows, clipped to the bounds; clipped only once where they are in memory."""

    def __init__(self, examples: Examples, problem: Problem, bounds: FrankWolfeBounds) -> None:
        self._examples, self._problem, self._reach = examples, problem, bounds.feature_bound
        self._clipped: list[Chunk] | None = None

    @property
    def examples(self) -> Examples:
        """The rows before clipping."""
        return self._examples

    def chunks(self) -> Iterator[Chunk]:
        """All rows."""
        if not self._examples.resident:
            return map(self._clip, self._examples.chunks())
        if self._clipped is None:
            self._clipped = list(map(self._clip, self._examples.chunks()))
        return iter(self._clipped)

    def shuffled_chunks(self, source: Source) -> Iterator[Chunk]:
        """All rows in a secret order."""
        return map(self._clip, self._examples.shuffled_chunks(source))

    def _clip(self, chunk: Chunk) -> Chunk:
        features, labels = clip_chunk(chunk, self._problem)
        if self._reach < self._problem.norm_bound:  # else no entry of a row can exceed it
            features = np.clip(features, -self._reach, self._reach)
        return features, labels


@dataclass(frozen=True, kw_only=True, eq=False)
class RowSampling:
    """Steps that are charged: the function that returns a step's rows, and the one that makes its choice."""

    steps: int
    divisor: float
    rows: Callable[[], Iterable[Chunk]]
    choose: Choose
    score_change: float
    epsilon: float
    theorem: str
    assumptions: tuple[Assumption, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplingRequest:
    """The input of every plan of sampling."""

    rows: AdmissibleRows
    bounds: FrankWolfeBounds
    weights: int
    """The number of weights."""
    corners: int
    account: Account
    steps: int | None
    batch: int | None
    arithmetic: Arithmetic

    @property
    def count(self) -> int:
        """The number of rows that is public."""
        return self.rows.public_count

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the bound on the number of rows, which the slack for rounding uses."""
        return self.rows.largest_count()[1]

    def score_change(self, divisor: float) -> float:
        """The sensitivity of a score, including the rounding of both neighbours' sums (section 16)."""
        change = self.bounds.score_change(
            self.account.adjacency, divisor=divisor, rows_per_unit=self.rows.unit.max_rows
        )
        most, _ = self.rows.largest_count()
        return change + self.bounds.rounding(most, self.weights) / divisor

    def epsilon_of_each_choice(
        self, mechanism: Callable[[float], Mechanism], *, steps: int, rate: float | None = None
    ) -> tuple[float, Choose]:
        """Spend all that remains on `steps` choices; returns epsilon of each, and the function that makes them."""
        left = self.account.remaining()
        if type(left) in (PureDP, ZCDP):
            epsilon = _epsilon_of_each(self.account.currency.name, *_amount(left), steps, rate)
        else:
            epsilon = largest_epsilon(self.account, lambda each: mechanism(each).curve.repeat(steps))
        permit = self.account.permit(mechanism(epsilon), times=steps, label="frank_wolfe")
        return epsilon, lambda t, scores: int(permit.release(scores))


def _amount(left: PrivacyCurve) -> tuple[type[PrivacyCurve], Fraction]:
    """The type and the number of a curve that has one number."""
    exact = left.as_pure() if isinstance(left, PureDP) else left.as_zcdp()
    assert exact is not None
    return type(left), exact


@lru_cache(maxsize=256)  # each of many fits asks for the same
def _epsilon_of_each(
    currency: str, kind: Callable[[Fraction], PrivacyCurve], amount: Fraction, steps: int, rate: float | None
) -> float:
    """The largest epsilon of a choice of which `steps` fit; their curve depends on epsilon and the rate alone."""

    def curve(epsilon: float) -> PrivacyCurve:
        choice = Exponential(epsilon=epsilon, sensitivity=1.0)
        return choice.curve if rate is None else SubsampledPure(base=choice, rate=rate).curve

    account = Account(kind(amount), currency=currency)
    return largest_epsilon(account, lambda each: curve(each).repeat(steps))


def sample_all(request: SamplingRequest) -> RowSampling:
    """All rows in every step; epsilon per choice sqrt(8 rho / T) in zCDP, epsilon / T in pure DP."""
    require(
        request.batch is None,
        "batch",
        request.batch,
        "None when every step uses all rows",
        "give sampling='poisson'",
    )
    divisor = float(request.count)
    change = request.score_change(divisor)
    steps = request.steps or request.bounds.steps(
        request.account.remaining(), score_change=change, corners=request.corners, count=request.count
    )

    def mechanism(epsilon: float) -> Exponential:
        return Exponential(
            epsilon=epsilon,
            sensitivity=change,
            adjacency=request.account.adjacency,
            arithmetic=request.arithmetic,
        )

    epsilon, choose = request.epsilon_of_each_choice(mechanism, steps=steps)
    return RowSampling(
        steps=steps,
        divisor=divisor,
        rows=request.rows.chunks,
        choose=choose,
        score_change=change,
        epsilon=epsilon,
        theorem="exponential mechanism, composed over all steps (Talwar, Thakurta and Zhang 2015; zCDP)",
        assumptions=request.assumptions,
    )


def sample_disjoint(request: SamplingRequest) -> RowSampling:
    """Section 8 (a): each row takes part in one step, so the whole run costs as much as one choice."""
    refuse_users(request.rows, what="frank_wolfe with sampling='disjoint'", instead="use sampling='full'")
    require(
        (request.steps is None) != (request.batch is None),
        "steps",
        request.steps,
        "given, or batch, but not both",
    )
    size = request.batch if request.batch is not None else max(1, request.count // (request.steps or 1))
    steps = request.steps or max(1, request.count // size)
    change = request.score_change(float(size))
    accounts = accounts_for_parts(request.account, parts=steps, label="frank_wolfe")
    epsilon = largest_epsilon(accounts[0], lambda each: Exponential(epsilon=each, sensitivity=change).curve)
    mechanism = Exponential(
        epsilon=epsilon,
        sensitivity=change,
        adjacency=request.account.adjacency,
        arithmetic=request.arithmetic,
    )
    batches = disjoint_batches(request.rows, request.account.source, size=size, count=steps)
    return RowSampling(
        steps=steps,
        divisor=float(size),
        rows=lambda: next(batches),
        choose=lambda t, scores: int(accounts[t].release(mechanism, scores)),
        score_change=change,
        epsilon=epsilon,
        theorem="exponential mechanism on disjoint batches (parallel composition)",
        assumptions=request.assumptions,
    )


def poisson_rows(request: SamplingRequest) -> RowSampling:
    """Section 8 (b): a fresh sample of rate q in each step, divisor q n_0, epsilon' = ln(1 + q (e^eps - 1))."""
    refuse_users(request.rows, what="frank_wolfe with sampling='poisson'", instead="use sampling='full'")
    if request.account.adjacency is Adjacency.replace:
        raise AdjacencyError(
            "sampling='poisson' is proved for adjacency add_remove and zero_out, got 'replace'; "
            "use sampling='disjoint' or 'full'"
        )
    batch = request.batch or 0
    require(batch >= 1, "batch", request.batch, "a whole number >= 1 for sampling='poisson'")
    rate = min(1.0, batch / request.count)
    steps = request.steps or max(1, round(1.0 / rate))
    divisor = rate * request.count
    change = request.score_change(divisor)

    def mechanism(epsilon: float) -> SubsampledPure:
        base = Exponential(epsilon=epsilon, sensitivity=change, arithmetic=request.arithmetic)
        return SubsampledPure(
            base=base, rate=rate, adjacency=request.account.adjacency, arithmetic=request.arithmetic
        )

    epsilon, choose = request.epsilon_of_each_choice(mechanism, steps=steps, rate=rate)
    return RowSampling(
        steps=steps,
        divisor=divisor,
        rows=lambda: poisson_sample(request.rows, request.account.source, rate=Fraction(rate)),
        choose=choose,
        score_change=change,
        epsilon=epsilon,
        theorem="exponential mechanism on Poisson samples (Balle, Barthe and Gaboardi 2018), composed",
        assumptions=request.assumptions,
    )


PLANS: dict[str, Callable[[SamplingRequest], RowSampling]] = {
    "full": sample_all,
    "disjoint": sample_disjoint,
    "poisson": poisson_rows,
}
