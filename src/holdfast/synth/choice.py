"""Which method, from public quantities only: the domain, the workload, the promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import require
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.synth.methods import METHODS
from holdfast.synth.methods.method import SynthesisMethod
from holdfast.synth.workload import Workload


@dataclass(frozen=True, kw_only=True)
class SynthesizerChoice:
    """A method with its options, and why."""

    method: str
    reason: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def summary(self) -> str:
        """One line."""
        return f"method='auto' chose {self.method!r}: {self.reason}"


def find_synthesis_method(name: str) -> SynthesisMethod:
    """The method of that name.

    >>> find_method("independent").pure
    True
    """
    known = {method.name: method for method in METHODS}
    require(name in known, "method", name, "'auto' or one of " + ", ".join(sorted(known)))
    return known[name]


def choose_synthesis_method(
    domain: Mapping[str, int], workload: Workload, *, limit: PrivacyCurve
) -> SynthesizerChoice:
    """The method that the benchmark found best for such a task; see `docs/synth.md`."""
    if len(domain) == 1:
        return SynthesizerChoice(method="independent", reason="one column has nothing to do with any other")
    if limit.as_pure() is not None:
        return SynthesizerChoice(
            method=_first("mwem", "tree", "independent", pure=True),
            reason="of the methods that need no delta, the smallest largest error",
        )
    return SynthesizerChoice(
        method=_first("adaptive", "tree", "independent"),
        reason="select, measure, estimate: the smallest errors over all budgets",
    )


def _first(*names: str, pure: bool = False) -> str:
    known = {method.name: method for method in METHODS}
    return next(name for name in names if name in known and (known[name].pure or not pure))
