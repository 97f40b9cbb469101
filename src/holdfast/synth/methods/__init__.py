"""METHODS: every private synthesiser, one file each."""

from __future__ import annotations

from holdfast.synth.method import Method
from holdfast.synth.methods import (
    adaptive,
    dqrs,
    dual_query,
    fem,
    frank_wolfe_dual,
    gaussian,
    independent,
    mwem,
    sep_fem,
    tree,
)

METHODS: tuple[Method, ...] = (
    adaptive.METHOD,
    dqrs.METHOD,
    dual_query.METHOD,
    fem.METHOD,
    frank_wolfe_dual.METHOD,
    gaussian.METHOD,
    independent.METHOD,
    mwem.METHOD,
    sep_fem.METHOD,
    tree.METHOD,
)
