"""Workloads: the queries whose answers are to be good."""

from __future__ import annotations

from holdfast.synth._workload.workload import Workload as Workload
