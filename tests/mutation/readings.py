"""Readings: what somebody who read a survivor found it to be."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.mutation.places import READINGS

#: "equivalent": what is computed is the same, and `why` proves it. "sound": it differs, and no promise depends
#: on it: a choice by public numbers, or a bound that holds all the same. "law": `test` was written for it and kills it.
Proof = Literal["equivalent", "sound", "law"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One survivor, the class that it belongs to, and why it is nothing to fear, or by which test it dies now."""

    number: int
    kind: str
    proof: Proof
    why: str
    test: str = ""


def stored(file: Path = READINGS) -> dict[int, Reading]:
    """By number."""
    if not file.is_file():
        return {}
    records = tomllib.loads(file.read_text(encoding="utf-8")).get("survivor", [])
    return {record["number"]: Reading(**record) for record in records}
