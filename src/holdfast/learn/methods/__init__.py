"""METHODS: every private learner, one file each."""

from __future__ import annotations

from holdfast.errors import require
from holdfast.learn.methods import (
    adassp,
    bolt_on,
    bst14,
    dp_sgd,
    frank_wolfe,
    functional,
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
    noisy_gd.METHOD,
    objective.METHOD,
    output.METHOD,
    ridge.METHOD,
    scs13.METHOD,
    softmax.METHOD,
)


def find_learner(name: str) -> Learner:
    """The method of that name.

    >>> find_method("output").paper
    'CMS11'
    """
    known = {method.name: method for method in METHODS}
    require(name in known, "method", name, "'auto' or one of " + ", ".join(sorted(known)))
    return known[name]
