"""Schedule: how an adaptive synthesiser divides its budget, from public quantities only.

The numbers were chosen on Adult (benchmarks/synth_tuning.py) at epsilon 0.1, 1 and 10. What they depend on is the
*strength* n sqrt(rho) / sensitivity: n over the noise that the whole budget would leave on one table, up to sqrt(2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast.errors import require

#: Of a round's budget, what measuring takes; the rest selects (McKenna et al. 2022 use the same).
MEASURE = 0.9
#: A sweep for less than this share of the budget is left out.
LEAST_SWEEP = 0.1
MOST_SWEEP = 0.9


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Shares of the budget, and the number of rounds it is first divided into."""

    one_way: float
    """Of what is left after the sweep, for the 1-way tables."""
    sweep: float
    """Of the whole, for the workload's own tables at the end."""
    rounds: int
    """The most rounds there can be; annealing makes them fewer."""

    def __post_init__(self) -> None:
        require(0 < self.one_way <= 1, "one_way", self.one_way, "in (0, 1]")
        require(0 <= self.sweep < 1, "sweep", self.sweep, "in [0, 1)")
        require(self.rounds >= 1, "rounds", self.rounds, ">= 1")

    @classmethod
    def of(cls, strength: float, *, columns: int, tables: int) -> Schedule:
        """The schedule for so many columns and so many workload tables that a sweep would measure.

        Adult at epsilon 1, where n sqrt(rho) is 5,977, with its 64 tables:

        >>> Schedule.of(5977.0, columns=14, tables=64)
        Schedule(one_way=0.16, sweep=0.3, rounds=50)
        """
        # A sweep over K tables is worth its share where n stands well above its noise, n sqrt(rho / K) >> 1: none at
        # a quotient of 260, three tenths at 750, nine tenths from 6,300 on.
        apart = strength / math.sqrt(tables) if tables else 0.0
        sweep = 0.65 * math.log10(apart / 258.0) if apart > 258.0 else 0.0
        sweep = 0.0 if sweep < LEAST_SWEEP else min(MOST_SWEEP, round(sweep, 2))
        left = strength * math.sqrt(1.0 - sweep)
        return cls(
            one_way=round(min(0.5, max(0.1, 11.5 / math.sqrt(max(left, 1.0)))), 2),
            sweep=sweep,
            rounds=max(1, round(columns * min(4.0, max(0.5, math.sqrt(left) / 20.0)))),
        )
