"""The choice of a synthesis method, from public quantities only: domain, workload, privacy limit and privacy unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast._assumption import Assumption
from holdfast._extensions import OWN_PACKAGE
from holdfast.errors import ParameterError
from holdfast.release._certificate import bound_share
from holdfast.synth._catalogue import REGISTRY, SYNTHESISERS
from holdfast.synth.methods.method import SynthesisMethod, SynthesisTask

SACRIFICE_RATIO = 2.0
"""A caution is printed if a certificate claims a largest error of more than this many times that of measuring the
whole workload at once."""


@dataclass(frozen=True, kw_only=True)
class SynthesizerChoice:
    """A chosen method with its options, and the reason for the choice."""

    entry: SynthesisMethod
    reason: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The method's name."""
        return self.entry.name

    def summary(self) -> str:
        """One line: the method and the reason."""
        return f"method='auto' chose {self.method!r}: {self.reason}"

    def with_caution(self, task: SynthesisTask, alpha: float | None) -> str:
        """The summary, with a caution where a small average error may have cost a large largest error.

        `alpha` is the largest error that the released certificate claims.
        """
        aimed = task.one_shot_error() if task.objective == "average" else None
        if alpha is None or aimed is None or alpha <= SACRIFICE_RATIO * aimed:
            return self.summary()
        return (
            f"{self.summary()}; the largest error may be {bound_share(alpha)}, where measuring the whole workload at "
            f"once leaves about {100 * aimed:.2g} %: objective='largest' aims at that"
        )


def find_synthesis_method(method: Any) -> SynthesisMethod:
    """The method of that name, holdfast's own or of an installed package; a `SynthesisMethod` is returned unchanged.

    >>> find_synthesis_method("independent").pure
    True
    """
    known = {entry.name: entry for entry in SYNTHESISERS}
    if isinstance(method, SynthesisMethod):
        return method if known.get(method.name) is method else REGISTRY.admit(method)
    entry = (known.get(method) or REGISTRY.find(method)) if isinstance(method, str) else None
    if entry is None:
        raise ParameterError(
            f"method must be 'auto' or one of {', '.join(REGISTRY.names())}, got method={method!r}; or give a "
            "SynthesisMethod"
        )
    return entry


def package_and_claim(method: SynthesisMethod) -> tuple[str, tuple[Assumption, ...]]:
    """The package of a method, and the assumption of a release that a method from elsewhere is private as claimed."""
    author = None if any(method is entry for entry in SYNTHESISERS) else REGISTRY.author(method)
    return (OWN_PACKAGE, ()) if author is None else (author.package, (author.assumption,))


def choose_synthesis_method(
    task: SynthesisTask, methods: Sequence[SynthesisMethod] = SYNTHESISERS
) -> SynthesizerChoice:
    """The method of the smallest rank among those that can do the task; `docs/synth.md` says how ranks were found."""
    candidates = [
        (rank.place, SynthesizerChoice(entry=method, reason=rank.reason, options=rank.options))
        for method in methods
        if (rank := method.rank(task)) is not None
    ]
    if not candidates:
        raise ParameterError(
            f"method must be given, got method='auto': none takes adjacency={task.adjacency.value!r} and "
            f"{task.unit.summary()} under {task.limit!r}"
            + ("" if task.currency is None else f" from an account of currency {task.currency!r}")
        )
    return min(candidates, key=lambda candidate: candidate[0])[1]
