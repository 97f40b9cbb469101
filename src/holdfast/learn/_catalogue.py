"""LEARNERS: every private learner of holdfast, ordered by name. REGISTRY: also those of installed packages."""

from __future__ import annotations

from holdfast._extensions import Registry
from holdfast.learn.classics import CLASSICS
from holdfast.learn.methods import METHODS
from holdfast.learn.methods.method import Learner

LEARNERS: tuple[Learner, ...] = tuple(sorted((*METHODS, *CLASSICS), key=lambda learner: learner.name))
REGISTRY = Registry(
    group="holdfast.methods",
    noun="method",
    own=LEARNERS,
    kind=Learner,
    calls=("run",),
    states=("paper", "adjacencies", "outputs", "currency"),
)
