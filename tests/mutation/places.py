"""Where things are: the rooms that are mutated, the files that are committed, and those that are made again."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path("src") / "holdfast"
ROOMS = ("privacy", "noise", "learn", "synth", "data", "ledger")

HERE = Path(__file__).resolve().parent
DRAWN = HERE / "drawn.jsonl"
PAYING = HERE / "paying.json"
VERDICTS = HERE / "verdicts.jsonl"
READINGS = HERE / "readings.toml"
#: Not committed: which lines each test runs, measured by `python -m tests.mutation trace`.
TRACES = ROOT / "out" / "mutation"
