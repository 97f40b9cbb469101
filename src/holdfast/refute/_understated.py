"""The fault of every method for which none is written: its mechanisms declare half of their sensitivity.

It falls to the method's replay, if that takes values farther apart than half of what is declared: so a new method is
known to be tried in earnest before anybody has thought of the mistakes that it invites. A mechanism without a field
that is called a sensitivity is out of its reach; its methods need a fault of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.learn._catalogue import LEARNERS
from holdfast.learn.methods.method import Learner
from holdfast.refute._planting import PlantedFault
from holdfast.synth._catalogue import SYNTHESISERS
from holdfast.synth.methods.method import SynthesisMethod

HALVED = """\
for field in fields(self):
    if field.name.endswith("sensitivity"):
        object.__setattr__(self, field.name, getattr(self, field.name) / 2)
self.validate()"""


def understated(written: Iterable[PlantedFault]) -> Iterator[PlantedFault]:
    """For every method of holdfast that no fault of these breaks under replay."""
    broken = {
        subject.split(" ")[0] for fault in written if fault.test == "replay" for subject in fault.subjects
    }
    methods: tuple[Learner | SynthesisMethod, ...] = (*LEARNERS, *SYNTHESISERS)
    for method in methods:
        if method.name not in broken:
            yield understated_in(method)


def understated_in(method: Learner | SynthesisMethod) -> PlantedFault:
    """In everything that one method releases.

    >>> understated_in(LEARNERS[0]).name
    'understated_sensitivity adassp replace'
    """
    subject = f"{method.name} {method.adjacencies[0]}"
    return PlantedFault(
        name=f"understated_sensitivity {subject}",
        target="privacy._mechanisms.mechanism:Mechanism.__post_init__",
        old="self.validate()",
        new=HALVED,
        why="half of the sensitivity is declared",
        subjects=(subject,),
    )
