"""METHODS: holdfast's own synthesisers, sorted by name. REGISTRY: those of installed packages, too.

A file each, but for sepFEM, which is FEM with other noise.
"""

from __future__ import annotations

from holdfast.extensions import Registry
from holdfast.synth.methods import (
    adaptive,
    dqrs,
    dual_query,
    fem,
    frank_wolfe_dual,
    gaussian,
    independent,
    measure_first,
    mwem,
    query_gan,
    query_gan_leader,
    query_gan_select,
    tree,
    two_looks,
)
from holdfast.synth.methods.method import SynthesisMethod

METHODS: tuple[SynthesisMethod, ...] = (
    adaptive.METHOD,
    dqrs.METHOD,
    dual_query.METHOD,
    fem.METHOD,
    frank_wolfe_dual.METHOD,
    gaussian.METHOD,
    independent.METHOD,
    measure_first.METHOD,
    mwem.METHOD,
    query_gan.METHOD,
    query_gan_leader.METHOD,
    query_gan_select.METHOD,
    fem.SEP_FEM,
    tree.METHOD,
    two_looks.METHOD,
)
REGISTRY = Registry(
    group="holdfast.synthesizers",
    noun="method",
    own=METHODS,
    kind=SynthesisMethod,
    calls=("run",),
    states=("paper", "adjacencies", "currency"),
)
