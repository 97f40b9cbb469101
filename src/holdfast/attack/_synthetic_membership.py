"""synthetic_membership(): membership attacks that see the released rows only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast._arguments import Seed, checked
from holdfast.attack._attack import Attack
from holdfast.attack._catalogue import find_attacks, notes_about
from holdfast.attack._membership_case import measured_results
from holdfast.attack._membership_result import MembershipResult
from holdfast.attack._proof import Proof, comparable_curve
from holdfast.attack._report import AttackReport
from holdfast.attack._rows.released_rows import opened_rows, reader
from holdfast.attack._rows.rows_case import RowsCase
from holdfast.data._schema import Schema


@checked
def synthetic_membership(
    rows: Any,
    *,
    members: Any,
    non_members: Any,
    reference: Any = None,
    attacks: str | Sequence[str | Attack] = "all",
    schema: Schema | None = None,
    proved: Proof | None = None,
    random_state: Seed | None = None,
) -> AttackReport[MembershipResult]:
    """How well attacks that see released rows only tell the people in the data from others.

    Parameters
    ----------
    rows : object
        What was released: a frame, table, mapping or array, a synthetic `Release`, or the path of a saved one.
    members, non_members : table
        People who were in the data, and others from the same source; tables of the same columns.
    reference : table, optional
        Records that are neither, for attacks that compare with what is usual; without it a random half of the
        non-members serves there and is not scored.
    attacks : str or sequence
        "all", names, or attacks of your own, of kind "rows".
    schema : Schema, optional
        How columns are read; a release brings its own, and arrays of numbers go without.
    proved : Guarantee, PrivacyCurve or TradeOff, optional
        What is proved, by default the promise of the release.
    random_state : int, optional
        The same one gives the same report.

    Returns
    -------
    AttackReport
        Of kind "rows", with a `MembershipResult` for each attack.

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> people = draw.normal(size=(900, 12))
    >>> copied = people[:300] + 0.1 * draw.normal(size=(300, 12))      # a synthesiser that blurs its data a little
    >>> report = synthetic_membership(copied, members=people[:300], non_members=people[300:600],
    ...                               reference=people[600:])
    >>> bool(report["density_ratio"].auc > 0.95), report.audience
    (True, 'internal')
    """
    if schema is not None:
        schema.require_confirmed()
    table, declared, guarantee = opened_rows(rows, schema)
    read = reader(declared, table)
    inside, outside = read(members), read(non_members)
    case = RowsCase(
        rows=read(table),
        records=inside.join(outside),
        population=None if reference is None else read(reference),
    )
    chosen = find_attacks(attacks, "rows")
    curve, unlike = comparable_curve(guarantee if proved is None else proved)
    results, skipped = measured_results(chosen, case, inside.count, proved=curve, seed=random_state)
    playing = [attack for attack in chosen if attack.name not in skipped]
    return AttackReport(kind="rows", results=results, skipped=skipped, notes=notes_about(playing) | unlike)
