"""Audits: valid lower bounds on what a mechanism leaks."""

from .bounds.fdp import RefutedCurve as RefutedCurve
from .bounds.multi_run import ErrorRates as ErrorRates
from .bounds.multi_run import Errors as Errors
from .bounds.sequential import Game as Game
from .bounds.sequential import SequentialTest as SequentialTest
from .findings import AnytimeGuesses as AnytimeGuesses
from .findings import FixedGuesses as FixedGuesses
from .findings import GaussianGuesses as GaussianGuesses
from .findings import GuessPath as GuessPath
from .findings import Sequence as Sequence
from .findings import Trainings as Trainings
from .findings import Transcripts as Transcripts
from .membership import MembershipAudit as MembershipAudit
from .membership import membership_game as membership_game
from .power import Design as Design
from .power import Power as Power
from .refutation.suite import refute as refute
from .result import AuditResult as AuditResult
from .run import audit as audit
from .transcript import Budget as Budget
