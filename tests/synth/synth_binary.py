"""A small binary table, its neighbours and accounts, for the tests of the query-release methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from holdfast._arrays import Codes
from holdfast.data import Categorical, Schema, open_table
from holdfast.privacy import Account, ApproxDP, PrivacyCurve
from holdfast.synth._evaluation import evaluate
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._workload import Workload
from holdfast.synth.methods.method import Synthesis


def bits(rows: int = 400, width: int = 4, seed: int = 0) -> Codes:
    """Records whose bits depend on a hidden one."""
    random = np.random.default_rng(seed)
    hidden = random.random((rows, 1)) < 0.3
    return (random.random((rows, width)) < np.where(hidden, 0.85, 0.2)).astype(np.int64)


def counted(
    codes: Codes,
    adjacency: str = "replace",
    *,
    cells: tuple[int, ...] | None = None,
    n_public: int | None = None,
) -> ExactCounts:
    """The records as a table; under add_remove its public count is `n_public`, else the number of records."""
    sizes = (2,) * codes.shape[1] if cells is None else cells
    names = [f"x{place}" for place in range(codes.shape[1])]
    columns = [
        Categorical(name, [str(cell) for cell in range(size)])
        for name, size in zip(names, sizes, strict=True)
    ]
    public = (n_public or max(1, len(codes))) if adjacency == "add_remove" else None
    frame = {name: codes[:, place].astype(str).astype(object) for place, name in enumerate(names)}
    return ExactCounts(open_table(frame, Schema(columns, adjacency=adjacency, n_public=public)))


def marginals(width: int = 4, k: int = 2) -> Workload:
    """All k-way marginals of x0, x1, ..."""
    return Workload.marginals(counted(bits(2, width)).table.schema, k)


def account(
    data: ExactCounts, limit: PrivacyCurve | None = None, *, currency: str = "zcdp", seed: int = 7
) -> Account:
    """(1, 1e-6) unless told."""
    return Account(
        ApproxDP(1.0, 1e-6) if limit is None else limit,
        adjacency=data.adjacency,
        currency=currency,
        seed=seed,
    )


def max_error(data: ExactCounts, made: Synthesis, workload: Workload) -> float:
    """Of proportions."""
    return evaluate(lambda columns: data(*columns), made.model.project, workload).max_error


def neighbours(
    adjacency: str, count: int = 12, *, width: int = 4, seed: int = 0
) -> Iterator[tuple[ExactCounts, ExactCounts]]:
    """Random and extreme pairs of neighbouring tables with the same public count."""
    random = np.random.default_rng(seed)
    for pair in range(count):
        codes = bits(12, width, seed=seed + pair)
        other = codes.copy()
        if adjacency == "replace":
            codes[3], other[3] = (
                (0, 1) if pair < 2 else (random.integers(0, 2, width), random.integers(0, 2, width))
            )
            yield counted(codes, adjacency), counted(other, adjacency)
        else:
            yield counted(codes, "add_remove", n_public=12), counted(other[1:], "add_remove", n_public=12)


def options(**given: Any) -> dict[str, Any]:
    """Keyword arguments, as a parametrisation can show them."""
    return given
