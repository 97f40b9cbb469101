"""Private synthetic tables: declared queries in, rows, noisy tables and a certificate out.

Functions are imported from the file that carries their name: `holdfast.synth.evaluate.evaluate`,
`holdfast.synth.reference_lines.reference_lines`, `holdfast.synth.certify.certify`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import exported

if TYPE_CHECKING:
    from holdfast.synth.answers import Answers as Answers
    from holdfast.synth.certify import Certification as Certification
    from holdfast.synth.conjunctions import Conjunctions as Conjunctions
    from holdfast.synth.constraints import Zeros as Zeros
    from holdfast.synth.counted import Counted as Counted
    from holdfast.synth.estimate import Estimate as Estimate
    from holdfast.synth.evaluate import Evaluation as Evaluation
    from holdfast.synth.measurement import Measurement as Measurement
    from holdfast.synth.methods import METHODS as METHODS
    from holdfast.synth.ordered import Ranges as Ranges
    from holdfast.synth.ordered import Thresholds as Thresholds
    from holdfast.synth.predicates import Predicates as Predicates
    from holdfast.synth.queries import Marginal as Marginal
    from holdfast.synth.synthesizer import Synthesizer as Synthesizer
    from holdfast.synth.workload import Workload as Workload

_HOMES = {
    "answers": ("Answers",),
    "certify": ("Certification",),
    "conjunctions": ("Conjunctions",),
    "constraints": ("Zeros",),
    "counted": ("Counted",),
    "estimate": ("Estimate",),
    "evaluate": ("Evaluation",),
    "measurement": ("Measurement",),
    "methods": ("METHODS",),
    "ordered": ("Ranges", "Thresholds"),
    "predicates": ("Predicates",),
    "queries": ("Marginal",),
    "synthesizer": ("Synthesizer",),
    "workload": ("Workload",),
}
__all__, __getattr__, __dir__ = exported(__name__, _HOMES)
