"""One line for each: holdfast's own contracts, on what this package registers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from holdfast_staircase.json_lines import ENGINE
from holdfast_staircase.margin import ATTACK
from holdfast_staircase.mean_direction import METHOD
from holdfast_staircase.staircase import Staircase
from holdfast_staircase.weekday import Weekday

from holdfast.testing import (
    EngineStore,
    check_attack,
    check_column,
    check_engine,
    check_mechanism,
    check_method,
)


def test_the_mechanism() -> None:
    check_mechanism(Staircase)


def test_the_learner() -> None:
    check_method(METHOD)


def test_the_attack() -> None:
    check_attack(ATTACK)


def test_the_column_kind() -> None:
    check_column(Weekday("visit"))


def test_the_engine(tmp_path: Path) -> None:
    def put(rows: Any) -> dict[str, Any]:
        """Store an Arrow table as lines of JSON; what `open_table` is then told."""
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()), encoding="utf-8")
        return {"source": f"jsonl://{path}", "engine": ENGINE}

    # Lines of JSON hold numbers, truth values and texts: no decimals, no dates, no infinities.
    infinite = (float("inf"), float("-inf"), float("nan"))
    check_engine(
        EngineStore(put=put, types=("int64", "float64", "boolean", "text"), leave_out=infinite), cases=10
    )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q"]))
