"""Columns drawn independently from noisy counts of each, by Laplace noise at any budget (Dwork et al. 2006)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from holdfast.data._sensitivity import counts_l1
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import largest_epsilon
from holdfast.privacy._curves.curve import PureDP
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.model import Measurement, on_simplex
from holdfast.synth._models.product import ProductModel
from holdfast.synth._workload import Workload
from holdfast.synth.methods.measure import total_of
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisTask


def columns_only(data: ExactCounts, workload: Workload, *, account: Account) -> Synthesis:
    """Count every column under Laplace noise; a unit of c rows moves each table of counts by at most c."""
    names = data.names
    exact = np.concatenate(data.counts([(name,) for name in names])).astype(np.int64)
    l1 = counts_l1(data.adjacency, data.unit, marginals=len(names))
    epsilon = account.remaining().as_pure() or Fraction(largest_epsilon(account, PureDP))
    mechanism = Laplace(scale=Fraction(l1) / epsilon, l1_sensitivity=l1, adjacency=data.adjacency)
    noisy = account.release(mechanism, exact, label="columns_only")
    borders = np.cumsum([data.domain[name] for name in names])[:-1]
    noise_std = float(mechanism.scale) * 2.0**0.5
    measured = tuple(
        Measurement(columns=(name,), values=part, noise_std=noise_std)
        for name, part in zip(names, np.split(noisy, borders), strict=True)
    )
    total = total_of(data, measured)
    return Synthesis(
        model=ProductModel(
            columns={one.columns[0]: on_simplex(one.values, total=total) for one in measured}, total=total
        ),
        theorem="Laplace mechanism on all 1-way marginals at once; columns drawn independently",
        measurements=measured,
        parameters={"noise_std": noise_std},
    )


COLUMNS_ONLY = SynthesisMethod(
    name="columns_only",
    run=columns_only,
    paper="Dwork, McSherry, Nissim and Smith 2006",
    pure=True,
    tables=SynthesisTask.column_count,
    seconds=(0.1, 0.3),
)
