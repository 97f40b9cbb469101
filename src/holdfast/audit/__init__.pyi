"""Audits: valid lower bounds on what a mechanism leaks."""

from ._bounds.fdp import RefutedCurve as RefutedCurve
from ._bounds.multi_run import ErrorRates as ErrorRates
from ._bounds.sequential import SequentialTest as SequentialTest
from ._findings import AnytimeGuesses as AnytimeGuesses
from ._findings import FixedGuesses as FixedGuesses
from ._findings import GaussianGuesses as GaussianGuesses
from ._findings import GuessPath as GuessPath
from ._findings import Trainings as Trainings
from ._findings import Transcripts as Transcripts
from ._membership import MembershipAudit as MembershipAudit
from ._membership import membership_game as membership_game
from ._power import Design as Design
from ._power import Power as Power
from ._result import AuditResult as AuditResult
from ._run import audit as audit
from ._transcript import Budget as Budget
