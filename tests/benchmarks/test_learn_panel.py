"""The panel's verdicts: made from cells, and able to say that `auto` is behind."""

from __future__ import annotations

from typing import Any

import numpy as np
from studies.benchmarks.learn_panel_page import FACTS, SETTLED, falling, rows, totals, verdict
from studies.benchmarks.learn_panel_tables import LATER, TABLES, small, wide
from studies.benchmarks.learn_panel_worker import measure


def cells(**scores: list[float]) -> dict[str, Any]:
    return {
        f"Adult|1|delta|{method.replace('_', ' ')}|{repetition}": {"score": score, "chosen": "noisy_gd"}
        for method, made in scores.items()
        for repetition, score in enumerate(made)
    }


def test_a_verdict_pairs_repetitions_and_names_the_best() -> None:
    kept = cells(auto=[0.80, 0.90], objective=[0.79, 0.89], opacus_4=[0.82, 0.92])
    found = verdict(kept, "Adult", "1", "delta")
    assert found is not None
    assert found.house is not None
    assert found.peer is not None
    assert (found.worst, found.house[0], found.peer[0]) == ("opacus 4", "objective", "opacus 4")
    assert abs(found.lost - 0.02) < 1e-12
    assert not found.holds("accuracy")
    assert "behind opacus 4" in totals(kept)[0]
    level = verdict(cells(auto=[0.80, 0.90], opacus_4=[0.803, 0.903]), "Adult", "1", "delta")
    assert level is not None
    assert level.holds("accuracy")


def test_falling_accuracy_is_said() -> None:
    kept = cells(auto=[0.85, 0.85], objective=[0.8, 0.8])
    kept |= {key.replace("|1|", "|8|"): cell | {"score": 0.7} for key, cell in kept.items()}
    assert falling(kept) == ["Adult (delta) from ε = 1 to 8: 0.1500"]


def test_the_pages_facts_are_those_of_the_tables() -> None:
    assert set(FACTS) == set(TABLES)
    for name, table in (
        ("n 200", small()),
        ("d 800", wide()),
        *((name, made()) for name, made in LATER.items()),
    ):
        assert FACTS[name] == (table.train, table.metric)


def test_a_score_that_diverged_is_shown_as_such() -> None:
    kept = {
        f"Warfarin|1|pure|{name}|0": {"score": score}
        for name, score in (("auto", 0.1), ("diffprivlib 1", -1.7e16))
    }
    assert "| < -100 diffprivlib 1 |" in rows(kept, ["Warfarin"], "pure")[-1]


def test_splits_are_asked_for_until_the_error_is_small_or_the_lead_is_sure() -> None:
    """At most twice as many at a time; none where `auto` is ahead by two errors, more where one split says all."""
    unsure = verdict(cells(auto=[0.80, 0.90], opacus_4=[0.80, 0.92]), "Adult", "1", "delta")
    ahead = verdict(cells(auto=[0.80, 0.90], opacus_4=[0.70, 0.75]), "Adult", "1", "delta")
    close = verdict(cells(auto=[0.80, 0.90], opacus_4=[0.802, 0.904]), "Adult", "1", "delta")
    once = verdict(cells(auto=[0.80], opacus_4=[0.70]), "Adult", "1", "delta")
    assert unsure is not None
    assert ahead is not None
    assert close is not None
    assert once is not None
    assert unsure.lost_error > SETTLED >= close.lost_error
    assert ahead.lost_error > SETTLED
    assert [one.wanted for one in (unsure, ahead, close, once)] == [4, 2, 2, 3]


def test_a_target_that_never_changes_is_measured_in_half_ranges() -> None:
    rows, labels = np.ones((5, 1)), np.full(5, -0.4)
    assert abs(measure("r2", np.array([[-0.3]]), rows, labels) - 0.99) < 1e-12
