"""How an audit is made: in one training, in many, until the claim falls, or on transcripts of two public tables."""

from __future__ import annotations

from holdfast.audit._designs.many_runs import ManyRuns as ManyRuns
from holdfast.audit._designs.many_runs import Sequential as Sequential
from holdfast.audit._designs.one_run import OneRun as OneRun
from holdfast.audit._designs.transcript import Transcript as Transcript

AuditDesign = OneRun | ManyRuns | Sequential | Transcript
"""Any of them; each answers a question by `answer(train, data, question)`."""
