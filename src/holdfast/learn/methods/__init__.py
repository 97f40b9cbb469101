"""METHODS: holdfast's own private learners, one file each. REGISTRY: those of installed packages, too."""

from __future__ import annotations

from holdfast.extensions import Registry
from holdfast.learn.methods import (
    adassp,
    bolt_on,
    bst14,
    dp_sgd,
    frank_wolfe,
    functional,
    gibbs,
    newton,
    noisy_gd,
    objective,
    output,
    projected_histogram,
    ridge,
    scs13,
    softmax,
    ssp,
)
from holdfast.learn.methods.method import Learner

METHODS: tuple[Learner, ...] = (
    adassp.METHOD,
    bolt_on.METHOD,
    bst14.METHOD,
    dp_sgd.METHOD,
    frank_wolfe.METHOD,
    functional.METHOD,
    gibbs.METHOD,
    newton.METHOD,
    noisy_gd.METHOD,
    objective.METHOD,
    output.METHOD,
    projected_histogram.METHOD,
    ridge.METHOD,
    scs13.METHOD,
    softmax.METHOD,
    ssp.METHOD,
)
REGISTRY = Registry(
    group="holdfast.methods",
    noun="method",
    own=METHODS,
    kind=Learner,
    calls=("run",),
    states=("paper", "adjacencies", "outputs", "currency"),
)
