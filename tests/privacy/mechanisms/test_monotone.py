"""Monotone scores are none where a unit is replaced (finding P12)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import AdjacencyError
from holdfast.privacy import Account, Adjacency, ApproxDP, Exponential, PermuteAndFlip, PureDP, SubsampledPure
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.privacy._mechanisms import mechanism_from_json


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
@given(epsilon=st.floats(1e-3, 4.0), sensitivity=st.floats(1e-3, 1e3))
def test_monotone_scores_are_refused_wherever_a_unit_is_replaced(
    kind: type[Exponential] | type[PermuteAndFlip], epsilon: float, sensitivity: float
) -> None:
    made = kind(epsilon=epsilon, sensitivity=sensitivity, monotone=True)
    limit, roomy = PureDP(10.0), ApproxDP(100.0, 0.1)
    account, planned = Account(limit), {"plan": [(made, 1)], "currency": "plan"}
    ways: list[Callable[[], object]] = [
        lambda: dataclasses.replace(made, adjacency=Adjacency.replace),
        lambda: mechanism_from_json(made.to_json() | {"adjacency": "replace"}),
        lambda: account.release(made, [1, 2]),
        lambda: account.permit(made, times=1),
        lambda: account.split(0.5)[0].release(made, [1, 2]),
        lambda: ResumableAccount.of(account, "job").release(made, [1, 2]),
        lambda: ResumableAccount.of(account, "job").permit(made, times=1),
        lambda: SubsampledPure(base=made, rate=0.5, adjacency="replace"),  # type: ignore[arg-type]
        lambda: Account(roomy, **planned),  # type: ignore[arg-type]
    ]
    for way in ways:
        with pytest.raises(AdjacencyError, match="replace"):
            way()
    assert account.journal.entries == ()
    for adjacency in (Adjacency.add_remove, Adjacency.zero_out):
        Account(limit, adjacency=adjacency).release(dataclasses.replace(made, adjacency=adjacency), [1, 2])
    Account(limit).release(dataclasses.replace(made, monotone=False), [1, 2])
