"""Every release of a run, and the same run on a neighbour that is told the same answers."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.privacy import Account, PrivacyCurve
from holdfast.privacy._account.account import Permit
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._workload import Workload
from holdfast.synth.methods.method import SynthesisMethod

Record = list[tuple[Mechanism, Any, Any]]


def recorded(
    method: SynthesisMethod, table: ExactCounts, workload: Workload, limit: PrivacyCurve, told: Record | None
) -> Record:
    """Each (mechanism, value, drawn) of a run; with `told`, what was drawn then is given back instead."""
    kept: Record = []
    real, of_permit = Account.release, Permit.release

    def keep(mechanism: Mechanism, value: Any, own: Any) -> Any:
        drawn = own if told is None else told[len(kept)][2]
        kept.append((mechanism, value, drawn))
        return drawn

    def release(self: Account, mechanism: Mechanism, value: Any, **options: Any) -> Any:
        return keep(mechanism, value, real(self, mechanism, value, **options))

    def release_by_permit(self: Permit, value: Any) -> Any:
        return keep(self.mechanism, value, of_permit(self, value))

    opened = Account(limit, adjacency=table.adjacency, unit=table.unit, currency="zcdp", seed=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Account, "release", release)
        patch.setattr(Permit, "release", release_by_permit)
        method.fit(table, workload, account=opened)
    return kept


def distances(
    method: SynthesisMethod,
    first: ExactCounts,
    second: ExactCounts,
    workload: Workload,
    *,
    limit: PrivacyCurve,
) -> list[float]:
    """How far apart the two tables' values are in every release, over the declared sensitivity.

    The second run is told what the first one released, so both must ask the same questions.
    """
    one = recorded(method, first, workload, limit, None)
    two = recorded(method, second, workload, limit, one)
    assert [mechanism for mechanism, _, _ in one] == [mechanism for mechanism, _, _ in two]
    return [
        mechanism.distance(mechanism.check(a), mechanism.check(b))
        for (mechanism, a, _), (_, b, _) in zip(one, two, strict=True)
    ]
