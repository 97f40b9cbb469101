"""The rings of the suite: what `make quick`, `make test` and `make deep` run, by marks.

`make quick` leaves out what is slow or deep, `make test` what is deep, `make deep` nothing. Deep is what carries the
mark `deep`, and of the instances of a test with the mark `share` all but a few. Tests over drawn examples draw fewer,
unless HOLDFAST_DEEP=1. docs/decisions/rings.md says by which rule a test is deep.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import hypothesis
import pytest

from tests.studies.size import deep

LEAST_EXAMPLES = 20
EXAMPLE_SHARE = 3


def mark_deep(items: Sequence[pytest.Item]) -> None:
    """All instances of a test beyond its share."""
    families: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("share"):
            families[item.nodeid.partition("[")[0]].append(item)
    for instances in families.values():
        marker = instances[0].get_closest_marker("share")
        assert marker is not None
        near = shared(instances, *marker.args, **marker.kwargs)
        for place, instance in enumerate(instances):
            if place not in near:
                instance.add_marker(pytest.mark.deep)


def shared(instances: Sequence[Any], count: int | None = None, *, each: str = "") -> set[int]:
    """The places of `count` instances, evenly apart, or of the first one for every value of the parameter `each`."""
    if count is not None:
        count = min(count, len(instances))
        return {place * len(instances) // count for place in range(count)}
    firsts: dict[str, int] = {}
    for place, instance in enumerate(instances):
        value = instance.callspec.params[each]
        firsts.setdefault(str(getattr(value, "name", value)), place)
    return set(firsts.values())


def draw_fewer_examples(items: Sequence[pytest.Item]) -> None:
    """A share of the examples of each test over drawn examples; its own settings else hold."""
    if deep():
        return
    for function in {getattr(item, "obj", None) for item in items}:
        function = getattr(function, "__func__", function)
        # Where `@given` and `@settings` keep them; hypothesis's own pytest plug-in reads them there.
        own = getattr(function, "_hypothesis_internal_use_settings", None)
        if own is not None:
            fewer = hypothesis.settings(own, max_examples=examples(own.max_examples))
            vars(function)["_hypothesis_internal_use_settings"] = fewer


def examples(full: int) -> int:
    """How many of the full number are drawn outside `make deep`.

    >>> [examples(full) for full in (12, 30, 60, 300)]
    [12, 20, 20, 100]
    """
    return min(full, max(LEAST_EXAMPLES, full // EXAMPLE_SHARE))
