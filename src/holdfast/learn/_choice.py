"""The choice that `method="auto"` makes, and the reasons against the other methods; from public quantities only.

Every method declares its rank, the conditions of its proof and its options (`methods/method.py`); here methods are only
compared. They see no row, so the choice cannot depend on one. docs/decisions/learning-default.md says how the order was
found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast._assumption import Assumption
from holdfast._extensions import OWN_PACKAGE, Author
from holdfast.errors import ParameterError, require
from holdfast.learn._catalogue import LEARNERS, REGISTRY
from holdfast.learn._problem import Problem
from holdfast.learn.methods.method import Learner, PublicFacts
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve


@dataclass(frozen=True, kw_only=True)
class LearnerChoice:
    """The chosen method, its options, and the reasons; everything in it is public."""

    learner: Learner
    options: Mapping[str, Any]
    reasons: tuple[str, ...]
    rejected: Mapping[str, str]
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The name of the chosen method."""
        return self.learner.name

    def summary(self) -> str:
        """The rule's inputs, its choice, and why not the others."""
        options = ", ".join(_option_text(name, value) for name, value in self.options.items())
        lines = [
            "method='auto' looked at " + ", ".join(f"{k}={v}" for k, v in self.inputs.items()),
            f"chosen: {self.method}" + (f" ({options})" if options else ""),
            *(f"  because {reason}" for reason in self.reasons),
            *(f"not {name}: {reason}" for name, reason in self.rejected.items()),
        ]
        return "\n".join(lines)


def _option_text(name: str, value: Any) -> str:
    if hasattr(value, "summary"):
        return str(value.summary())
    return f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"


def find_learner(method: Any) -> Learner:
    """The method of that name, holdfast's own or of an installed package; a `Learner` is returned unchanged.

    >>> find_learner("output").paper
    'CMS11'
    """
    known = {learner.name: learner for learner in LEARNERS}
    if isinstance(method, Learner):
        return method if known.get(method.name) is method else REGISTRY.admit(method)
    entry = (known.get(method) or REGISTRY.find(method)) if isinstance(method, str) else None
    if entry is None:
        raise ParameterError(
            f"method must be 'auto', a Learner or one of {', '.join(REGISTRY.names())}, got method={method!r}"
        )
    return entry


def author_assumptions(method: Learner) -> tuple[Assumption, ...]:
    """The assumption of a release whose method is none of LEARNERS: that it is private as its author claims."""
    author = _author_of(method)
    return () if author is None else (author.assumption,)


def package_of(method: Learner) -> str:
    """The package that a method comes from, for the provenance of a release."""
    author = _author_of(method)
    return OWN_PACKAGE if author is None else author.package


def _author_of(method: Learner) -> Author | None:
    return None if any(method is learner for learner in LEARNERS) else REGISTRY.author(method)


def choose_learner(
    problem: Problem, *, count: int, limit: PrivacyCurve, adjacency: Adjacency | str, max_rows: int = 1
) -> LearnerChoice:
    """The first method, in the order of their ranks, whose proof covers the problem.

    >>> from holdfast.learn._problem.losses import Logistic
    >>> from holdfast.privacy import ApproxDP
    >>> problem = Problem(loss=Logistic(), dimension=108)
    >>> choose_learner(problem, count=32_561, limit=ApproxDP(1.0, 1e-7), adjacency="zero_out").method
    'noisy_gd'
    """
    require(count >= 1, "count", count, ">= 1")
    facts = PublicFacts(
        problem=problem, count=count, limit=limit, adjacency=Adjacency.of(adjacency), max_rows=max_rows
    )
    objections = {method.name: method.objection(facts) for method in LEARNERS}
    ranked = [(method.place(facts), method) for method in LEARNERS if method.takes(problem)]
    order = [method for place, method in sorted(ranked, key=_place_and_name) if place is not None]
    chosen = next((method for method in order if not objections[method.name]), None)
    if chosen is None:
        reasons = "; ".join(f"{method.name}: {objections[method.name]}" for method in order)
        if max_rows > 1:
            reasons += (
                "; declare one row of each user (max_rows = 1), or two classes under (epsilon, delta): the value "
                "of other= and of null= counts as a class where the target's column declares it"
            )
        raise ParameterError(
            f"no method is proved for the {problem.loss.name} loss with penalty={problem.penalty!r}, "
            f"radius={problem.radius!r}, adjacency={facts.adjacency.value!r} and max_rows={max_rows}: {reasons}"
        )
    settings = chosen.settings(facts)
    others = sorted((method for method in LEARNERS if method is not chosen), key=lambda method: method.name)
    return LearnerChoice(
        learner=chosen,
        options=settings.options,
        reasons=settings.reasons,
        rejected={method.name: objections[method.name] or method.behind for method in others},
        inputs={
            "loss": problem.loss.name,
            "d": problem.dimension,
            "n": count,
            "penalty": problem.penalty,
            "radius": problem.radius,
            "limit": limit,
            "adjacency": facts.adjacency.value,
            "max_rows": max_rows,
        },
    )


def _place_and_name(ranked: tuple[float | None, Learner]) -> tuple[float, str]:
    """The key by which methods are sorted: their place, then their name."""
    place, method = ranked
    return math.inf if place is None else place, method.name
