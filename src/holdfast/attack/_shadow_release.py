"""shadow_release(): one target record against a synthesiser that can be run (Stadler, Oprisanu and Troncoso 2022).

The attacker synthesises many times, with the target in the data and without, learns from the first half of the
releases how the target shows in them, and is judged on the second half. Every score comes from a synthesis of its
own, so the exact limits hold and a false promise is refuted.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from holdfast._argument_kinds import type_text
from holdfast._arguments import Seed, checked
from holdfast._arrays import Codes, Floats
from holdfast._ranges import require_numbers
from holdfast.attack._attacks.marginal_ratio import column_sets
from holdfast.attack._membership_result import MembershipResult, audited_curve
from holdfast.attack._proof import Proof, proved_curve
from holdfast.attack._records import Records, has_columns
from holdfast.attack._rows.released_rows import reader
from holdfast.data._schema import Schema
from holdfast.errors import AssumptionWarning, BudgetWarning, DataError, NotPrivateWarning, require
from holdfast.privacy._adjacency import Adjacency

PENALTY = 0.1
"""C of the logistic regression that reads the releases: features are many, releases few."""


@checked
def shadow_release(
    synthesise: Callable[[Any], Any],
    target: Any,
    population: Any,
    *,
    schema: Schema | None = None,
    beside: Any = 500,
    trials: int = 100,
    adjacency: Adjacency | str = Adjacency.replace,
    proved: Proof | None = None,
    confidence: float = 0.95,
    random_state: Seed | None = None,
) -> MembershipResult:
    """How well the synthetic rows tell whether one record, `target`, was in the data.

    In each of `trials` pairs the data are the rows beside the target, and then: the target, or under `replace` another
    row of the population, under `add_remove` nobody. The releases are seen through the shares of rows that agree with
    the target in one column, two and three. Half of the trials teach the attack. On the others it is held against
    `proved`: holdfast decided who is in, and every score has a synthesis of its own, so the verdict may be `refuted`.

    Parameters
    ----------
    synthesise : callable
        From a table of the population's kind to synthetic rows; it must draw fresh noise in every call.
    target : table
        The record, a table of one row.
    population : table
        Other people.
    schema : Schema, optional
        How columns are read; arrays of numbers go without.
    beside : int or table
        So many rows drawn anew from the population in each trial, or always these.
    trials : int
        Pairs of syntheses, with the target and without.
    adjacency : str or Adjacency
        Whether the target replaces somebody or is added.
    proved : Guarantee, PrivacyCurve or TradeOff, optional
        What the synthesiser promises.
    confidence : float
        Of a refutation.
    random_state : int, optional
        Of the attacker's own choices.

    Returns
    -------
    MembershipResult
        One score for each synthesis.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> people, rare = draw.normal(size=(2000, 4)), np.full((1, 4), 3.0)
    >>> leak = shadow_release(lambda data: data[draw.permutation(len(data))], rare, people, beside=50, trials=60,
    ...                       random_state=0)
    >>> leak.auc > 0.95, leak.game
    (True, 'flipped')
    """
    if schema is not None:
        schema.require_confirmed()
    require(trials >= 8, "trials", trials, ">= 8", "half of them teach the attack")
    relation = Adjacency.of(adjacency)
    people, target_record = _records(population), _records(target)
    require(target_record.count == 1, "target", target_record.count, "a table of one row")
    number = isinstance(beside, int | np.integer)
    always, size = (None, int(beside)) if number else (_records(beside), 1)
    require(
        1 <= size <= people.count - 1, "beside", size, f"in [1, {people.count - 1}], the population less one"
    )
    read = reader(schema, people.features)
    cells, random = read(target_record.features).cells, np.random.default_rng(random_state)
    sets, start = column_sets(cells.shape[1]), time.perf_counter()
    views = np.empty((trials, 2, len(sets)))
    with warnings.catch_warnings():
        # These releases never leave the attacker: what they would promise is nobody's concern.
        for kind in (BudgetWarning, NotPrivateWarning, AssumptionWarning):
            warnings.simplefilter("ignore", kind)
        for trial in range(trials):
            rows = random.permutation(people.count)[: size + 1]
            background = people.take(rows[:size]) if always is None else always
            without_target = (
                background.join(people.take(rows[size:]))
                if relation is not Adjacency.add_remove
                else background
            )
            for place, data in enumerate((without_target, background.join(target_record))):
                views[trial, place] = set_shares(read(synthesise(data.features)).cells, cells, sets)
    inside, outside = _learned_scores(views[: trials // 2], views[trials // 2 :])
    return MembershipResult(
        attack="shadow_release",
        member_scores=inside,
        non_member_scores=outside,
        game="flipped",
        adjacency=relation,
        proved=None if proved is None else proved_curve(proved, relation),
        audited=audited_curve(inside, outside, confidence=confidence),
        confidence=confidence,
        audited_at=lambda sure: audited_curve(inside, outside, confidence=sure),
        seconds=time.perf_counter() - start,
    )


def set_shares(rows: Codes, target: Codes, sets: list[tuple[int, ...]]) -> Floats:
    """The share of rows that agree with the target in each set of columns: cheap marginal queries.

    >>> set_shares(np.array([[0, 1], [0, 0]]), np.array([[0, 1]]), [(0,), (1,), (0, 1)]).tolist()
    [1.0, 0.5, 0.5]
    """
    agree = rows == target
    return np.array([agree[:, list(columns)].all(axis=1).mean() for columns in sets])


def _learned_scores(lessons: Floats, judged: Floats) -> tuple[Floats, Floats]:
    """Log-odds of "the target was in" for the judged releases: with it, and without."""
    from sklearn.linear_model import LogisticRegression

    features = lessons.reshape(-1, lessons.shape[2])
    centre, spread = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-12)
    inside = np.tile([False, True], len(lessons))
    model = LogisticRegression(C=PENALTY, max_iter=500).fit((features - centre) / spread, inside)
    scores = ((judged - centre) / spread) @ model.coef_[0] + model.intercept_[0]
    return scores[:, 1], scores[:, 0]


def _records(table: Any) -> Records:
    """A table whose rows can be taken and joined."""
    if isinstance(table, Mapping):
        import pyarrow as pa

        table = pa.table({name: pa.array(np.asarray(values)) for name, values in table.items()})
    rows = table if has_columns(table) else require_numbers("rows", table)
    if not has_columns(rows):
        raise DataError(f"rows must be a data frame, an Arrow table or a matrix, got {type_text(table)}")
    return Records(features=rows, labels=np.zeros(rows.shape[0], dtype=np.int8))
