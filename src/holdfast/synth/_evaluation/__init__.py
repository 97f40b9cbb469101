"""Evaluation of synthetic rows: against real rows (internal), or against released noisy tables (public)."""

from __future__ import annotations

from holdfast.synth._evaluation.workload_errors import LINES as LINES
from holdfast.synth._evaluation.workload_errors import Evaluation as Evaluation
from holdfast.synth._evaluation.workload_errors import data_of as data_of
from holdfast.synth._evaluation.workload_errors import evaluate as evaluate
from holdfast.synth._evaluation.workload_errors import reference_lines as reference_lines
