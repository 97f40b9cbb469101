"""A planted fault for every method that has none of its own: its mechanisms declare half of their sensitivity.

The method's replays refute it if they reach more than half of the declared distance. So a new method is known to be
tested before anybody has thought of the mistakes that it invites. The fault does nothing to a mechanism without a field
whose name ends in "sensitivity"; methods that use only such mechanisms need a fault of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.learn._catalogue import LEARNERS
from holdfast.learn.methods.method import Learner
from holdfast.refute._planting import PlantedFault
from holdfast.synth._catalogue import SYNTHESISERS
from holdfast.synth.methods.method import SynthesisMethod

HALVE_SENSITIVITIES = """\
for field in fields(self):
    if field.name.endswith("sensitivity"):
        object.__setattr__(self, field.name, getattr(self, field.name) / 2)
self.validate()"""


def understated_faults(written: Iterable[PlantedFault]) -> Iterator[PlantedFault]:
    """A fault for every method of holdfast that none of the written faults breaks under replay."""
    methods_with_faults = {
        subject.split(" ")[0] for fault in written if fault.test == "replay" for subject in fault.subjects
    }
    methods: tuple[Learner | SynthesisMethod, ...] = (*LEARNERS, *SYNTHESISERS)
    for method in methods:
        if method.name not in methods_with_faults:
            yield understated_fault(method)


def understated_fault(method: Learner | SynthesisMethod) -> PlantedFault:
    """The fault for one method: half of the sensitivity is declared of everything that it releases.

    >>> understated_fault(LEARNERS[0]).name
    'understated_sensitivity adassp replace'
    """
    subject = f"{method.name} {method.adjacencies[0]}"
    return PlantedFault(
        name=f"understated_sensitivity {subject}",
        target="privacy._mechanisms.mechanism:Mechanism.__post_init__",
        old="self.validate()",
        new=HALVE_SENSITIVITIES,
        why="half of the sensitivity is declared",
        subjects=(subject,),
    )
