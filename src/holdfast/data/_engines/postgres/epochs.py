"""Permutation SGD inside the database: rows are clipped, coded, put in a secret order and trained on where they lie.

The rows are sorted by a keyed SHA-256 (of what tells them apart, or of a declared identifier) once for each statement,
and every pass of the statement reads the sorted rows again. PostgreSQL does not promise that an aggregate sees a
subquery's order, and `agg(... ORDER BY key)`, which does, would sort a copy of the plan beside every row; so the
aggregate is given the keys and refuses rows that do not come in their order. What comes back is exact, hence private:
the driver adds the noise.

What the aggregate is told and what it answers are doubles in a fixed order. A run of several passes may take several
queries: each gets a plan for its own passes, which counts steps from 1, and starts where the one before ended
(`Reached`), bit for bit.
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

FORMAT = 20260101.0
"""The first number of a plan, as in holdfast_sgd.c."""
MOST_STEPS = 2**18
"""Steps that are written out in one statement; one pass is never divided."""
MOST_PASSES = 32
"""In one statement."""
_ANSWER = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Reached:
    """Where a run is: weights, the sum of the iterates that are averaged, and how much was done. Private."""

    weights: Floats
    average: Floats
    averaged: int = 0
    steps: int = 0
    rows: int = 0
    passes: int = 0

    @classmethod
    def start(cls, dimension: int, weights: ArrayLike | None = None) -> Reached:
        """Nothing done yet; from zero, or from public weights."""
        first = np.zeros(dimension) if weights is None else np.asarray(weights, dtype=np.float64)
        require(first.shape == (dimension,), "weights", f"of shape {first.shape}", f"{dimension} numbers")
        return cls(weights=first, average=np.zeros(dimension))

    def after(self, answer: ArrayLike | None) -> Reached:
        """With what one query answered."""
        numbers = np.asarray([] if answer is None else answer, dtype=np.float64)
        d = len(self.weights)
        if numbers.shape != (_ANSWER + 2 * d,):
            raise DataError("the database ran no pass: the table has no row")
        steps, rows, passes, averaged = (int(number) for number in numbers[:_ANSWER])
        return Reached(
            weights=numbers[_ANSWER : _ANSWER + d],
            average=numbers[_ANSWER + d :],
            averaged=averaged,
            steps=self.steps + steps,
            rows=self.rows + rows,
            passes=self.passes + passes,
        )

    def result(self) -> Floats:
        """The average, or the last iterate."""
        return self.average / self.averaged if self.averaged else self.weights


@dataclass(frozen=True, kw_only=True, eq=False)
class AggregatePasses:
    """So many passes over a public number of records."""

    options: SgdOptions
    passes: int
    records: int

    def __post_init__(self) -> None:
        require(self.passes >= 1, "passes", self.passes, ">= 1")
        require(self.records >= 1, "records", self.records, ">= 1")
        given = self.steps.size
        wanted = self.passes * self.batches
        require(given == wanted, "steps", f"{given} numbers", f"{wanted} numbers, one for each batch")

    @cached_property
    def steps(self) -> Floats:
        """The step of every batch of every pass."""
        options = self.options
        if options.steps is not None:
            return options.steps
        assert options.step_size is not None
        return options.step_size.first(self.passes * self.batches)

    @property
    def batches(self) -> int:
        """Of one pass, the short last one included."""
        return math.ceil(self.records / self.options.batch)

    def portions(self) -> Iterator[int]:
        """How many passes each statement makes: few enough for its steps to be written out."""
        room = max(1, min(MOST_PASSES, MOST_STEPS // self.batches))
        for first in range(0, self.passes, room):
            yield min(room, self.passes - first)

    def plan(self, reached: Reached, passes: int) -> bytes:
        """The next passes, from where the run is."""
        options, before = self.options, reached.steps
        steps = self.steps[before : before + passes * self.batches]
        cap = 1.0
        if bool(np.all(steps == steps[0])):  # one number says it all
            cap, steps = float(steps[0]), np.empty(0)
        average_from = max(1, options.average_from - before) if options.average_from else 0
        header = [
            FORMAT,
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
            reached.averaged,
            float(reached.passes > 0),
            steps.size,
        ]
        return np.concatenate([header, reached.weights, reached.average, steps]).astype("<f8").tobytes()

    def check(self, reached: Reached) -> None:
        """Refuse a run that saw another number of rows than is public."""
        wanted = (self.passes * self.batches, self.passes * self.records, self.passes)
        if (reached.steps, reached.rows, reached.passes) != wanted:
            raise DataError(
                f"public_count must be the number of rows, got public_count={self.records}; nothing was released"
            )


Ask = Callable[[str], Any]
"""Answers a statement with an Arrow table."""
MOST_NAMES = 1_600
"""PostgreSQL takes 1664 columns in a result."""
_STORED = 4
"""Raw, read, clipped and its cell: the names of one stored column."""
AGGREGATE = "holdfast.sgd_epochs"
ERRORS = {
    "ZH001": "the plan was refused: the extension is of another version; run: holdfast postgres install URL",
    "ZH002": "a row or a label is missing or not finite",
    "ZH003": "a row has a wrong number of features",
    "ZH004": "the rows did not come in the order asked for",
    "ZH005": "the table has more rows than public_count",
    "ZH006": "the weights became too large for a double; use a smaller step or a radius",
}
"""What the aggregate's error codes mean; its messages hold no data, but the session withholds all messages."""


class SpelledRows(Protocol):
    """Labelled rows that can be written in SQL (`holdfast.learn._rows.engine_sums.LabelledRows`)."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that are read."""

    def spelling(self, row: CodedRow) -> tuple[FeatureRow, Layer] | None:
        """The features, and a layer with the label `y`; None where SQL has none."""


def dense(features: FeatureRow) -> str:
    """The clipped row with its constant, as an array; `FeatureRow` itself never writes indicators out."""
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


def keyed_rows(statements: Statements, rows: SpelledRows, order: Order, *, portion: int = 0) -> str:
    """A query for `key`, `x` and `y` of every row that takes part, for one portion of the passes."""
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
    source = statements.coded(columns)
    numbers = sum(1 for feature in features.features if not feature.cells)
    if _STORED * len(columns) + numbers > MOST_NAMES:
        raise DataError(
            f"one query has no room for {len(columns)} columns; open the table with way='pull', or declare fewer"
        )
    fence = statements.dialect.fence
    for layer in (*features.layers, labelled):
        named = ", ".join(["*", *(f"{expression} AS {name}" for name, expression in layer)])
        source = f"SELECT {named} FROM ({source}{fence}) AS q"
    return f"SELECT {_key(statements, order, portion)} AS key, {dense(features)} AS x, y FROM ({source}{fence}) AS q"


def _key(statements: Statements, order: Order, portion: int) -> str:
    """What sorts the rows. For an identifier, the bytes of the hash that ranks rows in every engine (`keyed_hash`).

    A shuffle draws a key of its own for each statement: what tells the rows of a view apart is their place in its
    result, which may be another in another statement, and then one key would tie two different orders together. Its
    order is no other engine's, so key and place are hashed as bytes: a third of the time of hashing their digits.
    """
    place = "CAST(p AS text)"
    if isinstance(order, Shuffled):
        key = sha256(order.key + portion.to_bytes(8, "big")).digest()
        stored = statements.position == "ctid" and not statements.bounded
        place = "tidsend(p)" if stored else f"convert_to({place}, 'UTF8')"
        return f"substr(sha256('\\x{key.hex()}'::bytea || {place}), 1, {DIGITS // 2})"
    if isinstance(order, KeyedHash):
        name = f"r{statements.place(order.column)}"
        return f"{_hashed(order.key, name)} || {_hashed(order.tie_key, place)}"
    raise ParameterError(
        f"order must be Order.shuffled() or Order.keyed_hash(...) in the database, got {type(order).__name__}"
    )


def _hashed(key: bytes, expression: str) -> str:
    return f"substr(sha256(convert_to('{key.hex()}' || {expression}, 'UTF8')), 1, {DIGITS // 2})"


def statement(rows: str, plan: bytes, *, passes: int, ordered: bool) -> str:
    """One query of so many passes over the rows of a query; `ordered` sorts them by their key, once."""
    given = f"'\\x{plan.hex()}'::bytea"
    if not ordered:
        source = " UNION ALL ".join(f"SELECT {i} AS pass, * FROM ({rows}) AS r{i}" for i in range(passes))
        return f"SELECT {AGGREGATE}({given}, pass, key, x, y) AS made FROM ({source}) AS q"
    if passes == 1:
        source = f"SELECT 0 AS pass, * FROM ({rows}) AS r ORDER BY key OFFSET 0"
        return f"SELECT {AGGREGATE}({given}, pass, key, x, y) AS made FROM ({source}) AS q"
    source = " UNION ALL ".join(f"SELECT {i} AS pass, * FROM sorted" for i in range(passes))
    return (
        f"WITH sorted AS MATERIALIZED ({rows} ORDER BY key) "
        f"SELECT {AGGREGATE}({given}, pass, key, x, y) AS made FROM ({source}) AS q"
    )


def train(ask: Ask, rows: Callable[[int], str], course: AggregatePasses, *, ordered: bool = True) -> Floats:
    """Run all passes over the rows of a query (`rows` of each portion); the result before any noise.

    `ordered=False` takes them as they are stored: for tables whose layout carries no information, and benchmarks.
    """
    reached = Reached.start(course.options.dimension)
    for portion, passes in enumerate(course.portions()):
        query = statement(rows(portion), course.plan(reached, passes), passes=passes, ordered=ordered)
        reached = reached.after(_answer(ask, query))
    course.check(reached)
    return reached.result()


def _answer(ask: Ask, query: str) -> Any:
    meaning = None
    try:
        return ask(query).column("made")[0].as_py()
    except DataError as error:
        meaning = next((said for code, said in ERRORS.items() if f"error {code}" in str(error)), None)
        if meaning is None:
            raise
    raise DataError(f"PostgreSQL could not train beside the rows: {meaning}; nothing was released")
