"""Audit designs: one training, many trainings, trainings until the claim is refuted, or runs on two public tables."""

from __future__ import annotations

from holdfast.audit._designs.many_runs import ManyRuns as ManyRuns
from holdfast.audit._designs.many_runs import Sequential as Sequential
from holdfast.audit._designs.one_run import OneRun as OneRun
from holdfast.audit._designs.transcript import Transcript as Transcript

AuditDesign = OneRun | ManyRuns | Sequential | Transcript
"""Any design; `design.answer(train, data, question)` makes the audit."""
