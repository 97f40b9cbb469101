"""METHODS: every private learner, one file each."""

from __future__ import annotations

from holdfast.learn.methods import (
    adassp,
    bolt_on,
    bst14,
    dp_sgd,
    frank_wolfe,
    functional,
    gibbs,
    noisy_gd,
    objective,
    output,
    ridge,
    scs13,
    softmax,
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
    noisy_gd.METHOD,
    objective.METHOD,
    output.METHOD,
    ridge.METHOD,
    scs13.METHOD,
    softmax.METHOD,
)
