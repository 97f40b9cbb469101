"""METHODS: the synthesisers that `method="auto"` may choose, or that a page asks for by name; one file each.

Synthesisers that stand for study and comparison are in `holdfast.synth.classics`.
"""

from __future__ import annotations

from holdfast.synth.methods import (
    adaptive,
    gaussian,
    independent,
    measure_first,
    mwem,
    query_gan,
    tree,
    two_looks,
)
from holdfast.synth.methods.method import SynthesisMethod

METHODS: tuple[SynthesisMethod, ...] = (
    adaptive.METHOD,
    gaussian.METHOD,
    independent.METHOD,
    measure_first.METHOD,
    mwem.METHOD,
    query_gan.METHOD,
    tree.METHOD,
    two_looks.METHOD,
)
