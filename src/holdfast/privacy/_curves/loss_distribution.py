"""LossDistribution: the distribution of the privacy loss on a grid, rounded outwards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arguments import checked
from holdfast._stored_fields import require_fields
from holdfast.errors import ParameterError, require
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._losses import discretise
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.fft_compose import convolve
from holdfast.privacy._losses.grid_losses import LARGEST_GRID, GridLosses
from holdfast.privacy._losses.pairs import LaplacePair, NormalPair, PairOfGrids
from holdfast.privacy._losses.steps import symmetric_envelope
from holdfast.privacy._tradeoff import Points

if TYPE_CHECKING:
    from holdfast.privacy._losses.dominating_pair import DominatingPair
    from holdfast.privacy._tradeoff import TradeOff


@checked
@dataclass(frozen=True, eq=False, repr=False)
class LossDistribution(PrivacyCurve):
    """Distributions of the privacy loss on a grid, one for each direction of the neighbour relation.

    An upper one dominates the mechanism: every delta it gives holds, with truncation, wrap-around and
    rounding inside the number. Its twin, `lower=True`, stays below the pair it was made from, so that
    the two bracket the truth.

    Parameters
    ----------
    directions : tuple
        The losses on their grids when a unit is removed and when it is added; one if it stands for both. `of`,
        `from_atoms`, `gaussian` and `laplace` make them.

    Examples
    --------
    >>> sides = [LossDistribution.gaussian(1.0, spacing=1e-3, lower=lower) for lower in (True, False)]
    >>> [round(side.epsilon(1e-6), 4) for side in sides]
    [4.8866, 4.8866]
    """

    directions: tuple[GridLosses, ...]

    def __post_init__(self) -> None:
        require(1 <= len(self.directions) <= 2, "directions", len(self.directions), "one or two")
        sides = {direction.is_lower for direction in self.directions}
        require(len(sides) == 1, "directions", sides, "all upper or all lower")

    @classmethod
    def of(cls, pair: DominatingPair, *, spacing: float, lower: bool = False) -> LossDistribution:
        """Both directions of the pair (one, if it is symmetric) on a grid of this `spacing`.

        Rounded down for the `lower` twin.
        """
        require(spacing > 0 and math.isfinite(spacing), "spacing", spacing, "> 0 and finite")
        place_on_grid = discretise.lower if lower else discretise.upper
        return cls(tuple(place_on_grid(direction, spacing) for direction in pair.directions))

    @classmethod
    def from_atoms(
        cls,
        losses: ArrayLike,
        probabilities: ArrayLike,
        *,
        infinity: float = 0.0,
        spacing: float,
        lower: bool = False,
    ) -> LossDistribution:
        """Finitely many losses with the unit's law; each is split between its two neighbours on the grid.

        Parameters
        ----------
        losses, probabilities : array_like
            Each loss and its probability under the unit's law.
        infinity : float
            The probability of outcomes that are impossible without the unit.
        spacing : float
            The spacing of the grid.
        lower : bool
            Whether to round down: the twin that proves nothing but shows how tight the other is.

        Returns
        -------
        LossDistribution
            The losses on the grid.

        Examples
        --------
        >>> coin = LossDistribution.from_atoms([0.5, -0.5], [0.622459, 0.377541], spacing=0.3)
        >>> coin.epsilon(1e-9) <= 0.6
        True
        """
        pair = AtomicPair(np.asarray(losses, np.float64), np.asarray(probabilities, np.float64), infinity)
        return cls.of(pair.as_symmetric(), spacing=spacing, lower=lower)

    @classmethod
    def gaussian(cls, mu: float, *, spacing: float, lower: bool = False) -> LossDistribution:
        """N(mu, 1) against N(0, 1) on a grid of this `spacing`; rounded down for the `lower` twin."""
        if mu == 0.0:
            return cls.from_atoms([0.0], [1.0], spacing=spacing, lower=lower)
        return cls.of(NormalPair(mu), spacing=spacing, lower=lower)

    @classmethod
    def laplace(cls, ratio: float, *, spacing: float, lower: bool = False) -> LossDistribution:
        """Laplace noise with ratio = l1 sensitivity / scale, on a grid of this `spacing`.

        Rounded down for the `lower` twin.
        """
        require(0 < ratio < math.inf, "ratio", ratio, "> 0 and finite")
        return cls.of(LaplacePair(float(ratio)), spacing=spacing, lower=lower)

    @property
    def is_lower(self) -> bool:
        """Whether this is the optimistic twin, which proves nothing but shows how tight the other is."""
        return self.directions[0].is_lower

    @property
    def spacing(self) -> float:
        """The spacing of the grid."""
        return max(direction.spacing for direction in self.directions)

    @property
    def infinity(self) -> float:
        """The mass at infinity: no epsilon is proved below this delta."""
        return max(direction.infinity for direction in self.directions)

    def delta(self, epsilon: float) -> float:
        """The larger of both directions."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Points) -> NDArray[np.float64]:
        """The larger of both directions at each point."""
        return np.maximum(*self.both_deltas(epsilons))

    def both_deltas(self, epsilons: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each direction from its own grid."""
        deltas = [direction.deltas(epsilons) for direction in self.directions]
        return deltas[0], deltas[-1]

    def epsilon(self, delta: float) -> float:
        """The larger of both directions, by suffix sums."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        return max(direction.epsilon(delta) for direction in self.directions)

    def renyi(self, order: float) -> float:
        """Log E e^((order - 1) loss) / (order - 1); infinite where mass sits at infinity."""
        if self.is_lower or self.infinity > 0 or not 1 < order < math.inf:
            return math.inf
        worst = 0.0
        for direction in self.directions:
            with np.errstate(divide="ignore"):
                exponents = np.log(direction.masses) + (order - 1) * direction.losses
            top = float(np.max(exponents))
            moment = top + math.log(float(np.sum(np.exp(exponents - top))))
            worst = max(worst, moment / (order - 1) + direction.loss_error)
        return worst * (1 + 1e-12)

    def convolve_with(
        self, others: Sequence[tuple[LossDistribution, int]], *, times: int = 1
    ) -> LossDistribution:
        """This one so many `times` and the `others`, each as often as said, directions kept apart."""
        everything = [(self, times), *others]
        require(
            len({each.is_lower for each, _ in everything}) == 1, "others", "...", "all upper or all lower"
        )
        count = max(len(each.directions) for each, _ in everything)
        return LossDistribution(
            tuple(
                convolve(
                    [(each.directions[min(direction, len(each.directions) - 1)], n) for each, n in everything]
                )
                for direction in range(count)
            )
        )

    def merge(self, other: PrivacyCurve) -> LossDistribution | None:
        """The convolution of both, if they are on the same grid."""
        same = isinstance(other, LossDistribution) and abs(other.spacing / self.spacing - 1) < 1e-9
        return self.convolve_with([(other, 1)]) if same and isinstance(other, LossDistribution) else None

    def merge_copies(self, times: int) -> LossDistribution:
        """The convolution with itself."""
        return self if times == 1 else self.convolve_with([], times=times)

    def pair(self) -> DominatingPair | None:
        """The pair of the grids' atoms; None for a lower distribution."""
        if self.is_lower:
            return None
        directions = [direction.as_pair() for direction in self.directions]
        return PairOfGrids(directions[0], directions[-1])

    def either_way(self) -> LossDistribution:
        """The symmetrised pair, on the same grid."""
        if len(self.directions) == 1:
            return self
        pair = symmetric_envelope([direction.as_pair() for direction in self.directions])
        return LossDistribution.of(pair, spacing=self.spacing)

    def loss_distribution(self, *, spacing: float, lower: bool = False) -> LossDistribution:
        """The distribution on a grid of this spacing."""
        if lower != self.is_lower:
            raise ParameterError(
                "a lower loss distribution cannot become an upper one or the reverse; rebuild it"
            )
        if abs(spacing / self.spacing - 1) < 1e-9:
            return self
        place_on_grid = discretise.lower if lower else discretise.upper
        return LossDistribution(
            tuple(place_on_grid(direction.as_pair(), spacing) for direction in self.directions)
        )

    def trade_offs(self) -> tuple[TradeOff, ...]:
        """A trade-off curve for each direction; exact also for mechanisms that are not symmetric."""
        from holdfast.privacy._tradeoff import TradeOff

        curves = []
        for direction in self.directions:
            losses = direction.losses
            reach = max(abs(float(losses[0])), abs(float(losses[-1])), 1e-6)
            positive_epsilons = np.geomspace(min(direction.spacing, reach / 2), min(reach, 690.0), 400)
            epsilons = np.concatenate([-positive_epsilons[::-1], [0.0], positive_epsilons])
            curves.append(TradeOff.from_one_sided(epsilons, direction.deltas(epsilons)))
        return tuple(curves)

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {
            "kind": self.kind,
            "directions": [
                {
                    "spacing": direction.spacing,
                    "first": direction.first,
                    "masses": direction.masses.tolist(),
                    "infinity": direction.infinity,
                    "loss_error": direction.loss_error,
                    "is_lower": direction.is_lower,
                }
                for direction in self.directions
            ],
        }  # the second bound of a heavy tail is not stored: what is stored holds without it

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LossDistribution:
        """The distribution of these fields."""
        names = ("spacing", "first", "masses", "infinity", "loss_error", "is_lower")
        stored = require_fields(cls.__name__, data, ("directions",))
        directions = [
            require_fields("direction of losses", direction, names) for direction in stored["directions"]
        ]
        for direction in directions:
            require(
                len(direction["masses"]) <= 2 * LARGEST_GRID,
                "masses",
                len(direction["masses"]),
                "a grid of allowed size",
            )
        return cls(
            tuple(
                GridLosses(
                    float(direction["spacing"]),
                    int(direction["first"]),
                    np.array(direction["masses"], dtype=np.float64),
                    float(direction["infinity"]),
                    float(direction["loss_error"]),
                    bool(direction["is_lower"]),
                )
                for direction in directions
            )
        )

    def __repr__(self) -> str:
        side = "lower" if self.is_lower else "upper"
        sizes = ", ".join(str(direction.masses.size) for direction in self.directions)
        return f"LossDistribution({side}, spacing={self.spacing:g}, points={sizes})"
