"""Fault: one planted mistake and the tests that must catch it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One fault: in a file under src/holdfast, `old` (which occurs once) becomes `new`."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
