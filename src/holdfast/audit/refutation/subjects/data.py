"""What the data room promises about neighbours: counts, sums of encoded rows, and bounded users.

Small tables, through the engine that users get, with one unit changed at random or for the worst, and the
same coins for both neighbours. The distance must not exceed what `holdfast.data.sensitivity` states.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.audit.refutation.subject import Subject
from holdfast.audit.refutation.trial import Neighbours
from holdfast.audit.refutation.two_worlds import TwoWorlds, along, calls
from holdfast.data import Categorical, Encoder, Identifier, Numeric, RowSum, Schema, open_table
from holdfast.data.sensitivity import counts_l1, counts_l2, sum_l2
from holdfast.data.table import Table
from holdfast.noise.source import Source
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit
from holdfast.privacy.mechanisms.gaussian import Gaussian

Columns = dict[str, list[Any]]
ROWS, PAIRS, MAX_ROWS = 30, 8, 3
COLUMNS = (
    Numeric("age", 0, 100, bins=4),
    Categorical("sex", ["F", "M"]),
    Categorical("site", ["a", "b", "c"]),
)
SETS = (("age",), ("sex", "site"))
"""Two marginals at once: no row can be in the same cell of both by accident."""


def _table(columns: Columns, unit: PrivacyUnit, adjacency: Adjacency, *, seed: int) -> Table:
    schema = Schema([*COLUMNS, Identifier("id")], unit=unit)
    return open_table(columns, schema, adjacency=adjacency, n_public=None, entropy=Source(seed=seed))


def _rows(rng: np.random.Generator, owners: list[str]) -> Columns:
    size = len(owners)
    return {
        "age": rng.uniform(-50, 200, size).tolist(),  # some outside the declared bounds
        "sex": rng.choice(["F", "M"], size).tolist(),
        "site": rng.choice(["a", "b", "c", "elsewhere"], size).tolist(),
        "id": owners,
    }


def _same(size: int, *, age: float, sex: str, site: str) -> Columns:
    """Rows that all fall in one cell: the worst a user can bring."""
    return {"age": [age] * size, "sex": [sex] * size, "site": [site] * size, "id": ["changed"] * size}


def pairs(source: Source, *, rows: int) -> Iterator[tuple[Columns, Columns, Columns]]:
    """The others' rows, one unit's rows, and rows to replace them by; `rows` is the most a unit brings."""
    rng = np.random.Generator(np.random.PCG64(int(source.words(1)[0])))
    for number in range(PAIRS):
        others = _rows(rng, [f"user{place % 10}" if rows > 1 else f"row{place}" for place in range(ROWS)])
        mine = ["changed"] * rows
        if number % 2:
            yield others, _rows(rng, mine), _rows(rng, mine)
        else:
            yield others, _same(rows, age=5.0, sex="F", site="a"), _same(rows, age=95.0, sex="M", site="b")


def neighbours(source: Source, unit: PrivacyUnit, adjacency: Adjacency) -> Iterator[tuple[Table, Table]]:
    """Tables that differ in one unit; a user brings up to twice what the bound keeps."""
    rows = 1 if unit.column is None else 2 * unit.max_rows
    for number, (others, mine, instead) in enumerate(pairs(source, rows=rows)):
        replaced = instead if adjacency is Adjacency.replace else {name: [] for name in mine}
        first, second = ({n: others[n] + part[n] for n in others} for part in (mine, replaced))
        yield (
            _table(first, unit, adjacency, seed=number),
            _table(second, unit, adjacency, seed=number),
        )


def _stacked(table: Table) -> NDArray[np.float64]:
    return np.concatenate([np.ravel(counts) for counts in table.counts(SETS)]).astype(np.float64)


def count_shares(unit: PrivacyUnit, source: Source) -> Iterator[float]:
    """Counts under every adjacency, in both norms."""
    for adjacency in Adjacency:
        for first, second in neighbours(source, unit, adjacency):
            change = _stacked(first) - _stacked(second)
            yield float(np.abs(change).sum()) / counts_l1(adjacency, unit, marginals=len(SETS))
            yield float(np.linalg.norm(change)) / counts_l2(adjacency, unit, marginals=len(SETS))


def sum_shares(unit: PrivacyUnit, source: Source) -> Iterator[float]:
    """Sums of encoded and clipped rows under every adjacency."""
    for adjacency in Adjacency:
        for first, second in neighbours(source, unit, adjacency):
            encoder = Encoder(first.schema, row_norm=0.7)
            change = first.sums(RowSum(encoder)) - second.sums(RowSum(encoder))
            yield float(np.linalg.norm(change)) / sum_l2(encoder.row_norm_bound, adjacency, unit)


def _noisy_counts() -> TwoWorlds:
    unit, adjacency = PrivacyUnit.row(), Adjacency.replace
    first, second = next(neighbours(Source(seed=0), unit, adjacency))
    low, high = _stacked(first).astype(np.int64), _stacked(second).astype(np.int64)
    noise = Gaussian(sigma=2.0, l2_sensitivity=counts_l2(adjacency, unit, marginals=len(SETS)))
    score = along(low, high)
    return TwoWorlds(
        what="two marginals with Gaussian noise, one row replaced", claim=noise.curve, draws=1500,
        without=calls(noise.sample, low, score=score), present=calls(noise.sample, high, score=score),
    )  # fmt: skip


def data_subjects() -> tuple[Subject, ...]:
    """Counts and sums, by row and by user."""
    row, user = PrivacyUnit.row(), PrivacyUnit.user("id", max_rows=MAX_ROWS)
    made = []
    for unit, suffix in ((row, "rows"), (user, "users")):
        made.append(
            Subject(
                name=f"counts_of_{suffix}",
                claim="data.sensitivity.counts_l1, counts_l2",
                trials=(
                    Neighbours(what="two marginals", shares=partial(count_shares, unit)),
                    *([_noisy_counts()] if unit is row else []),
                ),
            )
        )
        made.append(
            Subject(
                name=f"sums_of_{suffix}",
                claim="data.sensitivity.sum_l2 of Encoder.row_norm_bound",
                trials=(Neighbours(what="clipped rows", shares=partial(sum_shares, unit)),),
            )
        )
    return tuple(made)
