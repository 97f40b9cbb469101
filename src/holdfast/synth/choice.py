"""Which method, from public quantities only: the domain, the workload, the promise, and who is protected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import ParameterError, require
from holdfast.synth.methods import METHODS
from holdfast.synth.methods.method import SynthesisMethod, SynthesisTask


@dataclass(frozen=True, kw_only=True)
class SynthesizerChoice:
    """A method with its options, and why."""

    entry: SynthesisMethod
    reason: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The method's name."""
        return self.entry.name

    def summary(self) -> str:
        """One line."""
        return f"method='auto' chose {self.method!r}: {self.reason}"


def find_synthesis_method(method: str | SynthesisMethod) -> SynthesisMethod:
    """The method of that name; a method itself is taken as it is.

    >>> find_synthesis_method("independent").pure
    True
    """
    if isinstance(method, SynthesisMethod):
        return method
    known = {entry.name: entry for entry in METHODS}
    listed = isinstance(method, str) and method in known
    require(
        listed, "method", method, "'auto' or one of " + ", ".join(sorted(known)), "or give a SynthesisMethod"
    )
    return known[method]


def choose_synthesis_method(
    task: SynthesisTask, methods: Sequence[SynthesisMethod] = METHODS
) -> SynthesizerChoice:
    """Of the methods that take such a task, the one of the smallest place; `docs/synth.md` says how they were found."""
    found = [
        (rank.place, SynthesizerChoice(entry=method, reason=rank.reason, options=rank.options))
        for method in methods
        if (rank := method.rank(task)) is not None
    ]
    if not found:
        raise ParameterError(
            f"method must be given, got method='auto': none takes adjacency={task.adjacency.value!r} and "
            f"{task.unit.summary()} under {task.limit!r}"
            + ("" if task.currency is None else f" from an account of currency {task.currency!r}")
        )
    return min(found, key=lambda one: one[0])[1]
