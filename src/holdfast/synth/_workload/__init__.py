"""Workloads: the queries that synthetic rows are meant to answer accurately."""

from __future__ import annotations

from holdfast.synth._workload.workload import Workload as Workload
