"""Three ways for Frank-Wolfe to meet the rows, each paid for before the first choice (soundness, section 8).

All rows in every step; each row in one step only; or a fresh secret sample in every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import AdjacencyError, require
from holdfast.learn.batches import disjoint_batches, poisson_sample
from holdfast.learn.examples import Chunk, Examples
from holdfast.learn.frank_wolfe_bounds import FrankWolfeBounds
from holdfast.learn.moments import largest_count
from holdfast.learn.parallel import parallel
from holdfast.learn.problem import Problem
from holdfast.learn.risk import clipped
from holdfast.learn.spending import largest_epsilon, refuse_users
from holdfast.noise.source import Source
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanism import Arithmetic, Mechanism
from holdfast.privacy.mechanisms.exponential import Exponential
from holdfast.privacy.mechanisms.subsampled_pure import SubsampledPure

Choose = Callable[[int, NDArray[np.float64]], int]


class Admissible:
    """The same rows, clipped to what the bounds say, whatever they hold; once only where they lie in memory."""

    def __init__(self, examples: Examples, problem: Problem, bounds: FrankWolfeBounds) -> None:
        self._examples, self._problem, self._reach = examples, problem, bounds.feature_bound
        self._kept: list[Chunk] | None = None
        self.dimension, self.public_count = examples.dimension, examples.public_count
        self.adjacency, self.unit = examples.adjacency, examples.unit

    def chunks(self) -> Iterator[Chunk]:
        """All rows."""
        if not getattr(self._examples, "resident", False):
            return map(self._within, self._examples.chunks())
        if self._kept is None:
            self._kept = list(map(self._within, self._examples.chunks()))
        return iter(self._kept)

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """All rows in a secret order."""
        return map(self._within, self._examples.shuffled(source))

    def _within(self, chunk: Chunk) -> Chunk:
        features, labels = clipped(chunk, self._problem)
        if self._reach < self._problem.norm_bound:  # else no entry of a row can exceed it
            features = np.clip(features, -self._reach, self._reach)
        return features, labels


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """Steps that are paid for: where each one's rows come from, and how it chooses."""

    steps: int
    divisor: float
    rows: Callable[[], Iterable[Chunk]]
    choose: Choose
    score_change: float
    epsilon: float
    theorem: str
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """What every plan is told."""

    rows: Admissible
    bounds: FrankWolfeBounds
    weights: int
    """How many there are: at least as many as columns, and as classes."""
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
    def assumptions(self) -> tuple[str, ...]:
        """What the slack for rounding rests on."""
        return largest_count(self.rows, None)[1]

    def score_change(self, divisor: float) -> float:
        """How far one unit moves a score, the rounding of both neighbours' sums included (section 16)."""
        change = self.bounds.score_change(
            self.account.adjacency, divisor=divisor, rows_per_unit=self.rows.unit.max_rows
        )
        most, _ = largest_count(self.rows, None)
        return change + self.bounds.rounding(most, self.weights) / divisor

    def composed(self, mechanism: Callable[[float], Mechanism], *, steps: int) -> tuple[float, Choose]:
        """All that remains, spent on so many choices: epsilon of each, and how to make them."""
        epsilon = largest_epsilon(self.account, lambda each: mechanism(each).curve.repeat(steps))
        permit = self.account.permit(mechanism(epsilon), times=steps, label="frank_wolfe")
        return epsilon, lambda t, scores: int(permit.release(scores))


def full(asked: Asked) -> Plan:
    """All rows in every step; epsilon per choice sqrt(8 rho / T) in zCDP, epsilon / T in pure DP."""
    require(
        asked.batch is None,
        "batch",
        asked.batch,
        "None when every step uses all rows",
        "give sampling='poisson'",
    )
    divisor = float(asked.count)
    change = asked.score_change(divisor)
    steps = asked.steps or asked.bounds.steps(
        asked.account.remaining(), score_change=change, corners=asked.corners, count=asked.count
    )

    def mechanism(epsilon: float) -> Exponential:
        return Exponential(
            epsilon=epsilon,
            sensitivity=change,
            adjacency=asked.account.adjacency,
            arithmetic=asked.arithmetic,
        )

    epsilon, choose = asked.composed(mechanism, steps=steps)
    return Plan(
        steps=steps, divisor=divisor, rows=asked.rows.chunks, choose=choose, score_change=change, epsilon=epsilon,
        theorem="exponential mechanism, composed over all steps (Talwar, Thakurta and Zhang 2015; zCDP)",
        assumptions=asked.assumptions,
    )  # fmt: skip


def disjoint(asked: Asked) -> Plan:
    """Section 8 (a): each row takes part in one step, so the whole run costs as much as one choice."""
    refuse_users(asked.rows, method="frank_wolfe with sampling='disjoint'")
    require(
        (asked.steps is None) != (asked.batch is None), "steps", asked.steps, "given, or batch, but not both"
    )
    size = asked.batch if asked.batch is not None else max(1, asked.count // (asked.steps or 1))
    steps = asked.steps or max(1, asked.count // size)
    change = asked.score_change(float(size))
    accounts = parallel(asked.account, parts=steps, label="frank_wolfe")
    epsilon = largest_epsilon(accounts[0], lambda each: Exponential(epsilon=each, sensitivity=change).curve)
    mechanism = Exponential(
        epsilon=epsilon, sensitivity=change, adjacency=asked.account.adjacency, arithmetic=asked.arithmetic
    )
    batches = disjoint_batches(asked.rows, asked.account.source, size=size, count=steps)
    return Plan(
        steps=steps, divisor=float(size), rows=lambda: next(batches),
        choose=lambda t, scores: int(accounts[t].release(mechanism, scores)), score_change=change, epsilon=epsilon,
        theorem="exponential mechanism on disjoint batches (parallel composition)",
        assumptions=asked.assumptions,
    )  # fmt: skip


def poisson(asked: Asked) -> Plan:
    """Section 8 (b): a fresh sample of rate q in each step, divisor q n_0, epsilon' = ln(1 + q (e^eps - 1))."""
    refuse_users(asked.rows, method="frank_wolfe with sampling='poisson'")
    if asked.account.adjacency is Adjacency.replace:
        raise AdjacencyError(
            "sampling='poisson' is proved for adjacency add_remove and zero_out, got 'replace'; "
            "use sampling='disjoint' or 'full'"
        )
    batch = asked.batch or 0
    require(batch >= 1, "batch", asked.batch, "a whole number >= 1 for sampling='poisson'")
    rate = min(1.0, batch / asked.count)
    steps = asked.steps or max(1, round(1.0 / rate))
    divisor = rate * asked.count
    change = asked.score_change(divisor)

    def mechanism(epsilon: float) -> SubsampledPure:
        base = Exponential(epsilon=epsilon, sensitivity=change, arithmetic=asked.arithmetic)
        return SubsampledPure(
            base=base, rate=rate, adjacency=asked.account.adjacency, arithmetic=asked.arithmetic
        )

    epsilon, choose = asked.composed(mechanism, steps=steps)
    return Plan(
        steps=steps, divisor=divisor,
        rows=lambda: poisson_sample(asked.rows, asked.account.source, rate=Fraction(rate)),
        choose=choose, score_change=change, epsilon=epsilon,
        theorem="exponential mechanism on Poisson samples (Balle, Barthe and Gaboardi 2018), composed",
        assumptions=asked.assumptions,
    )  # fmt: skip


PLANS: dict[str, Callable[[Asked], Plan]] = {"full": full, "disjoint": disjoint, "poisson": poisson}
