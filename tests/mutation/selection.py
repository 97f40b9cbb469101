"""Which tests a mutant is tried against: what is fast, what takes a moment more in the rooms, and the refutation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import pytest

from tests import pace, rings

#: Folders of tests that are about the rooms; what is elsewhere starts processes, or asks about pages and commands.
FOLDERS = (
    "privacy",
    "noise",
    "learn",
    "synth",
    "data",
    "ledger",
    "contracts",
    "kernel",
    "refute",
    "release",
)
SUBJECTS = "tests/refute/test_refutation.py::test_what_is_in_use_survives"
#: Of a test that is slow, the most processor seconds.
SLOWEST = 0.15
#: Of a test with parameters, the most instances, evenly apart. A survivor is tried against all of them.
INSTANCES = 4


def chosen(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Those of them that mutants are tried against."""
    measured = pace.stored()
    families: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if _is_chosen(item, measured):
            families[family_of(item.nodeid)].append(item)
    return [
        item
        for family, instances in families.items()
        for place, item in enumerate(instances)
        if place in rings.shared(instances, 1 if family.startswith(SUBJECTS) else INSTANCES)
    ]


def family_of(name: str) -> str:
    """Instances of one test; of the refutation, subjects of one method, which differ in their neighbour relation."""
    family, _, parameters = name.partition("[")
    return f"{family}[{re.split('[ (]', parameters)[0]}" if name.startswith(SUBJECTS) else family


def is_left_out(item: pytest.Item) -> bool:
    """What is deep, or needs a server, a browser or the benchmark data."""
    needs = set(getattr(item, "fixturenames", ())) & pace.COSTLY
    served = pace.server_of(item.nodeid) < 2 or "server" in item.nodeid
    return bool(item.get_closest_marker("deep") or needs or served)


def _is_chosen(item: pytest.Item, measured: dict[str, float]) -> bool:
    name = item.nodeid
    if is_left_out(item):
        return False
    if name.startswith(SUBJECTS):
        return True
    if item.get_closest_marker("slow") is None:
        return True
    return name in measured and measured[name] <= SLOWEST


def arguments() -> list[str]:
    """What pytest is told to collect: the folders, and the examples in the docstrings of the rooms."""
    from tests.mutation.places import ROOMS, SOURCES

    return [*(f"tests/{name}" for name in FOLDERS), *(str(SOURCES / name) for name in ROOMS)]
