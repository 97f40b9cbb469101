"""SYNTHESISERS: every synthesiser of holdfast, ordered by name. REGISTRY: also those of installed packages."""

from __future__ import annotations

from holdfast._extensions import Registry
from holdfast.synth.classics import CLASSICS
from holdfast.synth.methods import METHODS
from holdfast.synth.methods.method import SynthesisMethod

SYNTHESISERS: tuple[SynthesisMethod, ...] = tuple(sorted((*METHODS, *CLASSICS), key=lambda entry: entry.name))
REGISTRY = Registry(
    group="holdfast.synthesizers",
    noun="method",
    own=SYNTHESISERS,
    kind=SynthesisMethod,
    calls=("run",),
    states=("paper", "adjacencies", "currency"),
)
