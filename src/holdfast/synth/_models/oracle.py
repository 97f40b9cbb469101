"""The optimisation oracle of the dual methods: the record at which a sum of queries is largest.

Three solvers behind one function: exact enumeration for small universes, HiGHS (through SciPy) for an integer
programme over one-hot encoded records with a proved gap, and coordinate ascent from many starts for speed. The oracle
sees released queries only, so privacy does not depend on how well it does; accuracy does, and the gap is reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Literal

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.noise._uniform import integers
from holdfast.synth._models.coordinate_scores import CoordinateScores
from holdfast.synth._models.dense import universe_size
from holdfast.synth._models.universe import AllCells

Columns = tuple[str, ...]
Oracle = Literal["auto", "enumerate", "milp", "ascent"]
#: Universes up to this size are searched completely.
MOST_ENUMERATED_RECORDS = 2**16
MOST_PROGRAMME_CELLS = 500
"""The most weighted cells for which `auto` solves the integer programme: it takes tenths of a second."""
ASCENT_STARTS = 24
"""Coordinate ascents for each record that is wanted; the best one counts."""
TIME_LIMIT = 10.0
"""Seconds that the integer programme may take for one record."""
SMALLEST_COEFFICIENT = 1e-9
"""The integer programme leaves out weights below this share of the largest; the bound it returns allows for them."""


@dataclass(kw_only=True, eq=False)
class RecordObjective:
    """f(x) = the sum over column sets of a table's value at x, to which weighted queries are added one by one.

    >>> gain = RecordObjective(domain={"a": 2, "b": 3})
    >>> gain.add(("a", "b"), np.eye(2, 3), 2.0)
    >>> gain.values(np.array([[0, 0], [1, 0]])).tolist()
    [2.0, 0.0]
    """

    domain: Mapping[str, int]
    tables: dict[Columns, Floats] = field(default_factory=dict)

    def add(self, columns: Columns, table: Floats, weight: float = 1.0) -> None:
        """Add a weighted function of some columns, given as a table."""
        if columns not in self.tables:
            self.tables[columns] = np.zeros(table.shape)
        self.tables[columns] += weight * table

    def values(self, codes: Codes) -> Floats:
        """f at each record."""
        coordinates = CoordinateScores(self.domain, list(self.tables))
        return coordinates.totals(codes, [table.reshape(-1) for table in self.tables.values()])

    def everywhere(self) -> Floats:
        """f at every possible record, where these are few."""
        universe = AllCells(self.domain)
        values = np.zeros(universe.size)
        for columns, table in self.tables.items():
            values += universe.values(columns, table)
        return values

    def upper_bound(self) -> float:
        """An upper bound on f that needs no search: the largest value of each table."""
        return math.fsum(float(table.max()) for table in self.tables.values())


@dataclass(frozen=True, kw_only=True, eq=False)
class Optima:
    """The best records found for several perturbed objectives, their values, and upper bounds on any record's value."""

    codes: Codes
    values: Floats
    bounds: Floats

    @property
    def gap(self) -> float:
        """The largest difference between a bound and a value; 0 where all records are proved optimal."""
        return float(np.max(np.maximum(self.bounds - self.values, 0.0)))


def one_hot_starts(domain: Mapping[str, int]) -> list[int]:
    """Where each column's cells begin in a one-hot encoded record; one more, for the end.

    >>> one_hot_starts({"a": 2, "b": 3})
    [0, 2, 5]
    """
    return [0, *accumulate(domain.values())]


def noise_scores(codes: Codes, noise: Floats, domain: Mapping[str, int]) -> Floats:
    """The scalar product of each one-hot encoded record with its own row of noise."""
    starts = one_hot_starts(domain)
    at = np.arange(len(codes))
    noise_values = np.zeros(len(codes))
    for column in range(len(domain)):
        noise_values += noise[at, starts[column] + codes[:, column]]
    return noise_values


def best_records(
    objective: RecordObjective, source: Source, *, noise: Floats | None = None, oracle: Oracle = "auto"
) -> Optima:
    """For each row of `noise` (one-hot coefficients, one record without), the best record of f(x) + <x, noise>.

    `oracle` is "enumerate", "milp", "ascent" or "auto": all records where there are at most 65,536; else the integer
    programme for one record and at most 500 weighted cells; else ascents. That depends on released queries only.

    >>> gain = RecordObjective(domain={"a": 2, "b": 3})
    >>> gain.add(("a", "b"), np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]]))
    >>> best_records(gain, Source(seed=1)).codes.tolist()
    [[1, 0]]
    """
    require(oracle in (*SOLVERS, "auto"), "oracle", oracle, "one of auto, " + ", ".join(SOLVERS))
    width = sum(objective.domain.values())
    given = np.zeros((1, width)) if noise is None else np.asarray(noise, dtype=np.float64)
    require(given.ndim == 2 and given.shape[1] == width, "noise.shape", given.shape, f"(records, {width})")
    name = _choice(objective, len(given)) if oracle == "auto" else oracle
    return SOLVERS[name](objective, given, source)


def _choice(objective: RecordObjective, records: int) -> str:
    """The solver that `auto` takes: an exact one where that is quick."""
    if universe_size(objective.domain) <= MOST_ENUMERATED_RECORDS:
        return "enumerate"
    cells = sum(int(np.count_nonzero(table)) for table in objective.tables.values())
    return "milp" if records == 1 and cells <= MOST_PROGRAMME_CELLS else "ascent"


def enumerate_all(objective: RecordObjective, noise: Floats, source: Source) -> Optima:
    """The best record of each objective, exactly: all possible records are tried."""
    universe = AllCells(objective.domain, most_cells=2**24)
    common = objective.everywhere()
    starts = one_hot_starts(objective.domain)
    places, values = [], []
    for row in noise:
        score = common
        if row.any():
            score = common.copy()
            for place, name in enumerate(objective.domain):
                score += universe.values((name,), row[starts[place] : starts[place + 1]])
        places.append(int(np.argmax(score)))
        values.append(float(score[places[-1]]))
    codes = np.column_stack(np.unravel_index(np.array(places), tuple(objective.domain.values())))
    best = np.array(values)
    return Optima(codes=codes.astype(np.int64), values=best, bounds=best)


def solve_by_ascent(objective: RecordObjective, noise: Floats, source: Source) -> Optima:
    """The best of 24 coordinate ascents from random records; the bound is the trivial one."""
    domain = objective.domain
    coordinates = CoordinateScores(domain, list(objective.tables))
    tables = [table.reshape(-1) for table in objective.tables.values()]
    starts = one_hot_starts(domain)
    repeated = np.repeat(noise, ASCENT_STARTS, axis=0)
    codes = np.column_stack([integers(source, bound=cells, size=len(repeated)) for cells in domain.values()])
    seeded = _records_of_large_cells(objective, codes, source)
    active = np.arange(len(codes))
    for _ in range(50):
        before = seeded[active].copy()
        for column in range(len(domain)):
            scores = coordinates.scores(seeded[active], column, tables)
            scores += repeated[active, starts[column] : starts[column + 1]]
            seeded[active, column] = np.argmax(scores, axis=1)
        active = active[np.any(seeded[active] != before, axis=1)]
        if active.size == 0:
            break
    values = coordinates.totals(seeded, tables) + noise_scores(seeded, repeated, domain)
    best = np.argmax(values.reshape(-1, ASCENT_STARTS), axis=1) + ASCENT_STARTS * np.arange(len(noise))
    ceiling = objective.upper_bound() + sum(
        noise[:, starts[place] : starts[place + 1]].max(axis=1) for place in range(len(domain))
    )
    return Optima(codes=seeded[best], values=values[best], bounds=np.asarray(ceiling))


def _records_of_large_cells(objective: RecordObjective, codes: Codes, source: Source) -> Codes:
    """Put half of the starts into cells with a positive value in some table, which an ascent may else never reach."""
    names = list(objective.domain)
    changed = codes.copy()
    positive = [(columns, table) for columns, table in objective.tables.items() if table.max() > 0]
    for place in range(0, len(changed), 2) if positive else ():
        columns, table = positive[int(integers(source, bound=len(positive), size=1)[0])]
        good = np.flatnonzero(table.reshape(-1) > 0)
        cell = int(good[int(integers(source, bound=len(good), size=1)[0])])
        for name, code in zip(columns, np.unravel_index(cell, table.shape), strict=True):
            changed[place, names.index(name)] = int(code)
    return changed


def solve_programmes(objective: RecordObjective, noise: Floats, source: Source) -> Optima:
    """One integer programme for each record, by HiGHS: one-hot columns, and a variable for each weighted cell."""
    parts = [_programme(objective, row) for row in noise]
    codes = np.array([record for record, _ in parts], dtype=np.int64)
    values = objective.values(codes) + noise_scores(codes, noise, objective.domain)
    return Optima(codes=codes, values=values, bounds=np.maximum(values, [bound for _, bound in parts]))


def _programme(objective: RecordObjective, row: Floats) -> tuple[list[int], float]:
    """Solve one integer programme; returns a record and an upper bound on the objective.

    Maximise <x, row> + sum of weight z over one-hot x, with a variable z for each weighted cell of k columns: z <= x_i
    for each of its columns i where the weight is positive, and z >= sum x_i - (k - 1) where it is negative.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    names, starts = list(objective.domain), one_hot_starts(objective.domain)
    one_hot = starts[-1]
    weights: list[float] = []
    entries: list[tuple[int, int, float]] = []  # (constraint, variable, coefficient)
    upper: list[float] = []
    left_out = 0.0
    for columns, table in objective.tables.items():
        flat = table.reshape(-1)
        keep = np.abs(flat) > SMALLEST_COEFFICIENT * max(1e-300, float(np.abs(flat).max()))
        left_out += float(np.abs(flat[~keep]).max(initial=0.0))
        for cell in np.flatnonzero(keep).tolist():
            ones = [
                starts[names.index(name)] + int(code)
                for name, code in zip(columns, np.unravel_index(cell, table.shape), strict=True)
            ]
            variable = one_hot + len(weights)
            weights.append(float(flat[cell]))
            if flat[cell] > 0:
                for factor in ones:
                    entries += [(len(upper), variable, 1.0), (len(upper), factor, -1.0)]
                    upper.append(0.0)
            else:
                entries += [(len(upper), factor, 1.0) for factor in ones] + [(len(upper), variable, -1.0)]
                upper.append(len(ones) - 1.0)
    total = one_hot + len(weights)
    per_column = [
        (place, cell, 1.0) for place in range(len(names)) for cell in range(starts[place], starts[place + 1])
    ]
    constraints = [LinearConstraint(_sparse(per_column, (len(names), total), coo_array), 1.0, 1.0)]
    if upper:
        constraints.append(LinearConstraint(_sparse(entries, (len(upper), total), coo_array), -np.inf, upper))
    solution = milp(
        -np.concatenate([row, weights]),
        constraints=constraints,
        bounds=Bounds(0.0, 1.0),
        integrality=np.concatenate([np.ones(one_hot), np.zeros(len(weights))]),
        options={"time_limit": TIME_LIMIT},
    )
    if (
        solution.x is None
    ):  # no record within the time limit: any record is valid, privacy does not depend on it
        ceiling = objective.upper_bound() + sum(float(row[a:b].max()) for a, b in pairwise(starts))
        return [0] * len(names), ceiling
    record = [int(np.argmax(solution.x[starts[place] : starts[place + 1]])) for place in range(len(names))]
    dual = solution.mip_dual_bound if solution.mip_dual_bound is not None else solution.fun
    return record, float(-dual) + left_out


def _sparse(entries: list[tuple[int, int, float]], shape: tuple[int, int], make: Callable[..., Any]) -> Any:
    rows, columns, values = zip(*entries, strict=True)
    return make((values, (rows, columns)), shape=shape)


#: Finds the best record for each row of noise.
Solver = Callable[[RecordObjective, Floats, Source], Optima]
SOLVERS: dict[str, Solver] = {"enumerate": enumerate_all, "milp": solve_programmes, "ascent": solve_by_ascent}
