"""Singling out, linking, inferring: numbers by hand, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdfast.attack import Attack, DisclosureResult, ReleasedRows, synthetic_disclosure
from holdfast.attack._attacks.singling_out import isolates, predicates
from holdfast.attack._rows.distances import nearest
from holdfast.errors import ParameterError


def _rows(numbers: list[list[float]], widths: tuple[int, ...] = ()) -> ReleasedRows:
    values = np.array(numbers)
    return ReleasedRows(
        numbers=values, cells=np.zeros((len(values), len(widths) or values.shape[1]), int), widths=widths
    )


def test_the_risk_is_what_members_have_beyond_the_control_group() -> None:
    found = DisclosureResult(attack="x", members=(80, 100), control=(60, 100), blind=(0, 100))
    assert found.risk == pytest.approx(0.5)
    low, high = found.limits
    assert low < 0.5 < high
    # Limits of both rates at once, each at 97.5 %.
    assert low == pytest.approx(
        (found.rate("members", confidence=0.975).low - found.rate("control", confidence=0.975).high)
        / (1 - found.rate("control", confidence=0.975).high)
    )
    same = DisclosureResult(attack="x", members=(60, 100), control=(60, 100), blind=(60, 100))
    assert same.risk == 0.0


def test_limits_of_the_risk_hold_at_their_rate() -> None:
    random, outside = np.random.default_rng(0), 0
    for _ in range(400):
        members, control = random.binomial(100, 0.5), random.binomial(100, 0.3)
        low, high = DisclosureResult(
            attack="x", members=(int(members), 100), control=(int(control), 100), blind=(0, 1)
        ).limits
        outside += not low <= 0.2 / 0.7 <= high
    assert outside <= 20


def test_a_description_fits_one_or_it_does_not_count() -> None:
    people = _rows([[1.0, 5.0], [2.0, 6.0], [2.0, 7.0]])
    assert isolates(((0, 1.0, -1),), people)
    assert not isolates(((0, 2.0, 1),), people)
    assert isolates(((0, 2.0, 1), (1, 7.0, 1)), people)
    assert not isolates(((0, 9.0, 1),), people)
    made = predicates(people, people, 5, np.random.default_rng(0), unique=True)
    assert made
    assert all(isolates(each, people) for each in made)


def test_columns_count_alike_whether_they_are_numbers_or_categories() -> None:
    """One category that differs is as far as the whole range of a number."""
    rows = _rows([[0.0, 1.0, 0.0], [0.9, 0.0, 1.0]], widths=(1, 2))
    person = _rows([[0.0, 0.0, 1.0]], widths=(1, 2))
    assert nearest(person, rows, [0, 1]).tolist() == [1]
    assert nearest(person, rows, [0]).tolist() == [0]


def test_one_column_cannot_be_linked_and_numbers_are_checked() -> None:
    people = np.arange(20.0)[:, None]
    with pytest.raises(ParameterError, match="two columns"):
        synthetic_disclosure(people, members=people, control=people, attacks="linkability")
    with pytest.raises(ParameterError, match="number"):
        synthetic_disclosure(people, members=people, control=people, number=0)
    with pytest.raises(ParameterError, match="singling_out"):
        synthetic_disclosure(people, members=people, control=people, attacks="singling")
    with pytest.raises(ParameterError, match="successes"):
        DisclosureResult(attack="x", members=(5, 4), control=(1, 2), blind=(1, 2))


def test_a_report_is_drawn_and_stored_without_anybody() -> None:
    draw = np.random.default_rng(0)
    people = draw.normal(size=(120, 4))
    report = synthetic_disclosure(people[:60], members=people[:60], control=people[60:], number=50)
    record = report.to_json()
    assert record["audience"] == "internal"
    assert len(record["attacks"]) == 6
    assert "INTERNAL" in report.summary()
    figure = report.plot()
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()][::-1][0] == "singling out"


def test_the_halves_that_are_linked_can_be_chosen() -> None:
    """Two columns that name a person on either side link everybody; two of chance link nobody."""
    random = np.random.default_rng(5)
    people = np.column_stack([random.normal(size=(600, 4)), random.integers(0, 2, size=(600, 2))])
    told: dict[str, Any] = {
        "members": people[:300],
        "control": people[300:],
        "attacks": ["linkability"],
        "number": 200,
    }
    sharp = synthetic_disclosure(people[:300], halves=(["0", "1"], ["2", "3"]), **told)
    blunt = synthetic_disclosure(people[:300], halves=(["0", "1"], ["4"]), **told)
    assert sharp["linkability"].rate("members") > 0.95
    assert blunt["linkability"].rate("members") < 0.1
    for halves, word in (
        ((["0"],), "two lists"),
        ("01", "each is a list of texts"),
        ((["0"], ["9"]), "columns of the rows"),
        ((["0"], []), "columns of the rows"),
        ((["0", "1"], ["1"]), "without a column in both"),
    ):
        with pytest.raises(ValueError, match=word):
            synthetic_disclosure(people[:300], halves=halves, **told)


def test_the_secrets_that_are_inferred_can_be_chosen() -> None:
    people = np.random.default_rng(6).normal(size=(300, 3))
    made = synthetic_disclosure(
        people[:150],
        members=people[:150],
        control=people[150:],
        attacks=["inference"],
        secrets=["2"],
        number=50,
    )
    assert [one.attack for one in made] == ["inference of 2"]
    with pytest.raises(ValueError, match="secrets must be columns of the rows"):
        synthetic_disclosure(people, members=people, control=people, secrets=["pay"])


def test_an_attack_of_others_is_noted() -> None:
    mine = Attack(
        name="mine",
        kind="disclosure",
        guess=lambda case: {"mine": ((1, 9), (1, 9), (1, 9))},
        paper="none",
        knows=("rows",),
    )
    people = np.random.default_rng(7).normal(size=(60, 3))
    report = synthetic_disclosure(people, members=people, control=people, attacks=[mine])
    assert "'mine' is not registered" in report.summary()
    assert "is not registered" in report.to_json()["notes"]["mine"]
