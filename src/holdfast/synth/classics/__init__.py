"""CLASSICS: synthesisers of the literature for study and comparison, which `method="auto"` never chooses.

Each has a file of its own, except sepFEM, which is FEM with other noise.
"""

from __future__ import annotations

from holdfast.synth.classics import (
    dqrs,
    dual_query,
    fem,
    frank_wolfe_dual,
    query_gan_leader,
    query_gan_select,
)
from holdfast.synth.methods.method import SynthesisMethod

CLASSICS: tuple[SynthesisMethod, ...] = (
    dqrs.METHOD,
    dual_query.METHOD,
    fem.METHOD,
    frank_wolfe_dual.METHOD,
    query_gan_leader.METHOD,
    query_gan_select.METHOD,
    fem.SEP_FEM,
)
