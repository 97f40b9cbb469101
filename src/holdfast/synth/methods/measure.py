"""Measurements that several methods share: noisy tables of counts, noisy sums, a noisy number of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.data._sensitivity import counts_l1, counts_l2
from holdfast.errors import require
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import SAFE_FACTOR, remaining_amount
from holdfast.privacy._mechanisms.gaussian import DiscreteGaussian, Gaussian
from holdfast.privacy._mechanisms.laplace import DiscreteLaplace
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.model import Measurement
from holdfast.synth._workload.one_layer import OneLayer

ROUNDING = 1.0 + 2.0**-20
"""Scores are floating-point sums: their sensitivity is declared this much larger."""


def measure_tables(
    data: ExactCounts, column_sets: Sequence[Sequence[str]], *, account: Account, label: str
) -> tuple[Measurement, ...]:
    """Noisy joint counts of all these columns, which spend all that is left: integer noise, Gaussian or Laplace.

    G tables have L2 sensitivity sqrt(G) (sqrt(2 G) under `replace`), L1 sensitivity G (2 G); soundness, section 20.
    """
    name, left = remaining_amount(account)
    tables = [np.rint(table).astype(np.int64) for table in data.counts(column_sets)]
    mechanism: DiscreteGaussian | DiscreteLaplace
    if name == "zcdp":
        l2 = counts_l2(data.adjacency, data.unit, marginals=len(tables))
        sigma = l2 / math.sqrt(2.0 * left) / SAFE_FACTOR
        mechanism = DiscreteGaussian(sigma=sigma, l2_sensitivity=l2, adjacency=account.adjacency)
        noise_std = sigma
    else:
        l1 = counts_l1(data.adjacency, data.unit, marginals=len(tables))
        scale = l1 / left / SAFE_FACTOR
        mechanism = DiscreteLaplace(scale=scale, l1_sensitivity=l1, adjacency=account.adjacency)
        noise_std = math.sqrt(2.0) * scale
    noisy = account.release(mechanism, np.concatenate([table.reshape(-1) for table in tables]), label=label)
    parts = np.split(noisy, np.cumsum([table.size for table in tables])[:-1])
    return tuple(
        Measurement(columns=columns, values=part.reshape(table.shape), noise_std=noise_std)
        for columns, table, part in zip(column_sets, tables, parts, strict=True)
    )


def measure_functions(
    data: ExactCounts, group: OneLayer, *, account: Account, label: str = "functions"
) -> tuple[NDArray[np.float64], float]:
    """Noisy sums of functions of whole rows, which spend all that is left, and the standard deviation of their noise.

    Gaussian noise, scaled to how far one unit moves all of them together (`OneLayer.l2_sensitivity`).
    """
    mechanism = Gaussian.within(
        account.remaining(),
        l2_sensitivity=group.l2_sensitivity(data.adjacency, data.unit),
        adjacency=account.adjacency,
    )
    return np.asarray(account.release(mechanism, data.group_sums(group), label=label)), float(mechanism.sigma)


def noisy_rows(data: ExactCounts, *, account: Account, share: float) -> int:
    """The number of rows with noise, for this share of what is left in zCDP; at least one.

    A table without columns has the L2 sensitivity of any other: the rows of a unit, at most.
    """
    require(0 < share < 1, "share", share, "in (0, 1)")
    name, left = remaining_amount(account)
    require(name == "zcdp", "account.currency", name, "'zcdp'")
    l2 = counts_l2(data.adjacency, data.unit)
    mechanism = DiscreteGaussian(
        sigma=l2 / math.sqrt(2.0 * share * left) / SAFE_FACTOR, l2_sensitivity=l2, adjacency=account.adjacency
    )
    exact = np.array([round(float(data(data.names[0]).sum()))], dtype=np.int64)
    return max(1, int(account.release(mechanism, exact, label="number of rows")[0]))


def total_of(data: ExactCounts, measured: Sequence[Measurement]) -> float:
    """The number of rows where it is public, else the mean of the noisy tables' sums; at least one."""
    rows = data.public_rows
    return max(
        1.0, float(np.mean([measurement.total for measurement in measured])) if rows is None else float(rows)
    )


def best_rounds(account: Account, *, count: float, log_universe: float, queries: int, most: int) -> int:
    """The number of rounds T that minimises sqrt(2 ln|X| / T) + the error of a selection; between 1 and `most`.

    In zCDP a selection errs by sqrt(T / (2 rho)) ln(2|Q|) / n, so T* = n sqrt(2 rho) sqrt(2 ln|X|) / ln(2|Q|)
    (soundness, section 9); in pure DP by 2 T ln(2|Q|) / (epsilon n), so
    T* = (n epsilon sqrt(2 ln|X|) / (4 ln(2|Q|)))^(2/3).

    >>> from holdfast.privacy import PureDP, ZCDP
    >>> best_rounds(Account(ZCDP(0.0244)), count=10_000, log_universe=5.545, queries=448, most=5000)
    1082
    >>> best_rounds(Account(PureDP(1.0)), count=10_000, log_universe=5.545, queries=448, most=5000)
    114
    """
    kind, left = remaining_amount(account)
    log_queries = math.log(2.0 * max(1, queries))
    if kind == "zcdp":
        rounds = count * math.sqrt(2.0 * left) * math.sqrt(2.0 * log_universe) / log_queries
    else:
        rounds = (count * left * math.sqrt(2.0 * log_universe) / (4.0 * log_queries)) ** (2.0 / 3.0)
    return max(1, min(most, round(rounds)))
