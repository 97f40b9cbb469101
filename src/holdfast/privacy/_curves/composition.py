"""Composition of releases whose parameters are fixed in advance, by the tightest sound rule.

Closed forms come first (Gaussians merge into one, zCDP and Renyi parameters add up), then numeric loss distributions;
the least of all valid bounds is taken. If parameters are chosen after seeing results, an account's currency is needed
instead (soundness, section 19).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._stored_fields import require_fields
from holdfast.errors import ParameterError, require
from holdfast.privacy._curves.best_order import BestOrder
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.group_replace import GroupReplace
from holdfast.privacy._curves.loss_distribution import LossDistribution
from holdfast.privacy._curves.loss_sum import AtomicSum, LossSum, LossSums
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._curves.slack import WithSlack, bare_and_slack
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._losses.atomic_pair import AtomicPair, product_pair
from holdfast.privacy._losses.discretise import LARGEST_PART, suitable_spacing
from holdfast.privacy._losses.dominating_pair import DominatingPair
from holdfast.privacy._losses.grid_losses import LARGEST_GRID
from holdfast.privacy._rounding import round_up
from holdfast.privacy._tradeoff import Points

_LARGEST_NUMERIC_LOSS = 1e5  # beyond it only sums of parameters are used


@dataclass(frozen=True, repr=False)
class Composed(PrivacyCurve):
    """Several releases together; stored by its parts, so that a better accountant can add them again.

    >>> Composed(((PureDP(0.1), 100),)).epsilon(1e-6) < 4.7821  # basic composition: 10
    True
    """

    parts: tuple[tuple[PrivacyCurve, int], ...]

    def __post_init__(self) -> None:
        require(len(self.parts) > 0, "parts", len(self.parts), "one or more")
        for _, times in self.parts:
            require(isinstance(times, int) and times >= 1, "times", times, "a whole number >= 1")
        if any(curve.has_slack for curve, _ in self.parts):
            raise ParameterError("parts must have no slack: it is outermost; compose(...) lifts it")

    # The cost in each currency: exact sums over the parts, if every part has that cost.

    def _sum(self, cost: Callable[[PrivacyCurve], Fraction | None]) -> Fraction | None:
        costs = [(cost(curve), times) for curve, times in self.parts]
        if any(each is None for each, _ in costs):
            return None
        return sum((each * times for each, times in costs if each is not None), Fraction(0))

    def as_pure(self) -> Fraction | None:
        """The sum of the pure parameters."""
        return self._sum(lambda curve: curve.as_pure())

    def as_zcdp(self) -> Fraction | None:
        """The sum of the zCDP parameters."""
        return self._sum(lambda curve: curve.as_zcdp())

    def as_gdp(self) -> Fraction | None:
        """The sum of the squares of the Gaussian parameters."""
        return self._sum(lambda curve: curve.as_gdp())

    def renyi(self, order: float) -> float:
        """The sum of the divergences."""
        return math.fsum(times * curve.renyi(order) for curve, times in self.parts) * (1 + 1e-14)

    @property
    def pair_is_tight(self) -> bool:  # type: ignore[override]
        """Whether the pairs of all parts are tight."""
        return all(curve.pair_is_tight for curve, _ in self.parts)

    # The numeric core.

    @cached_property
    def _pairs(self) -> list[tuple[DominatingPair, int]] | None:
        """The dominating pair of every part; None if a part has none, or losses beyond the range of a grid."""
        candidates = [(curve.pair(), times) for curve, times in self.parts]
        pairs = [
            (pair, times)
            for pair, times in candidates
            if pair is not None and pair.loss_range(1e-30)[1] < _LARGEST_NUMERIC_LOSS
        ]
        return pairs if len(pairs) == len(candidates) else None

    @cached_property
    def _atoms(self) -> AtomicPair | None:
        """The product of all pairs, if it has a moderate number of outcomes."""
        if self._pairs is None:
            return None
        atomic = [(pair, times) for pair, times in self._pairs if isinstance(pair, AtomicPair)]
        return product_pair(atomic) if len(atomic) == len(self._pairs) else None

    @cached_property
    def _directions(self) -> list[list[tuple[DominatingPair, int]]]:
        """The parts' pairs with the unit removed from all of them, and with it added; one list if both agree."""
        assert self._pairs is not None
        ways = [(pair.directions, times) for pair, times in self._pairs]
        count = max(len(directions) for directions, _ in ways)
        return [
            [(directions[min(direction, len(directions) - 1)], n) for directions, n in ways]
            for direction in range(count)
        ]

    @cached_property
    def _spacing(self) -> float:
        """A spacing of the grid that is fine enough for every direction of every part."""
        return self._suitable_spacing(LARGEST_PART)

    def _suitable_spacing(self, points: int) -> float:
        # Atoms that lie on the grid are exact, so the spacing divides those of the most frequent part.
        each = [(times, pair) for direction in self._directions for pair, times in direction]
        steps = [(times, pair.lattice) for times, pair in each if pair.lattice]
        steps = steps or [(times, pair.crowd) for times, pair in each if pair.crowd]
        atom = max(steps)[1] if steps else None
        return min(suitable_spacing(direction, atom=atom, points=points) for direction in self._directions)

    def loss_distribution(self, *, spacing: float, lower: bool = False) -> LossDistribution | None:
        """The convolution of the parts' loss distributions."""
        distributions = [
            (curve.loss_distribution(spacing=spacing, lower=lower), times) for curve, times in self.parts
        ]
        whole = [(each, times) for each, times in distributions if each is not None]
        if len(whole) < len(distributions):
            return None
        return whole[0][0].convolve_with(whole[1:], times=whole[0][1])

    @cached_property
    def _sums(self) -> PrivacyCurve | None:
        """The curve of the sum, outcome by outcome or on a grid that is transformed where it is needed."""
        if self._pairs is None:
            return None
        if self._atoms is not None:
            return AtomicSum(self._atoms)
        return LossSums([LossSum(direction, self._spacing) for direction in self._directions])

    @cached_property
    def upper(self) -> LossDistribution | None:
        """The loss distribution on a grid chosen for these parts; None if some part has no pair."""
        return self.loss_distribution(spacing=self._spacing) if self._pairs is not None else None

    @cached_property
    def lower(self) -> LossDistribution | None:
        """A lower bound on the losses: no accountant can prove less than this about the parts' pairs."""
        if self._pairs is None:
            return None
        # The lower side has the larger error: as fine as fits, and half of that where it leaves room for the sum.
        spacing = self._suitable_spacing(LARGEST_GRID)
        ranges = [pair.loss_range(1e-30) for direction in self._directions for pair, _ in direction]
        has_room = max(high - low for low, high in ranges) < spacing * LARGEST_GRID / 16
        return self.loss_distribution(spacing=spacing / 2 if has_room else spacing, lower=True)

    def bracket(self, delta: float) -> tuple[float, float]:
        """Epsilon at this delta from below and from above, both certified."""
        return (0.0 if self.lower is None else self.lower.epsilon(delta)), self.epsilon(delta)

    # Every bound that holds, and the least of them.

    @cached_property
    def _bounds(self) -> tuple[PrivacyCurve, ...]:
        bounds: list[PrivacyCurve] = []
        pure = self.as_pure()
        if self._sums is not None:
            bounds.append(self._sums)
        if pure is not None and pure <= PureDP.LARGEST:
            bounds.append(PureDP(pure))
        if self._sums is None or not self.pair_is_tight:
            bounds += self._renyi_bounds()
        if not bounds:
            kinds = ", ".join(sorted({curve.kind for curve, _ in self.parts}))
            raise ParameterError(
                f"no bound covers {kinds} together; charge each as one entry: point(curve, delta)"
            )
        return tuple(bounds)

    def _renyi_bounds(self) -> list[PrivacyCurve]:
        """Bounds by Renyi divergences, after deltas of the parts are set aside."""
        separated = [(*curve.without_delta(), times) for curve, times in self.parts]
        delta = sum((lost * times for _, lost, times in separated), Fraction(0))
        without_deltas = (
            self if delta == 0 else Composed(tuple((curve, times) for curve, _, times in separated))
        )
        bounds: list[PrivacyCurve] = []
        rho = without_deltas.as_zcdp()
        if rho is not None and rho <= ZCDP.LARGEST:
            bounds.append(ZCDP(rho))
        at_best_order = BestOrder(without_deltas.renyi)
        if at_best_order.proves_something:
            bounds.append(at_best_order)
        return bounds if delta == 0 else [WithSlack(bound, 0, delta) for bound in bounds if delta < 1]

    def delta(self, epsilon: float) -> float:
        """The least delta over the bounds that hold."""
        return min(bound.delta(epsilon) for bound in self._bounds)

    def deltas(self, epsilons: Points) -> NDArray[np.float64]:
        """The least over the bounds at each point."""
        return np.asarray(np.min([bound.deltas(epsilons) for bound in self._bounds], axis=0))

    def epsilon(self, delta: float) -> float:
        """The least epsilon over the bounds that hold."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        return 0.0 if delta == 1.0 else min(bound.epsilon(delta) for bound in self._bounds)

    def both_deltas(self, epsilons: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each direction by the least of all bounds."""
        deltas = [bound.both_deltas(epsilons) for bound in self._bounds]
        removed, added = (np.min([pair[direction] for pair in deltas], axis=0) for direction in (0, 1))
        return np.asarray(removed), np.asarray(added)

    def pair(self) -> DominatingPair | None:
        """The product: its outcomes, or its loss distribution on a grid."""
        if self._atoms is not None:
            return self._atoms
        return None if self.upper is None else self.upper.pair()

    def group(self, size: int) -> PrivacyCurve:
        """The composition of the parts' groups."""
        return compose([compose([curve.group(size)], times=times) for curve, times in self.parts])

    def to_replace(self) -> PrivacyCurve:
        """The rule for the whole if its outcomes can be listed or no part has a rule of its own; else part by part."""
        if self._atoms is not None:
            return GroupReplace(self)
        parts = [(curve.to_replace(), times) for curve, times in self.parts]
        if any(isinstance(curve, GroupReplace) for curve, _ in parts):
            return GroupReplace(self)
        return compose([compose([curve], times=times) for curve, times in parts])

    def either_way(self) -> PrivacyCurve:
        """Each part may point in a direction of its own."""
        return compose([compose([curve.either_way()], times=times) for curve, times in self.parts])

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {"kind": self.kind, "parts": [[curve.to_json(), times] for curve, times in self.parts]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Composed:
        """The composition of the stored parts."""
        stored = require_fields(cls.__name__, data, ("parts",))["parts"]
        return cls(tuple((curve_from_json(curve), times) for curve, times in stored))

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{curve!r} x {times}" if times > 1 else repr(curve) for curve, times in self.parts
        )
        return f"Composed({inside})"


@checked
def compose(curves: Iterable[PrivacyCurve], *, times: int = 1) -> PrivacyCurve:
    """The curve of all of these releases together, the whole list `times` times over; parameters fixed in advance.

    Closed forms are used where they lose nothing, numerical composition of privacy losses where they would; the
    result never lies below the truth.

    Parameters
    ----------
    curves : iterable of PrivacyCurve
        One for each release, all for the same neighbours.
    times : int
        How often the whole list is released.

    Returns
    -------
    PrivacyCurve
        An upper bound for all of them together.

    Examples
    --------
    >>> from holdfast.privacy._curves.gaussian import GaussianDP
    >>> compose([GaussianDP(Fraction(1, 3))], times=9)
    GaussianDP(mu=1)
    """
    require(isinstance(times, int) and times >= 1, "times", times, "a whole number >= 1")
    parts: list[tuple[PrivacyCurve, int]] = []
    slack = [Fraction(0)] * 3
    for curve in curves:
        # Slack adds up beside the curves, each kind by itself (soundness, section 21).
        bare, own = bare_and_slack(curve)
        slack = [total + times * amount for total, amount in zip(slack, own, strict=True)]
        parts += [
            (part, n * times) for part, n in (bare.parts if isinstance(bare, Composed) else ((bare, 1),))
        ]
    require(len(parts) > 0, "curves", 0, "one or more")
    parts = _parts_counted_together(parts)
    whole = parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else Composed(tuple(parts))
    if not any(slack):
        return whole
    require(max(slack) < 1, "slack", float(max(slack)), "below 1 in total")
    return WithSlack(whole, *slack)


def _parts_counted_together(parts: list[tuple[PrivacyCurve, int]]) -> list[tuple[PrivacyCurve, int]]:
    """The parts with closed forms merged into one and equal curves counted together."""
    merged: list[tuple[PrivacyCurve, int]] = []
    for curve, times in parts:
        closed = curve.merge_copies(times)
        candidate, n = (curve, times) if closed is None else (closed, 1)
        for place, (other, count) in enumerate(merged):
            together = other.merge(candidate) if closed is not None and count == 1 else None
            if together is not None:
                merged[place] = (together, 1)
                break
            if closed is None and type(other) is type(candidate) and other == candidate:
                merged[place] = (other, count + n)
                break
        else:
            merged.append((candidate, n))
    return merged


def point(curve: PrivacyCurve, delta: float) -> ApproxDP:
    """One (epsilon, delta) point of a curve, to charge a whole plan as one entry.

    >>> point(PureDP(0.5).repeat(10), 1e-6).as_approximate()[0] < 5
    True
    """
    epsilon = curve.epsilon(delta)
    require(math.isfinite(epsilon), "delta", delta, "large enough that the curve proves some epsilon there")
    return ApproxDP(round_up(epsilon), delta)
