"""Audits: valid lower bounds on what a mechanism leaks."""

from ._bounds.fdp import RefutedCurve as RefutedCurve
from ._bounds.multi_run import ErrorRates as ErrorRates
from ._bounds.sequential import SequentialTest as SequentialTest
from ._designs import ManyRuns as ManyRuns
from ._designs import OneRun as OneRun
from ._designs import Sequential as Sequential
from ._designs import Transcript as Transcript
from ._designs.transcript import Budget as Budget
from ._findings import AnytimeGuesses as AnytimeGuesses
from ._findings import FixedGuesses as FixedGuesses
from ._findings import GaussianGuesses as GaussianGuesses
from ._findings import GuessPath as GuessPath
from ._findings import Trainings as Trainings
from ._findings import Transcripts as Transcripts
from ._membership import MembershipAudit as MembershipAudit
from ._membership import membership_game as membership_game
from ._membership_design import MembershipDesign as MembershipDesign
from ._power import Power as Power
from ._power import PowerBasis as PowerBasis
from ._result import AuditResult as AuditResult
from ._run import audit as audit
