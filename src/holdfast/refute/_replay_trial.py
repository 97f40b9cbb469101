"""ReplayTrial: many neighbours and many pasts, and a climb towards the largest distance.

No chance is spent: a distance above 1, or anything that disagrees, refutes. What survives is worth as much as the
largest distance that was found: 1 means that any understated sensitivity would have been seen. That number is the
trial's power.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from holdfast.noise._source import Source
from holdfast.refute._prefixes import MAGNITUDES, Prefix, hostile
from holdfast.refute._replay import TOLERANCE, Compared, Setup, World, replayed_on
from holdfast.refute._trial import Outcome, Test

POWER = 0.98
"""The distance that a trial must reach; one that does not is called weak."""


@dataclass(frozen=True, kw_only=True)
class ReplayTrial:
    """Replays of one case."""

    case: Setup
    pairs: int = 24
    climbs: int = 60
    spends: bool = False
    test: Test = "replay"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Try the pairs, then climb from the farthest ones."""
        random = np.random.Generator(np.random.PCG64(int(source.words(1)[0])))
        search = _Search(case=self.case)
        found = search.over(random, self.pairs) or search.climb(random, self.climbs)
        kinds = {kind: best for kind, (best, _, _) in sorted(search.best.items())}
        reached = max(kinds.values(), default=0.0)
        parts = ", ".join(f"{kind} {best:.3f}" for kind, best in kinds.items())
        if found:
            return Outcome(
                test="replay",
                what=self.case.name,
                statistic=max(reached, found.largest),
                bound=1.0 + TOLERANCE,
                error=0.0,
                detail=f"{found.disagreement}; {search.tried} replays",
                reached=kinds,
                raised=found.raised,
            )
        return Outcome(
            test="replay",
            what=self.case.name,
            statistic=reached,
            bound=1.0 + TOLERANCE,
            error=0.0,
            detail=f"{search.tried} replays, farthest: {parts or 'nothing was released'}",
            reached=kinds,
        )


class _Search:
    """The farthest pair of each kind of release, with the past under which it was found."""

    def __init__(self, case: Setup) -> None:
        self.case = case
        self.best: dict[str, tuple[float, tuple[World, World], Prefix]] = {}
        self.tried = 0

    def over(self, random: np.random.Generator, count: int) -> Compared | None:
        """The case's own pairs: drawn outputs, huge ones, and one more past each; the first that refutes."""
        pasts = itertools.cycle(hostile())
        huge = [Prefix(kind="constant", size=size, after=after) for after in (1, 0) for size in (1e4, -1e4)]
        for place, pair in enumerate(itertools.islice(self.case.pairs(random), count)):
            if 2 * place >= count and all(best >= POWER for best, _, _ in self.best.values()):
                return None  # the rest is for those that have not come near their bound yet
            # A row of the first class meets weights that are sure of another.
            sure = [Prefix(kind="classes", size=MAGNITUDES[-1], after=1)] if place == 0 else []
            for prefix in (Prefix(kind="drawn", seed=place), huge[place % 4], next(pasts), *sure):
                # Every third is recorded on the other side: then the past is one of the neighbour's.
                found = self._look(pair, prefix, turned=place % 3 == 1)
                if found is not None:
                    return found
        return None

    def climb(self, random: np.random.Generator, count: int) -> Compared | None:
        """From the farthest pair of whatever kind is still below the power that is wanted."""
        pasts = list(hostile())
        for turn in range(count):
            low = sorted((best, kind) for kind, (best, _, _) in self.best.items() if best < POWER)
            if not low:
                return None
            _, pair, prefix = self.best[low[turn % len(low)][1]]
            if random.random() < 0.3:
                prefix = pasts[int(random.integers(len(pasts)))]
            if random.random() < 0.3:  # other coins: who is in a batch, and in which place
                prefix = replace(prefix, seed=int(random.integers(2**31)))
            if random.random() < 0.9:
                pair = self.case.vary(random, pair)
            found = self._look(pair, prefix)
            if found is not None:
                return found
        return None

    def _look(self, pair: tuple[World, World], prefix: Prefix, *, turned: bool = False) -> Compared | None:
        first, second = reversed(pair) if turned else pair
        seen = replayed_on(self.case, first, second, seed=prefix.seed, tape=prefix.tape)
        self.tried += 1
        for kind, distance in seen.distances.items():
            if distance > self.best.get(kind, (-1.0,))[0] and math.isfinite(distance):
                self.best[kind] = distance, pair, prefix
        return seen if seen.disagreement else None
