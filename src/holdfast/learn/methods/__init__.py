"""METHODS: the private learners that `method="auto"` may choose, or that a page asks for by name; one file each.

Learners that stand for study and comparison are in `holdfast.learn.classics`.
"""

from __future__ import annotations

from holdfast.learn.methods import (
    adassp,
    bolt_on,
    functional,
    gibbs,
    newton,
    noisy_gd,
    objective,
    output,
    ridge,
    scs13,
    softmax,
    ssp,
)
from holdfast.learn.methods.method import Learner

METHODS: tuple[Learner, ...] = (
    adassp.METHOD,
    bolt_on.METHOD,
    functional.METHOD,
    gibbs.METHOD,
    newton.METHOD,
    noisy_gd.METHOD,
    objective.METHOD,
    output.METHOD,
    ridge.METHOD,
    scs13.METHOD,
    softmax.METHOD,
    ssp.METHOD,
)
