"""Recomputed: what the recorded mechanisms cost by the accountant of this version.

Entries hold every parameter of every mechanism, so nobody has to trust the version of the accountant
that computed the recorded costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from holdfast.errors import HoldfastError
from holdfast.ledger._dataset import Dataset
from holdfast.ledger._entry import canonical
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._account.journal import Charge, add_up
from holdfast.privacy._curves.composition import compose
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._mechanisms import mechanism_from_json
from holdfast.privacy._mechanisms.mechanism import Mechanism


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """What was charged, what it costs by this version's proofs, and all of it composed at once.

    The composed curve is for information and not the guarantee: charges that were chosen after seeing
    results are covered by the dataset's limit (soundness, section 19).
    """

    dataset: Dataset
    charges: int
    recorded: Cost
    recomputed: Cost
    composed: PrivacyCurve | None
    problems: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether no charge was too small by this version's proofs."""
        return not self.problems and self.recomputed.fits(self.recorded)

    def summary(self) -> str:
        """Both totals, and the composition as (epsilon, delta)."""
        currency = self.dataset.currency
        lines = [
            f"{self.dataset.name}: {self.charges} charges",
            f"  recorded   {currency.promise(self.recorded)!r}",
            f"  recomputed {currency.promise(self.recomputed)!r}",
        ]
        if self.composed is not None:
            points = ", ".join(self.composed.point_words(delta) for delta in (1e-5, 1e-6))
            lines.append(f"  composed as a fixed plan: {points} (a reading; the guarantee is the limit)")
        return "\n".join(lines + [f"  PROBLEM: {problem}" for problem in self.problems])


def recompute(dataset: Dataset, charges: Iterable[tuple[int, Charge]]) -> Recomputed:
    """Compute the cost of every recorded mechanism again, in the dataset's currency."""
    recorded_total = recomputed_total = dataset.currency.nothing
    problems: list[str] = []
    costs: dict[tuple[str, int, tuple[str, ...]], Cost] = {}
    uses: Counter[Mechanism] = Counter()
    count = 0
    for number, charge in charges:
        count += 1
        recorded_total = add_up(recorded_total, charge.cost)
        use = (canonical(charge.mechanism), charge.times, tuple(charge.cost.to_json()))
        try:
            mechanism = mechanism_from_json(charge.mechanism)
            if use not in costs:
                costs[use] = dataset.currency.cost(
                    mechanism, charge.times, delta=_delta(dataset, charge.cost)
                )
        except HoldfastError as error:
            problems.append(f"entry {number}: {error}")
            continue
        uses[mechanism] += charge.times
        recomputed_total = add_up(recomputed_total, costs[use])
        if not costs[use].fits(charge.cost):
            problems.append(f"entry {number} was charged less than its mechanism costs")
    composed = (
        compose([mechanism.curve_of_uses(times) for mechanism, times in uses.items()]) if uses else None
    )
    return Recomputed(
        dataset=dataset,
        charges=count,
        recorded=recorded_total,
        recomputed=recomputed_total,
        composed=composed,
        problems=tuple(problems[:20]),
    )


def _delta(dataset: Dataset, cost: Cost) -> float | None:
    """The delta at which a charge under basic composition was made, from its cost; None in other currencies."""
    if dataset.currency.name != "basic" or cost.amounts[1] == Fraction(0):
        return None
    return float(cost.amounts[1])
