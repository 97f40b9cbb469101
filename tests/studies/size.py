"""How many trials a study makes: all of them under HOLDFAST_DEEP=1 (`make deep`), else a share, mostly a tenth.

What a study may find follows from the number of its trials: `most` is an exact quantile of the binomial law, so
that fewer trials have a bound of their own and no constant is widened for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

SHARE = 10


def deep() -> bool:
    """Whether this is a run at full size."""
    return os.environ.get("HOLDFAST_DEEP", "") not in ("", "0")


def trials(full: int, *, share: int = SHARE) -> int:
    """The full number, or one in so many of it.

    >>> trials(2000) in (200, 2000)
    True
    """
    return full if deep() else -(-full // share)


def most(rate: float, runs: int, *, chance: float) -> int:
    """The most events that `runs` trials of this rate may show: more happen with at most this chance.

    >>> most(0.05, 2000, chance=0.03), most(0.05, 200, chance=0.03)
    (119, 16)
    """
    from scipy.stats import binom

    return int(binom.ppf(1.0 - chance, runs, rate))


@dataclass(frozen=True)
class Study:
    """What one test notes of its trials; under HOLDFAST_DEEP=1 it is kept (see `results`)."""

    keep: Callable[[str, object], None]

    def note(self, **found: float | int | str) -> None:
        """Numbers by name: how many trials, what came out, and what was allowed."""
        # NumPy's numbers do not travel between processes.
        self.keep("study", {name: getattr(one, "item", lambda one=one: one)() for name, one in found.items()})

    def alarms(self, found: int, *, rate: float, runs: int, chance: float) -> None:
        """So many alarms in so many trials must be possible at this rate."""
        allowed = most(rate, runs, chance=chance)
        self.note(trials=runs, alarms=found, allowed=allowed, rate=rate)
        assert found <= allowed, f"{found} alarms in {runs} trials; a rate of {rate:g} allows {allowed}"
