"""The records that get weights: all possible records where they are few, else a sample from noisy one-way tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast._options import OptionGroup
from holdfast.errors import require
from holdfast.privacy._account import Account
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.dense import universe_size
from holdfast.synth._models.model import Measurement
from holdfast.synth._models.product import ProductModel
from holdfast.synth._models.universe import AllCells, SampledSupport, Universe
from holdfast.synth.methods.measure import measure_tables

#: The most possible records that all get a weight; of more, a sample is drawn.
HELD_CELLS = 2**20
SUPPORT_RECORDS = 100_000
START_SHARE = 0.1
"""The share of the budget for the one-way tables from which a sample of records is drawn."""


@dataclass(frozen=True, kw_only=True, eq=False)
class InitialUniverse:
    """The records that get weights, the tables measured to draw them, and the account that is left."""

    universe: Universe
    account: Account
    measurements: tuple[Measurement, ...] = ()

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says: all records or a sample, and how many."""
        kind = "sampled" if self.measurements else "all"
        return {"universe": kind, "points": self.universe.size}


@dataclass(frozen=True, kw_only=True)
class UniverseOptions(OptionGroup):
    """Options: up to how many records all are used, how many are drawn where there are more, and for which share."""

    held: int = HELD_CELLS
    support: int = SUPPORT_RECORDS
    share: float = START_SHARE

    def __post_init__(self) -> None:
        require(0 < self.share < 1, "share", self.share, "in (0, 1)")
        require(self.support >= 1, "support", self.support, ">= 1")


DEFAULT_UNIVERSE = UniverseOptions()


def initial_universe(
    data: ExactCounts, *, account: Account, options: UniverseOptions = DEFAULT_UNIVERSE
) -> InitialUniverse:
    """All records if there are at most `held`; else `support` records with independent, noisy columns.

    Which of the two depends on the declared domain only. A sample can say nothing about records it does not hold:
    quote the certificate (soundness, section 10), not the theorem for the whole universe.
    """
    if universe_size(data.domain) <= options.held:
        return InitialUniverse(universe=AllCells(data.domain, most_cells=options.held), account=account)
    for_tables, rest = account.split(options.share, round(1.0 - options.share, 12))
    one_way = measure_tables(
        data, [(name,) for name in data.names], account=for_tables, label="one-way tables"
    )
    model = independent_start(one_way, float(max(1, data.public_count)))
    return InitialUniverse(
        universe=SampledSupport(data.domain, model.sample(options.support, account.source)),
        account=rest,
        measurements=one_way,
    )


def independent_start(one_way: tuple[Measurement, ...], total: float) -> ProductModel:
    """Independent columns from noisy one-way tables; every cell keeps a little weight, even if its count is <= 0."""
    columns = {}
    for entry in one_way:
        counts = np.maximum(entry.values, 0.0)
        counts += 0.01 * max(1.0, counts.sum()) / counts.size
        columns[entry.columns[0]] = counts
    return ProductModel(columns=columns, total=total)
