"""Jobs: pieces of work that are paid for once, whatever goes wrong."""

from __future__ import annotations

from holdfast.ledger._jobs.job import Job, PaidOnce, job_key, kept_result, once, finish_written_work, waiting
from holdfast.ledger._jobs.turns import Latest, paid_for

__all__ = [
    "Job",
    "Latest",
    "PaidOnce",
    "job_key",
    "kept_result",
    "once",
    "paid_for",
    "finish_written_work",
    "waiting",
]
