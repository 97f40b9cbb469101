from __future__ import annotations

import pytest

from holdfast._assumption import Assumption
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy import Adjacency, Guarantee, PrivacyUnit, PureDP, resolve_adjacency


def test_argument_then_schema_then_replace() -> None:
    assert resolve_adjacency(None, None) is Adjacency.replace
    assert resolve_adjacency(None, "zero_out") is Adjacency.zero_out
    assert resolve_adjacency("add_remove", None) is Adjacency.add_remove
    assert resolve_adjacency("zero_out", Adjacency.zero_out) is Adjacency.zero_out
    with pytest.raises(AdjacencyError, match=r"zero_out.*add_remove"):
        resolve_adjacency("zero_out", "add_remove")


def test_unknown_adjacency_names_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="replace, zero_out, add_remove"):
        Adjacency.of("swap")


def test_gradient_factors_and_counts() -> None:
    assert [a.gradient_factor for a in Adjacency] == [2, 1, 1]
    assert [a.count_is_public for a in Adjacency] == [True, True, False]


@pytest.mark.parametrize(("column", "rows"), [(None, 2), ("user", 0), ("user", -3)])
def test_bad_units_are_refused(column: str | None, rows: int) -> None:
    with pytest.raises(ParameterError, match="max_rows"):
        PrivacyUnit(column, rows)


@pytest.mark.parametrize("column", ["", "  ", 3])
def test_a_unit_has_a_name(column: str) -> None:
    with pytest.raises(ParameterError, match="column"):
        PrivacyUnit(column, 2)


def promise(adjacency: Adjacency, unit: PrivacyUnit) -> Guarantee:
    return Guarantee(curve=PureDP(1.0), adjacency=adjacency, unit=unit, theorem="a test")


def test_guarantees_of_other_neighbours_or_units_do_not_mix() -> None:
    mine = promise(Adjacency.replace, PrivacyUnit())
    with pytest.raises(AdjacencyError):
        mine.compose(promise(Adjacency.add_remove, PrivacyUnit()))
    with pytest.raises(AdjacencyError):
        mine.compose(promise(Adjacency.replace, PrivacyUnit.user("u", max_rows=3)))
    more = Assumption(kind="labels", text="x")
    assert mine.compose(mine.assuming(more, more)).assumptions == (more,)
    assert Guarantee.from_json(mine.to_json()) == mine


def test_summary_speaks_to_people() -> None:
    text = (
        promise(Adjacency.replace, PrivacyUnit())
        .assuming(Assumption(kind="labels", text="labels are public"))
        .summary()
    )
    assert "73.2 %" in text  # e / (1 + e) = 0.73106, rounded up
    assert "labels are public" in text
