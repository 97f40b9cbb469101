"""synthetic_membership(): who was in the data, told from the released rows alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, checked
from holdfast.attack._records import set_aside
from holdfast.attack._report import MembershipReport
from holdfast.attack._result import AttackResult, Proof, comparable_curve, find_attacks, words_about
from holdfast.attack._rows import REGISTRY
from holdfast.attack._rows.released_rows import RowsAttack, RowsCase, opened, reader
from holdfast.data._schema import Schema


@checked
def synthetic_membership(
    rows: Any,
    *,
    members: Any,
    non_members: Any,
    reference: Any = None,
    attacks: str | Sequence[str | RowsAttack] = "all",
    schema: Schema | None = None,
    proved: Proof | None = None,
    random_state: Seed | None = None,
) -> MembershipReport:
    """How well attacks that see released rows only tell the people in the data from others.

    `rows` are what was released: a frame, table, mapping or array, a synthetic `Release`, or the path of a saved one.
    `members` and `non_members` are tables of the same columns, from the same source. `reference` are records that are
    neither, for attacks that compare with what is usual; without it a random half of the non-members serves there and
    is not scored. `schema` says how columns are read; a release brings its own, and arrays of numbers go without.
    `proved` is by default the promise of the release.

    >>> draw = np.random.default_rng(0)
    >>> people = draw.normal(size=(900, 12))
    >>> copied = people[:300] + 0.1 * draw.normal(size=(300, 12))      # a synthesiser that blurs its data a little
    >>> report = synthetic_membership(copied, members=people[:300], non_members=people[300:600],
    ...                               reference=people[600:])
    >>> bool(report["density_ratio"].auc > 0.95), report.audience
    (True, 'internal')
    """
    if schema is not None:
        schema.confirmed()
    table, declared, guarantee = opened(rows, schema)
    read = reader(declared, table)
    inside, outside = read(members), read(non_members)
    case = RowsCase(
        rows=read(table),
        records=inside.join(outside),
        reference=None if reference is None else read(reference),
    )
    chosen = find_attacks(attacks, REGISTRY)
    proof = guarantee if proved is None else proved
    curve, unlike = comparable_curve(proof)
    results = []
    for attack in chosen:
        start = time.perf_counter()
        arranged, is_member = _arranged(attack, case, inside.count, random_state)
        scores = attack.scores(arranged)
        result = AttackResult(
            attack=attack.name,
            member_scores=scores[is_member],
            non_member_scores=scores[~is_member],
            tried=len(chosen),
            proved=curve,
            seconds=time.perf_counter() - start,
        )
        results.append(result)
    notes = {attack.name: attack.note for attack in chosen if attack.note is not None}
    notes |= words_about(chosen, REGISTRY)
    return MembershipReport(results=tuple(results), notes=notes | unlike)


def _arranged(
    attack: RowsAttack, case: RowsCase, members: int, seed: Seed | None
) -> tuple[RowsCase, NDArray[np.bool_]]:
    """The case of one attack, and who is a member: some non-members become the reference where one is needed."""
    is_member = np.arange(case.records.count) < members
    if not attack.needs_reference or case.reference is not None:
        return case, is_member
    kept, aside = set_aside(is_member, seed, otherwise="reference=")
    return (
        replace(case, records=case.records.take(kept), reference=case.records.take(aside)),
        is_member[kept],
    )
