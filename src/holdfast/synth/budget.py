"""What a share of an account buys: an epsilon for each of T selections, or noise on a few tables of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdfast.data.sensitivity import counts_l1, counts_l2
from holdfast.errors import BudgetExceeded, ParameterError, require
from holdfast.privacy.account import Account
from holdfast.privacy.mechanisms.discrete_gaussian import DiscreteGaussian
from holdfast.privacy.mechanisms.discrete_laplace import DiscreteLaplace
from holdfast.synth.counted import Counted
from holdfast.synth.measurement import Measurement

#: Floats are rounded towards privacy by this much, far more than their own error.
SAFE = 1.0 - 1e-12


def amount(account: Account) -> tuple[str, float]:
    """What is left, in the account's own currency: ("pure", epsilon) or ("zcdp", rho), rounded down."""
    left = account.remaining()
    name = account.currency.name
    found = {"pure": left.as_pure, "zcdp": left.as_zcdp}.get(name, lambda: None)()
    if found is None:
        raise ParameterError(
            f"an account of currency {name!r} cannot pay for selections; open one of 'zcdp' or 'pure'"
        )
    if found <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    return name, float(found) * SAFE


def selection_epsilon(account: Account, times: int) -> float:
    """The epsilon of each of `times` exponential mechanisms that together spend what is left.

    In zCDP sqrt(8 rho / T) (bounded range; soundness, section 0), in pure DP epsilon / T.

    >>> from holdfast.privacy import ZCDP
    >>> round(selection_epsilon(Account(ZCDP(0.02)), 16), 9)
    0.1
    """
    require(times >= 1, "times", times, ">= 1")
    name, left = amount(account)
    return SAFE * (math.sqrt(8.0 * left / times) if name == "zcdp" else left / times)


def measure_tables(
    data: Counted, column_sets: Sequence[Sequence[str]], *, account: Account, label: str
) -> tuple[Measurement, ...]:
    """Noisy joint counts of all these columns at once, for what is left: exact integer noise, Gaussian or Laplace.

    G tables have L2 sensitivity sqrt(G) (sqrt(2 G) under `replace`), L1 sensitivity G (2 G); soundness, section 20.
    """
    name, left = amount(account)
    tables = [np.rint(table).astype(np.int64) for table in data.counts(column_sets)]
    mechanism: DiscreteGaussian | DiscreteLaplace
    if name == "zcdp":
        l2 = counts_l2(data.adjacency, data.unit, marginals=len(tables))
        sigma = l2 / math.sqrt(2.0 * left) / SAFE
        mechanism = DiscreteGaussian(sigma=sigma, l2_sensitivity=l2, adjacency=account.adjacency)
        noise_std = sigma
    else:
        l1 = counts_l1(data.adjacency, data.unit, marginals=len(tables))
        scale = l1 / left / SAFE
        mechanism = DiscreteLaplace(scale=scale, l1_sensitivity=l1, adjacency=account.adjacency)
        noise_std = math.sqrt(2.0) * scale
    noisy = account.release(mechanism, np.concatenate([table.reshape(-1) for table in tables]), label=label)
    parts = np.split(noisy, np.cumsum([table.size for table in tables])[:-1])
    return tuple(
        Measurement(columns=columns, values=part.reshape(table.shape), noise_std=noise_std)
        for columns, table, part in zip(column_sets, tables, parts, strict=True)
    )


def noisy_rows(data: Counted, *, account: Account, share: float) -> int:
    """About how many rows there are, for a share of what is left in zCDP; at least one.

    A table without columns has the L2 sensitivity of any other: the rows of a unit, at most.
    """
    require(0 < share < 1, "share", share, "in (0, 1)")
    name, left = amount(account)
    require(name == "zcdp", "account.currency", name, "'zcdp'")
    l2 = counts_l2(data.adjacency, data.unit)
    mechanism = DiscreteGaussian(
        sigma=l2 / math.sqrt(2.0 * share * left) / SAFE, l2_sensitivity=l2, adjacency=account.adjacency
    )
    exact = np.array([round(float(data(data.names[0]).sum()))], dtype=np.int64)
    return max(1, int(account.release(mechanism, exact, label="number of rows")[0]))
