"""Independent columns: a noisy table of counts for each, and nothing about pairs. The baseline of every comparison."""

from __future__ import annotations

import numpy as np

from holdfast.data._sensitivity import counts_l1, counts_l2
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.model import Measurement, on_simplex
from holdfast.synth._models.product import ProductModel
from holdfast.synth._workload import Workload
from holdfast.synth.methods.measure import total_of
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisRank, SynthesisTask

GAUSSIAN = "Gaussian mechanism on all 1-way marginals at once; columns drawn independently (post-processing)"
LAPLACE = "Laplace mechanism on all 1-way marginals at once; columns drawn independently (post-processing)"


def independent(data: ExactCounts, workload: Workload, *, account: Account) -> Synthesis:
    """Count every column, add noise once, and draw the columns independently of each other.

    Private for rows and for users: a unit of c rows moves each table of counts by at most c (soundness,
    section 18). Every dependence between columns is lost.
    """
    names = data.names
    exact = np.concatenate(data.counts([(name,) for name in names])).astype(np.int64)
    mechanism, noise_std = _noise(data, account, tables=len(names))
    noisy = account.release(mechanism, exact, label="1-way marginals")
    borders = np.cumsum([data.domain[name] for name in names])[:-1]
    measured = tuple(
        Measurement(columns=(name,), values=part, noise_std=noise_std)
        for name, part in zip(names, np.split(noisy, borders), strict=True)
    )
    # Every table sums to the same number of records: where that is not public, their mean is the best guess at it.
    total = total_of(data, measured)
    return Synthesis(
        model=ProductModel(
            columns={
                measurement.columns[0]: on_simplex(measurement.values, total=total)
                for measurement in measured
            },
            total=total,
        ),
        theorem=GAUSSIAN if isinstance(mechanism, Gaussian) else LAPLACE,
        measurements=measured,
        parameters={"noise_std": noise_std},
    )


def _noise(data: ExactCounts, account: Account, *, tables: int) -> tuple[Mechanism, float]:
    left = account.remaining()
    pure = left.as_pure()
    if pure is None:
        l2 = counts_l2(data.adjacency, data.unit, marginals=tables)
        gaussian = Gaussian.within(left, l2_sensitivity=l2, adjacency=data.adjacency)
        return gaussian, float(gaussian.sigma)
    l1 = counts_l1(data.adjacency, data.unit, marginals=tables)
    laplace = Laplace.within(left, l1_sensitivity=l1, adjacency=data.adjacency)
    return laplace, float(laplace.scale) * 2.0**0.5


METHOD = SynthesisMethod(
    name="independent",
    run=independent,
    paper="baseline",
    pure=True,
    currency="gdp",
    tables=SynthesisTask.column_count,
    ranks=(
        SynthesisRank(
            place=0.0, reason="one column has nothing to do with any other", when=SynthesisTask.has_one_column
        ),
        SynthesisRank(place=3.0, reason="columns alone, where no method that joins them is at hand"),
    ),
    seconds=(0.1, 0.3),
)
