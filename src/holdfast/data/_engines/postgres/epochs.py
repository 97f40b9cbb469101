"""Permutation SGD inside the database: rows are clipped, coded, put in a secret order and trained on where they are.

The rows are sorted by a keyed SHA-256 (of what tells them apart, or of a declared identifier) once for each statement,
and every pass of the statement reads the sorted rows again. PostgreSQL does not promise that an aggregate sees a
subquery's order, and `agg(... ORDER BY key)`, which does, would sort a copy of the plan beside every row; so the
aggregate is given the keys and refuses rows that do not come in their order. What comes back is exact, hence private:
the driver adds the noise.

The aggregate takes and returns doubles in a fixed order. A run of several passes may take several queries: each gets a
plan for its own passes, which counts steps from 1, and starts where the one before ended (`RunState`), bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from holdfast._arrays import Floats
from holdfast._kernel.options import LOSSES, SgdOptions
from holdfast.data._order import DIGITS, KeyedHash, Order, Shuffled
from holdfast.data._sql.features import FeatureRow
from holdfast.data._sql.statements import Statements
from holdfast.data._sql.sums import CodedRow, Layer, StatementRow
from holdfast.errors import DataError, ParameterError, require

PLAN_FORMAT = 20260101.0
"""The first number of a plan, as in holdfast_sgd.c."""
MOST_PLAN_STEPS = 2**18
"""How many steps one statement may hold; a single pass is never divided."""
MOST_PLAN_PASSES = 32
"""How many passes one statement makes."""
_COUNTS = 4
"""The aggregate's answer starts with this number of counts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RunState:
    """How far a run is: weights, the sum of the iterates to average, and counts of what was done. Private."""

    weights: Floats
    average: Floats
    averaged: int = 0
    steps: int = 0
    rows: int = 0
    passes: int = 0

    @classmethod
    def start(cls, dimension: int, weights: ArrayLike | None = None) -> RunState:
        """The state before the first step, from zero or from public weights."""
        first = np.zeros(dimension) if weights is None else np.asarray(weights, dtype=np.float64)
        require(first.shape == (dimension,), "weights", f"of shape {first.shape}", f"{dimension} numbers")
        return cls(weights=first, average=np.zeros(dimension))

    def after(self, answer: ArrayLike | None) -> RunState:
        """The state after one more query, from its answer."""
        numbers = np.asarray([] if answer is None else answer, dtype=np.float64)
        d = len(self.weights)
        if numbers.shape != (_COUNTS + 2 * d,):
            raise DataError("the database ran no pass: the table has no row")
        steps, rows, passes, averaged = (int(number) for number in numbers[:_COUNTS])
        return RunState(
            weights=numbers[_COUNTS : _COUNTS + d],
            average=numbers[_COUNTS + d :],
            averaged=averaged,
            steps=self.steps + steps,
            rows=self.rows + rows,
            passes=self.passes + passes,
        )

    def result(self) -> Floats:
        """The average of the iterates, or the last one where none are averaged."""
        return self.average / self.averaged if self.averaged else self.weights


@dataclass(frozen=True, kw_only=True, eq=False)
class AggregatePasses:
    """The passes of one run over a public number of records."""

    options: SgdOptions
    passes: int
    records: int

    def __post_init__(self) -> None:
        require(self.passes >= 1, "passes", self.passes, ">= 1")
        require(self.records >= 1, "records", self.records, ">= 1")
        size = self.steps.size
        needed = self.passes * self.batches
        require(size == needed, "steps", f"{size} numbers", f"{needed} numbers, one for each batch")

    @cached_property
    def steps(self) -> Floats:
        """The step size of every batch of every pass."""
        options = self.options
        if options.steps is not None:
            return options.steps
        assert options.step_size is not None
        return options.step_size.first(self.passes * self.batches)

    @property
    def batches(self) -> int:
        """The number of batches of one pass, with the short last one."""
        return math.ceil(self.records / self.options.batch)

    def portions(self) -> Iterator[int]:
        """How many passes each statement makes, so few that it can hold all their steps."""
        room = max(1, min(MOST_PLAN_PASSES, MOST_PLAN_STEPS // self.batches))
        for first in range(0, self.passes, room):
            yield min(room, self.passes - first)

    def plan(self, state: RunState, passes: int) -> bytes:
        """The next passes, from this state on, as bytes for the aggregate."""
        options, before = self.options, state.steps
        steps = self.steps[before : before + passes * self.batches]
        cap = 1.0
        if bool(np.all(steps == steps[0])):  # all steps are one number
            cap, steps = float(steps[0]), np.empty(0)
        average_from = max(1, options.average_from - before) if options.average_from else 0
        header = [
            PLAN_FORMAT,
            options.dimension,
            options.batch,
            LOSSES[options.loss],
            options.width,
            options.label_bound,
            options.row_norm,
            options.penalty,
            options.radius,
            cap,
            math.inf,
            0.0,
            average_from,
            state.averaged,
            float(state.passes > 0),
            steps.size,
        ]
        return np.concatenate([header, state.weights, state.average, steps]).astype("<f8").tobytes()

    def check(self, state: RunState) -> None:
        """Refuse a run that read another number of rows than the public one."""
        expected = (self.passes * self.batches, self.passes * self.records, self.passes)
        if (state.steps, state.rows, state.passes) != expected:
            raise DataError(
                f"public_count must be the number of rows, got public_count={self.records}; nothing was released"
            )


RunQuery = Callable[[str], Any]
"""Runs a query and returns an Arrow table."""
MOST_RESULT_COLUMNS = 1_600
"""PostgreSQL takes 1664 columns in a result."""
_COLUMNS_OF_ONE = 4
"""How many columns of a result one stored column takes: raw, read, clipped, and its cell."""
AGGREGATE_NAME = "holdfast.sgd_epochs"
ERROR_TEXTS = {
    "ZH001": "the plan was refused: the extension is of another version; run: holdfast postgres install URL",
    "ZH002": "a row or a label is missing or not finite",
    "ZH003": "a row has a wrong number of features",
    "ZH004": "the rows did not come in the order asked for",
    "ZH005": "the table has more rows than public_count",
    "ZH006": "the weights became too large for a double; use a smaller step or a radius",
}
"""The meaning of the aggregate's error codes. Its own messages hold no data, but sessions withhold all messages."""


class RowsInSql(Protocol):
    """Labelled rows that can be written in SQL (`holdfast.learn._rows.engine_sums.LabelledRows`)."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that are read."""

    def spelling(self, row: CodedRow) -> tuple[FeatureRow, Layer] | None:
        """The features, and a layer with the label `y`; None where SQL has none."""


def dense_array(features: FeatureRow) -> str:
    """The SQL of a clipped row with its constant, as an array with all its indicators, also those that are zero."""
    number, scale = features.dialect.number, features.scale
    entries = []
    for feature in features.features:
        if feature.cells:
            zero = number(0.0)
            entries += [
                f"CASE WHEN {feature.name} = {cell} THEN {scale} ELSE {zero} END"
                for cell in range(feature.cells)
            ]
        else:
            entries.append(f"{scale} * {feature.name}")
    if features.constant:
        entries.append(features.weight)
    return f"ARRAY[{', '.join(entries)}]"


def keyed_rows(statements: Statements, rows: RowsInSql, order: Order, *, portion: int = 0) -> str:
    """A query for the sort key, features `x` and label `y` of every row, for one portion of the passes."""
    spelling = rows.spelling(StatementRow(statements))
    if spelling is None:
        raise DataError(
            "these rows cannot be encoded in SQL (several classes, or an encoder of another kind); "
            "open the table with way='pull'"
        )
    features, labelled = spelling
    columns = list(rows.columns)
    if isinstance(order, KeyedHash) and order.column not in columns:
        columns.append(order.column)
    source = statements.coded_rows(columns)
    numbers = sum(1 for feature in features.features if not feature.cells)
    if _COLUMNS_OF_ONE * len(columns) + numbers > MOST_RESULT_COLUMNS:
        raise DataError(
            f"one query has no room for {len(columns)} columns; open the table with way='pull', or declare fewer"
        )
    fence = statements.dialect.fence
    for layer in (*features.layers, labelled):
        named = ", ".join(["*", *(f"{expression} AS {name}" for name, expression in layer)])
        source = f"SELECT {named} FROM ({source}{fence}) AS q"
    key = _key(statements, order, portion)
    return f"SELECT {key} AS key, {dense_array(features)} AS x, y FROM ({source}{fence}) AS q"


def _key(statements: Statements, order: Order, portion: int) -> str:
    """The SQL of the key that sorts the rows. For an identifier it is the hash by which every engine ranks rows.

    A shuffle draws a new key for each statement: the rows of a view differ by their place in its result, which may be
    another one in another statement, and then one key would tie two different orders together. No other engine has to
    draw the same shuffle, so key and place are hashed as bytes: a third of the time of hashing their digits.
    """
    place = "CAST(p AS text)"
    if isinstance(order, Shuffled):
        key = sha256(order.key + portion.to_bytes(8, "big")).digest()
        stored = statements.position == "ctid" and not statements.bounds_users
        place = "tidsend(p)" if stored else f"convert_to({place}, 'UTF8')"
        return f"substr(sha256('\\x{key.hex()}'::bytea || {place}), 1, {DIGITS // 2})"
    if isinstance(order, KeyedHash):
        name = f"r{statements.place(order.column)}"
        return f"{_hash_of(order.key, name)} || {_hash_of(order.tie_key, place)}"
    raise ParameterError(
        f"order must be Order.permutation() or Order.keyed_hash(...) in the database, got {type(order).__name__}"
    )


def _hash_of(key: bytes, expression: str) -> str:
    return f"substr(sha256(convert_to('{key.hex()}' || {expression}, 'UTF8')), 1, {DIGITS // 2})"


def passes_query(rows: str, plan: bytes, *, passes: int, ordered: bool) -> str:
    """The query that runs these passes over the rows of another query; `ordered` sorts those by their key, once."""
    plan_literal = f"'\\x{plan.hex()}'::bytea"
    if not ordered:
        source = " UNION ALL ".join(f"SELECT {i} AS pass, * FROM ({rows}) AS r{i}" for i in range(passes))
        return f"SELECT {AGGREGATE_NAME}({plan_literal}, pass, key, x, y) AS made FROM ({source}) AS q"
    if passes == 1:
        source = f"SELECT 0 AS pass, * FROM ({rows}) AS r ORDER BY key OFFSET 0"
        return f"SELECT {AGGREGATE_NAME}({plan_literal}, pass, key, x, y) AS made FROM ({source}) AS q"
    source = " UNION ALL ".join(f"SELECT {i} AS pass, * FROM sorted" for i in range(passes))
    return (
        f"WITH sorted AS MATERIALIZED ({rows} ORDER BY key) "
        f"SELECT {AGGREGATE_NAME}({plan_literal}, pass, key, x, y) AS made FROM ({source}) AS q"
    )


def train(
    run_query: RunQuery, rows: Callable[[int], str], course: AggregatePasses, *, ordered: bool = True
) -> Floats:
    """Run all passes over the rows of the query `rows(portion)`; the result has no noise yet.

    `ordered=False` takes rows as they are stored: for tables whose layout says nothing, and for benchmarks.
    """
    state = RunState.start(course.options.dimension)
    for portion, passes in enumerate(course.portions()):
        query = passes_query(rows(portion), course.plan(state, passes), passes=passes, ordered=ordered)
        state = state.after(_answer(run_query, query))
    course.check(state)
    return state.result()


def _answer(run_query: RunQuery, query: str) -> Any:
    meaning = None
    try:
        return run_query(query).column("made")[0].as_py()
    except DataError as error:
        meaning = next((text for code, text in ERROR_TEXTS.items() if f"error {code}" in str(error)), None)
        if meaning is None:
            raise
    raise DataError(f"PostgreSQL could not train beside the rows: {meaning}; nothing was released")
