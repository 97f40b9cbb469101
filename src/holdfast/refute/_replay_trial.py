"""ReplayTrial: replays on many pairs of neighbours and after many prefixes, and a search for the largest distance.

A distance above 1, in units of the declared sensitivity, refutes the case, and so does any disagreement; no chance is
spent. The largest distance that is reached is the trial's power: at 1, any understated sensitivity would have been
seen.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from holdfast.noise._source import Source
from holdfast.refute._prefixes import MAGNITUDES, Prefix, hostile_prefixes
from holdfast.refute._replay import TOLERANCE, ReplayCase, RunComparison, World, replay_on_neighbour
from holdfast.refute._trial import Outcome, Test

REQUIRED_POWER = 0.98
"""The distance that a trial must reach; a trial that stays below it is called weak."""


@dataclass(frozen=True, kw_only=True)
class ReplayTrial:
    """Replays of one case."""

    case: ReplayCase
    pairs: int = 24
    climbs: int = 60
    spends: bool = False
    test: Test = "replay"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Try the pairs of the case, then search near the farthest ones."""
        random = np.random.Generator(np.random.PCG64(int(source.words(1)[0])))
        search = _Search(case=self.case)
        refutation = search.try_pairs(random, self.pairs) or search.climb(random, self.climbs)
        best_by_kind = {kind: best for kind, (best, _, _) in sorted(search.best.items())}
        reached = max(best_by_kind.values(), default=0.0)
        parts = ", ".join(f"{kind} {best:.3f}" for kind, best in best_by_kind.items())
        if refutation:
            return Outcome(
                test="replay",
                what=self.case.name,
                statistic=max(reached, refutation.largest),
                bound=1.0 + TOLERANCE,
                error=0.0,
                detail=f"{refutation.disagreement}; {search.tried} replays",
                reached=best_by_kind,
                raised=refutation.raised,
            )
        return Outcome(
            test="replay",
            what=self.case.name,
            statistic=reached,
            bound=1.0 + TOLERANCE,
            error=0.0,
            detail=f"{search.tried} replays, farthest: {parts or 'nothing was released'}",
            reached=best_by_kind,
        )


class _Search:
    """The farthest pair of each kind of release, with the prefix of outputs under which it was found."""

    def __init__(self, case: ReplayCase) -> None:
        self.case = case
        self.best: dict[str, tuple[float, tuple[World, World], Prefix]] = {}
        self.tried = 0

    def try_pairs(self, random: np.random.Generator, count: int) -> RunComparison | None:
        """Replay pairs with drawn outputs, with huge ones and with one more prefix; return the first that refutes."""
        prefixes = itertools.cycle(hostile_prefixes())
        huge_outputs = [
            Prefix(kind="constant", size=size, after=after) for after in (1, 0) for size in (1e4, -1e4)
        ]
        for place, pair in enumerate(itertools.islice(self.case.pairs(random), count)):
            if 2 * place >= count and all(best >= REQUIRED_POWER for best, _, _ in self.best.values()):
                return None  # the rest is for those that have not come near their bound yet
            # A row of the first class meets weights that are sure of another.
            sure_of_another_class = (
                [Prefix(kind="classes", size=MAGNITUDES[-1], after=1)] if place == 0 else []
            )
            for prefix in (
                Prefix(kind="drawn", seed=place),
                huge_outputs[place % 4],
                next(prefixes),
                *sure_of_another_class,
            ):
                # Every third pair is recorded on the neighbour and replayed on the first table.
                refutation = self._replay(pair, prefix, swapped=place % 3 == 1)
                if refutation is not None:
                    return refutation
        return None

    def climb(self, random: np.random.Generator, count: int) -> RunComparison | None:
        """Vary the farthest pair of each kind of release that is still below the required power."""
        prefixes = list(hostile_prefixes())
        for round_number in range(count):
            weak_kinds = sorted(
                (best, kind) for kind, (best, _, _) in self.best.items() if best < REQUIRED_POWER
            )
            if not weak_kinds:
                return None
            _, pair, prefix = self.best[weak_kinds[round_number % len(weak_kinds)][1]]
            if random.random() < 0.3:
                prefix = prefixes[int(random.integers(len(prefixes)))]
            if random.random() < 0.3:  # other coins: who is in a batch, and in which place
                prefix = replace(prefix, seed=int(random.integers(2**31)))
            if random.random() < 0.9:
                pair = self.case.vary(random, pair)
            refutation = self._replay(pair, prefix)
            if refutation is not None:
                return refutation
        return None

    def _replay(
        self, pair: tuple[World, World], prefix: Prefix, *, swapped: bool = False
    ) -> RunComparison | None:
        first, second = reversed(pair) if swapped else pair
        comparison = replay_on_neighbour(self.case, first, second, seed=prefix.seed, tape=prefix.tape)
        self.tried += 1
        for kind, distance in comparison.distances.items():
            if distance > self.best.get(kind, (-1.0,))[0] and math.isfinite(distance):
                self.best[kind] = distance, pair, prefix
        return comparison if comparison.disagreement else None
